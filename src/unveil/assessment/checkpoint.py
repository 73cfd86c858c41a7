"""Finished parts kept in a folder, so that an interrupted assessment goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from unveil.columns import Pair
from unveil.errors import FileError
from unveil.files.atomic import replacing
from unveil.files.distinct import distinct_of, python_values
from unveil.files.path_checks import check_readable
from unveil.notes import warn
from unveil.plain import without_nan


class Checkpoint:
    """A folder of finished parts of one assessment. It holds no records.

    Parameters
    ----------
    folder
        The folder; it is made if it does not exist.
    fingerprint
        Of files and scenario; parts of another assessment are passed over.
    """

    def __init__(self, folder: str | Path, fingerprint: str):
        self.folder, self.fingerprint = Path(folder), fingerprint
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: cannot be made a folder of finished parts ({error.strerror})") from None

    def _path(self, name: str) -> Path:
        # A name may hold any letter of a column's name.
        digest = hashlib.sha256(f"{self.fingerprint}/{name}".encode()).hexdigest()
        return self.folder / f"{digest[:24]}.json"

    def load(self, name: str) -> dict[str, Any] | None:
        """The part, if it was finished; one that is damaged is as good as none, and that is said."""
        path = self._path(name)
        try:
            check_readable(path, path.name)
            digest, _, content = path.read_text(encoding="utf-8").partition("\n")
        except (OSError, ValueError):
            digest, content = "", ""
        if digest != hashlib.sha256(content.encode()).hexdigest():
            if os.path.lexists(path):
                warn(f"{path}: a finished part that is damaged; it is worked out anew")
            return None
        part: dict[str, Any] = json.loads(content)
        return part

    def store(self, part: dict[str, Any]) -> None:
        """Keep a finished part, under a digest that tells whether the file is still what was written."""
        content = json.dumps(without_nan(part), allow_nan=False)
        with replacing(self._path(part["name"]), overwrite=True, confidential=True) as temporary:
            temporary.write_text(f"{hashlib.sha256(content.encode()).hexdigest()}\n{content}", encoding="utf-8")


def fingerprint(pair: Pair, *settings: object) -> str:
    """A digest of the files' coded content and of everything that decides a result."""
    digest = hashlib.sha256(repr((pair.n_original, pair.n_synthetic, settings)).encode())
    for name in pair.names:
        column = pair.column(name)
        digest.update(repr((name, column.kind, column.labels, column.special)).encode())
        for codes in (column.original, *column.releases):
            digest.update(codes.tobytes())
    held_out = [] if pair.holdout is None else [pair.holdout]
    for found in (distinct_of(file, name) for file in held_out for name in file.names):
        digest.update(repr((found.column, python_values(found.values))).encode())
        digest.update(found.codes.tobytes())
    return digest.hexdigest()
