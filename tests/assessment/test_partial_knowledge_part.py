"""The curve of the strongest intruder who knows fewer records: its figures, its plan, and when there is none."""

from __future__ import annotations

import math

import pytest

import unveil
from unveil.assessment import partial_knowledge_part as part_file
from unveil.assessment.gate import release_safe
from unveil.assessment.part import Clock, Context
from unveil.assessment.plan import plan
from unveil.assessment.scenario import Options, Scenario
from unveil.errors import CallError
from unveil.show.report import html, markdown

KEYS = ["sex", "age"]
PART = "partial knowledge: marital"
TITLE = "The strongest intruder, and how fast it weakens"


@pytest.fixture(scope="module")
def people():
    return unveil.simulate.demo_population(240, seed=1).select(["sex", "age", "marital", "depress"])


@pytest.fixture(scope="module")
def files(people):
    synthesizer = unveil.CartSynthesizer().fit(people)
    return unveil.Pair(people, synthesizer.sample(seed=2)), synthesizer


def assessed(files, synthesizer="own", **options):
    pair, own = files
    options = {"measures": ["posterior", "partial knowledge"], "budget": 600} | options
    return unveil.assess(
        pair, KEYS, targets=["marital"], synthesizer=own if synthesizer == "own" else synthesizer, release_safe=False,
        **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole(files):
    return assessed(files)


def part_of(found):
    return next(one for one in found.content["parts"] if one["name"] == PART)


def curve_of(found):
    return found.content["targets"][0]["partial_knowledge"]


def test_figures_are_those_of_the_function(files, whole):
    told = curve_of(whole)
    alone = unveil.partial_knowledge(*files, target="marital", sample=200, sets=1, seed=0)
    assert [one["share_known"] for one in told["points"]] == [1, 0.99, 0.95, 0.9, 0.5, 0]
    for one, point in zip(told["points"], alone.points, strict=True):
        assert {name: one[name] for name in part_file.FIGURES} == {
            name: getattr(point, name) for name in part_file.FIGURES
        }
    assert (told["persons"], told["structure"]) == (200, "splits")
    assert part_of(whole)["status"] == "done"


def test_it_comes_after_the_posterior_and_before_the_advice(files):
    names = [one.name for one in plan(context_of(files, 60).scenario, repeated=True)]
    at = names.index("posterior: marital")
    assert names[at : at + 3] == ["posterior: marital", PART, "advice: keys"]


def test_the_report_shows_the_curve_once_with_what_it_is_not(whole):
    for text in (whole.to_html(), whole.to_markdown()):
        assert text.count(TITLE) == 1
        assert "It is not a calibrated posterior" in text
        assert "the objection that nobody has all other records" in text
    page = whole.to_html()
    assert page.index('id="target-1-marital-weakening-title"') < page.index('id="target-1-marital-gain-title"')


def test_what_is_published_is_rounded(whole):
    told, passed = curve_of(whole), curve_of_document(release_safe(whole.content))
    # Files are called by their number there.
    assert passed["sentence"].replace("release 1", "the release") == told["sentence_public"] != told["sentence"]
    # 10 of 200 persons are 5 %.
    for one in passed["points"]:
        assert 20 * one["mean_posterior"] == pytest.approx(round(20 * one["mean_posterior"]))
        assert one["unknown"] is None or one["unknown"] % 10 == 0


def curve_of_document(document):
    return document["targets"][0]["partial_knowledge"]


def context_of(files, budget, targets=("marital",)):
    scenario = Scenario.of(files[0], Options(KEYS, targets=list(targets), budget=budget))
    return Context(files[0], scenario, Clock(budget), files[1])


def test_the_plan_depends_on_sizes_and_budget_and_not_on_the_clock(files):
    # 200 of 240 persons; sets of 2, 12, 24, 120 and 240 unknown persons; each person takes the values times 4 columns.
    each = part_file.VALUE_SECONDS * files[0].column("marital").n_levels * 4
    work = {1.0: 200 * 1 * 0, 0.99: 2 * 100, 0.95: 12 * 17, 0.9: 24 * 9, 0.5: 120 * 2, 0.0: 240}
    spent, shares = 0.0, []
    for share, persons in work.items():
        spent += persons * each
        shares.append(share)
        for several in (1, 2):
            budget = 1.0001 * several * spent / part_file.BUDGET_SHARE + 1e-9
            context = context_of(files, budget, ["marital", "depress"][:several])
            context.clock._end -= 1e6
            planned = part_file.planned_curve(context, "marital")
            assert planned.shares == tuple(shares)
            assert planned.left_out == tuple(share for share in work if share not in shares)


def test_small_budgets_and_files_say_why_there_is_no_curve(files, people):
    little = assessed(files, budget=0.01)
    assert part_of(little)["status"] == "skipped"
    few = people.slice(0, 8)
    made = unveil.CartSynthesizer().fit(few)
    found = assessed((unveil.Pair(few, made.sample(seed=1)), made))
    assert "fewer than a figure is given of" in part_of(found)["reason"]
    assert TITLE not in found.to_html()
    assert "fewer than a figure is given of" in found.to_html()


@pytest.mark.parametrize("settings", [{"mix": 0.1}, {"surrogates": 1}, {"methods": {"marital": "polyreg"}}])
def test_other_synthesizers_are_left_out_with_a_reason(people, settings):
    small = people.slice(0, 60)
    made = unveil.CartSynthesizer(**settings).fit(small)
    found = assessed((unveil.Pair(small, made.sample(seed=1)), made), budget=20)
    part = part_of(found)
    assert part["status"] == "skipped"
    assert "mix" in part["reason"] or "walked" in part["reason"]
    assert part["reason_public"] == "it is not known for this synthesizer and these columns"
    assert curve_of(found) is None


def test_without_the_synthesizer_there_is_none(files):
    part = part_of(assessed(files, synthesizer=None))
    assert (part["status"], "were not given" in part["reason"]) == ("skipped", True)


def test_where_time_runs_out_the_points_so_far_are_kept(files, monkeypatch):
    from unveil import _intruders

    whole = _intruders.partial_knowledge

    def slow(pair, synthesizer, *, records_known, **options):
        if records_known < 0.95:
            raise CallError("this would take about 900 seconds, and the budget is 10")
        return whole(pair, synthesizer, records_known=records_known, **options)

    monkeypatch.setattr(_intruders, "partial_knowledge", slow)
    found = assessed(files)
    assert [one["share_known"] for one in curve_of(found)["points"]] == [1, 0.99, 0.95]
    assert part_of(found)["status"] == "partial"
    assert part_of(found)["reason"].startswith("Where 90, 50 and 0 % of the other records are known there was no time")
    assert "Where 90, 50 and 0 % of the other records are known, it was not computed" in curve_of(found)["contrast"]


def point(share, posterior):
    figures = {"mean_prior": 0.2, "monte_carlo_error": 0.001, "share_above_90": 0.1, "share_not_mixed": 0.0}
    return {"share_known": share, "unknown": 10, "mean_posterior": posterior} | figures


def test_a_point_that_has_not_mixed_has_no_figure_and_is_told_of(files, whole):
    context = context_of(files, 600)
    points = [point(1.0, 0.6), point(0.9, math.nan), point(0.5, 0.4)]
    entry = part_file.curve_entry(context, "marital", points, [])
    assert "knows 100 and 50 % of the other records" in entry["sentence"]
    assert "a probability of 60 % and 40 % on average, 20 % before" in entry["sentence"]
    assert entry["sentence"].endswith(
        "90 % of the other records are known, more than 1 % of the persons have not mixed, and there is no figure."
    )
    assert "rises" not in entry["contrast"]
    content = whole.content | {"targets": [whole.content["targets"][0] | {"partial_knowledge": entry}]}
    assert "90 % known: no figure" in html(content)
    assert TITLE in markdown(content)


def test_a_curve_that_rises_is_explained(files):
    rising = part_file.curve_entry(context_of(files, 600), "marital", [point(1.0, 0.3), point(0.5, 0.4)], [])
    assert "Where the curve rises, the release of unknown persons teaches how columns go together" in rising["contrast"]


@pytest.mark.parametrize("mix", [0.0, 0.1])
def test_with_mixed_donors_the_report_says_that_the_shape_of_the_trees_tells(people, mix):
    small = people.slice(0, 80)
    made = unveil.CartSynthesizer(mix=mix).fit(small)
    found = assessed((unveil.Pair(small, made.sample(seed=1)), made), measures=["posterior", "advice"], budget=20)
    for text in (found.to_html(), found.to_markdown()):
        told = "Donors are mixed (mix 0.1): donor counts then tell little" in text
        assert told == (mix > 0)
    hows = [
        effect["how"] for one in found.content["advice"] if "(mix)" in one["action"] for effect in one["effects"]
    ]  # fmt: skip
    assert all("the shape of the trees still tells" in how for how in hows)
    assert hows or mix


def test_one_sentence_of_the_summary_tells_of_the_curve(files, whole):
    short = curve_of(whole)["in_short"]
    assert short in whole.content["summary"]
    assert short in whole.to_html()
    context = context_of(files, 600)
    entry = part_file.curve_entry(context, "marital", [point(1.0, 0.6), point(0.5, math.nan), point(0.0, 0.3)], [])
    assert entry["in_short"] == (
        "An intruder who was told the splits alone gives the true value of marital a probability of 60 % on average "
        "with 100 % of the other records known, and of 30 % with 0 %."
    )
    assert part_file.curve_entry(context, "marital", [point(1.0, 0.6)], [])["in_short"] == ""


def test_the_curve_is_a_measure_of_its_own(files):
    """Who asks for the Bayesian risk alone, as a comparison of many releases does, does not wait for the curve."""
    found = assessed(files, measures=["posterior"], budget=0.01)
    assert [one["name"] for one in found.content["parts"]] == ["posterior: marital"]
