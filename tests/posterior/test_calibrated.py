"""Posteriors of sequences that mix methods are calibrated: what has a probability of p is true in a share of p."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import UnveilWarning
from unveil.synthesis.methods import RandomForest

VALUES = [-2, 1, 4, 6, 9]
"""Values that the record may have, all as likely; -2 is a special code."""


def survey(rng, n=40):
    sex = rng.choice(["f", "m"], n)
    wage = np.round(4 + 2 * (sex == "m") + 2 * rng.normal(size=n))
    wage = np.where(rng.random(n) < 0.1, -2, np.maximum(wage, -1))
    job = np.where(wage + rng.normal(size=n) > 5, "a", rng.choice(["b", "c"], n))
    return sex, wage, job


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wage", "job"),
    [
        ("norm", "polyreg"),
        ("normrank", "cart"),
        ("pmm", "cart"),
        ("ctree", "polyreg"),
        (RandomForest(n_trees=3, bootstrap_known=True), "cart"),
    ],
)
def test_truths_are_as_frequent_as_their_probabilities(wage, job):
    """The record's value is drawn from the prior, a release from a fit to it: E[p(truth)] = E[sum of p^2]."""
    rng = np.random.default_rng(3)
    sex, numbers, jobs = survey(rng)
    found = []
    for seed in range(300):
        numbers[0] = VALUES[rng.integers(len(VALUES))]
        table = pa.table({"sex": sex, "wage": numbers.copy(), "job": jobs})
        synthesizer = unveil.CartSynthesizer(
            minbucket=3, methods={"wage": wage, "job": job}, special_codes={"wage": [-2]}, n_jobs=1
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            pair = unveil.Pair(table, synthesizer.fit(table, seed=seed).sample(seed=seed))
            risk = unveil.posterior(pair, synthesizer, target="wage", candidates=VALUES, records=[0])
        shares = risk.posteriors().probabilities[0]
        found.append(risk.posteriors().posterior[0] - (shares**2).sum())
    error = np.std(found) / np.sqrt(len(found))
    assert error > 0.001, "something is learnt, and not everything"
    assert abs(np.mean(found)) < 4 * error
