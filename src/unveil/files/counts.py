"""Count records by code, in blocks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Number of records that are worked on at a time: their codes, as whole numbers of 64 bits, fit in the cache."""


def blocks_of(n: int, block: int = BLOCK) -> Iterator[slice]:
    """Cut n records into blocks.

    Examples
    --------
    >>> [(one.start, one.stop) for one in blocks_of(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    return (slice(start, min(start + block, n)) for start in range(0, n, block))


def count_codes(codes: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Number of records of each code below ``size``.

    The same as ``numpy.bincount``, which copies all codes to 64 bits beforehand.

    Examples
    --------
    >>> count_codes(np.array([2, 0, 2], dtype=np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    # Blocks are some times larger than the counts, which are added once for each.
    found = np.zeros(size, dtype=np.int64)
    for block in blocks_of(len(codes), max(BLOCK, 4 * size)):
        found += np.bincount(codes[block], minlength=size)
    return found


def held_codes(codes: NDArray[np.integer], size: int) -> NDArray[np.bool_]:
    """Whether some record has each code below ``size``.

    Examples
    --------
    >>> held_codes(np.array([2, 0, 2]), 4).tolist()
    [True, False, True, False]
    """
    if size <= BLOCK:
        return count_codes(codes, size) > 0
    # Flags of many codes fit in the cache where their counts do not.
    found = np.zeros(size, dtype=bool)
    found[codes] = True
    return found
