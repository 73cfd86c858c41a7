"""How much of the dependence between response and predictors survives the collapse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Dependence:
    """Mutual information between leaf and response, before and after the collapse.

    Parameters
    ----------
    leaves_full, leaves : int
        Number of leaves before and after.
    bits_full, bits : float
        Mutual information in bits per record, before and after (plug-in estimates: they rise with the number
        of leaves also without any dependence).
    """

    leaves_full: int
    leaves: int
    bits_full: float
    bits: float

    @property
    def leaves_removed(self) -> int:
        """Leaves removed by the collapse."""
        return self.leaves_full - self.leaves

    @property
    def bits_lost(self) -> float:
        """Mutual information lost by the collapse, in bits per record."""
        return self.bits_full - self.bits


def mutual_information(leaf: NDArray[np.int64], response: NDArray[np.int32], n_levels: int) -> float:
    """Mutual information of leaf and response in bits, ``sum p(l, y) log2(p(l, y) / (p(l) p(y)))``.

    Parameters
    ----------
    leaf : (m,) int64
        Leaf of each record, from 0.
    response : (m,) int32
        Code of the response.
    n_levels : int
        Number of codes.

    Returns
    -------
    float
        Plug-in estimate.

    Examples
    --------
    >>> mutual_information(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    1.0
    """
    m = leaf.size
    pairs = leaf * n_levels + response
    room = (int(leaf.max()) + 1) * n_levels
    counts = np.bincount(pairs, minlength=room) if room <= 64 * m else np.unique(pairs, return_counts=True)[1]
    return _entropy(np.bincount(leaf), m) + _entropy(np.bincount(response, minlength=n_levels), m) - _entropy(counts, m)


def _entropy(counts: NDArray[np.int64], m: int) -> float:
    """Entropy of a distribution of ``m`` records in bits."""
    share = counts[counts > 0] / m
    return float(-(share * np.log2(share)).sum())
