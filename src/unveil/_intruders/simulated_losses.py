"""Privacy losses over fresh releases of an original, and of originals in which one person is another."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.fresh_releases import Releases, Stacked, maker_of
from unveil._intruders.likelihood_ratios import problem_of, without_rounding
from unveil._intruders.loss_curves import Losses
from unveil._intruders.persons import Persons, quiet_pair
from unveil._intruders.refitted import altered_source, row_of
from unveil._intruders.whole_records import WalkedRecords, taken
from unveil._posterior.fixed import FixedTree
from unveil._posterior.problem import PosteriorProblem
from unveil._posterior.tree_sequence import TreeSequence

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Simulation:
    """Persons, their neighbours, and the synthesizer that makes fresh releases.

    Parameters
    ----------
    people
        The files.
    synthesizer
        What makes releases.
    sequence
        Codes of the files.
    members : (q,) int64
        The persons.
    others : (q,) int64
        Those who stand in their place.
    estimated
        Whether the fit is random, and its likelihood an estimate.
    """

    people: Persons
    synthesizer: Any
    sequence: TreeSequence
    members: Ints
    others: Ints
    estimated: bool

    def run(self, n: int, seed: np.random.SeedSequence, progress: Progress | None) -> tuple[tuple[Losses, ...], float]:
        """Losses by person over n releases in each direction, and the epsilon that the synthesizer states.

        That epsilon is the one for a record that is replaced; NaN where none is stated.
        """
        if not self.members.size:
            return (), math.nan
        original, sizes = self.people.pair.original, self.people.pair.n_synthetic
        fits = n if self.estimated else None
        seeds = seed.spawn(self.members.size + 1)
        own = maker_of(self.synthesizer, original, sizes, seeds[0], fits)
        drawn = own.draw(n)
        walked = self._walked(drawn)
        log_own = own.log(drawn) if walked is None else np.zeros(0)
        rows = taken(self.sequence.further, self.others)
        found = []
        for i, member in enumerate(self.members.tolist()):
            records = np.delete(np.arange(self.sequence.n), member)
            changed = altered_source(original, self.sequence, records, row_of(rows, i))
            other = maker_of(self.synthesizer, changed, sizes, seeds[i + 1], fits)
            beside = other.draw(n)
            forward = _difference(log_own, other.log(drawn)) if walked is None else walked[i]
            found.append(Losses(forward, _difference(other.log(beside), own.log(beside)), exact=not self.estimated))
            if progress is not None:
                progress(i + 1, self.members.size, "curves")
        return tuple(found), _stated(own.one_fit)

    def _walked(self, drawn: Releases) -> Floats | None:
        """(q, b) losses of releases of the original, where trees can be walked along the persons' paths."""
        if self.estimated or not isinstance(drawn, Stacked):
            return None
        by_release = []
        for file in drawn.files:
            pair = quiet_pair(self.people.pair, self.people.pair.original, [file])
            problem = problem_of(pair, self.people.synthesizer, self.people.others)
            if problem.kind != "cart":
                return None
            rows = taken(problem.sequence.further, self.others)
            for start in range(0, file.num_rows, drawn.size):
                some = np.arange(start, start + drawn.size)
                by_release.append(_with_records(problem, some).replaced(self.members, rows, _untold))
        return without_rounding(np.array(by_release).T)


def _untold(done: int) -> None:
    """Curves are told of by person."""


def _with_records(problem: PosteriorProblem, records: Ints) -> WalkedRecords:
    """Walks in which only some of the records of a release count."""
    sequence = problem.sequence

    def some(tree: FixedTree) -> FixedTree:
        released = (tree.definition.released[0][records],)
        return replace(tree, definition=replace(tree.definition, released=released), possible=released)

    recodings = tuple(
        replace(one, trees=tuple(replace(tree, released=(tree.released[0][records],)) for tree in one.trees))
        for one in sequence.recodings
    )
    part = replace(
        sequence,
        z=({position: codes[records] for position, codes in sequence.z[0].items()},),
        released={name: tuple(codes[records] for codes in files) for name, files in sequence.released.items()},
        recodings=recodings,
    )
    return WalkedRecords(part, [some(tree) for tree in problem.trees.values()])


def _difference(log: Floats, other: Floats) -> Floats:
    """Log ratios; 0 where a release is impossible in both worlds, which only an estimate can say."""
    with np.errstate(invalid="ignore"):
        ratio = log - other
    return without_rounding(np.where(np.isnan(ratio), 0.0, ratio))


def _stated(fitted: Any) -> float:
    """Epsilon that a synthesizer guarantees where one record is replaced; NaN if it guarantees none."""
    privacy = fitted.privacy() if callable(getattr(fitted, "privacy", None)) else None
    if not privacy:
        return math.nan
    # To replace a record is to take one out and to put one in.
    return float(privacy["epsilon"]) * (1.0 if privacy["neighbours"] == "replace" else 2.0)
