"""Top and bottom coding: amounts beyond a threshold are set to the threshold."""

from __future__ import annotations

import math
import sys
from textwrap import shorten
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_shares, is_number
from unveil.errors import CallError, DataError
from unveil.limits import as_typed, is_written_as
from unveil.synthesis.sdc.amounts import Amounts, SpecialCodes, amounts_of
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport

MOST = sys.float_info.max


def top_code(
    data: Any,
    column: str,
    *,
    at: float | None = None,
    quantile: float | None = None,
    special_codes: SpecialCodes = None,
) -> tuple[Any, SdcReport]:
    """Set amounts above a threshold to the threshold.

    Parameters
    ----------
    data
        A frame or file.
    column
        A numeric column.
    at
        The threshold. Give this or ``quantile``. Amounts that equal it with 15 digits are not above it.
    quantile
        Share of the amounts, between 0 and 1, at or below the threshold: the threshold is the smallest amount ``x`` of
        the column with ``#{amounts <= x} >= quantile * #amounts`` (Hyndman & Fan 1996, definition 1).
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
        If the column is unknown or not numeric, the threshold is not one number of the column's type, or not
        exactly one of ``at`` and ``quantile`` is given.
    DataError
        If a quantile is given and the column has no amounts.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 3.4.

    Examples
    --------
    >>> import pyarrow as pa
    >>> coded, report = top_code(pa.table({"income": [10, 20, 900, -8]}), "income", at=30, special_codes={"income": -8})
    >>> coded.column("income").to_pylist(), report.n_changed
    ([10, 20, 30, -8], 1)
    """
    return _coded(data, column, at, quantile, special_codes, "top_code")


def bottom_code(
    data: Any,
    column: str,
    *,
    at: float | None = None,
    quantile: float | None = None,
    special_codes: SpecialCodes = None,
) -> tuple[Any, SdcReport]:
    """Set amounts below a threshold to the threshold.

    Parameters
    ----------
    data, column, at, quantile, special_codes
        See :func:`top_code`; less than the share ``quantile`` of the amounts is changed.

    Returns
    -------
    frame
        The data in the same kind of frame and types.
    SdcReport
        Report of the changes.

    Raises
    ------
    CallError
        If the column is unknown or not numeric, the threshold is not one number of the column's type, or not
        exactly one of ``at`` and ``quantile`` is given.
    DataError
        If a quantile is given and the column has no amounts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> coded, report = bottom_code(pa.table({"age": [16, 17, 40, None]}), "age", at=18)
    >>> coded.column("age").to_pylist()
    [18, 18, 40, None]
    >>> print(report)
    bottom_code: data, age
    2 of 4 records were below 18 and now hold 18, as 2 records do in all. 1 gaps and 0 special codes
    stay as they are.
    """
    return _coded(data, column, at, quantile, special_codes, "bottom_code")


def _coded(
    data: Any,
    column: str,
    at: float | None,
    quantile: float | None,
    special_codes: SpecialCodes,
    action: Literal["top_code", "bottom_code"],
) -> tuple[Any, SdcReport]:
    records = GivenFile.of(data)
    amounts = amounts_of(records, column, special_codes, action)
    threshold = _threshold(amounts, at, quantile, f"{records.source.label}: column {column!r}", action)
    at_it = is_written_as(amounts.values, threshold)
    beyond, side = (
        (amounts.values > threshold, "above") if action == "top_code" else (amounts.values < threshold, "below")
    )
    change = amounts.present & beyond & ~at_it
    n_at = int((change | (amounts.present & at_it)).sum())
    n, n_changed, shown = records.source.num_rows, int(change.sum()), f"{threshold:.15g}"
    figures = {"threshold": threshold, "quantile": quantile, "n_at_threshold": n_at, **amounts.counts}
    said = f"{n_changed} of {n} records were {side} {shown} and now hold {shown}, as {n_at} records do in all."
    report = records.report(action, (column,), n_changed, figures, said, amounts.untouched)
    return records.with_values(column, change, threshold), report


def _quantile(values: NDArray[Any], share: float) -> float:
    """Return the smallest value with at least the share of the values at or below it."""
    exact = as_typed(share) * len(values)
    found: float = np.sort(values)[max(math.ceil(exact), 1) - 1].item()
    return found


def _threshold(amounts: Amounts, at: float | None, quantile: float | None, where: str, action: str) -> float:
    if (at is None) == (quantile is None):
        raise CallError(f"{where}: {action} takes a threshold, at=..., or a quantile=..., one of the two")
    if quantile is not None:
        check_shares(**{f"{where}: quantile": quantile})
        if not amounts.present.any():
            raise DataError(f"{where} has no amounts to take a quantile of; give the threshold with at=")
        found: float = _quantile(amounts.values[amounts.present], quantile)
        if math.isinf(found):
            raise DataError(f"{where}: the quantile is infinite; give a threshold with at=")
        return found
    if not is_number(at) or not -MOST <= at <= MOST:
        raise CallError(f"{where}: at must be a number that is finite, not {shorten(repr(at), 40)}")
    if not amounts.is_whole:
        return float(at)
    if at != math.floor(at):
        raise CallError(f"{where} holds whole numbers; at must be one, not {at!r}")
    return int(at)
