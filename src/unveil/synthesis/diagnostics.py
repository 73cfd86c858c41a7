"""What a user should know about a file and a fit before using a release."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.errors import UnveilWarning
from unveil.microdata.arrays import quoted_list
from unveil.synthesis.cart import FittedCart
from unveil.synthesis.encode import EncodedVariable, Levels
from unveil.synthesis.plan import Plan
from unveil.synthesis.rules import rows_under_rules
from unveil.trees import Tree
from unveil.trees._compiled import compiled

__all__ = ["lost_bits", "warn_about_columns", "warn_about_rules", "warn_of_lost_dependence"]

FEW_RECORDS = 20
"""In files of this size or smaller a column with a different value in every record means little."""
LOST_SHARE = 0.05
"""Share of a variable's entropy whose loss deserves a warning."""
CHANCE = 0.01
SLACK = 1e-6
"""What a bound is lowered by, so that rounding cannot make it rule out too much."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def warn_about_columns(variables: Sequence[EncodedVariable], label: str) -> None:
    """Warn of columns that look like identifiers: their values would be copied into the release."""
    suspects = [variable.name for variable in variables if _is_identifier(variable)]
    if suspects:
        warnings.warn(
            f"{label}: column {quoted_list(suspects)} has a different value in every record; if it identifies persons "
            "drop it, since synthetic records copy its values",
            UnveilWarning,
            stacklevel=3,
        )


def _is_identifier(variable: EncodedVariable) -> bool:
    """Whether all values differ, numbers with decimals apart: measurements often do."""
    present = variable.codes.size - (0 if variable.gap is None else int(variable.counts[variable.gap]))
    if len(variable.values) < present or present <= FEW_RECORDS:
        return False
    return not (variable.plain and variable.decimals != 0)


def warn_about_rules(plans: Sequence[Plan], label: str) -> None:
    """Warn of original records that contradict a rule."""
    records = {plan.variable.name: Levels(plan.variable.codes) for plan in plans}
    for plan in plans:
        for rule, mask in rows_under_rules(plan.rules, records, plan.variable.codes.size):
            against = int((mask & (plan.variable.codes != rule.level)).sum())
            if against:
                warnings.warn(
                    f"{label}: {against} of {int(mask.sum())} records with {rule.text} have another value of "
                    f"{plan.variable.name!r} than the rule forces; check the rule",
                    UnveilWarning,
                    stacklevel=3,
                )


def warn_of_lost_dependence(trees: Mapping[str, FittedCart]) -> None:
    """Warn of variables that the collapse makes (almost) independent of their predictors."""
    lost = {name: lost_share(fitted.tree) for name, fitted in trees.items()}
    found = {name: share for name, share in lost.items() if share > LOST_SHARE}
    if found:
        listed = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in found.items())
        warnings.warn(
            f"the collapse of trees removed dependence that the data hold: {listed} of the entropy; "
            "use collapse=False where it matters",
            UnveilWarning,
            stacklevel=3,
        )


def lost_share(tree: Tree) -> float:
    """:func:`lost_bits` as a share of the response's entropy."""
    if tree.response.kind == "numeric" or tree.n_leaves == tree.n_leaves_full:
        return 0.0
    lost = lost_bits(tree)
    if lost == 0:
        return 0.0
    share = np.bincount(tree.response.codes[tree.order]) / tree.order.size
    return lost / -float((share[share > 0] * np.log2(share[share > 0])).sum())


def lost_bits(tree: Tree) -> float:
    """Mutual information of removed splits that is not there by chance, in bits per record.

    The plug-in estimate of what a collapse removes (:meth:`unveil.trees.Tree.dependence`) is large for pure noise,
    because the splits were chosen for being the best. Here a removed split counts only if its likelihood ratio
    statistic ``G2 = 2 ln(2) bits`` exceeds what the best of all candidate splits, in all nodes, exceeds with a
    probability of 0.01 at most: ``d + 2 sqrt(d x) + 2 x`` with ``d`` classes less one and ``x`` the logarithm of
    the number of candidates over 0.01.

    Parameters
    ----------
    tree : Tree
        A fitted tree with a categorical response; others lose nothing by definition.

    Returns
    -------
    float
        Bits per record.

    References
    ----------
    Laurent, B. & Massart, P. (2000). Adaptive estimation of a quadratic functional by model selection. Annals of
    Statistics 28, 1302-1338, lemma 1.
    """
    if tree.response.kind == "numeric" or tree.n_leaves == tree.n_leaves_full:
        return 0.0
    removed = _removed_splits(tree)
    records, chance = tree.stop[removed] - tree.start[removed], np.log(removed.size / CHANCE)
    # Most removed splits are too small for any outcome to count: one bit per record is the most a split can hold.
    # The candidates of the predictor with the most levels alone tell so for most of them.
    widest = max((p.n_levels for p in tree.predictors if p.kind == "categorical"), default=0)
    able = np.log(2) * (records - np.minimum(records, widest)) > chance * (1 - SLACK)
    removed, records = removed[able], records[able]
    if removed.size == 0:
        return 0.0
    surprise = _log_candidates(tree, records) + chance
    able = 2 * np.log(2) * records > 2 * surprise
    removed, surprise = removed[able], surprise[able]
    if removed.size == 0:
        return 0.0
    bits, freedom = np.empty(removed.size), np.empty(removed.size)
    codes, counts = tree.response.codes[tree.order], np.zeros((2, tree.response.n_levels), dtype=np.int64)
    _split_bits(codes, tree.start[removed], tree.stop[removed + 1], tree.stop[removed], counts, bits, freedom)
    limit = freedom + 2 * np.sqrt(freedom * surprise) + 2 * surprise
    return float(bits[2 * np.log(2) * bits > limit].sum()) / tree.order.size


def _removed_splits(tree: Tree) -> Integers:
    """Nodes that were split and lie at or below a leaf."""
    reach = np.maximum.accumulate(np.where(tree.leaf >= 0, tree.stop, 0))
    return np.flatnonzero((tree.start < reach) & (tree.right >= 0))


@compiled
def _split_bits(
    codes: NDArray[np.int32],
    start: Integers,
    middle: Integers,
    stop: Integers,
    counts: Integers,
    bits: Floats,
    freedom: Floats,
) -> None:
    """Mutual information of side and class, times records, and number of classes less one, of every split.

    Parameters
    ----------
    codes : (n,) int32
        Classes, by node.
    start, middle, stop : (s,) int64
        A split's records, and where its right side starts.
    counts : (2, k) int64
        Buffer of zeros.
    bits, freedom : (s,) float64
        Receive the results.
    """
    for split in range(start.size):
        for i in range(start[split], stop[split]):
            counts[0 if i < middle[split] else 1, codes[i]] += 1
        left, right = middle[split] - start[split], stop[split] - middle[split]
        total, classes = _k_log_k(left + right) - _k_log_k(left) - _k_log_k(right), 0
        for i in range(start[split], stop[split]):
            code = codes[i]
            a, b = counts[0, code], counts[1, code]
            if a + b > 0:
                total += _k_log_k(a) + _k_log_k(b) - _k_log_k(a + b)
                classes += 1
                counts[0, code] = counts[1, code] = 0
        bits[split], freedom[split] = total, classes - 1.0


@compiled
def _k_log_k(count: int) -> float:
    return count * np.log2(count) if count > 0 else 0.0


def _log_candidates(tree: Tree, records: Integers) -> Floats:
    """Logarithm of (a bound of) the number of splits of nodes with so many records."""
    logs = []
    for predictor in tree.predictors:
        levels = np.minimum(float(predictor.n_levels), records)
        logs.append(levels * np.log(2) if predictor.kind == "categorical" else np.log(levels))
    return np.asarray(np.logaddexp.reduce(np.array(logs), axis=0))
