"""Settings of a release, and those among which the most useful is sought."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from unveil.checks import check_whole_numbers
from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.synthesis import CartSynthesizer

OF_TREES = ("minbucket", "cp", "collapse", "mix", "smoothing")
"""Settings of the synthesizer; the others are those of the release."""


@dataclass(frozen=True)
class Setting:
    """How releases are made.

    Parameters
    ----------
    minbucket, cp, collapse, mix, smoothing
        As of :class:`unveil.CartSynthesizer`.
    k
        Number of records of a release; None for as many as the original has.
    m
        Number of releases.
    merge
        Levels of the targets that fewer records have are merged before synthesis; 0 for none.

    Examples
    --------
    >>> Setting(minbucket=20, m=1).in_words(["minbucket", "m"])
    'minbucket 20, m 1'
    """

    minbucket: int = 5
    cp: float = 1e-8
    collapse: bool = True
    mix: float = 0.0
    smoothing: str | None = None
    k: int | None = None
    m: int = 5
    merge: int = 0

    def __post_init__(self) -> None:
        check_whole_numbers(1, m=self.m)
        check_whole_numbers(0, merge=self.merge)
        if self.k is not None:
            check_whole_numbers(1, k=self.k)
        self.synthesizer()

    def synthesizer(self, **shared: Any) -> CartSynthesizer:
        """The synthesizer, not yet fitted."""
        return CartSynthesizer(**{name: getattr(self, name) for name in OF_TREES}, **shared)

    def in_words(self, names: Sequence[str]) -> str:
        """Some of the settings with their values."""
        return ", ".join(f"{name} {_word(getattr(self, name))}" for name in names)

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


NAMES = tuple(field.name for field in fields(Setting))
DEFAULT: Mapping[str, Sequence[Any]] = {
    "minbucket": (5, 10, 20, 50, 100),
    "mix": (0.0, 0.02, 0.05, 0.1, 0.2),
    "collapse": (True, False),
    "cp": (1e-8, 1e-3),
    "m": (1, 5),
    "merge": (0, 100),
}
"""Values that are tried where the user names none."""


def checked_space(given: Mapping[str, Sequence[Any]] | None) -> dict[str, tuple[Any, ...]]:
    """The values to try by setting, each of them checked.

    Raises
    ------
    CallError
        If a setting is unknown, has no list of values, or a value is out of its range.
    """
    if given is not None and not isinstance(given, Mapping):
        raise CallError(f"grid: settings are given by name, each with the values to try, not as {given!r}")
    space = {}
    for name, values in (DEFAULT if given is None else given).items():
        if name not in NAMES:
            raise CallError(f"grid: there is no setting {name!r}{near_matches(str(name), NAMES)}")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise CallError(f"grid: {name} takes a list of the values to try, not {values!r}")
        for value in values:
            Setting(**{name: value})
        space[name] = tuple(dict.fromkeys(values))
    if not space:
        raise CallError("grid: no setting is named; name at least one with the values to try")
    return space


def n_possible(space: Mapping[str, Sequence[Any]]) -> int:
    """Number of combinations of the values."""
    return math.prod(len(values) for values in space.values())


def drawn_settings(space: Mapping[str, Sequence[Any]], most: int, seed: int) -> list[Setting]:
    """All combinations of the values; where they are too many, the first values and others at random.

    Examples
    --------
    >>> [one.minbucket for one in drawn_settings({"minbucket": [5, 20, 50]}, 2, seed=1)]
    [5, 50]
    """
    sizes = [len(values) for values in space.values()]
    total = math.prod(sizes)
    chosen = np.arange(total)
    if total > most:
        rest = np.random.default_rng([seed, 11]).choice(total - 1, size=most - 1, replace=False) + 1
        chosen = np.append(0, np.sort(rest))
    places = np.stack(np.unravel_index(chosen, sizes), axis=1).tolist()
    return [
        Setting(**{name: values[at] for (name, values), at in zip(space.items(), row, strict=True)}) for row in places
    ]
