"""Exact membership in an assessment: its figure, the contrast to attacks by distance, and when it is left out."""

from __future__ import annotations

import pytest

import unveil

KEYS = ["sex", "age"]


@pytest.fixture(scope="module")
def people():
    return unveil.simulate.demo_population(300, seed=1)


@pytest.fixture(scope="module")
def files(people):
    synthesizer = unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people)
    pair = unveil.Pair(people, [synthesizer.sample(seed=s) for s in (1, 2)], special_codes={"income": [-8]})
    return pair, synthesizer


def assessed(files, synthesizer="own", **options):
    pair, own = files
    maker = own if synthesizer == "own" else synthesizer
    return unveil.assess(
        pair, KEYS, targets=["depress"], synthesizer=maker, measures=["membership"], budget=600, release_safe=False,
        **options,
    )  # fmt: skip


def part_of(found):
    return next(one for one in found.content["parts"] if one["name"] == "membership: all but one record")


def test_the_figures_are_those_of_the_function(files):
    pair, synthesizer = files
    found = assessed(files)
    alone = unveil.exact_membership(pair, synthesizer, candidates="halves", sample=1000)
    entry, figure = found.content["exact_membership"], found.figure("exact membership")
    assert figure.value == entry["share_right"] == alone.share_right
    assert (figure.low, figure.high) == alone.share_right_interval
    assert (entry["share_certain"], entry["persons"], entry["others"]) == (alone.share_certain, 150, "halves")
    assert figure.value > found.figure("membership AUC").value


def test_attacks_on_halves_have_as_many_releases_as_there_are(files):
    pair, synthesizer = files
    figure = assessed(files).figure("membership AUC")
    several, one = (
        unveil.membership_synthesizer(
            pair.original, synthesizer, repeats=2, releases=releases, most_records=2000, special_codes={"income": [-8]}
        )
        for releases in (2, 1)
    )
    assert figure.value == several.auc[several.largest.attack] != one.auc[one.largest.attack]


def test_the_report_says_what_the_contrast_means(files):
    found = assessed(files)
    words = "it is what intruders do not know that protects"
    for text in (found.to_html(), found.to_markdown()):
        begin = text.index("Whose records were used: membership")
        assert begin < text.index("Of two persons, one of whom was used", begin) < text.index(words, begin)
    assert words not in unveil.assess(files[0], KEYS, targets=["depress"], measures=["identity"]).to_html()


def test_held_out_records_are_asked_about(people, files):
    pair, synthesizer = files
    others = unveil.simulate.demo_population(200, seed=2)
    found = assessed((pair.with_holdout(others), synthesizer), holdout_unseen=True)
    entry = found.content["exact_membership"]
    assert (entry["others"], entry["persons"]) == ("holdout", 300)
    assert "records that the synthesizer never saw" in entry["sentence"]


def test_without_a_likelihood_it_is_left_out_and_that_is_said(files, people):
    proper = unveil.CartSynthesizer(special_codes={"income": [-8]}, proper=True).fit(people)
    pair = unveil.Pair(people, proper.sample(seed=1), special_codes={"income": [-8]})
    found = assessed((pair, proper))
    assert part_of(found)["status"] == "skipped"
    assert "known without a simulation" in part_of(found)["reason"]
    assert found.content["exact_membership"] is None
    assert "exact membership" not in [one["measure"] for one in found.content["figures"]]


def test_without_the_synthesizer_or_the_intruder_it_is_left_out(files):
    assert "were not given" in part_of(assessed(files, synthesizer=None))["reason"]
    weak = assessed(files, intruders=["release", "release and synthesizer"])
    assert "is not part of the scenario" in part_of(weak)["reason"]


def test_few_persons_have_no_figure():
    few = unveil.simulate.demo_population(15, seed=3)
    synthesizer = unveil.CartSynthesizer(methods="sample").fit(few)
    found = assessed((unveil.Pair(few, synthesizer.sample(seed=1)), synthesizer))
    figure = found.figure("exact membership")
    assert figure.undefined == "7 persons were asked about, fewer than the 10 that a figure is given of"
    assert found.content["exact_membership"]["share_right"] is None
