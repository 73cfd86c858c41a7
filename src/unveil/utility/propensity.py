"""Can a model tell the release from the original? Propensity scores, their mean squared error, and its null."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.trees import Column, grow
from unveil.utility.compared import Compared
from unveil.utility.comparison import Comparison
from unveil.utility.logit import fit_logistic
from unveil.utility.stack import Stack, stack_of

__all__ = ["MODELS", "Null", "compare_propensity", "score_figures"]

Floats = NDArray[np.float64]
Null = Literal["permutation", "pairs"]
Model = Callable[[Stack, int], tuple[Floats, int]]
_FIGURES = ("pMSE", "S_pMSE", "expected", "S_sd", "SPECKS", "PO50", "parameters")


def compare_propensity(
    variables: Sequence[Compared], *, models: Sequence[str], null: Null | None, permutations: int, minbucket: int,
    seed: int,
) -> tuple[Comparison, ...]:  # fmt: skip
    """Fit propensity models to the original stacked on each release.

    Parameters
    ----------
    variables
        The variables of all files.
    models
        Names of :data:`MODELS`.
    null
        How the expectation of pMSE is found: by permutations of the file a record is from, or by pairs of releases;
        None: by its formula for ``logistic`` and by permutations for ``cart``.
    permutations
        Number of permutations, spread over the releases.
    minbucket
        Smallest number of records in a leaf.
    seed
        Of the permutations.

    Returns
    -------
    tuple of Comparison
        Subject: ``model`` and ``null``. Figures: ``pMSE``, ``expected``, ``S_pMSE``, ``S_sd`` (standard deviation of
        S_pMSE under the null), ``SPECKS``, ``PO50``, ``parameters``.
    """
    found = []
    for place, name in enumerate(models):
        model = MODELS[name]
        chosen = null or ("formula" if name == "logistic" else "permutation")
        releases: list[dict[str, float]] = []
        stacks = []
        for release, codes in enumerate(variables[0].column.releases):
            if not len(codes):
                releases.append(dict.fromkeys(_FIGURES, math.nan))
                continue
            stack = stack_of(variables, None, release)
            scores, parameters = model(stack, minbucket)
            figures = score_figures(scores, stack.second)
            releases.append(figures | {"parameters": float(parameters)})
            stacks.append((release, stack))
        scores_of = partial(_scores, model, minbucket)
        stream = np.random.SeedSequence(seed, spawn_key=(place,))
        _standardise(releases, stacks, variables, chosen, scores_of, permutations, stream)
        ordered = [{figure: r[figure] for figure in _FIGURES} for r in releases]
        found.append(Comparison.of({"model": name, "null": chosen}, ordered, undefined=_reasons(ordered, variables)))
    return tuple(found)


def _scores(model: Model, minbucket: int, stack: Stack) -> Floats:
    return model(stack, minbucket)[0]


def score_figures(scores: Floats, second: NDArray[np.bool_]) -> dict[str, float]:
    """What propensity scores say of two files.

    With scores p, N records and the second file's share c::

        pMSE   = 1/N sum (p - c)^2
        SPECKS = max |F1(x) - F2(x)|                  distribution functions of the two files' scores
        PO50   = 50 (P1(p < c) + P2(p > c)) - 50      ties count half; P1 and P2: shares of each file's records

    Parameters
    ----------
    scores : (N,)
        Probability that a record is from the second file.
    second : (N,) bool
        Whether it is.

    References
    ----------
    Woo, Reiter, Oganian & Karr (2009), Global measures of data utility for microdata masked for disclosure limitation,
    Journal of Privacy and Confidentiality 1, 111-124 (pMSE). Bowen, Liu & Su (2021), Differentially private data
    release via statistical election to partition sequentially, Metron 79, 1-31 (SPECKS). Raab, Nowok & Dibben (2021),
    arXiv:2109.12717 (PO50).

    Examples
    --------
    >>> score_figures(np.array([0.25, 0.25, 0.75, 0.75]), np.array([False, False, True, True]))
    {'pMSE': 0.0625, 'SPECKS': 1.0, 'PO50': 50.0}
    """
    c = float(second.mean())
    # scores that differ by rounding only are one
    p = np.round(scores, 12)
    values, place = np.unique(p, return_inverse=True)
    first = np.bincount(place.ravel()[~second], minlength=len(values)) / (~second).sum()
    other = np.bincount(place.ravel()[second], minlength=len(values)) / second.sum()
    sides = np.sign(np.where(np.abs(values - c) < 1e-9, 0.0, values - c))
    return {
        "pMSE": float(np.mean((scores - c) ** 2)),
        "SPECKS": float(np.abs(np.cumsum(first - other))[:-1].max(initial=0.0)),
        "PO50": float(25 * (sides @ other - sides @ first)),
    }


def _standardise(
    releases: list[dict[str, float]], stacks: Sequence[tuple[int, Stack]], variables: Sequence[Compared], null: str,
    scores_of: Callable[[Stack], Floats], permutations: int, seed: np.random.SeedSequence,
) -> None:  # fmt: skip
    """Add the expectation of pMSE for a correct synthesizer, and the ratio to it."""
    if null == "formula":
        for release, stack in stacks:
            c, n, k = stack.share, len(stack.second), releases[release]["parameters"]
            _ratio(releases[release], (k - 1) * (1 - c) ** 2 * c / n, math.sqrt(2 / (k - 1)) if k > 1 else math.nan)
        return
    nulls: dict[int, list[float]] = {}
    """Standardised to one record: pMSE N / (c (1 - c)), by number of records; equal releases share their draws."""

    def unit(stack: Stack) -> float:
        c, n = stack.share, len(stack.second)
        return float(np.mean((scores_of(stack) - c) ** 2)) * n / (c * (1 - c))

    if null == "permutation":
        streams = iter(seed.spawn(permutations * max(len(stacks), 1)))
        alike: dict[int, int] = {}
        for _, stack in stacks:
            alike[len(stack.second)] = alike.get(len(stack.second), 0) + 1
        for _, stack in stacks:
            n = len(stack.second)
            for _ in range(-(-permutations // alike[n])):
                nulls.setdefault(n, []).append(unit(stack.shuffled(np.random.default_rng(next(streams)))))
    else:
        numbers = [release for release, _ in stacks]
        drawn = [unit(stack_of(variables, a, b)) for i, a in enumerate(numbers) for b in numbers[i + 1 :]]
        nulls = {len(stack.second): drawn for _, stack in stacks}
    for release, stack in stacks:
        c, n = stack.share, len(stack.second)
        values = np.array(nulls[n])
        mean = float(values.mean())
        sd = float(values.std(ddof=1)) / mean if len(values) > 1 and mean > 0 else math.nan
        # two independent files differ by 1/n1 + 1/n2, a release of a fitted model from its original by 1/n2
        _ratio(releases[release], (1 - c) * mean * c * (1 - c) / n, sd)


def _ratio(figures: dict[str, float], expected: float, sd: float) -> None:
    figures["expected"] = expected
    figures["S_pMSE"] = figures["pMSE"] / expected if expected > 0 else math.nan
    figures["S_sd"] = sd


def _reasons(releases: Sequence[dict[str, float]], variables: Sequence[Compared]) -> dict[str, str]:
    reasons = {}
    for name in _FIGURES:
        if any(math.isnan(figures.get(name, math.nan)) for figures in releases):
            reasons[name] = "the model has nothing to learn from: too few records, or constant columns"
            if any(not len(codes) for codes in variables[0].column.releases):
                reasons[name] = "a release has no records"
    return reasons


def _logistic(stack: Stack, minbucket: int) -> tuple[Floats, int]:
    """Main effects of all variables; amounts enter as they are, with an indicator for each level that is none."""
    records = stack.records
    return fit_logistic(records.design, stack.second.astype(np.float64)).probabilities, records.rank


def _cart(stack: Stack, minbucket: int) -> tuple[Floats, int]:
    """A tree grown until its leaves are small; never pruned, since its null is found by growing others alike."""
    columns = stack.records.columns
    leaf = _leaves(columns, stack.second, minbucket)
    if leaf.max() == 0:
        leaf = _forced(columns, stack.second, minbucket)
    size = np.bincount(leaf)
    share = np.bincount(leaf, weights=stack.second) / size
    return share[leaf], len(size)


def _leaves(columns: Sequence[Column], second: NDArray[np.bool_], minbucket: int) -> NDArray[np.int32]:
    response = Column(second.astype(np.int32), "categorical", 2)
    tree = grow(response, columns, minbucket=minbucket, minsplit=2 * minbucket, cp=0.0, collapse=False)
    leaf = np.empty(len(second), dtype=np.int32)
    leaf[tree.donors] = np.repeat(np.arange(tree.n_leaves, dtype=np.int32), np.diff(tree.leaf_start))
    return leaf


def _forced(columns: Sequence[Column], second: NDArray[np.bool_], minbucket: int) -> NDArray[np.int32]:
    """Where no single column tells the files apart at all, as when each was shuffled by itself, the tree ends at its
    root and would miss that they are no longer related. So it starts with one column's halves: those after which most
    is told."""
    best, found = 0.0, np.zeros(len(second), dtype=np.int32)
    for column in columns:
        below = np.cumsum(np.bincount(column.codes, minlength=column.n_levels)) <= len(second) / 2
        left = below[column.codes]
        if not left.any():
            left = column.codes == column.codes.min()
        if min(left.sum(), (~left).sum()) < minbucket:
            continue
        leaf = np.empty(len(second), dtype=np.int32)
        start = 0
        for side in (left, ~left):
            rows = np.flatnonzero(side)
            part = [Column(c.codes[rows], c.kind, c.n_levels, c.values, c.name) for c in columns]
            leaf[rows] = start + _leaves(part, second[rows], minbucket)
            start = int(leaf[rows].max()) + 1
        size = np.bincount(leaf)
        told = float(np.sum((np.bincount(leaf, weights=second) - size * second.mean()) ** 2 / size))
        if told > best * (1 + 1e-9) + 1e-9:
            best, found = told, leaf
    return found


MODELS: dict[str, Model] = {"logistic": _logistic, "cart": _cart}
"""Propensity models by name: from a stack and the smallest leaf to scores and the number of parameters."""
