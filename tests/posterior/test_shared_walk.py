"""Candidates that walk together get, bit by bit, what each of them gets alone."""

from __future__ import annotations

import numpy as np
import pytest
from posterior.test_rewalk import column, release, worlds

from unveil._posterior.walk import known_tree, walk_many
from unveil.trees import Column, Settings


def response_of(rng, latent, kind):
    """A response; numbers with few steps have exact scores, with ties and gaps between the values."""
    if kind != "numeric":
        return column(rng, latent, kind)
    steps = np.round(latent * rng.uniform(0.5, 3) + rng.normal(size=latent.size)).astype(int)
    steps[rng.random(latent.size) < 0.02] += int(rng.integers(5, 60))
    values = np.unique(np.concatenate([steps, rng.integers(steps.min() - 20, steps.max() + 21, 6)]))
    return Column(np.searchsorted(values, steps).astype(np.int32), "numeric", values.size, values.astype(float))


def design(rng, kind):
    """Few or many records, levels and classes; leaves as small as one record and as large as half of the data."""
    n = int(rng.choice([15, 40, 150, 400]))
    latent = rng.normal(size=n)
    kinds = ["numeric", "ordered", "categorical"]
    predictors = [column(rng, latent, kinds[rng.integers(3)]) for _ in range(rng.integers(1, 6))]
    if rng.random() < 0.3:
        predictors.append(predictors[0])
    if rng.random() < 0.3:
        places = np.argsort(latent + rng.normal(size=n)).argsort()
        predictors.append(Column(places.astype(np.int32), "numeric", n, np.arange(n) / 3))
    minbucket = int(rng.choice([1, 2, 5, n // 4 + 1, n // 2]))
    settings = Settings(
        minbucket,
        int(rng.choice([3 * minbucket, minbucket])),
        max_depth=int(rng.choice([30, 2])),
        cp=float(rng.choice([0, 1e-8, 1e-2])),
        collapse=bool(rng.integers(2)),
    )
    rows = np.arange(n) if rng.random() < 0.5 else np.flatnonzero(rng.random(n) < 0.7)
    return response_of(rng, latent, kind), predictors, settings, rows if rows.size else np.arange(n)


def candidates(rng, response, predictors, what, missing):
    """Worlds in no order that differ in the response, in predictors, or in both; in some the record is not fitted."""
    own, features = what != "predictors", np.zeros(0, dtype=np.int64)
    n = min(40, 3 * response.n_levels) if what == "response" else 40
    if what != "response":
        features = np.sort(rng.choice(len(predictors), int(rng.integers(1, len(predictors) + 1)), replace=False))
    codes = np.array([rng.integers(0, predictors[f].n_levels, n) for f in features]).reshape(features.size, n)
    included = rng.random(n) < (0.8 if missing else 1.1)
    return own, features, codes, rng.integers(0, response.n_levels, n), included


def answers(known, members, fitted, asked, which):
    """Impossible values and log-likelihoods of some worlds, which walk together."""
    own, features, codes, responses, included = asked
    impossible = np.zeros((len(members), len(which)), dtype=np.int64)
    log = np.zeros(impossible.shape)
    some = worlds(members, fitted, features, codes[:, which], own, responses[which], included[which])
    walk_many(known, some, np.ones(impossible.shape, dtype=bool), impossible, log)
    return impossible, log


@pytest.mark.parametrize("what", ["response", "predictors", "both"])
@pytest.mark.parametrize("kind", ["numeric", "ordered", "categorical"])
def test_candidates_together_equal_candidates_alone(kind, what):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        response, predictors, settings, rows = design(rng, kind)
        z_response, z_predictors = release(rng, response, predictors, settings, rows)
        known = known_tree(response, predictors, rows, settings, z_response, z_predictors)
        fitted = np.isin(np.arange(response.codes.size), rows)
        asked = candidates(rng, response, predictors, what, missing=rows.size < response.codes.size)
        members = rng.choice(response.codes.size, 4, replace=False)
        everything = np.arange(asked[-1].size)
        together = answers(known, members, fitted, asked, everything)
        alone = [answers(known, members, fitted, asked, np.array([world])) for world in everything]
        for a, name in enumerate(("impossible", "log")):
            found = np.concatenate([one[a] for one in alone], axis=1)
            np.testing.assert_array_equal(together[a], found, err_msg=f"seed {seed}, {name}")


def test_more_candidates_than_walk_at_once():
    rng = np.random.default_rng(0)
    n, levels = 300, 700
    y = rng.integers(0, levels, n)
    response = Column(y.astype(np.int32), "numeric", levels, np.arange(levels, dtype=float))
    x = Column((y // 100).astype(np.int32), "categorical", 7)
    known = known_tree(response, [x], np.arange(n), Settings(5, 15, 0.0), response.codes, x.codes[None])
    asked = (True, [], np.zeros((0, levels)), rng.permutation(levels), np.ones(levels, dtype=bool))
    fitted, everything = np.ones(n, dtype=bool), np.arange(levels)
    together = answers(known, [3, 200], fitted, asked, everything)
    alone = [answers(known, [3, 200], fitted, asked, np.array([world])) for world in everything]
    np.testing.assert_array_equal(together[1], np.concatenate([one[1] for one in alone], axis=1))


def test_a_split_that_only_a_middle_value_offers():
    """Sorted levels: the record's own level has a place between the others only for values in the middle."""
    sizes, means = [6, 5, 6, 5, 6], [0, 10, 20, 30, 40]
    level = np.repeat(np.arange(5), sizes)
    rng = np.random.default_rng(1)
    cells = 0
    for minbucket in (5, 6, 10, 11, 12, 13):
        for _ in range(20):
            y = np.clip(np.array(means)[level] + rng.integers(-15, 16, level.size), 0, 60)
            response = Column(y.astype(np.int32), "numeric", 400, np.arange(400.0))
            x = Column(level.astype(np.int32), "categorical", 5)
            settings = Settings(minbucket, 2 * minbucket, 0.0)
            known = known_tree(response, [x], np.arange(y.size), settings, response.codes, x.codes[None])
            worth = np.arange(0, 400, 3)
            asked = (True, [], np.zeros((0, worth.size)), worth, np.ones(worth.size, dtype=bool))
            fitted, members, every = np.ones(y.size, dtype=bool), np.arange(0, y.size, 5), np.arange(worth.size)
            together = answers(known, members, fitted, asked, every)
            alone = [answers(known, members, fitted, asked, np.array([world])) for world in every]
            np.testing.assert_array_equal(together[0], np.concatenate([one[0] for one in alone], axis=1))
            np.testing.assert_array_equal(together[1], np.concatenate([one[1] for one in alone], axis=1))
            cells += together[1].size
    assert cells > 50_000
