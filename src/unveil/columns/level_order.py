"""An order of the levels of nominal variables that depends on the records, not on the names of levels.

Attackers use levels and classes in some order: a forest cuts it, ties go to the first, sums round differently. With an
order that depends only on the records, new names of levels or classes change no figure.

Levels differ by their records: each level gets the hash of its records, each record the hash of its levels, until no
more levels are separated (colour refinement). Levels that are still equal are interchangeable, except in contrived
files; one of them is then put first and the rest refined again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.columns.combinations import fold
from unveil.stats.hashes import Hashes, mixed

Codes = NDArray[np.integer]
_MOST_WORK = 20_000_000
_FIRST = np.uint64(0xD1B54A32D192ED03)


def canonical_orders(codes: Codes, n_levels: Sequence[int], nominal: Sequence[bool]) -> list[NDArray[np.intp] | None]:
    """Order the levels of the nominal variables.

    Parameters
    ----------
    codes : (v, n)
        Code of every record of all files in every variable.
    n_levels
        Number of levels per variable.
    nominal
        Per variable, whether its levels are only names; the codes of other variables are used unchanged.

    Returns
    -------
    list of (n_levels,) intp or None
        Per nominal variable its levels in the canonical order, the most frequent first; None for other variables.

    Notes
    -----
    Large files with many interchangeable levels (two identifiers, for example) would take long: beyond a limit such
    levels are ordered together, by their codes.

    References
    ----------
    McKay & Piperno (2014), Practical graph isomorphism II, Journal of Symbolic Computation 60, 94-112.

    Examples
    --------
    >>> codes = np.array([[0, 1, 1, 2], [0, 0, 1, 1]])
    >>> [None if order is None else order.tolist() for order in canonical_orders(codes, [3, 2], [True, False])]
    [[1, 2, 0], None]
    """
    if not any(nominal):
        return [None] * len(n_levels)
    return _Colouring(codes, n_levels, nominal).orders()


class _Colouring:
    """Colours of all levels, refined in place."""

    def __init__(self, codes: Codes, n_levels: Sequence[int], nominal: Sequence[bool]):
        _, folded = fold(iter(codes), n_levels)
        _, first, count = np.unique(folded, return_index=True, return_counts=True)
        self.codes = np.ascontiguousarray(codes[:, first])
        self.weight = count.astype(np.uint64)
        self.names = [v for v, is_name in enumerate(nominal) if is_name]
        self.colours: list[Hashes] = [
            np.zeros(k, dtype=np.uint64) if is_name else mixed(np.arange(k, dtype=np.uint64))
            for k, is_name in zip(n_levels, nominal, strict=True)
        ]
        self.by_level = {v: np.argsort(self.codes[v], kind="stable") for v in self.names}
        self.starts = {
            v: np.searchsorted(self.codes[v][self.by_level[v]], np.arange(n_levels[v] + 1)) for v in self.names
        }
        self.count = {v: self._sums(v, self.weight) for v in self.names}
        self.work = 0

    def orders(self) -> list[NDArray[np.intp] | None]:
        self._refine()
        self._split_twins()
        while (tied := self._tied()) is not None:
            variable, levels = tied
            chosen = levels[:1] if self.work < _MOST_WORK else levels
            self.colours[variable][chosen] = mixed(
                self.colours[variable][chosen] + _FIRST * np.arange(1, len(chosen) + 1, dtype=np.uint64)
            )
            self._refine()
        found: list[NDArray[np.intp] | None] = [None] * len(self.colours)
        for v in self.names:
            found[v] = np.lexsort((self.colours[v], -self.count[v].astype(np.int64)))
        return found

    def _refine(self) -> None:
        told_apart = self._told_apart()
        while True:
            self.work += self.codes.shape[1] * len(self.names)
            records = self._records(self.colours)
            for v in self.names:
                self.colours[v] = mixed(self.colours[v] * np.uint64(3) + self._sums(v, records * self.weight))
            before, told_apart = told_apart, self._told_apart()
            if told_apart == before:
                return

    def _split_twins(self) -> None:
        """Separate levels whose records are otherwise equal: their order has no effect."""
        for v in self.names:
            exact = [np.arange(len(c), dtype=np.uint64) for c in self.colours]
            exact[v] = self.colours[v]
            alike = self._sums(v, self._records([mixed(c) for c in exact]) * self.weight)
            order = np.lexsort((alike, self.colours[v]))
            new = np.ones(len(order), dtype=bool)
            new[1:] = (alike[order][1:] != alike[order][:-1]) | (
                self.colours[v][order][1:] != self.colours[v][order][:-1]
            )
            start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
            self.colours[v][order] = mixed(self.colours[v][order] + (np.arange(len(order)) - start).astype(np.uint64))
        self._refine()

    def _tied(self) -> tuple[int, NDArray[np.intp]] | None:
        """Return the first variable with levels of one colour, and these levels."""
        for v in self.names:
            colours, position, count = np.unique(self.colours[v], return_inverse=True, return_counts=True)
            if len(colours) < len(position):
                return v, np.flatnonzero(position.ravel() == np.flatnonzero(count > 1)[0])
        return None

    def _told_apart(self) -> int:
        return sum(len(np.unique(self.colours[v])) for v in self.names)

    def _records(self, colours: Sequence[Hashes]) -> Hashes:
        found = np.zeros(self.codes.shape[1], dtype=np.uint64)
        for colour, codes in zip(colours, self.codes, strict=True):
            found = mixed(found + colour[codes])
        return found

    def _sums(self, variable: int, values: Hashes) -> Hashes:
        """Return per level the sum over its records, modulo 2^64."""
        total = np.zeros(len(values) + 1, dtype=np.uint64)
        np.cumsum(values[self.by_level[variable]], out=total[1:])
        ends = self.starts[variable]
        result: Hashes = total[ends[1:]] - total[ends[:-1]]
        return result
