"""The process that reads files of statistical packages; run by its path, so that it starts with few imports.

It takes names of functions of pyreadstat, paths and options from standard input, and writes the results to standard
output, until the input ends.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

KNOWN = (OverflowError, ValueError, MemoryError)
"""Errors that keep their class in the program."""
COUNTED = ("read_sav", "read_dta", "read_sas7bdat")
"""Functions for files that state their number of records."""


def answer(reader: str, path: str, options: dict[str, Any]) -> tuple[str, Any]:
    """Return "read" with columns and metadata of a file, or the class and the text of an error."""
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
    """Return an error if a file is too short for its stated number of records, before memory is taken for them.

    Every value takes at least one byte; the packed format of SPSS packs up to 1032 values into one. SAS can pack a
    record of any length into a few bytes.
    """
    rows, columns = announced.number_rows or 0, announced.number_columns or 0
    with open(path, "rb") as file:
        packed = 1032 if file.read(4) == b"$FL3" else 1
    values = rows if path.lower().endswith(".sas7bdat") else rows * columns
    if values > packed * os.path.getsize(path):
        return f"it says that it holds {rows} records, which it is too short for"
    return None


def _serve() -> None:
    # The memory of a crashed process holds records, so it must not be written to disk.
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
