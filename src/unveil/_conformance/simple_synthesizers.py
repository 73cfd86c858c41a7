"""Synthesizers so simple that a formula tells what an intruder learns from their releases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.files import read

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_SEEN = 16
"""Releases that are kept counted."""


class LevelCombinations:
    """All combinations of the levels of some text variables, numbered.

    Parameters
    ----------
    levels
        Levels by variable; the last variable changes fastest.
    """

    def __init__(self, levels: Mapping[str, Sequence[str]]):
        self.levels = {name: tuple(values) for name, values in levels.items()}
        self.shape = tuple(len(values) for values in self.levels.values())
        self.size = math.prod(self.shape)
        self._seen: list[tuple[Any, Ints]] = []

    def table(self, cells: Ints) -> pa.Table:
        """Records (n,) of these cells."""
        codes = np.unravel_index(cells, self.shape)
        return pa.table({
            name: pa.array(np.array(values, dtype=object)[place].tolist(), pa.string())
            for (name, values), place in zip(self.levels.items(), codes, strict=True)
        })  # fmt: skip

    def counts(self, frame: Any) -> Ints:
        """Records by cell of a frame, kept: each world asks for the same release again."""
        known = next((counts for seen, counts in self._seen if seen is frame), None)
        if known is not None:
            return known
        fresh: Ints = np.bincount(self.cells(frame), minlength=self.size)
        self._seen = [*self._seen[1 - MOST_SEEN :], (frame, fresh)]
        return fresh

    def cells(self, frame: Any) -> Ints:
        """Cells (n,) of the records of a frame."""
        source = read(frame)
        codes = [
            pc.index_in(source.fetch(name).cast(pa.string()), value_set=pa.array(values, pa.string())).to_numpy()
            for name, values in self.levels.items()
        ]
        numbers: Ints = np.ravel_multi_index(codes, self.shape).astype(np.int64)
        return numbers


class CellMixture:
    """Draws records from the original with replacement; a share of them is replaced by random combinations.

    ``P(cell) = (1 - noise) N(cell) / n + noise / C`` with N of n original records in a cell, and C cells.

    Parameters
    ----------
    space
        The cells.
    noise
        Share of replaced records, from 0 to 1.
    overwritten
        A variable that has one value in all released records, and that value.
    """

    def __init__(self, space: LevelCombinations, noise: float = 0.0, overwritten: tuple[str, str] | None = None):
        self.space, self.noise, self.overwritten = space, noise, overwritten

    def fit(self, frame: Any) -> CellMixture:
        """Count the original records by cell."""
        cells = self.space.cells(frame)
        counts = np.bincount(cells, minlength=self.space.size)
        share = ((1.0 - self.noise) * counts / cells.size + self.noise / self.space.size).reshape(self.space.shape)
        if self.overwritten is not None:
            axis, code = self._overwritten_at(self.overwritten)
            total = share.sum(axis=axis, keepdims=True)
            share = np.where(np.arange(share.shape[axis]) == code, np.moveaxis(total, axis, -1), 0.0)
            share = np.moveaxis(share, -1, axis)
        self.share: Floats = share.ravel()
        return self

    def _overwritten_at(self, overwritten: tuple[str, str]) -> tuple[int, int]:
        name, value = overwritten
        return list(self.space.levels).index(name), self.space.levels[name].index(value)

    def log_prob(self, frame: Any) -> float:
        """Logarithm of the probability of a release; ``-inf`` if the original cannot have given it."""
        counts = self.space.counts(frame)
        released = counts > 0
        with np.errstate(divide="ignore"):
            return float(counts[released] @ np.log(self.share[released]))


class Blind:
    """Makes releases that do not depend on the original: their probability is the same for each original."""

    def fit(self, frame: Any) -> Blind:
        """Ignore the original."""
        return self

    def log_prob(self, frame: Any) -> float:
        """Logarithm of the probability of the release, up to a constant."""
        return 0.0


def learnt(original: Ints, released: Ints, records: Sequence[int], n_cells: int, noise: float) -> float:
    """Mean normalised gain about a binary target from a release of :class:`CellMixture`, by its formula.

    The target is the last digit of a cell: a person of cell 2q + t might as well be of cell 2q + 1 - t. With both
    equally probable beforehand the gain is ``(posterior - 1/2) / (1 - 1/2)``.

    Parameters
    ----------
    original, released : (n,) and (z,) int64
        Cells of the records; several releases one after the other.
    records
        Records of the persons.
    n_cells
        Number of cells.
    noise
        Noise of the synthesizer.
    """
    donors = np.bincount(original, minlength=n_cells).astype(np.float64)
    drawn = np.bincount(released, minlength=n_cells)

    def log_share(count: float) -> float:
        share = (1.0 - noise) * count / original.size + noise / n_cells
        return math.log(share) if share > 0 else -math.inf

    def log_likelihood(own: int, other: int, moved: int) -> float:
        """Log-likelihood of two cells after records moved from one to the other."""
        pairs = ((drawn[own], donors[own] - moved), (drawn[other], donors[other] + moved))
        return sum(float(times) * log_share(count) for times, count in pairs if times)

    gains = []
    for record in records:
        own = int(original[record])
        other = own ^ 1
        truth, untruth = log_likelihood(own, other, 0), log_likelihood(own, other, 1)
        gains.append(math.tanh((truth - untruth) / 2.0))
    return float(np.mean(gains))
