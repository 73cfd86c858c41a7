"""Key combinations: the keys of every record folded into one integer.

A record's key codes become one number by mixed radix. Where the space of all combinations is large against the
number of records, the numbers are replaced by ranks of the combinations that occur, so that whatever is counted
per combination fits in memory however many keys there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn

Codes = NDArray[np.int64]

_DENSE = 4
"""Spaces of up to this many combinations per record are counted directly."""
_ALWAYS_DENSE = 1 << 16
_LARGEST = 1 << 62


@dataclass(frozen=True)
class KeyCombinations:
    """The composite key q of every record of an original and its releases.

    Parameters
    ----------
    size
        Number of codes; each is below it.
    original : (n,) int64
        Composite key of each original record.
    releases : tuple of (n_r,) int64
        The same for each release.
    """

    size: int
    original: Codes
    releases: tuple[Codes, ...]

    def counts(self) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
        """Number of original records d_q, and per release of synthetic records s_q, by combination."""
        count = [np.bincount(codes, minlength=self.size) for codes in (self.original, *self.releases)]
        return count[0], count[1:]


def fold_keys(columns: Sequence[CodedColumn]) -> KeyCombinations:
    """Fold the key columns into one composite key per record.

    Parameters
    ----------
    columns
        The key columns; their order changes the codes, never what is equal.
    """
    files = [(column.original, *column.releases) for column in columns]
    size, folded = fold((np.concatenate(codes) for codes in files), [column.n_levels for column in columns])
    parts = np.split(folded, np.cumsum([len(codes) for codes in files[0]])[:-1])
    return KeyCombinations(size, parts[0], tuple(parts[1:]))


def fold(codes: Iterable[NDArray[np.integer]], n_levels: Sequence[int]) -> tuple[int, Codes]:
    """Fold several codes per record into one, by mixed radix.

    Parameters
    ----------
    codes
        Per variable its codes (n,), each below the variable's number of levels.
    n_levels
        Per variable the number of levels.

    Returns
    -------
    size : int
        Every folded code is below it; at most a few times ``n``, or small.
    folded : (n,) int64
        Equal exactly where all codes are.
    """
    size, folded = 1, np.zeros(0, dtype=np.int64)
    for i, (variable, levels) in enumerate(zip(codes, n_levels, strict=True)):
        if i == 0:
            folded = variable.astype(np.int64)
        else:
            if size * levels >= _LARGEST:
                size, folded = _ranked(folded, size)
            folded *= levels
            folded += variable
        size *= levels
    if size > max(_DENSE * len(folded), _ALWAYS_DENSE):
        size, folded = _ranked(folded, size)
    return size, folded


def _ranked(folded: Codes, size: int) -> tuple[int, Codes]:
    """Number the combinations that occur, in ascending order of their codes."""
    n = len(folded)
    bits = max(n - 1, 1).bit_length()
    if size.bit_length() + bits > 63:
        values, ranks = np.unique(folded, return_inverse=True)
        return len(values), ranks.astype(np.int64)
    # The record number rides in the low bits: one plain sort gives both order and position, which is several times
    # faster than sorting indices.
    packed = folded << bits
    packed |= np.arange(n)
    packed.sort()
    position = packed & ((1 << bits) - 1)
    packed >>= bits
    new = np.empty(n, dtype=bool)
    new[:1] = True
    np.not_equal(packed[1:], packed[:-1], out=new[1:])
    rank = np.cumsum(new)
    rank -= 1
    ranks = packed
    ranks[position] = rank
    return (int(rank[-1]) + 1 if n else 0), ranks
