"""The process that reads a statistical package's file; run by its path, so that it starts with few imports.

It takes names of functions of pyreadstat, paths and options on standard input, and gives what they give on standard
output, until there is nothing more to take.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

KNOWN = (OverflowError, ValueError, MemoryError)
"""Errors that come through as what they are."""
COUNTED = ("read_sav", "read_dta", "read_sas7bdat")
"""Functions for files that say how many records they hold."""


def answer(reader: str, path: str, options: dict[str, Any]) -> tuple[str, Any]:
    """What the library makes of a file: "read" with columns and facts, or the kind and the text of an error."""
    try:
        import pyreadstat

        read = getattr(pyreadstat, reader)
        if reader in COUNTED:
            said = _impossible(read(path, **(options | {"metadataonly": True}))[1], path)
            if said:
                return "impossible", said
        data, facts = read(path, **options)
    except Exception as error:
        kind = next((known.__name__ for known in KNOWN if isinstance(error, known)), "other")
        return kind, " ".join(str(error).split()) or type(error).__name__
    return "read", (data, vars(facts))


def _impossible(announced: Any, path: str) -> str | None:
    """Whether a file is too short for the number of records that it says, before there is room made for them.

    Every value takes a byte at least; in the packed format of SPSS up to 1032 of them are packed into one. SAS can
    pack a record into a few bytes, whatever its length.
    """
    rows, columns = announced.number_rows or 0, announced.number_columns or 0
    with open(path, "rb") as file:
        packed = 1032 if file.read(4) == b"$FL3" else 1
    values = rows if path.lower().endswith(".sas7bdat") else rows * columns
    if values > packed * os.path.getsize(path):
        return f"it says that it holds {rows} records, which it is too short for"
    return None


def _serve() -> None:
    # The memory of a process that dies holds records: it is not written to disk.
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:  # not on Windows
        pass
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            asked = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(answer(*asked), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    _serve()
