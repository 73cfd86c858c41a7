"""Both structures against a slow count, on whole files with gaps, special codes and several unknown variables."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import unveil
from posterior.plain_risk import chain_likelihood
from unveil._posterior import posterior
from unveil._posterior.likelihood import CartLikelihood, fit_fixed_trees, trees_concerned
from unveil._posterior.possible_values import make_worlds
from unveil._posterior.refit import quietly
from unveil._posterior.tree_sequence import build_sequence
from unveil.errors import UnveilWarning
from unveil.synthesis import CartSynthesizer


def survey(rng, n):
    age = rng.integers(18, 40, n)
    income = np.round(rng.gamma(2, 3, n) + age / 10)
    income = np.where(rng.random(n) < 0.15, -8, income)
    return pa.table(
        {
            "sex": pa.array(rng.choice(["f", "m"], n)),
            "age": pa.array(age),
            "income": pa.array(income, mask=rng.random(n) < 0.1),
            "job": pa.array(np.where(income > 6, rng.choice(["a", "b"], n), rng.choice(["b", "c"], n)),
                            mask=rng.random(n) < 0.1),
            "ill": pa.array(rng.random(n) < np.where(age > 30, 0.6, 0.2)),
        }
    )  # fmt: skip


def made(seed, **settings):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(25, 150))
    original = survey(rng, n)
    synthesizer = quietly(CartSynthesizer(special_codes={"income": [-8]}, **settings), original)
    return original, synthesizer, unveil.Pair(original, synthesizer.sample(seed=seed))


SETTINGS = [
    {"minbucket": 1, "cp": 0.0},
    {"minbucket": 5},
    {"minbucket": 3, "collapse": False, "cp": 1e-3},
    {"minbucket": 10, "cp": 1e-2},
    {"minbucket": 2, "visit_order": ["ill", "income", "sex", "job", "age"]},
]


def terms_total(likelihood, members, size):
    terms = likelihood.terms(members, 0, size, log_wrong=-1.0)
    return sum(step.impossible for step in terms), sum(step.log for step in terms)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("target", ["sex", "age", "income", "job", "ill"])
def test_likelihoods_equal_slow_counts(settings, target):
    _, synthesizer, pair = made(len(target), **settings)
    sequence = build_sequence(pair, synthesizer, {}, [])
    worlds = make_worlds(sequence, [target], {})
    members = np.random.default_rng(1).permutation(sequence.n)[:3]
    trees = fit_fixed_trees(sequence, trees_concerned(sequence, [target]), [0])
    likelihood = CartLikelihood(sequence, worlds, trees, [0], exact=True)
    terms = likelihood.terms(members, 0, worlds.size)
    impossible = sum(step.impossible for step in terms)
    log = sum(step.log for step in terms)
    for a, record in enumerate(members):
        true = chain_likelihood(sequence, record, {})
        assert true[0] == 0
        base = log[a, worlds.truth[record]]
        for w, level in enumerate(worlds.levels()[target]):
            wanted = chain_likelihood(sequence, record, {target: level})
            if impossible[a, w]:
                assert wanted[0] >= impossible[a, w]
            else:
                assert wanted[0] == 0
                assert log[a, w] - base == pytest.approx(wanted[1] - true[1], abs=1e-8)


def fixed_count(sequence, record, levels):
    """Impossible values and log-likelihood with the trees held, by moving the record between cells."""
    from unveil.trees import grow

    impossible, log = 0, 0.0
    for definition in sequence.trees:
        predictors = [sequence.columns[p] for p in definition.predictors]
        if not definition.fitted.any():
            continue
        response, rows = sequence.columns[definition.position], np.flatnonzero(definition.fitted)
        tree = grow(response, predictors, definition.settings, rows=rows)
        codes = {p: sequence.columns[p].codes.copy() for p in (*definition.predictors, definition.position)}
        fitted = definition.fitted.copy()
        for name, level in levels.items():
            for position, code in sequence.part_codes(name, np.array([level])).items():
                if position in codes:
                    codes[position][record] = code[0]
            if name == definition.variable:
                fitted[record] = sequence.observed(definition.position, name, np.array([level]))[0]
        leaf = tree.apply([codes[p] for p in definition.predictors]) if predictors else np.zeros(sequence.n, int)
        rows = np.flatnonzero(definition.released[0])
        z_leaf = (
            tree.apply([sequence.z[0][p][rows] for p in definition.predictors])
            if predictors
            else np.zeros(rows.size, int)
        )
        for own, code in zip(z_leaf, sequence.z[0][definition.position][rows], strict=True):
            inside = fitted & (leaf == own)
            count = int((inside & (codes[definition.position] == code)).sum())
            if count == 0:
                impossible += 1
            else:
                log += np.log(count / inside.sum())
    return impossible, log


@pytest.mark.parametrize("settings", SETTINGS[:3])
@pytest.mark.parametrize("target", ["sex", "income", "job"])
def test_fixed_likelihoods_equal_slow_counts(settings, target):
    _, synthesizer, pair = made(20 + len(target), **settings)
    sequence = build_sequence(pair, synthesizer, {}, [])
    worlds = make_worlds(sequence, [target], {})
    members = np.random.default_rng(1).permutation(sequence.n)[:4]
    trees = fit_fixed_trees(sequence, trees_concerned(sequence, [target]), [0])
    impossible, log = terms_total(CartLikelihood(sequence, worlds, trees, [0], exact=False), members, worlds.size)
    for a, record in enumerate(members):
        true = fixed_count(sequence, record, {})
        for w, level in enumerate(worlds.levels()[target]):
            wanted = fixed_count(sequence, record, {target: level})
            assert impossible[a, w] == wanted[0]
            if wanted[0] == 0:
                assert log[a, w] == pytest.approx(wanted[1] - true[1], abs=1e-8)


@pytest.mark.parametrize("structure", ["fixed", "exact"])
def test_several_unknown_variables(structure):
    _, synthesizer, pair = made(5, minbucket=4)
    unknown = ["sex", "job", "ill"]
    risk = posterior(pair, synthesizer, target=unknown, records=[0, 7, 11], structure=structure)
    sequence = build_sequence(pair, synthesizer, {}, [])
    worlds = make_worlds(sequence, unknown, {})
    assert risk.n_values == worlds.size
    levels = worlds.levels()
    for a, record in enumerate([0, 7, 11]):
        count = chain_likelihood if structure == "exact" else fixed_count
        found = [count(sequence, record, {name: levels[name][w] for name in unknown}) for w in range(worlds.size)]
        log = np.array([one[1] if one[0] == 0 else -np.inf for one in found])
        wanted = np.exp(log - log.max())
        wanted /= wanted.sum()
        assert risk.posteriors().probabilities[a] == pytest.approx(wanted, abs=1e-9)
        assert risk.posteriors().possible_worlds[a] == np.isfinite(log).sum()


def test_known_keys_sum_over_the_rest():
    _, synthesizer, pair = made(6, minbucket=4)
    risk = posterior(pair, synthesizer, target="ill", known=["sex", "age", "income"], records=[2], structure="exact")
    joint = posterior(pair, synthesizer, target=["job", "ill"], records=[2], structure="exact")
    table = joint.posteriors().probabilities[0].reshape(-1, risk.n_values)
    assert risk.posteriors().probabilities[0] == pytest.approx(table.sum(axis=0))
    assert risk.posteriors().possible_worlds[0] == joint.posteriors().possible_worlds[0]


@pytest.mark.parametrize("structure", ["fixed", "exact"])
def test_releases_pool_by_adding_log_likelihoods(structure):
    original, synthesizer, _ = made(7, minbucket=4)
    releases = [synthesizer.sample(seed=seed) for seed in range(3)]
    pooled = posterior(unveil.Pair(original, releases), synthesizer, target="job", structure=structure)
    each = posterior(unveil.Pair(original, releases), synthesizer, target="job", structure=structure, releases="each")
    assert len(each.releases) == 3
    with np.errstate(divide="ignore"):
        log = sum(np.log(each.posteriors(r).probabilities) for r in range(3))
    product = np.exp(log - log.max(axis=1, keepdims=True))
    product /= product.sum(axis=1, keepdims=True)
    assert pooled.posteriors().probabilities == pytest.approx(product, abs=1e-9)


def test_order_of_records_does_not_matter():
    original, synthesizer, pair = made(8, minbucket=3)
    order = np.random.default_rng(0).permutation(original.num_rows)
    shuffled = unveil.Pair(original.take(order), pair.releases[0])
    one = posterior(pair, synthesizer, target="income")
    other = posterior(shuffled, CartSynthesizer(special_codes={"income": [-8]}, minbucket=3), target="income")
    for structure in ("fixed", "exact"):
        assert other.posteriors(0, structure).posterior == pytest.approx(one.posteriors(0, structure).posterior[order])


def test_a_fit_anew_gives_the_same():
    """Rules send the package down the slow path; without effect they must not change a thing."""
    original, synthesizer, pair = made(9, minbucket=4)
    members = [1, 4]
    fast = posterior(pair, synthesizer, target="job", records=members, structure="exact")
    slow = quietly(
        CartSynthesizer(special_codes={"income": [-8]}, minbucket=4, rules={"ill": [("age > 900", True)]}), original
    )
    with pytest.warns(UnveilWarning, match="rules"):
        refitted = posterior(pair, slow, target="job", records=members)
    assert refitted.likelihood == "donor shares of sequential CART, other methods fitted to every world"
    assert refitted.posteriors().probabilities == pytest.approx(fast.posteriors().probabilities, abs=1e-9)


def test_likelihood_equals_that_of_the_synthesizer():
    _, synthesizer, pair = made(10)
    sequence = build_sequence(pair, synthesizer, {}, [])
    trees = fit_fixed_trees(sequence, sequence.trees, [0])
    found = synthesizer.log_prob(pair.releases[0])
    assert sum(tree.log for tree in trees) == pytest.approx(found.total)
    assert chain_likelihood(sequence, 0, {}) == (0, pytest.approx(found.total))


def test_threads_and_early_stop_change_nothing():
    _, synthesizer, pair = made(11, minbucket=2)
    whole = posterior(pair, synthesizer, target="age", structure="exact")
    single = [posterior(pair, synthesizer, target="age", structure="exact", records=[i]).mean_posterior for i in (0, 9)]
    assert whole.posteriors().posterior[[0, 9]] == pytest.approx(single)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = posterior(pair, synthesizer, target="age", structure="exact")
    assert (again.posteriors().posterior == whole.posteriors().posterior).all()
