"""Hashes of whole numbers, which look like random numbers and depend on nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


def mixed(values: Hashes) -> Hashes:
    """Return hashes of whole numbers (the finaliser of SplitMix64); different numbers have different hashes.

    References
    ----------
    Steele, Lea & Flood (2014), Fast splittable pseudorandom number generators, OOPSLA 2014.

    Examples
    --------
    >>> hex(int(mixed(np.zeros(1, np.uint64))[0]))
    '0xe220a8397b1dcdaf'
    """
    z = values + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Hashes = z ^ (z >> np.uint64(31))
    return result
