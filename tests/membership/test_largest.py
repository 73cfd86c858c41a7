"""The largest of several areas beside its null, against enumeration, permutation and simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._membership.largest import contributions, largest_of
from unveil.stats.roc import delong

NAMES = ("a", "b", "c")


def area(scores: np.ndarray, is_member: np.ndarray) -> float:
    return delong(scores[is_member], scores[~is_member])[0]


@pytest.mark.parametrize("scores", [[1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 2, 2, 5, 5], [0, 0, 0, 0, 0, 0, 1]], ids=str)
def test_squares_of_contributions_are_the_variance_of_all_labellings(scores: list[float]) -> None:
    """All 35 ways to call 3 of 7 persons members, each as likely as the other."""
    values = np.array(scores, dtype=float)
    every = []
    for chosen in combinations(range(7), 3):
        is_member = np.isin(np.arange(7), chosen)
        every.append(area(values, is_member))
    assert np.mean(every) == pytest.approx(0.5)
    # over labellings the two groups' squares are in the proportion of 1 / 3 and 1 / 4
    squares = [
        (contributions(values, np.isin(np.arange(7), chosen)) ** 2).sum() for chosen in combinations(range(7), 3)
    ]
    assert np.mean(squares) == pytest.approx(np.var(every), rel=1e-9)


def test_who_is_not_scored_adds_nothing() -> None:
    values, is_member = np.array([3.0, math.nan, 1.0, 2.0]), np.array([True, True, False, False])
    assert contributions(values, is_member)[1] == 0
    rest = contributions(values[[0, 2, 3]], is_member[[0, 2, 3]])
    assert contributions(values, is_member)[[0, 2, 3]] == pytest.approx(rest)
    assert not contributions(np.full(3, math.nan), np.array([True, False, False])).any()


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_null_of_the_largest_is_that_of_shuffled_labels(shared: float) -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(size=120)
    table = {name: shared * common + (1 - shared) * rng.normal(size=120) for name in NAMES}
    is_member = np.arange(120) < 50
    weights = {name: contributions(scores, is_member) for name, scores in table.items()}
    found = largest_of({name: area(scores, is_member) for name, scores in table.items()}, weights, 1)
    shuffled = []
    for _ in range(1000):
        labels = rng.permutation(is_member)
        shuffled.append(max(area(scores, labels) for scores in table.values()))
    error = np.std(shuffled) / math.sqrt(1000)
    assert abs(found.null_mean - np.mean(shuffled)) < 4 * error + 0.001
    assert found.null_95 == pytest.approx(np.quantile(shuffled, 0.95), abs=0.006)
    assert found.p_value == pytest.approx(np.mean(np.array(shuffled) >= found.auc), abs=0.03)
    assert found.excess == pytest.approx((found.auc - found.null_mean) / (1 - found.null_mean))
    assert found.null_mean > 0.51


def test_one_attack_has_no_choice() -> None:
    scores, is_member = np.arange(40.0), np.arange(40) % 3 == 0
    found = largest_of({"a": area(scores, is_member)}, {"a": contributions(scores, is_member)}, 1)
    assert (found.attack, found.null_mean) == ("a", 0.5)
    none = largest_of({"a": math.nan}, {}, 1)
    assert none.attack == ""
    assert math.isnan(none.excess)


def independent(n: int, seed: int) -> unveil.membership.Membership:
    """Members, others and a release that are three samples of one population."""
    people = unveil.simulate.demo_population(3 * n, seed=seed)
    members, others, release = (people.slice(i * n, n) for i in range(3))
    pair = unveil.Pair(members, release, special_codes={"income": [-8]})
    return unveil.membership(pair, others, holdout_unseen=True, seed=seed)


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_the_best_of_three_attacks_has_no_excess_where_nothing_is_to_be_found() -> None:
    found = [independent(60, seed).largest for seed in range(40)]
    areas, excess = np.array([one.auc for one in found]), np.array([one.excess for one in found])
    # without the null of the largest the excess would be 9 % on average: 0.546 against 0.5
    assert areas.mean() - 0.5 > 3 * areas.std() / math.sqrt(40)
    assert abs(excess.mean()) < 3 * excess.std() / math.sqrt(40)
    assert np.mean([one.p_value <= 0.05 for one in found]) <= 0.2
    assert all(0.53 < one.null_mean < 0.57 for one in found)


def test_a_copy_stands_far_above_the_null() -> None:
    people = unveil.simulate.demo_population(160, seed=3)
    members, others = people.slice(0, 80), people.slice(80, 80)
    pair = unveil.Pair(members, members.take(pa.array(np.random.default_rng(0).permutation(80))))
    found = unveil.membership(pair, others, holdout_unseen=True)
    assert found.largest.p_value < 0.001
    assert found.largest.excess > 0.8
    assert found.auc == max(one.auc for one in found.together.values())
    assert found.to_dict()["largest"]["null_mean"] == found.largest.null_mean
    assert "where there is nothing to be found" in " ".join(str(found).split())


def test_runs_of_halves_share_persons() -> None:
    """A synthesizer that looks at nobody: persons of one half are members once and others once."""
    people = unveil.simulate.demo_population(3000, seed=4)
    rng = np.random.default_rng(0)

    def blind(frame: pa.Table, n: int, seed: int) -> pa.Table:
        return people.take(pa.array(np.random.default_rng(seed).choice(3000, n)))

    found = []
    for seed in range(12):
        some = people.take(pa.array(rng.choice(3000, 100, replace=False)))
        found.append(unveil.membership_synthesizer(some, blind, repeats=1, seed=seed, special_codes={"income": [-8]}))
    excess = np.array([one.largest.excess for one in found])
    assert abs(excess.mean()) < 3 * excess.std() / math.sqrt(12)
    assert all(one.largest.auc == max(one.auc.values()) for one in found)
