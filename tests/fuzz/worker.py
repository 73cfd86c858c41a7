"""Reads one damaged file after the other and says of each how it went; a process of its own, so that a death is seen.

``python worker.py WHAT FIRST LAST``: what is an ending, a document, or "planted". Prints the number of a file before it
is read, and a line of JSON after.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz import documents, strict
from fuzz.damage import damaged
from fuzz.seeds import seeds_of

MEMORY = 8 << 30
MAGIC = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "lzma": b"\xfd7zXZ"}
Case = tuple[dict[str, Any], Callable[[], dict[str, Any]]]


def main(what: str, first: int, last: int) -> None:
    """Damage, read and compare by their numbers."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cases = planted if what == "planted" else files if what.startswith(".") else papers
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        numbers = range(first, last)
        for number, (facts, look) in zip(numbers, cases(what, Path(folder), numbers), strict=True):
            print(number, flush=True)
            print(json.dumps(facts | look()), flush=True)


def files(ending: str, folder: Path, numbers: range) -> Iterator[Case]:
    """Files of a format."""
    seeds, path = list(seeds_of(ending)), folder / f"people{ending}"
    for number in numbers:
        content = seeds[number % len(seeds)]
        kind, bad = damaged(content, f"{ending} {number}", seeds[(number + 1) % len(seeds)])
        # Behind the sum of a packed file too, which tells any damage before it.
        packed = next((one for one in (gzip, bz2, lzma) if content.startswith(MAGIC[one.__name__])), None)
        if packed is not None and number // len(seeds) % 2:
            plain = packed.decompress(content)
            kind, bad = damaged(plain, f"{ending} {number}", plain)
            kind, bad = f"packed {kind}", packed.compress(bad)
        path.write_bytes(bad)
        yield {"kind": kind, "same": bad == content}, lambda: outcome(path, ending)


def papers(what: str, folder: Path, numbers: range) -> Iterator[Case]:
    """Documents of a kind."""
    document = documents.DOCUMENTS[what]
    documents.prepare(folder)
    content, path = document.content(folder), folder / document.name
    for number in numbers:
        kind, stored = documents.changed(document, content, f"{what} {number}")
        path.write_bytes(stored)
        yield {"kind": kind, "same": False}, lambda: used(document.use, path)


def planted(_: str, folder: Path, numbers: range) -> Iterator[Case]:
    """What must be noticed, and two ends that are right."""
    from unveil.errors import FileError

    path = folder / "people.csv"
    path.write_text("sex,age\nf,30\nm,31\n")

    def refuse(text: str) -> Callable[[], object]:
        def fail() -> None:
            raise FileError(text)

        return fail

    def other() -> dict[str, Any]:
        return compared({"sex": ["f", "m"], "age": [30, 32]}, path, ".csv")

    ends: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: outcome(path, ".csv"),
        lambda: guarded(refuse("people.csv: damaged"), path.name),
        lambda: guarded(refuse("people.csv: damaged\nand more"), path.name),
        lambda: guarded(refuse("damaged"), path.name),
        lambda: guarded(lambda: [][1], path.name),
        other,
        lambda: os.kill(os.getpid(), signal.SIGSEGV) or {},
        lambda: os._exit(3),
        lambda: time.sleep(3600) or {},
        lambda: outcome(path, ".csv"),
    )
    for number in numbers:
        yield {"kind": "planted", "same": False}, ends[number]


def guarded(work: Callable[[], object], name: str | None) -> dict[str, Any]:
    """How the work ended: done, refused in one line, or in a way that must not be."""
    from unveil.errors import FileError, UnveilError

    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            found = work()
        except UnveilError as error:
            text = error.args[0] if error.args else ""
            if "\n" in text:
                return {"traceback": f"an error of several lines: {text!r}"}
            if name is not None and name not in text:
                return {"traceback": f"an error that does not name the file: {text}"}
            if isinstance(error, FileError) and not text:
                return {"traceback": "an error that says nothing"}
            return {"refused": text}
        except BaseException:
            return {"traceback": traceback.format_exc()}
    return {"found": found, "said": [str(one.message) for one in said]}


def outcome(path: Path, ending: str) -> dict[str, Any]:
    """How reading a file went, and what a strict reader says of it."""
    ended = guarded(lambda: read(path), path.name)
    if "found" not in ended:
        return ended
    print("strict", flush=True)
    return compared(ended["found"], path, ending, ended["said"]) | {"said": len(ended["said"])}


def compared(found: strict.Columns, path: Path, ending: str, said: Sequence[str] = ()) -> dict[str, Any]:
    """What was read, and said, beside the strict reader."""
    return {"read": len(found), "compared": True, "differs": strict.difference(found, path, ending, said)}


def used(use: Callable[[Path], None], path: Path) -> dict[str, Any]:
    """How the use of a document went."""
    ended = guarded(lambda: use(path), None)
    return {"read": 1, "compared": False, "said": len(ended["said"])} if "found" in ended else ended


def read(path: Path) -> dict[str, list[Any]]:
    """All that a verb does with a file before it measures."""
    import unveil
    from unveil.files.opening import open_releases
    from unveil.files.schema import schema_text

    source = open_releases(path)[0] if path.suffix in (".rds", ".rda") else unveil.read(path)
    found = {}
    for name in source.names:
        column = source.column(name)
        column.validate(full=True)
        assert len(column) == source.num_rows, (len(column), source.num_rows)
        found[name] = strict.plain(column)
        if source.native is not None:
            source.native(name).validate(full=True)
    if source.num_rows:
        with warnings.catch_warnings(action="ignore"):  # that both are the same file
            pair = unveil.Pair(source, [source])
            for name in pair.names:
                pair.column(name)
        schema_text(source)
    return found


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
