"""The fast fit equals the slow one, node by node."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trees.slow_tree import Reference
from unveil.trees import Column, Settings, grow


@st.composite
def problems(draw):
    n = draw(st.integers(1, 60))
    numeric = draw(st.booleans())
    classes = draw(st.integers(1, 5))
    decimals = draw(st.sampled_from([1, 10]))
    y = draw(st.lists(st.integers(0, 12 if numeric else classes - 1), min_size=n, max_size=n))
    kinds = draw(st.lists(st.sampled_from(["numeric", "ordered", "categorical"]), min_size=1, max_size=5))
    predictors = []
    for _ in kinds:
        levels = draw(st.sampled_from([1, 2, 3, 5, 6]))
        predictors.append(draw(st.lists(st.integers(0, levels - 1), min_size=n, max_size=n)))
    minbucket = draw(st.integers(1, 20 if n > 40 else 4))
    options = {
        "minbucket": minbucket,
        "minsplit": draw(st.sampled_from([2 * minbucket, 3 * minbucket])),
        "max_depth": draw(st.sampled_from([30, 3])),
        "cp": draw(st.sampled_from([0.0, 1e-8, 1e-3, 1e-2])),
        "collapse": draw(st.booleans()),
    }
    return n, numeric, decimals, y, kinds, predictors, options


def as_column(codes, kind):
    if kind == "numeric":
        return Column.from_values(np.array(codes, dtype=float))
    return Column(np.array(codes, dtype=np.int32), kind, 7)


def fit_both(problem):
    _, numeric, decimals, y, kinds, predictors, options = problem
    columns = [as_column(codes, kind) for codes, kind in zip(predictors, kinds, strict=True)]
    ranked = [column.codes.tolist() for column in columns]
    if numeric:
        response = Column.from_values(np.array(y) / decimals)
        exact = [Fraction(value, decimals) for value in y]
    else:
        response = Column(np.array(y, dtype=np.int32), "categorical", 6)
        exact = y
    tree = grow(response, columns, Settings(**options))
    return tree, Reference(exact, numeric, ranked, kinds, **options), columns


@settings(max_examples=400, deadline=None)
@given(problems())
def test_equals_the_slow_fit_cell_by_cell(problem):
    tree, reference, columns = fit_both(problem)
    nodes = reference.nodes()
    assert tree.feature.tolist() == [node.feature for node in nodes]
    for i, node in enumerate(nodes):
        assert tree.order[tree.start[i] : tree.stop[i]].size == len(node.rows)
        assert sorted(tree.order[tree.start[i] : tree.stop[i]].tolist()) == node.rows
        assert tree.depth[i] == node.depth
        np.testing.assert_allclose(tree.risk[i], float(node.risk), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(tree.gain[i], float(node.gain), rtol=1e-9, atol=1e-9)
        if node.children:
            np.testing.assert_allclose(tree.rival_gain[i], float(node.rival), rtol=1e-9, atol=1e-9)
            left = tree.order[tree.start[i + 1] : tree.stop[i + 1]]
            assert set(columns[node.feature].codes[left].tolist()) == set(node.left_codes)
        assert bool(tree.collapsed[i]) == node.collapsed
    leaves = [tree.donors[a:b].tolist() for a, b in zip(tree.leaf_start[:-1], tree.leaf_start[1:], strict=True)]
    assert leaves == reference.leaves()


@settings(max_examples=100, deadline=None)
@given(problems())
def test_complexity_is_the_largest_decrease_per_split(problem):
    tree, reference, _ = fit_both(problem)
    nodes = reference.nodes()
    if len(nodes) > 15:
        return
    for found, node in zip(tree.complexity(), nodes, strict=True):
        expected = reference.complexity(node)
        np.testing.assert_allclose(found, 0.0 if expected is None else float(expected), rtol=1e-9, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_does_not_depend_on_the_order_of_records(problem, random):
    n, numeric, decimals, y, kinds, predictors, options = problem
    shuffle = list(range(n))
    random.shuffle(shuffle)
    moved = (
        n,
        numeric,
        decimals,
        [y[i] for i in shuffle],
        kinds,
        [[codes[i] for i in shuffle] for codes in predictors],
        options,
    )
    first, second = fit_both(problem)[0], fit_both(moved)[0]
    for name in ("feature", "right", "cut", "threshold", "sides", "risk", "gain", "rival_gain", "leaf"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for leaf in range(first.n_leaves):
        own = first.donors[first.leaf_start[leaf] : first.leaf_start[leaf + 1]]
        other = second.donors[second.leaf_start[leaf] : second.leaf_start[leaf + 1]]
        assert sorted(own.tolist()) == sorted(shuffle[i] for i in other.tolist())
