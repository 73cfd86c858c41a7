"""Wide integers, exact comparison, and the integers that stand for a response."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.core import loop
from unveil.trees import Column
from unveil.trees.response import integer_target

words = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]))


fraction_exceeds = loop("fraction_exceeds", *(int,) * 6, result=int)
within_squares = loop("within_squares", int, np.int64, np.int32, result=float)


def exceeds(x, q, y, other):
    """Whether x / q is larger than y / other; words above 2^63 are passed as the negative numbers of the same bits."""
    parts = [x >> 64, x % 2**64, q, y >> 64, y % 2**64, other]
    return bool(fraction_exceeds(*(word - 2**64 if word >= 2**63 else word for word in parts)))


@settings(deadline=None)
@given(words, words, st.integers(1, 2**64 - 1), st.integers(1, 2**64 - 1), st.integers(1, 9))
def test_exceeds(a, b, q, other, factor):
    x = a * 2**50 + b
    assert not exceeds(x, q, x + 1, q)
    assert exceeds(x + 1, q, x, q)
    y = b * 2**50 + a
    assert exceeds(x, q, y, other) == (Fraction(x, q) > Fraction(y, other))
    small = q // 10 + 1
    assert not exceeds(x * factor, small * factor, x, small)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**42), min_size=1, max_size=20))
def test_within_sum_of_squares_is_that_of_exact_numbers(values):
    exact = sum(v * v for v in values) - Fraction(sum(values)) ** 2 / len(values)
    order = np.arange(len(values), dtype=np.int32)
    assert within_squares(len(values), np.array(values), order) == pytest.approx(float(exact), rel=1e-15)


def test_decimals_are_exact_and_others_close():
    rows = np.arange(4, dtype=np.int32)
    cents = integer_target(Column.from_values([0.1, 0.25, 19.98, 7]), rows)
    assert (cents.y.tolist(), cents.unit) == ([0, 15, 1988, 690], 0.01)
    thousands = integer_target(Column.from_values([-2000, 0, 5000, 1000]), rows)
    assert (thousands.y.tolist(), thousands.unit) == ([0, 2, 7, 3], 1000.0)
    values = np.array([np.pi, np.e, -1e3, 1e3])
    real = integer_target(Column.from_values(values), rows)
    np.testing.assert_allclose(real.y * real.unit, values + 1e3, rtol=1e-9)
    huge = integer_target(Column.from_values([-1.7e308, 0.0, 1.0, 1.7e308]), rows)
    assert huge.y[0] == 0
    assert huge.y[3] == huge.span == 2**42


def test_classes_that_do_not_occur_do_not_count():
    column = Column(np.array([4, 2, 4, 0]), "categorical", 6)
    target = integer_target(column, np.array([0, 1, 2], dtype=np.int32))
    assert (target.n_classes, target.y[:3].tolist()) == (2, [1, 0, 1])
