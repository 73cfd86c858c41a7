"""How often each value of a variable is in the original and in the releases: what a bar chart of both shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil.notes import Note
from unveil.plain import Plain

MOST_BARS = 12
"""Of more levels the most frequent are shown, and the others together; amounts are cut into no more intervals."""
OTHERS = "all other levels"
DAYS_OF_YEAR = 365.2425

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Bar(Plain):
    """A level of a variable, or an interval of its amounts.

    Parameters
    ----------
    level
        What it is called.
    records
        Number of original records that have it.
    original
        Their share of all original records, between 0 and 1.
    releases
        Per release the share of its records that have it.
    """

    level: str
    records: int
    original: float
    releases: tuple[float, ...]


@dataclass(frozen=True)
class Distribution(Plain):
    """A variable in the original and in every release.

    Parameters
    ----------
    variable, kind
        Its name and kind.
    bars
        Its levels or intervals in their order.
    """

    variable: str
    kind: str
    bars: tuple[Bar, ...]


def distributions(variables: Sequence[Compared], least: int = 0) -> tuple[Distribution, ...]:
    """The distribution of each variable in all files.

    Parameters
    ----------
    variables
        The variables of all files.
    least
        Fewest original records of a bar. Rare levels are taken together, and rare intervals with the next one; where
        even that stays below, there is no bar of them.
    """
    return tuple(_one(variable, least) for variable in variables)


def _one(variable: Compared, least: int) -> Distribution:
    column = variable.column
    counts = np.array([each[: column.n_levels] for each in column.counts], dtype=np.int64)
    if variable.cells is column:
        labels, grouped = _frequent(list(column.labels), counts, least)
    else:
        labels, grouped = _intervals(variable, counts, least)
    totals = counts.sum(axis=1)
    shares = np.divide(grouped, totals[:, None], out=np.full(grouped.shape, math.nan), where=totals[:, None] > 0)
    bars = tuple(
        Bar(Note(label), int(grouped[0, i]), float(shares[0, i]), tuple(shares[1:, i].tolist()))
        for i, label in enumerate(labels)
    )
    return Distribution(variable.name, column.kind, bars)


def _frequent(labels: list[str], counts: Counts, least: int, most: int = MOST_BARS) -> tuple[list[str], Counts]:
    """The levels that enough original records have, and all others together."""
    own = counts[0]
    kept = own >= least
    if kept.sum() > most or (not kept.all() and kept.sum() == most):
        kept[np.argsort(-own, kind="stable")[most - 1 :]] = False
    # The others are no more told of than a level: the smallest of those that are shown joins them.
    while not kept.all() and own[~kept].sum() < least and kept.any():
        kept[np.flatnonzero(kept)[np.argmin(own[kept])]] = False
    names, found = [label for label, keep in zip(labels, kept, strict=True) if keep], counts[:, kept]
    rest = counts[:, ~kept].sum(axis=1, keepdims=True)
    if kept.all() or rest[0, 0] < least:
        return names, found
    return [*names, OTHERS], np.hstack([found, rest])


def _intervals(variable: Compared, counts: Counts, least: int) -> tuple[list[str], Counts]:
    """Intervals of equal length between round numbers; what is no amount has bars of its own.

    The length follows from the middle 98 percent of the original, so that it tells nothing of the outermost values.
    """
    column = variable.column
    amount = column.is_amount
    values = column.amounts[amount]
    if column.kind != "numeric":
        # Amounts of dates and times are days since 1970.
        values = 1970 + values / DAYS_OF_YEAR
    weights = counts[0, amount]
    edges = _round_edges(values, weights if weights.any() else np.ones_like(weights))
    place = np.searchsorted(edges, values, side="right")
    cells = np.array([np.bincount(place, each[amount], len(edges) + 1) for each in counts]).astype(np.int64)
    ends = [-math.inf, *edges.tolist(), math.inf]
    cells, ends = _joined(cells, ends, least)
    names = [_between(low, high) for low, high in pairwise(ends)]
    other = [label for label, is_amount in zip(column.labels, amount, strict=True) if not is_amount]
    if not other:
        return names, cells
    rest, apart = _frequent(other, counts[:, ~amount], least, most=4)
    return [*names, *rest], np.hstack([cells, apart])


def _round_edges(values: NDArray[np.float64], weights: Counts) -> NDArray[np.float64]:
    """Multiples of 1, 2 or 5 times a power of ten, at most ten of them, within the middle 98 percent."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    low, high = (float(values[order][np.searchsorted(below, share)]) for share in (0.01, 0.99))
    # Each divided by itself: the difference of the largest numbers is none.
    rough = high / 10 - low / 10
    if rough <= 0:
        return np.array([low])
    power = 10.0 ** math.floor(math.log10(rough)) or math.ulp(0.0)
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step) + 1, math.ceil(high / step) - 1
    # As they are written, so that a value such as 0.3 is not below the edge that is called so.
    return np.unique([float(f"{n * step:.12g}") for n in range(first, max(last, first) + 1)])


def _joined(cells: Counts, ends: list[float], least: int) -> tuple[Counts, list[float]]:
    """Intervals of which each holds enough original records: a small one goes to its smaller neighbour."""
    while cells.shape[1] > 1 and (cells[0] < least).any():
        i = int(np.argmin(cells[0]))
        beside = [j for j in (i - 1, i + 1) if 0 <= j < cells.shape[1]]
        j = min(beside, key=lambda one: int(cells[0, one]))
        left = min(i, j)
        cells = np.hstack([cells[:, :left], cells[:, left : left + 2].sum(axis=1, keepdims=True), cells[:, left + 2 :]])
        ends = [*ends[: left + 1], *ends[left + 2 :]]
    if (cells[0] < least).any():
        return cells[:, :0], ends[:1]
    return cells, ends


def _between(low: float, high: float) -> str:
    if math.isinf(low):
        return "all amounts" if math.isinf(high) else f"below {high:.12g}"
    return f"{low:.12g} or more" if math.isinf(high) else f"{low:.12g} to below {high:.12g}"
