"""The worlds that an intruder weighs: what the unknown values of one record may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PossibleValues:
    """Combinations of values of the unknown variables.

    Parameters
    ----------
    unknown
        The unknown variables.
    choices
        Per variable, its levels in question.
    truth : (n,) int64
        World that each original record is in; -1 where a value of the record is not in question.

    Notes
    -----
    World ``w`` is the mixed-radix number of the places in ``choices``, the last variable running fastest.
    """

    unknown: tuple[str, ...]
    choices: tuple[Codes, ...]
    truth: NDArray[np.int64]

    def places(self, name: str, n_levels: int) -> NDArray[np.int64]:
        """(n_levels,) place of every level of a variable in its ``choices``; -1 for those not in question."""
        choices = self.choices[self.unknown.index(name)]
        place = np.full(n_levels, -1, dtype=np.int64)
        place[choices] = np.arange(choices.size)
        return place

    @property
    def size(self) -> int:
        """Number of worlds."""
        return math.prod(len(levels) for levels in self.choices)

    def levels(self) -> dict[str, Codes]:
        """Level by world of each unknown variable."""
        grids = np.meshgrid(*self.choices, indexing="ij")
        return {name: grid.reshape(-1) for name, grid in zip(self.unknown, grids, strict=True)}

    def codes(self, sequence: TreeSequence) -> dict[int, Codes]:
        """Code by world of every part of the unknown variables, by position."""
        codes: dict[int, Codes] = {}
        for name, levels in self.levels().items():
            codes |= {position: np.ascontiguousarray(c) for position, c in sequence.part_codes(name, levels).items()}
        return codes

    def label(self, world: int, sequence: TreeSequence) -> object:
        """Value of a world: a plain value for one unknown variable, else a tuple."""
        values = []
        for name, levels in zip(reversed(self.unknown), reversed(self.choices), strict=True):
            world, place = divmod(world, len(levels))
            values.append(sequence.level_labels(name)[levels[place]])
        return values[0] if len(values) == 1 else tuple(reversed(values))


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

    Returns
    -------
    Worlds
        The worlds.

    Raises
    ------
    CallError
        If there are too many to be numbered.
    """
    n_levels = {name: sequence.variables[name].n_levels for name in unknown}
    choices = tuple(only.get(name, np.arange(n_levels[name], dtype=np.int32)) for name in unknown)
    if math.prod(len(levels) for levels in choices) >= 2**62:
        raise CallError("the unknown variables have too many combinations of values; name candidates or know more")
    worlds = PossibleValues(tuple(unknown), choices, np.zeros(sequence.n, dtype=np.int64))
    truth = np.zeros(sequence.n, dtype=np.int64)
    asked = np.ones(sequence.n, dtype=np.bool_)
    for name, levels in zip(unknown, choices, strict=True):
        place = worlds.places(name, n_levels[name])[sequence.original[name]]
        truth = truth * len(levels) + place
        asked &= place >= 0
    return replace(worlds, truth=np.where(asked, truth, -1))
