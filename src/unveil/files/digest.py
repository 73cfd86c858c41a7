"""The SHA-256 by which a file is recognised."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from unveil.errors import FileError
from unveil.files.path_checks import check_readable


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's content, hexadecimal.

    Raises
    ------
    FileError
        If the file cannot be read.
    """
    if os.path.exists(path):
        check_readable(path, Path(path).name)
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{Path(path).name}: cannot be read ({error.strerror})") from None
