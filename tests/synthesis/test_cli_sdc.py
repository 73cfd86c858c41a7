"""`unveil sdc`: steps of disclosure control on a file, each with its report."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import unveil
from command_line import called

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
Run = Callable[[str], tuple[int, str, str]]

ORIGINAL = ["sex,age,income,region", "f,30,100,n", "f,30,150,n", "m,41,-8,s", "m,52,900,w"]
RELEASE = ["sex,age,income,region", "f,30,100,n", "m,41,-8,n", "m,52,9000,n", "f,30,,e", "m,17,250,s"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `unveil sdc` in a folder with an original and a release."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("o.csv", ORIGINAL), ("s.csv", RELEASE)):
        Path(name).write_text("\n".join([*lines, ""]))

    def call(words: str) -> tuple[int, str, str]:
        return called(["sdc", *words.split()], monkeypatch, capsys)

    return call


def column(name: str, path: str = "new.csv") -> list[object]:
    return list(unveil.read(path).column(name).to_pylist())


def test_steps_are_taken_in_their_order_and_each_is_reported(run: Run):
    status, out, err = run(
        "s.csv -o new.csv --special-codes income=-8 --label synthetic --top-code income=1000 --bottom-code age=18 "
        "--merge-rare-levels region=2 --drop-replicated-uniques sex,age --original o.csv --json steps.json"
    )
    assert (status, err) == (0, "written: new.csv\n")
    # (m, 41) and (m, 52) are unique in both files.
    assert column("sex") == ["f", "f", "m"]
    assert column("age") == [30, 30, 18]
    assert column("income") == [100, None, 250]
    assert column("region") == ["n", "other", "other"]
    assert column("synthetic_label") == ["synthetic"] * 3
    told = json.loads(Path("steps.json").read_text())
    assert [(step["action"], step["n_changed"]) for step in told["steps"]] == [
        ("bottom_code", 1), ("top_code", 1), ("merge_rare_levels", 2), ("drop_replicated_uniques", 2), ("label", 3),
    ]  # fmt: skip
    assert {step["data"] for step in told["steps"]} == {"s.csv"}
    assert told["release_safe"] is False
    assert "2 of 5 records replicated" in " ".join(out.split())
    assert unveil.identity(unveil.Pair("o.csv", "new.csv"), ["sex", "age"]).repU == 0
    assert stat.S_IMODE(os.stat("new.csv").st_mode) == 0o600


def test_a_special_code_and_a_gap_are_no_amounts(run: Run):
    assert run("s.csv -o new.csv --special-codes income=-8 --bottom-code income=200 --top-quantile income=0.5")[0] == 0
    assert column("income") == [200, -8, 250, None, 250]


def test_noise_with_a_seed_is_that_of_the_function(run: Run):
    assert run("s.csv -o new.csv --special-codes income=-8 --smooth income=50 --seed 7")[0] == 0
    expected, _ = unveil.sdc.smooth(unveil.read("s.csv"), "income", 7, bandwidth=50, special_codes={"income": [-8]})
    assert column("income") == list(unveil.read(expected).column("income").to_pylist())
    assert column("income") != column("income", "s.csv")


def test_levels_are_of_the_type_of_their_column(run: Run):
    assert run("s.csv -o new.csv --merge-rare-levels age=2,region=2 --into age=99,region=99")[0] == 0
    assert column("age") == [30, 99, 99, 30, 99]
    assert unveil.read("new.csv", kinds={"region": "categorical"}).column("region").to_pylist()[-1] == "99"


def test_other_formats_keep_their_declarations(run: Run):
    Path("schema.toml").write_text('[columns.income]\nspecial_codes = [-8]\nkind = "numeric"\n')
    assert run("s.csv -o new.parquet --schema schema.toml --top-code income=1000")[0] == 0
    assert unveil.read("new.parquet").variable("income").special_codes == (-8,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("s.csv -o new.csv", "nothing to do: name a step"),
        ("s.csv -o s.csv --label x --overwrite", "s.csv is an input"),
        ("s.csv -o new.csv --top-code income", "--top-code takes column=value, not 'income'"),
        ("s.csv -o new.csv --top-code income=many", "--top-code takes column=number, not 'many'"),
        ("s.csv -o new.csv --top-code wage=1", "s.csv has no column 'wage'"),
        ("s.csv -o new.csv --top-code sex=1", "top_code needs numbers"),
        ("s.csv -o new.csv --drop-replicated-uniques sex", "--original FILE go together"),
        ("s.csv -o new.csv --original o.csv --label x", "--original FILE go together"),
        ("s.csv -o new.csv --label x --into region=y", "not among those of --merge-rare-levels"),
        ("s.csv -o new.csv --label x --label-column age", "has a column 'age' already"),
        ("s.csv -o new.xlsx --label x", "new.xlsx: unknown ending"),
    ],
)
def test_a_wrong_call_is_one_line_and_writes_nothing(run: Run, words: str, message: str):
    before = sorted(os.listdir())
    status, out, err = run(words)
    assert status in (1, 2)
    assert message in err
    assert (out, err.count("\n")) == ("", 1)
    assert sorted(os.listdir()) == before


def test_warnings_are_told_and_change_the_status_if_asked(run: Run):
    words = "s.csv -o new.csv --merge-rare-levels region=3 --into region=q --overwrite"
    status, out, _ = run(words)
    assert status == 0
    assert "has 2 records, fewer than 3" in " ".join(out.split())
    assert run(f"{words} --strict")[0] == 3
