"""`unveil conformance`: the trials of built-in measures on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        return called(["conformance", *words], monkeypatch, capsys)

    return call


def test_the_verb_says_what_the_function_finds(run: Run):
    trials = ["independence", "certain disclosure, alone"]
    status, out, err = run(
        "--measures", "repU,DiSCO", "--trials", trials[0], "--trials", trials[1], "--replicates", "3", "--seed", "4",
        "--json", "a.json", "--csv", "a.csv",
    )  # fmt: skip
    assert (status, err) == (0, "")
    found = unveil.conformance(["repU", "DiSCO"], trials=trials, replicates=3, seed=4)
    assert out.rstrip("\n") == str(found)
    told = json.loads(Path("a.json").read_text())
    assert told["verdicts"] == {name: dict(row) for name, row in found.verdicts.items()}
    rows = unveil.read("a.csv")
    assert rows.column("mean").to_pylist() == found.to_frame("arrow").column("mean").to_pylist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measures", "repu"], "there is no measure 'repu'"),
        (["--trials", "none"], "there is no trial 'none'"),
        (["--replicates", "2"], "replicates"),
        (["--plot-trial", "independence"], "name the file with --plot"),
        (["--plot-trial", "none", "--plot", "a.png"], "'none' is not tried"),
    ],
)
def test_a_wrong_call_is_one_line(run: Run, words: list[str], message: str):
    pytest.importorskip("matplotlib")
    status, out, err = run(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_one_trial_is_drawn_alone(run: Run):
    pytest.importorskip("matplotlib")
    words = ["--measures", "repU", "--replicates", "3", "--trials", "independence", "--trials", "constant target"]
    assert run(*words, "--plot", "all.png")[0] == 0
    assert run(*words, "--plot", "one.png", "--plot-trial", "independence")[0] == 0
    assert Path("one.png").read_bytes() != Path("all.png").read_bytes()
