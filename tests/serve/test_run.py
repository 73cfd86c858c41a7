"""The assessment itself: it is that of the command line, it can be stopped, and what it found is kept."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pytest

pytest.importorskip("starlette", reason="the page needs Starlette")

from unveil import Pair
from unveil.demo import keep
from unveil.errors import CallError
from unveil.serve import worker
from unveil.serve.plan import Plan
from unveil.serve.run import Run
from unveil.simulate import demo_population

QUICK = {"keys": ["sex", "age"], "targets": ["marital"], "measures": ["identity", "attribute"], "seed": 3}
READING = {"special_codes": {"income": [-8]}, "kinds": {"depress": "categorical"}}


@pytest.fixture
def files(survey: Path) -> dict[str, tuple[Path, ...]]:
    return {"original": (survey / "original.csv",), "synthetic": (survey / "release.csv",)}


def told_by(plan: Plan) -> list[tuple[str, Any]]:
    told: list[tuple[str, Any]] = []
    worker.run(plan, lambda what, content: told.append((what, content)))
    return told


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    parts = [{name: value for name, value in part.items() if name != "seconds"} for part in found["parts"]]
    provenance = {name: value for name, value in found["provenance"].items() if name not in ("created", "wall_seconds")}
    # The summary for everybody is rounded at random, anew each time.
    own = ("unveil", "measure", "confidential", "public_summary")
    return {name: value for name, value in found.items() if name not in own} | {
        "parts": parts, "provenance": provenance,
    }  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of what a plan can name: a synthetic file with its provenance and schema, households, a policy."""
    folder = tmp_path_factory.mktemp("study")
    keep(folder, demo_population(200, 1), {}, 1)
    csv.write_csv(demo_population(60, 5), folder / "never_seen.csv")
    for seed in (1, 2):
        csv.write_csv(demo_population(200, seed, households=True), folder / f"homes{seed}.csv")
    (folder / "policy.toml").write_text('[[rule]]\nmeasure = "repU"\nlimit = 1\n')
    return folder


def plan_of(study: Path, name: str) -> Plan:
    synthetic = {"original": (study / "original.csv",), "synthetic": (study / "CART.csv",),
                 "provenance": (study / "CART.provenance.json",)}  # fmt: skip
    homes = {"original": (study / "homes1.csv",), "synthetic": (study / "homes2.csv",)}
    others = {"holdout": (study / "never_seen.csv",), "policy": (study / "policy.toml",)}
    membership = {**QUICK, "measures": ["identity", "membership"], "budget": 5.0}
    cut = {"keys": ["sex", "age"], "targets": ["income"], "measures": ["identity", "attribute"],
           "ngroups_keys": {"age": 4}, "ngroups_target": {"income": 5}}  # fmt: skip
    return {
        "for publication": Plan(homes, READING, QUICK),
        "confidential": Plan(homes, READING, QUICK, release_safe=False),
        "provenance, held-out records and policy": Plan(synthetic | others, {}, membership, holdout_unseen=True),
        "other than in the provenance": Plan(synthetic, {"kinds": {"depress": "categorical"}}, QUICK),
        "units": Plan(homes, {"unit": ["household"], "missing": ["NO"]}, QUICK),
        "weights and groups": Plan(homes, {"weights": "household_size", "population": 9000}, cut),
    }[name]


@pytest.mark.slow
@pytest.mark.filterwarnings("default::unveil.errors.UnveilWarning")
@pytest.mark.parametrize(
    "name",
    ["for publication", "confidential", "provenance, held-out records and policy", "other than in the provenance",
     "units", "weights and groups"],
)  # fmt: skip
def test_the_command_that_is_shown_does_the_same(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    from unveil.cli import main

    plan = plan_of(study, name)
    pages = [content["documents"] for what, content in told_by(plan) if what == "page"]
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(plan.scenario(), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", plan.command().split())
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    of_command = json.loads(Path("assessment.json").read_text(encoding="utf-8"))
    of_page = json.loads(pages[-1]["assessment.json"])
    assert of_page["release_safe"] is plan.release_safe
    assert without_times(of_page) == without_times(of_command)


def test_every_page_passes_the_gate(files: Any):
    told = told_by(Plan(files, READING, QUICK))
    pages = [content["documents"] for what, content in told if what == "page"]
    assert pages
    for page in pages:
        assert json.loads(page["assessment.json"])["release_safe"] is True
        assert "confidential: not for release" not in page["report.html"]
        assert set(page) == {"report.html", "report.md", "assessment.json", "summary.html"}
    assert told[-1] == ("done", None)
    assert any(what == "progress" for what, _ in told)


def test_the_scenario_calls_copies_by_their_names(tmp_path: Path):
    copies = tmp_path / "private"
    plan = Plan({"original": (copies / "original" / "o.csv",), "synthetic": (Path("/data/a.csv"), copies / "b.csv")})
    said = plan.scenario(copies)
    assert 'original = "o.csv"' in said
    assert f'synthetic = [{json.dumps(str(Path("/data/a.csv")))}, "b.csv"]' in said
    assert str(tmp_path) not in said


def test_a_scenario_with_every_option_is_read_back(tmp_path: Path):
    from dataclasses import fields

    from unveil.assessment.scenario import Options, read_scenario

    plan = Plan(
        {"original": (tmp_path / 'o "1".csv',), "synthetic": (tmp_path / "ä.csv",)},
        {"special_codes": {"in come": [-8, 0.5]}, "missing": ["NA", "\t"], "weights": "w", "unit": ["a", "b"]},
        {"keys": ['a"b', "c\\d"], "targets": ["x"], "ngroups_keys": {"a": 3}, "budget": 60, "models": ["y ~ x"]},
        holdout_unseen=True,
    )
    path = tmp_path / "scenario.toml"
    path.write_text(plan.scenario(), encoding="utf-8")
    found = read_scenario(path, ["holdout_unseen", *(option.name for option in fields(Options))])
    assert found.pop("original") == tmp_path / 'o "1".csv'
    assert found.pop("synthetic") == tmp_path / "ä.csv"
    assert found == {**plan.options, **plan.reading, "holdout_unseen": True}


def test_an_error_is_one_line(files: Any):
    told = told_by(Plan(files, {}, {"keys": ["nothing"]}))
    assert [what for what, _ in told] == ["error"]
    assert "nothing" in told[0][1]


def test_an_unforeseen_error_is_told_without_its_text(files: Any, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: Any) -> Any:
        raise KeyError("Anna, born 1971")

    monkeypatch.setattr(Plan, "pair", fails)
    ((what, said),) = told_by(Plan(files, {}, QUICK))
    assert what == "error"
    assert "KeyError in test_run.py" in said
    assert "Anna" not in said


def test_the_seed_of_the_synthesis_is_not_to_stand_in_a_report(tmp_path: Path):
    keep(tmp_path, demo_population(60, 1), {}, 5)
    files = {"original": (tmp_path / "original.csv",), "synthetic": (tmp_path / "CART.csv",),
             "provenance": (tmp_path / "CART.provenance.json",)}  # fmt: skip
    pair = Pair(tmp_path / "original.csv", tmp_path / "CART.csv")
    with pytest.raises(CallError, match=r"^seed is that of the synthesis"):
        Plan(files, {}, {"keys": ["sex"], "targets": ["marital"], "seed": 5}).check(pair)
    Plan(files, {}, {"keys": ["sex"], "targets": ["marital"], "seed": 6}).check(pair)


def until(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_work_is_stopped_and_the_page_so_far_is_kept(files: Any, browser: Any, desk: Any):
    """The posterior of everybody takes longer than the first page."""
    slow = {"keys": ["sex", "age"], "targets": ["marital"], "budget": 600.0, "permutations": 5000, "attacker": "rf"}
    desk.run = Run(Plan(files, READING, slow))
    until(lambda: desk.run.documents)
    assert desk.run.status == "running"
    assert browser.get("/report").headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert browser.post("/stop").status == 303
    assert desk.run.status == "stopped"
    assert desk.run._process.poll() is not None
    page = browser.get("/run").text
    assert "Stopped after" in page
    for name in ("report.html", "assessment.json", "scenario.toml"):
        answer = browser.get(f"/save/{name}")
        assert answer.status == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert desk.run.saved == {"report.html", "assessment.json", "scenario.toml"}
    for name in ("../report.html", "..%2fdesk.py", "report.html%00", "original.csv"):
        assert browser.get(f"/save/{name}").status == 404


def test_one_assessment_at_a_time(browser: Any, desk: Any, survey: Path):
    browser.post("/files", {"original": survey / "original.csv", "synthetic": survey / "release.csv"})

    class Busy:
        status = "running"

        def stop(self) -> None: ...

    desk.run = Busy()
    form = [("role.0", "key"), ("role.1", "target"), ("measures", "identity"), ("intruders", "release")]
    answer = browser.post("/question", form)
    assert answer.status == 422
    assert "an assessment is running" in answer.text


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")
def test_a_process_that_the_system_ends_is_an_error(files: Any):
    run = Run(Plan(files, READING, QUICK))
    os.kill(run._process.pid, signal.SIGKILL)
    run.wait(20)
    assert run.status == "failed"
    assert "too little memory" in run.error


@pytest.mark.slow
def test_the_work_ends_with_the_program(files: Any):
    """Also where the program had no time to end it."""
    run = Run(Plan(files, READING, {**QUICK, "measures": ["inference"], "permutations": 100000}))
    until(lambda: run.total)
    assert run._process.stdin is not None
    run._process.stdin.close()
    assert run._process.wait(20) == 1
