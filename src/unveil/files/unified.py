"""One type for the columns of several files that belong together.

Numbers of different width are one kind of number, and so are texts; anything else that differs is refused, since a
program that widens types without a word (1.25 to 1.3, 2^53 + 1 to 2^53) makes values equal that are not.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from unveil.files.arrays import TEXT, is_text, normalise

_UNITS = ("s", "ms", "us", "ns")
_DIGITS, _MOST_DIGITS = 38, 76


def common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of two; None where there is none that keeps them apart.

    Examples
    --------
    >>> common_type(pa.int32(), pa.int64()), common_type(pa.int8(), pa.float32())
    (DataType(int64), DataType(double))
    >>> common_type(pa.int64(), pa.string()) is None
    True
    """
    if one == other or pt.is_null(other):
        return one
    if pt.is_null(one):
        return other
    if pt.is_dictionary(one) or pt.is_dictionary(other):
        values = common_type(*(kind.value_type if pt.is_dictionary(kind) else kind for kind in (one, other)))
        return None if values is None else pa.dictionary(pa.int32(), values)
    if is_text(one) and is_text(other):
        return pa.string()
    if pt.is_decimal(one) and pt.is_decimal(other):
        return _common_decimal(one, other)
    if pt.is_timestamp(one) and pt.is_timestamp(other) and one.tz == other.tz:
        return pa.timestamp(max(one.unit, other.unit, key=_UNITS.index), one.tz)
    if all(pt.is_unsigned_integer(kind) for kind in (one, other)):
        return pa.uint64()
    if all(pt.is_integer(kind) for kind in (one, other)):
        return pa.int64()
    if all(pt.is_integer(kind) or pt.is_floating(kind) for kind in (one, other)):
        return pa.float64()
    return None


def read_as(kind: pa.DataType) -> pa.DataType:
    """The type in which values are read: texts by a dictionary."""
    return TEXT if is_text(kind) else kind


def converted(array: pa.Array, kind: pa.DataType, name: str, label: str) -> pa.Array:
    """The values in the common type.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value has no equal there: a whole number beyond 2^53 among fractions.
    """
    if array.type == kind:
        return array
    if pt.is_dictionary(kind):
        if not pt.is_dictionary(array.type):
            array = converted(array, kind.value_type, name, label).dictionary_encode()
        values = converted(array.dictionary, kind.value_type, name, label)
        return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), values)
    if pt.is_float32(array.type):
        # By the shortest decimals, so that 0.1 stays 0.1.
        (array,) = normalise(pa.chunked_array([array]), name, label).chunks
    return array.cast(kind)


def _common_decimal(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    scale = max(one.scale, other.scale)
    precision = scale + max(kind.precision - kind.scale for kind in (one, other))
    if precision <= _DIGITS:
        return pa.decimal128(precision, scale)
    return pa.decimal256(precision, scale) if precision <= _MOST_DIGITS else None
