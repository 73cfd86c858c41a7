"""Closed forms for synthesizers that draw whole records from the cells of a cross table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.likelihood import LikelihoodTerm, WorldLikelihood
from unveil._posterior.possible_values import PossibleValues

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ALL = "all variables"
NODES = 32
"""Nodes of the inner quadrature, per piece."""
OUTER = 65
"""Nodes of the outer quadrature."""
WIDTH = 9.0
"""Standard deviations that the outer quadrature reaches to either side."""


@cache
def _rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss's rule from -1 to 1; NumPy loads its polynomials for the first one."""
    rule: tuple[Floats, Floats] = np.polynomial.legendre.leggauss(nodes)
    return rule


class Table:
    """Original and released records by cell of the cross table.

    Parameters
    ----------
    original : sequence of (n,) int32
        Levels by variable, the unknown ones included.
    released : sequence of (z,) int32
        Levels of the releases, pooled.
    n_levels
        Levels by variable over all files.
    names
        Names of the variables.
    worlds
        What is unknown.
    coarse
        By variable, level of the table by level of the worlds, where the table tells fewer or other levels apart.
    """

    def __init__(
        self,
        original: Sequence[Codes],
        released: Sequence[Codes],
        n_levels: Sequence[int],
        names: Sequence[str],
        worlds: PossibleValues,
        coarse: Mapping[str, Codes] | None = None,
    ):
        self.names, self.n_levels, self.worlds = tuple(names), tuple(n_levels), worlds
        self.coarse = coarse or {}
        self.original = [codes.astype(np.int64) for codes in original]
        self.n = self.original[0].size
        radix = 1
        self.radix: list[int] = []
        for size in n_levels:
            self.radix.append(radix)
            radix *= size
        self.n_combinations = radix
        # Cells beyond 64 bits are numbers of any length.
        self.kind = np.int64 if radix < 2**62 else np.dtype(object)
        self.cell = self._cells(self.original)
        self.z_cell = self._cells([codes.astype(np.int64) for codes in released])
        self.cells, place = np.unique(np.concatenate([self.cell, self.z_cell]), return_inverse=True)
        self.place = place[: self.n]
        self.donors = np.bincount(self.place, minlength=self.cells.size)
        self.released = np.bincount(place[self.n :], minlength=self.cells.size)
        self.z = self.z_cell.size
        self.level_counts = [np.bincount(codes, minlength=size) for codes, size in zip(self.original, n_levels,
                                                                                        strict=True)]  # fmt: skip

    def _cells(self, columns: Sequence[Ints]) -> NDArray[np.int64]:
        total = np.zeros(columns[0].size, dtype=self.kind)
        for codes, radix in zip(columns, self.radix, strict=True):
            total = total + codes.astype(self.kind) * radix
        return total

    def places(self, record: int, levels: dict[str, Codes]) -> Ints:
        """Place of a record's cell in ``cells`` by world; -1 for cells that no file has."""
        total = np.zeros(next(iter(levels.values())).size, dtype=self.kind)
        for name, codes, radix in zip(self.names, self.original, self.radix, strict=True):
            own = levels[name].astype(np.int64) if name in levels else codes[record]
            if name in levels and name in self.coarse:
                own = self.coarse[name][own].astype(np.int64)
            total = total + (own.astype(self.kind) if name in levels else int(own)) * radix
        place = np.searchsorted(self.cells, total).clip(max=self.cells.size - 1)
        return np.where(self.cells[place] == total, place, -1).astype(np.int64)

    def must_fill(self, members: Ints) -> Flags:
        """(r,) whether the record's own cell is released and no other record has it."""
        place = self.place[members]
        alone: Flags = (self.donors[place] == 1) & (self.released[place] > 0)
        return alone


class CatallLikelihood(WorldLikelihood):
    """Saturated multinomial: ``P(cell) = (N + a / C) / (n + a)``, exact.

    Moving a record from cell u to cell w changes the log-likelihood by
    ``S_u log((N_u - 1 + a/C) / (N_u + a/C)) + S_w log((N_w + 1 + a/C) / (N_w + a/C))``; the number of cells C changes
    with it where the record alone holds a level.
    """

    def __init__(self, table: Table, prior: float):
        self.table, self.prior = table, prior

    def must_fill(self, members: Ints) -> Flags:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        return self.table.must_fill(members) if self.prior == 0 else np.zeros(members.size, dtype=np.bool_)

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        impossible = np.zeros((members.size, stop - start), dtype=np.int64)
        log = np.zeros((members.size, stop - start))
        levels = self.table.worlds.levels_between(start, stop)
        for i, record in enumerate(members):
            places = self.table.places(int(record), levels)
            for w in range(stop - start):
                world = {name: int(codes[w]) for name, codes in levels.items()}
                impossible[i, w], log[i, w] = self._world(int(record), int(places[w]), world)
        return [LikelihoodTerm(ALL, impossible, log)]

    def _world(self, record: int, place: int, world: dict[str, int]) -> tuple[int, float]:
        table = self.table
        sizes, lost = self._sizes(record, world)
        donors = table.donors.astype(np.float64)
        donors[table.place[record]] -= 1
        if place >= 0:
            donors[place] += 1
        share = self.prior / sizes if self.prior else 0.0
        weight = donors + share
        if lost:
            # A level that nobody has any more cannot be drawn.
            gone = np.zeros(table.cells.size, dtype=np.bool_)
            for position, level in lost:
                gone |= (table.cells // table.radix[position]) % table.n_levels[position] == level
            weight = np.where(gone, 0.0, weight)
        ok = weight > 0
        released = table.released
        with np.errstate(divide="ignore"):
            log = float((released[ok] * np.log(weight[ok])).sum())
        possible = int(released[ok].sum())
        return int(released[~ok].sum()), log - possible * math.log(table.n + self.prior)

    def _sizes(self, record: int, world: dict[str, int]) -> tuple[float, list[tuple[int, int]]]:
        """Number of cells, and levels that are on no record, with the record in a world."""
        table = self.table
        sizes, lost = 1.0, []
        for position, (name, counts) in enumerate(zip(table.names, table.level_counts, strict=True)):
            held = counts
            if name in world:
                held = counts.copy()
                held[table.original[position][record]] -= 1
                held[world[name]] += 1
            present = int((held > 0).sum())
            sizes *= present
            lost += [(position, int(level)) for level in np.flatnonzero(held == 0)]
        return sizes, lost


class HistogramLikelihood(WorldLikelihood):
    """Noised histogram (Laplace mechanism), the noise unknown to the intruder: exact by quadrature.

    Released counts S given the noised counts ``h_u = max(0, N_u + a/C + e_u)`` are multinomial with shares ``h_u / T``.
    With ``T^-z = int s^(z-1) exp(-s T) ds / Gamma(z)`` the cells separate:
    ``P(Z | D) = c int s^(z-1) prod_u E[h_u^S_u exp(-s h_u)] ds``, and a world changes the factor of its own cell only.
    """

    def __init__(self, table: Table, prior: float, scale: float):
        self.table = table
        cells = table.n_combinations
        self.even = prior / cells
        self.scale = scale
        self._factors: dict[tuple[int, int], Floats] = {}
        others = cells - table.cells.size
        total = table.n + prior
        middle, deviation = table.z / total, math.sqrt(max(table.z, 1)) / total
        nodes, weights = _rule(OUTER)
        low = max(middle - WIDTH * deviation - WIDTH * middle * scale * math.sqrt(2.0 * cells) / total, middle * 1e-3)
        high = middle + WIDTH * deviation + WIDTH * middle * scale * math.sqrt(2.0 * cells) / total
        self.s = low + (high - low) * (nodes + 1) / 2
        log = (table.z - 1) * np.log(self.s) + np.log(weights)
        for place in range(table.cells.size):
            log = log + self._factor(int(table.donors[place]), int(table.released[place]))
        if others:
            log = log + others * self._factor(0, 0)
        self.log = log

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        table = self.table
        levels = table.worlds.levels_between(start, stop)
        log = np.zeros((members.size, stop - start))
        for i, record in enumerate(members):
            own = int(table.place[record])
            donors, released = int(table.donors[own]), int(table.released[own])
            without = self.log - self._factor(donors, released) + self._factor(donors - 1, released)
            for w, place in enumerate(table.places(int(record), levels)):
                held, seen = (int(table.donors[place]), int(table.released[place])) if place >= 0 else (0, 0)
                held -= place == own
                changed = without - self._factor(held, seen) + self._factor(held + 1, seen)
                top = changed.max()
                log[i, w] = top + math.log(np.exp(changed - top).sum())
        return [LikelihoodTerm(ALL, np.zeros(log.shape, dtype=np.int64), log)]

    def _factor(self, donors: int, released: int) -> Floats:
        """``log E[h^S exp(-s h)]`` at every ``s``."""
        key = (donors, released)
        if key not in self._factors:
            self._factors[key] = self._integrate(donors + self.even, released)
        return self._factors[key]

    def _integrate(self, count: float, released: int) -> Floats:
        b = self.scale
        nodes, weights = _rule(NODES)
        terms = []
        for low, high in pairwise(self._edges(count, released).tolist()):
            h = low + (high - low) * (nodes + 1) / 2
            log = np.log(weights * (high - low) / 2) - np.abs(h - count) / b - math.log(2 * b)
            if released:
                log = log + released * np.log(np.maximum(h, 1e-300))
            terms.append(log[None, :] - self.s[:, None] * h[None, :])
        if not released:
            terms.append(np.full((self.s.size, 1), -count / b - math.log(2.0)))
        every = np.concatenate(terms, axis=1)
        top = every.max(axis=1)
        result: Floats = top + np.log(np.exp(every - top[:, None]).sum(axis=1))
        return result

    def _edges(self, count: float, released: int) -> Floats:
        """Ends of the pieces of h: short where the noise's density is steep, growing with h away from there.

        ``S log h - s h - |h - count| / b`` has its top at ``S / (s + 1 / b)`` where that is above the count, at
        ``S / (s - 1 / b)`` where that is below it, with a deviation of the top over the root of S.
        """
        b, deviations = self.scale, math.sqrt(released + 1)
        steepest, flattest = float(self.s.max()), float(self.s.min())
        near = count + b * np.array([-40.0, -12.0, -3.0, 0.0, 3.0, 12.0, 40.0])
        near = near[near > 0]
        low, high = float(near[0]), float(near[-1])
        parts = [near]
        far = (released + WIDTH * deviations) / (flattest + 1 / b)
        if far > high:
            parts.append(_growing(high, far, deviations))
        top = min(count, released / (steepest - 1 / b)) if steepest > 1 / b else count
        first = top * max(1 - WIDTH / deviations, 0.0)
        if first == 0:
            parts.append(np.zeros(1))
            first = 0.25 / (steepest + 1 / b)
        if first < low:
            parts.append(_growing(first, low, deviations))
        return np.unique(np.concatenate(parts))


def _growing(low: float, high: float, deviations: float) -> Floats:
    """Ends of pieces from low to high, each about three deviations wide where the top is at the place of the piece."""
    pieces = math.ceil(math.log(high / low) / math.log1p(3 / deviations))
    ends: Floats = np.geomspace(low, high, pieces + 1)
    return ends
