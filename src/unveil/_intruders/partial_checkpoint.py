"""Finished sets of unknown persons of a long run, kept in a file; see :mod:`unveil.files.sealed`."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from unveil.errors import DataError, UnveilError
from unveil.files.sealed import Sealed

SECONDS = 5.0
"""Least time between two writes."""
MAGIC = b"unveil partial knowledge checkpoint 1\n"


@dataclass(frozen=True)
class SetFound:
    """What was found for one set of unknown persons; confidential.

    Parameters
    ----------
    prior, posterior
        Probability of the truth, by person who is asked about.
    mixed
        Whether the chains of each of them have mixed.
    effective
        Their effective draws; NaN where nothing moved, or nothing is drawn.
    not_mixed
        Share of all unknown persons that has not mixed.
    error
        Monte-Carlo standard error of the mean posterior.
    kept, sweeps
        States that were kept, and sweeps; 0 where all states were enumerated.
    """

    prior: list[float]
    posterior: list[float]
    mixed: list[bool]
    effective: list[float]
    not_mixed: float
    error: float
    kept: int
    sweeps: int


_NAMES = {field.name for field in fields(SetFound)}


class PartialCheckpoint:
    """Finished sets by name; without a path they are kept nowhere.

    Parameters
    ----------
    path
        The file; read if it exists, and written at once: no run is to end with the news that this cannot be done.
    run
        What the run is about.

    Raises
    ------
    DataError
        If the file belongs to another run.
    FileError
        If it is no checkpoint, is damaged, or cannot be written.
    """

    def __init__(self, path: str | Path | None, run: str):
        self.file = None if path is None else Sealed(Path(path), MAGIC)
        self.key = hashlib.sha256(run.encode()).hexdigest()
        self.found: dict[str, SetFound] = self._read()
        self.written = time.monotonic()
        self.write()

    def store(self, name: str, found: SetFound) -> None:
        """Keep a set; the file is written now and then."""
        self.found[name] = found
        if self.file is not None and time.monotonic() - self.written >= SECONDS:
            self.write()

    def write(self) -> None:
        """Write the file; nobody but its owner can read it."""
        if self.file is not None:
            content = {"run": self.key, "sets": {name: asdict(one) for name, one in self.found.items()}}
            self.file.write([json.dumps(content).encode()])
            self.written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run is complete."""
        if self.file is not None:
            self.file.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, SetFound]:
        content = None if self.file is None else self.file.read()
        if self.file is None or content is None:
            return {}
        try:
            held = json.loads(content)
            if held["run"] != self.key:
                raise DataError(
                    f"{self.file.path}: a checkpoint of another run (other files, settings or question); name another, "
                    "or remove it"
                )
            if any(set(one) != _NAMES for one in held["sets"].values()):
                raise ValueError
            return {name: SetFound(**one) for name, one in held["sets"].items()}
        except UnveilError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self.file.damaged() from None
