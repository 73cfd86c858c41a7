"""Comparisons with limits that are typed, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.limits import TOLERANCE, exceeds, falls_below, reaches, within


@given(st.integers(0, 400), st.integers(1, 400), st.integers(0, 1000), st.sampled_from([1, 100]))
def test_ratios_are_compared_as_fractions(a: int, b: int, thousandths: int, scale: int) -> None:
    """However the ratio is rounded on its way, and whichever side of the limit that puts it on."""
    limit = float(f"{scale * thousandths / 1000:.4g}")
    exact = Fraction(a, b) * scale
    typed = Fraction(f"{scale * thousandths / 1000:.4g}")
    for figure in (scale * a / b, scale * (a / b), sum([a / b / 10] * 10) * scale, scale - scale * (1 - a / b)):
        assert bool(exceeds(figure, limit)) == (exact > typed)
        assert bool(reaches(figure, limit)) == (exact >= typed)
        assert bool(falls_below(figure, limit)) == (exact < typed)
        assert bool(within(figure, limit)) == (exact <= typed)


def test_the_tolerance_is_what_is_stated() -> None:
    for limit in (1e-2, 0.3, 5.0, 1e6):
        assert not exceeds(limit * (1 + 0.9 * TOLERANCE), limit)
        assert exceeds(limit * (1 + 1.1 * TOLERANCE), limit)
        assert falls_below(limit * (1 - 1.1 * TOLERANCE), limit)
        assert reaches(limit * (1 - 0.9 * TOLERANCE), limit)


def test_what_is_not_defined_is_on_no_side() -> None:
    for compare in (exceeds, reaches, falls_below, within):
        assert compare(math.nan, 0.3).tolist() is False
        assert compare([math.nan, math.nan], [0.3, 0.4]).tolist() == [False, False]


@pytest.mark.parametrize("unit", [0.0, 1.0])
def test_the_scale_of_small_limits(unit: float) -> None:
    assert bool(exceeds(1e-10, 0.0, unit=unit)) == (unit == 0)
    assert bool(exceeds(1e-8, 0.0, unit=unit))
    assert not exceeds(np.array([0.0]), 0.0, unit=unit).any()
