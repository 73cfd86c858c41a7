"""Measures of original records, for each level of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from unveil.columns.pair import Pair
from unveil.errors import CallError
from unveil.files.source import Flavour
from unveil.result import frame
from unveil.stats import Groups


def by_level(pair: Pair, column: str, contributions: Mapping[str, NDArray[Any]], flavour: Flavour | None) -> Any:
    """Average what original records contribute to each measure over those with the same level.

    Parameters
    ----------
    pair
        The files.
    column
        A column that all files have.
    contributions
        Per measure the contribution (n,) of each original record, between 0 and 1.
    flavour
        Kind of frame; by default that of the original.

    Returns
    -------
    frame
        One row per level that an original record has: the level, its number of records ``n``, and the measures in
        percent of these records.
    """
    if not isinstance(column, str):
        raise CallError(f"one column is named to group by, not {column!r}")
    groups = pair.column(column)
    by = Groups(groups.original, groups.n_levels)
    level = column if column not in ("n", *contributions) else f"{column} (level)"
    columns: dict[str, Any] = {level: [groups.labels[i] for i in by.present], "n": by.n}
    columns |= {name: 100 * by.sums(values) / by.n for name, values in contributions.items()}
    return frame(columns, flavour or pair.flavour)
