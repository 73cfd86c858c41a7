"""Copies of files that the browser sends: in a folder of the owner alone that goes with the process."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

from unveil.errors import FileError
from unveil.files.atomic import OWNER_ONLY
from unveil.files.opening import ENDINGS
from unveil.printable import printable

LARGEST = 2 << 30
"""Bytes of a copy; a larger file is named by its path, and read where it is."""
LONGEST = 120
FIELDS = ("original", "synthetic", "holdout", "provenance", "policy", "schema")
"""What a file may be to the assessment."""
BESIDE = {"provenance": "documents", "policy": "documents", "schema": "documents"}
"""Documents are side by side: a provenance file looks there for its schema."""


def safe_name(given: str) -> str:
    """The name of a file without folders, and with no letter that a folder could be named by.

    Raises
    ------
    FileError
        If nothing is left, or it has no ending that is known.

    Examples
    --------
    >>> safe_name("survey 2024.csv"), safe_name("../../etc/people.sav"), safe_name("C:\\\\data\\\\a.csv")
    ('survey 2024.csv', 'people.sav', 'a.csv')
    """
    name = re.split(r"[/\\]", given)[-1].strip().lstrip(".")
    if not name or printable(name) != name or any(sign in name for sign in "\n\t:") or len(name.encode()) > LONGEST:
        raise FileError(f"{name or given!r:.80}: rename the file: up to {LONGEST} plain letters, digits and blanks")
    if not name.lower().removesuffix(".gz").endswith((*ENDINGS, ".toml", ".json")):
        raise FileError(f"{name}: unknown ending; known are {', '.join(ENDINGS)}, .csv.gz, .toml and .json")
    return name


async def stored(folder: Path, field: str, name: str, parts: AsyncIterator[bytes], largest: int = LARGEST) -> Path:
    """Write what the browser sends to a file of the owner alone; an earlier one of the same field and name goes.

    Parameters
    ----------
    folder
        The private folder.
    field
        What the file is to the assessment.
    name
        Its name as the browser says it.
    parts
        Its content.
    largest
        Most bytes that are taken.

    Raises
    ------
    FileError
        If the name is none for a file, the file is too large, or it cannot be written.
    """
    if field not in FIELDS:
        raise FileError(f"{field!r:.40} is nothing that a file can be")
    target = folder / BESIDE.get(field, field) / safe_name(name)
    coming = target.with_name(f".coming-{target.name}")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with open(os.open(coming, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, OWNER_ONLY), "wb") as file:
            size = 0
            async for part in parts:
                size += len(part)
                if size > largest:
                    raise FileError(f"{target.name}: more than {largest >> 20} MB; name the file by its path instead")
                file.write(part)
        os.replace(coming, target)
    except OSError as error:
        raise FileError(f"{target.name}: cannot be copied ({error.strerror}); name the file by its path") from None
    finally:
        coming.unlink(missing_ok=True)
    return target
