"""Log-linear models of a table of counts, fitted by iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Margins = Sequence[tuple[int, ...]]
"""The margins that a hierarchical model keeps, each as the axes of the table that it has."""

_ROUNDS = 100
_TOLERANCE = 1e-5
"""A fit ends where all margins differ from the observed ones by less than this share of the total."""


def main_effects(n_axes: int) -> list[tuple[int, ...]]:
    """The margins of independence.

    Examples
    --------
    >>> main_effects(3)
    [(0,), (1,), (2,)]
    """
    return [(axis,) for axis in range(n_axes)]


def two_way(n_axes: int) -> list[tuple[int, ...]]:
    """The margins of a model with all interactions of two variables; of a single variable its main effect.

    Examples
    --------
    >>> two_way(3), two_way(1)
    ([(0, 1), (0, 2), (1, 2)], [(0,)])
    """
    return list(combinations(range(n_axes), 2)) or main_effects(n_axes)


def fitted_counts(counts: Floats, margins: Margins, start: Floats | None = None) -> Floats:
    """Expected counts under a hierarchical log-linear model: its maximum likelihood fit to Poisson counts.

    For weighted counts it is the pseudo maximum likelihood fit.

    Parameters
    ----------
    counts : (k_1, ..., k_p) float64
        Observed counts, not negative, of which some are positive.
    margins
        The margins that the model keeps.
    start : (k_1, ..., k_p) float64, optional
        The fit of a model with fewer margins to the same counts, from which fewer rounds are needed.

    Returns
    -------
    (k_1, ..., k_p) float64
        Counts with the same margins.

    References
    ----------
    Deming, W. E. & Stephan, F. F. (1940). On a least squares adjustment of a sampled frequency table when the expected
    marginal totals are known. Annals of Mathematical Statistics 11, 427-444. doi:10.1214/aoms/1177731829

    Examples
    --------
    >>> fitted_counts(np.array([[3.0, 1.0], [1.0, 1.0]]), main_effects(2)).round(2).tolist()
    [[2.67, 1.33], [1.33, 0.67]]
    """
    observed = [margin_of(counts, axes) for axes in margins]
    fitted = np.full(counts.shape, counts.sum() / counts.size) if start is None else start.copy()
    for _ in range(_ROUNDS):
        furthest = 0.0
        for axes, wanted in zip(margins, observed, strict=True):
            found = margin_of(fitted, axes)
            furthest = max(furthest, float(np.abs(found - wanted).max()))
            fitted *= np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)
        if furthest <= _TOLERANCE * counts.sum():
            break
    return fitted


def projected(values: Floats, weights: Floats, margins: Margins) -> Floats:
    """The weighted least squares fit of a table by a sum of functions of the margins.

    With the expected counts of a log-linear model as weights this is how a change of the counts changes the logarithms
    of its fit, to first order.

    Parameters
    ----------
    values, weights : (k_1, ..., k_p) float64
        What is fitted, and the weights; cells of weight 0 do not count.
    margins
        The margins of the model.
    """
    totals = [margin_of(weights, axes) for axes in margins]
    rest, fit = values.copy(), np.zeros_like(values)
    for _ in range(_ROUNDS):
        furthest = 0.0
        for axes, total in zip(margins, totals, strict=True):
            weighted = margin_of(weights * rest, axes)
            step = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
            furthest = max(furthest, float(np.abs(step).max()))
            rest -= step
            fit += step
        if furthest <= _TOLERANCE * float(np.abs(fit).max()):
            break
    return fit


def margin_of(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Sums over all other axes, which stay with one level each."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    sums: Floats = table.sum(axis=others, keepdims=True)
    return sums


def forward(margins: Margins, n_axes: int) -> Iterator[list[tuple[int, ...]]]:
    """All models with one more interaction of two variables than a model has.

    Examples
    --------
    >>> list(forward([(0, 1), (2,)], 3))
    [[(0, 1), (0, 2)], [(0, 1), (1, 2)]]
    """
    pairs = [axes for axes in margins if len(axes) == 2]
    for new in combinations(range(n_axes), 2):
        if new not in pairs:
            kept = sorted([*pairs, new])
            alone = [(axis,) for axis in range(n_axes) if not any(axis in pair for pair in kept)]
            yield [*kept, *alone]
