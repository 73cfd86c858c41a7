"""Proper synthesis: a mixture over bootstrap samples, of which bounds are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import unveil
from unveil._posterior import posterior
from unveil.errors import UnveilWarning
from unveil.simulate import latner_population
from unveil.synthesis import CartSynthesizer


def test_bound_holds_for_all_bootstrap_samples_and_releases():
    """One variable of three values, four records, releases of three: every sample and release is counted."""
    others, n, size = (0, 0, 1), 4, 3
    likelihood = np.zeros((3, 3**size))
    for value in range(3):
        records = np.array([*others, value])
        for sample in product(range(n), repeat=n):
            share = np.bincount(records[list(sample)], minlength=3) / n
            p = np.ones(1)
            for _ in range(size):
                p = np.outer(p, share).reshape(-1)
            likelihood[value] += p / n**n
    assert likelihood.sum(axis=1) == pytest.approx(np.ones(3))
    for prior in (np.full(3, 1 / 3), np.array([0.6, 0.3, 0.1])):
        joint = prior[:, None] * likelihood
        total = joint.sum(axis=0)
        after = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        gain = (after - prior[:, None]) / (1 - prior[:, None])
        mean = (joint * gain).sum()
        assert 0 < mean < 1 - (1 - 1 / n) ** n


def test_bounds_are_given_and_labelled():
    original = latner_population(60, seed=2)
    synthesizer = CartSynthesizer(proper=True).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=1, m=2))
    with pytest.warns(UnveilWarning) as said:
        risk = posterior(pair, synthesizer, target="var4", records=[59], replicates=10)
    assert any("weak lower bound" in str(one.message) for one in said)
    assert any("proper synthesis" in str(one.message) for one in said)
    assert risk.structures == ("simulated",)
    assert risk.largest_mean_gain == pytest.approx(1 - (59 / 60) ** 120)
    assert risk.to_dict()["largest_mean_gain"] == risk.largest_mean_gain
    assert "at most 86.7 % on average" in str(risk)
