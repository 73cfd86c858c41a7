"""`unveil cross-validation`: RAPID of a synthesizer over folds, on the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the verb in a folder with a file of simulated persons."""
    monkeypatch.chdir(tmp_path)
    csv.write_csv(unveil.simulate.rapid_population(120, kappa=10, seed=1), "o.csv")

    def call(words: str) -> tuple[int, str, str]:
        return called(["cross-validation", *shlex.split(words)], monkeypatch, capsys)

    return call


ASKED = "o.csv --keys age,income --target disease_status --attacker cart --folds 2 --seed 3"


def test_the_verb_says_what_the_function_finds(run: Run):
    status, out, err = run(f"{ASKED} --tau 0.2 --minbucket 20 --json a.json --csv a.csv")
    assert (status, err) == (0, "")
    found = unveil.rapid_synthesizer_cv(
        "o.csv", unveil.CartSynthesizer(minbucket=20), ["age", "income"], target="disease_status", attacker="cart",
        folds=2, seed=3, tau=0.2,
    )  # fmt: skip
    assert out.rstrip("\n") == str(found)
    told = json.loads(Path("a.json").read_text())
    assert told["held_out"] == list(found.held_out)
    assert told["release_safe"] is False
    assert unveil.read("a.csv").column("in_sample").to_pylist() == pytest.approx(found.in_sample)


def test_a_program_and_a_name_are_synthesizers(run: Run):
    Path("copy.sh").write_text('cp "$1" "$2"\n')
    status, out, _ = run(f'{ASKED} --synthesizer-command "sh {Path("copy.sh").resolve()} {{in}} {{out}}"')
    assert status == 0, out
    assert run(f"{ASKED} --synthesizer sample")[0] == 0
    assert "there is no 'carts'" in run(f"{ASKED} --synthesizer carts")[2]
    assert "only cart has trees" in run(f"{ASKED} --synthesizer sample --minbucket 5")[2]


def test_progress_counts_the_folds():
    people = unveil.simulate.rapid_population(60, kappa=10, seed=1)
    told: list[tuple[int, int]] = []
    unveil.rapid_synthesizer_cv(
        people, lambda frame: frame, "age", target="disease_status", attacker="cart", folds=2, repeats=2,
        progress=lambda done, total, _: told.append((done, total)),
    )  # fmt: skip
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("o.csv --keys age --target ill", "has no column 'ill'"),
        (
            "o.csv --keys ages --target disease_status --attacker cart --folds 2",
            "the original has no column 'ages'; did you",
        ),
        ("o.csv --keys age --target disease_status --folds 1", "folds"),
        ("none.csv --keys age --target disease_status", "none.csv"),
    ],
)
def test_a_wrong_call_is_one_line(run: Run, words: str, message: str):
    status, out, err = run(words)
    assert status in (1, 2)
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_more_folds_than_records_are_refused():
    people = pa.table({"k": ["a", "b", "a"], "t": ["x", "y", "x"]})
    with pytest.raises(unveil.CallError, match=r"^4 folds need as many records, and the original has 3; ask for fewer"):
        unveil.rapid_synthesizer_cv(people, lambda frame: frame, ["k"], target="t", folds=4)
