"""Checks of options: what passes, what does not, and what the message says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from unveil.checks import check_choice, check_flags, check_numbers, check_positive, check_shares, check_whole_numbers
from unveil.errors import CallError


def test_numbers_of_python_and_numpy_pass() -> None:
    check_whole_numbers(3, 7, m=3, k=np.int64(7), n=np.uint8(5))
    check_numbers(0, cp=0, prior=np.float32(0.5), share=Fraction(1, 3))
    check_numbers(tau=-2.5)
    check_positive(epsilon=np.float64(1e-300), budget=10)
    check_shares(level=0.95, quantile=np.float64(0.5))
    check_flags(collapse=np.bool_(False), proper=True)
    check_choice("smoothing", None, (None, "density"))


@pytest.mark.parametrize("value", [True, np.bool_(True), 3.0, np.float64(3), "3", None, 2, 8, [3]], ids=repr)
def test_other_values_are_no_whole_numbers(value: Any) -> None:
    with pytest.raises(CallError, match="m must be a whole number from 3 to 7, not "):
        check_whole_numbers(3, 7, m=value)


@pytest.mark.parametrize("value", [True, "1", None, math.nan, math.inf, 1j, -1], ids=repr)
def test_other_values_are_no_numbers(value: Any) -> None:
    with pytest.raises(CallError, match="cp must be a number from 0, not "):
        check_numbers(0, cp=value)
    with pytest.raises(CallError, match="epsilon must be a number above 0, not "):
        check_positive(epsilon=value)


@pytest.mark.parametrize("value", [0, 1, True, "0.5", None, math.nan], ids=repr)
def test_the_ends_are_no_shares(value: Any) -> None:
    with pytest.raises(CallError, match="level must lie between 0 and 1, not "):
        check_shares(level=value)
    if not isinstance(value, bool):
        with pytest.raises(CallError, match="proper must be True or False, not "):
            check_flags(proper=value)


def test_the_choices_are_listed() -> None:
    with pytest.raises(CallError, match=r"^smoothing must be None, 'density' or 'kernel', not 3$"):
        check_choice("smoothing", 3, (None, "density", "kernel"))
