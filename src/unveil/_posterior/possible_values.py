"""What the unknown values of one record may be: one world per combination."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PossibleValues:
    """Combinations of values of the unknown variables.

    Parameters
    ----------
    unknown
        The unknown variables.
    choices
        Levels in question by variable.
    truth : (n,) int64
        World of each original record; -1 where a value of the record is not in question.

    Notes
    -----
    World ``w`` is the mixed-radix number of the places in ``choices``, the last variable running fastest.
    """

    unknown: tuple[str, ...]
    choices: tuple[Codes, ...]
    truth: Ints

    as_it_is: ClassVar[int | None] = None
    """The world in which every record keeps its values; there is none, because records have different values."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels in question by variable."""
        return tuple(len(levels) for levels in self.choices)

    @property
    def size(self) -> int:
        """Number of worlds."""
        return math.prod(self.sizes)

    def levels(self, worlds: Ints | None = None) -> dict[str, Codes]:
        """Levels by world of each unknown variable."""
        places = places_of(np.arange(self.size) if worlds is None else worlds, self.sizes)
        return {name: choices[place] for name, choices, place in zip(self.unknown, self.choices, places, strict=True)}

    def levels_between(self, start: int, stop: int, first: int | None = None) -> dict[str, Codes]:
        """The same for worlds ``start`` to ``stop``; of the first variables if worlds are numbered by these alone."""
        sizes, found = self.sizes[:first], {}
        for i, (name, choices) in enumerate(zip(self.unknown, self.choices[:first], strict=False)):
            begun, repeats = beginnings(start, stop, math.prod(sizes[i + 1 :]))
            cycle = np.roll(choices, -(begun.start % sizes[i]))
            levels = np.tile(cycle, -(-len(begun) // sizes[i]))[: len(begun)]
            found[name] = levels if repeats is None else np.repeat(levels, repeats)
        return found

    def n_endings(self, last: int) -> int:
        """Number of successive worlds with the same levels of the unknown variables up to one."""
        return math.prod(self.sizes[last + 1 :])

    def label(self, world: int, sequence: TreeSequence) -> object:
        """Value of a world: a plain value for one unknown variable, else a tuple."""
        levels = self.levels(np.array([world]))
        values = tuple(sequence.level_labels(name)[level[0]] for name, level in levels.items())
        return values[0] if len(values) == 1 else values


def beginnings(start: int, stop: int, rest: int) -> tuple[range, Ints | None]:
    """Quotients of the worlds ``start`` to ``stop`` by a number, and how many of these have each; None: one."""
    begun = range(start // rest, (stop - 1) // rest + 1)
    if rest == 1:
        return begun, None
    repeats = np.full(len(begun), rest)
    repeats[0] -= start - begun.start * rest
    repeats[-1] -= begun.stop * rest - stop
    return begun, repeats


def place_of_level(choices: Codes, n_levels: int) -> Ints:
    """(n_levels,) place of every level of a variable among its choices; -1 for the others."""
    place = np.full(n_levels, -1, dtype=np.int64)
    place[choices] = np.arange(choices.size)
    return place


def number_of(places: Iterable[NDArray[np.integer[Any]]], sizes: Iterable[int]) -> Ints:
    """Mixed-radix number of some places, the last place running fastest; -1 where a place is -1."""
    number = np.zeros(1, dtype=np.int64)
    inside = np.ones(1, dtype=np.bool_)
    for place, size in zip(places, sizes, strict=True):
        number = number * size + place
        inside = inside & (place >= 0)
    return np.where(inside, number, -1)


def places_of(number: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Places of a mixed-radix number, the last place running fastest."""
    places = []
    for size in reversed(sizes):
        number, place = np.divmod(number, size)
        places.append(place)
    return places[::-1]


def make_worlds(sequence: TreeSequence, unknown: Sequence[str], only: Mapping[str, Codes]) -> PossibleValues:
    """Cross the levels of the unknown variables.

    Parameters
    ----------
    sequence
        Codes of the files.
    unknown
        The unknown variables, in the order of visit.
    only
        By variable, the levels in question, each once; of other variables every level that a file has.

    Raises
    ------
    CallError
        If there are too many combinations.
    """
    n_levels = {name: sequence.variables[name].n_levels for name in unknown}
    choices = tuple(only.get(name, np.arange(n_levels[name], dtype=np.int32)) for name in unknown)
    sizes = [len(levels) for levels in choices]
    if math.prod(sizes) >= 2**62:
        raise CallError("the unknown variables have too many combinations of values; name candidates or know more")
    places = [
        place_of_level(levels, n_levels[name])[sequence.original[name]]
        for name, levels in zip(unknown, choices, strict=True)
    ]
    return PossibleValues(tuple(unknown), choices, number_of(places, sizes))
