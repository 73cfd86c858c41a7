"""The parts that amounts are cut into, where levels and bounds are known to everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_PARTS = 10
"""Number of parts of equal width between two bounds, unless a number is given."""
STEPS = 1000
"""Number of values that a release can have in a part of amounts that are not whole."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts that amounts are cut into. Amounts beyond the ends belong to the first or the last part.

    Parameters
    ----------
    ends : (k + 1,) float64
        Ends of the parts, ascending; an amount at an inner end belongs to the part above it.
    is_whole
        Whether amounts are whole numbers; the last end is then one more than the largest.

    Examples
    --------
    >>> ages = Parts.between(0, 99, 4)
    >>> ages.ends.tolist(), ages.place(np.array([-5.0, 24.9, 25.0, 99.0, 300.0])).tolist()
    ([0.0, 25.0, 50.0, 75.0, 100.0], [0, 0, 1, 3, 3])
    >>> Parts.between(0, 1, 2, is_whole=False).values(np.array([0, 1]), np.array([0, 999])).tolist()
    [0.00025, 0.99975]
    """

    ends: Floats
    is_whole: bool

    @classmethod
    def between(cls, low: float, high: float, n: int = N_PARTS, *, is_whole: bool = True) -> Parts:
        """Return ``n`` parts of equal width between two bounds; of whole numbers no more than there are."""
        if not is_whole:
            return cls(np.linspace(low, high, n + 1), False)
        span = int(high) - int(low) + 1
        n = min(n, span)
        return cls(np.array([int(low) + span * i // n for i in range(n + 1)], dtype=np.float64), True)

    @classmethod
    def of_ends(cls, ends: Sequence[float], *, is_whole: bool = True) -> Parts:
        """Return the parts with the ends of a schema."""
        return cls(np.array([*ends[:-1], ends[-1] + is_whole], dtype=np.float64), is_whole)

    @property
    def n(self) -> int:
        """Number of parts."""
        return self.ends.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(k,) number of values that a release can have in each part."""
        return np.diff(self.ends).astype(np.int64) if self.is_whole else np.full(self.n, STEPS)

    @property
    def has_steps(self) -> bool:
        """Whether the possible values of a release differ within each part, also after rounding."""
        if self.is_whole:
            return True
        return bool(np.diff(self.ends).min() / STEPS >= 100 * np.spacing(np.abs(self.ends).max()))

    @property
    def declared(self) -> list[float]:
        """The ends as in a schema."""
        ends: list[float] = self.ends.tolist()
        return [int(end) for end in [*ends[:-1], ends[-1] - 1]] if self.is_whole else ends

    @cached_property
    def _grid(self) -> Floats:
        """(k, STEPS) possible values of a release, for amounts that are not whole."""
        width = np.diff(self.ends)
        # Ten times as fine as the steps, so that rounding leaves each value in its step.
        decimals = (1 - np.floor(np.log10(width / STEPS))).astype(int).tolist()
        exact = self.ends[:-1, None] + width[:, None] * (np.arange(STEPS) + 0.5) / STEPS
        return np.array([[round(value, d) for value in row] for row, d in zip(exact.tolist(), decimals, strict=True)])

    def place(self, amounts: Floats) -> NDArray[np.int64]:
        """Return the part (n,) of each amount."""
        return np.searchsorted(self.ends[1:-1], amounts, side="right")

    def values(self, part: NDArray[np.integer], step: NDArray[np.integer]) -> Floats:
        """Return the values (n,) of a release at steps within parts."""
        found: Floats = self.ends[part] + step if self.is_whole else self._grid[part, step]
        return found

    def step(self, amounts: Floats, part: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the step (n,) of each amount within its part; -1 if a release cannot have the amount."""
        offset = np.nan_to_num(amounts, nan=np.inf) - self.ends[part]
        scaled = offset if self.is_whole else offset / np.diff(self.ends)[part] * STEPS
        inside = (scaled >= 0) & (scaled < self.sizes[part])
        steps = np.where(inside, scaled, 0).astype(np.int64)
        is_value = inside & np.isclose(self.values(part, steps), amounts, rtol=1e-14, atol=0)
        return np.where(is_value, steps, -1)
