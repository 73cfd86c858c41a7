"""The intervals of an assessment: both kinds, each with what it is over, in every document."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
from typing import Any

import pytest

import unveil
from unveil.assessment.figure import OF_PROCESS
from unveil.assessment.repetitions import Repetitions
from unveil.assessment.scenario import Options, Scenario

KEYS, TARGET = ["sex", "age", "region"], "marital"
OPTIONS: dict[str, Any] = {
    "targets": TARGET, "measures": ["identity", "attribute", "inference"], "attacker": "cart", "permutations": 5,
    "budget": 60, "seed": 1,
}  # fmt: skip
COLUMNS = ["sex", "age", "region", "marital"]


@pytest.fixture(scope="module")
def people() -> Any:
    return unveil.simulate.demo_population(150, seed=1).select(COLUMNS)


@pytest.fixture(scope="module")
def synthesizer(people: Any) -> Any:
    return unveil.CartSynthesizer(n_jobs=1).fit(people)


def of(found: Any) -> dict[str, dict[str, Any]]:
    return {one["measure"]: one for one in found.to_dict()["figures"]}


def documents(found: Any) -> list[str]:
    return [
        " ".join(text.replace("\u00a0", " ").split()) for text in (str(found), found.to_markdown(), found.to_html())
    ]


def assessed(people: Any, maker: Any, m: int, **options: Any) -> Any:
    pair = unveil.Pair(people, [maker.sample(seed=1 + i) for i in range(m)])
    return unveil.assess(pair, KEYS, **(OPTIONS | options))


def test_one_release_alone_has_none_of_the_process_and_says_why(people: Any, synthesizer: Any) -> None:
    found = assessed(people, synthesizer, 1)
    for name, figure in of(found).items():
        assert figure["over"] == "this release"
        assert figure["process_low"] is figure["process_high"] is None
        assert "one release does not show how releases differ" in figure["process_undefined"], name
    assert set(OF_PROCESS) == set(of(found))
    for text in documents(found):
        assert "this release" in text
    reason = found.figure("repU").process_undefined
    (option,) = re.findall(r"unveil assess (--\w+)", reason)
    assert (
        option
        in subprocess.run(
            [sys.executable, "-m", "unveil.cli", "assess", "--help"], capture_output=True, text=True, check=True
        ).stdout
    )
    (argument,) = re.findall(r"unveil\.assess\(\.\.\., (\w+)=", reason)
    assert argument in inspect.signature(unveil.assess).parameters
    shown, _, page = documents(found)
    assert "Not defined for repU, DiSCO, DCAP, RAPID: one release does not show how releases differ" in shown
    assert "95 % interval, the process: not defined, one release does not show how releases differ" in page
    for point in found.to_dict()["targets"][0]["curve"]["points"]:
        assert point["process_low"] is None


def test_several_releases_have_both(people: Any, synthesizer: Any) -> None:
    found = assessed(people, synthesizer, 3)
    pair = unveil.Pair(people, [synthesizer.sample(seed=1 + i) for i in range(3)])
    direct = unveil.attribute(pair, KEYS, target=TARGET).interval("process")
    for name, figure in ((n, found.figure(n, None if n == "repU" else TARGET)) for n in OF_PROCESS):
        assert figure.process_undefined is None
        assert 0 <= figure.process_low <= figure.value <= figure.process_high
        assert figure.process_low < figure.process_high, name
    assert found.figure("DiSCO", TARGET).process_high == pytest.approx(direct["DiSCO"].high)
    assert "95 % interval, the process: " in documents(found)[2]
    frame = found.to_frame()
    assert {"over", "process_low", "process_high"} <= set(frame.column_names)


def test_with_the_synthesizer_one_release_has_both(people: Any, synthesizer: Any) -> None:
    found = assessed(people, synthesizer, 1, synthesizer=synthesizer)
    pair = unveil.Pair(people, synthesizer.sample(seed=1))
    again = Repetitions(pair, Scenario.of(pair, Options(KEYS, **OPTIONS)), synthesizer)
    assert again.halves is not None
    assert len(again.halves) == 20
    own = unveil.identity(pair, KEYS).interval("process", halves=again.halves)
    figure = found.figure("repU")
    assert (figure.process_low, figure.process_high) == pytest.approx((own.low, own.high))
    tables = unveil.attribute(pair, KEYS, target=TARGET).interval("process", halves=again.halves)
    for name, table in (("DiSCO", "DiSCO"), ("DCAP", "DCAPd")):
        figure = found.figure(name, TARGET)
        assert (figure.process_low, figure.process_high) == pytest.approx((tables[table].low, tables[table].high))
    assert found.figure("RAPID", TARGET).process_undefined is None
    curve = found.to_dict()["targets"][0]["curve"]["points"]
    assert all(point["process_low"] is not None for point in curve)


def test_without_time_the_synthesizer_is_not_fitted_again(people: Any, synthesizer: Any) -> None:
    pair = unveil.Pair(people, synthesizer.sample(seed=1))
    poor = Repetitions(pair, Scenario.of(pair, Options(KEYS, **(OPTIONS | {"budget": 1e-3}))), synthesizer)
    assert poor.halves is poor.resamples is None
    assert poor.reason is not None
    assert "raise the budget" in poor.reason
    assert poor.reason.public == "the synthesizer was not fitted again"


def test_a_process_interval_is_rounded_outward_for_publication(people: Any, synthesizer: Any) -> None:
    found = assessed(people, synthesizer, 3)
    published = {one["measure"]: one for one in found.to_dict()["figures"]}
    for name in OF_PROCESS:
        inside = found.figure(name, None if name == "repU" else TARGET)
        assert published[name]["process_low"] <= inside.process_low + 1e-12
        assert published[name]["process_high"] >= inside.process_high - 1e-12
        assert math.isfinite(published[name]["process_high"])
