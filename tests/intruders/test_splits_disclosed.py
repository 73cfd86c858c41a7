"""The sampler where splits are disclosed: beside full enumeration, the posterior of one unknown person, calibration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import unveil
from intruders.small_worlds import asked, by_enumeration, small_file
from unveil._intruders.chains import Plan, dispersed_starts, judge, run_chains
from unveil._intruders.disclosed import DisclosedSplits
from unveil._intruders.enumeration import enumerate_states, n_compositions
from unveil._intruders.knowledge import unknown_persons
from unveil._intruders.states import UnknownPersons


def drawn(question, members, sweeps=2000, seed=1):
    """Posterior by chains, and whether they mixed."""
    persons = unknown_persons(question.problem, members)

    def of_truth(shares):
        return shares[np.arange(members.size), persons.truth]

    states = lambda: question.states(persons)  # noqa: E731
    return run_chains(states, Plan(sweeps, sweeps), np.random.SeedSequence(seed), of_truth, np.arange(members.size))


def world(n, seed, levels=3, m=1, **options):
    table = small_file(n, seed, levels)
    maker = {"minbucket": 4} | options
    synthesizer = unveil.CartSynthesizer(**maker).fit(table)
    releases = [synthesizer.sample(n, seed=seed + r) for r in range(m)]
    return asked(table, releases, maker)


@pytest.mark.parametrize(("n", "seed", "levels", "m"), [(20, 1, 3, 1), (60, 2, 3, 2), (200, 3, 2, 1), (40, 4, 2, 3)])
def test_chains_and_compositions_equal_full_enumeration(n, seed, levels, m):
    question = world(n, seed, levels, m)
    members = np.sort(np.random.default_rng(seed).permutation(n)[: 6 if levels == 3 else 9])
    expected = by_enumeration(question, members)
    persons = unknown_persons(question.problem, members)
    assert n_compositions(persons) <= levels**members.size
    assert enumerate_states(question.states(persons)).probabilities == pytest.approx(expected, abs=1e-9)
    found = drawn(question, members)
    assert found.mixed.all()
    assert found.probabilities == pytest.approx(expected, abs=0.03)


def test_two_unknown_columns():
    table = small_file(50, 7, 2)
    synthesizer = unveil.CartSynthesizer(minbucket=4).fit(table)
    question = asked(table, synthesizer.sample(seed=1), {"minbucket": 4}, known=["a", "b"])
    assert set(question.problem.worlds.unknown) == {"y", "c"}
    members = np.array([3, 10, 22, 40])
    expected = by_enumeration(question, members)
    assert enumerate_states(question.states(unknown_persons(question.problem, members))).probabilities == (
        pytest.approx(expected, abs=1e-9)
    )
    assert drawn(question, members).probabilities == pytest.approx(expected, abs=0.04)


def test_one_unknown_person_has_the_posterior_of_the_intruder_who_knows_all_others():
    question = world(60, 11)
    pair, synthesizer = question.problem.options.pair, question.problem.options.synthesizer
    risk = unveil.posterior(pair, synthesizer, target="y", structure="fixed")
    for record in range(60):
        persons = unknown_persons(question.problem, np.array([record]))
        shares = question.states(persons).shares()[0]
        assert shares[persons.truth[0]] == pytest.approx(risk.posteriors().posterior[record], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(24, 60))
def test_counts_follow_the_state(seed, n):
    """After any sweeps the counts, and what is impossible, are those of the state put together anew."""
    question = world(n, seed % 50)
    rng = np.random.default_rng(seed)
    members = np.sort(rng.permutation(n)[: rng.integers(2, n + 1)])
    states = question.states(unknown_persons(question.problem, members))
    states.set_penalty(2.0)
    for _ in range(3):
        states.sweep(rng)
    other = question.states(states.persons)
    other.begin(states.state.copy())
    assert other.impossible == states.impossible
    assert other.log_likelihood() == pytest.approx(states.log_likelihood())
    assert np.array_equal(other._d.kept["donors"], states._d.kept["donors"])
    assert np.array_equal(other._d.kept["leaf_donors"], states._d.kept["leaf_donors"])
    for name in ("gain", "leaf_gain"):
        assert np.isfinite(states._d.kept[name]).all()
        assert states._d.kept[name][-1] == 0  # the place that stands for none


def test_two_persons_of_one_leaf_do_not_freeze():
    """Only one of two persons has the value that the release holds once: a chain with hard zeros never leaves a start.

    The prior is 7 to 3 for the first person: that the first has the value, and the second has not, is
    .7 x .7 / (.7 x .7 + .3 x .3) times as likely as the other way round; both may have it, too.
    """
    table = pa.table({"y": ["yes", "no", *["no"] * 6]})
    release = pa.table({"y": ["yes", *["no"] * 7]})
    prior = np.array([[0.3, 0.7], [0.7, 0.3], *[[0.5, 0.5]] * 6])
    question = asked(table, release, {}, prior=prior)
    members = np.array([0, 1])
    expected = by_enumeration(question, members)
    one, both, other = (0.7 * 0.7) * 7**7, (0.7 * 0.3) * 2 * 6**7, (0.3 * 0.3) * 7**7
    assert expected[0, 1] == pytest.approx((one + both) / (one + both + other))
    found = drawn(question, members, 800)
    assert found.mixed.all()
    assert found.probabilities == pytest.approx(expected, abs=0.05)


def test_starts_are_dispersed():
    rng = np.random.default_rng(0)
    prior = rng.dirichlet([0.05] * 4, 300) + 1e-9
    prior[:20] = [1, 0, 0, 0]
    with np.errstate(divide="ignore"):
        persons = UnknownPersons(np.arange(300), np.log(prior), rng.integers(0, 4, 300), np.arange(300))
    starts = dispersed_starts(persons, 4, rng)
    different = np.array([np.unique(starts[:, i]).size for i in range(300)])
    assert (different[20:] > 1).all()
    assert (different[:20] == 1).all()
    assert (prior[np.arange(300), starts] > 0).all()


def test_what_passes():
    rng = np.random.default_rng(0)
    draws = np.stack(
        [
            np.full((4, 100), 0.25),  # the same in all chains
            np.repeat([[0.0], [1.0], [1.0], [1.0]], 100, axis=1),  # frozen in different places
            rng.random((4, 100)),
            rng.random((4, 100)) + np.arange(4)[:, None],
            np.where(np.arange(400).reshape(4, 100) == 399, 1.0, 0.0),  # one draw alone differs
        ],
        axis=2,
    )
    assert judge(draws)[0].tolist()[:4] == [True, False, True, False]


def with_all_cells(question):
    """Places in which every value has a cell in every leaf, whether a record of the original fills it or not."""
    sequence, old = question.problem.sequence, question.places
    levels = question.problem.worlds.levels()["y"]
    cell, n_cells, first_leaf = np.empty_like(old.cell), 0, 0
    for t, tree in enumerate(question.trees):
        response, n_leaves = sequence.columns[tree.definition.position], tree.cells.leaf_donors.size
        code = levels[None, :] if tree.definition.variable == "y" else response.codes[:, None]
        cell[:, t] = n_cells + (old.leaf[:, t] - first_leaf) * response.n_levels + code
        n_cells, first_leaf = n_cells + n_leaves * response.n_levels, first_leaf + n_leaves
    return replace(old, cell=cell, donors=np.zeros(n_cells + 1, np.int64), released=np.zeros(n_cells + 1, np.int64))


def counted(places, worlds):
    """Places with the donors of the original in which all records have some worlds."""
    rows = np.arange(worlds.size)
    cell, leaf = places.cell[rows, :, worlds], places.leaf[rows, :, worlds]
    donors, leaf_donors = (
        np.bincount(one.reshape(-1), minlength=size)
        for one, size in ((cell, places.donors.size), (leaf, places.leaf_donors.size))
    )
    return replace(places, donors=donors, leaf_donors=leaf_donors)


def with_release(places, owner, rng):
    """Places with a release that is drawn leaf by leaf, as many values as before from each."""
    released = np.zeros_like(places.released)
    for leaf, size in enumerate(places.leaf_released):
        own = np.flatnonzero(owner == leaf)
        if size:
            released[own] = rng.multinomial(size, places.donors[own] / places.leaf_donors[leaf])
    return replace(places, released=released)


def ranks_of_truths(n_truths, seed, sweeps, n=30):
    """Ranks of the number of unknown persons with one value among draws; the splits are those of another file."""
    rng = np.random.default_rng(seed)
    table = small_file(n, 99)
    release = unveil.CartSynthesizer(minbucket=4).fit(table).sample(seed=5)
    question = asked(table, release, {"minbucket": 4})
    members = np.sort(np.random.default_rng(4).permutation(n)[:12])
    persons = unknown_persons(question.problem, members)
    every = with_all_cells(question)
    owner = np.full(every.donors.size, -1)
    owner[every.cell] = every.leaf
    worlds, ranks = question.problem.worlds.truth.copy(), []
    for _ in range(n_truths):
        truth = rng.integers(0, persons.n_worlds, members.size)
        worlds[members] = truth
        places = with_release(counted(every, worlds), owner, rng)
        states = DisclosedSplits(replace(persons, truth=truth), places)
        states.begin(rng.integers(0, persons.n_worlds, members.size).astype(np.int32))
        states.set_penalty(4.0)
        counts = []
        for sweep in range(sweeps):
            states.sweep(rng)
            if sweep > 10 and sweep % 3 == 0 and not states.impossible:
                counts.append((states.state == 0).sum() + rng.random())
        ranks.append((np.array(counts) < (truth == 0).sum() + rng.random()).mean())
    return np.array(ranks)


def uniform(ranks, bins):
    return chisquare(np.histogram(ranks, bins=bins, range=(0, 1 + 1e-9))[0]).pvalue


def test_calibration_where_splits_do_not_depend_on_the_truth():
    assert uniform(ranks_of_truths(80, 1, 80), 4) > 0.001


@pytest.mark.slow
def test_calibration_over_three_hundred_truths():
    assert uniform(ranks_of_truths(300, 2, 200), 10) > 0.001


@pytest.mark.slow
def test_social_diagnosis(shared):
    """The prototype had, with one release of its own, .38 to .40 where 90 % are known, and .27 where nobody is."""
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    table = pyarrow.csv.read_csv(shared / "data" / "sd2011_9.csv", convert_options=options)
    synthesizer = unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(table)
    found = unveil.partial_knowledge(
        unveil.Pair(table, synthesizer.sample(seed=1)), synthesizer, target="depress", records_known=[0.9, 0], sets=1,
        sweeps=400, most_sweeps=1600,
    )  # fmt: skip
    some, nobody = found.points
    assert some.mean_posterior == pytest.approx(0.39, abs=0.03)
    assert nobody.mean_posterior == pytest.approx(0.27, abs=0.03)
    assert nobody.share_above_90 < 0.06
    assert max(some.share_not_mixed, nobody.share_not_mixed) <= 0.01
