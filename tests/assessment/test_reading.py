"""Figures read against each other, the Pareto set, and parts that fail."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.assessment.contradictions import contradictions
from unveil.assessment.pareto import pareto
from unveil.assessment.part import AssessmentPart, Clock, Context, Section, Skipped, run
from unveil.assessment.rounding import Rounding
from unveil.assessment.scenario import Options, Scenario
from unveil.assessment.summary import _risks
from unveil.errors import DataError, UnveilWarning


def figure(measure, value, target=None, null_95=None, **more):
    unit = "percent" if measure in ("repU", "DiSCO", "DCAP") else "share"
    blank = dict.fromkeys(("margin", "null_mean", "low", "ceiling"))
    return {"measure": measure, "target": target, "unit": unit, "value": value, "null_95": null_95} | blank | more


def texts(*figures, structure=None):
    return [one["text"] for one in contradictions(figures, structure, Rounding(5000, 10))]


def test_a_figure_no_higher_than_its_null():
    share, percent = texts(figure("RAPID", 0.3, "ill", 0.31), figure("DiSCO", 4.0, "ill", 4.5))
    assert "RAPID of ill is 30 % and no higher than" in share
    assert "DiSCO of ill is 4 %" in percent
    assert "95th percentile 4.5 %" in percent
    assert texts(figure("RAPID", 0.32, "ill", 0.31)) == []
    assert texts(figure("RAPID", None, "ill", 0.31), figure("DiSCO", math.nan, "ill", 4.0)) == []


def test_match_measures_near_zero_beside_certainty():
    found = texts(figure("repU", 0.0), figure("DiSCO", 2.0, "ill"), figure("posterior certain", 0.6, "ill"))
    assert len(found) == 1
    assert "repU 0.0 % and DiSCO 2.0 %" in found[0]
    assert "60 of 100" in found[0]
    assert texts(figure("repU", 0.0), figure("posterior certain", 0.1, "ill")) == []
    assert texts(figure("DiSCO", 2.0, "pay"), figure("posterior certain", 0.6, "ill")) == []


def test_a_curve_at_the_prior_beside_certainty():
    def curve(*posteriors):
        shares = (1.0, 0.9, 0.5)
        return {"ill": {"points": [
            {"share_known": s, "mean_prior": 0.2, "mean_posterior": p} for s, p in zip(shares, posteriors, strict=True)
        ]}}  # fmt: skip

    def said(certain, *posteriors, target="ill"):
        given = [figure("posterior certain", certain, target)], None, Rounding(5000, 10)
        return [one["text"] for one in contradictions(*given, curve(*posteriors))]

    (found,) = said(0.6, 0.7, 0.215, 0.2)
    assert "knows 90 % of the other records learns next to nothing about ill" in found
    assert "certain of it for 60 of 100 records" in found
    (found,) = said(0.6, 0.21, 0.2, 0.2)
    assert "looks at the splits alone" in found
    assert said(0.6, 0.7, 0.5, 0.3) == []
    assert said(0.1, 0.7, 0.2, 0.2) == []
    assert said(0.6, 0.7, math.nan, 0.3) == []
    assert said(0.6, 0.7, 0.2, 0.2, target="pay") == []


def test_what_is_chance_is_not_called_more_than_the_original_tells():
    above = {"low": 0.08, "ceiling": 0.078}
    (chance,) = texts(figure("RAPID", 0.086, "depress", 0.0985, **above))
    assert "cannot be told from chance" in chance
    (beyond,) = texts(figure("RAPID", 0.086, "depress", 0.079, **above))
    assert "depress (8.6 % over 7.8 %)" in beyond
    (unknown,) = texts(figure("RAPID", 0.086, "depress", None, **above))
    assert unknown == beyond


def test_a_figure_above_its_null_that_a_guess_reaches_too():
    rapid = figure("RAPID", 0.165, "income", 0.133, margin=0.171, null_mean=0.129)
    dcap = figure("DCAP", 22.0, "ls", 19.9, margin=29.8, null_mean=19.0)
    share, percent = texts(rapid, dcap)
    assert "RAPID of income is 16.5 %, above chance (12.9 %; 95th percentile 13.3 %)" in share
    assert "17.1 %" in share
    assert "DCAP of ls is 22 %, above chance (19 %; 95th percentile 19.9 %)" in percent
    assert "29.8 %" in percent
    # The share of the most frequent level is no guess of DiSCO's kind; and chance is said once.
    assert texts(figure("DiSCO", 9.8, "ls", 3.0, margin=21.9), rapid | {"margin": 0.1}, rapid | {"margin": None}) == []
    assert len(texts(rapid | {"value": 0.13})) == 1


def test_more_than_the_original_tells_of_a_person_left_out():
    figures = [
        figure("RAPID", 0.631, "marital", low=0.617, ceiling=0.588),
        figure("RAPID", 0.055, "education", low=0.053, ceiling=0.033),
        figure("RAPID", 0.124, "ls", low=0.114, ceiling=0.12),
        # Whoever is alone with the keys counts as missed in this ceiling: a release can pass it by chance.
        figure("DCAP", 56.1, "workab", low=54.7, ceiling=44.8),
    ]
    (found,) = texts(*figures)
    assert "marital (63.1 % over 58.8 %) and education (5.5 % over 3.3 %)." in found


def test_the_summary_does_not_call_the_null_a_guess():
    """A guess without the release may be better than a release whose keys and target do not go together."""
    dcap = figure("DCAP", 39.6, "income", null_mean=35.7, ceiling=39.5, margin=39.3, excess=0.06)
    dcap |= {"intruder": "release", "sentence": "Guessing is right for 39.6; without the release for 39.3."}
    (said,) = _risks([dcap], Rounding(5000, 10))
    assert said == (
        "Guessing is right for 39.6; without the release for 39.3. If the release did not say how keys and target go "
        "together it would be 35.7 on average; with the original itself, every record guessed from the others with the "
        "same keys, 39.5."
    )


def test_nearly_all_is_not_all():
    found = texts(figure("repU", 0.0), figure("posterior certain", 0.997, "ill"))
    assert "certain of ill for 99.7 of 100 records" in found[0]


def test_many_new_key_combinations():
    assert "34.4 %" in texts(structure={"percent_novel": 34.4})[0]
    assert texts(structure={"percent_novel": 5.0}) == []
    assert texts(structure={"percent_novel": None}) == []


@pytest.mark.parametrize(
    ("match", "certain", "said"),
    [(5.0, 0.2, True), (4.9, 0.2, True), (5.1, 0.2, False), (5.0, 0.19, False), (0.0, 1.0, True), (100.0, 1.0, False)],
)
def test_up_to_5_percent_and_from_20_percent_on_contradict_each_other(match, certain, said):
    for figures in (
        [figure("repU", match), figure("posterior certain", certain, "ill")],
        [figure("DiSCO", match, "ill"), figure("posterior certain", certain, "ill")],
    ):
        assert bool(texts(*figures)) == said
    # Of one target alone: another one, another measure, and what is not defined say nothing of it.
    for other in (figure("DiSCO", 0.0, "pay"), figure("DCAP", 0.0, "ill"), figure("repU", None)):
        assert texts(other, figure("posterior certain", certain, "ill")) == []
    assert texts(figure("repU", 0.0), figure("posterior certain", None, "ill")) == []


@pytest.mark.parametrize(("percent", "said"), [(20.0, False), (20.1, True), (19.9, False), (0.0, False)])
def test_above_20_percent_of_new_combinations_low_figures_are_doubted(percent, said):
    assert bool(texts(structure={"percent_novel": percent})) == said


@pytest.mark.parametrize(
    ("value", "margin", "top", "said"),
    [(0.2, 0.2, 0.1, True), (0.2, 0.19, 0.1, False), (0.2, 0.3, 0.1, True), (0.0, 0.0, None, False),
     (0.2, 0.3, None, False), (0.2, None, 0.1, False)],
)  # fmt: skip
def test_a_guess_is_as_good_where_it_is_no_lower(value, margin, top, said):
    found = texts(figure("RAPID", value, "ill", top, margin=margin, null_mean=0.05))
    assert bool(found) == said
    assert all("above chance" in text for text in found)


@pytest.mark.parametrize(
    ("low", "ceiling", "said"), [(0.3, 0.3, False), (0.31, 0.3, True), (None, 0.3, False), (0.4, None, False)]
)
def test_the_whole_interval_lies_above_the_ceiling(low, ceiling, said):
    assert bool(texts(figure("RAPID", 0.5, "ill", low=low, ceiling=ceiling))) == said
    assert texts(figure("DCAP", 50.0, "ill", low=40.0, ceiling=30.0)) == []


def test_what_attacks_on_persons_reach_by_chance_is_named():
    (found,) = texts(figure("membership AUC", 0.5, None, 0.5))
    assert found.startswith("membership AUC is ")
    assert "the best of the attacks on persons who cannot be told apart would reach by chance" in found
    (found,) = texts(figure("DiSCO", 5.0, "ill", 5.0))
    assert "releases whose target is shuffled reach by chance" in found


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_pareto_by_definition(points):
    expected = [not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points) for p in points]
    assert pareto(points) == expected


def test_a_point_that_is_not_defined_is_never_best():
    assert pareto([(math.nan, 0.0), (1.0, 1.0)]) == [False, True]


@pytest.fixture
def context():
    table = pa.table({"sex": ["f", "m"] * 6, "ill": ["y", "n", "n"] * 4})
    pair = unveil.Pair(table, table.slice(0, 6))
    return Context(pair, Scenario.of(pair, Options("sex", targets="ill")), Clock(10.0))


def test_how_a_part_ends(context):
    def with_warning(_):
        import warnings

        warnings.warn("look", UnveilWarning, stacklevel=1)
        warnings.warn("look", UnveilWarning, stacklevel=1)
        return Section(warnings=("own",))

    def failing(_):
        raise DataError("no amounts in 'ill'")

    def broken(_):
        return np.zeros(2)[5]

    def skipped(_):
        raise Skipped("not asked for")

    ends = [
        run(AssessmentPart("p", "m", compute), context)
        for compute in (with_warning, failing, broken, skipped, lambda _: Section(partial="half"))
    ]
    assert [end["status"] for end in ends] == ["done", "failed", "failed", "skipped", "partial"]
    assert ends[0]["section"]["warnings"] == ["own", "look"]
    assert ends[1]["reason"] == "no amounts in 'ill'"
    assert ends[2]["reason"].startswith("IndexError in the program itself")
    assert [end["section"] is None for end in ends] == [False, True, True, True, False]


def test_an_interrupt_is_no_failure(context):
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(AssessmentPart("p", "m", interrupted), context)
