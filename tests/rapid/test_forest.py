"""The random forest: the compiled loop against the same trees in plain Python, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unveil.columns.column import CodedColumn
from unveil.models import forest as forest_module
from unveil.models.features import Key, KeyTable
from unveil.models.forest import grow_forest

MASK = (1 << 64) - 1


class Draws:
    """SplitMix64 of Steele, Lea & Flood (2014), and whole numbers below a bound."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return ((z >> 32) * n) >> 32


def impurity(y: Sequence[float], classes: bool) -> float:
    """What a split makes large: the sum of squared class counts, or of squared sums, over the number of records."""
    if not classes:
        return math.fsum(y) ** 2 / len(y)
    _, counts = np.unique(y, return_counts=True)
    return int((counts**2).sum()) / len(y)


def leaves_of(
    x: np.ndarray[Any, Any], y: list[Any], attacked: np.ndarray[Any, Any], draws: Draws, least: int, classes: bool
) -> list[list[Any]]:
    """Per attacked record the targets of the drawn records in its leaf."""
    keys = list(range(len(x)))
    found: list[list[Any]] = [[] for _ in range(attacked.shape[1])]

    def grow(rows: list[int], led: list[int]) -> None:
        here = [y[row] for row in rows]
        best, cut = impurity(here, classes) * (1 + 1e-12), None
        if len(rows) > least and len(set(here)) > 1:
            for tried in range(max(int(math.sqrt(len(x))), 1)):
                other = tried + draws.below(len(x) - tried)
                keys[tried], keys[other] = keys[other], keys[tried]
                f = keys[tried]
                for below, above in pairwise(sorted({float(x[f, row]) for row in rows})):
                    sides = [[y[row] for row in rows if (x[f, row] <= below) == side] for side in (True, False)]
                    score = sum(impurity(side, classes) for side in sides)
                    if score > best:
                        middle = 0.5 * below + 0.5 * above
                        best, cut = score, (f, middle if below <= middle < above else below)
        if cut is None:
            for record in led:
                found[record] = here
            return
        f, threshold = cut
        for left in (True, False):
            grow(
                [row for row in rows if (x[f, row] <= threshold) == left],
                [record for record in led if (attacked[f, record] <= threshold) == left],
            )

    grow(list(range(len(y))), list(range(attacked.shape[1])))
    return found


def plain_forest(
    table: KeyTable, y: np.ndarray[Any, Any], n_classes: int | None, attacked: KeyTable, n_trees: int, seed: int
) -> np.ndarray[Any, Any]:
    order = table.ordering(y)
    values, y = table.values()[:, order], y[order]
    total = np.zeros((len(attacked), n_classes or 1))
    for tree in np.random.SeedSequence(seed).generate_state(n_trees):
        draws = Draws(int(tree))
        drawn = sorted(draws.below(len(y)) for _ in range(len(y)))
        found = leaves_of(
            values[:, drawn], y[drawn].tolist(), attacked.values(), draws, 10 if n_classes else 5, n_classes is not None
        )
        for record, leaf in enumerate(found):
            if n_classes is None:
                total[record] += np.float32(np.mean(leaf))
                continue
            for c in range(n_classes):
                total[record, c] += np.float32(leaf.count(c) / len(leaf))
    return total * (1 / n_trees)


def tables(levels: Sequence[int], n: int, seed: int) -> tuple[KeyTable, KeyTable]:
    """Training records, which lack every third value, and attacked ones, which have all; numbers have a gap."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, n, dtype=np.int32) // 3 * 3 for size in levels])
    attacked = np.stack([rng.integers(0, size + 1, 60, dtype=np.int32) for size in levels])
    codes[0, :5] = levels[0]
    keys = tuple(
        Key(CodedColumn(f"x{f}", "numeric", pa.array([*(np.arange(size) ** 1.5).tolist(), None]), True, codes[f], ()))
        for f, size in enumerate(levels)
    )
    return KeyTable(keys, codes), KeyTable(keys, attacked)


@pytest.mark.parametrize(
    ("n_classes", "levels"),
    [(2, (6, 30)), (3, (6, 30, 4, 9, 5)), (5, (7, 12)), (3, (4000, 6)), (20, (8, 30)), (None, (8, 30))],
    ids=["two classes", "three classes and five keys", "five classes", "many levels", "many classes", "numbers"],
)
def test_trees_are_those_of_plain_python(n_classes: int | None, levels: tuple[int, ...]) -> None:
    n = 150
    table, attacked = tables(levels, n, 3)
    rng = np.random.default_rng(4)
    # whole numbers below a power of two, whose sums have no rounding error
    y = (table.codes[0] // 2 + rng.integers(0, 4, n)) % (n_classes or 64)
    y = y.astype(np.int32 if n_classes else np.float64)
    if n_classes is None:
        # the centre that is taken away is a whole number, too
        y[0] += (-y.sum()) % n
    forest = grow_forest(table, y, n_classes, n_trees=6, seed=np.random.SeedSequence(9), threads=2)
    found, wanted = forest.predict(attacked), plain_forest(table, y, n_classes, attacked, 6, 9)
    if n_classes is None:
        assert found == pytest.approx(wanted, rel=1e-6)
    else:
        assert (found == wanted).all()
    assert len(np.unique(found, axis=0)) > 10


@pytest.mark.parametrize("n_classes", [3, None])
def test_first_trees_are_a_forest_of_their_own(n_classes: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    table, attacked = tables((20, 9, 5), 200, 5)
    y = np.random.default_rng(6).integers(0, 3, 200)
    seed = np.random.SeedSequence(7)
    forest = grow_forest(table, y, n_classes, n_trees=11, seed=seed, threads=3)
    for most in (forest_module._MOST_LED, 1):
        monkeypatch.setattr(forest_module, "_MOST_LED", most)
        found = forest.predict_by_first(attacked, (2, 5, 11))
        for size, one in zip((2, 5, 11), found, strict=True):
            alone = grow_forest(table, y, n_classes, n_trees=size, seed=seed, threads=1).predict(attacked)
            assert (one == alone).all()
        assert (found[0] != found[2]).any()
