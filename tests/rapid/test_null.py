"""The null of a forest: its p-value is exact, and what is carried to the size of the attack is what that size gives."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._rapid import null, rapid
from unveil._rapid.attack import compared_rates
from unveil._rapid.null import SIZES, carried, rates_of_shuffles
from unveil.stats import over_null

KEYS = ["x", "k"]


def people(n: int, rng: np.random.Generator, signal: float = 0.0) -> pa.Table:
    x, k = rng.integers(0, 12, n), rng.choice(list("abc"), n)
    t = np.digitize(signal * (x / 6 - 1 + (k == "a")) + rng.normal(size=n), [-0.4, 0.4])
    return pa.table({"x": x, "k": k, "t": np.array(["low", "middle", "high"])[t], "y": np.round(50 + x + 9.0 * t)})


@pytest.fixture(autouse=True)
def small_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no file were too small for a null of fewer trees."""
    monkeypatch.setattr(null, "SMALL", 0)


def full_null(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> Any:
    """The same attack with a null of as many trees."""
    with monkeypatch.context() as patched:
        patched.setattr(null, "is_large", lambda _: False)
        patched.setattr("unveil._rapid.attack.is_large", lambda _: False)
        return rapid(*given, **options)


def test_two_sizes_give_a_third() -> None:
    sizes = np.array([*SIZES, 500])
    for a, b in ((0.3, 2.0), (0.02, -0.5), (0.0, 0.0)):
        half, whole, wanted = a + b / sizes
        assert carried(np.array([[half]]), np.array([[whole]]), 500) == pytest.approx(np.array([[wanted]]))
        assert carried(np.array([[half]]), np.array([[whole]]), SIZES[-1]) == pytest.approx(np.array([[whole]]))
    # a share of persons stays one
    assert carried(np.array([[0.05, 0.95]]), np.array([[0.01, 0.99]]), 500).tolist() == [[0.0, 1.0]]


def test_the_noise_of_trees_does_not_widen_the_null() -> None:
    """Votes of trees are 0 or 1: the share of shuffles varies by its own chance, and by that of its trees."""
    rng = np.random.default_rng(11)
    own = rng.beta(20, 60, (4000, 2))
    trees = [rng.binomial(k, own) for k in (50, 50, 400)]
    half, whole, full = trees[0] / 50, (trees[0] + trees[1]) / 100, sum(trees) / 500
    found = carried(half, whole, 500)
    assert found.std(axis=0) == pytest.approx(whole.std(axis=0))
    assert found.mean(axis=0) == pytest.approx((1.8 * whole - 0.8 * half).mean(axis=0))
    # each threshold has its own mean
    one_by_one = np.column_stack([carried(half[:, [t]], whole[:, [t]], 500)[:, 0] for t in (0, 1)])
    assert (found == one_by_one).all()
    # the 95th percentile is nearer to that of all trees than if each shuffle were carried by itself
    alone = 1.8 * whole - 0.8 * half
    too_far = [np.quantile(rates, 0.95, axis=0) - np.quantile(full, 0.95, axis=0) for rates in (found, alone)]
    assert (too_far[0] > 0).all()
    assert (1.3 * too_far[0] < too_far[1]).all()


def test_the_p_value_compares_what_was_tested() -> None:
    draws = np.arange(19) / 100
    found = over_null(0.5, draws, (0.4, 0.6), 0.95, tested=(0.155, draws + 0.01))
    # 0.16, 0.17, 0.18 and 0.19 reach 0.155
    assert found.p_value == pytest.approx(5 / 20)
    assert found.null_mean == pytest.approx(0.09)
    assert found.excess == pytest.approx((0.5 - 0.09) / 0.91)
    assert over_null(0.5, draws, (0.4, 0.6), 0.95).p_value == pytest.approx(1 / 20)


def test_a_small_file_has_a_null_of_full_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    pair = unveil.Pair(people(60, rng), people(80, rng))
    options: dict[str, Any] = {"target": "t", "permutations": 3, "ceiling": False}
    full = full_null(monkeypatch, pair, KEYS, **options)
    monkeypatch.setattr(null, "SMALL", 81)
    found = rapid(pair, KEYS, **options)
    assert found.attacks == full.attacks
    assert found.run().tested is None
    # the file that is trained on counts
    monkeypatch.setattr(null, "SMALL", 80)
    assert rapid(pair, KEYS, **options).run().tested is not None


@pytest.mark.parametrize("target", ["t", "y"])
def test_the_attack_itself_is_that_of_all_trees(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    pair = unveil.Pair(people(150, rng, 1.0), people(150, rng, 1.0))
    options: dict[str, Any] = {"target": target, "permutations": 2, "folds": 2}
    found, full = rapid(pair, KEYS, **options), full_null(monkeypatch, pair, KEYS, **options)
    alone = rapid(pair, KEYS, target=target, permutations=0, ceiling=False)
    for other in (full, alone):
        assert (found.run().score == other.run().score).all()
    assert found.attacks[0]["ceiling"] == full.attacks[0]["ceiling"]
    assert alone.run().tested is None
    assert found.run().tested is not None
    again = rapid(pair, KEYS, n_jobs=3, **options)
    assert again.attacks == found.attacks


def test_the_test_compares_forests_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shuffle in place of the release, and its random numbers, both sides of the test are the same."""
    rng = np.random.default_rng(2)
    pair = unveil.Pair(people(120, rng), people(120, rng))
    found = rapid(pair, KEYS, target="t", permutations=1, ceiling=False)
    runner, run = found.runner, found.run()
    evidence, streams = runner.problem.releases[0], type(runner)._stream
    monkeypatch.setattr(type(runner), "_shuffled", lambda *_: evidence)
    monkeypatch.setattr(type(runner), "_stream", lambda self, *_: streams(self, 0, 0, 0))
    again = rapid(pair, KEYS, target="t", permutations=1, ceiling=False)
    grid = np.arange(0, 0.9, 0.02)
    for tau in grid:
        observed, draws = compared_rates(again.runs, float(tau), runner.rule)
        assert [observed] == pytest.approx(draws.tolist())
    assert run.tested is not None
    assert (run.tested.rates(grid, runner.rule) != rates_of_shuffles(run.null, grid, runner.rule)[0]).any()


def test_an_attacker_that_is_no_forest_has_its_own_null(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    pair = unveil.Pair(people(150, rng, 1.0), people(150, rng, 1.0))
    options: dict[str, Any] = {"target": "t", "attacker": ["cart", "rf"], "permutations": 3, "ceiling": False}
    found, full = rapid(pair, KEYS, **options), full_null(monkeypatch, pair, KEYS, **options)
    assert found.attacks[0] == full.attacks[0]
    assert found.runs[0].tested is None
    mean = found.above_null().null_mean
    assert mean == pytest.approx((found.attacks[0]["null_mean"] + found.attacks[1]["null_mean"]) / 2)


def trials(n: int) -> list[Any]:
    """Attacks on releases that know nothing of the target, by forests of a tenth of the usual size."""
    found = []
    for seed in range(n):
        rng = np.random.default_rng([7, seed])
        pair = unveil.Pair(people(40, rng), people(40, rng))
        found.append(rapid(pair, KEYS, target="t", permutations=9, ceiling=False, seed=seed, tau=0.1, n_jobs=1))
    return found


@pytest.mark.slow
def test_p_values_of_independent_targets_are_uniform_and_the_carried_mean_is_the_full_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, permutations = 300, 9
    found = trials(n)
    p_values = Counter(round(one.attacks[0]["p_value"] * (permutations + 1)) for one in found)
    # valid: P(p <= k / 10) is at most k / 10; exact but for ties, which make p larger
    for k in range(1, permutations + 1):
        share, expected = sum(p_values[j] for j in range(1, k + 1)) / n, k / (permutations + 1)
        assert share <= expected + 3.3 * math.sqrt(expected * (1 - expected) / n)
        assert share >= expected - 0.1 - 3.3 * math.sqrt(expected * (1 - expected) / n)
    with monkeypatch.context() as patched:
        patched.setattr("unveil._rapid.attack.is_large", lambda _: False)
        full = trials(60)
    differences = [a.attacks[0]["null_mean"] - b.attacks[0]["null_mean"] for a, b in zip(found, full, strict=False)]
    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    assert abs(float(np.mean(differences))) < 3.3 * error + 0.002
    # forests of the null's own size would not do
    small = [
        np.mean([shuffle.scores.rates([0.1], one.runner.rule)[0] for shuffle in one.run().null]) for one in found[:60]
    ]
    raw = np.array(small) - [b.attacks[0]["null_mean"] for b in full]
    assert abs(float(raw.mean())) > abs(float(np.mean(differences)))
