"""What a user should know about a file and a fit before using a release."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.columns.identifiers import Identifier, identifier_in, is_named_like_one
from unveil.errors import UnveilWarning
from unveil.files.arrays import quoted_list
from unveil.limits import exceeds
from unveil.synthesis.cart import FittedCart
from unveil.synthesis.plan import Plan
from unveil.synthesis.rules import rows_under_rules
from unveil.synthesis.variable import EncodedVariable, Levels
from unveil.trees import Tree
from unveil.trees._compiled import compiled

FEW_RECORDS = 20
"""In files of this size or smaller a column with a different value in every record means little."""
LOST_SHARE = 0.05
"""Share of a variable's entropy whose loss deserves a warning."""
CHANCE = 0.01

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def warn_about_columns(variables: Sequence[EncodedVariable], label: str) -> None:
    """Warn of columns that look like identifiers: their values would be copied into the release."""
    different = [variable.name for variable in variables if _all_different(variable)]
    numbered = {v.name: _identifier(v) for v in variables if v.name not in different}
    alike = [name for name, one in numbered.items() if one and (one.of == "record" or is_named_like_one(name))]
    for suspects, what in ((different, "has a different value in every record; if it identifies persons"),
                           (alike, "looks like an identifier; if it is one")):  # fmt: skip
        if suspects:
            warnings.warn(
                f"{label}: column {quoted_list(suspects)} {what} drop it, since synthetic records copy its values",
                UnveilWarning,
                stacklevel=3,
            )


def _identifier(variable: EncodedVariable) -> Identifier | None:
    """What the column numbers, by the check that the measures share."""
    if variable.kind == "ordered":
        return None
    counts = variable.counts[: len(variable.values)]
    return identifier_in(variable.name, variable.values, counts, is_number=variable.kind == "numeric")


def _all_different(variable: EncodedVariable) -> bool:
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
    found = {name: share for name, share in lost.items() if exceeds(share, LOST_SHARE)}
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
    share = np.bincount(tree.by_node(tree.response.codes)) / tree.n_records
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
    n_levels = np.array([predictor.n_levels for predictor in tree.predictors], dtype=np.float64)
    unordered = np.array([predictor.kind == "categorical" for predictor in tree.predictors], dtype=np.bool_)
    codes, counts = tree.by_node(tree.response.codes), np.zeros((2, tree.response.n_levels), dtype=np.int64)
    lost = _outstanding_bits(codes, tree.start, tree.stop, tree.right, tree.leaf, n_levels, unordered, counts)
    return lost / tree.n_records


@compiled
def _outstanding_bits(
    codes: NDArray[np.int32],
    start: Integers,
    stop: Integers,
    right: NDArray[np.int32],
    leaf: NDArray[np.int32],
    n_levels: Floats,
    unordered: NDArray[np.bool_],
    counts: Integers,
) -> float:
    """Bits, times records, of the removed splits that are not there by chance.

    Parameters
    ----------
    codes : (m,) int32
        Classes, by node.
    start, stop, right, leaf : (t,)
        Nodes, see :class:`unveil.trees.Tree`.
    n_levels : (p,) float64
        Numbers of levels of the predictors.
    unordered : (p,) bool
        Whether their levels are split into sets.
    counts : (2, k) int64
        Buffer of zeros.
    """
    removed, reach = 0, np.int64(0)
    for node in range(right.size):
        reach = max(reach, stop[node]) if leaf[node] >= 0 else reach
        removed += right[node] >= 0 and start[node] < reach
    chance = np.log(removed / CHANCE)
    widest = 0.0
    for f in range(n_levels.size):
        widest = max(widest, n_levels[f]) if unordered[f] else widest
    total, reach = 0.0, np.int64(0)
    for node in range(right.size):
        reach = max(reach, stop[node]) if leaf[node] >= 0 else reach
        if right[node] < 0 or start[node] >= reach:
            continue
        records = stop[node] - start[node]
        # Most removed splits are too small for any outcome to count: one bit per record is the most a split can
        # hold. The candidates of the predictor with the most levels alone tell so for most of them.
        if np.log(2.0) * (records - min(float(records), widest)) <= chance:
            continue
        surprise = _log_candidates(records, n_levels, unordered) + chance
        if np.log(2.0) * records <= surprise:
            continue
        bits, freedom = _split_bits(codes, start[node], stop[node + 1], stop[node], counts)
        if 2.0 * np.log(2.0) * bits > freedom + 2.0 * np.sqrt(freedom * surprise) + 2.0 * surprise:
            total += bits
    return total


@compiled
def _split_bits(codes: NDArray[np.int32], start: int, middle: int, stop: int, counts: Integers) -> tuple[float, float]:
    """Mutual information of side and class, times records, and number of classes less one; ``counts`` is zeros."""
    for i in range(start, stop):
        counts[0 if i < middle else 1, codes[i]] += 1
    bits = _k_log_k(stop - start) - _k_log_k(middle - start) - _k_log_k(stop - middle)
    classes = 0
    for i in range(start, stop):
        code = codes[i]
        a, b = counts[0, code], counts[1, code]
        if a + b > 0:
            bits += _k_log_k(a) + _k_log_k(b) - _k_log_k(a + b)
            classes += 1
            counts[0, code] = counts[1, code] = 0
    return bits, classes - 1.0


@compiled
def _k_log_k(count: int) -> float:
    return count * np.log2(count) if count > 0 else 0.0


@compiled
def _log_candidates(records: int, n_levels: Floats, unordered: NDArray[np.bool_]) -> float:
    """Logarithm of (a bound of) the number of splits of a node with so many records."""
    largest, total = -np.inf, 0.0
    for f in range(n_levels.size):
        levels = min(n_levels[f], float(records))
        candidates = levels * np.log(2.0) if unordered[f] else np.log(levels)
        if candidates > largest:
            largest, total = candidates, total * np.exp(largest - candidates) + 1.0
        else:
            total += np.exp(candidates - largest)
    return float(largest + np.log(total))
