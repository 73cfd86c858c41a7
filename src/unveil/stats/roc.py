"""How well a score tells members from others: the area under the ROC curve, and hits at few false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unveil.plain import Plain
from unveil.stats.normal import normal_quantile
from unveil.stats.ranks import mean_ranks

Floats = NDArray[np.float64]
Interval = tuple[float, float]

FPRS = (0.001, 0.01, 0.1)
"""Shares of false alarms at which hits are reported."""
_DRAWS = 4000
_UNDEFINED = (math.nan, math.nan)


@dataclass(frozen=True)
class RocFigures(Plain):
    """What an attack achieves.

    Attributes
    ----------
    auc, auc_interval
        Probability that a member has a higher score than a held-out person, ties counted half, and its interval.
    tpr, tpr_interval
        Share of members found where a share of :data:`FPRS` of the held-out persons is taken for members; NaN where
        there are fewer held-out records than one over that share.
    n
        Members and held-out records that were scored.
    undefined
        Why the attack has no figures at all; empty where it has.
    """

    auc: float
    auc_interval: Interval
    tpr: tuple[float, ...]
    tpr_interval: tuple[Interval, ...]
    n: tuple[int, int]
    undefined: str = ""

    @classmethod
    def none(cls, reason: str) -> RocFigures:
        """An attack that could not be made."""
        return cls(math.nan, _UNDEFINED, (math.nan,) * len(FPRS), (_UNDEFINED,) * len(FPRS), (0, 0), reason)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values; hits by share of false alarms."""
        found = super().to_dict()
        shares = [f"{fpr:g}" for fpr in FPRS]
        return found | {name: dict(zip(shares, found[name], strict=True)) for name in ("tpr", "tpr_interval")}


def figures_of(members: Floats, others: Floats, *, level: float, seed: np.random.SeedSequence) -> RocFigures:
    """Figures of an attack from its scores.

    Parameters
    ----------
    members, others : (n,)
        Scores of members and of held-out persons; a higher score says member.
    level
        Coverage of the intervals.
    seed
        Where the draws for the intervals of the hits come from.
    """
    auc, variance = delong(members, others)
    hits = [hits_at(fpr, members, others, level=level, seed=seed) for fpr in FPRS]
    return RocFigures(
        auc,
        auc_interval(auc, variance, len(members), len(others), level),
        tuple(value for value, _ in hits),
        tuple(ends for _, ends in hits),
        (len(members), len(others)),
    )


def delong(members: Floats, others: Floats) -> tuple[float, float]:
    """Area under the ROC curve, ties counted half, and its variance.

    With ``a_i`` the share of others below member i and ``b_j`` that of members above other j (ties half), the area is
    the mean of either and its variance ``var(a) / n_members + var(b) / n_others``; NaN with fewer than two of a kind.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845; by ranks as in Sun & Xu (2014), IEEE Signal
    Processing Letters 21, 1389-1393.

    Examples
    --------
    >>> auc, variance = delong(np.array([3.0, 2.0]), np.array([2.0, 1.0]))
    >>> auc, round(variance, 5)
    (0.875, 0.03125)
    """
    n, m = len(members), len(others)
    together = mean_ranks(np.concatenate([members, others]))
    below = (together[:n] - mean_ranks(members)) / m
    above = 1 - (together[n:] - mean_ranks(others)) / n
    auc = float((together[:n].sum() - n * (n + 1) / 2) / (n * m))
    if n < 2 or m < 2:
        return auc, math.nan
    # In ascending order: rounding is not to depend on the order of the records.
    return auc, float(np.var(np.sort(below), ddof=1) / n + np.var(np.sort(above), ddof=1) / m)


def auc_interval(auc: float, variance: float, n: int, m: int, level: float) -> Interval:
    """Interval of an area: normal on the scale of the logit with DeLong's variance.

    Where that variance says nothing (the groups are apart, all scores tie, or a group has one record) the ends are the
    areas from which the observed one is as far away as the normal quantile says, with the variance that the area would
    have under Hanley & McNeil's model (Newcombe 2006, Statistics in Medicine 25, 559-573, method 5).

    Examples
    --------
    >>> [round(end, 3) for end in auc_interval(0.7, 0.01, 50, 50, 0.95)]
    [0.479, 0.856]
    >>> [round(end, 3) for end in auc_interval(1.0, 0.0, 50, 50, 0.95)]
    [0.96, 1.0]
    """
    z = normal_quantile(level)
    if variance > 0 and 0 < auc < 1:
        spread = z * math.sqrt(variance) / (auc * (1 - auc))
        low, high = scipy.special.expit(scipy.special.logit(auc) + np.array([-spread, spread]))
        return float(low), float(high)
    others = (n + m) / 2 - 1

    def off(area: float) -> float:
        spread = area * (1 - area) * (1 + others * (1 - area) / (2 - area) + others * area / (1 + area)) / (n * m)
        return abs(auc - area) - z * math.sqrt(spread)

    low = 0.0 if auc == 0 or off(0.0) <= 0 else float(scipy.optimize.brentq(off, 0.0, auc - 1e-12))
    high = 1.0 if auc == 1 or off(1.0) <= 0 else float(scipy.optimize.brentq(off, auc + 1e-12, 1.0))
    return low, high


def roc(members: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Corners of the ROC curve: shares of others and of members with at least each score, from (0, 0) to (1, 1).

    Examples
    --------
    >>> [corner.tolist() for corner in roc(np.array([3.0, 2.0]), np.array([2.0, 1.0]))]
    [[0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]]
    """
    scores = np.unique(np.concatenate([members, others]))[::-1]
    shares = [
        np.append(0.0, 1 - np.searchsorted(np.sort(group), scores, side="left") / len(group))
        for group in (others, members)
    ]
    return shares[0], shares[1]


def hits_at(
    fpr: float, members: Floats, others: Floats, *, level: float, seed: np.random.SeedSequence
) -> tuple[float, Interval]:
    """Share of members found at a share of false alarms, and its interval.

    Between corners the curve is straight: who ties at the threshold is taken for a member at random. Both groups are
    sampled anew for the interval: the share of false alarms at the threshold from ``Beta(k, m - k + 1)``, k = fpr m,
    as order statistics have it; the hits there from ``Beta(h + 1/2, n - h + 1/2)``, Jeffreys' posterior, which
    also serves where no member, or every one, is found. With k = 1 the interval is rough: it covers in about 90 of 100.

    Returns
    -------
    hits : float
        NaN with fewer than 1 / fpr others.
    interval : tuple of float
        Central interval of the draws.
    """
    n, m = len(members), len(others)
    if m * fpr < 1 - 1e-9:
        return math.nan, _UNDEFINED
    alarms, hits = roc(members, others)
    # Where the curve rises at one share of false alarms, the top of the step can be had.
    last = np.append(alarms[1:] != alarms[:-1], True)
    alarms, hits = alarms[last], hits[last]
    found = float(np.interp(fpr, alarms, hits))
    rng = np.random.default_rng(seed)
    k = fpr * m
    there = np.interp(rng.beta(k, m - k + 1, _DRAWS), alarms, hits)
    draws = scipy.special.betaincinv(n * there + 0.5, n * (1 - there) + 0.5, rng.random(_DRAWS))
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return found, (0.0 if found == 0 else float(low), 1.0 if found == 1 else float(high))
