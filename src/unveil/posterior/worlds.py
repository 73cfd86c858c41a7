"""The worlds that an intruder weighs: what the unknown values of one record may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.posterior.chain import Chain

__all__ = ["Worlds", "make_worlds"]

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Worlds:
    """Combinations of values of the unknown variables.

    Parameters
    ----------
    unknown
        The unknown variables.
    choices
        Per variable, its levels in question, ascending.
    truth : (n,) int64
        World that each original record is in.

    Notes
    -----
    World ``w`` is the mixed-radix number of the places in ``choices``, the last variable running fastest.
    """

    unknown: tuple[str, ...]
    choices: tuple[Codes, ...]
    truth: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of worlds."""
        return math.prod(len(levels) for levels in self.choices)

    def levels(self) -> dict[str, Codes]:
        """Level by world of each unknown variable."""
        grids = np.meshgrid(*self.choices, indexing="ij")
        return {name: grid.reshape(-1) for name, grid in zip(self.unknown, grids, strict=True)}

    def codes(self, chain: Chain) -> dict[int, Codes]:
        """Code by world of every part of the unknown variables, by position."""
        codes: dict[int, Codes] = {}
        for name, levels in self.levels().items():
            codes |= {position: np.ascontiguousarray(c) for position, c in chain.part_codes(name, levels).items()}
        return codes

    def label(self, world: int, chain: Chain) -> object:
        """Value of a world: a plain value for one unknown variable, else a tuple."""
        values = []
        for name, levels in zip(reversed(self.unknown), reversed(self.choices), strict=True):
            world, place = divmod(world, len(levels))
            values.append(chain.level_labels(name)[levels[place]])
        return values[0] if len(values) == 1 else tuple(reversed(values))


def make_worlds(chain: Chain, unknown: Sequence[str], only: Mapping[str, Codes]) -> Worlds:
    """Cross the levels of the unknown variables.

    Parameters
    ----------
    chain
        Codes of the files.
    unknown
        The unknown variables, in the order of visit.
    only
        By variable, the levels in question, those of the original among them; of other variables every level that
        the original or a release has.

    Returns
    -------
    Worlds
        The worlds.

    Raises
    ------
    CallError
        If there are too many to be numbered.
    """
    choices = []
    truth = np.zeros(chain.n, dtype=np.int64)
    for name in unknown:
        n_levels = chain.variables[name].n_levels
        levels = np.arange(n_levels, dtype=np.int32)
        if name in only:
            levels = np.unique(only[name]).astype(np.int32)
        choices.append(levels)
    if math.prod(len(levels) for levels in choices) >= 2**62:
        raise CallError("the unknown variables have too many combinations of values; name candidates or know more")
    for name, levels in zip(unknown, choices, strict=True):
        truth = truth * len(levels) + np.searchsorted(levels, chain.original[name])
    return Worlds(tuple(unknown), tuple(choices), truth)
