"""A variable that follows from an earlier one, level by level: sequential CART carries it over and fits no tree.

In a world in which one record breaks the recoding, the synthesizer would fit the tree after all. Whether a world breaks
it is known without a fit: the recoding holds if other records have the record's pair of levels, or if no other record
has either of the two levels. The tree is then walked like any other, and nothing is fitted anew.

Where trees are held as they were fitted, a recoding counts as a tree with a leaf for every level of its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.exact import ExactTree, exact_likelihood, fit_exact
from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.tree_sequence import Recoding, TreeSequence, check_released
from unveil.errors import DataError
from unveil.printable import how_many

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def recodings_concerned(sequence: TreeSequence, unknown: Sequence[str]) -> list[Recoding]:
    """The recodings that some world can break."""
    hidden = set(unknown)
    return [one for one in sequence.recodings if one.variable in hidden or hidden.issuperset(one.sources)]


class Recoded:
    """Likelihood of the released values of one recoding.

    Parameters
    ----------
    sequence
        Codes of the files.
    recoding
        The variable, and those that it follows from.
    releases
        The releases that are pooled.
    exact
        Whether the tree is walked; otherwise the recoding is held.

    Raises
    ------
    DataError
        If a release does not follow the recoding.
    """

    def __init__(self, sequence: TreeSequence, recoding: Recoding, releases: Sequence[int], *, exact: bool):
        owner = {p: name for name, own in sequence.positions.items() for p in own}
        check_released(
            sequence, recoding.variable, (owner[p] for definition in recoding.trees for p in definition.predictors)
        )
        self.sequence, self.recoding = sequence, recoding
        self.own = sequence.original[recoding.variable]
        self.count = np.bincount(self.own, minlength=sequence.variables[recoding.variable].n_levels)
        self.pairs = [_Pairs.of(sequence, recoding.variable, source) for source in recoding.sources]
        self.released = self._released(releases)
        # Every released value follows from the source's, and sources have one level per level of the variable.
        self.drawn = np.zeros(self.count.size, dtype=np.int64)
        np.add.at(self.drawn, self.pairs[0].follows[self.released > 0], self.released[self.released > 0])
        self.trees: list[ExactTree] = []
        if exact:
            self.trees = [
                fit_exact(sequence, definition, releases, definition.released) for definition in recoding.trees
            ]

    def _released(self, releases: Sequence[int]) -> Ints:
        """Released records by level of the first source; all have to follow the recoding."""
        first = self.pairs[0]
        count = np.zeros(first.count.size, dtype=np.int64)
        for r in releases:
            a, b = (self.sequence.released[name][r] for name in (first.source, self.recoding.variable))
            wrong = int((first.follows[a] != b).sum())
            if wrong:
                raise DataError(
                    f"the assumed synthesizer did not make the release: column {self.recoding.variable!r} follows from "
                    f"{first.source!r} in the original, but not in {how_many(wrong, 'released record')}; give the "
                    "settings and the original that the releases were made with"
                )
            count += np.bincount(a, minlength=count.size)
        return count

    def holds(self, members: Ints, levels: Mapping[str, Codes]) -> Flags:
        """(r, c) whether the recoding holds by record and world.

        Parameters
        ----------
        members : (r,) int64
            The records.
        levels : mapping of str to (c,) int32
            Level by world of the unknown variables.
        """
        own = self.own[members][:, None]
        b = levels.get(self.recoding.variable, own)
        alone_b = self.count[b] == (own == b)
        found: Flags = np.zeros((members.size, next(iter(levels.values())).size), dtype=np.bool_)
        for one in self.pairs:
            mine = self.sequence.original[one.source][members][:, None]
            a = levels.get(one.source, mine)
            alone_a = one.count[a] == (mine == a)
            found |= np.where(alone_a, alone_b, one.follows[a] == b)
        return found

    def likelihood(self, members: Ints, levels: Mapping[str, Codes], wanted: Flags) -> tuple[Ints, Floats]:
        """Impossible values and log-likelihood by record and world.

        Parameters
        ----------
        members : (r,) int64
            The records.
        levels : mapping of str to (c,) int32
            Level by world of the unknown variables.
        wanted : (r, c) bool
            What is to be computed; the rest is 0.
        """
        if not self.trees:
            return self._held(members, levels)
        holds = self.holds(members, levels)
        broken = wanted & ~holds
        log = np.zeros(wanted.shape)
        # A value that only this record has cannot be drawn once the record has another one.
        own = self.own[members][:, None]
        gone = (levels.get(self.recoding.variable, own) != own) & (self.count[own] == 1)
        impossible = np.where(wanted & holds & gone, self.drawn[own], 0)
        for tree in self.trees:
            more = exact_likelihood(tree, members, MovedRecord.of(self.sequence, tree.definition, levels), broken)
            impossible += np.where(broken, more[0], 0)
            log += np.where(broken, more[1], 0.0)
        return impossible, log

    def _held(self, members: Ints, levels: Mapping[str, Codes]) -> tuple[Ints, Floats]:
        one = self.pairs[0]
        own = self.own[members][:, None]
        mine = self.sequence.original[one.source][members][:, None]
        b, a = levels.get(self.recoding.variable, own), levels.get(one.source, mine)
        a, b = np.broadcast_arrays(a, b)
        shape = (members.size, next(iter(levels.values())).size)
        impossible, log = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        stays = a == mine
        for level, others, fits, counts in (
            (mine, one.count[mine] - 1, stays & (b == own), stays),
            (a, one.count[a], b == one.follows[a], True),
        ):
            # The leaf that the record is in beforehand, then the one that it moves to, where that is another.
            touched = np.broadcast_to(True if level is mine else ~stays, shape)
            right, donors, drawn = others + fits, others + np.asarray(counts), self.released[level]
            impossible += np.where(touched & (right == 0), drawn, 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.log(right) - np.log(donors)
            log += np.where(touched & (right > 0), drawn * share, 0.0)
        return impossible, log

    def must_fill(self, members: Ints) -> Flags:
        """(r,) whether a released value can have come from the record alone."""
        mine = self.sequence.original[self.pairs[0].source][members]
        alone: Flags = (self.pairs[0].count[mine] == 1) & (self.released[mine] > 0)
        return alone


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Levels of a source: how often the original has them, and what follows from them; -1 where it has none."""

    source: str
    count: Ints
    follows: Codes

    @classmethod
    def of(cls, sequence: TreeSequence, variable: str, source: str) -> _Pairs:
        codes, n_levels = sequence.original[source], sequence.variables[source].n_levels
        follows = np.full(n_levels, -1, dtype=np.int32)
        follows[codes] = sequence.original[variable]
        return cls(source, np.bincount(codes, minlength=n_levels).astype(np.int64), follows)
