"""Which points no other point betters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pareto(points: Sequence[Sequence[float]]) -> list[bool]:
    """Whether no other point is at least as small everywhere and smaller somewhere; NaN never is.

    Examples
    --------
    >>> pareto([(1.0, 3.0), (2.0, 2.0), (2.0, 4.0)])
    [True, True, False]
    """
    if not points:
        return []
    values = np.asarray(points, dtype=float)
    bettered = [
        bool(((values <= point).all(axis=1) & (values < point).any(axis=1)).any()) or bool(np.isnan(point).any())
        for point in values
    ]
    return [not one for one in bettered]
