"""Different texts and their codes; many millions of them are found in one table, without sorting."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.core import loop

_SLOTS = 1 << 12
_MEAN_LENGTH = 16
_codes = loop(
    "text_codes", int, int, np.int32, np.uint8, int, np.int32, np.int64, int, np.int64, np.int64, int, np.uint8,
    np.int32, result=int,
)  # fmt: skip
_slots = loop("text_slots", int, np.int64, int, np.int32)


class Texts:
    """Texts in the order in which they are met.

    Examples
    --------
    >>> texts = Texts()
    >>> texts.codes_of(pa.array([b"b", b"a", b"b"])).tolist(), texts.codes_of(pa.array([b"c", b"a"])).tolist()
    ([0, 1, 0], [2, 1])
    >>> texts.values().to_pylist()
    [b'b', b'a', b'c']
    """

    def __init__(self) -> None:
        self._known = np.zeros(1, np.int64)
        self._table = np.full(_SLOTS, -1, np.int32)
        # Half of the slots stay free, so that a search is short.
        self._hash = np.zeros(_SLOTS // 2, np.int64)
        self._ends = np.zeros(_SLOTS // 2 + 1, np.int64)
        self._store = np.zeros(_SLOTS // 2 * _MEAN_LENGTH, np.uint8)

    def __len__(self) -> int:
        """Number of texts."""
        return int(self._known[0])

    def codes_of(self, texts: pa.Array) -> NDArray[np.int32]:
        """Codes (n,) of some texts without gaps, of type binary."""
        n = len(texts)
        codes = np.empty(n, np.int32)
        if not n:
            return codes
        _, offsets, data = texts.buffers()
        offset = np.frombuffer(offsets, np.int32, n + 1 + texts.offset)[texts.offset :]
        text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        done = 0
        while True:
            done = _codes(
                done, n, offset, text, len(self._table), self._table, self._known, len(self._hash), self._hash,
                self._ends, len(self._store), self._store, codes,
            )  # fmt: skip
            if done == n:
                return codes
            self._make_room(int(offset[done + 1] - offset[done]))

    def values(self) -> pa.Array:
        """The texts (k,), of type large_binary."""
        k = len(self)
        ends = self._ends[: k + 1].copy()
        data = self._store[: ends[-1]].copy()
        return pa.Array.from_buffers(pa.large_binary(), k, [None, pa.py_buffer(ends), pa.py_buffer(data)])

    def _make_room(self, length: int) -> None:
        """Twice the room of what is full."""
        known = len(self)
        if known == len(self._hash):
            self._hash = np.concatenate([self._hash, np.zeros_like(self._hash)])
            self._ends = np.concatenate([self._ends, np.zeros(known, np.int64)])
            self._table = np.full(2 * len(self._table), -1, np.int32)
            _slots(known, self._hash, len(self._table), self._table)
        if self._ends[known] + length > len(self._store):
            self._store = np.concatenate([self._store, np.zeros(max(len(self._store), length), np.uint8)])
