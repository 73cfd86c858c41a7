"""Scores of finished attacks in a folder, so that an interrupted call continues where it stopped.

Kept are distributions of scores, without who has which: those of shuffled releases, of samples and of the ceiling. The
attack on the release itself is made anew, because its model is a part of the result: one of many.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.problem import AttackRecords, Problem
from unveil._rapid.threshold import Distribution
from unveil.columns.checkpoint import Checkpoint
from unveil.models.learners import Attacker
from unveil.synthesis.settings import in_plain_words
from unveil.version import __version__

Scores = tuple[Distribution, ...]


class KeptScores:
    """Scores of the attacks of one problem.

    Parameters
    ----------
    folder
        Path of the folder; it is created if it does not exist. Its files can be read by their owner alone.
    problem
        Keys and target.
    settings
        What the scores depend on besides; a threshold is not among it.
    """

    def __init__(self, folder: str | Path, problem: Problem, *settings: object):
        digest = hashlib.sha256(repr((__version__, _in_words(problem), in_plain_words(settings))).encode())
        self.parts = Checkpoint(folder, digest.hexdigest())

    def of(self, attacker: Attacker, place: Sequence[int], work: Callable[[], Scores], heard: list[str]) -> Scores:
        """Scores of an attack: those that an earlier call has found, or they are found and kept.

        Parameters
        ----------
        attacker
            Who attacks.
        place
            Which of the attacks it is.
        work
            Finds the scores.
        heard
            What was heard of each model that was trained; it grows as if the work had been done.
        """
        name = repr((attacker.name, in_plain_words(getattr(attacker, "estimator", None)), *place))
        before, part = len(heard), self.parts.load(name)
        if part is not None:
            heard += part["heard"]
            return tuple(
                Distribution(_array(one["scores"], np.float64), _array(one["counts"], np.int64))
                for one in part["found"]
            )
        found = work()
        packed = [{"scores": _text(one.scores), "counts": _text(one.counts)} for one in found]
        self.parts.store({"name": name, "found": packed, "heard": heard[before:]})
        return found


def _in_words(problem: Problem) -> Any:
    """All that attackers see of a problem, in plain words: codes by their digests."""
    keys = [
        (key.name, key.kind, key.n_levels, key.column.labels, key.column.amounts if key.column.has_amounts else None)
        for key in problem.original.table.keys
    ]
    records: list[AttackRecords | None] = [problem.original, *problem.releases, problem.side]
    seen = [None if one is None else (one.table.codes, one.target.y, one.target.n_classes) for one in records]
    return in_plain_words((keys, problem.target, problem.classes, seen))


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _array(text: str, dtype: type[Any]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
