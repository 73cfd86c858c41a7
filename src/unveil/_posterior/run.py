"""Compute the records block by block, within a time limit, and continue where an earlier run stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import RecordOutcomes
from unveil._posterior.checkpoint import Checkpoint
from unveil._posterior.likelihood import WorldLikelihood
from unveil._posterior.outcomes import Outcomes
from unveil._posterior.posterior_of_records import (
    MOST_PROBABILITIES,
    Posteriors,
    block_size,
    posteriors_of,
)
from unveil._posterior.problem import PosteriorProblem

Ints = NDArray[np.int64]
Progress = Callable[[int, int, str], None]

GROWTH = 4
"""Largest ratio of the sizes of two successive blocks if time is limited."""
SHORTEST = 1e-6
"""Least seconds of a block when its speed is computed."""


def work_out(
    problem: PosteriorProblem,
    groups: Sequence[tuple[int, ...]],
    labels: Sequence[str],
    *,
    time_limit: float | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Posteriors]]:
    """Compute the posterior of all records, or of as many as there is time for.

    Parameters
    ----------
    problem
        Records, worlds and their likelihood.
    groups
        Releases that are pooled, by entry of the result.
    labels
        Names of these entries.
    time_limit
        Seconds of wall clock. What is left is divided evenly among the entries and structures that are still to come.
        The first record of each is always worked out; where trees are fitted it does not count, since it waits for
        them.
    checkpoint
        Finished blocks; removed once all is done.
    progress
        Function that is called with the number of records done, their total, and the release and structure.

    Returns
    -------
    list of dict
        By entry and structure the records that were computed, in the order of the options.
    """
    options = problem.options
    limited = time_limit is not None
    order = options.in_random_order() if limited else np.arange(options.members.size)
    tasks = [(g, name) for name in problem.structures for g in range(len(groups))]
    total, done, left = order.size * len(tasks), 0, time_limit or math.inf
    results: list[dict[str, Posteriors]] = [{} for _ in groups]
    complete = False
    try:
        for at, (g, name) in enumerate(tasks):
            began = time.monotonic()
            found: list[Posteriors] = []
            for block in _blocks(problem, groups[g], (g, name), order, left / (len(tasks) - at), checkpoint):
                began = began if found or not problem.fits_first else time.monotonic()
                found.append(block)
                done += block.members.size
                if progress:
                    progress(done, total, f"{labels[g]}, {name}")
            left -= time.monotonic() - began
            whole = Posteriors.joined(found)
            results[g][name] = whole.taken(np.argsort(order[: whole.members.size])) if limited else whole
        complete = done == total
    finally:
        if checkpoint and complete:
            checkpoint.remove()
        elif checkpoint:
            checkpoint.write()
    return results


def _blocks(
    problem: PosteriorProblem,
    releases: Sequence[int],
    task: tuple[int, str],
    order: Ints,
    seconds: float,
    checkpoint: Checkpoint | None,
) -> Iterator[Posteriors]:
    """Compute block after block until the time is over.

    Where time is limited, the first record is a block of its own. Blocks grow from there, but not beyond what the time
    that is left is expected to do. Records that an earlier run has finished cost nothing, in whatever order it took
    them; here they come in this order, and what lies beyond the place that is reached stays in the file.
    """
    likelihoods: list[tuple[WorldLikelihood, Ints]] | None = None
    began, limited = math.inf if problem.fits_first else time.monotonic(), math.isfinite(seconds)
    most = block_size(problem.worlds.size, problem.slow(task[1]), fits=problem.fits_worlds)
    members = problem.options.members[order]
    known = _Known(checkpoint.done(task) if checkpoint else None, problem.options.pair.n_original)
    start, size = 0, 1 if limited else most
    while start < members.size:
        before = time.monotonic()
        left = np.flatnonzero(~known.has(members[start:]))
        if left.size and left[0] == 0:
            if before - began >= seconds:
                return
            likelihoods = problem.likelihoods(releases, task[1]) if likelihoods is None else likelihoods
            # As many as are wanted, without those that are known between them.
            stop = start + (int(left[size]) if left.size > size else members.size - start)
            rows = start + left[:size]
            block = _posteriors_apart(likelihoods, problem.outcomes, members[rows], order.size)
            if checkpoint:
                checkpoint.store(task, block)
            now = time.monotonic()
            if limited and math.isfinite(began):
                speed = rows.size / max(now - before, SHORTEST)
                size = int(min(GROWTH * size, max(1.0, speed * (began + seconds - now)), most))
            block = known.joined(block, members[start:stop])
        else:
            stop = start + (int(left[0]) if left.size else members.size - start)
            block = known.joined(None, members[start:stop])
        start = stop
        began = min(began, time.monotonic())
        yield block


class _Known:
    """Records that an earlier run has finished.

    Parameters
    ----------
    found
        Their figures, or None.
    n
        Number of original records.
    """

    def __init__(self, found: Posteriors | None, n: int):
        self.found = found
        self.place = np.full(n, -1, dtype=np.int64)
        if found is not None:
            self.place[found.members] = np.arange(found.members.size)

    def has(self, members: Ints) -> NDArray[np.bool_]:
        """(r,) whether records are finished."""
        known: NDArray[np.bool_] = self.place[members] >= 0
        return known

    def joined(self, block: Posteriors | None, members: Ints) -> Posteriors:
        """Finished records and those of a block, in the order of ``members``."""
        own = self.place[members]
        if self.found is None or not (own >= 0).any():
            assert block is not None
            return block
        known = self.found.taken(own[own >= 0])
        whole = known if block is None else Posteriors.joined([known, block])
        return whole.taken(np.argsort(whole.members)[np.argsort(np.argsort(members))])


def _posteriors_apart(
    likelihoods: list[tuple[WorldLikelihood, Ints]], outcomes: Outcomes | RecordOutcomes, members: Ints, n_members: int
) -> Posteriors:
    """Compute records, each with the likelihood that applies to it."""
    keep = n_members * outcomes.n_values <= MOST_PROBABILITIES
    if len(likelihoods) == 1:
        return posteriors_of(likelihoods[0][0], outcomes, members, keep=keep)
    second = np.isin(members, likelihoods[1][1])
    order, parts = [], []
    for (one, _), chosen in zip(likelihoods, (np.flatnonzero(~second), np.flatnonzero(second)), strict=True):
        if chosen.size:
            parts.append(posteriors_of(one, outcomes, members[chosen], keep=keep))
            order.append(chosen)
    return Posteriors.joined(parts).taken(np.argsort(np.concatenate(order)))
