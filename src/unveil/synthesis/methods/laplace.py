"""The Laplace mechanism: counts that are differentially private."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError

__all__ = ["check_epsilon", "noisy_counts"]


def check_epsilon(epsilon: float | None) -> float:
    """The privacy budget as a number.

    Returns
    -------
    float
        ``inf`` for None: no noise.

    Raises
    ------
    CallError
        If it is not above 0.
    """
    if epsilon is None:
        return math.inf
    if not epsilon > 0:
        raise CallError(f"epsilon must be above 0, got {epsilon}; None adds no noise")
    return float(epsilon)


def noisy_counts(counts: NDArray[np.float64], scale: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Counts with independent Laplace noise, those below 0 set to 0.

    Parameters
    ----------
    counts : (c,) float64
        Counts.
    scale : float
        Scale of the noise, its mean absolute value; 0 for none.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (c,) float64
        Not negative.
    """
    if scale > 0:
        counts = counts + rng.laplace(scale=scale, size=counts.shape)
    return np.maximum(counts, 0.0)
