"""The line on an intruder with wrong records, beside the exact Bayesian risk."""

from __future__ import annotations

import pytest

import unveil
from unveil.assessment import mistaken_intruder
from unveil.assessment.gate import release_safe

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
    assert told["records"] == 200
    for row in told["rows"]:
        risk = unveil.posterior(
            pair, unveil.CartSynthesizer(special_codes={"income": [-8]}), target="depress", structure="exact",
            sample=200, intruder_errors=row["wrong"], seed=0,
        ).to_dict()["releases"][0]["exact"]  # fmt: skip
        assert (row["mean_posterior"], row["share_certain"]) == (risk["mean_posterior"], risk["share_certain"])
    means = [row["mean_posterior"] for row in told["rows"]]
    assert means[0] > means[-1]


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
