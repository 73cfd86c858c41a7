"""The sampler where the trees follow the unknown values: beside fits of the public synthesizer to every state."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy.stats import chisquare

import unveil
from intruders.small_worlds import asked, by_enumeration, small_file
from unveil._intruders.chains import CHAINS, Plan, run_chains
from unveil._intruders.enumeration import enumerate_states
from unveil._intruders.knowledge import unknown_persons
from unveil._posterior.refit import quietly
from unveil.errors import CallError

LATNER = {
    1: {1: 1, 2: 0.643, 4: 0.463, 8: 0.371, 18: 0.313, 34: 0.281, 67: 0.244},
    2: {1: 0.265, 2: 0.264, 4: 0.262, 8: 0.259, 18: 0.251, 34: 0.238, 67: 0.214},
    4: {1: 1, 2: 0.800, 4: 0.609, 8: 0.469, 18: 0.361, 34: 0.303, 67: 0.250},
}
"""By release and number of unknown persons, the posterior of person 1000 in a prototype."""
PERSON = 999


def by_refits(question, table, settings):
    """A function from the codes of all records to the log-likelihood of the releases by a fit to these records."""
    sequence, pair = question.problem.sequence, question.problem.options.pair
    concerned = {tree.definition.variable for tree in question.trees}

    def log_of_state(codes):
        columns = {}
        for name in table.column_names:
            values = sequence.level_labels(name)
            columns[name] = [values[code] for code in codes[sequence.positions[name][0]]]
        fitted = quietly(unveil.CartSynthesizer(**settings), pa.table(columns))
        logs = [fitted.log_prob(release).variables[name] for release in pair.releases for name in concerned]
        return sum(logs)

    return log_of_state


@pytest.mark.parametrize(
    ("n", "seed", "u", "settings"),
    [
        (20, 1, 4, {"minbucket": 3}),
        (60, 2, 4, {"minbucket": 5, "collapse": False}),
        (40, 3, 4, {"minbucket": 2, "cp": 0.01}),
        (200, 4, 3, {"minbucket": 12, "mix": 0.1}),
    ],
)
def test_chains_and_compositions_equal_full_enumeration(n, seed, u, settings):
    table = small_file(n, seed)
    release = quietly(unveil.CartSynthesizer(**settings), table).sample(seed=seed)
    question = asked(table, release, settings, structure="exact")
    members = np.sort(np.random.default_rng(seed).permutation(n)[:u])
    expected = by_enumeration(question, members, by_refits(question, table, settings))
    states = question.states(unknown_persons(question.problem, members))
    assert enumerate_states(states).probabilities == pytest.approx(expected, abs=1e-9)
    persons = states.persons
    found = run_chains(
        lambda: question.states(persons), Plan(400, 400), np.random.SeedSequence(seed),
        lambda shares: shares[np.arange(u), persons.truth], np.arange(u),
    )  # fmt: skip
    assert found.mixed.all()
    assert found.probabilities == pytest.approx(expected, abs=0.03)


def latner(shared, k=None):
    return pyarrow.csv.read_csv(shared / "data" / ("latner_original.csv" if k is None else f"latner_syn{k:02d}.csv"))


def persons_with_all_keys(original):
    rows = original.to_pylist()
    found = [i for i, row in enumerate(rows) if row["var1"] == row["var2"] == row["var3"] == 1]
    assert len(found) == 67
    return [PERSON, *(i for i in found if i != PERSON)]


def by_number_of_ones(original, release, unknown):
    """Posterior of var4 = 1 of one of the unknown persons: one fit for each number of them that have it."""
    values = original.column("var4").to_numpy().copy()
    u, logs = len(unknown), []
    for ones in range(u + 1):
        values[unknown] = np.arange(u) < ones
        table = original.set_column(3, "var4", pa.array(values))
        log = quietly(unveil.CartSynthesizer(), table).log_prob(release).variables["var4"]
        logs.append(log + math.log(math.comb(u, ones)))
    weight = np.exp(np.array(logs) - max(logs))
    return float((weight * np.arange(u + 1)).sum() / (u * weight.sum()))


def partial(shared, k, u, **options):
    original = latner(shared)
    unknown = persons_with_all_keys(original)[:u]
    known = original.take([i for i in range(original.num_rows) if i not in unknown])
    pair = unveil.Pair(original, latner(shared, k))
    return unveil.partial_knowledge(
        pair, unveil.CartSynthesizer(), target="var4", records_known=known, structure="exact", persons=[PERSON],
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("k", LATNER)
def test_fewer_known_records_on_published_data(shared, k):
    original = latner(shared)
    everyone = persons_with_all_keys(original)
    for u, expected in LATNER[k].items():
        own = by_number_of_ones(original, latner(shared, k), everyone[:u])
        assert own == pytest.approx(expected, abs=0.0006)
        assert partial(shared, k, u).points[0].mean_posterior == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize(("k", "u"), [(1, 18), (4, 67)])
def test_chains_on_published_data(shared, k, u, monkeypatch):
    monkeypatch.setattr("unveil._intruders.following.FollowingTrees.most_states", 0)
    found = partial(shared, k, u, sweeps=800)
    assert found.points[0].method == "chains"
    assert found.points[0].sweeps == 800 * CHAINS
    assert found.points[0].mean_posterior == pytest.approx(LATNER[k][u], abs=0.012)


def test_all_others_known_is_the_exact_posterior():
    table = small_file(50, 8)
    question = asked(table, unveil.CartSynthesizer(minbucket=4).fit(table).sample(seed=1), {"minbucket": 4},
                     structure="exact")  # fmt: skip
    options = question.problem.options
    risk = unveil.posterior(options.pair, options.synthesizer, target="y", structure="exact")
    for record in range(50):
        states = question.states(unknown_persons(question.problem, np.array([record])))
        own = states.shares()[0, states.persons.truth[0]]
        assert own == pytest.approx(risk.posteriors().posterior[record], abs=1e-9)


def test_numbers_with_gaps_and_special_codes():
    """A column of two parts: whether a record belongs to the fit of the second one follows its value."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 4, 40)
    income = pa.array(np.where(rng.random(40) < 0.25, -8, 10 * x), mask=rng.random(40) < 0.15)
    table = pa.table({"x": [f"x{v}" for v in x], "income": income, "z": [f"z{v % 2}" for v in x]})
    settings = {"minbucket": 3, "special_codes": {"income": [-8]}}
    release = unveil.CartSynthesizer(**settings).fit(table).sample(seed=2)
    for structure, name in (("exact", "exact"), ("splits", "fixed")):
        question = asked(table, release, settings, target="income", structure=structure)
        options = question.problem.options
        risk = unveil.posterior(options.pair, options.synthesizer, target="income", structure=name)
        for record in range(40):
            states = question.states(unknown_persons(question.problem, np.array([record])))
            own = states.shares()[0, states.persons.truth[0]]
            assert own == pytest.approx(risk.posteriors().posterior[record], abs=1e-9)
        persons = unknown_persons(question.problem, np.arange(0, 40, 5))
        one, other = question.states(persons), question.states(persons)
        one.sweep(np.random.default_rng(1))
        other.begin(one.state.copy())
        assert one.impossible == other.impossible
        if not one.impossible:
            assert one.log_likelihood() == pytest.approx(other.log_likelihood())


def ranks_of_truths(n_truths, seed, sweeps, n=40, u=8):
    """Ranks of the number of unknown persons with one value, truths and releases being drawn anew each time."""
    rng, ranks = np.random.default_rng(seed), []
    for number in range(n_truths):
        table = small_file(n, 1000 + number)
        y = table.column("y").to_pylist()
        y[:u] = [f"y{v}" for v in rng.integers(0, 3, u)]
        table = table.set_column(2, "y", pa.array(y))
        release = quietly(unveil.CartSynthesizer(minbucket=5), table).sample(seed=int(rng.integers(2**31)))
        question = asked(table, release, {"minbucket": 5}, structure="exact")
        states = question.states(unknown_persons(question.problem, np.arange(u)))
        states.begin(rng.integers(0, 3, u).astype(np.int32))
        states.set_penalty(3.0)
        counts, done = [], 0
        while done < sweeps or len(counts) < 8:
            states.sweep(rng)
            done += 1
            if done > 5 and not states.impossible:
                counts.append((states.state == 0).sum() + rng.random())
        ranks.append((np.array(counts) < sum(v == "y0" for v in y[:u]) + rng.random()).mean())
    return np.array(ranks)


def uniform(ranks, bins):
    return chisquare(np.histogram(ranks, bins=bins, range=(0, 1 + 1e-9))[0]).pvalue


def test_calibration():
    assert uniform(ranks_of_truths(24, 1, 20), 3) > 0.001


@pytest.mark.slow
def test_calibration_over_three_hundred_truths():
    assert uniform(ranks_of_truths(300, 2, 25), 10) > 0.001


def test_what_takes_too_long_is_refused_before_it_begins():
    people = unveil.simulate.demo_population(600, seed=1)
    synthesizer = unveil.CartSynthesizer().fit(people)
    pair = unveil.Pair(people, synthesizer.sample(seed=1))
    with pytest.raises(CallError, match=r"would take about \d+ seconds, and the budget is 5"):
        unveil.partial_knowledge(pair, synthesizer, target="depress", records_known=0, structure="exact", budget=5)
