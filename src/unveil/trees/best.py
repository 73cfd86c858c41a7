"""The best split of a node so far, and the score of the runner-up.

Scores
------
numeric response and two classes, with sums S of integers: ``(S_left n - S n_left)^2 / (n_left n_right)``,
which is ``n`` times the decrease of the within sum of squares (and half of ``n`` times the decrease of Gini);
three or more classes: ``sum_k left_k^2 / n_left + sum_k right_k^2 / n_right``, which is the decrease of ``n``
times Gini but for a constant of the node.

Both are fractions of integers. A split replaces the best one only if its fraction is larger: among equals the
first variable, then the first cut stays. Floating-point scores decide when they differ by more than one part
in 10^12, the fractions themselves otherwise. (Subsets of levels are not
offered in their own order: there the smaller place wins.) In nodes whose fractions do not fit into 128 bits
(``n^2`` times the span of the response above ``2**62``) scores within that distance count as equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.trees._compiled import allocating, compiled
from unveil.trees.ratio import add_wide, exceeds, multiply_wide

NEAR = 1e-12


class Best(NamedTuple):
    """Best split of one node.

    Parameters
    ----------
    score : (2,) float64
        Score of the best split and of the runner-up (any other cut of any variable).
    ratio : (3,) uint64
        High word, low word and divisor of the best score.
    split : (3,) int64
        Variable (-1: none), and where it is cut: the last code to the left and the first to the right, or the
        position in an order of levels, or the set of levels.
    """

    score: NDArray[np.float64]
    ratio: NDArray[np.uint64]
    split: NDArray[np.int64]


@allocating
def new_best() -> Best:
    """Return buffers for the best split."""
    return Best(np.zeros(2, np.float64), np.zeros(3, np.uint64), np.zeros(3, np.int64))


@compiled
def reset(best: Best, numerator: int, divisor: int) -> None:
    """Start a node: no split yet, and a split has to exceed the score of the undivided node."""
    best.score[:] = numerator / divisor
    best.ratio[0] = np.uint64(0)
    best.ratio[1] = np.uint64(numerator)
    best.ratio[2] = np.uint64(divisor)
    best.split[:] = -1


@compiled
def _offer(
    best: Best,
    exact: bool,
    score: float,
    high: np.uint64,
    low: np.uint64,
    divisor: np.uint64,
    feature: int,
    cut: int,
    after: int,
) -> None:
    """Take a split if it is better than the best one."""
    near = abs(score - best.score[0]) <= NEAR * best.score[0]
    if near and exact:
        better = exceeds(high, low, divisor, best.ratio[0], best.ratio[1], best.ratio[2])
    else:
        better = score > best.score[0] and not near
    if not better and exact and feature == best.split[0] and cut < best.split[1] and near:
        worse = exceeds(best.ratio[0], best.ratio[1], best.ratio[2], high, low, divisor)
        better = not worse
    if not better:
        best.score[1] = max(best.score[1], score)
        return
    if best.split[0] >= 0:
        best.score[1] = max(best.score[0], best.score[1])
    best.score[0] = score
    best.ratio[0], best.ratio[1], best.ratio[2] = high, low, divisor
    best.split[0], best.split[1], best.split[2] = feature, cut, after


@compiled
def score_sums(exact: bool, n: int, total: int, n_left: int, left: int) -> float:
    """Score of a split from numbers of records and sums of the response."""
    n_right = n - n_left
    if exact:
        distance = float(left * n - total * n_left)
        return distance * distance / (float(n_left) * float(n_right))
    mean_left = left / n_left
    mean_right = (total - left) / n_right
    if abs(mean_left - mean_right) <= NEAR * max(mean_left, mean_right):
        return 0.0
    return (mean_left - mean_right) ** 2 * (float(n_left) * float(n_right))


@compiled
def offer_sums(
    best: Best,
    exact: bool,
    n: int,
    total: int,
    n_left: int,
    left: int,
    score: float,
    feature: int,
    cut: int,
    after: int,
) -> None:
    """Offer a split of a node with summed response."""
    if exact:
        distance = np.uint64(abs(left * n - total * n_left))
        high, low = multiply_wide(distance, distance)
    else:
        high, low = np.uint64(0), np.uint64(0)
    divisor = np.uint64(n_left) * np.uint64(n - n_left)
    _offer(best, exact, score, high, low, divisor, feature, cut, after)


@compiled
def score_counts(n_left: int, left: int, n_right: int, right: int) -> float:
    """Score of a split from numbers of records and sums of squared class counts."""
    return left / n_left + right / n_right


@compiled
def offer_counts(
    best: Best,
    n_left: int,
    left: int,
    n_right: int,
    right: int,
    score: float,
    feature: int,
    cut: int,
    after: int,
) -> None:
    """Offer a split of a node with counted classes; ``left``, ``right``: sums of squared counts."""
    left_high, left_low = multiply_wide(np.uint64(left), np.uint64(n_right))
    right_high, right_low = multiply_wide(np.uint64(right), np.uint64(n_left))
    high, low = add_wide(left_high, left_low, right_high, right_low)
    divisor = np.uint64(n_left) * np.uint64(n_right)
    _offer(best, True, score, high, low, divisor, feature, cut, after)
