"""Settings sought under a policy: figures, fresh seeds, resumption, what is in the way, and what is shown."""

from __future__ import annotations

import json
import math
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from reference import data_file
from unveil import CallError, FileError, UnveilWarning, _posterior, cli
from unveil.assessment.policy import Policy, Threshold
from unveil.synthesis.record_order import value_order
from unveil.tuning import Setting, Tuning
from unveil.tuning.measure import Measure
from unveil.tuning.setting import DEFAULT, checked_space, drawn_settings

EVERYTHING = unveil.simulate.demo_population(240, seed=3)
PEOPLE = EVERYTHING.select(["sex", "region", "marital", "depress"])
KEYS = ["sex", "region"]
RULES = (Threshold("repU", 20.0), Threshold("DiSCO", 30.0), Threshold("posterior certain", 0.4))
GRID = {"minbucket": [5, 60], "mix": [0.0, 0.2], "m": [1]}


def policy(*rules):
    return Policy("limits", "", rules or RULES)


def tuned(rules=RULES, people=PEOPLE, **options):
    given = {"targets": ["depress", "marital"], "grid": GRID, "seed": 7, "precision": 0.2} | options
    return unveil.tune(people, KEYS, policy=policy(*rules), **given)


@pytest.fixture(scope="module")
def found() -> Tuning:
    return tuned()


def test_the_winner_is_the_most_useful_that_keeps_the_policy(found):
    assert found.winner is not None
    assert found.winner.holds
    assert found.winner.stage == "check"
    assert all(rule.verdict == "within" for rule in found.winner.rules)
    assert (len(found.tried), found.n_possible) == (4, 4)
    finalists = [one for one in found.tried if one.stage == "final" and one.holds]
    assert found.winner.setting in [one.setting for one in finalists]
    assert found.complete
    assert found.in_the_way == ()


def test_figures_are_those_of_releases_made_of_these_seeds(found):
    """One set drawn by hand, with the seeds of the check."""
    winner = found.winner
    figures = []
    for number in range(winner.sets):
        high, low = np.random.SeedSequence(7, spawn_key=(2, number)).generate_state(2, np.uint64)
        ordered = unveil.read(PEOPLE).part(value_order(unveil.read(PEOPLE)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            maker = winner.setting.synthesizer().fit(ordered)
        pair = unveil.Pair(ordered, maker.sample(seed=int(high) << 64 | int(low)))
        risk = unveil.attribute(pair, KEYS, target="depress")
        tables = unveil.utility(pair, measures=["pairs"])
        figures.append((unveil.identity(pair, KEYS).repU, risk.mean["DiSCO"], risk.interval()["DiSCO"].high,
                        tables.mean["TVD_pairs_mean"]))  # fmt: skip
    repu, disco, high, utility = np.array(figures).T
    by_name = {(rule.measure, rule.target): rule for rule in winner.rules}
    assert by_name["repU", None].value == pytest.approx(repu.mean())
    assert by_name["DiSCO", "depress"].value == pytest.approx(disco.mean())
    assert by_name["DiSCO", "depress"].end == pytest.approx(high.max())
    assert winner.utility == pytest.approx(utility.mean())


def test_persons_and_halves_are_drawn_anew_for_every_set_alike_for_all_settings(monkeypatch):
    """A figure of the check rests on none of the random draws of the choice: releases, persons, or halves."""
    drawn = []
    figures_of = Measure.figures_of

    def noted(self, setting, seeds, **options):
        found = figures_of(self, setting, seeds, **options)
        drawn.append((seeds[0], setting, {one["measure"]: one["value"] for one in found["figures"]}))
        return found

    people = []
    posterior = _posterior.posterior

    def asked(*given, **options):
        risk = posterior(*given, **options)
        people.append(tuple(np.sort(risk.posteriors().members).tolist()))
        return risk

    monkeypatch.setattr(Measure, "figures_of", noted)
    monkeypatch.setattr(_posterior, "posterior", asked)
    limits = Threshold("exact membership", 1.0), Threshold("membership AUC", 1.0), Threshold("posterior", 1.0)
    tuned(limits, targets="depress", grid={"minbucket": [20], "mix": [0.0, 0.2], "m": [1]})
    by_set = {seed: {who for (one, *_), who in zip(drawn, people, strict=True) if one == seed} for seed, *_ in drawn}
    assert all(len(persons) == 1 for persons in by_set.values())
    assert len(set().union(*by_set.values())) == len(by_set) == 9
    for measure in ("exact membership", "membership AUC"):
        assert len({figures[measure] for _, setting, figures in drawn if not setting.mix}) > 5


def test_the_posterior_of_merged_levels_is_that_of_the_value_before():
    plain, merged = (
        tuned((Threshold("posterior", 1.0),), grid={"merge": [size], "m": [1]}, tries=1).winner for size in (0, 60)
    )
    of = {rule.target: rule.value for rule in merged.rules}
    # No group is told apart, so nobody's value can be surer than a share of its group.
    assert of["depress"] < {rule.target: rule.value for rule in plain.rules}["depress"]
    assert merged.utility > plain.utility


def test_the_same_seed_gives_the_same_answer_in_any_order_of_records(found):
    shuffled = PEOPLE.take(np.random.default_rng(1).permutation(PEOPLE.num_rows))
    again = tuned(people=shuffled)
    assert again.to_dict() == found.to_dict()
    assert tuned(seed=8).to_dict() != found.to_dict()


@pytest.mark.parametrize("at", [2, 13])
def test_a_search_that_is_continued_ends_as_one_that_was_not_interrupted(found, tmp_path, at):
    def stop(done, total, name):
        if done == at and name != "done":
            raise KeyboardInterrupt

    half = tuned(checkpoint=tmp_path, progress=stop)
    assert half.interrupted
    assert half.winner is None
    assert half.n_sets == at
    assert "interrupted" in str(half)
    assert "The search ended before a setting was found" in str(half)
    assert half.in_the_way == ()
    drawn = []
    whole = tuned(checkpoint=tmp_path, progress=lambda done, total, name: drawn.append(name))
    assert whole.to_dict() == found.to_dict()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert tuned(checkpoint=tmp_path).to_dict() == found.to_dict()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept
    # Other limits take what was measured; another seed or another measure does not.
    stricter = tuned((Threshold("repU", 0.0), *RULES[1:]), checkpoint=tmp_path)
    assert stricter.winner is None
    assert kept.keys() <= set(tmp_path.iterdir())
    before = len(list(tmp_path.iterdir()))
    tuned(checkpoint=tmp_path, tries=1, seed=8)
    tuned(RULES[:1], checkpoint=tmp_path, tries=1)
    assert len(list(tmp_path.iterdir())) > before + 10


def test_a_policy_out_of_reach_names_the_rule():
    found = tuned((Threshold("repU", 20.0), Threshold("DCAP", 0.5, target="marital", note="guideline")))
    assert found.winner is None
    (blocked,) = found.in_the_way
    assert (blocked.rule.rule, blocked.rule.measure, blocked.rule.target) == (2, "DCAP", "marital")
    assert blocked.n_within == 0
    assert blocked.rule.end == min(one.rules[1].end for one in found.tried)
    text = " ".join(str(found).split())
    assert f"the nearest reaches {blocked.rule.end:.4g} %" in text
    assert "No setting in reach satisfies the policy." in text
    assert "rule 2, DCAP marital (at most 0.5 %): No setting meets it; the nearest reaches" in text
    with pytest.raises(CallError, match="no setting"):
        found.synthesizer()


def test_rules_that_only_others_meet_are_both_named():
    """Useful and safe at once is out of reach; either is not."""
    ask = {"grid": {"minbucket": [1, 100], "m": [1]}, "targets": "depress"}
    loose = tuned((Threshold("posterior", 1.0), Threshold("mean TVD", 1.0)), **ask)
    useful, safe = sorted(loose.tried, key=lambda one: one.setting.minbucket)
    between = [(a.end + b.end) / 2 for a, b in zip(useful.rules, safe.rules, strict=True)]
    assert useful.rules[1].end < between[1] < safe.rules[1].end
    found = tuned((Threshold("posterior", between[0]), Threshold("mean TVD", between[1])), **ask)
    assert found.winner is None
    assert [one.n_within for one in found.in_the_way] == [1]
    assert "1 of 2 settings meet it, but not with others" in " ".join(str(found).split())


def test_what_cannot_be_measured_is_no_pass():
    found = tuned((Threshold("posterior", 1.0, target="income"),), targets=["income"], people=EVERYTHING,
                  grid={"smoothing": ["density"], "m": [1]})  # fmt: skip
    assert found.winner is None
    assert found.tried[0].limit_used == math.inf
    assert found.in_the_way[0].rule.verdict == "not measured"
    assert "a lower bound is no figure" in found.warnings[-1]
    assert "it was not measured" in " ".join(str(found).split())


def test_frontier(found):
    points = {(one.limit_used, one.utility): one.frontier for one in found.tried}
    for (used, utility), marked in points.items():
        bettered = any(u <= used and v <= utility and (u, v) != (used, utility) for u, v in points)
        assert marked == (not bettered)


def test_frame_text_and_plot(found):
    table = found.to_frame()
    assert table.num_rows == len(found.tried) + 1
    assert table.column("stage").to_pylist()[-1] == "check"
    assert "rule 2: DiSCO depress end" in table.column_names
    text = " ".join(str(found).split())
    assert f"The most useful setting: {found.winner.setting.in_words(['minbucket', 'mix'])}" in text
    assert "It was chosen among 4 settings." in text
    assert "took no part in the choice" in text
    assert f"{found.n_sets} sets of releases" in text
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = found.plot()
    labels = axes.get_legend_handles_labels()[1]
    assert {"frontier", "policy: at most 1", "winner, fresh releases"} <= set(labels)
    plt.close(axes.figure)


def test_what_may_be_published_is_rounded(found):
    whole, safe = found.to_dict(), found.document()
    assert (whole["release_safe"], safe["release_safe"]) == (False, True)
    exact, rounded = (one["winner"]["rules"][0] for one in (whole, safe))
    step = 5  # ten of 240 persons are 4.2 percent
    assert rounded["value"] % step == rounded["end"] % step == 0
    # Of 25 persons no share but 0 is given: one in five of them would be fewer than ten.
    of_sample = [one for one in safe["winner"]["rules"] if one["measure"] == "posterior certain"]
    assert len(of_sample) == 2
    assert all(one["end"] is None and one["value"] in (None, 0.0) for one in of_sample)
    assert rounded["end"] >= exact["end"]
    assert "n_records" not in json.dumps(safe)
    assert safe["n_original"] == 240
    assert safe["winner"]["limit_used"] is None
    assert safe["policy"]["label"] == "policy of the institution"
    assert 20 * safe["winner"]["utility"] == pytest.approx(round(20 * safe["winner"]["utility"]))
    assert safe["winner"]["utility_high"] >= whole["winner"]["utility_high"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grid": {"minbukket": [5]}}, "no setting 'minbukket'.*minbucket"),
        ({"grid": {"minbucket": 5}}, "takes a list"),
        ({"grid": {"minbucket": [0]}}, "minbucket must"),
        ({"grid": {"mix": [2]}}, "mix must be a number from 0 to 1"),
        ({"grid": {"m": [0]}}, "m must"),
        ({"grid": {}}, "no setting is named"),
        ({"grid": 3}, "by name"),
        ({"utility": "TVD"}, "utility"),
        ({"tries": 0}, "tries"),
        ({"budget": 0}, "budget"),
        ({"measures": ["utility"]}, "there is no 'measures'"),
        ({"seed": None, "checkpoint": "kept"}, "same seed"),
        ({"targets": "depres"}, "depress"),
    ],
)
def test_wrong_calls(options, said):
    with pytest.raises(CallError, match=said):
        tuned(**options)


def test_a_rule_for_what_is_not_assessed_is_refused(tmp_path):
    with pytest.raises(CallError, match="target 'income' is not assessed"):
        tuned((Threshold("DiSCO", 5.0, target="income"),))
    with pytest.raises(FileError):
        unveil.tune(PEOPLE, KEYS, policy=tmp_path / "none.toml", targets="depress")


def test_settings_that_are_drawn():
    space = checked_space(None)
    assert list(space) == list(DEFAULT)
    all_of_them = drawn_settings(space, 10**6, seed=1)
    assert len(set(all_of_them)) == math.prod(len(values) for values in DEFAULT.values())
    some = drawn_settings(space, 30, seed=1)
    assert len(set(some)) == 30
    assert some[0] == Setting(m=1)
    assert some == drawn_settings(space, 30, seed=1) != drawn_settings(space, 30, seed=2)


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked")
def test_command_line(tmp_path, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["unveil", "tune", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as stop:
            return stop.code or 0
        return 0

    original, rules = tmp_path / "o.csv", tmp_path / "p.toml"
    pa.csv.write_csv(PEOPLE, original)
    rules.write_text('[[rule]]\nmeasure = "repU"\nlimit = 50\n')
    asked = [original, "--keys", "sex,region", "--targets", "depress", "--policy", rules, "--seed", 3,
             "--grid", "minbucket=5,minbucket=40,m=1,merge=0,k=none"]  # fmt: skip
    assert call(*asked, "--json", tmp_path / "f.json", "--csv", tmp_path / "f.csv") == 0
    said = json.loads((tmp_path / "f.json").read_text())
    assert (said["measure"], said["release_safe"], len(said["tried"])) == ("Tuning", True, 2)
    table = pa.csv.read_csv(tmp_path / "f.csv")
    assert table.num_rows == 3
    assert set(table.column("rule 1: repU").to_pylist()) <= {float(v) for v in range(0, 100, 5)}
    assert "most useful setting: minbucket 5" in capsys.readouterr().out
    rules.write_text('[[rule]]\nmeasure = "mean TVD"\nlimit = 0.0\n')
    assert call(*asked) == 4
    assert "rule 1, mean TVD" in capsys.readouterr().out
    assert call(original, "--policy", rules) == 2


@pytest.mark.slow
def test_social_diagnosis_with_three_rules(shared):
    """A small budget; the winner's fresh figures keep the rules."""
    rules = (Threshold("repU", 15.0), Threshold("DiSCO", 8.0, target="depress"), Threshold("posterior certain", 0.2))
    found = unveil.tune(
        str(data_file("sd2011_9")), ["sex", "age", "region", "placesize"], targets=["depress", "marital"],
        policy=policy(*rules), budget=240, tries=10, seed=1, special_codes={"income": [-8]},
        grid={"minbucket": [5, 20, 50, 100], "mix": [0, 0.1], "m": [1]},
    )  # fmt: skip
    assert found.winner is not None
    assert all(one.verdict == "within" for one in found.winner.rules)


def test_records_and_noise_are_settings_too():
    ask = {"people": EVERYTHING, "targets": "income", "tries": 4}
    found = tuned(RULES[:1], grid={"k": [None, 30], "smoothing": [None, "density"], "m": [1]}, **ask)
    by_setting = {(one.setting.k, one.setting.smoothing): one for one in found.tried}
    assert len(by_setting) == 4
    # Few records scatter more, and noise moves amounts.
    assert by_setting[30, None].utility > by_setting[None, None].utility
    assert by_setting[None, "density"].utility != by_setting[None, None].utility
    assert found.winner.setting.k is None
