"""Groups of persons: none so small, alone or by subtraction, that it points at somebody."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.assessment.groups import OTHERS, group_rows, person_groups


def pair_of(values, **options):
    table = pa.table({"x": values})
    return unveil.Pair(table, table.slice(0), **options)


def test_by_hand():
    pair = pair_of(["a"] * 12 + ["b"] * 11 + ["c"] * 3)
    flags = np.r_[np.ones(6), np.zeros(6), np.zeros(11), np.ones(3)]
    rows = group_rows(pair, "x", {"DiSCO": flags}, least=10)
    # c alone has 3 persons; with the smaller of the shown groups, b, it makes 14.
    assert [(r["level"], r["persons"], r["value"]) for r in rows] == [
        ("a", 12, 50.0),
        (OTHERS, 14, pytest.approx(100 * 3 / 14)),
    ]


def test_intervals_are_those_of_shares_at_the_level_asked_for():
    # 13 persons of 0.5 each: 6.5 of 26, worked out by the formula with z = 1.6449.
    rows = group_rows(pair_of(["a"] * 26), "x", {"DCAP": np.r_[np.full(13, 0.5), np.zeros(13)]}, least=10, level=0.9)
    z, p, n = 1.6448536269514722, 0.25, 26
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    (row,) = rows
    assert row["low"] == pytest.approx(100 * (p + z * z / (2 * n) - half) / (1 + z * z / n))
    assert row["high"] == pytest.approx(100 * (p + z * z / (2 * n) + half) / (1 + z * z / n))


def test_small_groups_that_are_enough_together():
    pair = pair_of(["a"] * 12 + ["b"] * 6 + ["c"] * 5)
    rows = group_rows(pair, "x", {"m": np.ones(23)}, least=10)
    assert [(r["level"], r["persons"]) for r in rows] == [("a", 12), (OTHERS, 11)]


def test_persons_who_do_not_count_are_not_in_a_group():
    pair = pair_of(["a"] * 12 + ["b"] * 12)
    values = np.r_[np.ones(10), [np.nan, np.nan], np.zeros(12)]
    rows = group_rows(pair, "x", {"m": values}, least=10, scale=1)
    assert [(r["level"], r["persons"], r["value"]) for r in rows] == [("a", 10, 1.0), ("b", 12, 0.0)]


def test_a_file_smaller_than_the_minimum_shows_nothing():
    assert group_rows(pair_of(["a", "b"]), "x", {"m": np.ones(2)}, least=10) == []


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=80), st.integers(1, 12))
def test_no_group_is_small_and_nothing_is_lost(values, least):
    rows = group_rows(pair_of(values), "x", {"m": np.ones(len(values))}, least=least)
    assert all(r["persons"] >= least for r in rows)
    hidden = len(values) - sum(r["persons"] for r in rows)
    # Either everybody is shown, or nobody is: a difference to the whole would be a group of its own.
    assert hidden in (0, len(values))
    assert (hidden > 0) == (len(values) < least)


def test_numbers_are_cut_into_fifths_without_smallest_and_largest_value():
    codes, labels = person_groups(pair_of(list(range(1000, 1100))), "x")
    assert np.bincount(codes).tolist() == [20] * 5
    assert labels[0] == "below 1019.8"
    assert labels[-1].endswith("and above")
    assert not any("1000" in label or "1099" in label for label in labels)
