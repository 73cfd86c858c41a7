"""Cut a numeric column into a few groups: at quantiles of the original and all releases together, or as told."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.checks import is_whole_number
from unveil.columns.column import CodedColumn, Grouping, numbers_of
from unveil.errors import CallError, DataError
from unveil.files.arrays import text_array
from unveil.limits import as_written

_FEWEST_QUANTILE_GROUPS = 3
_MOST_GROUPS = 1_000_000


Groups = int | tuple[float, ...]
"""A number of groups, or the breaks between them."""


def grouped(column: CodedColumn, groups: Groups) -> tuple[CodedColumn, Grouping]:
    """Replace the values of a numeric column by groups.

    With a number of groups the breaks are the quantiles (linear interpolation, Hyndman & Fan type 7) of the values of
    the original and of all releases together, at 0, 1/n, ..., 1, equal breaks merged. Where fewer than three groups
    come out, the range is cut into as many groups of equal width. Breaks that are given are taken as they are: each
    group begins at a break, one group lies below the first, and one from the last on. Special codes and gaps are left
    out and stay levels of their own.

    Parameters
    ----------
    column
        A numeric column.
    groups
        Number of groups asked for, at least 2; or ascending breaks.

    Raises
    ------
    CallError
        If the column is not numeric, a number of groups is below 2, or breaks are not ascending numbers.
    DataError
        If the column holds infinities, which no break can be computed from.
    """
    if not isinstance(groups, tuple):
        _check_number(column, groups)
    if column.kind != "numeric":
        raise CallError(
            f"column {column.name!r} is {column.kind} and cannot be grouped; leave it out or state its kind"
        )
    if isinstance(groups, tuple):
        return _cut_at(column, np.array(checked_breaks(column.name, groups)))
    if column.infinite:
        infinite = ", ".join(column.label(code) for code in column.infinite)
        raise DataError(
            f"column {column.name!r} holds infinite values ({infinite}); to group it, declare them special codes or "
            "correct the file"
        )
    if not column.has_amounts:
        grouping = Grouping("quantile", (), column.labels[: len(column.levels)])
        return replace(column, grouping=grouping), grouping
    amount = np.flatnonzero(column.is_amount)
    counts = np.sum(column.counts, axis=0)[amount]
    found, cuts, style = _breaks(column.amounts[amount], counts, groups)
    cut = _cut(column, cuts, _labels(found))
    grouping = Grouping(style, tuple(found.tolist()), tuple(cut.levels.to_pylist()), tuple(cuts.tolist()))
    return replace(cut, grouping=grouping), grouping


def _check_number(column: CodedColumn, groups: object) -> None:
    if not is_whole_number(groups) or groups < 2:
        raise CallError(
            f"column {column.name!r}: the number of groups must be a whole number of at least 2 (or 0 for none), not "
            f"{groups!r}"
        )
    if groups > _MOST_GROUPS:
        raise CallError(f"column {column.name!r}: {groups} groups are too many; ask for up to {_MOST_GROUPS}")


def checked_breaks(name: str, breaks: Sequence[float]) -> tuple[float, ...]:
    """Breaks of a column as numbers.

    Raises
    ------
    CallError
        If there are none, or they are not finite and ascending.
    """
    found = np.array([np.nan])
    if not isinstance(breaks, str | bytes):
        with suppress(TypeError, ValueError, OverflowError):
            found = np.array(breaks, dtype=np.float64)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise CallError(f"column {name!r}: breaks are numbers in ascending order, such as [18, 30, 65], not {breaks!r}")
    return tuple(found.tolist())


def _cut_at(column: CodedColumn, breaks: NDArray[np.float64]) -> tuple[CodedColumn, Grouping]:
    """Cut at breaks that were given."""
    cuts = np.concatenate([[-np.inf], breaks, [np.inf]])
    shown = _shown(breaks)
    labels = [f"below {shown[0]}", *_between(shown, ")"), f"{shown[-1]} or more"]
    cut = _cut(column, cuts, labels)
    grouping = Grouping("breaks", tuple(breaks.tolist()), tuple(cut.levels.to_pylist()), tuple(cuts.tolist()))
    return replace(cut, grouping=grouping), grouping


def regrouped(column: CodedColumn, grouping: Grouping | None) -> CodedColumn:
    """Cut a numeric column as other files were cut; values beyond the ends join the end groups.

    Parameters
    ----------
    column
        A numeric column.
    grouping
        How the others were cut; without cuts the column is left as it is.
    """
    if grouping is None or not grouping.cuts:
        return column
    cuts = np.array(grouping.cuts)
    return _cut(column, cuts, grouping.levels[: len(cuts) - 1], grouping)


def _cut(
    column: CodedColumn, breaks: NDArray[np.float64], names: Sequence[str], grouping: Grouping | None = None
) -> CodedColumn:
    """Replace amounts by the group that they lie in; groups have names."""
    numbers = numbers_of(column.levels)
    assert numbers is not None
    group = np.clip(np.searchsorted(breaks, numbers, side="right") - 1, 0, len(breaks) - 2)
    group[list(column.special)] = len(breaks) - 1 + np.arange(len(column.special))
    labels = (*names, *(column.label(code) for code in column.special))
    table = np.append(group, len(labels)).astype(np.int32)
    return replace(
        column,
        kind="ordered",
        levels=text_array(labels),
        special=tuple(range(len(breaks) - 1, len(labels))),
        original=table[column.original],
        releases=tuple(table[codes] for codes in column.releases),
        grouping=grouping,
    )


def _breaks(
    values: NDArray[np.float64], counts: NDArray[np.intp], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], Literal["quantile", "equal-width"]]:
    """Breaks, cuts, and how they were found."""
    cuts = np.unique(np.quantile(np.repeat(values, counts), np.linspace(0, 1, n_groups + 1)))
    if len(cuts) > _FEWEST_QUANTILE_GROUPS:
        return _nearest(_quantiles(values, counts, n_groups), cuts), cuts, "quantile"
    if values[0] == values[-1]:
        ends = np.repeat(values[:1], 2)
        return ends, ends, "equal-width"
    cuts = np.linspace(values[0], values[-1], n_groups + 1)
    return _written(cuts), cuts, "equal-width"


def _quantiles(values: NDArray[np.float64], counts: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Quantiles at 0, 1/n, ..., 1 of ascending values; places are whole numbers, so that a value hit is that value."""
    reached = np.cumsum(counts)
    steps = (int(reached[-1]) - 1) * np.arange(n_groups + 1, dtype=np.int64)
    low, rest = steps // n_groups, steps % n_groups
    below = values[np.searchsorted(reached, low, side="right")]
    above = values[np.searchsorted(reached, low + (rest > 0), side="right")]
    share = rest / n_groups
    return _written(np.where(below == above, below, (1 - share) * below + share * above))


def _nearest(breaks: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each cut the break that it is a rounding error away from."""
    above = np.clip(np.searchsorted(breaks, cuts), 1, len(breaks) - 1)
    found: NDArray[np.float64] = np.where(
        cuts - breaks[above - 1] < breaks[above] - cuts, breaks[above - 1], breaks[above]
    )
    return found


def _written(breaks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([as_written(b) for b in breaks.tolist()])


def _labels(breaks: NDArray[np.float64]) -> list[str]:
    shown = _shown(breaks)
    return [*_between(shown[:-1], ")"), *_between(shown[-2:], "]")]


def _shown(breaks: NDArray[np.float64]) -> list[str]:
    """Breaks with as many digits as tell them apart."""
    for digits in (8, 15):
        shown = [f"{b:.{digits}g}" for b in breaks]
        if len(set(shown)) == len(set(breaks.tolist())):
            return shown
    return [repr(b) for b in breaks.tolist()]


def _between(shown: Sequence[str], closing: str) -> list[str]:
    return [f"[{low},{high}{closing}" for low, high in pairwise(shown)]
