"""Likelihood of a release by record and world: impossible values and log-likelihoods, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import CandidateRecords
from unveil._posterior.exact import ExactTree, exact_likelihood, fit_exact
from unveil._posterior.fixed import FixedTree, fit_fixed, fixed_changes
from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.possible_values import PossibleValues, beginnings
from unveil._posterior.recoded import Recoded
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil.threads import in_threads, n_threads

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

WORTH_A_THREAD = 2000
"""Original records from which trees are fitted in threads."""
HOPELESS = 200.0
"""Difference of log-likelihoods that later trees are not expected to make good."""


@dataclass(frozen=True, eq=False)
class LikelihoodTerm:
    """Likelihood of one part of a synthesizer.

    Parameters
    ----------
    name
        Name of the part.
    impossible : (r, c) int64
        Released values that it cannot produce, by record and world.
    log : (r, c) float64
        Log-likelihood of the others, up to a constant per record.
    """

    name: str
    impossible: Ints
    log: Floats


class WorldLikelihood(Protocol):
    """Likelihood of a release by record and world."""

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float) -> Sequence[LikelihoodTerm]:
        """Likelihood of each part for worlds ``start`` to ``stop`` of some records.

        Parameters
        ----------
        members : (r,) int64
            The records.
        start, stop : int
            The worlds.
        log_wrong : float
            Logarithm of the factor for an impossible value. Worlds that earlier parts have ruled out need not be
            computed to the end.

        Returns
        -------
        sequence of LikelihoodTerm
            The parts in the order of visit.
        """
        ...

    def must_fill(self, members: Ints) -> Flags:
        """(r,) whether some released value can have come from the record alone; False if that is not known."""
        return np.zeros(members.size, dtype=np.bool_)


def trees_concerned(sequence: TreeSequence, unknown: Sequence[str]) -> list[SequenceTree]:
    """The trees whose fit depends on the unknown variables."""
    positions = {p for name in unknown for p in sequence.positions[name]}
    return [
        definition
        for definition in sequence.trees
        if definition.position in positions or positions & set(definition.predictors)
    ]


def fit_fixed_trees(sequence: TreeSequence, trees: Sequence[SequenceTree], releases: Sequence[int]) -> list[FixedTree]:
    """Fit trees, and count donors and released records."""
    threads = n_threads(None) if sequence.n >= WORTH_A_THREAD else 1
    # The last trees have the most predictors: they are begun first, so that no thread is left alone with one of them.
    found = in_threads(lambda definition: fit_fixed(sequence, definition, releases), list(trees)[::-1], threads)
    return found[::-1]


class CartLikelihood(WorldLikelihood):
    """Likelihood of a CART sequence.

    Parameters
    ----------
    sequence
        Codes of the files.
    worlds
        The worlds.
    trees
        The trees concerned, fitted to all records.
    releases
        The releases that are pooled.
    exact
        Whether trees are fitted again for every world, or held.
    recoded
        Variables that follow from others as long as no world breaks that.
    """

    def __init__(
        self,
        sequence: TreeSequence,
        worlds: PossibleValues | CandidateRecords,
        trees: Sequence[FixedTree],
        releases: Sequence[int],
        *,
        exact: bool,
        recoded: Sequence[Recoded] = (),
    ):
        self.sequence, self.worlds, self.trees, self.recoded = sequence, worlds, trees, recoded
        self.exact: list[ExactTree] | None = None
        if exact:
            self.exact = [fit_exact(sequence, tree.definition, releases, tree.possible) for tree in trees]

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`WorldLikelihood`."""
        found: list[LikelihoodTerm] = []
        alive = np.ones((members.size, stop - start), dtype=np.bool_)
        score = np.zeros(alive.shape)
        kept = self._place_of_world_as_it_is(start, stop)
        for i, tree in enumerate(self.trees):
            last = self._last(tree.definition)
            begun, repeats = beginnings(start, stop, self.worlds.n_endings(last))
            levels = self.worlds.levels_between(begun.start, begun.stop, last + 1)
            moved = MovedRecord.of(self.sequence, tree.definition, levels)
            if self.exact is None:
                impossible, log = fixed_changes(tree, self.sequence, members, moved)
            else:
                wanted = alive if repeats is None else _any_of(alive, repeats)
                impossible, log = exact_likelihood(self.exact[i], members, moved, _without(wanted, kept))
            if repeats is not None:
                impossible, log = np.repeat(impossible, repeats, axis=1), np.repeat(log, repeats, axis=1)
            if kept is not None:
                as_fitted = (0, 0.0) if self.exact is None else self.exact[i].as_fitted
                impossible[:, kept], log[:, kept] = as_fitted
            if np.isneginf(log_wrong):
                alive &= impossible == 0
            else:
                score += log + impossible * log_wrong
                alive &= score > np.where(alive, score, -np.inf).max(axis=1, keepdims=True) - HOPELESS
            found.append(LikelihoodTerm(tree.definition.name, impossible, log))
        for one in self.recoded:
            levels = self.worlds.levels_between(start, stop)
            impossible, log = one.likelihood(members, levels, _without(alive, kept))
            if kept is not None:
                impossible[:, kept], log[:, kept] = 0, 0.0
            alive &= impossible == 0
            found.append(LikelihoodTerm(one.recoding.variable, impossible, log))
        if self.exact is not None and np.isfinite(log_wrong):
            # Worlds that were not computed to the end must not look better than the rest.
            found[-1].impossible[~alive] += int(1e6)
        return found

    def must_fill(self, members: Ints) -> Flags:
        """See :class:`WorldLikelihood`."""
        result = np.zeros(members.size, dtype=np.bool_)
        for tree in self.trees:
            result |= tree.must_fill(members)
        for one in self.recoded:
            result |= one.must_fill(members)
        return result

    def _place_of_world_as_it_is(self, start: int, stop: int) -> int | None:
        """Place, among some worlds, of the one in which every record keeps its values; it needs no walk."""
        world = self.worlds.as_it_is
        return None if world is None or not start <= world < stop else world - start

    def _last(self, definition: SequenceTree) -> int:
        """The last unknown variable that the tree depends on."""
        concerned = {*definition.predictors, definition.position}
        return max(i for i, name in enumerate(self.worlds.unknown) if concerned & set(self.sequence.positions[name]))


def _without(wanted: Flags, world: int | None) -> Flags:
    """What is wanted, but for one world."""
    if world is None:
        return wanted
    others = wanted.copy()
    others[:, world] = False
    return others


def _any_of(alive: Flags, repeats: Ints) -> Flags:
    """Whether any world with the same beginning is left."""
    result: Flags = np.logical_or.reduceat(alive, np.cumsum(repeats) - repeats, axis=1)
    return result
