"""Finished parts in a folder, so that an interrupted assessment continues where it stopped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from unveil.columns.pair import Pair
from unveil.errors import FileError
from unveil.files.distinct import distinct_of, python_values
from unveil.files.sealed import Sealed
from unveil.notes import warn
from unveil.plain import without_nan


class Checkpoint:
    """A folder of finished parts of one assessment. It holds no records.

    Parameters
    ----------
    folder
        Path of the folder; it is created if it does not exist.
    fingerprint
        Text that is the same for the same files and scenario only; parts of other assessments are ignored.
    """

    def __init__(self, folder: str | Path, fingerprint: str):
        self.folder, self.fingerprint = Path(folder), fingerprint
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"{folder}: cannot be made a folder of finished parts ({error.strerror})"
            raise FileError(f"{text}; name a new or an empty folder") from None

    def _file(self, name: str) -> Sealed:
        # A name may hold any letter of a column's name.
        digest = hashlib.sha256(f"{self.fingerprint}/{name}".encode()).hexdigest()
        return Sealed(self.folder / f"{digest[:24]}.json")

    def load(self, name: str) -> dict[str, Any] | None:
        """Return a finished part; None if there is none, or, with a warning, if its file is damaged."""
        file = self._file(name)
        try:
            content = file.read()
        except FileError:
            warn(f"{file.path}: a finished part that is damaged; it is worked out anew")
            return None
        part: dict[str, Any] | None = None if content is None else json.loads(content)
        return part

    def store(self, part: dict[str, Any]) -> None:
        """Write a finished part to the folder."""
        self._file(part["name"]).write([json.dumps(without_nan(part), allow_nan=False).encode()])


def fingerprint(pair: Pair, *settings: object) -> str:
    """Return a digest of the coded columns of all files and of all settings that a result depends on."""
    digest = hashlib.sha256(repr((pair.n_original, pair.n_synthetic, settings)).encode())
    if pair.weights is not None:
        digest.update(pair.weights.values.tobytes())
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
