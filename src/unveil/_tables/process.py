"""Process intervals of table measures: over samples and releases, from several releases or from halves of the original.

From m releases the variance is ``S + B / m`` (:func:`unveil.stats.from_releases`). S, the variance that comes from the
choice of records, has two parts: records are counted, and the releases follow them. How closely a synthesizer follows
its original cannot be seen in releases of one original. For DiSCO and DCAPd it is taken to follow each record as if
release records were drawn from the original ones: with f_i what record i adds to the measure and a_i what one more
record like it in the release would change for all *other* original records,

    S = var(f_i + a_i N_s / N_d) / N_d,

with products of different releases in the place of squares, as chance in one release is no property of a person. S is
at least the variance of the mean f_i over the releases. A synthesizer that follows more loosely has a smaller S, and
the interval covers too often. With the synthesizer at hand nothing of this has to be assumed: it is fitted to halves.
Source: Efron & Stein (1981), The jackknife estimate of variance, Annals of Statistics 9, 586-596.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells
from unveil._tables.exclusions import Tables
from unveil.stats import ONE_RELEASE, Interval, from_halves, from_releases

Floats = NDArray[np.float64]


def copied(cells: Cells, tables: Tables) -> dict[str, Floats]:
    """What one more release record like an original one would change for all other original records, per cell.

    Parameters
    ----------
    cells, tables
        Counts before and after exclusions.

    Returns
    -------
    dict
        For DiSCO and DCAPd, (n_cells,): number of records by which their sum would change.
    """
    d, s = tables.counts["original"].astype(np.float64), tables.counts["synthetic"].astype(np.float64)
    others = np.maximum(d - 1, 0.0)
    s_q = _sums(cells, s)
    # Where the release has no record with these keys, it would have one, of this level.
    share = np.divide(others, s_q + 1)
    lost = np.divide(_sums(cells, d * s) - s * (d > 0), s_q * (s_q + 1), out=np.zeros(len(d)), where=s_q > 0)
    counts = ((s > 0) | (cells.s == 0)) & ((d > 0) | (cells.d == 0))
    certain = (cells.s == cells.s_q) & (cells.s > 0)
    certain_q = _sums(cells, d * certain)
    disco = np.where(cells.s_q == 0, others, np.where(certain, 0.0, -certain_q))
    return {"DiSCO": np.where(counts, disco, 0.0), "DCAPd": np.where(counts, share - lost, 0.0)}


def _sums(cells: Cells, values: Floats) -> Floats:
    """Per cell the sum of the values over its key combination."""
    result: Floats = np.repeat(np.add.reduceat(values, cells.starts), cells.sizes) if len(values) else values
    return result


def sampling_variance(direct: Sequence[Floats], followed: Sequence[Floats], weights: NDArray[np.int64]) -> float:
    """Variance that comes from the choice of records, of the mean over releases; a share squared.

    Parameters
    ----------
    direct : m of (k,)
        Per release what the records of each kind add to the measure, from 0 to 1.
    followed : m of (k,)
        The same and what the release would change if it followed them.
    weights : (k,)
        Number of records of each kind.
    """
    m, n = len(direct), int(weights.sum())

    def variance(values: Floats) -> float:
        mean = float(weights @ values) / n
        return float(weights @ (values - mean) ** 2) / n

    held = variance(np.mean(direct, axis=0))
    of_sum, of_each = variance(np.sum(followed, axis=0)), sum(variance(one) for one in followed)
    return max((of_sum - of_each) / (m * (m - 1)), held) / n


def process_interval(
    per_release: Sequence[float], halves: Sequence[Sequence[float]] | None, sampling: float, n: int, level: float
) -> Interval:
    """The process interval of a measure in percent.

    Parameters
    ----------
    per_release
        The measure of each release, in percent.
    halves
        The measure of pairs of halves, in percent, if the synthesizer was fitted to halves.
    sampling
        :func:`sampling_variance`; not used with halves.
    n
        Number of original records.
    level
        Coverage.
    """
    shares = np.asarray(per_release) / 100
    value = float(np.mean(per_release))
    if halves is not None:
        return from_halves(value / 100, np.asarray(halves) / 100, n, level).scaled(100)
    if len(shares) < 2:
        return Interval.missing("process", value, level, ONE_RELEASE)
    return from_releases(shares, sampling, n, level).scaled(100)
