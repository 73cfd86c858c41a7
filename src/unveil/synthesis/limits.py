"""Conditions that no synthetic record breaks: of the donors only those count with whose value a record keeps them.

A variable is limited by the conditions that its value decides, given the variables before it. Its distribution in a
record is that of its model among the levels that are permitted there,

    P(v) = p(v | predictors) / sum of p(u | predictors) over permitted u,

or, where the model gives no permitted level any probability, that of the permitted values in the column of the
original. Where no level is permitted at all, the values before it cannot be completed: the whole record is drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.synthesis.likelihood_of_steps import log_of_steps
from unveil.synthesis.plan import Plan
from unveil.synthesis.variable import Levels
from unveil.trees import Column

CELLS = 1 << 22
"""Most probabilities, of records by levels, that are held at a time."""
MOST_COMBINATIONS = 1 << 20
"""Most combinations of values of which it is looked up whether they are permitted."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Records = Mapping[str, Levels]


def broken(plan: Plan, records: Records, n: int) -> Flags:
    """Return which records (n,) break a condition that limits a variable."""
    found = np.zeros(n, dtype=np.bool_)
    for limit in plan.limits:
        # What is not drawn yet is constant.
        own = {name: records.get(name, Levels(np.zeros(n, dtype=np.int32))) for name in limit.variables}
        found |= limit.broken(own)
    return found


def permitted(plan: Plan, records: Records, rows: NDArray[np.intp]) -> Flags:
    """Return which levels (r, l) some records may have in a variable, given their other values."""
    others = [part_of(records[name], rows) for name in plan.ruled_by if name in records]
    if not others:
        return np.repeat(_permitted(plan, records, rows[:1]), rows.size, axis=0)
    if any(one.new is not None for one in others):
        return _permitted(plan, records, rows)
    _, first, place = np.unique([one.codes for one in others], axis=1, return_index=True, return_inverse=True)
    return _permitted(plan, records, rows[first])[place.ravel()]


def bound(plan: Plan, records: Records, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those of some records (r,) that may not have every level."""
    step = max(CELLS // max(plan.variable.n_levels, 1), 1)
    parts = (rows[start : start + step] for start in range(0, rows.size, step))
    return np.concatenate([rows[:0], *(some[~permitted(plan, records, some).all(axis=1)] for some in parts)])


def _permitted(plan: Plan, records: Records, rows: NDArray[np.intp]) -> Flags:
    n_levels = plan.variable.n_levels
    repeated = np.repeat(rows, n_levels)
    others = {name: part_of(records[name], repeated) for name in plan.ruled_by if name in records}
    own = Levels(np.tile(np.arange(n_levels, dtype=np.int32), rows.size))
    return ~broken(plan, others | {plan.variable.name: own}, repeated.size).reshape(rows.size, n_levels)


def part_of(levels: Levels, rows: NDArray[np.intp]) -> Levels:
    """Return the levels of some records."""
    return Levels(levels.codes[rows], None if levels.new is None else levels.new[rows])


def can_be_listed(plan: Plan) -> bool:
    """Whether the model of a variable gives a probability to each of its levels, and draws nothing else."""
    return all(
        step.fitted is None or (step.fitted.has_likelihood and not getattr(step.fitted, "draws_new_numbers", False))
        for step in plan.steps
    )


def log_by_level(plan: Plan, columns: Mapping[int, Column], rows: NDArray[np.intp]) -> Floats:
    """Return the logarithm (r, l) of the probability that the model gives to every level in some records."""
    n_levels = plan.variable.n_levels
    repeated = np.repeat(rows, n_levels)
    own = Levels(np.tile(np.arange(n_levels, dtype=np.int32), rows.size))
    needed = {p for step in plan.steps for p in step.predictors}
    given = {p: columns[p].with_codes(columns[p].codes[repeated]) for p in needed}
    given |= {step.position: one for step, one in zip(plan.steps, plan.variable.columns(own), strict=True)}
    return log_of_steps(plan, own, given, np.ones(repeated.size, dtype=np.bool_)).reshape(rows.size, n_levels)


def log_among_permitted(
    plan: Plan, records: Records, columns: Mapping[int, Column], rows: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield some records (r,) at a time, with the logarithm (r, l) of the probability of every permitted level.

    Without any permitted level all are ``-inf``.
    """
    step = max(CELLS // max(plan.variable.n_levels, 1), 1)
    for start in range(0, rows.size, step):
        some = rows[start : start + step]
        may = permitted(plan, records, some)
        by_model = log_by_level(plan, columns, some) if can_be_listed(plan) else -np.inf
        log = np.where(may, by_model, -np.inf)
        lost = np.isneginf(log).all(axis=1)
        with np.errstate(divide="ignore"):
            log[lost] = np.where(may[lost], np.log(plan.variable.counts), -np.inf)
        total = np.logaddexp.reduce(log, axis=1, keepdims=True)
        yield some, np.where(np.isneginf(total), -np.inf, log - np.where(np.isneginf(total), 0, total))


def limited(
    plan: Plan, records: Records, columns: Mapping[int, Column], rows: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Draw the variable anew in records that break a condition.

    The first draw was kept where it is permitted, so that these records alone have to be drawn from what is permitted.

    Returns
    -------
    codes : (r,) int32
        The levels.
    dead : (d,) int
        The records for which no level is permitted.
    """
    codes, dead = np.zeros(rows.size, dtype=np.int32), []
    uniform = rng.random(rows.size)
    done = 0
    for some, log in log_among_permitted(plan, records, columns, rows):
        upto = np.cumsum(np.exp(log), axis=1)
        none = np.isneginf(log).all(axis=1)
        dead.append(some[none])
        last = log.shape[1] - 1 - np.argmax(np.isfinite(log[:, ::-1]), axis=1)
        chosen = (upto <= uniform[done : done + some.size, None] * upto[:, -1:]).sum(axis=1)
        codes[done : done + some.size] = np.where(none, 0, np.minimum(chosen, last))
        done += some.size
    return codes, np.concatenate(dead) if dead else rows[:0]


def require_completion(plan: Plan, plans: Sequence[Plan]) -> None:
    """Raise an error unless every combination of other values leaves a level that is permitted.

    Otherwise some records are drawn anew as a whole, and the probability of those that are kept is not computed.

    Parameters
    ----------
    plan
        A variable that is limited.
    plans
        All variables.

    Raises
    ------
    CallError
        If some combination leaves none, if there are too many to look them up, or if numbers that nobody has are drawn.
    """
    text = plan.limits[0].text
    if any(getattr(step.fitted, "draws_new_numbers", False) for step in plan.steps):
        raise CallError(
            f"rule {text!r}: {plan.variable.name!r} is drawn as numbers that nobody has, whose probability is not "
            "computed under a rule; use its method 'cart'"
        )
    inside = [one.variable for one in plans if one.variable.name in plan.ruled_by]
    shape = [variable.n_levels for variable in inside]
    if prod(shape) * plan.variable.n_levels > MOST_COMBINATIONS:
        raise CallError(
            f"rule {text!r} joins columns of too many values to say whether some cannot be completed, and the "
            "probability of a release with it; leave the rule out, or merge values"
        )
    places = np.unravel_index(np.arange(prod(shape)), shape) if shape else ()
    records = {one.name: Levels(place.astype(np.int32)) for one, place in zip(inside, places, strict=True)}
    may = permitted(plan, records, np.arange(prod(shape))) & (plan.variable.counts > 0)
    if not may.any(axis=1).all():
        raise CallError(
            f"rule {text!r}: some values of other columns leave no value of {plan.variable.name!r}; such records are "
            "drawn anew, and the probability of a release is not computed; leave the rule out"
        )
