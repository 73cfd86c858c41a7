"""Finished records of a long run, kept in a file.

The content of the file (see :mod:`unveil.files.sealed`) is a line of JSON that describes the arrays, and their bytes
one after the other. Nothing is unpacked or executed, nor used before the digest has been compared.
"""

from __future__ import annotations

import hashlib
import json
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.posterior_of_records import Posteriors
from unveil.errors import DataError, UnveilError
from unveil.files.sealed import Sealed

SECONDS = 5.0
"""Least time between two writes."""
MAGIC = b"unveil posterior checkpoint 2\n"
TYPES = {
    "members": "<i8", "truth": "<i8", "prior": "<f8", "posterior": "<f8", "likeliest": "<i8",
    "likeliest_probability": "<f8", "possible_worlds": "<i8", "must_fill": "|b1", "part": "<i8",
}  # fmt: skip
PROBABILITIES = "probabilities"

Task = tuple[int, str]


class Checkpoint:
    """Records that are done, by task: the number of a group of releases, and a structure.

    Parameters
    ----------
    path
        The file; read if it exists. It is written at once: no run is to end with the news that this cannot be done.
    fingerprint
        What the run is about.
    members : (r,) int64
        The records asked about.
    n_values
        Number of values in question.

    Raises
    ------
    DataError
        If the file belongs to another run.
    FileError
        If it is no checkpoint, is damaged, or cannot be written.
    """

    def __init__(self, path: Path, fingerprint: str, members: NDArray[np.int64], n_values: int):
        self.file, self.members, self.n_values = Sealed(path, MAGIC), members, n_values
        self.key = hashlib.sha256(fingerprint.encode()).hexdigest()
        self.blocks: dict[Task, list[Posteriors]] = {}
        self.written = time.monotonic()
        self.blocks = {task: [block] for task, block in self._read().items()}
        self.write()

    def done(self, task: Task) -> Posteriors | None:
        """The records of a task that are done, or None."""
        if task not in self.blocks:
            return None
        whole = Posteriors.joined(self.blocks[task])
        self.blocks[task] = [whole]
        return whole

    def store(self, task: Task, block: Posteriors) -> None:
        """Keep some records; the file is written now and then."""
        self.blocks.setdefault(task, []).append(block)
        if time.monotonic() - self.written >= SECONDS:
            self.write()

    def write(self) -> None:
        """Write the file; nobody but its owner can read it."""
        described, arrays = [], []
        for (group, structure), blocks in self.blocks.items():
            one = Posteriors.joined(blocks)
            names = [*TYPES, *(() if one.probabilities is None else (PROBABILITIES,))]
            described.append(
                {"group": group, "structure": structure, "n": one.members.size, "parts": list(one.parts),
                 "arrays": names}
            )  # fmt: skip
            arrays += [np.ascontiguousarray(getattr(one, name), dtype=TYPES.get(name, "<f8")) for name in names]
        header = json.dumps({"run": self.key, "n_values": self.n_values, "tasks": described}).encode() + b"\n"
        self.file.write([header, *(array.data.cast("B") for array in arrays if array.size)])
        self.written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run is complete."""
        self.file.path.unlink(missing_ok=True)

    def _read(self) -> dict[Task, Posteriors]:
        """What the file holds; nothing where there is no file."""
        content = self.file.read()
        if content is None:
            return {}
        try:
            return self._unpacked(content)
        except UnveilError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise self.file.damaged() from None

    def _unpacked(self, content: bytes) -> dict[Task, Posteriors]:
        begin = content.index(b"\n") + 1
        header = json.loads(content[:begin])
        lengths = [length for task in header["tasks"] for _, length in _lengths(task, header["n_values"])]
        if begin + sum(lengths) != len(content):
            raise ValueError
        if header["run"] != self.key or header["n_values"] != self.n_values:
            raise DataError(
                f"{self.file.path}: a checkpoint of another run (other files, settings or question); name another, or "
                "remove it"
            )
        stream = BytesIO(content[begin:])
        return {(task["group"], task["structure"]): self._block(stream, task) for task in header["tasks"]}

    def _block(self, stream: BytesIO, task: dict[str, Any]) -> Posteriors:
        found: dict[str, NDArray[Any] | None] = {PROBABILITIES: None}
        for name, length in _lengths(task, self.n_values):
            array = np.frombuffer(stream.read(length), dtype=TYPES.get(name, "<f8"))
            found[name] = array.reshape(-1, self.n_values) if name == PROBABILITIES else array
        block = Posteriors(**found, parts=tuple(task["parts"]))  # type: ignore[arg-type]
        if np.unique(block.members).size < block.members.size or not np.isin(block.members, self.members).all():
            raise ValueError
        return block


def _lengths(task: dict[str, Any], n_values: int) -> list[tuple[str, int]]:
    """Arrays of a task, and their numbers of bytes."""
    n = task["n"]
    if not all(isinstance(number, int) and 0 <= number < 1 << 40 for number in (n, n_values, task["group"])):
        raise ValueError
    return [
        (name, n * np.dtype(TYPES.get(name, "<f8")).itemsize * (n_values if name == PROBABILITIES else 1))
        for name in task["arrays"]
    ]
