"""Warnings about a file and a fit, before a release is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.columns.identifiers import Identifier, identifier_in, is_named_like_one
from unveil.core import loop
from unveil.files.arrays import quoted_list
from unveil.limits import exceeds
from unveil.notes import warn
from unveil.synthesis.cart import FittedCart
from unveil.synthesis.plan import Plan
from unveil.synthesis.rules import differing, rows_under_rules
from unveil.synthesis.variable import EncodedVariable, Levels
from unveil.trees import Tree

FEW_RECORDS = 20
"""Most records of a file in which a column with a different value in every record is no reason for a warning."""
LOST_SHARE = 0.05
"""Share of a variable's entropy; a larger loss gives a warning."""
CHANCE = 0.01

_outstanding_bits = loop(
    "outstanding_bits", int, np.int32, np.int64, np.int64, np.int32, np.int32, int, np.float64, np.bool_, float,
    np.int64, np.int64, result=float,
)  # fmt: skip

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
            warn(f"{label}: column {quoted_list(suspects)} {what} drop it, since synthetic records copy its values")


def _identifier(variable: EncodedVariable) -> Identifier | None:
    """Return what the column identifies, by the check of the measures."""
    if variable.kind == "ordered":
        return None
    counts = variable.counts[: len(variable.values)]
    return identifier_in(variable.name, variable.values, counts, is_number=variable.kind == "numeric")


def _all_different(variable: EncodedVariable) -> bool:
    """Whether all values differ; False for numbers with decimals, because measurements often differ."""
    present = variable.codes.size - (0 if variable.gap is None else int(variable.counts[variable.gap]))
    if len(variable.values) < present or present <= FEW_RECORDS:
        return False
    return not (variable.plain and variable.decimals != 0)


def warn_about_rules(plans: Sequence[Plan], label: str) -> None:
    """Warn of original records that contradict a rule."""
    records = {plan.variable.name: Levels(plan.variable.codes) for plan in plans}
    broken: dict[str, NDArray[np.bool_]] = {}
    calculated = {plan.variable.name for plan in plans if any(rule.is_formula for rule in plan.rules)}
    for plan in plans:
        n = plan.variable.codes.size
        for rule, mask, forced in rows_under_rules(plan.rules, records, n):
            against = int((mask & differing(records[plan.variable.name], forced)).sum())
            if against:
                which = "where it is defined" if rule.is_formula else f"with {rule.text}"
                what = f"the formula {rule.text!r} gives" if rule.is_formula else "the rule forces"
                warn(
                    f"{label}: {against} of {int(mask.sum())} records {which} have another value of "
                    f"{plan.variable.name!r} than {what}; check the rule"
                )
        for limit in plan.limits:
            # Of a condition about calculated columns the one counts that looks at these columns as they are.
            if limit.text not in broken or not calculated.isdisjoint(limit.variables):
                broken[limit.text] = limit.broken(records)
    for text, mask in broken.items():
        if mask.any():
            warn(f"{label}: {int(mask.sum())} of {mask.size} records break the rule {text!r}; check the rule")


def warn_of_lost_dependence(sequences: Sequence[Mapping[str, FittedCart]]) -> None:
    """Warn of variables that the collapse makes (almost) independent of their predictors, on average over strata."""
    lost: dict[str, float] = {}
    for name in dict.fromkeys(name for trees in sequences for name in trees):
        found = [trees[name].tree for trees in sequences if name in trees]
        records = sum(tree.n_records for tree in found)
        lost[name] = sum(lost_share(tree) * tree.n_records for tree in found) / records
    much = {name: share for name, share in lost.items() if exceeds(share, LOST_SHARE)}
    if much:
        listed = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in much.items())
        warn(
            f"the collapse of trees removed dependence that the data hold: {listed} of the entropy; "
            "use collapse=False where it matters"
        )


def lost_share(tree: Tree) -> float:
    """Return :func:`lost_bits` as a share of the response's entropy."""
    if tree.response.kind == "numeric" or tree.n_leaves == tree.n_leaves_full:
        return 0.0
    lost = lost_bits(tree)
    if lost == 0:
        return 0.0
    codes = tree.response.codes if tree.rows is None else tree.response.codes[tree.rows]
    share = np.bincount(codes) / tree.n_records
    return lost / -float((share[share > 0] * np.log2(share[share > 0])).sum())


def lost_bits(tree: Tree) -> float:
    """Return the mutual information of removed splits that chance does not explain, in bits per record.

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
    counts = np.zeros((2, tree.response.n_levels), dtype=np.int64)
    lost: float = _outstanding_bits(
        tree.right.size, tree.by_node(tree.response.codes), tree.start, tree.stop, tree.right, tree.leaf, n_levels.size,
        n_levels, unordered, CHANCE, counts[0], counts[1],
    )  # fmt: skip
    return lost / tree.n_records
