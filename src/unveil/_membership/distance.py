"""Distance between records of mixed variables, and the nearest records of a release.

The distance is Gower's: a mean over columns, here kept as a sum of whole numbers so that it does not depend on the
order of columns and ties stay ties. A numeric column adds the difference over the original's range (or interquartile
range), at most 1; any other column adds 0 or 1. A gap or a special code is a level: 0 from itself, 1 from all else.
Source: Gower 1971, Biometrics 27, 857-871.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.core import loop
from unveil.errors import CallError
from unveil.threads import n_threads

Scale = Literal["range", "iqr"]
Grid = NDArray[np.int32]

UNIT = 1 << 20
"""The distance 1 of one column, in whole steps."""
_FARTHEST = 1 << 27
_FIRST_CODE = 1 << 28
_MOST_CODES = 700
_MOST_COLUMNS = 2000
_LARGEST_RADIUS = 2**31 - 1
_CHUNK = 256

_search_nearest = loop(
    "search_nearest", int, int, int, int, np.int32, np.int32, np.int32, np.int32, int, np.int64, np.int64, int
)


@dataclass(frozen=True)
class GowerAxes:
    """How the codes of the columns become places on whole-numbered axes.

    Parameters
    ----------
    axes
        Per column the place (n_levels,) of each code, or None where equal and different is all there is.
    """

    axes: tuple[Grid | None, ...]

    @classmethod
    def of(cls, columns: Sequence[CodedColumn], scale: Scale) -> GowerAxes:
        """Lay out the columns by the amounts of their original records.

        Raises
        ------
        CallError
            If there are too many columns, or special codes in one.
        """
        if len(columns) > _MOST_COLUMNS:
            raise CallError(f"{len(columns)} columns are too many for a distance; name up to {_MOST_COLUMNS}")
        return cls(tuple(_axis(column, scale) for column in columns))

    def place(self, codes: NDArray[np.int32]) -> tuple[Grid, Grid]:
        """Places of records on the numeric axes, and their levels on the others: a row per record.

        Parameters
        ----------
        codes : (n, p) int32
            Codes of the records, columns as in :meth:`of`.
        """
        places = [axis[codes[:, j]] for j, axis in enumerate(self.axes) if axis is not None]
        levels = codes[:, [axis is None for axis in self.axes]]
        return np.array(places, dtype=np.int32).reshape(len(places), len(codes)).T.copy(), np.ascontiguousarray(levels)


def _axis(column: CodedColumn, scale: Scale) -> Grid | None:
    """Place of each code, or None where equal and different is all there is."""
    amount = column.is_amount
    values, counts = bounded(column.amounts[amount]), column.counts[0][: column.n_levels][amount]
    span = span_of(values, counts, scale)
    if not span > 0:
        return None
    n_apart = column.n_levels - len(values)
    if n_apart - column.has_gap > _MOST_CODES:
        raise CallError(
            f"column {column.name!r} has more than {_MOST_CODES} special codes; state its kind as categorical"
        )
    axis = np.empty(column.n_levels, dtype=np.int32)
    with np.errstate(over="ignore"):
        steps = (values - values[counts > 0].min()) / span * UNIT
    axis[amount] = np.rint(np.clip(steps, -_FARTHEST, _FARTHEST))
    axis[~amount] = _FIRST_CODE + UNIT * np.arange(n_apart)
    return axis


def bounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return amounts whose differences are numbers: where they would be too large, a quarter of each."""
    too_large = values.size > 0 and np.abs(values).max() > np.finfo(np.float64).max / 2
    return values / 4 if too_large else values


def span_of(values: NDArray[np.float64], counts: NDArray[np.intp], scale: Scale) -> float:
    present = values[counts > 0]
    if not len(present):
        return 0.0
    reach = float(present.max() - present.min())
    if scale == "iqr":
        first, third = np.quantile(np.repeat(values, counts), (0.25, 0.75))
        return float(third - first) or reach
    return reach


@dataclass(frozen=True)
class Nearest:
    """What lies around each target.

    Parameters
    ----------
    distances : (n, k) int64
        Distances of the k nearest records, ascending; where there are fewer, the largest distance that can be.
    within : (n,) int64
        Number of records at most ``radius`` away.
    """

    distances: NDArray[np.int64]
    within: NDArray[np.int64]


def nearest(
    space: GowerAxes, targets: NDArray[np.int32], records: NDArray[np.int32], *, k: int = 1, radius: int = 0,
    n_jobs: int | None = None,
) -> Nearest:  # fmt: skip
    """Find the k nearest records of each target.

    Parameters
    ----------
    space
        The axes.
    targets : (n, p) int32
        Codes of the targets.
    records : (m, p) int32
        Codes of the records to search.
    k
        Number of neighbours.
    radius
        Distance within which records are counted, in steps of ``1 / UNIT``.
    n_jobs
        Number of threads; all by default.
    """
    distinct, position = np.unique(targets, axis=0, return_inverse=True)
    position = position.ravel()
    amounts, levels = space.place(distinct)
    columns = tuple(np.ascontiguousarray(places.T) for places in space.place(records))
    farthest = UNIT * len(space.axes)
    distances = np.full((len(distinct), k), farthest, dtype=np.int64)
    within = np.zeros(len(distinct), dtype=np.int64)

    def search(start: int) -> None:
        end = start + _CHUNK
        _search_nearest(
            len(amounts[start:end]), len(records), amounts.shape[1], levels.shape[1], amounts[start:end],
            levels[start:end], *columns, k, distances[start:end], within[start:end], min(radius, _LARGEST_RADIUS),
        )  # fmt: skip

    if len(records):
        with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
            list(pool.map(search, range(0, len(distinct), _CHUNK)))
    return Nearest(distances[position], within[position])
