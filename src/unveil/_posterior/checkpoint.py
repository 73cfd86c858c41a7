"""Finished records of a long run, kept in a file.

The file is a line that says what it is, the SHA-256 of all that follows, a line of JSON that describes the arrays, and
their bytes one after the other. Nothing is unpacked or executed, nor used before the digest has been compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.posterior_of_records import Posteriors
from unveil.errors import DataError, FileError, UnveilError
from unveil.files.atomic import replacing

SECONDS = 5.0
"""Least time between two writes."""
MAGIC = b"unveil posterior checkpoint 2\n"
LONGEST_HEADER = 1 << 20
PIECE = 1 << 20
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
        self.path, self.members, self.n_values = path, members, n_values
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
        digest = hashlib.sha256(header)
        for array in arrays:
            digest.update(array.data)
        with replacing(self.path, overwrite=True, confidential=True) as temporary, temporary.open("wb") as stream:
            stream.write(MAGIC + digest.hexdigest().encode() + b"\n" + header)
            for array in arrays:
                stream.write(array.data)
        self.written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run is complete."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> dict[Task, Posteriors]:
        """What the file holds; nothing where there is no file."""
        try:
            # Opened without waiting: a pipe that nobody writes to would keep the run for ever.
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"{self.path}: cannot be read as a checkpoint ({reason})") from None
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            os.close(handle)
            raise FileError(f"{self.path}: not a file, which a checkpoint is; name another")
        with os.fdopen(handle, "rb") as stream:
            try:
                return self._unpacked(stream, state.st_size)
            except UnveilError:
                raise
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
                raise FileError(
                    f"{self.path}: a checkpoint that is damaged; remove it, and the run starts anew, or name another"
                ) from None

    def _unpacked(self, stream: BinaryIO, size: int) -> dict[Task, Posteriors]:
        if stream.read(len(MAGIC)) != MAGIC:
            raise FileError(f"{self.path}: no checkpoint of this version of unveil; name another, or remove it")
        said, header = stream.readline(65).rstrip(b"\n").decode("ascii"), stream.readline(LONGEST_HEADER)
        content = json.loads(header)
        lengths = [length for task in content["tasks"] for length in _lengths(task, content["n_values"])]
        if stream.tell() + sum(length for _, length in lengths) != size:
            raise ValueError
        digest, begin = hashlib.sha256(header), stream.tell()
        while piece := stream.read(PIECE):
            digest.update(piece)
        if digest.hexdigest() != said:
            raise ValueError
        if content["run"] != self.key or content["n_values"] != self.n_values:
            raise DataError(
                f"{self.path}: a checkpoint of another run (other files, settings or question); name another, or "
                "remove it"
            )
        stream.seek(begin)
        return {(task["group"], task["structure"]): self._block(stream, task) for task in content["tasks"]}

    def _block(self, stream: BinaryIO, task: dict[str, Any]) -> Posteriors:
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
