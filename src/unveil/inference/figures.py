"""The figures of one attack: its rate, what it stands beside, and how well the attacker predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unveil.inference.attack import Attack, Runner
from unveil.inference.intervals import bootstrap_rates, clopper_pearson, percentile_band, wilson

__all__ = ["attack_figures", "attack_intervals", "excess", "suggested_threshold"]

Floats = NDArray[np.float64]
NAN = float("nan")


def excess(attack: float, baseline: float) -> float:
    """``(attack - baseline) / (1 - baseline)``: the share of what the baseline leaves; NaN where it leaves nothing.

    Examples
    --------
    >>> excess(0.5, 0.25), excess(0.25, 0.25)
    (0.3333333333333333, 0.0)
    """
    return (attack - baseline) / (1 - baseline) if baseline < 1 else NAN


def _mean(values: Floats) -> float:
    """The mean, of the values in ascending order: rounding is not to depend on the order of the records."""
    return float(np.sort(values).mean())


def _null_rates(attack: Attack, runner: Runner) -> Floats:
    rule = runner.rule
    return np.array([null.rates((rule.threshold,), rule.above)[0] for null in attack.null])


def attack_figures(attack: Attack, runner: Runner) -> dict[str, float]:
    """All figures of one attack by name; NaN where a figure was not asked for or is not defined."""
    rule, problem = runner.rule, runner.problem
    null = _null_rates(attack, runner)
    margin = runner.margin()
    margin_rate = float(rule.at_risk(runner.score(margin)).mean())
    figures = {
        "rate": attack.rate,
        "n_at_risk": int(attack.at_risk.sum()),
        "n": len(attack.at_risk),
        "margin": margin_rate,
        "null_mean": float(null.mean()) if len(null) else NAN,
        "null_95": float(np.quantile(null, 0.95)) if len(null) else NAN,
        "p_value": (1 + int((null >= attack.rate).sum())) / (1 + len(null)) if len(null) else NAN,
        "ceiling": float(attack.ceiling.rates((rule.threshold,), rule.above)[0]) if attack.ceiling else NAN,
    }
    figures["excess"] = excess(attack.rate, figures["null_mean"] if len(null) else margin_rate)
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
    observed = np.array([(attack.score > t).mean() if rule.above else (attack.score < t).mean() for t in grid])
    null = np.quantile([n.rates(grid, rule.above) for n in attack.null], 0.95, axis=0)
    above = np.flatnonzero(observed > null)
    return float(grid[above[0]]) if len(above) else NAN


def attack_intervals(
    attack: Attack, runner: Runner, *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Intervals of the rate and of its excess over the null.

    ``bootstrap`` resamples persons and holds the model. ``excess`` pairs each replicate with a draw from the null, so
    that it also holds what refitting does; over the margin, which is no draw, where there is no null.
    """
    at_risk = int(attack.at_risk.sum())
    total = len(attack.at_risk)
    drawn = bootstrap_rates(np.array([total - at_risk, at_risk]), n=n, seed=seed)[:, 1] / total
    low, high = percentile_band(drawn[:, None], level)
    null = _null_rates(attack, runner)
    if len(null):
        base = np.random.default_rng([seed, 1]).choice(null, size=n)
    else:
        base = np.full(n, float(runner.rule.at_risk(runner.score(runner.margin())).mean()))
    gains = np.array([excess(a, b) for a, b in zip(drawn, base, strict=True)])
    defined = gains[~np.isnan(gains)]
    ends = percentile_band(defined[:, None], level) if len(defined) else (np.array([NAN]), np.array([NAN]))
    return {
        "bootstrap": (float(low[0]), float(high[0])),
        "wilson": wilson(at_risk, total, level),
        "clopper_pearson": clopper_pearson(at_risk, total, level),
        "excess": (float(ends[0][0]), float(ends[1][0])),
    }
