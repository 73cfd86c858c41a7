"""What the methods for whole files share: frames of the codes that they draw, and sums of what they weigh."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.synthesis.fitting import generator
from unveil.synthesis.likelihood import ImpossibleCell, LogProbability
from unveil.synthesis.memory import enough_memory
from unveil.synthesis.methods.coded_file import CodedFile, Codes
from unveil.synthesis.seeds import seed_or_secret

__all__ = ["CodedSynthesizer", "summed"]


class CodedSynthesizer(ABC):
    """Draws records like those of a :class:`CodedFile`; the codes are the method's."""

    def sample(self, n: int | None = None, *, m: int = 1, seed: int | None = None) -> Any:
        """Draw records.

        Parameters
        ----------
        n : int, optional
            Number of records; as many as the original by default.
        m : int
            Number of copies.
        seed : int, optional
            Of the draws. Without it one is drawn from the operating system that nobody knows.

        Returns
        -------
        frame or list of frames
            In the flavour of the original; a list where ``m`` is above 1.

        Raises
        ------
        CallError
            If ``n`` or ``m`` is out of range, or nothing is fitted.
        """
        file = self._coded_file()
        n = file.n if n is None else n
        for name, value, least in (("n", n, 0), ("m", m, 1)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
                raise CallError(f"{name} must be a whole number from {least}, not {value!r}")
        secret = seed_or_secret(seed)
        with enough_memory(n, m, len(file.variables)):
            # every copy has a source of randomness of its own
            frames = [file.frame(self._draw(n, generator(secret, copy))) for copy in range(m)]
        return frames if m > 1 else frames[0]

    @abstractmethod
    def _coded_file(self) -> CodedFile:
        """The original that was fitted; an error where nothing is."""

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator) -> list[Codes]:
        """Codes of n records, per column."""


def summed(logs: Mapping[str, NDArray[np.float64]], value: Callable[[str, int], object]) -> LogProbability:
    """Sum up logarithms of probabilities.

    Parameters
    ----------
    logs : mapping of str to (n,) float64
        By variable, at least one.
    value : callable
        The value of a variable in a record, to name what is impossible.

    Returns
    -------
    LogProbability
        In all, by variable and by record.
    """
    impossible = {name: np.flatnonzero(np.isneginf(log)) for name, log in logs.items()}
    finite = float(sum(log[~np.isneginf(log)].sum() for log in logs.values()))
    first = next((name for name, rows in impossible.items() if rows.size), None)
    cell = None
    if first is not None:
        record = int(impossible[first][0])
        cell = ImpossibleCell(first, record, value(first, record))
    return LogProbability(
        total=finite if cell is None else -math.inf,
        variables={name: float(log.sum()) for name, log in logs.items()},
        records=np.sum(list(logs.values()), axis=0),
        finite=finite,
        n_impossible=sum(rows.size for rows in impossible.values()),
        first_impossible=cell,
    )
