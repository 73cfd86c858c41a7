"""Exact membership: controls, sources of persons who were not used, bad input, and what is shown."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError, DataError, UnveilWarning


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


ORIGINAL, OTHERS = survey(), survey(150, 2)
SETTINGS = {"minbucket": 8, "special_codes": {"income": [-8]}}


def maker(**settings):
    return unveil.CartSynthesizer(**(SETTINGS | settings))


def pair_of(original=ORIGINAL, m=2, **settings):
    synthesizer = maker(**settings).fit(original)
    return unveil.Pair(original, [synthesizer.sample(seed=s) for s in range(m)]), synthesizer


PAIR, SYNTHESIZER = pair_of()


def games_of(found, table):
    """The values of the persons of every game, and the log ratio."""
    people = {True: table.to_pylist(), False: OTHERS.to_pylist()}
    return sorted(
        (str(people[one["member"]][one["record"]]), one.get("against", -1), one["log_ratio"])
        for one in found.records().to_pylist()
    )


def test_identical_persons_cannot_be_told_apart():
    with pytest.warns(UnveilWarning, match="the 1 persons who were not used are fewer"):
        found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=ORIGINAL.slice(17, 1))
    games = found.records().to_pylist()
    assert {one["against"] for one in games} == {0}
    same = [one for one in games if ORIGINAL.slice(one["record"], 1) == ORIGINAL.slice(17, 1)]
    assert {(one["log_ratio"], one["right"], one["certain"]) for one in same} == {(0.0, 0.5, False)}
    assert any(one["log_ratio"] for one in games)


@pytest.mark.parametrize("game", ["swap", "in_out"])
def test_the_order_of_files_changes_nothing(game):
    rng = np.random.default_rng(0)
    order = rng.permutation(ORIGINAL.num_rows)
    releases = [release.part(rng.permutation(release.num_rows)) for release in PAIR.releases]
    shuffled = unveil.Pair(ORIGINAL.take(order), releases)
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, game=game)
    again = unveil.exact_membership(shuffled, maker(), candidates=OTHERS, game=game)
    assert games_of(found, ORIGINAL) == games_of(again, ORIGINAL.take(order))
    assert str(found) == str(again)


def test_finer_leaves_give_more_away():
    original, others = survey(400, 5), survey(400, 6)
    pair, synthesizer = pair_of(original, m=1, methods="sample")
    coarse = unveil.exact_membership(pair, synthesizer, candidates=others)
    assert coarse.share_right < 0.75
    assert coarse.share_certain < 0.05
    pair, synthesizer = pair_of(original, m=1, minbucket=1)
    assert unveil.exact_membership(pair, synthesizer, candidates=others).share_right > 0.85


@pytest.mark.parametrize("game", ["swap", "in_out"])
def test_figures_are_those_of_the_games(game):
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, game=game)
    games = found.records().to_pylist()
    members = [one["log_ratio"] for one in games if one["member"]]
    others = [-x for x in members] if game == "swap" else [one["log_ratio"] for one in games if not one["member"]]
    assert found.auc == pytest.approx(np.mean([(x > y) + 0.5 * (x == y) for x in members for y in others]))
    right = [[(x > 0) + 0.5 * (x == 0) for x in members], [(x < 0) + 0.5 * (x == 0) for x in others]]
    assert found.share_right == pytest.approx(np.mean([np.mean(group) for group in right]))
    certain = [np.mean(np.isinf(group)) for group in (members, others)]
    assert found.share_certain == pytest.approx(np.mean(certain))
    low, high = found.share_right_interval
    assert low <= found.share_right <= high
    assert found.n_games == ((120, 0) if game == "swap" else (120, 150))


def test_more_releases_tell_more():
    one, five = (unveil.exact_membership(*pair_of(m=m), candidates=OTHERS, game="in_out") for m in (1, 5))
    assert five.auc > one.auc


def test_a_holdout_and_halves():
    pair = unveil.Pair(ORIGINAL, list(PAIR.releases), holdout=OTHERS)
    held = unveil.exact_membership(pair, SYNTHESIZER)
    given = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS)
    assert (held.others, given.others) == ("holdout", "candidates")
    assert held.records() == given.records()
    halves = unveil.exact_membership(PAIR, SYNTHESIZER, candidates="halves", seed=4)
    assert (halves.n_original, halves.n_others, halves.others) == (60, 60, "halves")
    used = {one["record"] for one in halves.records().to_pylist()}
    left = {one["against"] for one in halves.records().to_pylist()}
    assert used | left == set(range(120))


def test_what_is_fitted_anew_equals_what_is_walked():
    """A rule that never applies is not walked."""
    plain, synthesizer = pair_of(m=1)
    ruled = maker(rules={"ill": [("sex == 'x'", "no")]})
    for game in ("swap", "in_out"):
        options = {"candidates": OTHERS, "game": game, "sample": 6}
        walked = unveil.exact_membership(plain, synthesizer, **options)
        with pytest.warns(UnveilWarning, match="fitted anew"):
            fitted = unveil.exact_membership(plain, ruled, **options)
        assert fitted.likelihood == "donor shares of sequential CART, other methods fitted to every world"
        ratios = [found.records().column("log_ratio").to_pylist() for found in (walked, fitted)]
        assert ratios[0] == pytest.approx(ratios[1], abs=1e-8)


@pytest.mark.parametrize("game", ["swap", "in_out"])
def test_trees_are_walked_and_other_methods_fitted(game):
    """Against the difference of two plain fits, with and without the person."""
    numbers = ORIGINAL.drop_columns(["income"])
    others = OTHERS.drop_columns(["income"])
    synthesizer = unveil.CartSynthesizer(minbucket=8, methods={"age": "norm", "ill": "logreg"})
    synthesizer.fit(numbers)
    releases = [synthesizer.sample(60, seed=s) for s in (1, 2)]
    with pytest.warns(UnveilWarning, match="modelled by Norm"):
        found = unveil.exact_membership(
            unveil.Pair(numbers, releases), synthesizer, candidates=others, game=game, sample=5
        )
    log = sum(synthesizer.log_prob(release).total for release in releases)
    rows, more = numbers.to_pylist(), others.to_pylist()
    for one in found.records().to_pylist():
        record = one["record"]
        with_, without = rows, rows
        if one["member"]:
            without = [*rows[:record], *rows[record + 1 :]] + ([more[one["against"]]] if game == "swap" else [])
        else:
            with_ = [*rows, more[record]]
        fits = [unveil.CartSynthesizer(minbucket=8, methods=synthesizer.methods) for _ in range(2)]
        totals = [
            log if kept is rows else sum(fit.fit(pa.Table.from_pylist(kept)).log_prob(z).total for z in releases)
            for fit, kept in zip(fits, (with_, without), strict=True)
        ]
        assert one["log_ratio"] == pytest.approx(totals[0] - totals[1], abs=1e-7)


def test_few_candidates_are_used_again_and_that_is_said():
    with pytest.warns(UnveilWarning, match="the 10 persons who were not used are fewer than the members"):
        found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS.slice(0, 10), sample=25)
    assert sorted(np.bincount(found.records().column("against").to_numpy())) == [2] * 5 + [3] * 5


@pytest.mark.parametrize(
    ("candidates", "options", "error", "message"),
    [
        (None, {}, CallError, "name persons whom the synthesizer never used"),
        (
            OTHERS.drop_columns(["age"]),
            {},
            CallError,
            "there is no column 'age' in the candidates: a person needs all columns",
        ),
        (OTHERS.slice(0, 0), {}, CallError, "there are no records in the candidates"),
        ([1, 2], {}, CallError, "the candidates: list is neither"),
        (OTHERS, {"game": "both"}, CallError, "game"),
        (OTHERS, {"sample": 0}, CallError, "sample"),
        ([{"sex": "f", "weight": 3}], {}, CallError, "no column 'weight'"),
    ],
)
def test_bad_input_is_refused_in_one_line(candidates, options, error, message):
    with pytest.raises(error, match=message) as refused:
        unveil.exact_membership(PAIR, SYNTHESIZER, candidates=candidates, **options)
    assert "\n" not in str(refused.value)


def test_games_that_nobody_can_win_are_counted():
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=pa.concat_tables([ORIGINAL.slice(0, 2)] * 60))
    people = ORIGINAL.to_pylist()
    alike = [people[one["record"]] == people[one["against"] % 2] for one in found.records().to_pylist()]
    assert found.n_alike == sum(alike) > 0
    assert f"{sum(alike)} of the games are between persons with the same values" in str(found)
    assert found.label_others == "the candidates"


def test_columns_that_are_not_released():
    names = ["sex", "age", "income"]
    releases = [pa.table({name: release.column(name) for name in names}) for release in PAIR.releases]
    short = unveil.Pair(ORIGINAL, releases)
    fewer = unveil.exact_membership(short, SYNTHESIZER, candidates=OTHERS)
    hidden = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, withheld=["ill"])
    assert fewer.withheld == hidden.withheld == ("ill",)
    assert fewer.records() == hidden.records()
    alone = unveil.exact_membership(
        unveil.Pair(ORIGINAL.select(names), releases), maker(), candidates=OTHERS.select(names)
    )
    assert alone.share_right == pytest.approx(fewer.share_right, abs=0.1)


def test_a_synthesizer_that_did_not_make_the_release_is_refused():
    with pytest.raises(DataError, match="did not make"):
        unveil.exact_membership(PAIR, maker(minbucket=1), candidates=OTHERS)


def test_a_synthesizer_without_likelihood_is_refused():
    with pytest.raises(CallError, match="known without a simulation"):
        unveil.exact_membership(PAIR, maker(proper=True), candidates=OTHERS)


def test_how_it_is_shown():
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, game="in_out")
    text = str(found)
    assert "whether a person was used (120 who were, 150 who were not)" in text
    assert "It does NOT show" in text
    assert found.to_frame().column("figure").to_pylist()[:3] == ["share_right", "share_certain", "auc"]
    told = json.loads(json.dumps(found.to_dict(), allow_nan=True))
    assert told["baseline"]["share_right"] == 0.5
    assert "records" not in told
    assert told["warnings"] == []


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, sample=30)
    ax = found.plot()
    assert "which of two persons" in ax.get_title()


def test_some_records_are_asked_about():
    """Their games are those of all; pooled releases add up."""
    whole = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, game="in_out").records().to_pylist()
    some = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, game="in_out", records=[7, 3, 50])
    asked = [one for one in some.records().to_pylist() if one["member"]]
    assert sorted(one["record"] for one in asked) == [3, 7, 50]
    ratios = {one["record"]: one["log_ratio"] for one in whole if one["member"]}
    assert all(one["log_ratio"] == ratios[one["record"]] for one in asked)
    with pytest.raises(CallError, match="records: there is no record 120 among the 120"):
        unveil.exact_membership(PAIR, SYNTHESIZER, candidates=OTHERS, records=[120])


@pytest.mark.parametrize("game", ["swap", "in_out"])
def test_releases_that_are_pooled_add_up(game):
    """The likelihood of three releases is the product of theirs."""
    pair, synthesizer = pair_of(m=3, minbucket=25)
    singly = [
        unveil.exact_membership(unveil.Pair(ORIGINAL, one), synthesizer, candidates=OTHERS, game=game)
        for one in pair.releases
    ]
    pooled = unveil.exact_membership(pair, synthesizer, candidates=OTHERS, game=game)
    ratios = np.sum([one.records().column("log_ratio").to_numpy() for one in singly], axis=0)
    assert pooled.records().column("log_ratio").to_numpy() == pytest.approx(ratios, abs=1e-8)
    assert np.isfinite(ratios).any()
    assert pooled.share_certain > max(one.share_certain for one in singly) - 1e-12


def test_candidates_that_are_odd_are_said():
    odd = pa.table({"sex": ["x", "f"], "age": [30, 31], "income": [600, 600], "ill": ["no", "no"]})
    with pytest.warns(UnveilWarning, match="1 of the candidates hold a value of column 'sex' that no file has"):
        unveil.exact_membership(PAIR, SYNTHESIZER, candidates=odd, game="in_out", sample=2)


def test_twins_among_those_who_were_not_used_are_counted():
    rows = pa.concat_tables([ORIGINAL.slice(5, 2), OTHERS.slice(0, 8)])
    people, others = ORIGINAL.to_pylist(), rows.to_pylist()
    found = unveil.exact_membership(PAIR, SYNTHESIZER, candidates=rows, game="in_out", sample=200)
    twins = sum(one in people for one in others)
    assert found.n_alike == twins >= 2
    assert f"{twins} of the persons who were not used have the values of one who was" in str(found)


@pytest.mark.parametrize("game", ["swap", "in_out"])
def test_with_mixed_donors_nobody_is_certain_whose_values_others_have(game):
    def people(seed):
        rng = np.random.default_rng(seed)
        code = rng.integers(0, 6, 90)
        return pa.table({"a": code, "b": (code + (rng.random(90) < 0.2)) % 6, "c": rng.integers(0, 4, 90)})

    original, others = people(1), people(2)
    assert min(np.unique(original.column(name), return_counts=True)[1].min() for name in "abc") > 2
    certain = {}
    for mix in (0.0, 0.1):
        maker = unveil.CartSynthesizer(minbucket=1, cp=0, mix=mix).fit(original)
        pair = unveil.Pair(original, [maker.sample(seed=s) for s in range(2)], others)
        certain[mix] = unveil.exact_membership(pair, maker, game=game).share_certain
    assert certain[0.0] > 0
    assert certain[0.1] == 0
