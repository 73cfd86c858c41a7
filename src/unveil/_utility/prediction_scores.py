"""Scores of predictions of classes and of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.stats import mean_ranks

Floats = NDArray[np.float64]
_MIXED = 0.01
ERROR_OF = {"categorical": ("accuracy", "log_loss"), "continuous": ("MAE",)}
"""Scores that are means over records, by kind of target: they have a standard error."""


def class_scores(truth: NDArray[np.integer], probability: Floats) -> dict[str, float]:
    """Scores of predicted class probabilities.

    Parameters
    ----------
    truth : (n,)
        Class codes.
    probability : (n, c)
        Predicted probabilities.

    Returns
    -------
    dict
        ``accuracy`` of the most probable class; ``macro_F1``, the mean over the classes that occur or are predicted;
        ``log_loss``, of probabilities mixed with 1 % of equal shares, so that a class that was never seen costs much
        but not everything; ``AUC``, the mean over the classes of the probability that a record of the class has a
        higher score than one of another.

    Examples
    --------
    >>> found = class_scores(np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.6, 0.4]]))
    >>> round(found["accuracy"], 3), round(found["macro_F1"], 3), found["AUC"]
    (0.667, 0.667, 1.0)
    """
    n, c = probability.shape
    per_record = record_scores(truth, probability)
    guess = probability.argmax(axis=1)
    right = np.bincount(truth[guess == truth], minlength=c)
    sizes = np.bincount(truth, minlength=c) + np.bincount(guess, minlength=c)
    f1 = 2 * right[sizes > 0] / sizes[sizes > 0]
    areas = []
    for k in np.flatnonzero(np.bincount(truth, minlength=c)):
        inside = truth == k
        m = int(inside.sum())
        if m < n:
            ranks = mean_ranks(probability[:, k])
            areas.append((float(ranks[inside].sum()) - m * (m + 1) / 2) / (m * (n - m)))
    return {
        "accuracy": float(per_record["accuracy"].mean()),
        "macro_F1": float(f1.mean()),
        "log_loss": float(per_record["log_loss"].mean()),
        "AUC": float(np.mean(areas)) if areas else math.nan,
    }


def number_scores(truth: Floats, predicted: Floats) -> dict[str, float]:
    """Scores of predicted numbers: ``R2 = 1 - sum (y - p)^2 / sum (y - mean)^2``, and ``MAE``, mean |y - p| over sd.

    Examples
    --------
    >>> number_scores(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    {'R2': 0.5, 'MAE': 0.5}
    """
    spread = float(np.sum((truth - truth.mean()) ** 2))
    if spread == 0:
        return {"R2": math.nan, "MAE": math.nan}
    return {
        "R2": 1 - float(np.sum((truth - predicted) ** 2)) / spread,
        "MAE": float(record_scores(truth, predicted)["MAE"].mean()),
    }


def record_scores(truth: NDArray[Any], predicted: Floats) -> dict[str, Floats]:
    """Per record the scores that are means over records: see :data:`ERROR_OF`.

    Parameters
    ----------
    truth : (n,)
        Class codes, or numbers.
    predicted : (n, c) or (n,)
        Probabilities, or numbers.
    """
    if predicted.ndim == 1:
        sd = float(np.std(truth.astype(np.float64)))
        return {"MAE": np.abs(truth - predicted) / sd if sd > 0 else np.full(len(truth), np.nan)}
    n, c = predicted.shape
    own = predicted[np.arange(n), truth.astype(np.intp)]
    return {
        "accuracy": (predicted.argmax(axis=1) == truth).astype(np.float64),
        "log_loss": -np.log((1 - _MIXED) * own + _MIXED / c),
    }
