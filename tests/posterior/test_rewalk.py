"""Walking a record's path gives what a fit to the changed records gives."""

from __future__ import annotations

import numpy as np
import pytest

from unveil._posterior.walk import Worlds, known_tree, walk_many
from unveil.trees import Column, Settings, grow

KINDS = ("numeric", "ordered", "categorical")


def scored(tree, z_response, z_predictors, n_levels, mix=0.0):
    leaf = tree.apply(list(z_predictors))
    donors = np.zeros((tree.n_leaves, n_levels), dtype=int)
    np.add.at(
        donors,
        (np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start)), tree.response.codes[tree.donors]),
        1,
    )
    share = (1 - mix) * donors[leaf, z_response] / donors.sum(axis=1)[leaf]
    share += mix * donors.sum(axis=0)[z_response] / donors.sum()
    return int((share == 0).sum()), float(np.log(share[share > 0]).sum())


def column(rng, latent, kind):
    x = latent * rng.uniform(0, 2) + rng.normal(size=latent.size)
    if kind == "numeric":
        steps = np.round(x * rng.integers(2, 40) / 3).astype(int)
        # Some values that nobody has, as candidates may be.
        values = np.unique(np.concatenate([steps, rng.integers(steps.min() - 1, steps.max() + 2, 4)])).astype(float)
        codes = np.searchsorted(values, steps).astype(np.int32)
        return Column(codes, "numeric", values.size, values**3 / 7 if rng.random() < 0.3 else values)
    levels = int(rng.integers(2, 9))
    edges = np.quantile(x, np.linspace(0, 1, levels + 1)[1:-1] ** rng.uniform(0.5, 2))
    codes = np.digitize(x, edges).clip(0, levels - 1)
    if kind == "categorical":
        codes = rng.permutation(levels)[codes]
    return Column(codes.astype(np.int32), kind, levels + int(rng.integers(0, 2)))


def design(rng):
    n = int(rng.integers(20, 401))
    latent = rng.normal(size=n)
    predictors = [column(rng, latent, KINDS[rng.integers(3)]) for _ in range(rng.integers(1, 6))]
    response = column(rng, latent, KINDS[rng.integers(3)])
    minbucket = int(rng.integers(1, 21))
    settings = Settings(
        minbucket,
        int(rng.choice([3 * minbucket, 2 * minbucket, minbucket])),
        max_depth=int(rng.choice([30, 30, 3])),
        cp=float(rng.choice([0, 1e-8, 1e-3, 1e-2])),
        collapse=bool(rng.integers(2)),
    )
    rows = np.arange(n) if rng.random() < 0.5 else np.flatnonzero(rng.random(n) < 0.7)
    return response, predictors, settings, rows if rows.size else np.arange(n)


def fit(response, predictors, settings, rows):
    return grow(response, predictors, settings, rows=rows)


def release(rng, response, predictors, settings, rows):
    """Values drawn from the tree; a few of them impossible, and predictors in combinations that nobody has."""
    z = int(rng.integers(1, 2 * response.codes.size))
    source = rng.integers(0, response.codes.size, z)
    z_predictors = np.stack(
        [np.where(rng.random(z) < 0.7, c.codes[source], rng.integers(0, c.n_levels, z)) for c in predictors]
    ).astype(np.int32)
    tree = fit(response, predictors, settings, rows)
    leaf = tree.apply(list(z_predictors))
    place = tree.leaf_start[leaf] + (rng.random(z) * np.diff(tree.leaf_start)[leaf]).astype(int)
    drawn = response.codes[tree.donors[place]]
    return np.where(rng.random(z) < 0.02, rng.integers(0, response.n_levels, z), drawn).astype(np.int32), z_predictors


def worlds(members, fitted, features, codes, own, responses, included):
    """Records and worlds as the loop takes them."""
    return Worlds(
        members=np.array(members, dtype=np.int64),
        fitted=fitted,
        features=np.array(features, dtype=np.int64),
        feature_codes=np.ascontiguousarray(codes, dtype=np.int32),
        response_codes=np.array(responses, dtype=np.int32),
        included=included,
        n_members=len(members),
        n_features=len(features),
        n=len(included),
        own=own,
    )


def check(seed, n_records=6, n_worlds=6, mix=0.0):
    """Compare random records and worlds of a random data set; returns the number of cells."""
    rng = np.random.default_rng(seed)
    response, predictors, settings, rows = design(rng)
    z_response, z_predictors = release(rng, response, predictors, settings, rows)
    n, p = response.codes.size, len(predictors)
    known = known_tree(response, predictors, rows, settings, z_response, z_predictors, mix)
    fitted = np.zeros(n, dtype=bool)
    fitted[rows] = True
    cells = 0
    for own in (True, False):
        members = rng.integers(0, n, n_records)
        features = np.zeros(0, dtype=np.int64) if own else rng.permutation(p)[: rng.integers(1, p + 1)]
        codes = (
            np.stack([rng.integers(0, predictors[f].n_levels, n_worlds) for f in features])
            if not own
            else (np.zeros((0, n_worlds)))
        )
        responses = rng.integers(0, response.n_levels, n_worlds).astype(np.int32)
        included = rng.random(n_worlds) < (0.8 if rows.size < n else 1.1)
        impossible = np.zeros((n_records, n_worlds), dtype=np.int64)
        log = np.zeros((n_records, n_worlds))
        asked = worlds(members, fitted, features, codes, own, responses, included)
        walk_many(known, asked, np.ones((n_records, n_worlds), dtype=bool), impossible, log)
        for a, record in enumerate(members):
            for w in range(n_worlds):
                moved = [c.codes.copy() for c in predictors]
                for j, f in enumerate(features):
                    moved[f][record] = codes[j, w]
                changed, now = response.codes.copy(), fitted.copy()
                if own:
                    changed[record], now[record] = responses[w], included[w]
                if not now.any():
                    continue
                tree = fit(
                    Column(changed, response.kind, response.n_levels, response.values),
                    [Column(m, c.kind, c.n_levels, c.values) for m, c in zip(moved, predictors, strict=True)],
                    settings,
                    np.flatnonzero(now),
                )
                wanted = scored(tree, z_response, z_predictors, response.n_levels, mix)
                where = f"seed {seed}, record {record}, world {w}, own {own}"
                assert impossible[a, w] == wanted[0], where
                assert log[a, w] == pytest.approx(wanted[1], rel=1e-9, abs=1e-7), where
                cells += 1
    return cells


def test_walks_equal_fits_on_random_data():
    assert sum(check(seed) for seed in range(60)) > 4000


@pytest.mark.parametrize("mix", [0.05, 0.6, 1.0])
def test_walks_equal_fits_where_donors_are_mixed(mix):
    assert sum(check(seed, mix=mix) for seed in range(60, 90)) > 2000


@pytest.mark.slow
def test_walks_equal_fits_on_twenty_thousand_cells():
    assert sum(check(seed) for seed in range(1000, 1300)) >= 20_000


@pytest.mark.slow
def test_walks_equal_fits_on_twenty_thousand_cells_of_mixed_donors():
    assert sum(check(seed, mix=(seed % 10 + 1) / 10) for seed in range(1300, 1600)) >= 20_000


@pytest.mark.parametrize("values", [[3, 3, 3, 3], [1, 2, 1, 2], [0, 1, 2, 3]])
def test_smallest_fits(values):
    response = Column(np.array(values, dtype=np.int32), "categorical", 4)
    x = Column(np.arange(4, dtype=np.int32), "categorical", 4)
    settings = Settings(1, 2, 0.0, collapse=False)
    z = np.array(values, dtype=np.int32)
    known = known_tree(response, [x], np.arange(4), settings, z, x.codes[None])
    impossible, log = np.zeros((4, 4), dtype=np.int64), np.zeros((4, 4))
    everyone = np.ones(4, dtype=bool)
    walk_many(
        known, worlds(range(4), everyone, [], [], True, range(4), everyone), np.ones((4, 4), bool), impossible, log
    )
    for record in range(4):
        for level in range(4):
            codes = response.codes.copy()
            codes[record] = level
            tree = fit(Column(codes, "categorical", 4), [x], settings, np.arange(4))
            wanted = scored(tree, z, x.codes[None], 4)
            assert (impossible[record, level], log[record, level]) == (wanted[0], pytest.approx(wanted[1]))


def test_the_only_fitted_record_leaves():
    response = Column.from_values([1.0, 2.0])
    known = known_tree(response, [], np.array([0]), Settings(1, 2, 0.0), np.array([0], np.int32),
                       np.zeros((0, 1), np.int32))  # fmt: skip
    impossible, log = np.zeros((1, 2), dtype=np.int64), np.zeros((1, 2))
    asked = worlds([0], np.array([True, False]), [], [], True, [0, 1], np.array([False, True]))
    walk_many(known, asked, np.ones((1, 2), dtype=bool), impossible, log)
    assert impossible.tolist() == [[1, 1]]
