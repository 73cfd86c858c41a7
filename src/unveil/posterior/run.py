"""Work through the records, block by block: in a given time, and going on where an earlier run stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.posterior.checkpoint import Checkpoint
from unveil.posterior.evidence import Evidence
from unveil.posterior.study import Study
from unveil.posterior.weigh import KEPT, Question, Weighed, blocks_of, weigh

__all__ = ["Progress", "work_out"]

Ints = NDArray[np.int64]
Progress = Callable[[int, int, str], None]

UNDER_LIMIT = 64
"""Records of a block where time is limited and trees are walked; anything slower goes record by record."""


def work_out(
    study: Study,
    groups: Sequence[tuple[int, ...]],
    labels: Sequence[str],
    *,
    time_limit: float | None = None,
    kept: Checkpoint | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Weighed]]:
    """Weigh all records, or as many as there is time for.

    Parameters
    ----------
    study
        Records, worlds and their likelihood.
    groups
        Releases that are pooled, by entry of the result.
    labels
        What these are called.
    time_limit
        Seconds of wall clock. What is left is divided evenly among the entries and structures that are still to come.
        The first record of each is always worked out and does not count, since it may have to wait for a compiler.
    kept
        Finished blocks; removed once all is done.
    progress
        Called with records done, their total and what is being done.

    Returns
    -------
    list of dict
        By entry and structure the records that were worked out, in the order in which they were asked for.
    """
    setting = study.setting
    limited = time_limit is not None
    order = np.arange(setting.members.size)
    if limited:
        order = np.random.default_rng([setting.seed, 17]).permutation(order)
    tasks = [(g, name) for name in study.structures for g in range(len(groups))]
    total, done, left = order.size * len(tasks), 0, time_limit or math.inf
    outcomes: list[dict[str, Weighed]] = [{} for _ in groups]
    complete = False
    try:
        for at, (g, name) in enumerate(tasks):
            began = time.monotonic()
            found: list[Weighed] = []
            for block in _blocks(study, groups[g], (g, name), order, left / (len(tasks) - at), kept):
                began = began if found else time.monotonic()
                found.append(block)
                done += block.members.size
                if progress:
                    progress(done, total, f"{labels[g]}, {name}")
            left -= time.monotonic() - began
            whole = Weighed.joined(found)
            outcomes[g][name] = whole.taken(np.argsort(order[: whole.members.size])) if limited else whole
        complete = done == total
    finally:
        if kept and complete:
            kept.remove()
        elif kept:
            kept.write()
    return outcomes


def _blocks(
    study: Study,
    releases: Sequence[int],
    task: tuple[int, str],
    order: Ints,
    seconds: float,
    kept: Checkpoint | None,
) -> Iterator[Weighed]:
    """Weigh block after block, until the time since the first one is over."""
    evidence: list[tuple[Evidence, Ints]] | None = None
    began = math.inf
    for i, rows in enumerate(_slices(study, task[1], order.size)):
        block = kept.load((*task, i)) if kept else None
        if block is None:
            if time.monotonic() - began >= seconds:
                return
            evidence = study.evidence(releases, task[1]) if evidence is None else evidence
            block = _weigh_apart(evidence, study.question, study.setting.members[order[rows]], order.size)
            if kept:
                kept.store((*task, i), block)
        began = min(began, time.monotonic())
        yield block


def _slices(study: Study, structure: str, n: int) -> list[slice]:
    """Places of the records that are worked on together; the first one alone where time is limited."""
    slow, n_worlds = study.slow(structure), study.question.n_worlds
    if study.setting.time_limit is None or not slow:
        return blocks_of(n, n_worlds, slow)
    rest = blocks_of(n - 1, n_worlds, slow, most=UNDER_LIMIT if study.kind == "cart" else 1)
    return [slice(0, 1), *(slice(part.start + 1, part.stop + 1) for part in rest)]


def _weigh_apart(evidence: list[tuple[Evidence, Ints]], question: Question, members: Ints, n_members: int) -> Weighed:
    """Weigh records, each with the evidence that is meant for it."""
    keep = n_members * question.n_values <= KEPT
    if len(evidence) == 1:
        return weigh(evidence[0][0], question, members, keep=keep)
    second = np.isin(members, evidence[1][1])
    order, parts = [], []
    for (one, _), chosen in zip(evidence, (np.flatnonzero(~second), np.flatnonzero(second)), strict=True):
        if chosen.size:
            parts.append(weigh(one, question, members[chosen], keep=keep))
            order.append(chosen)
    return Weighed.joined(parts).taken(np.argsort(np.concatenate(order)))
