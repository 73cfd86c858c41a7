"""Sums over the cells of an original and a release, in one pass over the cells after the exclusions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Counts
from unveil._tables.exclusions import RULES, TABLES, CellRules
from unveil._tables.sums import AttributeSums, Shares
from unveil.core import loop
from unveil.stats import Moments

_NO_LIMIT = np.iinfo(np.int64).max
_SMALL = 256
"""Denominators below it have a place each; combinations with larger ones are listed."""
_OTHERS = ("disco_cells", "max_denom", "in_both", "unique_original", "unique_synthetic", "unique_found", "unique_both")
_FATES = ("remaining", *RULES)
_sum_over_cells = loop(
    "sum_over_cells", int, np.int64, np.int64, np.int64, np.int64, np.uint8, int, int, int, int, np.int64, np.int64,
    np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64,
)  # fmt: skip


@dataclass(frozen=True)
class CellSums:
    """What a set of cells adds to the measures.

    Parameters
    ----------
    sums
        The sums that the measures are ratios of.
    removed
        Records taken out, per table and rule, and under "remaining" what was left.
    disco, original : (n_levels,) int64
        Records of the DiSCO table, and original records, by target level; after exclusions.
    mode_records
        Original records that have the target level asked for and a key combination of the release; after exclusions.
    large : (k,) intp
        The cells of the DiSCO table with more records than asked for.
    large_records : (k,) int64
        Their records.
    """

    sums: AttributeSums
    removed: Mapping[str, Mapping[str, int]]
    disco: Counts
    original: Counts
    mode_records: int
    large: NDArray[np.intp]
    large_records: Counts


def sum_cells(
    cells: Cells, rules: CellRules, n_levels: int, *, mode: int | None = None, n_large: float = math.inf
) -> CellSums:
    """Sum the cells of whole key combinations.

    Parameters
    ----------
    cells
        Counts per cell before exclusions.
    rules
        What does not count.
    n_levels
        Number of target levels.
    mode
        The target level of which original records are counted.
    n_large
        DiSCO cells of more records are listed.
    """
    n = len(cells)
    tables, others = np.zeros((len(TABLES), len(_FATES)), np.int64), np.zeros(len(_OTHERS) + 1, np.int64)
    moments, shares = np.zeros((2, 4), np.int64), np.zeros((3, _SMALL), np.int64)
    disco, original = np.zeros(n_levels, np.int64), np.zeros(n_levels, np.int64)
    # Of these only what is written takes memory.
    large, large_records, d_of, s_of = (np.empty(n, np.int64) for _ in range(4))
    wide, sizes = np.empty((3, n), np.int64), np.zeros(2, np.int64)
    _sum_over_cells(
        n, *map(np.ascontiguousarray, (cells.q, cells.t, cells.d, cells.s)), _rule_of_cells(cells, rules),
        _NO_LIMIT if rules.denom_limit is None else rules.denom_limit, -1 if mode is None else mode, _SMALL,
        int(min(max(n_large, 0), _NO_LIMIT)), tables, others, moments, shares, disco, original, large, large_records,
        wide, d_of, s_of, sizes,
    )  # fmt: skip
    n_listed, n_wide = sizes.tolist()
    pd, ps = (Moments.of_halves(*one) for one in moments.tolist())
    removed = {name: dict(zip(_FATES, fates, strict=True)) for name, fates in zip(TABLES, tables.tolist(), strict=True)}
    by_denominator = [
        Shares.of(np.concatenate([one, more[:n_wide]]), np.concatenate([np.arange(_SMALL), of[:n_wide]]))
        for one, more, of in zip(shares, wide, (d_of, s_of, s_of), strict=True)
    ]
    found: dict[str, Any] = {name: removed[name]["remaining"] for name in TABLES[2:]}
    found |= zip(_OTHERS, others.tolist(), strict=False)
    found |= zip(("CAPd", "CAPs", "DCAP"), by_denominator, strict=True)
    sums = AttributeSums(**found, of_CAPd=pd, of_DCAPd=ps)
    return CellSums(
        sums, removed, disco, original, int(others[-1]), large[:n_listed].astype(np.intp), large_records[:n_listed]
    )  # fmt: skip


def _rule_of_cells(cells: Cells, rules: CellRules) -> NDArray[np.uint8]:
    """Per cell the first rule that names it, from 1; 0 where none does."""
    found = np.zeros(len(cells), np.uint8)
    for name, named in reversed(rules.masks(cells).items()):
        found[named] = 1 + RULES.index(name)
    return found
