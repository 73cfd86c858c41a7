"""Whether intervals of the excess hold what they promise, and what a result's plain values carry."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t as student

import unveil
from unveil._rapid import rapid
from unveil.stats import excess_interval


def drawn(n: int, rng: np.random.Generator, shares: tuple[float, ...], strength: float = 0.0) -> pa.Table:
    """Persons whose target has nothing to do with their keys, or for a share of them is told by the first key."""
    k = rng.integers(0, 4, n)
    t = np.where(rng.random(n) < strength, k % len(shares), rng.choice(len(shares), n, p=shares))
    return pa.table(
        {
            "k": np.array(list("pqrs"))[k],
            "x": np.round(rng.normal(size=n), 1),
            "l": np.array(list("uvw"))[rng.integers(0, 3, n)],
            "t": np.array(["low", "mid", "top"])[t],
        }
    )


def coverage(attacker: str, n: int, tau: float, shares: tuple[float, ...], first: int, strength: float = 0.0) -> float:
    """Share of 200 originals and releases whose interval of the excess covers 0."""
    covered = []
    for seed in range(200):
        rng = np.random.default_rng([first, seed])
        pair = unveil.Pair(drawn(n, rng, shares, strength), drawn(n, rng, shares, strength))
        result = rapid(
            pair, ["k", "x", "l"], target="t", attacker=attacker, tau=tau, ceiling=False, seed=seed, n_jobs=1
        )
        low, high = result.intervals()[0]["excess"]
        covered.append(low <= 0 <= high)
    return float(np.mean(covered))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attacker", "n", "tau", "shares", "first"),
    [("cart", 200, 0.3, (0.5, 0.3, 0.2), 77), ("logit", 150, 0.1, (0.6, 0.4), 1)],
)
def test_independent_targets_have_no_excess_in_95_of_100(
    attacker: str, n: int, tau: float, shares: tuple[float, ...], first: int
) -> None:
    assert 0.93 <= coverage(attacker, n, tau, shares, first) <= 0.97


@pytest.mark.slow
def test_dependent_targets_have_an_excess() -> None:
    assert coverage("logit", 150, 0.1, (0.6, 0.4), 1, strength=0.5) < 0.2


@pytest.mark.parametrize("draws", [5, 19, 39, 199])
def test_exchangeable_draws_are_covered(draws: int) -> None:
    """The interval alone, for nulls that are symmetric, skewed, or mostly tied at 0."""
    rng = np.random.default_rng(draws)
    for rates in (
        0.3 + 0.05 * rng.normal(size=(2000, draws + 1)), rng.beta(2, 8, (2000, draws + 1)),
        rng.binomial(200, 0.02, (2000, draws + 1)) / 200,
    ):  # fmt: skip
        ends = [excess_interval(one[0], one[1:], (one[0], one[0])) for one in rates]
        assert np.mean([low <= 0 <= high for low, high in ends]) == pytest.approx(0.95, abs=0.025)


def test_excess_interval_by_hand() -> None:
    # 19 draws at level 0.95: the largest distance from the mean of the other draws, 0.09 * 19/18
    null = 0.2 + np.arange(-9, 10) / 100
    low, high = excess_interval(0.25, null, (0.24, 0.26))
    assert low == pytest.approx((0.25 - 0.095 - 0.2) / 0.8)
    assert high == pytest.approx((0.25 + 0.095 - 0.2) / 0.8)
    # of two draws the spread alone is known
    low, high = excess_interval(0.25, np.array([0.1, 0.3]), (0.24, 0.26))
    half = student.ppf(0.975, 1) * math.sqrt(0.02) * math.sqrt(1.5)
    assert (low, high) == pytest.approx(((max(0.25 - half, 0) - 0.2) / 0.8, (min(0.25 + half, 1) - 0.2) / 0.8))
    # far from a null without any spread the persons remain
    assert excess_interval(0.5, np.zeros(19), (0.45, 0.55)) == pytest.approx((0.45, 0.55))
    # below the null too
    assert excess_interval(0.1, np.full(19, 0.5), (0.05, 0.15)) == pytest.approx((-0.9, -0.7))
    assert all(math.isnan(end) for end in excess_interval(0.5, np.array([0.2]), (0.4, 0.6)))
    assert all(math.isnan(end) for end in excess_interval(1.0, np.ones(19), (1.0, 1.0)))


# ------------------------------------------------------------------------------------------- plain values
def test_plain_values_carry_everything() -> None:
    people = [unveil.simulate.rapid_population(200, kappa=10, seed=seed) for seed in (1, 2, 3)]
    result = rapid(
        unveil.Pair(people[0], people[1:]), ["age", "education"], target="disease_status", attacker=["cart", "logit"],
        permutations=4,
    )  # fmt: skip
    document = json.loads(json.dumps(result.to_dict(curve=True, attribution=True, by="gender"), allow_nan=False))
    assert [(a["release"], a["attacker"]) for a in document["attacks"]] == [
        (label, name) for label in document["labels"] for name in ("cart", "logit")
    ]
    assert document["tau"] == document["threshold"] == 0.3
    assert document["each"]["cart"]["mean"] == pytest.approx(np.mean([a["rate"] for a in document["attacks"][::2]]))
    first = document["attacks"][0]
    for name in ("margin", "null_mean", "null_95", "p_value", "ceiling", "excess", "suggested_threshold"):
        assert isinstance(first[name], float | int)
    assert first["intervals"]["excess"][0] <= first["excess"] <= first["intervals"]["excess"][1]
    for rows in (first["by_class"], first["by"]["gender"]):
        assert sum(row["n"] for row in rows) == 200
        assert sum(row["n_at_risk"] for row in rows) == first["n_at_risk"]
    assert all(0 <= g["n_at_risk"] <= g["n"] and g["n"] >= 30 for g in first["worst_subgroups"])
    assert first["attribution"]["coefficients"]
    assert len(document["curve"]["lines"]) == 4
    plain = rapid(unveil.Pair(*people[:2]), "age", target="income", attacker="lm", permutations=0, ceiling=False)
    document = plain.to_dict()
    assert document["attacks"][0]["null_mean"] is None
    assert document["attacks"][0]["by_class"] is None
    assert document["epsilon"] == 0.1
    assert not {"curve"} & document.keys()


def test_several_targets_carry_the_same() -> None:
    people = [unveil.simulate.rapid_population(120, kappa=10, seed=seed) for seed in (1, 2)]
    results = rapid(unveil.Pair(*people), ["age"], targets=["income", "gender"], attacker="cart", permutations=2)
    document: dict[str, Any] = results.to_dict(by=["education"])
    assert [d["target"] for d in document["targets"]] == ["income", "gender"]
    assert all(len(d["attacks"][0]["by"]["education"]) == 3 for d in document["targets"])


@pytest.mark.parametrize(("told", "rate"), [(True, 1.0), (False, 0.0)])
def test_nobody_or_everybody_at_risk_is_not_known_for_certain(told: bool, rate: float) -> None:
    # Resampling persons of whom none is at risk gives none; Clopper & Pearson: 0.025 = (1 - p) ** 40.
    original = pa.table({"key": ["a", "b"] * 20, "target": ["x", "y"] * 20})
    release = original if told else pa.table({"key": ["a", "b"] * 20, "target": ["y", "x"] * 20})
    result = rapid(
        unveil.Pair(original, release), ["key"], target="target", attacker="cart", permutations=0, ceiling=False
    )
    assert result.rate == rate
    far = 0.025 ** (1 / 40)
    assert result.intervals()[0]["bootstrap"] == pytest.approx((far, 1.0) if told else (0.0, 1 - far))
