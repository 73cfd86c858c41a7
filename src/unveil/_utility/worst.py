"""Which comparisons are farthest from the original."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unveil._utility.measures import UtilityMeasures
from unveil.errors import CallError
from unveil.files.nearest import near_matches

if TYPE_CHECKING:
    from unveil._utility.result import Utility

__all__ = ["worst"]

_RANKED = {"variables": "S_pMSE", "pairs": "S_pMSE", "models": "overlap", "prediction": "difference"}
_GOOD_IS_HIGH = ("accuracy", "macro_F1", "AUC", "R2")


def worst(utility: Utility, table: str, by: str | None, n: int) -> tuple[UtilityMeasures, ...]:
    """The first n comparisons of a table, the worst first; those without the figure are last."""
    if table not in _RANKED:
        raise CallError(f"unknown table {table!r}{near_matches(table, _RANKED)}; choose from {', '.join(_RANKED)}")
    comparisons: tuple[UtilityMeasures, ...] = getattr(utility, table)
    known = dict.fromkeys(name for c in comparisons for name in c.mean)
    if by is not None and comparisons and by not in known:
        raise CallError(f"{table} have no figure {by!r}{near_matches(by, known)}; choose from {', '.join(known)}")

    def badness(comparison: UtilityMeasures) -> float:
        value = comparison.mean.get(by or _RANKED[table], math.nan)
        if by is None and table == "models":
            value = -value
        if by is None and table == "prediction":
            value = -value if comparison.subject["score"] in _GOOD_IS_HIGH else value
        return -math.inf if math.isnan(value) else value

    return tuple(sorted(comparisons, key=lambda c: -badness(c))[:n])
