"""Columns, rows and settings that a loop must never see."""

from __future__ import annotations

import numpy as np
import pytest

from unveil import CallError
from unveil.trees import Column, Settings, grow

NUMBERS = Column.from_values(np.arange(100.0))


@pytest.mark.parametrize("codes", [np.array([2**32, 1]), np.array([0.7, 1.2]), ["a", "b"], None, np.array([-1, 0])])
def test_codes_are_checked_before_they_become_small_integers(codes):
    with pytest.raises(CallError, match="codes must"):
        Column(codes, "categorical", 2)


def test_number_of_levels_is_whole():
    with pytest.raises(CallError, match="n_levels must be a whole number"):
        Column(np.array([0]), "categorical", 2.5)


@pytest.mark.parametrize("rows", [np.arange(100) > 50, np.array([2**32 + 3]), np.array([1.9]), np.array([100])])
def test_rows_are_numbers_of_records(rows):
    with pytest.raises(CallError, match="rows must be record numbers"):
        grow(NUMBERS, [NUMBERS], rows=rows)


def test_codes_that_are_changed_after_the_check_are_seen():
    codes = np.arange(100, dtype=np.int32) % 5
    column = Column(codes, "categorical", 5)
    codes[4] = 2**30
    with pytest.raises(CallError, match="codes changed"):
        grow(NUMBERS, [column], Settings(minbucket=1))


@pytest.mark.parametrize("given", [3, "abc", np.zeros((2, 2)), np.array(["a"])])
def test_a_tree_takes_arrays_of_codes_or_numbers(given):
    with pytest.raises(CallError, match="one-dimensional arrays"):
        grow(NUMBERS, [NUMBERS]).apply([given])


def test_a_column_with_other_values_goes_down_the_tree_by_its_values():
    tree = grow(NUMBERS, [NUMBERS], Settings(minbucket=1))
    assert tree.apply([Column(np.array([0, 1]), "numeric", 2, np.array([8.0, 9.0]))]).tolist() == (
        tree.apply([np.array([8.0, 9.0])]).tolist()
    )


def test_depth_and_classes_that_no_record_fills_take_no_memory():
    n = 20_000
    response = Column(np.arange(n) % 5000, "categorical", 5000)
    tree = grow(response, [Column.from_values(np.arange(n) * 1.0)], Settings(minbucket=5000, max_depth=2**31 - 1))
    assert 1 <= tree.n_leaves_full <= 4


def test_smallest_numbers_have_steps():
    tree = grow(Column.from_values(np.array([0.0, 5e-324] * 10)), [Column(np.arange(20) % 2, "categorical", 2)])
    assert tree.n_leaves == 2
