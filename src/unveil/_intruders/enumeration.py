"""The posterior by enumeration of all states, where these are few.

Persons with the same known values and the same prior can be exchanged: the likelihood depends only on how many of them
have each value. A composition of such a set stands for as many states as the multinomial coefficient says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.chains import Found
from unveil._intruders.states import States, UnknownPersons

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def n_compositions(persons: UnknownPersons) -> int:
    """Number of states that differ after exchanges of persons who are alike."""
    sets, sizes = np.unique(persons.alike, return_counts=True)
    total = 1
    for one, size in zip(sets, sizes.tolist(), strict=True):
        worlds = int(np.isfinite(persons.log_prior[np.argmax(persons.alike == one)]).sum())
        total *= math.comb(size + worlds - 1, worlds - 1)
    return total


def compositions(size: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to divide a number into an ordered number of parts.

    Examples
    --------
    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(size + parts - 1), parts - 1):
        ends = (-1, *bars, size + parts - 1)
        yield tuple(stop - start - 1 for start, stop in pairwise(ends))


def enumerate_states(states: States) -> Found:
    """Posterior of each world of each person.

    Parameters
    ----------
    states
        The states.

    Returns
    -------
    Found
        The posterior; nobody has mixed where no state is possible.
    """
    persons = states.persons
    sets = [np.flatnonzero(persons.alike == one) for one in np.unique(persons.alike)]
    worlds = [np.flatnonzero(np.isfinite(persons.log_prior[own[0]])) for own in sets]
    state = np.empty(persons.size, dtype=np.int32)
    mass, top = [np.zeros(persons.n_worlds) for _ in sets], -math.inf
    total = 0.0
    ways = [compositions(own.size, own_worlds.size) for own, own_worlds in zip(sets, worlds, strict=True)]
    for counts in product(*ways):
        log = 0.0
        for own, own_worlds, count in zip(sets, worlds, counts, strict=True):
            state[own] = np.repeat(own_worlds, count)
            log += math.lgamma(own.size + 1) - sum(math.lgamma(k + 1) for k in count)
            log += float(np.dot(count, persons.log_prior[own[0], own_worlds]))
        states.begin(state)
        log += states.log_likelihood()
        if log > top:
            shrink = math.exp(top - log)
            total, mass, top = total * shrink, [one * shrink for one in mass], log
        weight = math.exp(log - top) if math.isfinite(log) else 0.0
        total += weight
        for one, own_worlds, count in zip(mass, worlds, counts, strict=True):
            one[own_worlds] += weight * np.array(count)
    found = np.full(persons.log_prior.shape, np.nan)
    nothing = np.full(persons.size, np.nan)
    if total == 0:
        return Found(found, np.zeros(persons.size, dtype=np.bool_), 0, 0, math.nan, nothing)
    for own, one in zip(sets, mass, strict=True):
        found[own] = one / (total * own.size)
    return Found(found, np.ones(persons.size, dtype=np.bool_), 0, 0, 0.0, nothing)
