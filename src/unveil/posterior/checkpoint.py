"""Finished records of a long run, kept in a file."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np

from unveil.errors import DataError, FileError
from unveil.microdata.atomic import replacing
from unveil.posterior.weigh import Weighed

__all__ = ["Checkpoint"]

SECONDS = 5.0
"""Least time between two writes."""
ARRAYS = ("members", "truth", "prior", "posterior", "likeliest", "likeliest_probability", "possible_worlds",
          "must_fill", "part")  # fmt: skip


class Checkpoint:
    """Blocks of records that are done.

    Parameters
    ----------
    path
        The file; read if it exists.
    fingerprint
        What the run is about.

    Raises
    ------
    DataError
        If the file belongs to another run.
    FileError
        If it cannot be read.
    """

    def __init__(self, path: Path, fingerprint: str):
        self.path = path
        self.key = hashlib.sha256(fingerprint.encode()).hexdigest()
        self.blocks: dict[str, Any] = {}
        self.written = time.monotonic()
        if path.exists():
            try:
                with np.load(path, allow_pickle=False) as found:
                    self.blocks = {name: found[name] for name in found.files}
            except (OSError, ValueError) as error:
                raise FileError(f"{path}: cannot be read as a checkpoint ({' '.join(str(error).split())})") from None
            if str(self.blocks.pop("run", "")) != self.key:
                raise DataError(f"{path} belongs to another run; name another checkpoint or remove it")

    def load(self, at: tuple[int, str, int]) -> Weighed | None:
        """A block that is done, or None."""
        name = "/".join(map(str, at))
        if f"{name}/members" not in self.blocks:
            return None
        parts = tuple(str(part) for part in self.blocks[f"{name}/parts"])
        probabilities = self.blocks.get(f"{name}/probabilities")
        arrays = {key: self.blocks[f"{name}/{key}"] for key in ARRAYS}
        return Weighed(**arrays, parts=parts, probabilities=probabilities)

    def store(self, at: tuple[int, str, int], block: Weighed) -> None:
        """Keep a block; the file is written now and then."""
        name = "/".join(map(str, at))
        self.blocks |= {f"{name}/{key}": getattr(block, key) for key in ARRAYS}
        self.blocks[f"{name}/parts"] = np.array(block.parts, dtype=np.str_)
        if block.probabilities is not None:
            self.blocks[f"{name}/probabilities"] = block.probabilities
        if time.monotonic() - self.written >= SECONDS:
            self.write()

    def write(self) -> None:
        """Write the file."""
        with replacing(self.path, overwrite=True, confidential=True) as temporary, temporary.open("wb") as stream:
            np.savez(stream, run=np.array(self.key), **self.blocks)
        self.written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run is complete."""
        self.path.unlink(missing_ok=True)
