"""The null: what the same attack finds when the target of the release is shuffled.

A forest of a shuffled release has fewer trees than the attack: ``SIZES[-1]``. The mean of its rates over the shuffles
is carried to the size T of the attack. A rate of T trees is nearly ``a + b / T`` on average, so two sizes give it
(Richardson's extrapolation). All shuffles are moved by the same amount: to carry each by itself would add the noise of
its trees to the spread, and percentiles would lie too far out. The permutation test needs no such formula: it compares
the first trees of the attack, which are a forest of that size, with the forests of the shuffled releases. If the target
is independent of the keys, all of these are exchangeable, and the p-value is exact, as it is with forests of full size.

Sources: Lehmann & Romano (2005), Testing statistical hypotheses, section 15.2 (a test by exchangeability is exact for
every statistic); Richardson (1911), Philosophical Transactions of the Royal Society A 210, 307-357; Scornet (2016), On
the asymptotics of random forests, Journal of Multivariate Analysis 146, 72-83 (what trees are missing adds an error in
1 / T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.threshold import Distribution, RiskThreshold
from unveil.models.learners import ForestPredictor, Predictor

Floats = NDArray[np.float64]
SIZES = (50, 100)
"""Numbers of trees of a forest of a shuffled release; a forest without more trees has a null of its own size."""
SMALL = 2000
"""Records below which the null has forests of full size: they are grown in a moment, and with few different
combinations of keys a rate can jump between two numbers of trees."""


@dataclass(frozen=True, eq=False)
class Shuffled:
    """Scores of all persons in one attack on a release whose target is shuffled.

    Parameters
    ----------
    scores
        Those of the attack.
    half
        Those of a forest's first half, where the attack on the release itself has more trees; else None.
    n_trees
        Number of trees of that attack.
    """

    scores: Distribution
    half: Distribution | None = None
    n_trees: int = SIZES[-1]


def is_large(predict: Predictor) -> TypeGuard[ForestPredictor]:
    """Whether an attacker is a forest of more trees than the null needs, of a file that is not small."""
    return isinstance(predict, ForestPredictor) and predict.forest.n_trees > SIZES[-1] and predict.n_records >= SMALL


def rates_of_shuffles(shuffles: Sequence[Shuffled], thresholds: Sequence[float], rule: RiskThreshold) -> Floats:
    """Rate (b, t) of every shuffle of a release at every threshold, at the size of the attack on the release itself."""
    found = np.array([one.scores.rates(thresholds, rule) for one in shuffles])
    halves = [one.half.rates(thresholds, rule) for one in shuffles if one.half is not None]
    return carried(np.array(halves), found, shuffles[0].n_trees) if halves else found


def carried(half: Floats, whole: Floats, n_trees: int) -> Floats:
    """Rates (b, t) of shuffles whose mean is that at another number of trees, ``a + b / n_trees``, between 0 and 1.

    Parameters
    ----------
    half, whole : (b, t)
        The rates at both ``SIZES``.
    n_trees
        The other number of trees.

    Examples
    --------
    >>> half, whole = np.array([[0.33], [0.35]]), np.array([[0.30], [0.34]])
    >>> carried(half, whole, 500).round(6).tolist()
    [[0.284], [0.324]]
    """
    small, large = SIZES
    step = (1 / large - 1 / n_trees) / (1 / small - 1 / large)
    result: Floats = np.clip(whole + step * (whole - half).mean(axis=0), 0.0, 1.0)
    return result
