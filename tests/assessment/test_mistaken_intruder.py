"""The line on an intruder with wrong records, beside the exact Bayesian risk."""

from __future__ import annotations

import numpy as np
import pytest

import unveil
from unveil.assessment import mistaken_intruder
from unveil.assessment.gate import release_safe
from unveil.assessment.part import Clock, Context
from unveil.assessment.scenario import Options, Scenario

KEYS = ["sex", "age"]
MEASURES = ["identity", "attribute", "posterior"]


def assessed(people, synthesizer, **options):
    pair = unveil.Pair(people, synthesizer.sample(seed=2), special_codes={"income": [-8]})
    options = {"measures": MEASURES, "budget": 600} | options
    found = unveil.assess(
        pair, KEYS, targets=["depress"], synthesizer=synthesizer, release_safe=False, seed=0, **options
    )
    return pair, found


@pytest.fixture(scope="module")
def people():
    return unveil.simulate.demo_population(400, seed=1)


@pytest.fixture(scope="module")
def whole(people):
    return assessed(people, unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people))


def line(found):
    return found.content["targets"][0]["posterior"]["mistakes"]


def test_figures_are_those_of_the_posterior(people, whole):
    pair, found = whole
    told = line(found)
    assert [row["wrong"] for row in told["rows"]] == [0, 1, 5, 50]
    assert (told["records"], told["draws"]) == (200, 5)
    maker = unveil.CartSynthesizer(special_codes={"income": [-8]})
    persons = unveil.posterior(pair, maker, target="depress", structure="fixed", sample=200, seed=0)
    for row in told["rows"]:
        risks = [
            unveil.posterior(
                pair, maker, target="depress", structure="exact", records=persons.posteriors().members,
                intruder_errors=row["wrong"], seed=draw,
            )
            for draw in range(5 if row["wrong"] else 1)
        ]  # fmt: skip
        found = [risk.posteriors() for risk in risks]
        assert row["mean_posterior"] == pytest.approx(np.mean([one.posterior.mean() for one in found]), rel=1e-12)
        certain = [one.posterior >= 1 - 1e-6 for one in found]
        assert row["share_certain"] == pytest.approx(np.mean(certain), rel=1e-12)
        misled = [
            [p >= 1 - 1e-6 and value != true for value, p, true in zip(
                one["likeliest"].to_pylist(), one["likeliest_probability"].to_pylist(), one["truth"].to_pylist(),
                strict=True)]
            for one in (risk.records(flavour="arrow") for risk in risks)
        ]  # fmt: skip
        assert row["share_certain_wrong"] == pytest.approx(np.mean(misled), rel=1e-12)
    means = [row["mean_posterior"] for row in told["rows"]]
    assert means[0] > means[-1]
    assert told["rows"][0]["share_certain_wrong"] == 0 < told["rows"][-1]["share_certain_wrong"]


@pytest.mark.parametrize(
    ("affordable", "planned"), [(3200, (200, 5)), (800, (50, 5)), (799, (199, 1)), (200, (50, 1)), (40, (10, 1))]
)
def test_several_draws_are_averaged_where_the_plan_affords_it(whole, affordable, planned):
    pair = whole[0]
    scenario = Scenario.of(pair, Options(KEYS, targets=["depress"]))
    assert mistaken_intruder._planned(Context(pair, scenario, Clock(1)), affordable, 3) == planned


def test_the_sentence_says_how_many_draws_and_who_is_misled(whole):
    said = line(whole[1])["sentence"]
    assert said.endswith("(200 records drawn at random; means over 5 draws of the mistakes).")
    assert "and is certain of a wrong value for 0, " in said


def test_it_is_one_line_of_the_report(whole):
    _, found = whole
    begin = "With 0, 1, 5 and 50 wrong records among the others, that intruder gives the true value of depress"
    for text in (found.to_html(), found.to_markdown()):
        assert text.count(begin) == 1


def test_what_is_published_is_rounded(whole):
    told = line(whole[1])
    passed = release_safe(whole[1].content)["targets"][0]["posterior"]["mistakes"]
    steps = [20 * row["share_certain"] for row in passed["rows"]]
    assert steps == pytest.approx([round(step) for step in steps])
    assert passed["sentence"] == told["sentence_public"] != told["sentence"]


def test_it_says_when_it_was_not_computed(people, monkeypatch):
    ruled = unveil.CartSynthesizer(special_codes={"income": [-8]}, surrogates=1).fit(people.slice(0, 60))
    told = line(assessed(people.slice(0, 60), ruled, budget=20)[1])
    assert told["rows"] == []
    assert told["sentence"].startswith("What an intruder learns if some of the other records are wrong was not")
    monkeypatch.setattr(mistaken_intruder, "MOST_RECORDS", 5)
    told = line(assessed(people, unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people))[1])
    assert told["records"] is None
    assert told["sentence"].endswith("was not computed: there was no time for it.")


def test_small_files_have_fewer_mistakes(people):
    few = people.slice(0, 60)
    told = line(assessed(few, unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(few))[1])
    assert [row["wrong"] for row in told["rows"]] == [0, 1, 5]
