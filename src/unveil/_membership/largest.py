"""The best of several attacks, and how well the best does where nothing is to be found.

Whoever reports the largest of several areas under the curve reports more than 0.5 on average even of a release that was
made without looking at anybody. The null of the largest takes that into account.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.limits import reaches
from unveil.plain import Plain
from unveil.stats import excess, mean_ranks

Floats = NDArray[np.float64]
_DRAWS = 20_000
_CHANCE_AUC = 0.5


@dataclass(frozen=True)
class Largest(Plain):
    """The largest area under the ROC curve of several attacks.

    Attributes
    ----------
    attack, auc
        The attack that reaches it, and the area; empty and NaN where no attack could be made.
    null_mean, null_95, p_value
        The largest area of the same attacks on persons who are no likelier to be found than others: its mean, its 95th
        percentile, and the probability that it reaches this one.
    excess
        ``(auc - null_mean) / (1 - null_mean)``.
    """

    attack: str
    auc: float
    null_mean: float
    null_95: float
    p_value: float
    excess: float


def best_by_chance(found: Largest, attacks: Sequence[str]) -> str:
    """What the best of several attacks reaches by chance, in words; no text for a single attack."""
    if len(attacks) == 1 or math.isnan(found.auc):
        return ""
    return (
        f", and the best of {len(attacks)} attacks reaches {100 * found.null_mean:.1f} on average (up to "
        f"{100 * found.null_95:.1f} in 95 of 100 cases) where there is nothing to be found"
    )


def contributions(scores: Floats, is_member: NDArray[np.bool_]) -> Floats:
    """What each person adds to the area under the curve of one attack, in first order.

    The area is 0.5 plus the mean of ``F(score) - 0.5`` over members less that over the others, F being the distribution
    of all scores, ties counted half. Scaled so that the sum of squares is the variance under random labels.

    Parameters
    ----------
    scores : (n,)
        Scores of everyone; NaN for those whom the attack does not score.
    is_member : (n,) bool
        Who is a member.

    Returns
    -------
    (n,) float64
        0 for those who are not scored.

    References
    ----------
    van der Vaart (1998), Asymptotic statistics, section 12.2.

    Examples
    --------
    >>> weights = contributions(np.array([4.0, 3.0, 2.0, 1.0]), np.array([True, True, False, False]))
    >>> round(float((weights**2).sum()), 4), round((2 + 2 + 1) / (12 * 2 * 2), 4)
    (0.1042, 0.1042)
    """
    result = np.zeros(len(scores))
    scored = np.isfinite(scores)
    n, m = int((scored & is_member).sum()), int((scored & ~is_member).sum())
    if not n or not m:
        return result
    total = n + m
    place = (mean_ranks(scores[scored]) - 0.5) / total - 0.5
    place *= math.sqrt(total / (total - 1))
    result[scored] = np.where(is_member[scored], place / n, -place / m)
    return result


def largest_of(areas: Mapping[str, float], weights: Mapping[str, Floats], seed: int) -> Largest:
    """Set the largest of several areas against its null.

    Under the null each area is 0.5 plus the sum of what persons add to it, with signs that are as likely as not: the
    areas are nearly normal with the covariance of these sums. The largest is drawn from that.

    Parameters
    ----------
    areas
        Area by attack; NaN where the attack could not be made.
    weights
        Per attack :func:`contributions` (n,), of the same persons in the same order.
    seed
        Of the draws.
    """
    names = [name for name, area in areas.items() if not math.isnan(area)]
    if not names:
        return Largest("", *([math.nan] * 5))
    best = max(names, key=lambda name: areas[name])
    # In ascending order of all: rounding is not to depend on the order of the records.
    table = np.stack([weights[name] for name in names])
    covariance = (table := table[:, np.lexsort(table)]) @ table.T
    values, vectors = np.linalg.eigh(covariance)
    normal = np.random.default_rng([seed, len(names)]).standard_normal((_DRAWS, len(names)))
    drawn = _CHANCE_AUC + (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    null = np.clip(drawn, 0.0, 1.0).max(axis=1)
    # One attack has no advantage of choice, and no error of draws.
    mean = _CHANCE_AUC if len(names) == 1 else float(null.mean())
    reached = int(np.count_nonzero(reaches(null, areas[best])))
    return Largest(
        best, areas[best], mean, float(np.quantile(null, 0.95)), (1 + reached) / (1 + _DRAWS),
        excess(areas[best], mean),
    )  # fmt: skip
