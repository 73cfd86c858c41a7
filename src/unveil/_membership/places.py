"""Places of levels on axes: how far the levels of two files are apart, by amounts or by ranks.

A column adds at most 1 to a distance. Levels that are equal or different and nothing else are placed so that any two of
them are further apart than that.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil._membership.distance import Scale, bounded, span_of
from unveil.columns.column import CodedColumn
from unveil.stats.ranks import ranks_of_levels

Distance = Literal["gower", "rank"]
Places = NDArray[np.float64]

_FARTHEST = 128.0
_APART = 2.0


def places_of(column: CodedColumn, distance: Distance, scale: Scale, file: int) -> Places:
    """Place (n_levels,) of each level of a column in one file, the gap included.

    Parameters
    ----------
    column
        The column.
    distance
        "gower": amounts by their size, over the original's range or interquartile range; any other level is equal or
        different. "rank": amounts and ordered levels by their mean rank in the file itself, from 0 to 1.
    scale
        What differences of amounts are divided by.
    file
        0 for the original, else the number of the release from 1.
    """
    places: Places = 2 * _FARTHEST + _APART * np.arange(column.n_levels, dtype=np.float64)
    on_axis = column.is_amount
    if distance == "rank" and column.kind == "ordered":
        on_axis = ~column.is_special & (np.arange(column.n_levels) < len(column.levels))
    which = np.flatnonzero(on_axis)
    if distance == "rank":
        which = which[np.argsort(column.amounts[which], kind="stable")]
        places[which] = _ranks(column.counts[file][which])
        return places
    amounts, counts = bounded(column.amounts[which]), column.counts[0][which]
    span = span_of(amounts, counts, scale)
    if span > 0:
        with np.errstate(over="ignore"):
            places[which] = np.clip((amounts - amounts[counts > 0].min()) / span, -_FARTHEST, _FARTHEST)
    return places


def _ranks(counts: NDArray[np.intp]) -> Places:
    """Mean rank of the records of each level, ascending, from 0 to 1; of levels that no record has, between others."""
    ranks: Places = (ranks_of_levels(counts) - np.where(counts > 0, 1, 0.5)) / max(int(counts.sum()) - 1, 1)
    return ranks


def distances_between(one: Places, other: Places) -> NDArray[np.float64]:
    """Distances (n,) of the places (n, p) of records, each from that of the same number.

    Examples
    --------
    >>> distances_between(np.array([[0.0, 0.5]]), np.array([[4.0, 0.25]]))
    array([1.25])
    """
    total: NDArray[np.float64] = np.minimum(np.abs(one - other), 1.0).sum(axis=1)
    return total
