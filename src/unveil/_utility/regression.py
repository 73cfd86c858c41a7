"""Regressions of an analyst, fitted to the original and to the release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.formula import RegressionModel
from unveil._utility.measures import UtilityMeasures
from unveil._utility.model_design import ModelDesign, Rows
from unveil.models.least_squares import fit_least_squares
from unveil.models.logit import fit_logistic, rank_and_gaps
from unveil.stats import normal_quantile

Floats = NDArray[np.float64]
_FIGURES = ("estimate_original", "se_original", "estimate", "se", "overlap", "std_difference")


@dataclass(frozen=True, eq=False)
class Estimates:
    """Coefficients of a regression on one file.

    Parameters
    ----------
    estimate, se : (k,) float64
        Coefficients and their standard errors; NaN where a coefficient is not defined.
    reasons
        Per coefficient why it is NaN, else an empty text.
    """

    estimate: Floats
    se: Floats
    reasons: tuple[str, ...]


def compare_models(
    models: Sequence[RegressionModel], variables: Sequence[Compared], level: float
) -> tuple[UtilityMeasures, ...]:
    """Fit each model to the original and to every release.

    Parameters
    ----------
    models
        The models.
    variables
        The variables of all files.
    level
        Coverage of the confidence intervals.

    Returns
    -------
    tuple of UtilityMeasures
        One per coefficient. Subject: ``model``, ``kind``, ``event``, ``term``, ``persons`` (of how many
        complete records of the original the coefficient tells at least). Figures: estimate and standard error of the
        original and of the release, ``overlap``, ``std_difference``; the mean is the combined estimate of m releases,
        with variance ``mean of the variances + variance between the estimates / m``.

    References
    ----------
    Reiter (2003), Inference for partially synthetic, public use microdata sets, Survey Methodology 29, 181-188.
    """
    by_name = {variable.name: variable for variable in variables}
    found = []
    for model in models:
        design = ModelDesign.of(model, [by_name[name] for name in (model.outcome, *model.predictors)])
        rows = design.rows(None)
        before, persons = _fitted(design, rows), _persons(design, rows)
        after = [_fitted(design, design.rows(r)) for r in range(len(variables[0].column.releases))]
        for k, term in enumerate(design.terms):
            found.append(_coefficient(design, (term, persons[k]), k, before, after, level))
    return tuple(found)


def _persons(design: ModelDesign, rows: Rows) -> list[int]:
    """Per coefficient, of how many complete records of the original it tells at least.

    Those that have the level, or the level that it is compared with; the constant tells of who has the latter of all
    variables. A logistic model also tells of the rarer outcome.
    """
    n = rows.x.shape[0]
    rarer = n if design.event is None else min(int(rows.y.sum()), n - int(rows.y.sum()))
    with_level = rows.x.getnnz(axis=0)
    held, first = [rarer], 1
    for variable, term in zip(design.variables[1:], design.design.terms, strict=True):
        of_levels = with_level[first : first + len(term.columns)]
        first += len(term.columns)
        if variable.column.has_amounts:
            held.append(rarer)
            continue
        compared = n - int(of_levels.sum())
        held[0] = min(held[0], compared)
        held.extend(min(int(count), compared, rarer) for count in of_levels)
    return held


def _coefficient(
    design: ModelDesign, term: tuple[str, int], k: int, before: Estimates, after: Sequence[Estimates], level: float
) -> UtilityMeasures:
    def figures(estimate: float, se: float) -> dict[str, float]:
        first, se_first = float(before.estimate[k]), float(before.se[k])
        overlap = interval_overlap((first, se_first), (estimate, se), level=level)
        difference = (estimate - first) / se_first if se_first > 0 else math.nan
        return dict(zip(_FIGURES, (first, se_first, estimate, se, overlap, difference), strict=True))

    releases = [figures(float(a.estimate[k]), float(a.se[k])) for a in after]
    held = [(r["estimate"], r["se"]) for r in releases if not math.isnan(r["estimate"])]
    combined = figures(*_combined(held))
    subject: dict[str, Any] = {
        "model": str(design.model), "kind": design.model.kind, "event": design.event, "term": term[0],
        "persons": term[1],
    }  # fmt: skip
    reasons = [(f"the original: {before.reasons[k]}" if before.reasons[k] else "")]
    reasons += [f"a release: {a.reasons[k]}" for a in after if a.reasons[k]]
    why = next((reason for reason in reasons if reason), "a file has standard error 0: the fit is perfect")
    undefined = {n: why for n in _FIGURES if any(math.isnan(r[n]) for r in releases)}
    return UtilityMeasures.of(subject, releases, mean=combined, undefined=undefined)


def _combined(held: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean of the estimates, and the root of ``v + b / m``."""
    if not held:
        return math.nan, math.nan
    estimates = np.array([estimate for estimate, _ in held])
    within = float(np.mean([se**2 for _, se in held]))
    between = float(estimates.var(ddof=1)) / len(held) if len(held) > 1 else 0.0
    return float(estimates.mean()), math.sqrt(within + between)


def interval_overlap(first: tuple[float, float], second: tuple[float, float], *, level: float = 0.95) -> float:
    """Overlap of the normal confidence intervals of two estimates.

    ``1/2 ((U - L)/(u1 - l1) + (U - L)/(u2 - l2))`` with ``U = min(u1, u2)`` and ``L = max(l1, l2)``: 1 where they are
    the same, and below 0 where they are disjoint, the more so the farther apart they are.

    Parameters
    ----------
    first, second
        Estimate and standard error.
    level
        Coverage of the intervals.

    Returns
    -------
    float
        At most 1; NaN where an interval has no width.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter & Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality, The American Statistician 60, 224-232.

    Examples
    --------
    >>> interval_overlap((0.0, 1.0), (0.0, 1.0)), round(interval_overlap((0.0, 1.0), (1.96, 1.0)), 2)
    (1.0, 0.5)
    """
    z = normal_quantile(level)
    lower, upper = ([e + sign * z * se for e, se in (first, second)] for sign in (-1, 1))
    # the difference of ends that are rounded alike: equal intervals overlap by exactly 1
    widths = [high - low for low, high in zip(lower, upper, strict=True)]
    if not all(width > 0 for width in widths):
        return math.nan
    shared = min(upper) - max(lower)
    return (shared / widths[0] + shared / widths[1]) / 2


def _fitted(design: ModelDesign, rows: Rows) -> Estimates:
    n, k = rows.x.shape
    if n == 0:
        return Estimates(np.full(k, np.nan), np.full(k, np.nan), ("no complete records",) * k)
    rank, gaps = rank_and_gaps(rows.x)
    unit = 1.0
    reasons = np.where(gaps, "not estimable, it has no variation of its own", "").astype(object)
    if design.model.kind == "linear":
        # squares of very large outcomes are out of range
        unit = float(np.abs(rows.y).max()) or 1.0
        linear = fit_least_squares(rows.x, rows.y / unit, rank=rank)
        estimate, covariance = linear.coefficients, linear.covariance
        if n <= rank:
            reasons[:] = "as many coefficients as records"
    else:
        fitted = fit_logistic(rows.x, rows.y)
        estimate, covariance = fitted.coefficients, fitted.covariance
        reasons[fitted.diverging & ~gaps] = "separated, its estimate has no bound"
        if rows.y.min() == rows.y.max():
            reasons[:] = "only one level of the outcome occurs"
    lost = np.array([bool(reason) for reason in reasons])
    if not lost[0] and lost[design.is_amount].any():
        # the constant is the outcome where amounts are 0, which takes their coefficients to say
        reasons[0], lost[0] = "a coefficient of an amount is not known", True
    estimate, covariance = rows.in_own_units(estimate, covariance)
    se = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    estimate, se = (np.where(lost, np.nan, values * unit) for values in (estimate, se))
    return Estimates(estimate, se, tuple(str(r) for r in reasons))
