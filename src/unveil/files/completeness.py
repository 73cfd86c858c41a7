"""Check that a file of a statistical package is complete, where the library that reads it does not."""

from __future__ import annotations

import mmap
from pathlib import Path

from unveil.errors import FileError

LINE = 80
"""Bytes of a line of SAS's transport format; the last one is filled with blanks."""
MEMBER, NAMES, RECORDS = (b"HEADER RECORD*******" + name for name in (b"MEMB", b"NAM", b"OBS"))


def check_whole(path: Path, label: str, ending: str, num_rows: int) -> None:
    """Raise an error if a file was cut off in a way that its reader does not notice.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    ending
        Ending of its name.
    num_rows
        Number of records that were read.

    Raises
    ------
    FileError
        If its end is missing.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        missing = _stata(content) if ending == ".dta" else _transport(content, num_rows) if ending == ".xpt" else None
    if missing is not None:
        raise FileError(f"{label}: not a complete file ({missing}); copy or write it again")


def _stata(content: mmap.mmap) -> str | None:
    """Return what is missing of a Stata file; from version 13 on it ends with a mark."""
    end = b"</stata_dta>"
    if content[:11] == b"<stata_dta>" and content[-2 * len(end) :].rstrip(b"\0\r\n ")[-len(end) :] != end:
        return "its end is missing, with labels of values or texts"
    return None


def _transport(content: mmap.mmap, num_rows: int) -> str | None:
    if len(content) % LINE:
        return f"its length is not a multiple of {LINE} bytes, so that records are missing"
    start = content.find(RECORDS)
    if start < 0 or start % LINE:
        return None  # another variant of the format
    if content.find(MEMBER, start) >= 0:
        return "it holds several data sets, of which one can be read: write one into a file"
    announced = content[start + 48 : start + 63].strip()
    if content[start + 20 : start + 25] == b"OBSV8" and announced.isdigit() and int(announced) not in (0, num_rows):
        return f"it says that it holds {int(announced)} records, and {num_rows} are there"
    width = _width(content, start)
    rest = (len(content) - start - LINE) % width if width else 0
    if rest and content[len(content) - rest :].strip(b" "):
        return "its last record is cut off"
    return None


def _width(content: mmap.mmap, records: int) -> int:
    """Return the bytes of a record, by the descriptions of the columns; 0 if these cannot be read."""
    names = content.find(NAMES)
    member = content.find(MEMBER)
    try:
        n, size = int(content[names + 54 : names + 58]), int(content[member + 74 : member + 78])
    except ValueError:
        return 0
    first = names + LINE
    if names < 0 or member < 0 or first + n * size > records:
        return 0
    return sum(int.from_bytes(content[first + i * size + 4 : first + i * size + 6], "big") for i in range(n))
