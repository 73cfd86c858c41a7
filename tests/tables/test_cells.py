"""The kernel: cells counted in blocks are the cells counted at once, whichever way they are counted."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._tables.cells import Cells, count_cells, join_cells, merge_cells


def counted(cells: Cells) -> dict[tuple[int, int], tuple[int, int]]:
    return {(int(q), int(t)): (int(d), int(s)) for q, t, d, s in zip(cells.q, cells.t, cells.d, cells.s, strict=True)}


def by_hand(q: list[np.ndarray], t: list[np.ndarray]) -> dict[tuple[int, int], tuple[int, int]]:
    d, s = (Counter(zip(map(int, a), map(int, b), strict=True)) for a, b in zip(q, t, strict=True))
    return {cell: (d[cell], s[cell]) for cell in d | s}


@pytest.mark.parametrize("size", [40, 10**6], ids=["counted", "sorted"])
@pytest.mark.parametrize("block", [1, 2, 7, 50, 10**6])
def test_blocks_are_whole_combinations_and_add_up(size: int, block: int) -> None:
    """A million combinations of three levels are sorted, forty are counted directly."""
    rng = np.random.default_rng(4)
    q = [np.sort(rng.choice(size, 40, replace=False))[rng.integers(0, 40, n)].astype(np.int64) for n in (150, 130)]
    t = [rng.integers(0, 3, n).astype(np.int32) for n in (150, 130)]
    blocks = list(count_cells(q[0], t[0], q[1], t[1], size, 3, block=block))
    seen = [set(one.q.tolist()) for one in blocks]
    # No combination is cut in two, and they ascend.
    assert sum(map(len, seen)) == len(set().union(*seen))
    assert all(max(a) < min(b) for a, b in pairwise(seen) if a and b)
    assert counted(join_cells(blocks)) == by_hand(q, t)
    if block == 1:
        assert max(map(len, seen)) <= 2
    if block == 50:
        assert 2 <= len(blocks) <= 6
    if block == 10**6:
        assert len(blocks) == 1


@pytest.mark.parametrize("size", [5, 10**6], ids=["counted", "sorted"])
def test_merged_cells_are_those_of_the_coarser_keys(size: int) -> None:
    rng = np.random.default_rng(5)
    q = [rng.integers(0, 30, n).astype(np.int64) for n in (200, 170)]
    t = [rng.integers(0, 3, n).astype(np.int32) for n in (200, 170)]
    cells = join_cells(count_cells(q[0], t[0], q[1], t[1], 30, 3))
    coarse = rng.permutation(30) % 5 * (size // 5)
    merged = merge_cells(cells, coarse[cells.q], size, 3)
    assert counted(merged) == by_hand([coarse[one] for one in q], t)
    assert np.all(np.diff(merged.q * 3 + merged.t) > 0)


@pytest.mark.parametrize("few", [False, True], ids=["mostly alone", "few combinations"])
def test_records_alone_with_their_keys_add_what_their_cells_would(few: bool) -> None:
    """Without rules they are summed as so many equal cells; with a rule, that concerns nobody here, cell by cell."""
    rng = np.random.default_rng(6)

    def people(n: int) -> pa.Table:
        return pa.table({"k": rng.integers(0, 60 if few else 900, n), "t": rng.integers(0, 4, n)})

    pair = unveil.Pair(people(300), [people(250), people(40)])
    plain = unveil.attribute(pair, "k", target="t")
    every = unveil.attribute(pair, "k", target="t", denom_limit=1000, exclude_over_denom_limit=True)
    assert any(sum(plain._source.study.alone(release)) for release in range(2)) is not few
    for name in ("releases", "exclusions", "identity_after_exclusions", "mode_DiSCO", "check_1way", "check_2way"):
        assert getattr(plain, name) == getattr(every, name), name
    assert str(plain.intervals()) == str(every.intervals())
