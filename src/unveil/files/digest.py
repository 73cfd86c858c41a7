"""The SHA-256 by which a file is recognised."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from unveil.errors import FileError
from unveil.files.folders import parts_of, stands_for_several
from unveil.files.path_checks import check_readable


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's content, hexadecimal.

    That of a folder or pattern is the SHA-256 of a list of its Parquet files: a line for each, with the SHA-256 of its
    content and its name within the folder.

    Raises
    ------
    FileError
        If a file cannot be read.
    """
    if stands_for_several(path):
        lines = [f"{_of_file(part.path)}  {part.within}\n" for part in parts_of(path)]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return _of_file(Path(path))


def size_of(path: str | Path) -> int:
    """Return the bytes of a file, or of the Parquet files of a folder or pattern."""
    files = [part.path for part in parts_of(path)] if stands_for_several(path) else [Path(path)]
    return sum(file.stat().st_size for file in files)


def _of_file(path: Path) -> str:
    if os.path.exists(path):
        check_readable(path, path.name)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path.name}: cannot be read ({error.strerror})") from None
