"""Sums without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unveil.stats.exact_sums import exact_mean, exact_sum

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 1000)), min_size=1, max_size=20), st.integers(0, 20))
def test_any_cut_gives_the_sum_of_fractions(parts: list[tuple[float, int]], cut: int) -> None:
    values, times = np.array([v for v, _ in parts]), np.array([k for _, k in parts], np.int64)
    exact = sum(Fraction(v) * k for v, k in parts)
    whole = exact_sum(values, times)
    assert Fraction(whole, 1 << 1126) == exact
    assert exact_sum(values[:cut], times[:cut]) + exact_sum(values[cut:], times[cut:]) == whole
    if abs(exact) / 7 < 10**300:
        assert exact_mean(whole, 7) == float(exact / 7)


def test_of_as_many_records_as_a_census_has() -> None:
    assert exact_mean(exact_sum(np.array([0.1]), np.array([1 << 33])), 1 << 33) == 0.1
