"""The null of attribute disclosure: the same release with its target shuffled over its records.

Keys and target keep their distributions and lose every tie to each other. Key combinations are folded once and only
the target's codes are shuffled; combinations that are not in both files add nothing and are left out beforehand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import count_cells, join_cells
from unveil._tables.exclusions import CellRules, tabulate
from unveil._tables.sums import Shares, percent
from unveil._tables.target_cells import TargetCells

Floats = NDArray[np.float64]


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
    source = source.recorded
    combinations, n = source.study.combinations, source.study.pair.n_original
    d, by_release = combinations.counts()
    both = (d > 0) & (by_release[release] > 0)
    size = int(both.sum())
    found = {name: np.zeros(permutations) for name in ("DiSCO", "DCAPd")}
    if not size:
        return found
    rank = np.cumsum(both) - 1
    rules = _narrowed(source.rules, both)
    kept = both[combinations.original]
    original_q, original_t = rank[combinations.original[kept]], source.target.original[kept]
    release_q, release_t = combinations.releases[release], source.target.releases[release]
    order = np.lexsort((release_t, release_q))
    release_q, release_t = release_q[order], release_t[order]
    inside = both[release_q]
    release_q = rank[release_q[inside]]
    rng = np.random.default_rng(seed)
    for i in range(permutations):
        shuffled_t = rng.permutation(release_t)[inside]
        blocks = count_cells(original_q, original_t, release_q, shuffled_t, size, source.target.n_levels)
        cells = join_cells(blocks)
        tables = tabulate(cells, rules)
        counts = tables.counts["synthetic"]
        shares = Shares.of(counts * tables.counts["original"], cells.over_keys(counts))
        found["DiSCO"][i] = percent(tables.removed["DiSCO"]["remaining"], n)
        found["DCAPd"][i] = percent(shares.total(), n)
    return found


def _narrowed(rules: CellRules, kept: NDArray[np.bool_]) -> CellRules:
    """The same rules where only the kept key combinations are numbered."""
    return replace(
        rules,
        keys=None if rules.keys is None else rules.keys[kept],
        pairs=tuple((holds[kept], level) for holds, level in rules.pairs),
    )
