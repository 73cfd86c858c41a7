"""The distinct values of one column of one file, as they are met batch by batch.

Values are told apart as the file stores them: what is the same value in another type, or another notation of it, is
settled later, on the distinct values. So 0.0 and -0.0 are two raw values here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.core import loop
from unveil.engines.texts import Texts
from unveil.files.arrays import buffer_view, flags, from_numpy

GAP = 0
"""Code of records without a value."""
_WIDEST = 1 << 22
"""Whole numbers within such a range are looked up in a table, others are hashed."""
_tally_places = loop("tally_places", int, np.int32, int, np.int64)
_places_of = loop("places_of", int, np.int64, int, int, np.int32, np.int32, result=int)


@dataclass(frozen=True)
class Encoded:
    """Some records of one column.

    Parameters
    ----------
    index : (n,) int32
        Place of each record's value in ``codes``.
    codes : (k,) int64 or None
        Raw code of each place; None where the places are the codes.
    """

    index: NDArray[np.int32]
    codes: NDArray[np.int64] | None = None

    @property
    def raw_codes(self) -> NDArray[np.integer]:
        """Raw code (n,) of each record."""
        return self.index if self.codes is None else self.codes[self.index]

    def worth(self, by_code: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each place is worth, from what each raw code is worth."""
        return by_code if self.codes is None else by_code[self.codes]

    def counts(self, size: int) -> NDArray[np.int64]:
        """Number of records (size,) of each raw code."""
        found = np.zeros(size if self.codes is None else len(self.codes), np.int64)
        _tally_places(len(self.index), self.index, len(found), found)
        return found if self.codes is None else np.bincount(self.codes, found, size).astype(np.int64)


class RawValues:
    """Distinct values of one column in the order in which they are met; code 0 is the gap.

    Parameters
    ----------
    kind
        The column's type.

    Examples
    --------
    >>> raw = RawValues(pa.int64())
    >>> raw.encode(pa.array([7, None, 5, 7])).index.tolist(), len(raw)
    ([2, 0, 1, 2], 3)
    >>> raw.values()
    <pyarrow.lib.Int64Array object at ...>
    [
      5,
      7
    ]
    """

    def __init__(self, kind: pa.DataType) -> None:
        self.kind = kind
        self._width = None if pt.is_dictionary(kind) else _width_of(kind)
        self._numbers = _Numbers()
        self._texts = Texts() if _is_text(_value_type(kind)) else None
        self._others: pa.Array | None = None
        self._last: tuple[pa.Array, NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        """Number of codes, that of the gap included."""
        if self._texts is not None:
            return 1 + len(self._texts)
        known = self._numbers.found if self._width is not None else self._others
        return 1 + (0 if known is None else len(known))

    def encode(self, array: pa.Array) -> Encoded:
        """Code some records; values that were not met before get the next codes."""
        if self._width is None:
            return self._hashed(array)
        numbers = _bits(array, self._width)
        gaps = flags(array.is_null()) if array.null_count else None
        place = self._numbers.places(numbers, gaps)
        if place is not None:
            return Encoded(place)
        local = from_numpy(numbers if gaps is None else np.where(gaps, numbers[np.argmin(gaps)], numbers))
        local = local.dictionary_encode()
        codes = self._numbers.codes_of(buffer_view(local.dictionary, np.int64))
        return _with_gaps(buffer_view(local.indices, np.int32), codes, gaps)

    def values(self) -> pa.Array:
        """The values of codes 1, 2, ... in the column's type."""
        if self._texts is not None:
            kind, texts = _value_type(self.kind), self._texts.values()
            return (texts if pt.is_large_binary(kind) else texts.cast(pa.binary())).cast(kind)
        if self._width is None:
            return pa.nulls(0, _value_type(self.kind)) if self._others is None else self._others
        stored = np.asarray(self._numbers.found).astype(f"i{self._width}")
        plain = pa.Array.from_buffers(pa.from_numpy_dtype(stored.dtype), len(stored), [None, pa.py_buffer(stored)])
        if pt.is_boolean(self.kind):
            return plain.cast(pa.bool_())
        return pa.Array.from_buffers(self.kind, len(stored), plain.buffers())

    def _hashed(self, array: pa.Array) -> Encoded:
        if not pt.is_dictionary(array.type):
            array = array.dictionary_encode()
        indices, local = array.indices, array.dictionary
        gaps = flags(indices.is_null()) if indices.null_count else None
        index = buffer_view(indices.cast(pa.int32()) if indices.type != pa.int32() else indices, np.int32)
        if self._last is None or not local.equals(self._last[0]):
            self._last = local, self._codes_of(local)
        return _with_gaps(index, self._last[1], gaps)

    def _codes_of(self, local: pa.Array) -> NDArray[np.int64]:
        """Codes of the values of a dictionary, in which a gap may be a value, and a value may occur twice."""
        if self._texts is not None:
            held = local.drop_null() if local.null_count else local
            known = self._texts.codes_of(held.cast(pa.binary())).astype(np.int64) + 1
            return known if held is local else _spread(known, flags(pc.is_valid(local)))
        if self._others is None:
            self._others = pa.nulls(0, local.type)
        new = local.filter(pc.and_(pc.is_valid(local), pc.invert(pc.is_in(local, value_set=self._others)))).unique()
        if len(new):
            self._others = pa.concat_arrays([self._others, new])
        codes = buffer_view(pc.fill_null(pc.index_in(local, value_set=self._others), -1), np.int32)
        return np.where(flags(pc.is_valid(local)), codes + 1, GAP).astype(np.int64)


class _Numbers:
    """Whole numbers and their codes, from 1."""

    def __init__(self) -> None:
        self.found: NDArray[np.int64] = np.zeros(0, np.int64)
        self._first, self._table = 0, np.zeros(0, np.int32)
        self._wide = False
        self._order: NDArray[np.intp] | None = None

    def places(self, numbers: NDArray[np.int64], gaps: NDArray[np.bool_] | None) -> NDArray[np.int32] | None:
        """Codes by a table; None where the numbers are too far apart for one."""
        if self._wide:
            return None
        place = np.empty(len(numbers), np.int32)
        if self._look_up(numbers, place) and not self._extended(numbers, place, gaps):
            return None
        if gaps is not None:
            np.copyto(place, GAP, where=gaps)
        return place

    def _look_up(self, numbers: NDArray[np.int64], place: NDArray[np.int32]) -> int:
        return int(_places_of(len(numbers), numbers, self._first, len(self._table), self._table, place))

    def _extended(
        self, numbers: NDArray[np.int64], place: NDArray[np.int32], gaps: NDArray[np.bool_] | None
    ) -> bool:  # fmt: skip
        """Give numbers without a place the next codes; False where a table would be too long."""
        unknown = place < 0
        if gaps is not None:
            unknown &= ~gaps
        new = numbers if unknown.all() else numbers[unknown]
        if not len(new):
            return True
        low, high = int(new.min()), int(new.max())
        if high - low < _WIDEST:
            # Sorting all of them would take longer than everything else.
            held = np.zeros(high - low + 1, bool)
            held[new - low] = True
            new = np.flatnonzero(held) + low
        if len(self._table):
            low, high = min(low, self._first), max(high, self._first + len(self._table) - 1)
        if high - low >= _WIDEST:
            self._wide = True
            return False
        if (low, high - low + 1) != (self._first, len(self._table)):
            longer = np.full(high - low + 1, -1, np.int32)
            longer[self._first - low : self._first - low + len(self._table)] = self._table
            self._first, self._table = low, longer
        self._table[new - low] = 1 + len(self.found) + np.arange(len(new))
        self.found = np.concatenate([self.found, new])
        self._look_up(numbers, place)
        return True

    def codes_of(self, local: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes of distinct numbers; those that were not met before get the next ones."""
        if self._order is None:
            self._order = np.argsort(self.found)
        ordered = self.found[self._order]
        at = np.minimum(np.searchsorted(ordered, local), max(len(ordered) - 1, 0))
        known = ordered[at] == local if len(ordered) else np.zeros(len(local), bool)
        codes = np.empty(len(local), np.int64)
        codes[known] = 1 + self._order[at[known]]
        if not known.all():
            codes[~known] = 1 + len(self.found) + np.arange(int((~known).sum()))
            self.found = np.concatenate([self.found, local[~known]])
            self._order = np.argsort(self.found, kind="stable")
        return codes


def _with_gaps(index: NDArray[np.int32], codes: NDArray[np.int64], gaps: NDArray[np.bool_] | None) -> Encoded:
    if gaps is None:
        return Encoded(index, codes)
    filled = index.copy()
    np.copyto(filled, len(codes), where=gaps)
    return Encoded(filled, np.append(codes, GAP))


def _spread(codes: NDArray[np.int64], held: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Codes of places that hold a value, and the gap's of the others."""
    every = np.full(len(held), GAP, np.int64)
    every[held] = codes
    return every


def _is_text(kind: pa.DataType) -> bool:
    plain = pt.is_string(kind) or pt.is_large_string(kind) or pt.is_binary(kind) or pt.is_large_binary(kind)
    return bool(plain or pt.is_string_view(kind) or pt.is_binary_view(kind))


def _width_of(kind: pa.DataType) -> int | None:
    """Bytes of a value that is kept as a whole number; None for values that are hashed."""
    if pt.is_boolean(kind):
        return 1
    if pt.is_integer(kind) or pt.is_floating(kind) or (pt.is_temporal(kind) and kind.bit_width <= 64):
        return int(kind.bit_width // 8)
    return None


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pt.is_dictionary(kind) else kind


def _bits(array: pa.Array, width: int) -> NDArray[np.int64]:
    """The stored bits of each record as a whole number; anything where there is a gap."""
    if pt.is_boolean(array.type):
        array = array.cast(pa.uint8())
    if not len(array):
        return np.zeros(0, np.int64)
    stored = np.frombuffer(array.buffers()[1], f"i{width}", len(array) + array.offset)[array.offset :]
    return np.ascontiguousarray(stored, np.int64)
