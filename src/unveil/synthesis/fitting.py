"""Fitting a plan, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.synthesis.memory import give_back
from unveil.synthesis.plan import Plan, PlanStep, restricted
from unveil.synthesis.protocol import FittedVariable
from unveil.threads import in_threads
from unveil.trees import Column

Progress = Callable[[int, int, str], None]
"""Called with the number of tasks done, their total, and the name of the one just done."""

UNUSED = np.random.default_rng(0)
"""Generator for methods whose fit is not random (``draws_in_fit``)."""


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return an independent generator for every key, so that no result depends on the order of work."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def fit_plans(
    plans: Sequence[Plan],
    seed: int,
    key: Sequence[int],
    *,
    records: NDArray[np.int64] | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Plan, ...]:
    """Fit all parts of all variables.

    Parameters
    ----------
    plans
        The variables in the order of visit.
    seed, key
        Seed and key of the random numbers of the methods.
    records : (n,) int64, optional
        Records of the fit, possibly repeated (a bootstrap sample); all by default.
    threads
        Number of threads.
    progress
        See :data:`Progress`.

    Returns
    -------
    tuple of Plan
        The fitted variables.
    """
    columns = columns_by_position(plans)
    if records is not None:
        columns = {position: restricted(column, records) for position, column in columns.items()}
    tasks = [step for plan in plans for step in plan.steps if step.method is not None]

    def fit(step: PlanStep) -> tuple[int, FittedVariable] | None:
        return _fit(step, columns, _positions(step.rows, records), seed, key)

    def done(count: int, step: PlanStep) -> None:
        if progress:
            progress(count, len(tasks), step.name)

    # Long fits first, so that no thread works alone on a long fit at the end.
    longest_first = sorted(tasks, key=lambda step: -len(step.predictors))
    fits: Iterable[tuple[int, FittedVariable] | None] = in_threads(fit, longest_first, threads, done)
    fitted = dict(fit for fit in fits if fit is not None)
    return tuple(plan.with_fits(fitted) for plan in plans)


def fit_plan(
    plan: Plan, plans: Sequence[Plan], seed: int, key: Sequence[int], *, records: NDArray[np.int64] | None = None
) -> Plan:
    """Fit one variable of a plan as :func:`fit_plans` does, and none of the others.

    Parameters
    ----------
    plan
        The variable.
    plans
        All variables in the order of visit.
    seed, key, records
        See :func:`fit_plans`.
    """
    columns = columns_by_position(plans)
    steps = [step for step in plan.steps if step.method is not None]
    if records is not None:
        needed = {p for step in steps for p in (step.position, *step.predictors)}
        columns = {position: restricted(columns[position], records) for position in needed}
    fits = [_fit(step, columns, _positions(step.rows, records), seed, key) for step in steps]
    return plan.with_fits(dict(fit for fit in fits if fit is not None))


def columns_by_position(plans: Sequence[Plan]) -> dict[int, Column]:
    """Return the original records of all parts by position."""
    return {step.position: plan.variable.parts[step.part].column for plan in plans for step in plan.steps}


def _fit(
    step: PlanStep, columns: Mapping[int, Column], rows: NDArray[np.int64] | None, seed: int, key: Sequence[int]
) -> tuple[int, FittedVariable] | None:
    """Return the fitted model of a part and its position; None if there are no records to fit it to."""
    if rows is not None and rows.size == 0:
        return None
    assert step.method is not None
    response = restricted(columns[step.position], rows)
    predictors = [restricted(columns[p], rows) for p in step.predictors]
    # To set up a generator takes longer than to grow a small tree.
    draws = getattr(step.method, "draws_in_fit", True)
    rng = generator(seed, *key, step.position) if draws else UNUSED
    fitted = step.method.fit(response, predictors, rng)
    give_back(response.codes.size)
    return step.position, fitted


def _positions(rows: NDArray[np.int64] | None, records: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return the positions of those of the records that belong to the rows; None for all."""
    if rows is None or records is None:
        return rows
    return np.flatnonzero(np.isin(records, rows))
