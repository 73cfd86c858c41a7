"""Propensity scores: how well a model tells the release from the original, and the null of their error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.measures import UtilityMeasures
from unveil._utility.null import by_pairs, by_permutation, formula
from unveil._utility.stack import Stack, stack_of
from unveil.models.logit import fit_logistic
from unveil.trees import Column, Settings, grow

Floats = NDArray[np.float64]
Null = Literal["permutation", "pairs"]
Model = Callable[[Stack, int], tuple[Floats, int]]
_FIGURES = ("pMSE", "S_pMSE", "expected", "S_sd", "SPECKS", "PO50", "parameters")
_OF_SCORES = ("pMSE", "SPECKS", "PO50")
_OF_NULL = ("expected", "S_pMSE", "S_sd")
RECORDS_PER_PARAMETER = 5
"""Of a logistic model. With fewer it tells any two files apart the better the fewer there are: S_pMSE of a correct
synthesizer is 1.07 on average with 5, 1.4 with 2.2, and 2.6 with 1.6 (amounts, 400 records in both files)."""


RECORDS_TO_SEPARATE = 2
"""Of a logistic model. With fewer records per parameter it tells almost any two files apart without error: of all ways
to divide records in general position, half can be told apart with 2, and almost all with fewer (Cover 1965, IEEE
Transactions on Electronic Computers 14, 326-334). Nothing is learnt from such a fit, which would take long."""


def compare_propensity(
    variables: Sequence[Compared], *, models: Sequence[str], null: Null | None, permutations: int, minbucket: int,
    seed: int, threads: int, step: Callable[[str], None] | None = None,
) -> tuple[UtilityMeasures, ...]:  # fmt: skip
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
        Seed of the permutations.
    threads
        Number of threads; no figure depends on it.
    step
        Called with the name of each model that is done.

    Returns
    -------
    tuple of UtilityMeasures
        Subject: ``model`` and ``null``. Figures: ``pMSE``, ``expected``, ``S_pMSE``, ``S_sd`` (standard deviation of
        S_pMSE under the null), ``SPECKS``, ``PO50``, ``parameters``.
    """
    found = []
    for name in models:
        model = MODELS[name]
        chosen = null or ("formula" if name == "logistic" else "permutation")
        releases: list[dict[str, float]] = []
        stacks = []
        for release, codes in enumerate(variables[0].column.releases):
            if not len(codes):
                releases.append(dict.fromkeys(_FIGURES, math.nan))
                continue
            stack = stack_of(variables, None, release)
            parameters = stack.records.least_parameters
            if name == "logistic" and parameters * RECORDS_TO_SEPARATE > len(stack.second):
                releases.append(dict.fromkeys(_FIGURES, math.nan) | {"parameters": float(parameters)})
                continue
            scores, parameters = model(stack, minbucket)
            figures = score_figures(scores, stack.second)
            if name == "cart" and len(stack.second) < 2 * minbucket:
                # A tree that cannot be split has not found that the files are alike.
                figures = dict.fromkeys(_OF_SCORES, math.nan)
            releases.append(figures | {"parameters": float(parameters)})
            stacks.append((release, stack))
        scores_of = partial(_scores, model, minbucket)
        if chosen == "formula":
            nulls = [formula(int(releases[r]["parameters"]), stack) for r, stack in stacks]
        elif chosen == "pairs":
            nulls = by_pairs(variables, stacks, scores_of)
        else:
            stream = np.random.SeedSequence(seed, spawn_key=(list(MODELS).index(name),))
            nulls = by_permutation([stack for _, stack in stacks], scores_of, permutations, stream, threads)
        for (release, stack), (expected, sd) in zip(stacks, nulls, strict=True):
            if name == "logistic" and releases[release]["parameters"] * RECORDS_PER_PARAMETER > len(stack.second):
                expected = sd = math.nan
            ratio = releases[release]["pMSE"] / expected if expected > 0 else math.nan
            releases[release] |= {"expected": expected, "S_pMSE": ratio, "S_sd": sd}
        ordered = [{figure: r[figure] for figure in _FIGURES} for r in releases]
        found.append(
            UtilityMeasures.of({"model": name, "null": chosen}, ordered, undefined=_reasons(ordered, variables))
        )
        if step:
            step(name)
    return tuple(found)


def _scores(model: Model, minbucket: int, stack: Stack) -> Floats:
    return model(stack, minbucket)[0]


def score_figures(scores: Floats, second: NDArray[np.bool_]) -> dict[str, float]:
    """Figures of the propensity scores of two files.

    With scores p, N records and the second file's share c::

        pMSE   = 1/N sum (p - c)^2
        SPECKS = max |F1(x) - F2(x)|                  distribution functions of the two files' scores
        PO50   = 50 (P1(p < c) + P2(p > c)) - 50      ties count half; P1 and P2: shares of each file's records

    Parameters
    ----------
    scores : (N,)
        Probability that a record is from the second file.
    second : (N,) bool
        Whether a record is from the second file.

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


def _reasons(releases: Sequence[dict[str, float]], variables: Sequence[Compared]) -> dict[str, str]:
    reasons = {}
    for name in _FIGURES:
        lacking = [figures for figures in releases if math.isnan(figures.get(name, math.nan))]
        if lacking:
            reasons[name] = "the model has nothing to learn from: too few records, or constant columns"
            if all(figures["parameters"] > 1 for figures in lacking):
                few = RECORDS_PER_PARAMETER if name in _OF_NULL else RECORDS_TO_SEPARATE
                reasons[name] = (
                    f"fewer than {few} records per parameter: such a model finds differences between any two files"
                )
            if any(not len(codes) for codes in variables[0].column.releases):
                reasons[name] = "a release has no records"
    return reasons


def _logistic(stack: Stack, minbucket: int) -> tuple[Floats, int]:
    """Main effects of all variables; amounts enter unchanged, with an indicator for each level that is no amount."""
    records = stack.records
    return fit_logistic(records.design, stack.second.astype(np.float64)).probabilities, records.rank


def _cart(stack: Stack, minbucket: int) -> tuple[Floats, int]:
    """A tree grown until its leaves are small; never pruned, since its null comes from trees grown in the same way."""
    columns = stack.records.columns
    leaf = _leaves(columns, stack.second, minbucket)
    if leaf.max() == 0:
        leaf = _forced(columns, stack.second, minbucket)
    size = np.bincount(leaf)
    share = np.bincount(leaf, weights=stack.second) / size
    return share[leaf], len(size)


def _leaves(columns: Sequence[Column], second: NDArray[np.bool_], minbucket: int) -> NDArray[np.int32]:
    response = Column(second.astype(np.int32), "categorical", 2)
    tree = grow(response, columns, Settings(minbucket, 2 * minbucket, cp=0.0, collapse=False))
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
