"""The null of attribute disclosure: the same release with its target shuffled over its records.

Keys and target keep their distributions and lose every tie to each other. Key combinations are folded once and only
the target's codes are shuffled; combinations that are not in both files add nothing and are left out beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, count_cells, join_cells
from unveil._tables.exclusions import CellRules, tabulate
from unveil._tables.sums import Shares, percent
from unveil._tables.target_cells import TargetCells
from unveil.files.counts import held_codes

Floats = NDArray[np.float64]
_MANY = 2_000_000
"""Number of synthetic records from which on counts are drawn in the place of records."""
_MOST_PLACES = 1 << 22


def shuffled_measures(
    source: TargetCells, release: int, permutations: int, seed: np.random.SeedSequence
) -> dict[str, Floats]:
    """DiSCO and DCAPd of shuffled releases.

    Parameters
    ----------
    source
        The study, its target and its exclusions.
    release
        Position of the release.
    permutations
        Number of shuffles.
    seed
        Where the shuffles come from; they do not depend on the order of the records.

    Returns
    -------
    dict
        Per measure (permutations,) in percent of original records.
    """
    n, n_levels = source.study.pair.n_original, source.target.n_levels
    found = {name: np.zeros(permutations) for name in ("DiSCO", "DCAPd")}
    every = join_cells(source.study.blocks(source.target, release))
    both = (every.d_q > 0) & (every.s_q > 0)
    if not both.any():
        return found
    held = held_codes(every.q[both], int(every.q[-1]) + 1)
    rank = np.cumsum(held) - 1
    rules = _narrowed(source.rules, np.flatnonzero(held))
    inside = Cells(rank[every.q[both]], every.t[both], every.d[both], every.s[both])
    deal = _by_counts if _has_places(inside, int(every.s.sum()), n_levels) else _by_records
    dealt = deal(inside, every, both, n_levels, np.random.default_rng(seed))
    for i, cells in zip(range(permutations), dealt, strict=False):
        tables = tabulate(cells, rules)
        counts = tables.counts["synthetic"]
        shares = Shares.of(counts * tables.counts["original"], cells.over_keys(counts))
        found["DiSCO"][i] = percent(tables.removed["DiSCO"]["remaining"], n)
        found["DCAPd"][i] = percent(shares.total(), n)
    return found


def _has_places(inside: Cells, n_synthetic: int, n_levels: int) -> bool:
    """Whether to draw counts: where records are many, and cells so few that each can have a place."""
    return n_synthetic > _MANY and len(inside.starts) * n_levels <= min(_MOST_PLACES, n_synthetic)


def _by_records(
    inside: Cells, every: Cells, both: NDArray[np.bool_], n_levels: int, rng: np.random.Generator
) -> Iterator[Cells]:  # fmt: skip
    """Deal the target levels of the release over its records, one by one."""
    size = len(inside.starts)
    original_q, original_t = (np.repeat(codes, inside.d) for codes in (inside.q, inside.t))
    release_q, release_t = np.repeat(inside.q, inside.s), np.repeat(every.t, every.s)
    of_records = np.repeat(both, every.s)
    while True:
        shuffled_t = rng.permutation(release_t)[of_records]
        yield join_cells(count_cells(original_q, original_t, release_q, shuffled_t, size, n_levels))


def _by_counts(
    inside: Cells, every: Cells, both: NDArray[np.bool_], n_levels: int, rng: np.random.Generator
) -> Iterator[Cells]:  # fmt: skip
    """Draw how many records of each combination get each target level.

    One level after the other is dealt out over the places that are left: their numbers by combination are multivariate
    hypergeometric, and together they have the distribution of a shuffle of the records.
    """
    size = len(inside.starts)
    d = np.zeros((size, n_levels), np.int64)
    d[inside.q, inside.t] = inside.d
    records = np.append(inside.s_q[inside.starts], int(every.s[~both].sum()))
    by_level = np.bincount(every.t, every.s, n_levels).astype(np.int64)
    while True:
        left, s = records.copy(), np.zeros((size, n_levels), np.int64)
        for level in np.flatnonzero(by_level):
            dealt = rng.multivariate_hypergeometric(left, int(by_level[level]), method="marginals")
            left -= dealt
            s[:, level] = dealt[:-1]
        q, t = np.nonzero(d + s)
        yield Cells(q, t, d[q, t], s[q, t])


def _narrowed(rules: CellRules, kept: NDArray[np.intp]) -> CellRules:
    """The same rules where only the kept key combinations (k,) are numbered."""
    return replace(
        rules,
        keys=None if rules.keys is None else rules.keys[kept],
        pairs=tuple((holds[kept], level) for holds, level in rules.pairs),
    )
