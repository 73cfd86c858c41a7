"""The figures of one attack: its rate, what it stands beside, and how well the attacker predicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner, compared_rates, null_rates
from unveil._rapid.resampling import Resampled
from unveil._rapid.sample import sampling_half, widened
from unveil._rapid.threshold import Distribution, RiskThreshold
from unveil.stats import (
    Excess,
    excess,
    excess_interval,
    over_null,
    rate_interval,
)

Floats = NDArray[np.float64]
NAN = float("nan")


def _mean(values: Floats) -> float:
    """The mean, of the values in ascending order: rounding is not to depend on the order of the records."""
    return float(np.sort(values).mean())


def _margin_rate(runner: Runner) -> float:
    return float(runner.rule.at_risk(runner.score(runner.margin())).mean())


def attack_figures(attack: Attack, runner: Runner) -> dict[str, float]:
    """All figures of one attack by name; NaN where a figure was not asked for or is not defined."""
    rule, problem = runner.rule, runner.problem
    null = over_rates([attack], attack.rate, (NAN, NAN), 0.95, rule)
    margin, margin_rate = runner.margin(), _margin_rate(runner)
    figures = {
        "rate": attack.rate,
        "n_at_risk": int(attack.at_risk.sum()),
        "n": len(attack.at_risk),
        "margin": margin_rate,
        "null_mean": null.null_mean,
        "null_95": null.null_95,
        "p_value": null.p_value,
        "ceiling": float(attack.ceiling.rates((rule.threshold,), rule)[0]) if attack.ceiling else NAN,
    }
    figures["excess"] = null.excess if attack.null else excess(attack.rate, margin_rate)
    figures["excess_over_margin"] = excess(attack.rate, margin_rate)
    figures["suggested_threshold"] = suggested_threshold(attack, runner)
    if attack.inferred.probability is not None and margin.probability is not None:
        right, guessed = attack.inferred.predicted == problem.truth, margin.predicted == problem.truth
        figures |= {
            "accuracy": float(right.mean()),
            "accuracy_margin": float(guessed.mean()),
            "accuracy_excess": excess(float(right.mean()), float(guessed.mean())),
            "mean_probability": _mean(attack.inferred.probability),
            "mean_probability_margin": _mean(margin.probability),
            "mean_score": _mean(attack.score),
        }
    else:
        error, reference = problem.truth - attack.inferred.predicted, problem.truth - margin.predicted
        figures |= {
            "mae": _mean(np.abs(error)),
            "mae_margin": _mean(np.abs(reference)),
            "rmse": float(np.sqrt(_mean(error**2))),
            "mean_score": _mean(attack.score),
        }
    return figures


def over_rates(
    runs: Sequence[Attack], rate: float, ends: tuple[float, float], level: float, rule: RiskThreshold
) -> Excess:
    """A rate with its release interval among the rates of the shuffles: means over some attacks."""
    null = null_rates(runs, (rule.threshold,), rule)[:, 0]
    return over_null(rate, null, ends, level, tested=compared_rates(runs, rule.threshold, rule) if len(null) else None)


def suggested_threshold(attack: Attack, runner: Runner) -> float:
    """The laxest threshold at which the rate stands above the 95th percentile of the null.

    That is the smallest tau, or the largest epsilon, of a grid of 100; NaN where there is none, or no null.
    """
    rule = runner.rule
    if not attack.null:
        return NAN
    if rule.above:
        top = 1.0 if rule.scoring != "conditional" else max(3.0, 2 * rule.threshold)
        grid = tuple(np.round(np.arange(100) * top / 100, 4).tolist())
    else:
        grid = tuple((rule.threshold * np.arange(100, 0, -1) / 20).tolist())
    observed = Distribution.of(attack.score).rates(grid, rule)
    null = np.quantile(null_rates([attack], grid, rule), 0.95, axis=0)
    above = np.flatnonzero(observed > null)
    return float(grid[above[0]]) if len(above) else NAN


def attack_intervals(
    attack: Attack, runner: Runner, *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Intervals of the rate (:func:`unveil.stats.rate_interval`) and of its excess over the null, this release.

    ``excess`` covers 0 for a part ``level`` of the releases whose target is independent of the keys, or a little more
    with forests; see :func:`unveil.stats.excess_interval`. Without a null it is the excess over the margin, resampled
    together.
    """
    drawn = resampled_rates(attack, runner, n=n, seed=seed)
    half = sampling_half([attack], (runner.rule.threshold,), runner.rule, level)[0]
    return intervals_of(attack, runner, attack.rate, drawn, len(attack.at_risk), half, n=n, seed=seed, level=level)


def resampled_rates(attack: Attack, runner: Runner, *, n: int, seed: int) -> Floats:
    """The rate (n,) of one attack in resamples of its persons."""
    at_risk = Resampled.of([attack], runner).rates((runner.rule.threshold,), n=n, seed=seed)[0]
    rates: Floats = at_risk.sum(axis=(1, 2, 3)) / len(attack.at_risk)
    return rates


def intervals_of(
    attack: Attack, runner: Runner, rate: float, drawn: Floats, persons: int, half: float, *, n: int, seed: int,
    level: float,
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """Intervals of a rate of so many persons from its resamples, and from the draw of what the attacker learnt from.

    Parameters
    ----------
    attack, runner
        What the rate is of.
    rate, drawn, persons
        The rate, the same of the resamples (n,), and the number of persons.
    half
        Half the length of its interval over the draw of the training sample.
    n, seed, level
        Number and seed of the resamples, and coverage.
    """
    found = rate_interval(rate, drawn, persons, level)
    if half:
        found["bootstrap"] = widened(rate, found["bootstrap"], half)
    if attack.null:
        null = null_rates([attack], (runner.rule.threshold,), runner.rule)[:, 0]
        gain = excess_interval(rate, null, found["bootstrap"], level)
    else:
        margins = Resampled.of([attack], runner).margins(n=n, seed=seed)
        gain = over_margin(rate, drawn, margins, runner, found["bootstrap"], level).interval
    return found | {"excess": gain}


def over_margin(
    rate: float, drawn: Floats, margins: Floats, runner: Runner, ends: tuple[float, float], level: float
) -> Excess:
    """Excess of a rate over the margin, where there is no null.

    Parameters
    ----------
    rate, ends
        The rate and its release interval.
    drawn, margins : (b,)
        The rates and the margins of the resamples.
    runner
        What was asked for.
    level
        Coverage.
    """
    margin = _margin_rate(runner)
    gain = excess(rate, margin)
    if margin >= 1 or (margins >= 1).any():
        return Excess(excess=gain)
    low, high = np.quantile((drawn - margins) / (1 - margins), [(1 - level) / 2, (1 + level) / 2])
    first, last = (excess(end, margin) for end in ends)
    return Excess(excess=gain, interval=(min(float(low), first), max(float(high), last)))
