"""The user's candidates as values of a column, however they are written, also if no file has them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.columns import CodedColumn
from unveil.columns.column import are_numbers
from unveil.errors import CallError
from unveil.files.numbers import exact_number

PLAIN = (str, int, float, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)


def candidates_by_name(candidates: Any, targets: Sequence[str]) -> Mapping[str, Sequence[Any]]:
    """Candidates of each target.

    Raises
    ------
    CallError
        If they are not lists, or are given for a variable that is not a target.
    """
    if candidates is None:
        return {}
    if not isinstance(candidates, Mapping):
        if len(targets) > 1:
            raise CallError("with several targets give candidates by target: {target: values}")
        candidates = {targets[0]: candidates}
    found = {}
    for name, given in candidates.items():
        if name not in targets:
            raise CallError(f"candidates are given for {name!r}, which is not a target")
        if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
            raise CallError(f"candidates of column {name!r}: give a list of values, not {given!r}")
        found[name] = list(given)
        if not found[name]:
            raise CallError(f"candidates of column {name!r}: the list is empty")
    return found


def candidate_values(column: CodedColumn, given: Sequence[Any], labels: Mapping[Any, str]) -> pa.Array:
    """Candidates as values of the column's type, gaps as nulls.

    A value of the files may be given as printed, or by its code or label. Any other value has to be of the column's
    kind without rounding.

    Parameters
    ----------
    column
        The column in the codes of all files.
    given
        The candidates.
    labels
        Declared labels by code; a file need not have the code.

    Raises
    ------
    CallError
        If a candidate is not of the column's kind.
    """
    kind = column.levels.type
    codes: dict[object, list[Any]] = {}
    for code, label in labels.items():
        codes.setdefault(label.strip(), []).append(code)
    named = {label: own[0] for label, own in codes.items() if len(own) == 1}
    values = [_value(column, _plain(one), named) for one in given]
    return pa.concat_arrays(values) if values else pa.nulls(0, kind)


def _plain(value: Any) -> Any:
    """The value as a plain Python value; None for every form of a gap."""
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, np.datetime64 | np.timedelta64):
        # Of billionths of seconds numpy makes plain numbers.
        value = None if np.isnat(value) else value.astype(f"{type(value).__name__}[us]").item()
    elif isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | decimal.Decimal) and value != value:
        return None
    return value


def _value(column: CodedColumn, value: Any, named: Mapping[object, Any]) -> pa.Array:
    kind = column.levels.type
    if value is None:
        return pa.nulls(1, kind)
    refused = CallError(f"candidates of column {column.name!r} do not fit its values: {value!r} is none of type {kind}")
    if not isinstance(value, PLAIN):
        raise refused
    # True is a number to Python, and none to anybody else.
    if isinstance(value, bool) and not (pa.types.is_boolean(kind) or column.naming.by_code):
        raise refused
    try:
        code = column.code_of(value)
    except CallError:
        if isinstance(value, str) and are_numbers(column.levels):
            number = exact_number(value)
            value = named.get(value.strip(), value) if number is None else number
        return _cast(value, kind, refused)
    return pa.nulls(1, kind) if code == column.gap else column.levels.slice(code, 1)


def _cast(value: Any, kind: pa.DataType, refused: CallError) -> pa.Array:
    """Return a value that no file has as one of the column's type."""
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    try:
        own = pa.array([value])
        cast = own.cast(kind)
        # Dates cut off the time of the day, and texts of dates are read in whatever form.
        same = text or isinstance(value, str) or cast.cast(own.type).equals(own)
    except (pa.ArrowException, OverflowError, ValueError):
        raise refused from None
    if not same or cast.null_count or (text and not isinstance(value, str | int | float)):
        raise refused
    return cast
