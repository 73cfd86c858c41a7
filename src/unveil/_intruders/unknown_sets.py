"""One set of unknown persons after the other: states are enumerated where they are few, else drawn by chains."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.chains import CHAINS, Found, Plan, run_chains
from unveil._intruders.disclosed import DisclosedSplits, Places, places_of
from unveil._intruders.enumeration import enumerate_states, n_compositions
from unveil._intruders.following import FollowingTrees
from unveil._intruders.knowledge import unknown_persons
from unveil._intruders.partial_checkpoint import SetFound
from unveil._intruders.states import States, UnknownPersons
from unveil._posterior.likelihood import trees_concerned
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.problem import PosteriorProblem
from unveil._posterior.recoded import recodings_concerned
from unveil.errors import CallError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PATIENCE = 2.0
"""Seconds after which it is estimated how long a call takes."""


class Budget:
    """Time of a call, and how much of its work is done.

    Parameters
    ----------
    seconds
        Seconds that the call may take.
    total
        Work, counted as unknown persons of all sets.
    n_sets
        Number of sets.
    progress
        Called with the work done, its total, and a name.
    """

    def __init__(self, seconds: float, total: int, n_sets: int, progress: Callable[[int, int, str], None] | None):
        self.seconds, self.total, self.n_sets, self.progress = seconds, total, n_sets, progress
        self.began, self.done, self.done_sets, self.skipped, self.name = time.monotonic(), 0, 0, 0, ""
        self._told = 0
        self._lock = threading.Lock()

    def spent(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self.began

    def too_long(self, seconds: float) -> bool:
        """Whether as many seconds are more than there are left."""
        return self.spent() + seconds > self.seconds

    def check(self, share: float, size: int) -> None:
        """Tell how much of the current set is done; refuse a call that will take too long, before half of it is done.

        A set takes as long as the sets before, or in proportion to its persons, whichever of the two is less.

        Parameters
        ----------
        share
            Share of the set that is done.
        size
            Number of its persons.

        Raises
        ------
        CallError
            If it will take too long.
        """
        with self._lock:
            done, done_sets = self.done + share * size, self.done_sets + share
            self._tell(int(done))
            spent = self.spent()
            if spent < PATIENCE or not done or 2 * done > self.total or self.skipped:
                return
            self.expect(spent * min(self.total / done - 1, self.n_sets / done_sets - 1))

    def expect(self, seconds: float) -> None:
        """Refuse a call that has as many seconds of work before it, and too few are left.

        Raises
        ------
        CallError
            If it has.
        """
        if self.too_long(seconds):
            raise CallError(
                f"this would take about {self.spent() + seconds:.0f} seconds, and the budget is {self.seconds:g}: ask "
                "for fewer persons (sample), sets, sweeps or unknown records, or raise the budget"
            )

    def finish(self, units: int, *, skipped: bool = False) -> None:
        """Some units are done; or were done by an earlier run."""
        self.done += units
        self.done_sets += 1
        self.skipped += skipped
        self._tell(self.done)

    def _tell(self, done: int) -> None:
        if self.progress is not None and done > self._told:
            self._told = done
            self.progress(done, self.total, self.name)


class Question:
    """What is asked about the persons of every set.

    Parameters
    ----------
    problem
        Files, synthesizer, target and prior.
    structure
        Whether the trees follow the unknown values, or their splits are disclosed.
    sweeps, most_sweeps, largest_not_mixed
        See :class:`unveil._intruders.chains.Plan`.

    Raises
    ------
    CallError
        If the likelihood of many persons cannot be had.
    """

    def __init__(
        self, problem: PosteriorProblem, structure: Literal["splits", "exact"], sweeps: int, most_sweeps: int,
        largest_not_mixed: float,
    ):  # fmt: skip
        if problem.kind != "cart":
            raise CallError(
                "partial knowledge needs a sequential CART whose trees can be walked, without smoothing, proper "
                "synthesis, rules, strata, or other methods for the columns that the target concerns"
            )
        assert isinstance(problem.worlds, PossibleValues)
        unknown = problem.worlds.unknown
        broken = recodings_concerned(problem.sequence, unknown)
        if broken:
            raise CallError(
                f"column {broken[0].variable!r} is a recoding of {broken[0].sources[0]!r}, which unknown values would "
                "break; leave one of the two columns out of the files, or name another target"
            )
        self.problem, self.structure = problem, structure
        self.plan = (sweeps, most_sweeps, largest_not_mixed)
        self.trees = [problem.trees[one.position] for one in trees_concerned(problem.sequence, unknown)]
        self.levels = problem.worlds.levels()
        self.places: Places | None = None
        if structure == "splits":
            if any(tree.definition.mix for tree in self.trees):
                raise CallError("structure 'splits' takes no synthesizer with mixed donors (mix); use 'exact'")
            self.places = places_of(problem.sequence, self.trees, unknown, self.levels)
        self.value = problem.outcomes.value_of(np.arange(problem.worlds.size))

    def states(self, persons: UnknownPersons) -> States:
        """The states of some unknown persons."""
        if self.places is not None:
            return DisclosedSplits(persons, self.places)
        return FollowingTrees(persons, self.problem.sequence, self.trees, self.levels)

    def answer(self, members: Ints, asked: Ints, seed: np.random.SeedSequence, budget: Budget) -> SetFound:
        """Posterior of some persons of a set.

        Parameters
        ----------
        members : (u,) int64
            The unknown persons, ascending.
        asked : (a,) int64
            Those of them who are asked about.
        seed
            Where the draws come from.
        budget
            How long it may take.
        """
        persons = unknown_persons(self.problem, members)
        own = np.searchsorted(members, asked)
        true = self.value[None, :] == self.problem.outcomes.truth[members][:, None]

        def of_truth(shares: Floats) -> Floats:
            return np.asarray(np.where(true, shares, 0.0).sum(axis=1))

        states = self.states(persons)
        if n_compositions(persons) <= states.most_states:
            found = enumerate_states(states)
        else:
            if isinstance(states, FollowingTrees):
                budget.expect(states.least_seconds() * CHAINS * self.plan[0])
            plan = Plan(*self.plan, budget.too_long)
            found = run_chains(
                lambda: self.states(persons), plan, seed, of_truth, own,
                lambda share: budget.check(share, members.size),
            )  # fmt: skip
        return _set_found(found, of_truth(np.exp(persons.log_prior))[own], of_truth(found.probabilities)[own], own)


def _set_found(found: Found, prior: Floats, posterior: Floats, own: Ints) -> SetFound:
    return SetFound(
        prior.tolist(), posterior.tolist(), found.mixed[own].tolist(), found.effective[own].tolist(), found.not_mixed,
        found.error, found.kept, found.sweeps,
    )  # fmt: skip
