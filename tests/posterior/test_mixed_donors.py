"""Posteriors where donors of leaves are mixed with those of whole columns."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from posterior.brute_force import fitted, posterior_of, with_values
from posterior.random_worlds import mixed, random_world
from posterior.test_brute_force import HOW, asked
from unveil.errors import UnveilError, UnveilWarning
from unveil.simulate import demo_population, latner_population

KEYS, TARGET = ("a", "b"), "t"


def sums_by_hand(table, release, options, leaves_of=None):
    """Number of impossible values and log-likelihood: the trees of a fit, and donors counted one by one."""
    fit, mix = fitted(options, table if leaves_of is None else leaves_of), options["mix"]
    impossible, log = 0, 0.0
    for plan in fit.plans:
        name, step = plan.variable.name, plan.steps[0]
        tree = getattr(step.fitted, "tree", None)

        def leaves(frame, step=step, tree=tree):
            if tree is None or not tree.predictors:
                return [0] * frame.num_rows
            known = [one.variable for one in fit.plans if one.steps[0].position in step.predictors]
            codes = [[v.python_values.index(x) for x in frame.column(v.name).to_pylist()] for v in known]
            return tree.apply([np.array(c, np.int32) for c in codes]).tolist()

        values, drawn = table.column(name).to_pylist(), release.column(name).to_pylist()
        inside, size = Counter(zip(leaves(table), values, strict=True)), Counter(leaves(table))
        of_all = Counter(values)
        for leaf, value in zip(leaves(release), drawn, strict=True):
            own = inside[leaf, value] / size[leaf] if size[leaf] else 0.0
            share = (1 - mix) * own + mix * of_all[value] / len(values)
            impossible += share == 0
            log += math.log(share) if share else 0.0
    return impossible, log


@st.composite
def small_files(draw):
    n = draw(st.integers(12, 30))
    letters = st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)
    a, b = draw(letters), draw(letters)
    # The target depends on the first key, so that there are splits.
    t = [x if draw(st.integers(0, 3)) else y for x, y in zip(a, draw(letters), strict=True)]
    return pa.table({"a": [*"xyz", *a], "b": [*"xyzz"[:3], *b], "t": [*"xyz", *t]})


@settings(max_examples=25, deadline=None)
@given(small_files(), st.sampled_from([0.05, 0.3, 1.0]), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_posteriors_are_those_of_fits_and_sums_by_hand(table, mix, minbucket, collapse, seed):
    options = {"minbucket": minbucket, "collapse": collapse, "mix": mix}
    release = fitted(options, table).sample(seed=seed)
    record = seed % table.num_rows
    risk = asked_of(table, release, options, records=[record])
    levels = sorted(set(table.column(TARGET).to_pylist()))
    worlds = {value: with_values(table, record, {TARGET: value}) for value in levels}
    for structure, held in (("exact", None), ("fixed", table)):
        weights = {}
        for value, world in worlds.items():
            impossible, log = sums_by_hand(world, release, options, held)
            weights[value] = 0.0 if impossible else math.exp(log - sums_by_hand(table, release, options)[1])
        total = sum(weights.values())
        shares = risk.distribution(record, structure=structure)
        assert {v: shares.get(v, 0.0) for v in levels} == pytest.approx({v: w / total for v, w in weights.items()})


def asked_of(table, release, options, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return unveil.posterior.posterior(
            unveil.Pair(table, release), unveil.CartSynthesizer(**options), target=TARGET, structure="both", **more
        )


@pytest.mark.parametrize("mix", [0.02, 0.4, 1.0])
def test_random_worlds(mix):
    """With gaps, special codes, numbers, rules and recodings, against a fit for every value."""
    told = Counter()
    for seed in range(700, 725):
        world = mixed(random_world(seed), mix, seed)
        try:
            risk = asked(world)
        except UnveilError as error:
            told[str(error)] += 1
            continue
        told[HOW.get(risk.likelihood, "simulated")] += 1
        if risk.likelihood not in HOW:
            continue
        found = risk.posteriors()
        truths = world.table.column(world.target).to_pylist()
        if risk.settings_check is not None:
            assert risk.settings_check.verdict == "fits", seed
        for i, record in enumerate(world.records):
            _, wanted = posterior_of(world, record)
            assert found.posterior[i] == pytest.approx(wanted[truths[record]], abs=1e-9), seed
            shares = risk.distribution(record)
            assert {value: shares.get(value, 0.0) for value in wanted} == pytest.approx(wanted, abs=1e-9), seed
    assert told["walked"] >= 20, told
    assert sum(told.values()) - told["walked"] - told["fitted"] <= 1, told


def test_held_trees_are_walked_alike_where_no_record_changes_a_split():
    sex = np.repeat(["f", "m"], 30)
    rng = np.random.default_rng(4)
    table = pa.table({"sex": sex, TARGET: np.where(rng.random(60) < 0.7, sex, rng.choice(["o", "p"], 60))})
    options = {"minbucket": 25, "mix": 0.1}
    release = fitted(options, table).sample(seed=2)
    risk = asked_of(table, release, options)
    exact, held = (risk.posteriors(structure=one).probabilities for one in ("exact", "fixed"))
    assert len(set(exact.ravel().round(6))) > 4
    assert held == pytest.approx(exact, abs=1e-12)


def test_nobody_is_certain_of_a_value_that_others_have():
    original = latner_population(300, seed=5)
    certain = {}
    for mix in (0.0, 0.05):
        options = {"minbucket": 1, "cp": 0.0, "collapse": False, "mix": mix}
        release = fitted(options, original).sample(seed=1)
        risk = unveil.posterior.posterior(
            unveil.Pair(original, release), unveil.CartSynthesizer(**options), target="var4", structure="exact"
        )
        certain[mix] = float((risk.posteriors().posterior == 1).mean())
        assert (risk.posteriors().possible_worlds == 2).all() == (mix > 0)
    assert certain[0.0] > 0
    assert certain[0.05] == 0


def test_a_released_value_that_nobody_else_has_stays_certain():
    table = pa.table({"a": ["x", "y"] * 10, TARGET: ["p", "q"] * 9 + ["p", "only"]})
    options = {"minbucket": 2, "mix": 0.5}
    release = pa.table({"a": ["x", "y"], TARGET: ["only", "q"]})
    found = asked_of(table, release, options).posteriors(structure="exact")
    assert found.posterior[19] == 1
    assert found.must_fill.tolist() == [False] * 19 + [True]
    assert (found.posterior[:19] < 1).all()


def test_recodings_are_drawn_and_so_protected():
    code = np.repeat([1, 2, 3], 20)
    table = pa.table({"code": code, TARGET: np.array(["one", "two", "three"])[code - 1]})
    mixing = fitted({"mix": 0.2}, table).sample(seed=3)
    pairs = set(zip(*(mixing.column(name).to_pylist() for name in mixing.column_names), strict=True))
    assert len(pairs) > 3
    risk = asked_of(table, mixing, {"mix": 0.2})
    assert risk.likelihood == "donor shares of sequential CART"
    assert (risk.posteriors(structure="exact").posterior < 1).all()


@pytest.mark.parametrize("seed", range(8))
def test_releases_of_mixed_donors_fit_their_settings(seed):
    original = latner_population(400, seed=seed)
    options = {"mix": 0.05 + 0.1 * seed, "collapse": False}
    release = fitted(options, original).sample(seed=seed)
    assert check_of(original, release, options, "var4").verdict == "fits"


def test_releases_without_mixing_do_not_fit_mixed_donors():
    original = demo_population(800, seed=1)
    release = fitted({"minbucket": 20}, original).sample(seed=1)
    assert check_of(original, release, {"minbucket": 20, "mix": 0.3}, "depress").verdict == "other"


def check_of(original, release, options, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return unveil.posterior.posterior(
            unveil.Pair(original, release), unveil.CartSynthesizer(**options), target=target, structure="fixed",
            records=[0],
        ).settings_check  # fmt: skip


def test_wrong_records_of_an_intruder_are_summed_over_too():
    """With errors nothing is left out, and worlds stay possible; without, the figures are those of the walk."""
    original = latner_population(200, seed=7)
    options = {"mix": 0.1, "minbucket": 3}
    release = fitted(options, original).sample(seed=1)
    ask = {"target": "var4", "structure": "exact", "records": list(range(20))}
    pair, maker = unveil.Pair(original, release), unveil.CartSynthesizer(**options)
    sure = unveil.posterior.posterior(pair, maker, **ask)
    unsure = unveil.posterior.posterior(pair, maker, intruder_errors=20, seed=3, **ask)
    assert np.abs(unsure.posteriors().posterior - sure.posteriors().posterior).max() > 0.001
    assert (unsure.posteriors().posterior < 1).all()
