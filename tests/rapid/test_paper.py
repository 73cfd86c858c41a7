"""The simulation studies of the paper, at few replications; in full under examples/rapid2026."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import unveil
from unveil._rapid import Rapid, rapid, rapid_synthesizer_cv
from unveil.synthesis import CartSynthesizer

pytestmark = pytest.mark.slow

KEYS = ["gender", "age", "education", "income", "health_score"]
REPLICATIONS = 4


@cache
def attacked(kappa: float, seed: int, attacker: str = "rf") -> Rapid:
    original = unveil.simulate.rapid_population(1000, kappa=kappa, seed=seed)
    release = CartSynthesizer().fit(original).sample(seed=seed)
    pair = unveil.Pair(original, release)
    return rapid(pair, KEYS, target="disease_status", attacker=attacker, permutations=0, ceiling=False)


def mean_of(measure: Any, kappa: float, attacker: str = "rf") -> float:
    return float(np.mean([measure(attacked(kappa, seed, attacker)) for seed in range(REPLICATIONS)]))


def test_rate_rises_with_the_strength_of_dependence() -> None:
    rates = [mean_of(lambda r: r.rate, kappa) for kappa in (0, 1, 5, 10, 100)]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(0.25, abs=0.04)
    assert rates[-1] == pytest.approx(0.97, abs=0.02)
    # the S shape: most of the rise lies between kappa 0 and 10
    assert rates[3] - rates[0] > 0.8 * (rates[-1] - rates[0])
    accuracy = [mean_of(lambda r: r.attacks[0]["accuracy"], kappa) for kappa in (0, 100)]
    assert accuracy == pytest.approx([0.70, 0.98], abs=0.05)


def test_curves_are_convex_without_and_concave_with_dependence() -> None:
    def curve(kappa: float) -> np.ndarray:
        taus = [0.05, 0.35, 0.6, 0.7]
        return np.mean([attacked(kappa, s).curve(taus, n=2).lines[0].rate for s in range(REPLICATIONS)], axis=0)

    noise, signal = curve(0), curve(20)
    assert noise[0] == pytest.approx(0.50, abs=0.06)
    assert noise[2] < 0.07
    assert noise[1] < (noise[0] + noise[2]) / 2
    assert signal[3] > 0.80
    assert signal[1] > (signal[0] + signal[3]) / 2 - 0.01


@pytest.mark.parametrize(
    ("attacker", "rate", "accuracy"), [("cart", 0.876, 0.879), ("gbm", 0.875, 0.881), ("rf", 0.864, 0.891)]
)
def test_attackers_at_kappa_10(attacker: str, rate: float, accuracy: float) -> None:
    assert mean_of(lambda r: r.rate, 10, attacker) == pytest.approx(rate, abs=0.02)
    assert mean_of(lambda r: r.attacks[0]["accuracy"], 10, attacker) == pytest.approx(accuracy, abs=0.02)


def test_attribution_at_kappa_10() -> None:
    estimates: dict[Any, list[float]] = {}
    importance: dict[str, list[float]] = {}
    for seed in range(REPLICATIONS):
        found = attacked(10, seed).attribution(repeats=2)
        for c in found.coefficients:
            estimates.setdefault((c.key, c.level), []).append(c.estimate)
        for i in found.importance:
            importance.setdefault(i["key"], []).append(i["score"])
    assert max(importance, key=lambda key: np.mean(importance[key])) in ("age", "income")
    assert ("age", None) in estimates


def test_cross_validation_of_the_cart_synthesizer() -> None:
    original = unveil.simulate.rapid_population(600, kappa=10, seed=1)
    cv = rapid_synthesizer_cv(original, CartSynthesizer(), KEYS, target="disease_status", folds=3)
    assert 0.7 < cv.mean < 0.95
    assert cv.in_sample_mean >= cv.mean - 0.03
