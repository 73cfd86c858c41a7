"""States of some unknown persons where the trees follow them: each state is as if the synthesizer was fitted to it.

The trees are fitted to one state, the base. The likelihood of all values of one person follows from it by a walk along
the person's path (see :mod:`unveil._posterior.walk`). When another person has changed, the trees are fitted again.
Persons with the same known values can be exchanged, so that what was found is kept by how many of them have each value.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.states import States, UnknownPersons
from unveil._posterior.exact import ExactTree, exact_likelihood, fit_exact
from unveil._posterior.fixed import FixedTree
from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Levels = Mapping[str, Codes]

MOST_KEPT = 100_000
"""Most likelihoods of a person's values that are kept."""
DRAWN_OF_A_SET = 8
"""Most persons of those who are alike whose values are drawn in a sweep: the others stand for the same."""
SHIFTS = 2
"""Proposals in a sweep to give several persons of a larger set another value at once."""
PERSONS_BY_SWAP = 30
"""One exchange is proposed for as many persons: it takes a fit."""


class FollowingTrees(States):
    """States of some unknown persons, the trees being fitted to each of them.

    Parameters
    ----------
    persons
        The persons.
    sequence
        Codes of the files.
    trees
        The trees that the unknown columns concern, with the released values that count.
    levels : mapping of str to (c,) int32
        Levels of the unknown columns by world.
    """

    most_states = 600

    def __init__(self, persons: UnknownPersons, sequence: TreeSequence, trees: Sequence[FixedTree], levels: Levels):
        self.persons, self.sequence, self.levels = persons, sequence, levels
        self._possible = [tree.possible for tree in trees]
        self._moved = [MovedRecord.of(sequence, tree.definition, levels) for tree in trees]
        self._definitions = [tree.definition for tree in trees]
        self._set = np.unique(persons.alike, return_inverse=True)[1].reshape(-1)
        sets = (np.flatnonzero(self._set == number) for number in range(int(self._set.max()) + 1))
        self._large = [own for own in sets if own.size > DRAWN_OF_A_SET]
        self._asked = np.isfinite(persons.log_prior)
        self._kept: dict[tuple[int, bytes], tuple[Ints, Floats]] = {}
        self._penalty = 0.0
        self._fitted: list[ExactTree] = []
        self.begin(persons.truth.astype(np.int32))

    def begin(self, state: Codes) -> None:
        """See :class:`States`."""
        self.state = state.copy()
        self._count = np.zeros((int(self._set.max()) + 1, self.persons.n_worlds), dtype=np.int32)
        np.add.at(self._count, (self._set, self.state), 1)
        self._fit()
        self._now = self._of_base()

    def set_penalty(self, penalty: float) -> None:
        """See :class:`States`."""
        self._penalty = penalty

    @property
    def impossible(self) -> int:
        """See :class:`States`."""
        return self._now[0]

    def log_likelihood(self) -> float:
        """See :class:`States`."""
        return -np.inf if self._now[0] else self._now[1]

    def sweep(self, rng: np.random.Generator) -> None:
        """See :class:`States`."""
        u = self.persons.size
        for person in self._drawn(rng):
            impossible, log = self._values(person)
            weight = self.persons.log_prior[person] + log - self._penalty * impossible
            weight = np.exp(weight - weight.max())
            total = weight.cumsum()
            world = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
            self._move(person, min(world, int(np.flatnonzero(weight)[-1])))
            self._now = int(impossible[self.state[person]]), float(log[self.state[person]])
        for own in self._large:
            for _ in range(SHIFTS):
                self._shift(own, rng)
        for _ in range(-(-u // PERSONS_BY_SWAP)):
            one, two = rng.integers(0, u, 2).tolist()
            self._swap(one, two, rng.random())

    def _drawn(self, rng: np.random.Generator) -> list[int]:
        """Persons whose values are drawn in a sweep."""
        order = rng.permutation(self.persons.size)
        place = np.argsort(self._set[order], kind="stable")
        sets = self._set[order][place]
        first = np.flatnonzero(np.diff(sets, prepend=-1))
        rank = np.arange(sets.size) - np.repeat(first, np.diff(first, append=sets.size))
        found: list[int] = order[place][rank < DRAWN_OF_A_SET].tolist()
        return found

    def shares(self) -> Floats:
        """See :class:`States`."""
        found = np.empty(self.persons.log_prior.shape)
        for person, row in enumerate(found):
            impossible, log = self._values(person)
            weight = np.where(impossible == 0, self.persons.log_prior[person] + log, -np.inf)
            weight = np.exp(weight - weight.max())
            row[:] = weight / weight.sum()
        return found

    def least_seconds(self) -> float:
        """Seconds that a sweep takes at least, by the time of one walk."""
        began = time.monotonic()
        self._walked(0)
        return (time.monotonic() - began) * self._count.shape[0]

    def _move(self, person: int, world: int) -> None:
        own = self._count[self._set[person]]
        own[self.state[person]] -= 1
        own[world] += 1
        self.state[person] = world

    def _shift(self, own: Ints, rng: np.random.Generator) -> None:
        """Propose to several persons who are alike, and have the same value, another one at once.

        Of k persons with the first value and l with the second one, d change. They are chosen at random, so that the
        way there is k! l! / ((k - d)! (l + d)!) times as likely as the way back is.
        """
        first, second = rng.permutation(self.persons.n_worlds)[:2].tolist()
        d = 1 + int(rng.integers(math.isqrt(own.size)))
        those, uniform = rng.permutation(own[self.state[own] == first])[:d], rng.random()
        k, others = self._count[self._set[own[0]], [first, second]].tolist()
        prior = self.persons.log_prior[own[0]]
        if those.size < d or prior[second] == -np.inf:
            return
        ways = math.lgamma(k + 1) + math.lgamma(others + 1) - math.lgamma(k - d + 1) - math.lgamma(others + d + 1)
        for person in those.tolist():
            self._move(person, second)
        self._fit()
        now = self._of_base()
        rise = ways + d * (prior[second] - prior[first]) + now[1] - self._now[1]
        rise -= self._penalty * (now[0] - self._now[0])
        if rise >= 0 or uniform < math.exp(rise):
            self._now = now
            return
        for person in those.tolist():
            self._move(person, first)

    def _swap(self, one: int, two: int, uniform: float) -> None:
        """Propose to two persons to exchange their values; of persons who are alike the exchange changes nothing."""
        first, second = int(self.state[one]), int(self.state[two])
        prior = self.persons.log_prior
        rise = prior[one, second] - prior[one, first] + prior[two, first] - prior[two, second]
        if first == second or self._set[one] == self._set[two] or rise == -np.inf:
            return
        self._move(one, second)
        impossible, log = self._values(two)
        now = int(impossible[first]), float(log[first])
        rise += now[1] - self._now[1] - self._penalty * (now[0] - self._now[0])
        if rise >= 0 or uniform < np.exp(rise):
            self._move(two, first)
            self._now = now
        else:
            self._move(one, first)

    def _values(self, person: int) -> tuple[Ints, Floats]:
        """(c,) impossible released values and log-likelihood by world of a person, all others being as they are."""
        own = self._count[self._set[person]]
        own[self.state[person]] -= 1
        key = int(self._set[person]), self._count.tobytes()
        own[self.state[person]] += 1
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._walked(person)
        return self._kept[key]

    def _walked(self, person: int) -> tuple[Ints, Floats]:
        away = np.flatnonzero(self._base != self.state)
        if not np.isin(away, [person]).all():
            self._fit()
        impossible, log = np.zeros(self.persons.n_worlds, dtype=np.int64), np.zeros(self.persons.n_worlds)
        for tree, moved in zip(self._fitted, self._moved, strict=True):
            more, own = exact_likelihood(
                tree, self.persons.members[person : person + 1], moved, self._asked[person : person + 1]
            )
            impossible += more[0]
            log += own[0]
        return impossible, log

    def _of_base(self) -> tuple[int, float]:
        """Impossible released values and log-likelihood of the base."""
        found = [tree.as_fitted for tree in self._fitted]
        return sum(impossible for impossible, _ in found), sum(log for _, log in found)

    def _fit(self) -> None:
        """Fit the trees to the state."""
        self._base = self.state.copy()
        columns = dict(self.sequence.columns)
        members, fitted = self.persons.members, {}
        for name, levels in self.levels.items():
            own = levels[self.state]
            for position, codes in self.sequence.part_codes(name, own).items():
                changed = columns[position].codes.copy()
                changed[members] = codes
                columns[position] = replace(columns[position], codes=changed)
                fitted[position] = self.sequence.observed(position, name, own)
        sequence = replace(self.sequence, columns=columns)
        releases = range(len(sequence.z))
        self._fitted = [
            fit_exact(sequence, _fitted_to(definition, members, fitted), releases, possible)
            for definition, possible in zip(self._definitions, self._possible, strict=True)
        ]


def _fitted_to(definition: SequenceTree, members: Ints, fitted: Mapping[int, NDArray[np.bool_]]) -> SequenceTree:
    """The tree with the records that it is fitted to, some of which have other values."""
    if definition.position not in fitted:
        return replace(definition, grown=None)
    changed = definition.fitted.copy()
    changed[members] = fitted[definition.position]
    return replace(definition, fitted=changed, grown=None)
