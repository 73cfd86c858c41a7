"""Numbers that no original record has, in the types of pandas, polars and Arrow columns."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import DataError
from unveil.files.distinct import PER_SECOND, level_text
from unveil.synthesis.arrow_values import of_kind, plain

Floats = NDArray[np.float64]


def _in_unit(seconds: Floats, unit: str) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = np.rint(seconds * PER_SECOND[unit]).astype(np.int64)
    return whole


def _no_room(name: str) -> DataError:
    return DataError(
        f"column {name!r} consists of categories, which cannot take new numbers; convert it to numbers, or draw it "
        "without noise"
    )


def _check_ends(numbers: Floats, lowest: float, highest: float, name: str, kind: object) -> None:
    """Raise an error for a number that a type of whole numbers does not have, which would be cut or wrapped around."""
    beyond = numbers[(np.rint(numbers) < lowest) | (np.rint(numbers) > highest)]
    if beyond.size:
        raise DataError(
            f"column {name!r}: {level_text(float(beyond[0]))} is no number of its type, {kind}; give the original in a "
            "wider type"
        )


def arrow_with(values: pa.Array, numbers: Floats, name: str) -> pa.Array:
    """Return the values with new numbers of their type behind them."""
    if pa.types.is_run_end_encoded(values.type):
        return of_kind(arrow_with(pc.run_end_decode(values), numbers, name), values.type)
    if pa.types.is_dictionary(values.type):
        longer = arrow_with(plain(values), numbers, name).dictionary_encode()
        try:
            return of_kind(longer, pa.dictionary(values.type.index_type, values.type.value_type))
        except pa.ArrowInvalid:
            raise _no_room(name) from None
    if pa.types.is_duration(values.type):
        new = pa.array(_in_unit(numbers, values.type.unit))
    elif pa.types.is_integer(values.type):
        ends = np.iinfo(values.type.to_pandas_dtype())
        _check_ends(numbers, ends.min, ends.max, name, values.type)
        new = pa.array(np.rint(numbers))
    else:
        new = pa.array(numbers)
    return pa.concat_arrays([values, new.cast(values.type, safe=False)])


def polars_with(values: Any, rows: NDArray[np.intp], numbers: Floats) -> Any:
    """Return a polars column with new numbers in some records."""
    dtype = values.dtype
    if str(dtype).startswith(("Categorical", "Enum")):
        raise _no_room(values.name)
    new: Any = np.rint(numbers) if dtype.is_integer() else numbers
    if dtype.is_integer():
        ends = (dtype.min(), dtype.max())
        lowest, highest = (type(values)([0]).to_frame("x").select(end).item() for end in ends)
        _check_ends(numbers, lowest, highest, values.name, dtype)
    if str(dtype).startswith("Duration"):
        new = _in_unit(numbers, dtype.time_unit)
    if str(dtype) in ("String", "Utf8"):
        new = [level_text(number) for number in numbers]
    return values.scatter(rows, type(values)(values.name, new).cast(dtype, strict=False))


def pandas_with(values: Any, rows: NDArray[np.intp], numbers: Floats, name: str) -> Any:
    """Return a pandas column with new numbers in some records."""
    dtype = values.dtype
    if hasattr(dtype, "categories"):
        raise _no_room(name)
    if type(dtype).__name__ == "SparseDtype":
        return type(values)(pandas_with(values.to_dense(), rows, numbers, name), dtype=dtype)
    changed = values.copy()
    changed[rows] = _fitting(numbers, values, name)
    return changed


def _fitting(numbers: Floats, values: Any, name: str) -> Any:
    """Return numbers in the type of the column; of floating-point numbers those that it has no room for at its ends."""
    kind = getattr(values.dtype, "numpy_dtype", values.dtype)
    letter = getattr(kind, "kind", "O")
    if letter == "m":
        unit = np.datetime_data(kind)[0]
        return _in_unit(numbers, unit).astype(f"timedelta64[{unit}]")
    if letter in "iuf":
        ends = np.finfo(kind) if letter == "f" else np.iinfo(kind)
        if letter != "f":
            _check_ends(numbers, ends.min, ends.max, name, kind)
        fitting = numbers if letter == "f" else np.rint(numbers)
        return fitting.clip(float(ends.min), float(ends.max)).astype(kind)
    example = next(value for value in values if isinstance(value, str) or value == value)
    changed = np.empty(numbers.size, dtype=object)
    changed[:] = [_like(example, float(number)) for number in numbers]
    return changed


def _like(example: object, number: float) -> object:
    """Return a number as a Python object of the example's type."""
    if isinstance(example, datetime.timedelta):
        return datetime.timedelta(seconds=number)
    if isinstance(example, str | Decimal):
        return type(example)(level_text(number))
    return int(number) if isinstance(example, int | np.integer) and number.is_integer() else number
