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
from unveil.trees.column import Column

_LARGEST_STEPS = 2**42
_LARGEST_SUM = 2**62
_DECIMALS = 6
_COARSER = 2**12
"""How much larger steps may become before they are no longer small."""


@dataclass(frozen=True)
class Response:
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


def integer_target(response: Column, rows: NDArray[np.int32] | None = None) -> Response:
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
        return Response(steps.take(response.codes), 0, span, unit)
    occurs = np.zeros(response.n_levels, dtype=np.bool_)
    occurs[response.codes if rows is None else response.codes[rows]] = True
    recoded = np.cumsum(occurs) - 1
    n_classes = int(occurs.sum())
    classes = np.where(occurs, recoded, 0).astype(np.int64)
    return Response(classes.take(response.codes), n_classes, 1, 1.0)


def _steps(values: NDArray[np.float64], n: int) -> tuple[NDArray[np.int64], float]:
    """Steps of strictly increasing values above the first, and the size of a step."""
    if values.size < 2:
        return np.zeros(values.size, dtype=np.int64), 1.0
    limit = _most_steps(n)
    exact = _decimal_steps(values, limit)
    if exact is not None:
        return exact
    # The range of the largest floating-point numbers would overflow, halves of the smallest would vanish.
    factor = 2.0 if np.abs(values).max() > 1 else 1.0
    part = values / factor
    share = (part - part[0]) / (part[-1] - part[0])
    return np.rint(share * limit).astype(np.int64), float((part[-1] - part[0]) / limit * factor)


def _most_steps(n: int) -> int:
    return min(_LARGEST_STEPS, _LARGEST_SUM // max(n, 1))


def _decimal_steps(values: NDArray[np.float64], limit: int) -> tuple[NDArray[np.int64], float] | None:
    """Steps of values that are decimals, and their common unit; None where they are not, or there are too many."""
    for decimals in range(_DECIMALS + 1):
        scale = 10.0**decimals
        whole = np.rint(values * scale)
        if np.abs(whole).max() >= 2.0**53:
            return None
        if (whole / scale == values).all():
            exact = whole.astype(np.int64)
            exact -= exact[0]
            divisor = int(np.gcd.reduce(exact))
            exact //= divisor
            return (exact, divisor / scale) if exact[-1] <= limit else None
    return None


def grid_is_kept(values: NDArray[np.float64], count: NDArray[np.int64]) -> bool:
    """Whether values that no record has, and any one record, leave the grid of a response as fine as it is.

    Parameters
    ----------
    values : (v,) float64
        Values, strictly increasing.
    count : (v,) int64
        Number of records that have each.

    Returns
    -------
    bool
        True where a fit to the records, one of them with another of the values, compares splits alike on the grid of
        all values.

    Examples
    --------
    >>> grid_is_kept(np.array([0.0, 1.0, 5.0, 1e6]), np.array([4, 3, 3, 0]))
    True
    >>> grid_is_kept(np.array([0.0, 1 / 3, 2.0, 1e9]), np.array([4, 3, 3, 0]))
    False
    """
    limit = _most_steps(int(count.sum()) + 1)
    held = values[count > 0]
    if held.size < 2 or _decimal_steps(values, limit) is not None:
        return True
    # Which value alone keeps the others from being exact is at either end, or has more decimals than the rest.
    scale = 10.0**_DECIMALS
    with np.errstate(over="ignore"):
        odd = np.flatnonzero(np.rint(held * scale) / scale != held)
    singles = count[count > 0] == 1
    others = [held] + [np.delete(held, i) for i in {0, held.size - 1, *odd[:2].tolist()} if singles[i]]
    spread = max(float(values[-1] / 2 - values[0] / 2), np.finfo(np.float64).tiny)
    for kept in others:
        if kept.size < 2:
            continue
        if _decimal_steps(kept, limit) is not None or _COARSER * (kept[-1] / 2 - kept[0] / 2) < spread:
            return False
    return True
