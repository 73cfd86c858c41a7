"""The figures of one attack: its rate, what it stands beside, and how well the attacker predicts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from unveil.inference.attack import Attack, Runner
from unveil.inference.intervals import bootstrap_rates, clopper_pearson, percentile_band, wilson
from unveil.inference.threshold import Distribution

__all__ = ["attack_figures", "attack_intervals", "excess", "excess_interval", "suggested_threshold"]

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
    return np.array([null.rates((rule.threshold,), rule)[0] for null in attack.null])


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
        "ceiling": float(attack.ceiling.rates((rule.threshold,), rule)[0]) if attack.ceiling else NAN,
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
    observed = Distribution.of(attack.score).rates(grid, rule)
    null = np.quantile([n.rates(grid, rule) for n in attack.null], 0.95, axis=0)
    above = np.flatnonzero(observed > null)
    return float(grid[above[0]]) if len(above) else NAN


def attack_intervals(
    attack: Attack, runner: Runner, *, n: int, seed: int, level: float
) -> dict[str, tuple[float, float]]:
    """Intervals of the rate and of its excess over the null.

    ``bootstrap`` resamples persons and holds the model; where nobody or everybody is at risk that shows nothing else,
    and the interval is that of Clopper & Pearson. ``wilson`` and ``clopper_pearson`` are those of a share.
    ``excess`` covers 0 exactly where the permutation test at this level does not reject; see :func:`excess_interval`.
    Without a null it is the bootstrap interval, less the margin.
    """
    at_risk = int(attack.at_risk.sum())
    total = len(attack.at_risk)
    exact = clopper_pearson(at_risk, total, level)
    drawn = bootstrap_rates(np.array([total - at_risk, at_risk]), n=n, seed=seed)[:, 1] / total
    low, high = percentile_band(drawn[:, None], level)
    bootstrap = (float(low[0]), float(high[0])) if 0 < at_risk < total else exact
    if attack.null:
        gain = excess_interval(attack.rate, _null_rates(attack, runner), bootstrap, level)
    else:
        margin = float(runner.rule.at_risk(runner.score(runner.margin())).mean())
        gain = (excess(bootstrap[0], margin), excess(bootstrap[1], margin))
    return {
        "bootstrap": bootstrap,
        "wilson": wilson(at_risk, total, level),
        "clopper_pearson": exact,
        "excess": gain,
    }


def excess_interval(
    rate: float, null: Floats, bootstrap: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Interval of the excess of a rate over its null, from the null's own draws.

    A release whose target has nothing to do with the keys is exchangeable with its shuffles: the distance of its rate
    from the null's mean is one more draw of the distances of the null's rates. With h the distance that a share
    ``level`` of them does not exceed (of rank ``ceil(level * (P + 1))`` of P; each from the mean of the others), the
    interval is ``(rate -+ h - mean) / (1 - mean)`` and covers 0 for a share ``level`` of such releases, or more where
    rates are tied. With fewer than ``level / (1 - level)`` shuffles h is that of a normal null, by Student's t. Where 0
    is not covered, the interval is no narrower than the bootstrap over persons.

    Parameters
    ----------
    rate
        Share of persons at risk.
    null : (P,)
        The same of the shuffled releases.
    bootstrap
        Interval of the rate over persons.
    level
        Coverage, between 0 and 1.

    Returns
    -------
    tuple of float
        The ends; NaN where a single shuffle says nothing of the spread, or the null leaves no room.

    References
    ----------
    Lehmann & Romano (2005), Testing statistical hypotheses, section 15.2; Barber, Candès, Ramdas & Tibshirani (2021),
    Predictive inference with the jackknife+, Annals of Statistics 49, 486-507.

    Examples
    --------
    >>> null = np.linspace(0.08, 0.12, 39)
    >>> [round(end, 3) for end in excess_interval(0.11, null, (0.08, 0.14))]
    [-0.012, 0.034]
    >>> [round(end, 3) for end in excess_interval(0.55, null, (0.5, 0.6))]
    [0.444, 0.556]
    """
    draws = len(null)
    mean = float(null.mean())
    if draws < 2 or mean >= 1:
        return NAN, NAN
    rank = math.ceil(round(level * (draws + 1), 9))
    if rank <= draws:
        distance = float(np.sort(np.abs(null - mean))[rank - 1]) * draws / (draws - 1)
    else:
        quantile = float(stdtrit(draws - 1, (1 + level) / 2))
        distance = quantile * float(null.std(ddof=1)) * math.sqrt(1 + 1 / draws)
    # rates are multiples of 1/n: what is equal but for rounding is a tie
    distance += 1e-12
    low, high = rate - distance, rate + distance
    if low > mean:
        low, high = (min(low, bootstrap[0]) if bootstrap[0] > mean else low), max(high, bootstrap[1])
    elif high < mean:
        low, high = min(low, bootstrap[0]), (max(high, bootstrap[1]) if bootstrap[1] < mean else high)
    return excess(max(low, 0.0), mean), excess(min(high, 1.0), mean)
