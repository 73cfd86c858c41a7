"""Whether the releases look like files that the assumed synthesizer would draw from this original.

Three questions, each with known odds of a false alarm where the assumption is right. S, N and p = N / M are released
records, donors and donor shares by leaf and value, given the leaf that each released record falls into.

- Dispersion: Pearson's ``X2 = sum (S - S_l p)^2 / (S_l p)`` has mean ``sum (k_l - 1)`` and variance
  ``sum 2 (k_l - 1) + (sum 1/p - k_l^2 - 2 k_l + 2) / S_l`` for leaves of ``k_l`` values. A release from another
  original scatters about the shares of that one, and X2 is too large.
- Likelihood: ``sum S log p`` has mean ``sum S_l sum p log p``, and a variance to match. Values that are too rare or too
  common among the donors show here.
- A finer fit: with the shares q of finer trees (those of half as large leaves, no cp and no collapse; and the assumed
  ones before their collapse), the ratio ``prod ((1 - w) q / p + w)`` has an expectation of at most 1, so that a release
  of the assumed settings reaches r with a probability of at most 1/r. A release made with smaller leaves follows the
  finer trees, and the ratio is huge.

Where donors are mixed, the values that no donor of a leaf has are one value of the first two questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.fixed import FixedTree, before_collapse
from unveil._posterior.likelihood import fit_fixed_trees
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil.notes import Note
from unveil.plain import Plain
from unveil.stats import log_normal_tail
from unveil.trees import Settings

Floats = NDArray[np.float64]

FALSE_ALARM = 1e-6
"""Probability at or below which a release counts as not drawn under the assumption."""
QUICK = 150_000
"""Values of predictors that finer trees are fitted to."""
WEIGHTS = (0.02, 0.1, 0.5)
"""Weights of the assumed shares beside the finer ones; the ratios are averaged over them."""


@dataclass(frozen=True)
class SettingsCheck(Plain):
    """How well the releases fit the assumed synthesizer.

    Attributes
    ----------
    dispersion, degrees
        Pearson's statistic, and its expectation.
    log10_p_dispersion
        Common logarithm of the probability of a statistic as large.
    likelihood_z
        Log-likelihood of the releases, in standard deviations from its expectation.
    log10_finer
        Common logarithm of the ratio by which finer trees explain the releases better.
    verdict
        "fits", "finer" (made with smaller leaves, a smaller cp or no collapse), or "other" (another original, or
        other settings).
    """

    dispersion: float
    degrees: float
    log10_p_dispersion: float
    likelihood_z: float
    log10_finer: float
    verdict: str

    @property
    def warning(self) -> str | None:
        """The warning; None if the releases fit."""
        if self.verdict == "finer":
            text = "the releases follow the original more closely than the assumed settings let them"
            why = (
                "they were made with a smaller minbucket or cp, or without collapse, and the risk is larger than what "
                "is found here"
            )
            better = f"(finer trees explain them 10^{self.log10_finer:.0f} times better)"
            return Note(f"{text} {better}: {why}", f"{text}: {why}")
        if self.verdict == "other":
            text = "the counts of the releases are not those that the assumed synthesizer draws from this original"
            why = "they were made from another original, or in another way"
            how = (
                f"(dispersion {self.dispersion:.0f} where {self.degrees:.0f} is expected, log-likelihood "
                f"{self.likelihood_z:+.1f} standard deviations from its expectation)"
            )
            return Note(f"{text} {how}: {why}", f"{text}: {why}")
        return None


def check_settings(sequence: TreeSequence, trees: Sequence[FixedTree], releases: Sequence[int]) -> SettingsCheck:
    """Test whether a sequence fitted to the original can have drawn the counts of the releases.

    Parameters
    ----------
    sequence
        Original and releases.
    trees
        All trees of the sequence, as assumed.
    releases
        The releases.

    Returns
    -------
    SettingsCheck
        Statistics and verdict.
    """
    # There is nothing to test if no column was drawn from a tree.
    moments = np.sum([_moments(tree) for tree in trees] or [(0.0,) * 5], axis=0)
    x2, degrees, spread, log, spread_of_log = moments.tolist()
    z = log / np.sqrt(spread_of_log) if spread_of_log > 0 else 0.0
    log10_p = _log10_tail(x2, degrees, spread)
    finer = _log10_finer(sequence, trees, releases)
    limit = np.log10(FALSE_ALARM)
    verdict = "fits"
    if finer >= -limit:
        verdict = "finer"
    elif log10_p <= limit or (log_normal_tail(abs(z)) + np.log(2)) / np.log(10) <= limit:
        verdict = "other"
    return SettingsCheck(x2, degrees, log10_p, z, finer, verdict)


def _moments(tree: FixedTree) -> tuple[float, float, float, float, float]:
    """Pearson's statistic, its mean and variance; excess of the log-likelihood, and its variance."""
    cells = tree.cells
    if not cells.leaf_donors.size:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    owner, released, p = _counted(tree)
    s = cells.leaf_released.astype(np.float64)
    wanted = s[owner] * p
    seen = s > 0

    def by_leaf(values: NDArray[Any]) -> Floats:
        return np.bincount(owner, weights=values, minlength=s.size)[seen].astype(np.float64)

    x2 = by_leaf((released - wanted) ** 2 / np.where(wanted > 0, wanted, 1.0))
    k = by_leaf(np.ones(owner.size))
    spread = 2 * (k - 1) + (by_leaf(1 / p) - k**2 - 2 * k + 2) / s[seen]
    mean_log = by_leaf(p * np.log(p))
    log = by_leaf(released * np.log(p)) - s[seen] * mean_log
    spread_of_log = s[seen] * (by_leaf(p * np.log(p) ** 2) - mean_log**2)
    return float(x2.sum()), float((k - 1).sum()), float(spread.sum()), float(log.sum()), float(spread_of_log.sum())


def _counted(tree: FixedTree) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Leaf, released records and probability of every value of a leaf; with mixed donors, its other values are one."""
    cells, p = tree.cells, tree.shares()
    owner = np.repeat(np.arange(cells.leaf_donors.size), np.diff(cells.start))
    if not tree.definition.mix:
        return owner, cells.released, p
    own = cells.donors > 0
    n_leaves, n_values = cells.leaf_donors.size, int(np.count_nonzero(tree.mixed.kept["donors"]))
    others = np.flatnonzero(np.bincount(owner[own], minlength=n_leaves) < n_values)
    left = 1 - np.bincount(owner[own], weights=p[own], minlength=n_leaves)
    elsewhere = np.bincount(owner[~own], weights=cells.released[~own], minlength=n_leaves).astype(np.int64)
    return (
        np.append(owner[own], others), np.append(cells.released[own], elsewhere[others]),
        np.append(p[own], left[others]),
    )  # fmt: skip


def _log10_tail(x2: float, mean: float, variance: float) -> float:
    """Common logarithm of the upper tail of a gamma distribution with this mean and variance (Wilson & Hilferty)."""
    if mean <= 0 or variance <= 0:
        return 0.0
    v = variance / (9 * mean**2)
    return log_normal_tail((np.cbrt(x2 / mean) - (1 - v)) / np.sqrt(v)) / math.log(10)


def _log10_finer(sequence: TreeSequence, trees: Sequence[FixedTree], releases: Sequence[int]) -> float:
    """Common logarithm of how much better finer trees explain the releases."""
    trees = _telling(trees)
    found = [_log_ratio(trees, fit_fixed_trees(sequence, [_finer(tree.definition) for tree in trees], releases))]
    if trees and trees[0].definition.settings.collapse:
        found.append(_log_ratio(trees, [before_collapse(tree, sequence, releases) for tree in trees]))
    return float((np.logaddexp.reduce(found) - np.log(len(found))) / np.log(10))


def _telling(trees: Sequence[FixedTree]) -> list[FixedTree]:
    """The trees with most leaves, as many as are quickly fitted again; any of them is a valid test."""
    grown = [tree for tree in trees if tree.tree is not None and tree.definition.predictors]
    grown.sort(key=lambda tree: -(tree.tree.n_leaves_full if tree.tree else 0))
    costs = np.cumsum([tree.leaf.size * len(tree.definition.predictors) for tree in grown])
    return grown[: max(1, int(np.searchsorted(costs, QUICK, side="right")))]


def _finer(definition: SequenceTree) -> SequenceTree:
    s = definition.settings
    minbucket = max(1, s.minbucket // 2)
    finer = replace(
        s,
        minbucket=minbucket,
        minsplit=min(s.smallest_split, max(2, 3 * minbucket)),
        cp=min(s.cp, Settings.cp),
        collapse=False,
        max_depth=max(s.max_depth, Settings.max_depth),
    )
    return replace(definition, settings=finer, grown=None)


def _log_ratio(assumed: Sequence[FixedTree], finer: Sequence[FixedTree]) -> float:
    """Logarithm of how much better the finer trees explain the releases."""
    total = np.zeros(len(WEIGHTS))
    for one, other in zip(assumed, finer, strict=True):
        for cell, better in zip(one.drawn_from, other.drawn_from, strict=True):
            counted = cell >= 0
            ratio = _shares(other, better[counted]) / _shares(one, cell[counted])
            total += [np.log((1 - w) * ratio + w).sum() for w in WEIGHTS]
    return float(np.logaddexp.reduce(total) - np.log(len(WEIGHTS)))


def _shares(tree: FixedTree, cell: NDArray[np.int64]) -> Floats:
    """Donor share of the cell that each record was drawn from; 0 where there is none."""
    return np.append(tree.shares(), 0.0)[cell]
