"""The verb `unveil membership`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the verb in a folder with an original, a copy of it, and held-out records."""
    people, others = (unveil.simulate.demo_population(200, seed=seed) for seed in (1, 2))
    for name, table in (("o", people), ("copy", people.slice(1)), ("h", others), ("cut", people.slice(150))):
        csv.write_csv(table, tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)

    def start(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unveil", "membership", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        return status, *capsys.readouterr()

    return start


def test_figures_records_and_plot(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    status, out, err = run(
        "o.csv", "copy.csv", "--holdout", "h.csv", "--holdout-unseen", "--attacks", "dcr,density", "--columns",
        "sex,age,income", "--json", "found.json", "--plot", "roc.png", "--records", "who.csv",
    )  # fmt: skip
    assert status == 0, err
    assert "3 columns: sex, age, income" in " ".join(out.split())
    assert "keep it in the building" in err
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["measure"] == "Membership"
    assert found["together"]["dcr"]["auc"] > 0.7
    assert found["together"]["dcr"]["tpr"]["0.001"] is None
    assert csv.read_csv(tmp_path / "who.csv").num_rows == 400
    assert (tmp_path / "roc.png").stat().st_size > 1000


def test_a_synthesizer_is_fitted_anew(run: Run) -> None:
    status, out, err = run("o.csv", "--refit", "cart", "--repeats", "1", "--minbucket", "30", "--attacks", "dcr",
                           "--json", "-")  # fmt: skip
    assert status == 0, err
    found = json.loads(out)
    assert found["repeats"] == 1
    assert len(found["runs"]) == 2


def test_other_synthesizers_are_fitted_anew_by_name_and_by_command(run: Run) -> None:
    own = ["--repeats", "1", "--attacks", "dcr", "--json", "-"]
    status, out, err = run("o.csv", "--refit", "sample", *own)
    assert status == 0, err
    drawn = json.loads(out)["auc"]["dcr"]
    status, out, err = run("o.csv", "--synthesizer-command", "cp {in} {out}", *own)
    assert status == 0, err
    copied = json.loads(out)["auc"]["dcr"]
    # Draws of single columns tell nothing of whose records were used; copies tell all.
    assert abs(drawn - 0.5) < 0.15
    assert copied > 0.7
    for words, text in (
        (["--refit", "carts"], "there is no 'carts'"),
        (["--refit", "sample", "--minbucket", "5"], "only cart has trees; leave out --minbucket"),
        (["--refit", "sample", "--synthesizer-command", "cp {in} {out}"], "one synthesizer is needed here"),
        (["--refit", "cart", "--settings", "epochs=3"], "--settings"),
    ):
        status, _, err = run("o.csv", *words, *own)
        assert (status, err.count("\n")) == (2, 1)
        assert text in err


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["o.csv", "copy.csv", "--holdout", "h.csv"], 2, "holdout_unseen=True"),
        (["o.csv", "copy.csv"], 2, "--holdout FILE --holdout-unseen"),
        (["o.csv", "copy.csv", "--holdout", "cut.csv", "--holdout-unseen"], 1, "not held out"),
        (["o.csv", "copy.csv", "--refit", "cart"], 2, "name the original alone"),
        (["o.csv", "--refit", "cart", "--releases", "0"], 2, "releases"),
        (["o.csv", "copy.csv", "--releases", "2", "--exact", "swap", "--halves"], 2, "--releases goes with --refit"),
        (["o.csv", "--holdout", "h.csv", "--holdout-unseen"], 2, "no release given"),
        (["o.csv", "copy.csv", "--holdout", "none.csv", "--holdout-unseen"], 1, "none.csv"),
    ],
)
def test_what_is_refused(run: Run, words: list[str], status: int, text: str) -> None:
    ended, _, err = run(*words)
    assert ended == status, err
    assert text in err
    assert len(err.strip().splitlines()) == 1
