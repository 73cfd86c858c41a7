"""Chains of draws of the unknown values, from dispersed starts, and whether they have mixed.

A released cell without a donor costs a penalty instead of ruling the state out, so that chains do not get stuck; only
states without such cells are kept. The penalty is adapted in the first sweeps until about half of the states are kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain as chain_of

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.states import States, UnknownPersons
from unveil.stats.chains import effective_draws, error_of_mean, split_r_hat
from unveil.threads import in_threads, n_threads

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CHAINS = 4
WARM_UP = 0.25
"""Share of the sweeps in which the penalty is adapted; they are not kept."""
FIRST_PENALTY = 8.0
PENALTIES = (1.0, 40.0)
"""The least and the largest penalty."""
TOGETHER = 500
"""Persons whose draws are judged together."""
FEWEST_KEPT = 16
"""Fewest states that each chain has to keep."""
LARGEST_R_HAT = 1.05
FEWEST_EFFECTIVE = 50.0
SAME = 1e-6
"""Probabilities this near to each other are the same."""


@dataclass(frozen=True, eq=False)
class Found:
    """What the chains, or an enumeration, found for one set of unknown persons.

    Parameters
    ----------
    probabilities : (u, c) float64
        Posterior of each world of each person.
    mixed : (u,) bool
        Whether the figures of each person can be relied on.
    kept, sweeps
        States that were kept, and sweeps, of all chains together; 0 where all states were enumerated.
    error
        Monte-Carlo standard error of the mean posterior of the persons asked about; NaN where it is not known.
    effective : (u,) float64
        Effective draws of the posterior of the truth; NaN where its draws are all equal, or it was enumerated.
    """

    probabilities: Floats
    mixed: Flags
    kept: int
    sweeps: int
    error: float
    effective: Floats

    @property
    def not_mixed(self) -> float:
        """Share of persons that has not mixed."""
        return float(1 - self.mixed.mean())


class Draws:
    """What one chain kept.

    Parameters
    ----------
    shape
        Numbers of persons and of worlds.
    """

    def __init__(self, shape: tuple[int, ...]):
        self.total = np.zeros(shape)
        self.truth: list[NDArray[np.float32]] = []

    def add(self, shares: Floats, truth: Floats) -> None:
        """Keep the conditional probabilities (u, c) of a state, and those of the truth (u,)."""
        self.total += shares
        self.truth.append(truth.astype(np.float32))


@dataclass(frozen=True)
class Plan:
    """How long chains run.

    Parameters
    ----------
    sweeps, most_sweeps
        Sweeps of each chain in the first round, and most of them in a later one.
    largest_not_mixed
        Largest share of persons that may not have mixed.
    too_long
        Whether as many seconds as it is given are more than there are.
    """

    sweeps: int
    most_sweeps: int
    largest_not_mixed: float = 0.01
    too_long: Callable[[float], bool] = lambda seconds: False


def dispersed_starts(persons: UnknownPersons, chains: int, rng: np.random.Generator) -> Codes:
    """(chains, u) states far from each other: the truth, and quantiles of the prior at even distances.

    Every person begins with at least two different values wherever the prior leaves a choice.
    """
    prior = np.exp(persons.log_prior)
    above = np.cumsum(prior, axis=1) / prior.sum(axis=1, keepdims=True)
    offset, last = rng.random(persons.size), prior.shape[1] - 1 - np.argmax(prior[:, ::-1] > 0, axis=1)
    starts = np.empty((chains, persons.size), dtype=np.int32)
    for chain in range(chains):
        at = (offset + chain / chains) % 1.0
        starts[chain] = np.minimum((above <= at[:, None]).sum(axis=1), last)
    rows = np.arange(persons.size)
    possible = prior[rows, persons.truth] > 0
    starts[0] = np.where(possible, persons.truth, starts[0])
    alike = (starts == starts[0]).all(axis=0)
    others = np.where(np.arange(prior.shape[1]) == starts[0][:, None], 0.0, prior)
    choice = alike & (others.max(axis=1) > 0)
    starts[1 % chains] = np.where(choice, others.argmax(axis=1), starts[1 % chains])
    return starts


class Chain:
    """One chain.

    Parameters
    ----------
    states
        Where it moves.
    start : (u,) int32
        Where it begins.
    rng
        Random numbers.
    """

    def __init__(self, states: States, start: Codes, rng: np.random.Generator):
        self.states, self.rng, self.penalty = states, rng, FIRST_PENALTY
        states.begin(start)
        states.set_penalty(self.penalty)

    def warm_up(self, sweeps: int) -> Iterator[None]:
        """Sweep, and adapt the penalty until about half of the states are possible."""
        adapted, settled = 0, []
        for done in range(sweeps):
            self.states.sweep(self.rng)
            possible = self.states.impossible == 0
            # Until the first possible state the penalty waits for the values to settle.
            adapted += bool(adapted or possible or done > sweeps // 2)
            if adapted:
                step = 2.0 / np.sqrt(adapted)
                self.penalty = float(np.clip(self.penalty + (-step if possible else step), *PENALTIES))
                self.states.set_penalty(self.penalty)
            settled.append(self.penalty)
            yield
        # The mean over the last half varies less than the last value.
        self.penalty = float(np.mean(settled[sweeps // 2 :]))
        self.states.set_penalty(self.penalty)

    def keep(self, sweeps: int, truth_of: Callable[[Floats], Floats], draws: Draws) -> Iterator[None]:
        """Sweep, and keep the conditional probabilities of the states that are possible."""
        for _ in range(sweeps):
            self.states.sweep(self.rng)
            if self.states.impossible == 0:
                draws.add(shares := self.states.shares(), truth_of(shares))
            yield


def run_chains(
    make: Callable[[], States], plan: Plan, seed: np.random.SeedSequence, truth_of: Callable[[Floats], Floats],
    asked: Ints, after: Callable[[float], None] = lambda share: None,
) -> Found:  # fmt: skip
    """Run several chains from dispersed starts, twice as long each time, until they have mixed.

    Parameters
    ----------
    make
        Makes the states of one chain.
    plan
        How long they run.
    seed
        Where the random numbers come from.
    truth_of
        From the probabilities of worlds (u, c) to those of the true values (u,).
    asked : (a,) int64
        Persons over whom the mean is taken.
    after
        Called with the share of the first round that is done, after each of its sweeps; may raise.
    """
    first, *seeds = seed.spawn(CHAINS + 1)
    states = [make() for _ in seeds]
    starts = dispersed_starts(states[0].persons, CHAINS, np.random.default_rng(first))
    chains = [
        Chain(own, start, np.random.default_rng(one)) for own, start, one in zip(states, starts, seeds, strict=True)
    ]
    sweeps, done = plan.sweeps, [0] * CHAINS
    while True:
        began = time.monotonic()

        def run(number: int, sweeps: int = sweeps) -> Draws:
            draws = Draws(states[number].persons.log_prior.shape)
            warm_up = math.ceil(WARM_UP * sweeps)
            for _ in chain_of(chains[number].warm_up(warm_up), chains[number].keep(sweeps - warm_up, truth_of, draws)):
                done[number] += 1
                after(min(sum(done) / (CHAINS * plan.sweeps), 1.0))
            return draws

        found = _judged(in_threads(run, range(CHAINS), n_threads(None)), CHAINS * sweeps, asked)
        seconds = time.monotonic() - began
        if not found.not_mixed > plan.largest_not_mixed or 2 * sweeps > plan.most_sweeps or plan.too_long(2 * seconds):
            return found
        sweeps *= 2


def _judged(drawn: Sequence[Draws], sweeps: int, asked: Ints) -> Found:
    """The means over the chains, and whether these have mixed."""
    kept = [len(one.truth) for one in drawn]
    mean = np.mean([one.total / max(len(one.truth), 1) for one in drawn], axis=0)
    u, least = mean.shape[0], min(kept)
    nothing = np.full(u, np.nan)
    if least < FEWEST_KEPT:
        return Found(mean, np.zeros(u, dtype=np.bool_), sum(kept), sweeps, np.nan, nothing)
    mixed, effective = np.empty(u, dtype=np.bool_), nothing
    over_all = np.empty((len(drawn), least))
    for one, own in zip(drawn, over_all, strict=True):
        own[:] = [float(draw[asked].mean()) for draw in one.truth[-least:]]
    for start in range(0, u, TOGETHER):
        at = slice(start, start + TOGETHER)
        draws = np.array([[draw[at] for draw in one.truth[-least:]] for one in drawn], dtype=np.float64)
        mixed[at], effective[at] = judge(draws)
    error = 0.0 if np.ptp(over_all) <= SAME else error_of_mean(over_all)
    return Found(mean, mixed, sum(kept), sweeps, error, effective)


def judge(draws: Floats) -> tuple[Flags, Floats]:
    """Whether each quantity has mixed, and its effective draws.

    Draws that are all equal pass: they come from starts that differ. Where a figure is not defined, nothing has mixed.

    Parameters
    ----------
    draws : (chains, n, u) float64
        Draws.
    """
    n_all = draws.shape[0] * draws.shape[1]
    constant = np.ptp(draws.reshape(n_all, -1), axis=0) <= SAME
    r_hat, effective = np.full(constant.size, np.nan), np.full(constant.size, np.nan)
    moving = np.flatnonzero(~constant)
    if moving.size:
        r_hat[moving], effective[moving] = split_r_hat(draws[:, :, moving]), effective_draws(draws[:, :, moving])
    with np.errstate(invalid="ignore"):
        mixed = constant | ((r_hat <= LARGEST_R_HAT) & (effective >= FEWEST_EFFECTIVE))
    return mixed, effective
