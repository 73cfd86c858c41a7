"""Scores: how well one real person's value is inferred, and from where on that is a risk.

Categorical: the attacker's probability g of the person's true class against what is known without the release.
Continuous: the error of the attacker's prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.checks import check_choice, check_positive
from unveil.errors import CallError, DataError

Floats = NDArray[np.float64]

SCORINGS = ("marginal", "conditional", "nce")
DEFAULT_TAU = {"marginal": 0.3, "conditional": 1.0, "nce": 0.3}
METRICS = ("relative", "symmetric", "absolute", "sd", "range")
DEFAULT_EPSILON = {"relative": 0.10, "symmetric": 0.10, "sd": 0.10, "range": 0.10}
_SMALLEST = 1e-10
_ROUNDING = 256 * float(np.finfo(np.float64).eps)
"""Relative rounding error of a prediction: of a mean over many records and trees."""


def true_class_probability(probabilities: ArrayLike, classes: Sequence[Any], truth: Sequence[Any]) -> Floats:
    """Probability that a model gives to each record's true class, matched by the class's label.

    Parameters
    ----------
    probabilities : (n, c)
        The model's probabilities.
    classes
        The label of each column, in the model's own order.
    truth
        The true label of each record; one that is not in ``classes`` has probability 0.

    Returns
    -------
    (n,) float64
        g.

    Raises
    ------
    CallError
        If the shapes do not fit together, or a label occurs twice.

    Examples
    --------
    >>> true_class_probability([[0.6, 0.4], [0.1, 0.9]], ["C", "A"], ["A", "B"]).tolist()
    [0.4, 0.0]
    """
    matrix = np.asarray(probabilities, dtype=np.float64)
    column = {label: j for j, label in enumerate(classes)}
    if matrix.ndim != 2 or matrix.shape != (len(truth), len(classes)):
        raise CallError(f"probabilities of shape {matrix.shape} for {len(truth)} records and {len(classes)} classes")
    if len(column) != len(classes):
        raise CallError("a class is named twice among the columns of the probabilities")
    padded = np.column_stack([matrix, np.zeros(len(truth))])
    positions = np.array([column.get(label, len(classes)) for label in truth], dtype=np.intp)
    result: Floats = padded[np.arange(len(truth)), positions]
    return result


def class_shares(truth: NDArray[np.integer], n_classes: int) -> Floats:
    """Share of each class (c,) in the original file: the baseline b."""
    return np.bincount(truth, minlength=n_classes) / max(len(truth), 1)


def normalised_gain(g: ArrayLike, b: ArrayLike) -> Floats:
    """``r = (g - b) / (1 - b)``, and 0 where b is 1: with one class there is nothing to learn.

    Parameters
    ----------
    g
        Probability of the true class.
    b
        Share of that class in the original.

    Returns
    -------
    float64
        Below 0 worse than the baseline, 0 nothing learnt, 1 full disclosure.

    References
    ----------
    Templ, Thees & Müller (2026), arXiv:2602.09235.

    Examples
    --------
    >>> normalised_gain([0.70, 0.85, 0.55], 0.6).round(3).tolist()
    [0.25, 0.625, -0.125]
    """
    gain, base = np.broadcast_arrays(np.asarray(g, dtype=np.float64), np.asarray(b, dtype=np.float64))
    result: Floats = np.divide(gain - base, 1 - base, out=np.zeros(gain.shape), where=base < 1)
    return result


def categorical_score(
    g: Floats, truth: NDArray[np.integer], n_classes: int, scoring: str = "marginal", *, shares: Floats | None = None
) -> Floats:
    """Score of every record by the name of the scoring; a record is at risk above the threshold tau.

    - ``marginal``: ``(g - b) / (1 - b)`` with b the share of the class in the original;
    - ``conditional``: g over the mean of g among the original records of the same class;
    - ``nce``: ``1 + ln(max(g, 1e-10)) / ln(number of classes)``.

    Parameters
    ----------
    g : (n,)
        Probability of the true class.
    truth : (n,)
        Code of the true class.
    n_classes
        Number of classes of all files.
    scoring
        One of :data:`SCORINGS`.
    shares : (n_classes,), optional
        Share of each class in the original; by default that among these records.

    Raises
    ------
    CallError
        If the scoring is unknown.

    Examples
    --------
    >>> g, truth = np.array([0.8, 0.4, 0.5, 0.5]), np.array([0, 0, 1, 1])
    >>> categorical_score(g, truth, 2, "conditional").round(3).tolist()
    [1.333, 0.667, 1.0, 1.0]
    """
    check_choice("scoring", scoring, SCORINGS)
    if scoring == "marginal":
        return normalised_gain(g, (class_shares(truth, n_classes) if shares is None else shares)[truth])
    if scoring == "conditional":
        n = np.bincount(truth, minlength=n_classes)
        # sums of numbers in order: they are not to depend on the order of the records, not even by rounding
        order = np.lexsort((g, truth))
        mean = np.bincount(truth[order], weights=g[order], minlength=n_classes) / np.maximum(n, 1)
        relative: Floats = np.divide(g, mean[truth], out=np.zeros(len(g)), where=mean[truth] > 0)
        return relative
    if n_classes < 2:
        return np.zeros(len(g))
    result: Floats = 1 + np.log(np.maximum(g, _SMALLEST)) / np.log(n_classes)
    return result


def prediction_error(
    y: ArrayLike, predicted: ArrayLike, metric: str = "relative", *, delta: float = 0.01, spread: float | None = None
) -> Floats:
    """Error of every prediction by the name of the metric; a record is at risk below the threshold epsilon.

    - ``relative``: ``|y - p| / (|y| + delta)``
    - ``symmetric``: ``2 |y - p| / (|y| + |p| + 2 delta)``
    - ``absolute``: ``|y - p|``
    - ``sd``, ``range``: ``|y - p|`` over the standard deviation, or the range, of y in the original

    Parameters
    ----------
    y : (n,)
        True values of the original records.
    predicted : (n,)
        The attacker's predictions p.
    metric
        One of :data:`METRICS`.
    delta
        Above 0: keeps the relative errors defined at 0.
    spread
        Standard deviation, or range, of y in the original; by default that of these records.

    Raises
    ------
    CallError
        If the metric is unknown or delta is not above 0.
    DataError
        If y has one value only and the metric divides by its spread.

    Examples
    --------
    >>> prediction_error([50000, 35000, 80000], [47000, 39000, 90000]).round(3).tolist()
    [0.06, 0.114, 0.125]
    """
    truth, guess = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    check_choice("metric", metric, METRICS)
    check_positive(delta=delta)
    error: Floats = np.abs(truth - guess)
    if metric == "relative":
        return error / (np.abs(truth) + delta)
    if metric == "symmetric":
        return 2 * error / (np.abs(truth) + np.abs(guess) + 2 * delta)
    if metric == "absolute":
        return error
    spread = _spread(truth, metric) if spread is None else spread
    if spread == 0:
        raise DataError(f"the target has one value only in the original; its {metric} is 0: choose another metric")
    return error / spread


def _spread(y: Floats, metric: str) -> float:
    """Standard deviation or range of the true values; 0 of a single one."""
    if len(y) < 2:
        return 0.0
    return float(np.std(np.sort(y), ddof=1) if metric == "sd" else np.ptp(y))


def rounding_error(y: ArrayLike, metric: str) -> float:
    """How far rounding may move an error: predictions of large numbers are off by parts of these numbers.

    Parameters
    ----------
    y : (n,)
        True values of the original records.
    metric
        One of :data:`METRICS`.

    Examples
    --------
    >>> rounding_error([1.1, 1e8], "absolute") > abs(abs(1e8 + 0.1 - 1e8) - 0.1)
    True
    """
    truth = np.asarray(y, dtype=np.float64)
    if metric in ("relative", "symmetric"):
        return _ROUNDING
    largest = float(np.abs(truth).max(initial=0.0))
    if metric == "absolute":
        return _ROUNDING * largest
    spread = _spread(truth, metric)
    return _ROUNDING * largest / spread if spread else 0.0
