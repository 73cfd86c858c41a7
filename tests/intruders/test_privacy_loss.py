"""The privacy loss: cases in closed form, exactness, controls, what is said, and bad input."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import unveil
from posterior.brute_force import log_likelihood, with_values
from unveil._intruders.likelihood_ratios import problem_of
from unveil._intruders.loss_curves import Losses
from unveil._intruders.persons import persons_of
from unveil._intruders.simulated_losses import Simulation
from unveil.errors import CallError, UnveilWarning
from unveil.synthesis.methods.catall import CatallSynthesizer

EPSILONS = (0.0, 0.3, 1.0, 1.6, 3.0)


def survey(n=120, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    return pa.table(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "income": pa.array(np.where(rng.random(n) < 0.1, -8, age // 5 * 100), mask=rng.random(n) < 0.1),
            "ill": np.where(rng.random(n) < 0.2 + age / 150, "yes", "no"),
        }
    )


ORIGINAL, OTHERS = survey(), survey(60, 2)
SETTINGS = {"minbucket": 20, "special_codes": {"income": [-8]}, "n_jobs": 1}
SYNTHESIZER = unveil.CartSynthesizer(**SETTINGS).fit(ORIGINAL)
PAIR = unveil.Pair(ORIGINAL, [SYNTHESIZER.sample(seed=s) for s in range(2)])


class RandomisedResponse:
    """Gives each answer as it is with a probability of three quarters."""

    share = 0.75

    def fit(self, frame):
        self.answers = frame["x"].to_numpy(zero_copy_only=False)
        return self

    def sample(self, n, seed):
        wrong = np.random.default_rng(seed).random(n) > self.share
        return pa.table({"x": np.where(wrong, 1 - self.answers, self.answers)})

    def log_prob(self, frame):
        same = frame["x"].to_numpy(zero_copy_only=False) == self.answers
        return np.where(same, np.log(self.share), np.log(1 - self.share))


def test_randomised_response():
    """A single answer has a loss of log 3; delta(epsilon) = 3/4 - e^epsilon / 4."""
    original = pa.table({"x": [0, 1, 1]})
    found = unveil.privacy_loss(
        original, RandomisedResponse(), candidates=pa.table({"x": [0, 1]}), releases=400, delta=0.1, persons=[1]
    )
    assert found.exact
    curve = {row["epsilon"]: row for row in found.curves(EPSILONS).to_pylist()}
    for epsilon in EPSILONS:
        true = max(0.75 - np.exp(epsilon) / 4, 0.0)
        assert curve[epsilon]["low"] <= true <= curve[epsilon]["high"]
        assert curve[epsilon]["delta"] == pytest.approx(true, abs=0.06)
    person = found.records().to_pylist()[0]
    assert person["epsilon_low"] <= np.log(2.6) <= person["epsilon_high"] <= np.log(3) + 1e-9
    assert person["delta_infinity"] == 0
    assert np.log(2.6) - 0.2 < person["epsilon"] < np.log(3) + 1e-9


class FlippedInTheFit:
    """The same, where the answers are changed once, in the fit: what is released says nothing of how likely it was."""

    draws_in_fit = True

    def fit(self, frame, seed):
        answers = frame["x"].to_numpy(zero_copy_only=False)
        wrong = np.random.default_rng(seed).random(answers.size) > RandomisedResponse.share
        self.answers = np.where(wrong, 1 - answers, answers)
        return self

    def sample(self, n, seed):
        return pa.table({"x": self.answers})

    def log_prob(self, frame):
        with np.errstate(divide="ignore"):
            return np.log((frame["x"].to_numpy(zero_copy_only=False) == self.answers).astype(float))


def test_randomised_response_in_the_fit():
    """The likelihood is estimated by other fits; the curve is the same."""
    found = unveil.privacy_loss(
        pa.table({"x": [1]}), FlippedInTheFit(), candidates=pa.table({"x": [0]}), releases=60, delta=0.1
    )
    assert not found.exact
    for row in found.curves((0.0, 0.3, 0.6)).to_pylist():
        true = 0.75 - np.exp(row["epsilon"]) / 4
        assert row["low"] <= true <= row["high"]
        assert row["delta"] == pytest.approx(true, abs=0.2)
    assert found.records().to_pylist()[0]["epsilon"] < np.log(3) + 1


def binomial_delta(epsilon, shares, n):
    """Delta of n records drawn with one share of "b" or another, by the sum over their number."""
    p, q = (binom.pmf(np.arange(n + 1), n, share) for share in shares)
    return max(np.maximum(one - np.exp(epsilon) * other, 0).sum() for one, other in ((p, q), (q, p)))


@pytest.mark.parametrize("prior", [0, 2])
def test_a_table_of_two_cells(prior):
    """One of ten records is "b"; without it there are none: nine tenths to the tenth of all releases show none."""
    original = pa.table({"x": ["a"] * 9 + ["b"]})
    rows = pa.table({"x": ["a"]})
    found = unveil.privacy_loss(
        original, CatallSynthesizer(prior=prior), candidates=rows, persons=[9], releases=500, seed=2
    )
    # The levels are those that occur: without its record, "b" is none, and all prior records are "a".
    shares = [(1 + prior / 2) / (10 + prior), 0]
    for row in found.curves([*EPSILONS, np.inf]).to_pylist():
        true = binomial_delta(row["epsilon"], shares, 10) if np.isfinite(row["epsilon"]) else 1 - (1 - shares[0]) ** 10
        assert row["low"] <= true <= row["high"], row
    assert found.records().to_pylist()[0]["epsilon"] == np.inf
    assert "none" in str(found)


def test_a_table_of_two_cells_that_both_have_others():
    original, rows = pa.table({"x": ["a"] * 12 + ["b"] * 8}), pa.table({"x": ["a"]})
    found = unveil.privacy_loss(original, CatallSynthesizer(prior=0), candidates=rows, persons=[15], releases=800)
    for row in found.curves((0.0, 0.2, 0.5)).to_pylist():
        true = binomial_delta(row["epsilon"], (8 / 20, 7 / 20), 20)
        assert row["low"] <= true <= row["high"]
        assert row["delta"] == pytest.approx(true, abs=0.03)


def test_trees_by_enumeration():
    """All releases of three records of two binary variables, under both originals."""
    original = pa.table({"x": [0, 0, 0, 0, 1, 1, 1, 1], "y": [0, 0, 0, 1, 1, 1, 1, 0]})
    other = {"x": 1, "y": 1}
    changed = with_values(original, 2, other)
    maker = unveil.CartSynthesizer(minbucket=1, minsplit=2, collapse=False, n_jobs=1, kinds={"x": "categorical"})
    records = list(product((0, 1), repeat=2))
    every = [pa.table({"x": [a for a, _ in z], "y": [b for _, b in z]}) for z in product(records, repeat=3)]
    chances = []
    for table in (original, changed):
        fitted = unveil.CartSynthesizer(minbucket=1, minsplit=2, collapse=False, kinds={"x": "categorical"}).fit(table)
        chances.append(np.exp([fitted.log_prob(z).total for z in every]))
    one, two = chances
    assert one.sum() == pytest.approx(1)
    pair = unveil.Pair(original, every[6], kinds={"x": "categorical"})
    found = unveil.privacy_loss(pair, maker, candidates=[other], persons=[2], releases=800, seed=5)
    for row in found.curves((0.0, 0.2, 0.5, 0.8)).to_pylist():
        true = max(np.maximum(p - np.exp(row["epsilon"]) * q, 0).sum() for p, q in ((one, two), (two, one)))
        assert row["low"] <= true <= row["high"]
        assert row["delta"] == pytest.approx(true, abs=0.05)
    assert found.records().to_pylist()[0]["realised_loss"] == pytest.approx(np.log(one[6] / two[6]))


losses = st.lists(st.floats(-5, 5) | st.just(np.inf), min_size=1, max_size=30)


@given(losses, losses, st.booleans(), st.floats(0, 4), st.floats(0, 4))
def test_curves_fall_and_intervals_hold_them(forward, backward, exact, one, more):
    found = Losses(np.array(forward), np.array(backward), exact)
    low, high = found.delta_interval(one, 0.9)
    assert 0 <= low <= high
    assert low - 1e-9 <= found.delta(one) <= high + 1e-9
    if exact:
        assert found.delta(one + more) <= found.delta(one) + 1e-12
        assert found.delta_infinity <= found.delta(one) <= 1
        assert found.delta(found.largest) == pytest.approx(found.delta_infinity)
    epsilon = found.epsilon(0.05)
    if np.isfinite(epsilon):
        assert found.delta(epsilon + 1e-9) <= 0.05 + 1e-9


def test_realised_losses_are_those_of_plain_fits():
    found = unveil.privacy_loss(PAIR, SYNTHESIZER, candidates=OTHERS, persons=[3, 40, 77], curves=0)
    people, others = ORIGINAL.to_pylist(), OTHERS.to_pylist()
    settings = SETTINGS

    def log(table):
        return log_likelihood(settings, table, [release_of(r) for r in PAIR.releases], ORIGINAL.column_names)

    for row in found.records().to_pylist():
        changed = with_values(ORIGINAL, row["record"], others[row["neighbour"]])
        assert people[row["record"]] != others[row["neighbour"]]
        assert row["realised_loss"] == pytest.approx(log(ORIGINAL) - log(changed), abs=1e-8)
        assert row["epsilon"] is None


def release_of(source):
    return pa.table({name: source.column(name) for name in source.names})


def test_walks_over_fresh_releases_are_those_of_plain_fits(monkeypatch):
    options = {"candidates": OTHERS, "persons": [3, 40, 77], "curves": 3, "releases": 6}
    walked = unveil.privacy_loss(PAIR, SYNTHESIZER, **options)
    monkeypatch.setattr(Simulation, "_walked", lambda *_: None)
    fitted = unveil.privacy_loss(PAIR, SYNTHESIZER, **options)
    pairs = [
        (one.of_original, other.of_original)
        for one, other in zip(walked._persons.losses, fitted._persons.losses, strict=True)
    ]
    assert len(pairs) == 3
    assert all(one == pytest.approx(other, abs=1e-8) for one, other in pairs)
    assert any(np.isfinite(one).any() for one, _ in pairs)
    assert any(np.isinf(one).any() for one, _ in pairs)


def test_a_recoding_is_walked_too():
    original = ORIGINAL.append_column("code", pa.array([{"f": 1, "m": 2}[x] for x in ORIGINAL["sex"].to_pylist()]))
    other = original.slice(0, 1).to_pylist()[0] | {"code": 1, "sex": "m"}
    maker = unveil.CartSynthesizer(**SETTINGS)
    people = persons_of(unveil.Pair(original, maker.fit(original).sample(seed=1)), maker, [other], 0)
    problem = problem_of(people.pair, maker, people.others)
    assert problem.sequence.recodings
    simulation = Simulation(people, maker, problem.sequence, np.array([5]), np.array([0]), estimated=False)
    (walked,), _ = simulation.run(4, np.random.SeedSequence(1), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Simulation, "_walked", lambda *_: None)
        (fitted,), _ = simulation.run(4, np.random.SeedSequence(1), None)
    assert walked.of_original == pytest.approx(fitted.of_original, abs=1e-8)


def test_the_order_of_records_changes_nothing():
    options = {"candidates": OTHERS, "persons": 10, "curves": 2, "releases": 5, "by": "sex"}
    order = np.random.default_rng(0).permutation(ORIGINAL.num_rows)
    found = unveil.privacy_loss(PAIR, SYNTHESIZER, **options)
    shuffled = unveil.privacy_loss(
        unveil.Pair(ORIGINAL.take(order), list(PAIR.releases)), unveil.CartSynthesizer(**SETTINGS), **options
    )
    assert str(found) == str(shuffled)
    assert str(found) != str(unveil.privacy_loss(PAIR, SYNTHESIZER, **options | {"seed": 1}))


def test_finer_leaves_lose_more():
    options = {"persons": 40, "curves": 4, "releases": 20, "candidates": OTHERS}
    coarse = unveil.privacy_loss(ORIGINAL, unveil.CartSynthesizer(methods="sample"), **options)
    fine = unveil.privacy_loss(ORIGINAL, unveil.CartSynthesizer(minbucket=2), **options)
    assert coarse.spreads[2].figure == fine.spreads[2].figure == "delta(1)"
    assert coarse.spreads[2].quantiles[0] < 0.2 < 0.8 < fine.spreads[2].quantiles[0]


def test_how_it_is_shown():
    found = unveil.privacy_loss(PAIR, SYNTHESIZER, persons=60, curves=2, releases=10, by=["sex", "ill"], delta=0.4)
    text = str(found)
    assert "Lower bounds" in text
    assert "epsilon is" not in text.replace("The epsilon of the synthesizer is at least", "")
    assert "Groups by sex, ill that lose most" in text
    assert 0 < found.share_ruled_out < 1
    groups = found.worst_groups
    assert sum(one["n_persons"] for one in groups) == 60
    assert [one["share_ruled_out"] for one in groups] == sorted((g["share_ruled_out"] for g in groups), reverse=True)
    told = json.loads(json.dumps(found.to_dict()))
    assert "records" not in str(told.keys())
    assert found.to_frame().column("figure").to_pylist()[0] == "realised loss"
    assert found.records().num_rows == 60


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    found = unveil.privacy_loss(ORIGINAL, SYNTHESIZER, persons=4, curves=2, releases=10, delta=0.4)
    assert "10 fresh releases" in found.plot().get_title()
    with pytest.raises(CallError, match="no curves"):
        unveil.privacy_loss(PAIR, SYNTHESIZER, persons=4, curves=0).plot()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "delta must be a probability"),
        ({"releases": 0}, "releases"),
        ({"persons": [3, 500]}, "no record 500 among the 120"),
        ({"persons": 0}, "persons"),
        ({"persons": ["a"]}, "a list of record numbers"),
        ({"by": "town"}, "town"),
        ({"candidates": OTHERS.drop_columns(["age"])}, "there is no column 'age' in the candidates"),
        ({"candidates": ORIGINAL.slice(4, 1), "persons": [4]}, "the candidates: every row has the values of a person"),
    ],
)
def test_bad_input_is_refused_in_one_line(options, message):
    with pytest.raises(unveil.UnveilError, match=message) as refused:
        unveil.privacy_loss(PAIR, SYNTHESIZER, **{"curves": 0} | options)
    assert "\n" not in str(refused.value)


def test_where_all_records_are_alike_nobody_can_stand_in():
    alike = ORIGINAL.take([0] * 20)
    with pytest.raises(CallError, match="persons drawn by trees of the original: every row has the values of a person"):
        unveil.privacy_loss(alike, SYNTHESIZER, persons=2, curves=1, releases=10)


def test_candidates_that_are_odd_are_said():
    odd = pa.table({"sex": ["x", "f"], "age": [30, 31], "income": [600, 600], "ill": ["no", "no"]})
    with pytest.warns(UnveilWarning, match="1 of the candidates hold a value of column 'sex' that no file has"):
        unveil.privacy_loss(PAIR, SYNTHESIZER, candidates=odd, persons=[4, 9], curves=0)


def test_nobody_stands_in_the_place_of_a_twin():
    found = unveil.privacy_loss(PAIR, SYNTHESIZER, candidates=ORIGINAL.slice(4, 2), persons=[4, 5, 30, 31], curves=0)
    people = ORIGINAL.to_pylist()
    rows = found.records().to_pylist()
    assert all(people[row["record"]] != people[4 + row["neighbour"]] for row in rows)
    swapped = unveil.privacy_loss(PAIR, SYNTHESIZER, candidates=ORIGINAL.slice(4, 2), persons=[4], curves=0, seed=1)
    one = {0: found, 1: swapped}
    assert any("the values of their candidate: the next one stood in" in str(each) for each in one.values())


def test_few_releases_tell_no_small_delta():
    with pytest.warns(UnveilWarning, match="20 releases do not tell a delta of 0.001 from 0"):
        unveil.privacy_loss(ORIGINAL, SYNTHESIZER, persons=1, curves=1, releases=20, delta=0.001)


def _copies(frame):
    return frame


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
@pytest.mark.parametrize(
    ("maker", "message"),
    [(_copies, "the record at the same place"), (unveil.CartSynthesizer(proper=True), "without a simulation")],
)
def test_a_synthesizer_without_likelihood_is_refused(maker, message):
    with pytest.raises(unveil.UnveilError, match=message):
        unveil.privacy_loss(ORIGINAL, maker, persons=1, curves=1)
