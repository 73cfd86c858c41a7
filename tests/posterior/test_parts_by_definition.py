"""Small parts of the posterior, each against its definition."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma

import unveil
from unveil._posterior import posterior_of_records
from unveil._posterior.closed_form import HistogramLikelihood
from unveil._posterior.likelihood import LikelihoodTerm, fit_fixed_trees
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.posterior_of_records import (
    _add_by_value,
    _telling_part,
    block_size,
    posteriors_of,
)
from unveil._posterior.refit import quietly
from unveil._posterior.result import _text
from unveil._posterior.settings_check import WEIGHTS, _finer, _log10_tail, _log_ratio
from unveil._posterior.simulated import _log_ratio as simulated_log_ratio
from unveil._posterior.tree_methods import _alike, _matched
from unveil._posterior.tree_sequence import build_sequence
from unveil.synthesis import CartSynthesizer


@pytest.mark.parametrize(
    ("n_values", "values"),
    [(3, [0, 1, 2]), (5, [0, 1, 2]), (5, [2, 3, 4]), (4, [3]), (3, [0, 0, 2]), (4, [2, 1, 0, 0]), (3, [1, 0, 2])],
    ids=str,
)
def test_weights_of_worlds_are_added_to_their_values(n_values, values):
    weight = np.random.default_rng(1).uniform(size=(2, len(values)))
    mass = np.ones((2, n_values))
    _add_by_value(mass, weight, np.array(values))
    wanted = np.ones((2, n_values))
    for world, value in enumerate(values):
        wanted[:, value] += weight[:, world]
    assert mass == pytest.approx(wanted)


def test_records_are_worked_on_in_blocks_of_a_hundred_thousand_worlds():
    assert [block_size(n, slow=False) for n in (0, 1, 1024, 2**17, 2**30)] == [2**17, 2**17, 128, 1, 1]
    assert [block_size(n, slow=True) for n in (1, 2**10, 2**14, 2**30)] == [256, 128, 8, 1]


def one_to_one(one, other):
    pairs = set(zip(one, other, strict=True))
    return all(max(Counter(side).values(), default=0) <= 1 for side in zip(*pairs, strict=True))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_columns_that_are_recodings_of_each_other(rows):
    """Values match one to one, or do so when a single record is taken out."""
    one, other = (list(side) for side in zip(*rows, strict=True))
    without = [(one[:i] + one[i + 1 :], other[:i] + other[i + 1 :]) for i in range(len(rows))]
    if one_to_one(one, other):
        wanted = ""
    else:
        wanted = " but for one record" if any(one_to_one(*rest) for rest in without) else None
    assert _matched(np.array(one, dtype=np.int32), np.array(other, dtype=np.int32)) == wanted


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (["a", "b", "c"], ["a", "b", "c"], True),
        (["a", "b", "c"], ["a", "b", "d"], True),
        (["a", "b", "c"], ["a", "e", "d"], False),
        (["a", "b", "c"], ["a", "b", "c", "d"], True),
        (["a", "b", "c"], ["a", "b", "d", "e"], False),
        ([1, 2], [1.0, 2.0], False),
    ],
    ids=str,
)
def test_one_record_can_keep_variables_from_having_the_same_values(one, other, alike):
    """All values but one are shared, and they are of one type."""
    first, second = (SimpleNamespace(values=pa.array(values)) for values in (one, other))
    assert _alike(first, second) is alike
    assert _alike(second, first) is alike


def test_finer_trees_explain_better_by_their_shares():
    """One leaf gives u two thirds and v one; half as large leaves give the value that is there all."""
    original = pa.table({"x": ["a"] * 20 + ["b"] * 20 + ["c"] * 20, "y": ["u"] * 20 + ["v"] * 20 + ["u"] * 20})
    release = pa.table({"x": ["a", "c", "a", "a", "b", "b"], "y": ["u"] * 4 + ["v"] * 2})
    sequence = build_sequence(unveil.Pair(original, release), quietly(CartSynthesizer(minbucket=35), original), {}, [])
    trees = [tree for tree in fit_fixed_trees(sequence, sequence.trees, [0]) if tree.definition.variable == "y"]
    finer = fit_fixed_trees(sequence, [_finer(tree.definition) for tree in trees], [0])
    assert _log_ratio(trees, trees) == pytest.approx(0, abs=1e-12)
    # Per record (1 - w) ratio + w, with a ratio of 3/2 four times and of 3 twice, averaged over the weights.
    wanted = math.log(np.mean([((1 - w) * 1.5 + w) ** 4 * ((1 - w) * 3 + w) ** 2 for w in WEIGHTS]))
    assert _log_ratio(trees, finer) == pytest.approx(wanted)


@pytest.mark.parametrize(("x2", "mean", "variance"), [(25.0, 10.0, 20.0), (3.0, 10.0, 20.0), (60.0, 30.0, 90.0)])
def test_tail_is_that_of_a_gamma_distribution(x2, mean, variance):
    exact = gamma.sf(x2, mean**2 / variance, scale=variance / mean)
    assert 10 ** _log10_tail(x2, mean, variance) == pytest.approx(exact, rel=0.05)
    assert _log10_tail(x2, 0.0, variance) == _log10_tail(x2, mean, 0.0) == 0


def test_simulated_counts_are_poisson_against_those_of_the_other_worlds():
    """Means over two replicates: 3 in the own world against 1 elsewhere; and none, for which half a record stands."""
    counts = np.zeros((2, 2, 2))
    counts[0, :, 0], counts[1, :, 0] = [2, 4], [1, 1]
    counts[1, :, 1] = [5, 5]
    found = simulated_log_ratio(counts, np.array([4.0, 6.0]), 1.0)
    own, other = np.array([3.0, 5.0]), np.array([1.0, 0.5 / 2])
    assert found == pytest.approx(np.array([4.0, 6.0]) * np.log(own / other) - (own - other))
    assert simulated_log_ratio(counts[:1, :, :1], np.array([4.0]), 1.0).tolist() == [0]
    twice = simulated_log_ratio(counts, np.array([4.0, 6.0]), 2.0)
    assert found - twice == pytest.approx(own - other)


@pytest.mark.parametrize(
    ("count", "released", "scale"),
    [
        *((60.0, 100, 5.0), (30.0, 30, 0.5), (2.0, 50, 10.0), (0.1, 0, 2.0), (30.0, 0, 1.0)),
        # so far from the count that the bulk lies where the noise hardly reaches
        *((5.0, 400, 1.0), (300.0, 20, 2.0), (400.0, 60, 1.0), (200.0, 0, 1.0), (200.0, 0, 4.0), (100.0, 1, 1.0)),
        *((2.0, 900, 0.5), (500.0, 700, 2.0), (300.0, 100, 5.0)),
    ],
)
def test_noised_counts_are_integrated_over_the_laplace_density(count, released, scale):
    """``E[h^S exp(-s h)]`` of ``h = max(0, count + e)``, summed over a fine grid; all below 0 stands at 0."""
    likelihood = HistogramLikelihood.__new__(HistogramLikelihood)
    likelihood.s, likelihood.scale = np.array([0.6, 1.0, 1.7]), scale
    step = 0.002
    h = np.arange(step / 2, 2000, step)
    for s, found in zip(likelihood.s, likelihood._integrate(count, released), strict=True):
        log = released * np.log(h) - s * h - np.abs(h - count) / scale - math.log(2 * scale) + math.log(step)
        with np.errstate(under="ignore"):
            total = log.max() + math.log(np.exp(log - log.max()).sum())
        at_zero = -count / scale - math.log(2) if released == 0 else -math.inf
        assert found == pytest.approx(np.logaddexp(total, at_zero), abs=1e-4)


def test_the_part_that_tells_most_is_where_the_truth_rises_most():
    """Two worlds, alike beforehand: the truth goes from 1/2 to 2/3, then to 16/17; where nothing rises, none tells."""
    nothing = np.zeros((3, 2), dtype=np.int64)
    log_prior = np.log(np.full((3, 2), 0.5))
    truth = np.array([0, 0, 0])
    rises, much, falls = (np.log(np.array([[ratio, 1.0]] * 3)) for ratio in (2.0, 8.0, 0.5))
    # First record: the second part tells most; second: the first, as the second speaks against; third: none does.
    first = np.vstack([rises[0], much[1], falls[2]])
    second = np.vstack([much[0], falls[1], np.zeros(2)])
    terms = [LikelihoodTerm("a", nothing, first), LikelihoodTerm("b", nothing, second)]
    assert _telling_part(terms, log_prior, truth, -np.inf).tolist() == [1, 0, -1]
    # A value that the release rules out, once, counts for nothing or for what an intruder allows for errors.
    out = nothing.copy()
    out[:, 1] = 1
    ruled = [LikelihoodTerm("a", nothing, np.zeros((3, 2))), LikelihoodTerm("b", out, np.zeros((3, 2)))]
    assert _telling_part(ruled, log_prior, truth, -np.inf).tolist() == [1, 1, 1]
    assert _telling_part(ruled, log_prior, np.array([1, 1, 1]), -np.inf).tolist() == [-1, -1, -1]
    assert _telling_part(ruled, log_prior, truth, 0.0).tolist() == [-1, -1, -1]


def test_levels_of_neighbouring_worlds_are_those_of_each():
    choices = (np.array([2, 0], np.int32), np.array([1], np.int32), np.array([0, 3, 1], np.int32))
    worlds = PossibleValues(("a", "b", "c"), choices, np.zeros(0, dtype=np.int64))
    for start, stop in [(0, 6), (0, 1), (1, 5), (2, 4), (5, 6)]:
        found = worlds.levels_between(start, stop)
        each = worlds.levels(np.arange(start, stop))
        assert {name: levels.tolist() for name, levels in found.items()} == {k: v.tolist() for k, v in each.items()}
    assert {name: levels.tolist() for name, levels in worlds.levels_between(1, 2, 2).items()} == {"a": [0], "b": [1]}


def test_values_in_words():
    assert (_text(None), _text("x"), _text(3), _text(("x", None))) == ("Missing", "x", "3", "x | Missing")


@pytest.mark.parametrize("cells", [2**20, 4, 2], ids=["all worlds at once", "two worlds", "one world"])
def test_likelihood_and_prior_make_the_posterior(monkeypatch, cells):
    """Worlds 0 and 1 are the first value, world 2 is the second; by prior 1/2, 1/4 and 1/4."""
    monkeypatch.setattr(posterior_of_records, "CELLS", cells)
    monkeypatch.setattr(posterior_of_records, "BLOCK_CELLS", cells)
    likelihood = np.log(np.array([[0.4, 0.2, 0.1], [0.4, 0.2, 0.1], [0.4, 0.2, 0.1]]))
    impossible = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1]])

    class Told:
        def terms(self, members, start, stop, log_wrong):
            return [LikelihoodTerm("a", impossible[members, start:stop], likelihood[members, start:stop])]

        def must_fill(self, members):
            return members == 1

    def outcomes(log_wrong):
        return SimpleNamespace(
            worlds=SimpleNamespace(size=3, truth=np.array([0, 2, 0])), n_values=2, truth=np.array([0, 1, 0]),
            value_of=lambda worlds: np.array([0, 0, 1])[worlds],
            log_cells=lambda members: np.log(np.array([[0.5, 0.25, 0.25]] * members.size)),
            log_prior=lambda members, log_cells, start, stop: log_cells[:, start:stop], log_wrong=log_wrong,
        )  # fmt: skip

    members = np.array([0, 1])
    found = posteriors_of(Told(), outcomes(-np.inf), members, keep=True)
    # 0.2, 0.05 and 0.025 of 0.275; where world 1 is ruled out 0.2 and 0.025 of 0.225.
    assert found.posterior == pytest.approx([10 / 11, 1 / 9])
    assert found.prior == pytest.approx([0.75, 0.25])
    assert found.probabilities == pytest.approx(np.array([[10 / 11, 1 / 11], [8 / 9, 1 / 9]]))
    assert found.likeliest.tolist() == [0, 0]
    assert found.likeliest_probability == pytest.approx([10 / 11, 8 / 9])
    assert found.possible_worlds.tolist() == [3, 2]
    assert found.must_fill.tolist() == [False, True]
    # Which part tells is known where all worlds are looked at together; of the second record none speaks for the truth.
    assert found.part.tolist() == ([0, -1] if cells == 2**20 else [-1, -1])
    assert posteriors_of(Told(), outcomes(-np.inf), members, keep=False).probabilities is None
    # Where nothing is possible nothing is learnt; who allows for errors weighs the worlds all the same.
    alone = np.array([2])
    nothing = posteriors_of(Told(), outcomes(-np.inf), alone, keep=True)
    assert (nothing.posterior[0], nothing.possible_worlds[0]) == (pytest.approx(0.75), 0)
    errors = posteriors_of(Told(), outcomes(math.log(0.01)), members, keep=True)
    assert errors.posterior == pytest.approx([10 / 11, 0.025 / (0.2 + 0.0005 + 0.025)])
