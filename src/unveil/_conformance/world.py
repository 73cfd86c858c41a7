"""Worlds: files from which an intruder learns a known amount. Trials: worlds, and what must hold in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from unveil.columns import Pair

Requirement = Literal["maximum", "not rising", "not falling", "first above second", "equal", "not low"]
REQUIREMENTS: dict[str, str] = {
    "maximum": "the measure is at its maximum in every world",
    "not rising": "no later world has a higher value than an earlier one",
    "not falling": "no later world has a lower value than an earlier one",
    "first above second": "the first world has a higher value than the second",
    "equal": "both worlds have the same value",
    "not low": "from the first world, where nothing is learnt, the value rises by at least half of what is learnt "
    "in the second",
}


@dataclass(frozen=True, eq=False)
class World:
    """An original and its releases, how they were made, and what an intruder learns from them.

    The intruder knows all records but one, the synthesizer with its settings, and the keys of that record; all values
    of the target are equally probable beforehand.

    Attributes
    ----------
    label
        Name of the world in its trial.
    original : pyarrow.Table
        The confidential records.
    releases : tuple of pyarrow.Table
        The files made from them.
    synthesizer
        The synthesizer of the releases, not fitted; it has ``fit(frame)`` and ``log_prob(frame)``.
    keys, target
        Variables that the intruder knows of a person, and the variable that the intruder wants to know.
    records : tuple of int
        The persons under attack.
    gain
        Mean over them of ``(posterior - prior) / (1 - prior)`` of the true target: 0 where nothing is learnt, 1 where
        the intruder is certain. Derived from how the world was built, without any measure; NaN if not known.
    holdout : pyarrow.Table or None
        Further persons of the same population who are in no release.
    """

    label: str
    original: Any
    releases: tuple[Any, ...]
    synthesizer: Any
    keys: tuple[str, ...]
    target: str
    records: tuple[int, ...]
    gain: float = float("nan")
    holdout: Any = None

    @cached_property
    def pair(self) -> Pair:
        """Original and releases, as the measures of this package take them."""
        return Pair(self.original, list(self.releases))


@dataclass(frozen=True, eq=False)
class Trial:
    """Worlds in an order, and what a measure must do along them.

    Attributes
    ----------
    name
        Name of the trial.
    desideratum
        "D1" to "D5".
    requirement
        One of ``REQUIREMENTS``.
    make
        Draws the worlds from a generator; as many, and with the same labels, every time.
    about
        What happens in the worlds, in a sentence.
    """

    name: str
    desideratum: str
    requirement: Requirement
    make: Callable[[np.random.Generator], Sequence[World]]
    about: str
