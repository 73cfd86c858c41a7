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


def check_together(response, predictors, settings, members):
    """All values of the response as candidates, all records fitted."""
    n, every = response.codes.size, np.arange(response.n_levels)
    codes = np.array([predictor.codes for predictor in predictors])
    known = known_tree(response, predictors, np.arange(n), settings, response.codes, codes)
    asked = (True, [], np.zeros((0, every.size)), every, np.ones(every.size, dtype=bool))
    together = answers(known, members, np.ones(n, dtype=bool), asked, every)
    alone = [answers(known, members, np.ones(n, dtype=bool), asked, np.array([world])) for world in every]
    for a, name in enumerate(("impossible", "log")):
        np.testing.assert_array_equal(together[a], np.concatenate([one[a] for one in alone], axis=1), err_msg=name)


# In these data a set of levels is offered for middle values only, and is the best one there.
@pytest.mark.parametrize("seed", [279, 1809, 2045, 2175, 2346, 2656])
def test_a_set_of_levels_that_only_middle_values_offer(seed):
    rng = np.random.default_rng(seed)
    n_levels = int(rng.integers(3, 7))
    level = np.repeat(np.arange(n_levels), rng.integers(1, 8, n_levels))
    n = level.size
    y = np.clip(rng.integers(0, 40, n_levels)[level] + rng.integers(-6, 7, n), 0, 60)
    minbucket = int(rng.integers(1, n // 2 + 1))
    response = Column(y.astype(np.int32), "numeric", 61, np.arange(61.0))
    x = [Column(level.astype(np.int32), "categorical", n_levels)]
    if rng.random() < 0.5:
        x.append(Column(rng.integers(0, 4, n).astype(np.int32), "ordered", 4))
    check_together(response, x, Settings(minbucket, 2 * minbucket, 0.0, collapse=False), list(range(n)))


def test_a_split_whose_sides_change_places():
    """For low and for high values x sets the record's side apart, for those in the middle w parts the other side."""
    x = np.repeat([0, 1], [5, 20])
    w = np.append(np.zeros(5), np.repeat([0, 1], 10)).astype(int)
    y = 50 + np.where(x == 0, 0, 4 * w - 2)
    response = Column(y.astype(np.int32), "numeric", 101, np.arange(101.0))
    predictors = [Column(codes.astype(np.int32), "ordered", 2) for codes in (x, w)]
    # The record's own value makes x the split of the known tree.
    response.codes[0] = 0
    check_together(response, predictors, Settings(5, 10, 0.0, collapse=False), [0])


def test_more_levels_than_every_set_of_is_searched():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, levels, classes = 600, 24, int(rng.integers(3, 7))
        level = rng.integers(0, levels, n)
        y = (level * rng.integers(1, 5) + rng.integers(0, 3, n)) % classes
        predictors = [
            Column(level.astype(np.int32), "categorical", levels),
            Column(((level % 5) + rng.integers(0, 2, n)).astype(np.int32), "ordered", 6),
        ]
        response = Column(y.astype(np.int32), "categorical", classes)
        check_together(response, predictors, Settings(5, 15, 0.0), rng.choice(n, 20, replace=False))
