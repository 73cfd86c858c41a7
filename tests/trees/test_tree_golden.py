"""Trees on the reference designs: number of leaves, and which records share a leaf."""

from __future__ import annotations

import numpy as np
import pytest

from trees.tree_designs import read_design, read_table
from unveil.trees import Settings, grow


@pytest.fixture(scope="module", params=["sd2011_9", "adult"])
def design(request, shared):
    name = request.param
    columns, rows = read_design(shared, name)
    leaves = read_table(shared / "golden" / "cart" / f"leaves_{name}.csv")
    cases = [dict(zip(leaves, values, strict=True)) for values in zip(*leaves.values(), strict=True)]
    members = read_table(shared / "golden" / "cart" / f"leaves_{name}_members.csv.gz")
    trees = {}
    for case in cases:
        trees[case["variable"], case["mode"]] = grow(
            columns[case["variable"]],
            [columns[p] for p in case["predictors"].split()],
            Settings(collapse=case["mode"] == "collapse"),
            rows=rows[case["variable"]],
        )
    return columns, cases, members, trees


def same_company(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Share of records that share their leaf with the same set of records in both."""
    _, code, size = np.unique(ours * (theirs.max() + 1) + theirs, return_inverse=True, return_counts=True)
    both = size[code]
    return float(((both == np.bincount(ours)[ours]) & (both == np.bincount(theirs)[theirs])).mean())


def test_leaves_within_two_percent(design):
    _, cases, _, trees = design
    for case in cases:
        found, expected = trees[case["variable"], case["mode"]].n_leaves, int(case["leaves"])
        # two percent, rounded up to a whole leaf: what differs are exact ties
        assert abs(found - expected) <= np.ceil(0.02 * expected), case


def test_records_share_their_leaf_with_the_same_records(design):
    _, cases, members, trees = design
    shares = {}
    for case in cases:
        key = case["variable"], case["mode"]
        labels = members[".".join(key)]
        tree = trees[key]
        leaf = np.full(len(labels), -1)
        leaf[tree.donors] = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
        fitted = leaf >= 0
        assert [label != "" for label in labels] == fitted.tolist()
        theirs = np.array([int(label or 0) for label in labels])
        shares[key] = same_company(leaf[fitted], theirs[fitted])
    for (variable, mode), share in shares.items():
        assert share >= (0.95 if mode == "collapse" else 0.9), (variable, mode, share)


def test_routing_training_records_gives_their_leaf(design):
    columns, cases, _, trees = design
    for case in cases[-3:]:
        tree = trees[case["variable"], case["mode"]]
        predictors = [columns[p] for p in case["predictors"].split()]
        by_code = tree.apply([c.codes for c in predictors])
        by_value = tree.apply([c.codes if c.values is None else c.values[c.codes] for c in predictors])
        donated = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
        np.testing.assert_array_equal(by_code[tree.donors], donated)
        np.testing.assert_array_equal(by_code, by_value)
