"""Risk of a node, which splits lower."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import compiled
from unveil.trees.ratio import add_wide, multiply_wide, subtract_wide, times_wide
from unveil.trees.records import Data

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
    classes : (3, max(k, SUMS)) int64
        Receives the class counts or sums in its first row.
    start, stop : int
        The node's records are ``data.rows[start:stop]``.
    counted : int
        Number of classes if there are three or more, else 0.
    risk : int
        ``SQUARES``, ``MISCLASSIFIED`` or ``GINI``.

    Returns
    -------
    total, risk
        See :func:`judge`.
    """
    add_up(data, classes[0], start, stop, counted)
    return judge(data.n_classes, classes[0], stop - start, counted, risk)


@compiled
def add_up(data: Data, held: NDArray[np.int64], start: int, stop: int, counted: int) -> None:
    """Count the classes of some records, or sum their responses.

    Parameters
    ----------
    data : Data
        What is fitted.
    held : (max(k, SUMS),) int64
        Receives the counts; or the sum, and for a numeric response the sums of the squares of its upper bits, of
        the products of its upper and lower bits, and of the squares of its lower bits.
    start, stop : int
        The records are ``data.rows[start:stop]``.
    counted : int
        Number of classes if there are three or more, else 0.
    """
    y, rows = data.y, data.rows
    first, end = np.uint64(start), np.uint64(stop)
    total = np.int64(0)
    if counted:
        for c in range(counted):
            held[c] = 0
        for i in range(first, end):
            held[np.uint32(y[np.uint32(rows[i])])] += 1
        return
    if data.n_classes:
        for i in range(first, end):
            total += y[np.uint32(rows[i])]
        held[0] = total
        return
    high_square, mixed, low_square = np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, end):
        value = y[np.uint32(rows[i])]
        upper, lower = value >> _LOWER_BITS, value & _LOWER
        total += value
        high_square += upper * upper
        mixed += upper * lower
        low_square += lower * lower
    held[0], held[1], held[2], held[3] = total, high_square, mixed, low_square


@compiled
def judge(n_classes: int, held: NDArray[np.int64], n: int, counted: int, risk: int) -> tuple[int, float]:
    """Return total and risk of ``n`` records from the result of :func:`add_up`.

    Returns
    -------
    total : int
        Sum of the response; with counted classes the sum of their squared counts.
    risk : float
        Risk of the node.
    """
    total = held[0]
    if counted:
        total, largest = np.int64(0), np.int64(0)
        for c in range(counted):
            total += held[c] * held[c]
            largest = max(largest, held[c])
        return int(total), float(n - largest) if risk == MISCLASSIFIED else n - total / n
    if n_classes == 0:
        return int(total), _within(n, total, held[1], held[2], held[3])
    if n_classes == 1:
        return int(total), 0.0
    return int(total), float(min(total, n - total)) if risk == MISCLASSIFIED else 2.0 * total * (n - total) / n


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
