"""Which records were computed, and names of pooled releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.plain import Plain


@dataclass(frozen=True)
class Selection(Plain):
    """Which records were looked at.

    Attributes
    ----------
    chosen
        "all", "given", "screened" (by flags) or "sampled" (at random).
    by
        What screened them, or how they were drawn; empty otherwise.
    n_asked
        Number of records that were to be looked at.
    n_done
        Number of records that were, by structure: the least over the releases.
    time_limit
        Seconds that were given, or None. Under a limit records are taken in a random order that depends on the seed
        alone.
    """

    chosen: str
    by: str
    n_asked: int
    n_done: Mapping[str, int]
    time_limit: float | None

    @property
    def stopped(self) -> bool:
        """Whether time ran out."""
        return any(n < self.n_asked for n in self.n_done.values())

    def to_dict(self) -> dict[str, Any]:
        """The same by name."""
        return super().to_dict() | {"stopped": self.stopped}


def pooled_label(labels: Sequence[str]) -> str:
    """Name of releases that are pooled."""
    return labels[0] if len(labels) == 1 else f"{len(labels)} releases pooled"
