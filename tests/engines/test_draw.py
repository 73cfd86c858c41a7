"""Records that are drawn where they are counted."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy import stats

from unveil.engines.draw import DrawRecords, columns_of
from unveil.engines.key_range import CodedValues, KeyRange, Layout

LAYOUT = Layout((5,), (3,), 2)
CODES = np.array([0, 1, 2, 9, 10, 17, 20, 24, 25, 29])
"""Cells of key and target in one of two files: even codes are of the first file."""
RECORDS = np.array([4, 9, 1, 2, 3, 20, 7, 1, 5, 1])
IN_FIRST = {int(code) // 2: int(n) for code, n in zip(CODES, RECORDS, strict=True) if code % 2 == 0}
SIZES = (sum(IN_FIRST.values()), int(RECORDS.sum()) - sum(IN_FIRST.values()))


def cells_of(most: int, seed: int = 0, cut: tuple[int, ...] = ()) -> tuple[list[int], list[int]]:
    draw = DrawRecords(LAYOUT, SIZES, most, seed)
    parts = zip(np.split(CODES, cut), np.split(RECORDS, cut), strict=True)
    found = reduce(add, [draw(KeyRange.of(LAYOUT, codes, records)) for codes, records in parts])
    one, two = found.first(most)
    return one.tolist(), two.tolist()


@pytest.mark.parametrize("cut", [(2,), (4,), (2, 6, 8)])
def test_any_cut_and_order_give_the_same_records(cut: tuple[int, ...]) -> None:
    assert cells_of(6, cut=cut) == cells_of(6)
    assert cells_of(6, seed=1) != cells_of(6)


def test_no_record_is_drawn_twice_and_all_where_there_are_no_more() -> None:
    for most in (SIZES[0], 100):
        assert Counter(cells_of(most)[0]) == IN_FIRST
    for most in range(SIZES[0]):
        found = Counter(cells_of(most)[0])
        assert sum(found.values()) == most
        assert all(n <= IN_FIRST[cell] for cell, n in found.items())
        # more records are more of the same order
        assert cells_of(most)[0] == cells_of(100)[0][:most]


def test_every_record_is_drawn_equally_often() -> None:
    """The number of draws of a cell is hypergeometric, with the mean and variance that follow."""
    runs, most, n = 3000, 5, SIZES[0]
    drawn = [Counter(cells_of(most, seed)[0]) for seed in range(runs)]
    for cell, records in IN_FIRST.items():
        law = stats.hypergeom(n, records, most)
        found = [one[cell] for one in drawn]
        assert abs(np.mean(found) - law.mean()) < 4 * law.std() / np.sqrt(runs)
        assert np.var(found) == pytest.approx(law.var(), rel=0.12)


def test_cells_with_many_records() -> None:
    layout, sizes = Layout((3,), (), 1), (3_000_000,)
    draw = DrawRecords(layout, sizes, 1000, 5)
    found = draw(KeyRange.of(layout, np.arange(3), np.array([1_000_000, 1_500_000, 500_000])))
    assert 1000 < len(found.cells[0]) < 3000
    counts = np.bincount(found.first(1000)[0], minlength=3)
    assert counts.sum() == 1000
    assert stats.chisquare(counts, np.array([1000, 1500, 500]) / 3).pvalue > 1e-4


def test_codes_of_columns() -> None:
    columns = [CodedValues("key", 5, ()), CodedValues("target", 3, ())]
    found = columns_of(LAYOUT, np.array([0, 4, 14]), columns)
    assert [one.tolist() for one in found] == [[0, 1, 4], [0, 1, 2]]
