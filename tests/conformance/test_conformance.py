"""Measures of one's own, run through the worlds: what comes out, in what form, and what is refused."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._conformance import BUILT_IN, DESIDERATA, TRIALS, Conformance, Measure, Trial, World, conformance, measures
from unveil.errors import CallError

FAST = ["growing noise", "independence", "same pattern, different process"]
ALL_PASS = dict.fromkeys(DESIDERATA, "pass")


def oracle(world: World) -> float:
    return world.gain


def unknown(rng: np.random.Generator) -> Sequence[World]:
    people = pa.table({"k": ["a"], "t": ["x"]})
    return [World(label, people, (people,), None, ("k",), "t", (0,)) for label in ("one", "two")]


@pytest.fixture(scope="module")
def plain() -> Conformance:
    """Measures that need no computing, through all worlds."""
    return conformance({
        "oracle": oracle,
        "half": lambda world: 0.5,
        "alarm": lambda world: 1.0,
        "opposite": lambda world: (1 - world.gain) / 2,
        "squared": lambda world: world.gain * abs(world.gain),
        "timid": lambda world: 0.3 * world.gain,
        "deaf": lambda world: math.nan,
    })  # fmt: skip


def test_who_knows_the_gain_passes_all(plain: Conformance) -> None:
    assert plain.verdicts["oracle"] == ALL_PASS
    assert not any(e.verdict != "pass" for e in plain.evidence if e.measure == "oracle")


def test_a_constant_neither_detects_nor_tells_apart(plain: Conformance) -> None:
    """It never rises nor falls, so that D2 and D3 cannot reject it."""
    assert plain.verdicts["half"] == {"D1": "fail", "D2": "pass", "D3": "pass", "D4": "fail", "D5": "fail"}
    assert [e.trial for e in plain.breaking("half", "D4")] == ["same pattern, different process"]


def test_always_alarmed_is_broken_by_consistency_alone(plain: Conformance) -> None:
    assert plain.verdicts["alarm"] == {**ALL_PASS, "D4": "fail"}


def test_the_opposite_of_risk_fails_all(plain: Conformance) -> None:
    assert set(plain.verdicts["opposite"].values()) == {"fail"}
    for name in DESIDERATA:
        assert len(plain.breaking("opposite", name)) >= len(plain.of("opposite", name)) - 1


def test_understating_is_false_reassurance(plain: Conformance) -> None:
    assert plain.verdicts["timid"] == {**ALL_PASS, "D1": "fail", "D5": "fail"}
    assert all(e.verdict == "fail" for e in plain.of("timid", "D5"))


def test_any_increasing_scale_keeps_the_order(plain: Conformance) -> None:
    assert {**plain.verdicts["squared"], "D5": "pass"} == ALL_PASS


def test_no_reading_is_not_applicable_everywhere(plain: Conformance) -> None:
    assert set(plain.verdicts["deaf"].values()) == {"not applicable"}


def test_a_measure_that_applies_to_some_trials_is_judged_by_these() -> None:
    found = conformance({"some": lambda w: math.nan if "coin" in w.label else w.gain}, trials=FAST, replicates=3)
    assert found.verdicts["some"]["D4"] == "pass"
    assert [e.verdict for e in found.of("some", "D4")] == ["not applicable", "pass"]


@pytest.mark.parametrize("name", ["repU", "DiSCO", "DCAP", "Bayesian"])
def test_built_in_readings_are_the_public_figures(name: str) -> None:
    """With all persons under attack a reading is the file's figure."""
    for world in TRIALS[6].make(np.random.default_rng(3)):
        pair = unveil.Pair(world.original, list(world.releases))
        risk = unveil.attribute(pair, list(world.keys), target=world.target)
        base = risk.mean["baseCAPd"]
        expected = {
            "repU": lambda: unveil.identity(pair, list(world.keys)).repU / 100,  # noqa: B023
            "DiSCO": lambda: risk.DiSCO / 100,  # noqa: B023
            "DCAP": lambda: (risk.DCAPd - base) / (100 - base),  # noqa: B023
            "Bayesian": lambda: world.gain,  # noqa: B023
        }[name]()
        assert BUILT_IN[name].function(world) == pytest.approx(expected, abs=1e-9)


def test_bayesian_reading_is_the_gain_in_every_world() -> None:
    """The general code against the formula of each world."""
    for trial in TRIALS:
        for world in trial.make(np.random.default_rng(11)):
            assert BUILT_IN["Bayesian"].function(world) == pytest.approx(world.gain, abs=1e-9), (
                trial.name,
                world.label,
            )


def test_rapid_readings_are_the_public_figures() -> None:
    world = TRIALS[6].make(np.random.default_rng(3))[1]
    rate = BUILT_IN["RAPID rate"].function(world)
    found = unveil.rapid(world.pair, list(world.keys), target=world.target, permutations=1, ceiling=False)
    assert rate == pytest.approx(found.rate)
    null = found.attacks[0]["null_mean"]
    assert BUILT_IN["RAPID excess"].function(world) == pytest.approx((rate - null) / (1 - null))


def test_membership_readings_are_the_public_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    room = pytest.importorskip("unveil._membership")
    monkeypatch.setattr(measures, "ATTACKS", ("dcr",))
    for world in TRIALS[2].make(np.random.default_rng(0)):
        found = room.membership(world.pair, world.holdout, holdout_unseen=True, attacks="dcr")
        assert BUILT_IN["membership"].function(world) == pytest.approx(2 * found.auc - 1)
    assert math.isnan(BUILT_IN["membership"].function(replace(world, holdout=None)))


def test_persons_under_attack_are_the_ones_that_count() -> None:
    """A record whose flag is known by hand: alone in both files, and right."""
    original = pa.table({"k": ["a", "b", "b"], "t": ["x", "x", "y"]})
    release = pa.table({"k": ["a", "b", "b"], "t": ["x", "x", "x"]})
    readings = {}
    for record in range(3):
        world = World("w", original, (release,), None, ("k",), "t", (record,))
        readings[record] = [BUILT_IN[name].function(world) for name in ("repU", "DiSCO", "DCAP")]
    # baseCAPd = (2/3)^2 + (1/3)^2 = 5/9; ps = 1, 1, 0.
    assert readings == {0: [1, 1, pytest.approx(1)], 1: [0, 1, pytest.approx(1)], 2: [0, 0, pytest.approx(-5 / 4)]}
    assert math.isnan(BUILT_IN["Bayesian"].function(world))


def test_same_seed_same_result_and_trials_do_not_depend_on_each_other() -> None:
    all_of_them = conformance({"oracle": oracle}, trials=FAST, replicates=3, seed=4)
    again = conformance({"oracle": oracle}, trials=FAST, replicates=3, seed=4)
    alone = conformance({"oracle": oracle}, trials=FAST[1:2], replicates=3, seed=4)
    other = conformance({"oracle": oracle}, trials=FAST, replicates=3, seed=5)
    assert all_of_them.evidence == again.evidence
    assert alone.evidence[0] in all_of_them.evidence
    assert all_of_them.evidence != other.evidence


def test_a_failure_names_the_trial_its_worlds_and_two_figures(plain: Conformance) -> None:
    (evidence,) = plain.breaking("half", "D4")
    assert evidence.compared == ("drawn from the records", "made without them")
    assert evidence.figures == (0.5, 0.5)
    text = str(plain)
    assert "same pattern, different process: 0.500 at drawn from the records, 0.500 at made without them" in text
    assert "fail 1/2" in text
    for trial in TRIALS:
        broken = any(e.verdict == "fail" and e.trial == trial.name for e in plain.evidence)
        assert broken == (f"    {trial.name}: " in text)
    assert max(map(len, text.splitlines())) < 140


def test_dict_is_json_and_frame_has_a_row_per_world(plain: Conformance, flavour: str) -> None:
    found = json.loads(json.dumps(plain.to_dict(), allow_nan=False))
    assert found["verdicts"]["alarm"]["D4"] == "fail"
    assert len(found["evidence"]) == len(plain.measures) * len(TRIALS)
    assert found["replicates"] == 10
    table = plain.to_frame(flavour)
    rows = table if isinstance(table, pa.Table) else pa.table(table)
    assert rows.num_rows == sum(len(e.worlds) for e in plain.evidence)
    first = [row for row in rows.to_pylist() if row["measure"] == "oracle"]
    assert len(first) == rows.num_rows / len(plain.measures)
    assert all(row["mean"] == pytest.approx(row["gain"]) for row in first)


def test_plots_draw_every_reading(plain: Conformance) -> None:
    axes = np.ravel(plain.plot())
    drawn = [ax for ax in axes if ax.has_data()]
    assert len(drawn) == len(TRIALS)
    one = plain.plot("growing noise")
    assert [text.get_text() for text in one.get_legend().get_texts()] == ["what is learnt", *plain.verdicts]
    expected = next(e for e in plain.evidence if (e.measure, e.trial) == ("oracle", "growing noise"))
    heights = [list(line.get_ydata()) for line in one.lines]
    assert list(expected.means) in heights
    given = plt.subplots()[1]
    assert plain.plot("independence", given) is given
    plt.close("all")
    with pytest.raises(CallError, match="was not run"):
        plain.plot("no such trial")


def test_trials_of_ones_own_with_a_reading_in_percent() -> None:
    """Certain disclosure by copying, in the user's own file."""

    def copied(rng: np.random.Generator) -> Sequence[World]:
        people = pa.table({"k": ["a", "b", "c"], "t": rng.permutation(["x", "y", "z"]).tolist()})
        return [World("copied", people, (people,), None, ("k",), "t", (0, 1, 2), 1.0)]

    trial = Trial("copying", "D1", "maximum", copied, "the release is the original")

    def disco(world: World) -> float:
        return unveil.attribute(world.pair, list(world.keys), target=world.target).DiSCO

    assert conformance(disco, maximum=100, trials=[trial], replicates=3).verdicts == {"disco": {"D1": "pass"}}
    assert conformance(disco, maximum=101, trials=[trial], replicates=3).verdicts == {"disco": {"D1": "fail"}}
    found = conformance(["Bayesian", "DiSCO"], trials=[trial], replicates=3)
    assert found.verdicts == {"Bayesian": {"D1": "not applicable"}, "DiSCO": {"D1": "pass"}}


def test_the_room_is_the_function() -> None:
    found = unveil.conformance(oracle, trials="independence", replicates=3)
    assert isinstance(found, unveil.Conformance)
    assert found.verdicts == {"oracle": {"D4": "pass"}}


def test_the_room_is_there_at_first_sight() -> None:
    """What is asked for first must not decide whether it is a function or a room."""
    code = "import unveil; from unveil.conformance import TRIALS; print(len(TRIALS), callable(unveil.conformance))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(TRIALS)), "True"]


def test_progress_counts_drawings() -> None:
    seen: list[tuple[int, int, str]] = []
    conformance(oracle, trials=FAST[:2], replicates=3, progress=lambda *step: seen.append(step))
    assert [step[0] for step in seen] == list(range(1, 7))
    assert {step[1] for step in seen} == {6}
    assert [step[2] for step in seen] == [FAST[0]] * 3 + [FAST[1]] * 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"measure": "DISCO"}, "no measure 'DISCO'.*DiSCO"),
        ({"measure": []}, "no measure is given"),
        ({"measure": {"x": 3}}, "'x' is not a function"),
        ({"measure": [oracle, oracle]}, "two measures are called 'oracle'"),
        ({"measure": oracle, "maximum": math.nan}, "maximum must be a number"),
        ({"measure": oracle, "replicates": 2}, "replicates must be a whole number from 3"),
        ({"measure": oracle, "seed": -1}, "seed must be a whole number from 0"),
        ({"measure": oracle, "trials": ["independance"]}, "no trial 'independance'.*independence"),
        ({"measure": oracle, "trials": []}, "no trial is given"),
        ({"measure": lambda world: "high", "trials": FAST}, "returned 'high'.*return a number"),
        ({"measure": lambda world: None, "trials": FAST}, "returned None"),
        ({"measure": lambda world: 45.0, "trials": FAST}, "returned 45.*above its maximum 1; say with maximum="),
        ({"measure": lambda world: math.inf, "trials": FAST}, "has to be bounded"),
        ({"measure": oracle, "trials": [Trial("t", "D9", "equal", lambda rng: [], "")]}, "one of D1, D2"),
        ({"measure": oracle, "trials": [Trial("t", "D2", "equal", lambda rng: [], "")]}, "made 0 world"),
        ({"measure": oracle, "trials": [Trial("t", "D5", "not low", unknown, "")]}, "'t'.*gain of every world"),
    ],
)
def test_wrong_calls_are_refused_in_a_line(call: dict[str, Any], text: str) -> None:
    with pytest.raises(CallError, match=text) as raised:
        conformance(**call)
    assert "\n" not in str(raised.value)


def test_errors_of_a_measure_are_not_swallowed() -> None:
    def broken(world: World) -> float:
        raise ZeroDivisionError(world.label)

    with pytest.raises(ZeroDivisionError, match="noise 0"):
        conformance(broken, trials="growing noise")


def test_a_measure_object_keeps_its_own_maximum() -> None:
    percent = Measure("percent", lambda world: 100 * world.gain, 100.0)
    found = conformance([percent, oracle], trials=["certain disclosure, alone"], replicates=3)
    assert found.verdicts == {"percent": {"D1": "pass"}, "oracle": {"D1": "pass"}}


@pytest.mark.filterwarnings(r"ignore:\d+ of the candidates hold a value:unveil.errors.UnveilWarning")
@pytest.mark.parametrize(
    "trial", [trial for trial in TRIALS if trial.desideratum == "D1"], ids=lambda trial: trial.name
)
def test_the_certain_world_is_certain_for_exact_membership(trial):
    for world in trial.make(np.random.default_rng(7)):
        found = unveil.exact_membership(
            world.pair, world.synthesizer, candidates=world.holdout, records=world.records, check_settings=False
        )
        assert (found.n_games, found.share_right, found.share_certain) == ((1, 0), 1.0, 1.0)
        assert BUILT_IN["exact membership"].function(world) == 1.0
        assert math.isnan(BUILT_IN["exact membership"].function(replace(world, holdout=None)))
