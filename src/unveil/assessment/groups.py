"""Figures by group of persons, with no group so small that it points at somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.columns import Pair
from unveil.columns.grouping import grouped
from unveil.notes import Note
from unveil.stats import Groups, wilson

MOST_LEVELS = 12
"""A numeric variable with more levels is shown by fifths of persons."""
PARTS = 5
OTHERS = Note("all other levels")
PERCENT = 100.0


def person_groups(pair: Pair, name: str) -> tuple[NDArray[np.int32], tuple[Note, ...]]:
    """Group of every original record by one variable, and the groups' labels.

    Numbers are cut into fifths. The outer ones are called by their inner end, as the smallest and the largest value of
    a file belong to single persons; for publication all are called by their place, as every end is the value of some
    person. Infinite values are groups of their own, as gaps and special codes are.
    """
    column = pair.column(name)
    if column.kind != "numeric" or column.n_levels <= MOST_LEVELS:
        return column.original, tuple(Note(label) for label in column.labels)
    alone = sorted((*column.special, *column.infinite))
    cut, grouping = grouped(replace(column, special=tuple(alone)), PARTS)
    labels = list(cut.labels)
    inner = [f"{b:.8g}" for b in grouping.breaks[1:-1]]
    if inner:
        labels[0], labels[len(inner)] = f"below {inner[0]}", f"{inner[-1]} and above"
    n = max(len(grouping.breaks) - 1, 0)
    places = [f"group {i} of {n}, from the lowest" for i in range(1, n + 1)]
    return cut.original, tuple(map(Note, labels, [*places, *labels[n:]]))


def group_rows(
    pair: Pair,
    by: str,
    measures: Mapping[str, NDArray[Any]],
    *,
    least: int,
    level: float = 0.95,
    scale: float = PERCENT,
) -> list[dict[str, Any]]:
    """Mean of what persons contribute to each measure, by group.

    Groups of fewer than ``least`` persons are taken together; where even that stays below, the smallest shown group is
    added, so that nothing can be had by subtraction.

    Parameters
    ----------
    pair
        The files.
    by
        The variable that groups persons.
    measures
        Per measure the contribution (n,) of each original record; NaN where the person does not count.
    least
        Fewest persons of a group that is shown.
    level
        Coverage of the intervals, between 0 and 1.
    scale
        100 for percent, 1 for shares.

    Returns
    -------
    list of dict
        ``by``, ``level`` (a :class:`unveil.notes.Note`), ``persons``, ``measure``, ``unit``, ``value`` and its Wilson
        interval ``low`` and ``high``; by measure and level.
    """
    codes, labels = person_groups(pair, by)
    return [
        row for name, values in measures.items() for row in _rows(by, codes, labels, name, values, least, level, scale)
    ]


def _rows(
    by: str, codes: NDArray[np.int32], labels: tuple[Note, ...], measure: str, values: NDArray[Any], least: int,
    coverage: float, scale: float,
) -> list[dict[str, Any]]:  # fmt: skip
    values = np.asarray(values, dtype=float)
    counts = ~np.isnan(values)
    groups = Groups(codes[counts], len(labels))
    n, sums = groups.n, groups.sums(values[counts])
    small = n < least
    while small.any() and n[small].sum() < least and (rest := np.flatnonzero(~small)).size:
        small[rest[np.argmin(n[rest])]] = True
    shown = [(labels[groups.present[i]], int(n[i]), float(sums[i])) for i in np.flatnonzero(~small)]
    if small.any() and n[small].sum() >= least:
        shown.append((OTHERS, int(n[small].sum()), float(sums[small].sum())))
    rows = []
    for label, persons, total in shown:
        low, high = wilson(min(total, persons), persons, coverage)
        rows.append(
            {
                "by": by,
                "level": label,
                "persons": persons,
                "measure": measure,
                "unit": "percent" if scale == PERCENT else "share",
                "value": scale * total / persons,
                "low": scale * low,
                "high": scale * high,
            }
        )
    return rows
