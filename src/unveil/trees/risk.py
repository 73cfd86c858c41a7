"""Risk of a node: what a split is meant to lower."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled
from unveil.trees.ratio import add_wide, multiply_wide, subtract_wide, times_wide
from unveil.trees.records import Data

__all__ = ["GINI", "MISCLASSIFIED", "SQUARES", "summarise"]

SQUARES, MISCLASSIFIED, GINI = 0, 1, 2
"""Within sum of squares, records outside the majority class, or n times the Gini index."""

_LOWER_BITS = 21
_LOWER = (1 << _LOWER_BITS) - 1


@compiled
def summarise(
    data: Data, classes: NDArray[np.int64], start: int, stop: int, counted: int, risk: int
) -> tuple[int, float]:
    """Total and risk of a node.

    Parameters
    ----------
    data : Data
        What is fitted.
    classes : (3, k) int64
        Receives the class counts in its first row, if classes are counted.
    start, stop : int
        The node's records are ``data.rows[start:stop]``.
    counted : int
        Number of classes if there are three or more, else 0.
    risk : int
        ``SQUARES``, ``MISCLASSIFIED`` or ``GINI``.

    Returns
    -------
    total : int
        Sum of the response; with counted classes the sum of their squared counts.
    risk : float
        Risk of the node.
    """
    n = stop - start
    y, rows = data.y, data.rows
    total = np.int64(0)
    if counted:
        for c in range(counted):
            classes[0, c] = 0
        for i in range(start, stop):
            classes[0, y[rows[i]]] += 1
        largest = np.int64(0)
        for c in range(counted):
            total += classes[0, c] * classes[0, c]
            largest = max(largest, classes[0, c])
        return int(total), float(n - largest) if risk == MISCLASSIFIED else n - total / n
    if data.n_classes:
        for i in range(start, stop):
            total += y[rows[i]]
        if data.n_classes == 1:
            return int(total), 0.0
        return int(total), float(min(total, n - total)) if risk == MISCLASSIFIED else 2.0 * total * (n - total) / n
    high_square, mixed, low_square = np.int64(0), np.int64(0), np.int64(0)
    for i in range(start, stop):
        value = y[rows[i]]
        upper, lower = value >> _LOWER_BITS, value & _LOWER
        total += value
        high_square += upper * upper
        mixed += upper * lower
        low_square += lower * lower
    return int(total), _within(n, total, high_square, mixed, low_square)


@compiled
def _within(n: int, total: int, high_square: int, mixed: int, low_square: int) -> float:
    """Within sum of squares ``q - total^2 / n`` in 128 bits, ``q = high 2^42 + mixed 2^22 + low``."""
    high, low = multiply_wide(np.uint64(high_square), np.uint64(1 << (2 * _LOWER_BITS)))
    middle_high, middle_low = multiply_wide(np.uint64(mixed), np.uint64(1 << (_LOWER_BITS + 1)))
    high, low = add_wide(high, low, middle_high, middle_low)
    high, low = add_wide(high, low, np.uint64(0), np.uint64(low_square))
    _, high, low = times_wide(high, low, np.uint64(n))
    square_high, square_low = multiply_wide(np.uint64(total), np.uint64(total))
    high, low = subtract_wide(high, low, square_high, square_low)
    return (float(high) * 2.0**64 + float(low)) / n
