"""Noise on the amounts of a numeric column, so that exact amounts of persons are not released."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_positive, check_whole_numbers
from unveil.errors import DataError
from unveil.synthesis.bandwidth import SPIKE, rule_of_thumb
from unveil.synthesis.sdc.amounts import SpecialCodes, amounts_of
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport
from unveil.synthesis.seeds import seed_or_secret

MOST_DECIMALS = 15
EXACT_DOUBLE = 2**53


def smooth(
    data: Any,
    column: str,
    seed: int | None = None,
    *,
    bandwidth: float | None = None,
    special_codes: SpecialCodes = None,
) -> tuple[Any, SdcReport]:
    """Add normal noise to the amounts of a column.

    An amount ``x`` becomes ``x + h e``, with ``e`` standard normal, clipped to the range of the amounts and rounded
    to the number of decimals of the amounts. A value of more than 70 percent of the amounts is kept.

    Parameters
    ----------
    data
        A frame or file.
    column
        A numeric column.
    seed
        Seed of the noise. By default it is secret: somebody who knows the seed can subtract the noise.
    bandwidth
        Standard deviation ``h`` of the noise. By default Silverman's rule of thumb,
        ``h = 0.9 min(sd, interquartile range / 1.34) n^(-1/5)``.
    special_codes
        By column, values that are not amounts, such as ``{"income": [-8]}``; they and gaps do not change. By default
        those that the file declares.

    Returns
    -------
    frame
        The data in the same kind of frame and types.
    SdcReport
        Report of the changes.

    Raises
    ------
    CallError
        If the column is unknown or not numeric, or seed or bandwidth is out of range.
    DataError
        If an amount is infinite, or an integer beyond 2^53.

    References
    ----------
    Silverman (1986), Density Estimation for Statistics and Data Analysis, equation 3.31.

    Examples
    --------
    >>> import pyarrow as pa
    >>> weights = pa.table({"weight": [61.5, 70.0, 82.5, None, 90.1, 55.0]})
    >>> smoothed, report = smooth(weights, "weight", seed=1)
    >>> smoothed.column("weight")[3].as_py(), smoothed.column("weight")[4].as_py() <= 90.1
    (None, True)
    >>> round(report.figures["bandwidth"], 2)
    9.46
    """
    records = GivenFile.of(data)
    where = f"{records.source.label}: column {column!r}"
    check_whole_numbers(0, **{f"{where}: seed": 0 if seed is None else seed})
    check_positive(**{f"{where}: bandwidth": 1 if bandwidth is None else bandwidth})
    amounts = amounts_of(records, column, special_codes, "smooth")
    old = amounts.values[amounts.present].astype(np.float64)
    if np.isinf(old).any():
        raise DataError(f"{where} holds infinite values; declare them special codes or correct the file")
    if amounts.is_whole and old.size and np.abs(old).max() > EXACT_DOUBLE:
        raise DataError(f"{where} holds integers beyond 2^53, to which noise cannot be added exactly")
    h = rule_of_thumb(old) if bandwidth is None else float(bandwidth)
    decimals = 0 if amounts.is_whole else decimals_of(old)
    noise = np.random.default_rng(seed_or_secret(seed)).standard_normal(old.size)
    new: NDArray[np.float64] = old + h * noise
    if old.size:
        new = np.clip(new, old.min(), old.max()).round(decimals)
    spikes = _spikes(old)
    new[spikes] = old[spikes]
    moved = new != old
    change = np.zeros(len(amounts.values), dtype=bool)
    change[amounts.present] = moved
    values = new[moved].astype(np.int64) if amounts.is_whole else new[moved]
    n, n_changed, n_kept = records.source.num_rows, int(moved.sum()), int(spikes.sum())
    sentences = [
        f"Normal noise with standard deviation {h:.4g}, clipped to the range and rounded to {decimals} decimals,",
        f"changed {n_changed} of {n} records. {amounts.untouched}",
    ]
    if n_kept:
        sentences.append(f"{n_kept} records with the one value that most have keep it.")
    if not n_changed and h < 0.5 * 10.0**-decimals:
        sentences.append("The noise is smaller than what rounding takes away: a larger bandwidth is needed.")
    figures = {"bandwidth": h, "decimals": decimals, "n_spike": n_kept, **amounts.counts}
    report = records.report("smooth", (column,), n_changed, figures, *sentences)
    return records.with_values(column, change, values), report


def decimals_of(values: NDArray[np.float64]) -> int:
    """Return the largest number of decimals of the values.

    Parameters
    ----------
    values : (n,) float64
        Finite numbers.

    Examples
    --------
    >>> decimals_of(np.array([1.5, 2.0, 0.125]))
    3
    """
    distinct = np.unique(values)
    for decimals in range(MOST_DECIMALS):
        if (np.round(distinct, decimals) == distinct).all():
            return decimals
    return MOST_DECIMALS


def _spikes(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each record (n,) has a value whose share is above :data:`SPIKE`."""
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    flags: NDArray[np.bool_] = (counts > SPIKE * values.size)[codes] if distinct.size else np.zeros(0, dtype=bool)
    return flags
