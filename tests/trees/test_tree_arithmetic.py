"""Wide integers, exact comparison, and the integers that stand for a response."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.trees import Column
from unveil.trees.ratio import add_wide, exceeds, multiply_wide, subtract_wide, times_wide
from unveil.trees.response import integer_target

words = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]))


def split(number):
    return np.uint64(number >> 64), np.uint64(number % 2**64)


def join(high, low):
    return int(high) * 2**64 + int(low)


@settings(deadline=None)
@given(words, words, words, words)
def test_wide_arithmetic(a, b, c, d):
    assert join(*multiply_wide(np.uint64(a), np.uint64(b))) == a * b
    x, y = sorted((a * 2**62 + b, c * 2**62 + d))
    assert join(*subtract_wide(*split(y), *split(x))) == y - x
    assert join(*add_wide(*split(x), *split(y))) == x + y
    highest, middle, lowest = times_wide(*split(x), np.uint64(c))
    assert int(highest) * 2**128 + join(middle, lowest) == x * c


@settings(deadline=None)
@given(words, words, st.integers(1, 2**64 - 1), st.integers(1, 2**64 - 1), st.integers(1, 9))
def test_exceeds(a, b, q, other, factor):
    x = a * 2**50 + b
    assert exceeds(*split(x), np.uint64(q), *split(x + 1), np.uint64(q)) is False
    assert exceeds(*split(x + 1), np.uint64(q), *split(x), np.uint64(q)) is True
    y = b * 2**50 + a
    larger = Fraction(x, q) > Fraction(y, other)
    assert exceeds(*split(x), np.uint64(q), *split(y), np.uint64(other)) == larger
    small = q // 10 + 1
    assert not exceeds(*split(x * factor), np.uint64(small * factor), *split(x), np.uint64(small))


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
