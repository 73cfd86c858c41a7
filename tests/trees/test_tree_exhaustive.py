"""The search through all subsets of levels equals trying every subset."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.trees import Column, Settings, grow


def try_every_subset(table: np.ndarray, minbucket: int):
    """Best gain, and how many subsets reach it; table of levels by classes without empty levels."""
    levels, n = table.shape[0], int(table.sum())
    places = np.arange(1, 2 ** (levels - 1))
    masks = places ^ (places >> 1)
    member = (masks[:, None] >> np.arange(levels)) & 1
    left = member @ table
    right = table.sum(0) - left
    n_left, n_right = left.sum(1), right.sum(1)
    allowed = (n_left >= minbucket) & (n_right >= minbucket)
    base = Fraction(int((table.sum(0) ** 2).sum()), n)
    best = Fraction(0)
    found = None
    for i in np.flatnonzero(allowed):
        score = Fraction(int((left[i] ** 2).sum()), int(n_left[i])) + Fraction(
            int((right[i] ** 2).sum()), int(n_right[i])
        )
        if score - base > best:
            best, found = score - base, int(masks[i])
    return best, found


def first_split(table: np.ndarray, minbucket: int):
    levels, classes = np.nonzero(table)
    counts = table[levels, classes]
    x = Column(np.repeat(levels, counts), "categorical", table.shape[0])
    y = Column(np.repeat(classes, counts), "categorical", table.shape[1])
    tree = grow(y, [x], Settings(minbucket=minbucket, minsplit=2, max_depth=1, cp=0.0, collapse=False))
    if tree.feature[0] < 0:
        return Fraction(0), None
    left = set(x.codes[tree.order[tree.start[1] : tree.stop[1]]].tolist())
    return tree.gain[0], sum(1 << level for level in left)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 11).flatmap(
        lambda levels: st.lists(
            st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any), min_size=levels, max_size=levels
        )
    ),
    st.integers(1, 8),
)
def test_small_tables_with_many_ties(table, minbucket):
    table = np.array(table)
    table = table[:, table.any(0)]
    if table.shape[1] < 3:
        return
    gain, subset = try_every_subset(table, minbucket)
    found, chosen = first_split(table, minbucket)
    assert found == pytest.approx(float(gain), rel=1e-9, abs=1e-9)
    assert chosen == subset


@pytest.mark.parametrize("levels", [9, 10, 12, 14])
@pytest.mark.parametrize("kind", ["noise", "signal", "sparse"])
def test_larger_tables(levels, kind):
    rng = np.random.default_rng(levels)
    shape = (levels, 5)
    if kind == "noise":
        table = rng.multinomial(60, [0.2] * 5, size=levels)
    elif kind == "signal":
        table = np.stack([rng.multinomial(50, share) for share in rng.dirichlet([0.5] * 5, size=levels)])
    else:
        table = rng.poisson(0.6, size=shape) + np.eye(levels, 5, dtype=int)
        table[:, 0] += table.sum(1) == 0
    gain, subset = try_every_subset(table, 5)
    found, chosen = first_split(table, 5)
    assert found == pytest.approx(float(gain), rel=1e-9)
    assert chosen == subset


def test_many_levels_are_ordered_along_the_first_principal_component():
    # 30 levels on a line between two mixtures of four classes: the order along the line is optimal
    ends = np.array([[40, 10, 30, 20], [10, 40, 20, 30]])
    at = np.linspace(0, 1, 31)[np.random.default_rng(2).permutation(31)]
    table = np.rint(np.outer(1 - at, ends[0]) + np.outer(at, ends[1])).astype(int)
    _, chosen = first_split(table, 5)
    left = np.array([chosen >> level & 1 for level in range(31)], dtype=bool)
    assert at[left].max() < at[~left].min() or at[~left].max() < at[left].min()
