"""Exact comparison of two fractions with numerators of up to 128 bits.

Scores of splits are fractions of integers. Two splits are often exactly equally good, and floating-point
rounding would then choose between them; here the choice is made on the fractions themselves.
"""

from __future__ import annotations

import numpy as np

from unveil.trees._compiled import compiled

_HALF = np.uint64(32)
_MASK = np.uint64(0xFFFFFFFF)


@compiled
def multiply_wide(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Product of two 64-bit numbers as (high, low) 64-bit words."""
    a_low, a_high = a & _MASK, a >> _HALF
    b_low, b_high = b & _MASK, b >> _HALF
    lowest = a_low * b_low
    first = a_low * b_high
    second = a_high * b_low
    middle = (lowest >> _HALF) + (first & _MASK) + (second & _MASK)
    low = (lowest & _MASK) | (middle << _HALF)
    high = a_high * b_high + (first >> _HALF) + (second >> _HALF) + (middle >> _HALF)
    return high, low


@compiled
def add_wide(a_high: np.uint64, a_low: np.uint64, b_high: np.uint64, b_low: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Sum of two 128-bit numbers."""
    low = a_low + b_low
    high = a_high + b_high
    if low < a_low:
        high += np.uint64(1)
    return high, low


@compiled
def subtract_wide(
    a_high: np.uint64, a_low: np.uint64, b_high: np.uint64, b_low: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Difference of two 128-bit numbers, the first being the larger."""
    high = a_high - b_high
    if a_low < b_low:
        high -= np.uint64(1)
    return high, a_low - b_low


@compiled
def times_wide(high: np.uint64, low: np.uint64, factor: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Product of a 128-bit and a 64-bit number as three words, highest first."""
    carry, word_0 = multiply_wide(low, factor)
    word_2, word_1 = multiply_wide(high, factor)
    word_1 += carry
    if word_1 < carry:
        word_2 += np.uint64(1)
    return word_2, word_1, word_0


@compiled
def exceeds(
    high: np.uint64,
    low: np.uint64,
    divisor: np.uint64,
    other_high: np.uint64,
    other_low: np.uint64,
    other_divisor: np.uint64,
) -> bool:
    """Whether ``(high, low) / divisor`` is larger than ``(other_high, other_low) / other_divisor``."""
    a_2, a_1, a_0 = times_wide(high, low, other_divisor)
    b_2, b_1, b_0 = times_wide(other_high, other_low, divisor)
    if a_2 != b_2:
        return bool(a_2 > b_2)
    if a_1 != b_1:
        return bool(a_1 > b_1)
    return bool(a_0 > b_0)
