"""Targets that follow from another column, level by level: exact without a fit, as full refits have it."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import choice, posterior
from unveil._posterior import tree_methods as walkable
from unveil._posterior.refit import quietly
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod
from unveil.trees import Column

SCHOOLS = np.array(["none", "low", "middle", "high"])
YEARS = np.array([0, 8, 10, 13])


def survey(n=70, seed=0, third=False):
    rng = np.random.default_rng(seed)
    grade = rng.choice(4, n, p=[0.05, 0.35, 0.35, 0.25])
    grade[:1] = 0
    table = {
        "sex": rng.choice(["f", "m"], n),
        "school": SCHOOLS[grade],
        "age": rng.integers(20, 30, n) + 3 * grade,
        "years": pa.array(YEARS[grade], mask=grade == 0),
        "ill": np.where(rng.random(n) < 0.2 + 0.15 * grade, "yes", "no"),
    }
    if third:
        table["title"] = np.array(["-", "a", "b", "c"])[grade]
    return pa.table(table)


def alone(n=60):
    """A survey in which one person has a level of their own."""
    table = survey(n, seed=4)
    school = table.column("school").to_pylist()
    keep = [i for i, s in enumerate(school) if s != "none"]
    first = next(i for i, s in enumerate(school) if s == "none")
    return table.take(pa.array([first, *keep]))


CASES = [
    (survey(), {"target": "years"}),
    (survey(), {"target": "school"}),
    (survey(), {"target": ["school", "years"]}),
    (survey(), {"target": "school", "known": ["sex", "age", "ill"]}),
    (survey(third=True), {"target": "school"}),
    (survey(third=True), {"target": "years"}),
    (survey(third=True), {"target": "title"}),
    (survey(third=True), {"target": ["school", "years"]}),
    (alone(), {"target": "years"}),
    (alone(), {"target": ["school", "years"]}),
]


@pytest.mark.parametrize(("original", "options"), CASES)
@pytest.mark.parametrize("settings", [{"minbucket": 3}, {"minbucket": 2, "collapse": False}])
def test_equals_full_refits(monkeypatch, original, options, settings):
    synthesizer = quietly(CartSynthesizer(**settings), original)
    pair = unveil.Pair(original, [synthesizer.sample(seed=1), synthesizer.sample(seed=2)])
    records = [0, 1, 2, 17, 33]
    walked = posterior(pair, synthesizer, structure="exact", records=records, check_settings=False, **options)
    assert walked.walked
    names = original.column_names
    monkeypatch.setattr(choice, "not_walked", lambda *_: dict.fromkeys(names, "for comparison"))
    with pytest.warns(UnveilWarning, match="fitted anew"):
        fitted = posterior(pair, synthesizer, structure="exact", records=records, **options)
    assert not fitted.walked
    for record in records:
        one, other = walked.distribution(record), fitted.distribution(record)
        assert one.keys() == other.keys()
        for value, share in one.items():
            assert share == pytest.approx(other[value], abs=1e-9), (record, value)
    assert walked.posteriors().possible_worlds.tolist() == fitted.posteriors().possible_worlds.tolist()


def test_held_recoding_by_hand():
    """Donors 4 of a, 2 of b. The release has 3 of a, 3 of b; 'same' follows from 'first' and tells nothing else."""
    first = ["a"] * 4 + ["b"] * 2
    twin = {"a": "1", "b": "2"}
    original = pa.table({"first": first, "same": [twin[v] for v in first]})
    release = ["a"] * 3 + ["b"] * 3
    pair = unveil.Pair(original, pa.table({"first": release, "same": [twin[v] for v in release]}))
    synthesizer = CartSynthesizer().fit(original)
    risk = posterior(pair, synthesizer, target="same", structure="fixed", records=[0, 5], check_settings=False)
    # Person 0 with "2": of 4 donors of a three would be left with "1", for the 3 released a's.
    assert risk.distribution(0) == pytest.approx({"1": 1 / (1 + (3 / 4) ** 3), "2": (3 / 4) ** 3 / (1 + (3 / 4) ** 3)})
    assert risk.distribution(5) == pytest.approx({"2": 1 / (1 + (1 / 2) ** 3), "1": (1 / 2) ** 3 / (1 + (1 / 2) ** 3)})
    # As the first: who moves from a to b takes one of 4 donors of a along, and one of 3 of b would have "1".
    moved = (3 / 4) ** 3 * (3 / 2) ** 3 * (2 / 3) ** 3
    known = posterior(pair, synthesizer, target="first", structure="fixed", records=[0], check_settings=False)
    assert known.distribution(0) == pytest.approx({"a": 1 / (1 + moved), "b": moved / (1 + moved)})


def test_a_recoding_that_records_would_not_settle_is_fitted_anew():
    original = pa.table({"sex": ["f", "m"] * 3, "x": list("aabbcc"), "y": list("ppqqrr")})
    synthesizer = CartSynthesizer(minbucket=1).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=1))
    with pytest.warns(UnveilWarning, match="hardly two records per value: column 'y' is fitted anew"):
        risk = posterior(pair, synthesizer, target="y", records=[0])
    assert not risk.walked
    assert math.isfinite(risk.posteriors().posterior[0])
    other = CartSynthesizer(methods={"years": CartMethod(surrogates=1)}).fit(survey())
    with pytest.warns(UnveilWarning, match="modelled in another way"):
        risk = posterior(unveil.Pair(survey(), other.sample(seed=1)), other, target="years", records=[0])
    assert not risk.walked


def test_a_release_that_breaks_the_recoding_is_refused():
    original = survey()
    synthesizer = CartSynthesizer(minbucket=3).fit(original)
    release = synthesizer.sample(seed=1)
    years = release.column("years").to_pylist()
    years[3] = 8 if years[3] != 8 else 13
    place = release.column_names.index("years")
    broken = release.set_column(place, "years", pa.array(years, release.column("years").type))
    with pytest.raises(DataError, match=r"'years' follows from 'school' in the original, but not in 1 released record"):
        posterior(unveil.Pair(original, broken), synthesizer, target="years", records=[0])


def test_wrong_records_would_break_it():
    original = survey()
    synthesizer = CartSynthesizer(minbucket=3).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=1))
    with pytest.raises(CallError, match="a recoding of 'school'"):
        posterior(pair, synthesizer, target="years", records=[0], intruder_errors=2)


def test_a_value_that_nobody_has_cannot_take_the_place_of_one_that_is_released():
    """One person alone is 'none' with 0 years; with 99 years the recoding would hold, and 0 could not be released."""
    original = alone().append_column("z", pa.array(["u", "v"] * 30)[: alone().num_rows])
    years = pa.array([0 if y is None else y for y in original.column("years").to_pylist()])
    original = original.set_column(original.column_names.index("years"), "years", years)
    synthesizer = quietly(CartSynthesizer(minbucket=2), original)
    release = next(
        one for one in (synthesizer.sample(seed=seed) for seed in range(99)) if 0 in one.column("years").to_pylist()
    )
    pair = unveil.Pair(original, release)
    risk = posterior(pair, synthesizer, target="years", candidates=[0, 99], structure="exact", records=[0])
    assert risk.walked
    assert risk.distribution(0) == {0: 1.0, 99: 0.0}


@pytest.mark.parametrize("methods", [{"b": "sample"}, "sample"])
def test_a_recoding_that_is_drawn_by_itself_is_asked_of_its_method(methods):
    """The release has k_x times x and k_y times y; without the record the original has 99 or 100 of them.

    Were the record an x, the likelihood would be the number of x with it to the power of k_x, times that of y to the
    power of k_y, whatever the other column says.
    """
    n = 200
    original = pa.table({"a": ["p", "q"] * (n // 2), "b": ["x", "y"] * (n // 2)})
    synthesizer = CartSynthesizer(minbucket=20, methods=methods).fit(original)
    release = synthesizer.sample(seed=0)
    pairs = list(zip(release["a"].to_pylist(), release["b"].to_pylist(), strict=True))
    # independent: 100 of 200 break the recoding, standard deviation 7
    assert 60 <= sum((a, b) in (("p", "y"), ("q", "x")) for a, b in pairs) <= 140
    assert synthesizer.log_prob(release).n_impossible == 0
    released = [b for _, b in pairs]
    k = {b: released.count(b) for b in "xy"}
    for structure in ("fixed", "exact"):
        found = posterior(
            unveil.Pair(original, release), synthesizer, target="b", structure=structure, records=[0, 1]
        ).records(flavour="arrow")
        for truth, other, got in zip("xy", "yx", found["posterior"].to_pylist(), strict=True):
            # odds of the truth: 100 of it and 100 of the other, against 99 and 101
            log_odds = k[truth] * math.log(100 / 99) + k[other] * math.log(100 / 101)
            assert got == pytest.approx(1 / (1 + math.exp(-log_odds)), abs=1e-9)
    assert walkable.refusal(synthesizer, ["b"]) is None


class Backwards:
    """A method of somebody's own: the opposite of what is found."""

    has_likelihood = False

    def fit(self, response, predictors, rng):
        return self

    def draw(self, predictors, rng):
        codes = 1 - predictors[0].codes
        return Column(codes, "categorical", 2)


def test_a_method_of_ones_own_is_asked_where_the_variable_is_a_recoding():
    original = pa.table({"a": ["p", "q"] * 20, "b": ["x", "y"] * 20})
    release = CartSynthesizer(methods={"b": Backwards()}).fit(original).sample(seed=0)
    assert set(zip(release["a"].to_pylist(), release["b"].to_pylist(), strict=True)) == {("p", "y"), ("q", "x")}
    kept = CartSynthesizer(methods={"b": "ctree"}).fit(original).sample(seed=0)
    assert set(zip(kept["a"].to_pylist(), kept["b"].to_pylist(), strict=True)) == {("p", "x"), ("q", "y")}
