"""Releases that were made with other settings, or from another original, are told from those that were not."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from unveil._posterior import posterior
from unveil._posterior.likelihood import fit_fixed_trees
from unveil._posterior.refit import quietly
from unveil._posterior.settings_check import _moments, check_settings
from unveil._posterior.tree_sequence import build_sequence
from unveil.errors import DataError, UnveilWarning
from unveil.simulate import demo_population, latner_population
from unveil.synthesis import CartSynthesizer


def checked(original, release, **settings):
    synthesizer = quietly(CartSynthesizer(**settings), original)
    pair = unveil.Pair(original, release)
    sequence = build_sequence(pair, synthesizer, {}, [])
    releases = range(pair.n_releases)
    return check_settings(sequence, fit_fixed_trees(sequence, sequence.trees, releases), releases)


def release_of(original, seed=1, m=1, **settings):
    return quietly(CartSynthesizer(**settings), original).sample(seed=seed, m=m)


def test_moments_are_those_of_drawn_releases():
    """One leaf of three values: means and variances over all ways to draw four records."""
    original = pa.table({"x": pa.array(["a"] * 5 + ["b"] * 3 + ["c"] * 2)})
    p = np.array([0.5, 0.3, 0.2])
    found, weights = [], []
    for a in range(5):
        for b in range(5 - a):
            counts = np.array([a, b, 4 - a - b])
            ways = np.prod(range(1, 5)) / np.prod([np.prod(range(1, c + 1)) for c in counts])
            release = pa.table({"x": pa.array(np.repeat(["a", "b", "c"], counts).tolist())})
            pair = unveil.Pair(original, release)
            sequence = build_sequence(pair, CartSynthesizer().fit(original), {}, [])
            x2, degrees, spread, excess, spread_of_log = _moments(fit_fixed_trees(sequence, sequence.trees, [0])[0])
            assert x2 == pytest.approx(((counts - 4 * p) ** 2 / (4 * p)).sum())
            found.append([x2, excess])
            weights.append(ways * np.prod(p**counts))
    found, weights = np.array(found), np.array(weights)
    mean = weights @ found
    assert weights.sum() == pytest.approx(1)
    assert mean == pytest.approx([degrees, 0])
    assert weights @ (found - mean) ** 2 == pytest.approx([spread, spread_of_log])


@pytest.mark.parametrize(
    "settings",
    [{}, {"minbucket": 1, "cp": 0.0}, {"minbucket": 40}, {"collapse": False}, {"cp": 0.01}, {"max_depth": 2}],
)
def test_no_false_alarm(settings):
    for seed in range(15):
        original = demo_population(200, seed=seed)
        found = checked(original, release_of(original, seed=seed, m=1 + seed % 3, **settings), **settings)
        assert found.verdict == "fits", found


def test_false_alarms_are_as_rare_as_they_should_be():
    """Over drawn releases the ratio has a mean of at most 1, the likelihood a mean of 0 and a deviation of 1."""
    original = latner_population(300, seed=2)
    found = [checked(original, release_of(original, seed=seed)) for seed in range(150)]
    z = np.array([one.likelihood_z for one in found])
    assert abs(z.mean()) < 3 / np.sqrt(150)
    assert 0.8 < z.std() < 1.2
    p = 10 ** np.array([one.log10_p_dispersion for one in found])
    assert 0.35 < p.mean() < 0.65
    assert np.mean([10**one.log10_finer for one in found]) < 3


@pytest.mark.parametrize(
    ("made", "assumed"),
    [({}, {"minbucket": 50}), ({"minbucket": 10}, {"minbucket": 60}), ({}, {"cp": 1e-2}), ({"collapse": False}, {}),
     ({}, {"max_depth": 1})],
)  # fmt: skip
def test_coarser_assumptions_are_told(made, assumed):
    original = demo_population(1500, seed=3)
    found = checked(original, release_of(original, **made), **assumed)
    assert found.verdict == "finer"
    assert found.log10_finer > 6
    assert "smaller minbucket or cp" in found.warning


@pytest.mark.parametrize(("made", "assumed"), [({"minbucket": 75}, {}), ({"cp": 0.05}, {})])
def test_finer_assumptions_are_told(shared, made, assumed):
    """On four binary variables no released value is impossible; the counts tell."""
    original = pyarrow.csv.read_csv(shared / "data" / "latner_original.csv")
    found = checked(original, release_of(original, **made), **assumed)
    assert found.verdict == "other"
    assert found.dispersion > 5 * found.degrees


def test_another_original_is_told():
    """Same variables, same values, another population: nothing is impossible."""
    rng = np.random.default_rng(1)
    one, other = (
        pa.table({"a": rng.integers(0, 2, 2000), "b": rng.integers(0, 3, 2000), "c": rng.random(2000) < share})
        for share in (0.3, 0.42)
    )
    assert checked(one, release_of(one)).verdict == "fits"
    assert checked(one, release_of(other)).verdict == "other"


def test_the_call_warns():
    original = latner_population(1000, seed=1)
    pair = unveil.Pair(original, release_of(original))
    with pytest.warns(UnveilWarning, match="follow the original more closely"):
        risk = posterior(pair, CartSynthesizer(minbucket=75), target="var4", records=[0])
    assert risk.settings_check.verdict == "finer"
    assert risk.to_dict()["settings_check"]["verdict"] == "finer"
    assert any("smaller minbucket" in text for text in risk.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unasked = posterior(pair, CartSynthesizer(minbucket=75), target="var4", records=[0], check_settings=False)
        right = posterior(pair, CartSynthesizer(), target="var4", records=[0])
    assert unasked.settings_check is None
    assert right.settings_check.verdict == "fits"


def test_the_direction_is_said_where_values_are_impossible():
    original = demo_population(1500, seed=3)
    pair = unveil.Pair(original, release_of(original))
    with pytest.raises(DataError, match="more closely than these settings let them"):
        posterior(pair, CartSynthesizer(minbucket=50), target=pair.names[0], records=[0])


@pytest.mark.parametrize("k", [1, 2])
def test_releases_of_the_reference_program_fit(shared, k):
    data = shared / "data"
    assert checked(unveil.read(str(data / "sd2011_9.csv")), str(data / f"sd2011_9_s5_{k}.csv")).verdict == "fits"


def test_a_file_in_which_nothing_comes_from_a_tree_has_nothing_to_be_checked():
    one = pa.table({"a": ["x"], "b": ["y"], "c": [1]})
    found = unveil.posterior(unveil.Pair(one, one), unveil.CartSynthesizer(), target="b")
    assert found.releases[0]["exact"]["mean_posterior"] == 1
