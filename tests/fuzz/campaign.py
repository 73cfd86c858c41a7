"""Runs the worker over many files, and counts how they ended.

``python campaign.py WHAT,WHAT,... FIRST LAST`` reads the files of these numbers; "all" is every format and document.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Campaign", "campaign", "campaign_for"]

SECONDS = 20.0
"""Longest that one small file may take."""
TO_BEGIN = 300.0
"""Longest that a worker may take until its first file: it makes the sound ones."""
BATCH = 200
"""Files for a worker, where there is time for more."""


@dataclass
class Campaign:
    """How files ended.

    Attributes
    ----------
    what
        The format or the document.
    counts
        Number of files by how they ended: refused, read, different, traceback, signal, end, hang. Of those that were
        read: how many the strict reader was asked about, and how many came with a warning.
    bad
        What must not be, by the number of the file.
    """

    what: str
    counts: Counter[str] = field(default_factory=Counter)
    bad: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, found: dict[str, Any]) -> None:
        """Count a file that came to an end."""
        ended = next(word for word in ("traceback", "refused", "read") if word in found)
        self.counts["files"] += 1
        self.counts["compared"] += bool(found.get("compared"))
        self.counts["warned"] += bool(found.get("said"))
        self.counts["unchanged"] += found["same"]
        if found.get("differs"):
            ended = "different"
        self.counts[ended] += 1
        if ended in ("traceback", "different"):
            self.bad[number] = f"{ended}, {found['kind']}: {found.get('traceback') or found['differs']}"

    def fail(self, number: int, ended: str, text: str) -> None:
        """Count a file that ended the process or never came to an end."""
        self.counts["files"] += 1
        self.counts[ended] += 1
        self.bad[number] = f"{ended}: {text}"

    def __str__(self) -> str:
        words = ("files", "refused", "read", "compared", "different", "warned", "traceback", "signal", "end", "hang")
        return f"{self.what:20}" + "  ".join(f"{self.counts[word]:5} {word}" for word in words)


def campaign(what: str, first: int, last: int, seconds: float = SECONDS) -> Campaign:
    """Read the damaged files of a format or document with these numbers.

    Parameters
    ----------
    what
        The ending of the format, or the name of the document.
    first, last
        Numbers of the files; the last one is not read.
    seconds
        Longest that one may take.
    """
    found = Campaign(what)
    while first < last:
        first = _until_it_ends(found, first, last, seconds)
    return found


def campaign_for(what: str, seconds: float) -> Campaign:
    """Read damaged files for so long."""
    found, first, begun = Campaign(what), 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        more = campaign(what, first, first + BATCH)
        found.counts += more.counts
        found.bad |= more.bad
        first += BATCH
    return found


def _until_it_ends(found: Campaign, first: int, last: int, seconds: float) -> int:
    """Let one worker go on until it is done or dies; the number of the file to go on with."""
    command = [sys.executable, str(Path(__file__).with_name("worker.py")), found.what, str(first), str(last)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    lines: queue.Queue[str | None] = queue.Queue()
    said: list[str] = []

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=alone) as worker:
        out, err = worker.stdout, worker.stderr
        assert out is not None
        assert err is not None

        def pump() -> None:
            for line in out:
                lines.put(line)
            lines.put(None)

        threads = [threading.Thread(target=pump), threading.Thread(target=lambda: said.extend(err))]
        for thread in threads:
            thread.start()
        number, where = first, ""
        try:
            while True:
                line = lines.get(timeout=seconds if where else TO_BEGIN)
                if line is None:
                    break
                if line[0] == "{":
                    found.add(number, json.loads(line))
                    number, where = number + 1, "between files"
                elif line.strip() == "strict":
                    where = "strict reader"
                else:
                    number, where = int(line), "reader"
        except queue.Empty:
            worker.kill()
            found.fail(number, "hang", f"{where or 'before the first file'}, more than {seconds:g} s")
            return number + 1
        finally:
            for thread in threads:
                thread.join()
    if worker.returncode:
        ended = "signal" if worker.returncode < 0 else "end"
        found.fail(number, ended, f"{where}, status {worker.returncode} {''.join(said)[-2000:]}")
        return number + 1
    return last


def main(what: str, first: int, last: int) -> None:
    """Print the counts, and what must not be."""
    from fuzz.documents import DOCUMENTS
    from fuzz.seeds import FORMATS

    for one in [*FORMATS, *DOCUMENTS] if what == "all" else what.split(","):
        found = campaign(one, first, last)
        print(found, flush=True)
        for number, text in found.bad.items():
            print(f"    {number} {text}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
