"""Key combinations: the keys of every record folded into one integer.

A record's key codes become one number by mixed radix. Where the space of all combinations is large against the
number of records, the numbers are replaced by ranks of the combinations that occur, so that whatever is counted
per combination fits in memory however many keys there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.files.counts import blocks_of, count_codes

Codes = NDArray[np.int64]

_DENSE = 4
"""Spaces of up to this many combinations per record are counted directly."""
_ALWAYS_DENSE = 1 << 16
_LARGEST = 1 << 62
_BITS = 63
"""Bits of a code that is sorted together with the number of its record."""


@dataclass(frozen=True)
class KeyCombinations:
    """The composite key q of every record of an original and its releases.

    Parameters
    ----------
    size
        Number of codes; each is below it.
    original : (n,) integer
        Composite key of each original record, in as few bits as hold it: multiply it in 64 bits.
    releases : tuple of (n_r,) integer
        The same for each release.
    tallies : tuple of (size,) int64
        Number of records by combination, of the original and then of each release.
    """

    size: int
    original: NDArray[np.integer]
    releases: tuple[NDArray[np.integer], ...]
    tallies: tuple[Codes, ...]

    def counts(self) -> tuple[Codes, list[Codes]]:
        """Number of original records d_q, and per release of synthetic records s_q, by combination."""
        return self.tallies[0], list(self.tallies[1:])


@dataclass(frozen=True)
class SharedCombinations:
    """The combinations that at least two records of the original and one release have together.

    Parameters
    ----------
    numbers : (size,) int64
        Their codes, ascending.
    records : pair of (k,) int64
        The original and synthetic records that have one.
    q : pair of (k,) integer
        The place of each record's combination in ``numbers``.
    left_out
        Number of original and of synthetic records that are alone with theirs.
    """

    numbers: Codes
    records: tuple[Codes, Codes]
    q: tuple[NDArray[np.integer], NDArray[np.integer]]
    left_out: tuple[int, int]

    @property
    def size(self) -> int:
        """Number of combinations."""
        return len(self.numbers)

    @classmethod
    def of(cls, every: KeyCombinations, release: int) -> SharedCombinations | None:
        """Find them; None where less than half of the records are alone, so that leaving them out saves little."""
        d, s = every.tallies[0], every.tallies[1 + release]
        both = d + s
        left_out = int(np.count_nonzero(d[both == 1])), int(np.count_nonzero(s[both == 1]))
        codes = every.original, every.releases[release]
        if 2 * sum(left_out) < sum(map(len, codes)):
            return None
        several = both > 1
        numbers = np.flatnonzero(several)
        ranks = np.zeros(every.size, dtype=_smallest(len(numbers)))
        ranks[numbers] = np.arange(len(numbers))
        one, other = (np.flatnonzero(several[file]) for file in codes)
        return cls(numbers, (one, other), (ranks[codes[0][one]], ranks[codes[1][other]]), left_out)


def fold_keys(columns: Sequence[CodedColumn]) -> KeyCombinations:
    """Fold the key columns into one composite key per record.

    Combinations are numbered as they ascend by the codes of the columns, the first of which counts most.

    Parameters
    ----------
    columns
        The key columns; their order changes the codes, never what is equal.
    """
    n_levels = [column.n_levels for column in columns]
    files = list(zip(*((column.original, *column.releases) for column in columns), strict=True))
    n = sum(len(codes[0]) for codes in files)
    size = math.prod(n_levels)
    if size <= max(n, _ALWAYS_DENSE):
        return _counted(files, n_levels, size)
    if size.bit_length() + max(n - 1, 1).bit_length() <= _BITS:
        return _sorted(files, n_levels, n)
    size, folded = fold((np.concatenate(codes) for codes in zip(*files, strict=True)), n_levels)
    parts = np.split(folded, np.cumsum([len(codes[0]) for codes in files])[:-1])
    return KeyCombinations(size, parts[0], tuple(parts[1:]), tuple(count_codes(codes, size) for codes in parts))


def _counted(files: Sequence[Sequence[Codes]], n_levels: Sequence[int], size: int) -> KeyCombinations:
    """Number the combinations that occur by counting all that could."""
    folded, tallies = [], []
    for codes in files:
        one = np.empty(len(codes[0]), dtype=_smallest(size))
        for block in blocks_of(len(one)):
            one[block] = _folded(codes, n_levels, block)
        folded.append(one)
        tallies.append(count_codes(one, size))
    held = np.flatnonzero(np.any([tally > 0 for tally in tallies], axis=0))
    if len(held) < size:
        ranks = np.zeros(size, dtype=_smallest(len(held)))
        ranks[held] = np.arange(len(held))
        folded = [ranks[one] for one in folded]
    return KeyCombinations(len(held), folded[0], tuple(folded[1:]), tuple(tally[held] for tally in tallies))


def _sorted(files: Sequence[Sequence[Codes]], n_levels: Sequence[int], n: int) -> KeyCombinations:
    """Number the combinations that occur by sorting the records.

    The record number rides in the low bits: one plain sort gives both order and position, which is several times faster
    than sorting indices.
    """
    bits = max(n - 1, 1).bit_length()
    packed = np.empty(n, dtype=np.int64)
    ends = np.cumsum([0, *(len(codes[0]) for codes in files)])
    for codes, first in zip(files, ends, strict=False):
        for block in blocks_of(len(codes[0])):
            part = packed[first + block.start : first + block.stop]
            np.left_shift(_folded(codes, n_levels, block), bits, out=part)
            part |= np.arange(first + block.start, first + block.stop)
    packed.sort()
    size = sum(int(np.count_nonzero(new)) for _, new in _runs(packed, bits))
    ranks = np.empty(n, dtype=_smallest(size))
    tallies = [np.zeros(size, dtype=np.int64) for _ in files]
    last = -1
    for block, new in _runs(packed, bits):
        rank = np.cumsum(new, dtype=np.int64)
        rank += last
        position = packed[block] & ((1 << bits) - 1)
        ranks[position] = rank
        first, last = max(last, 0), int(rank[-1])
        rank -= first
        of_all = np.bincount(rank)
        for release, tally in enumerate(tallies[1:], start=1):
            inside = (position >= ends[release]) & (position < ends[release + 1])
            of_release = np.bincount(rank[inside], minlength=len(of_all))
            tally[first : last + 1] += of_release
            of_all -= of_release
        tallies[0][first : last + 1] += of_all
    parts = np.split(ranks, ends[1:-1])
    return KeyCombinations(size, parts[0], tuple(parts[1:]), tuple(tallies))


def _runs(packed: Codes, bits: int) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Blocks of ascending codes, and where in each a new combination begins."""
    before = -1
    for block in blocks_of(len(packed)):
        code = packed[block] >> bits
        new = np.empty(len(code), dtype=bool)
        new[0] = code[0] != before
        np.not_equal(code[1:], code[:-1], out=new[1:])
        before = int(code[-1])
        yield block, new


def _folded(codes: Sequence[Codes], n_levels: Sequence[int], block: slice) -> Codes:
    """Fold the codes of some records of one file by mixed radix."""
    found = codes[0][block].astype(np.int64)
    for variable, levels in zip(codes[1:], n_levels[1:], strict=True):
        found *= levels
        found += variable[block]
    return found


def _smallest(size: int) -> type[np.integer]:
    """The type of fewest bits for codes below a size."""
    kinds: tuple[type[np.integer], ...] = (np.uint8, np.uint16, np.int32)
    return next((kind for kind in kinds if size - 1 <= np.iinfo(kind).max), np.int64)


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
