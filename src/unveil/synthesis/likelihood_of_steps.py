"""The probability that the models of one variable give to values of records."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from unveil.synthesis.plan import Plan, restricted
from unveil.synthesis.variable import Levels
from unveil.trees import Column


def log_of_steps(
    plan: Plan, own: Levels, columns: Mapping[int, Column], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the logarithm (n,) of the probability of every record's value given its predictors.

    Parameters
    ----------
    plan
        The variable.
    own
        Its levels in the records.
    columns
        By position, its parts and those of its predictors in the records.
    free : (n,) bool
        Records that the models decide; 0 for all others.
    """
    log = np.zeros(free.size)
    for step in plan.steps:
        rows = np.flatnonzero(free) if step.part == 0 else np.flatnonzero(free & is_observed(plan, own))
        if rows.size == 0:
            continue
        if step.fitted is None:
            log[rows] = -np.inf
            continue
        predictors = [restricted(columns[p], rows) for p in step.predictors]
        log[rows] += step.fitted.log_prob(restricted(columns[step.position], rows), predictors)
    if len(plan.steps) > 1 and getattr(plan.steps[1].fitted, "draws_new_numbers", False):
        _add_numbers_like_codes(plan, own, columns, np.flatnonzero(free & ~is_observed(plan, own)), log)
    return log


def _add_numbers_like_codes(
    plan: Plan, own: Levels, columns: Mapping[int, Column], rows: NDArray[np.intp], log: NDArray[np.float64]
) -> None:
    """Add to the probability of a special code that of a drawn number which happens to read like the code."""
    which, number = (step.fitted for step in plan.steps)
    assert which is not None
    assert number is not None
    part, code = plan.variable.parts[0].column, plan.variable.code_numbers[own.codes[rows]]
    rows, code = rows[~np.isnan(code)], code[~np.isnan(code)]
    if rows.size:
        observed = part.with_codes(np.full(rows.size, part.n_levels - 1, dtype=np.int32))
        drawn = Column.from_values(code, name=part.name)
        predictors = [[restricted(columns[p], rows) for p in step.predictors] for step in plan.steps]
        both = which.log_prob(observed, predictors[0]) + number.log_prob(drawn, predictors[1])
        log[rows] = np.logaddexp(log[rows], both)


def is_observed(plan: Plan, levels: Levels) -> NDArray[np.bool_]:
    """Return whether each record (n,) of a variable in two parts has a number."""
    part = plan.variable.parts[0]
    observed: NDArray[np.bool_] = part.of_level[levels.codes] == part.level_of.size - 1
    return observed
