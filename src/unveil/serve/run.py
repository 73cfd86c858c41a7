"""One assessment at work in another process, which can be stopped at any time; what it has found so far is kept."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import IO, Any

from unveil.serve.plan import Plan

CHILD = "import sys; sys.path[:] = {path!r}; from unveil.serve.worker import work; work()"
MOST_NEWS = 200


@dataclass
class Run:
    """An assessment that was started.

    Parameters
    ----------
    plan
        What is assessed.

    Attributes
    ----------
    status
        "running", "done", "stopped", or "failed".
    done, total, part
        Finished parts, all parts, and the part that is worked on.
    news
        What was found, a line for each figure.
    documents
        The latest report in all its forms, by name of file.
    error
        Why it failed, in one line.
    saved
        Names of documents that the browser has fetched to keep.
    """

    plan: Plan
    status: str = "running"
    done: int = 0
    total: int = 0
    part: str = "reading"
    pages: int = 0
    news: list[str] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    error: str = ""
    saved: set[str] = field(default_factory=set)
    began: float = field(default_factory=time.monotonic)
    took: float = 0.0

    def __post_init__(self) -> None:
        command = [sys.executable, "-c", CHILD.format(path=sys.path)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # The input stays open: when it ends, this process has ended, and so does the other.
        pickle.dump(self.plan, self._process.stdin)
        self._process.stdin.flush()
        self._listener = threading.Thread(
            target=self._listen, args=(self._process.stdout, self._process.stdin), daemon=True
        )
        self._listener.start()

    @property
    def seconds(self) -> int:
        """How long it has taken."""
        return int(self.took or time.monotonic() - self.began)

    def stop(self) -> None:
        """End the work; the last page is kept."""
        if self.status == "running":
            self.status = "stopped"
        self._process.kill()
        self._listener.join()

    def wait(self, seconds: float) -> None:
        """Wait until the work has ended, but no longer than so many seconds."""
        self._listener.join(seconds)

    def _listen(self, lines: IO[bytes], asked: IO[bytes]) -> None:
        with lines, asked:
            for line in lines:
                # The last line of a process that was ended may be cut short.
                if line.endswith(b"\n"):
                    self._take(*json.loads(line))
            code = self._process.wait()
        self.took = time.monotonic() - self.began
        if self.status == "running":
            self.status = "failed"
            self.error = self.error or (
                f"the system ended the work (status {code}); mostly there is too little memory: close other programs, "
                "choose fewer columns, or name a smaller file"
            )

    def _take(self, what: str, content: Any) -> None:
        if what == "progress":
            self.done, self.total, self.part = content
        elif what == "page":
            self.news = [*self.news, *content["news"]][-MOST_NEWS:]
            self.documents, self.pages = content["documents"], self.pages + 1
        elif what == "error":
            self.error = content
        elif self.status == "running":
            self.status = "done"

    def state(self) -> dict[str, Any]:
        """What the page shows of it."""
        return {
            "status": self.status, "done": self.done, "total": self.total, "part": self.part, "pages": self.pages,
            "news": self.news, "error": self.error, "seconds": self.seconds,
        }  # fmt: skip
