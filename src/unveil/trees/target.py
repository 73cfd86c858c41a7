"""The response in integers, so that a fit does not depend on the order of the records.

Sums of floating-point numbers depend on the order of their terms, sums of integers do not. A categorical
response is counted; a numeric one is moved to a grid of integers:

* values that are decimals with up to six places go to multiples of their largest common unit: exact;
* other values go to the nearest of at most ``2**42`` equal steps between minimum and maximum (fewer when
  there are more than a million records, so that sums stay below ``2**62``). A gain of a split changes by less
  than one part in a million million by this, far below what decides between splits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.trees._compiled import allocating
from unveil.trees.column import Column

__all__ = ["Target", "integer_target"]

_LARGEST_STEPS = 2**42
_LARGEST_SUM = 2**62
_DECIMALS = 6


@dataclass(frozen=True)
class Target:
    """A response in integers.

    Parameters
    ----------
    y : (n,) int64
        Per record: steps above the minimum (numeric), 0 or 1 (two classes), or the class (three or more).
    n_classes : int
        0 for a numeric response, else the number of classes that occur.
    span : int
        Largest ``y``, where ``y`` is summed (numeric and two classes).
    unit : float
        Size of a step in units of the response; 1 for classes.
    """

    y: NDArray[np.int64]
    n_classes: int
    span: int
    unit: float


def integer_target(response: Column, rows: NDArray[np.int32] | None = None) -> Target:
    """Move a response to integers.

    Parameters
    ----------
    response : Column
        The response.
    rows : (m,) int32, optional
        The records that are fitted, all by default; classes that do not occur among them do not count.

    Returns
    -------
    Target
        ``y`` has an entry for every record of the response, fitted or not.

    Raises
    ------
    DataError
        If a numeric response is infinite.

    Examples
    --------
    >>> column = Column.from_values([0.25, 0.5, 1.0])
    >>> target = integer_target(column, np.arange(3, dtype=np.int32))
    >>> target.y.tolist(), target.unit
    ([0, 1, 3], 0.25)
    """
    if response.values is not None:
        if not np.isfinite(response.values).all():
            raise DataError(f"{response.name or 'response'}: cannot fit infinite values; give them a code of their own")
        steps, unit = _steps(response.values, response.codes.size if rows is None else rows.size)
        span = int(steps[-1]) if steps.size else 0
        return Target(_looked_up(steps, response.codes), 0, span, unit)
    occurs = np.zeros(response.n_levels, dtype=np.bool_)
    occurs[response.codes if rows is None else response.codes[rows]] = True
    recoded = np.cumsum(occurs) - 1
    n_classes = int(occurs.sum())
    classes = np.where(occurs, recoded, 0).astype(np.int64)
    return Target(_looked_up(classes, response.codes), n_classes, 1, 1.0)


@allocating
def _looked_up(table: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """``table[codes]``, for codes that are known to be in its range."""
    result = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        result[i] = table[np.uint32(codes[i])]
    return result


def _steps(values: NDArray[np.float64], n: int) -> tuple[NDArray[np.int64], float]:
    """Steps of strictly increasing values above the first, and the size of a step."""
    if values.size < 2:
        return np.zeros(values.size, dtype=np.int64), 1.0
    limit = min(_LARGEST_STEPS, _LARGEST_SUM // max(n, 1))
    for decimals in range(_DECIMALS + 1):
        scale = 10.0**decimals
        whole = np.rint(values * scale)
        if np.abs(whole).max() >= 2.0**53:
            break
        if (whole / scale == values).all():
            exact = whole.astype(np.int64)
            exact -= exact[0]
            divisor = int(np.gcd.reduce(exact))
            exact //= divisor
            if exact[-1] <= limit:
                return exact, divisor / scale
            break
    half = values / 2  # the range of the largest floating-point numbers would overflow
    share = (half - half[0]) / (half[-1] - half[0])
    return np.rint(share * limit).astype(np.int64), float((half[-1] - half[0]) / limit * 2)
