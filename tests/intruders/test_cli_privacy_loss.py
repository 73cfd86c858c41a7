"""`unveil privacy-loss`."""

from __future__ import annotations

import json
import sys

import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli import main
from unveil.plain import without_nan

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with an original, its release and other persons."""
    monkeypatch.chdir(tmp_path)
    for seed, name in ((1, "o.csv"), (2, "h.csv")):
        csv.write_csv(unveil.simulate.demo_population(150, seed=seed), name)
    csv.write_csv(unveil.CartSynthesizer(minbucket=10, n_jobs=1).fit("o.csv").sample(seed=1), "s.csv")

    def call(words):
        monkeypatch.setattr(sys, "argv", ["unveil", "privacy-loss", *words.split()])
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    return call


def test_the_figures_are_those_of_the_function(run):
    words = "o.csv s.csv --candidates h.csv --persons 30 --curves 2 --releases 8 --minbucket 10 --by sex,workab"
    status, out, _ = run(f"{words} --json - --records r.csv --seed 3")
    assert status == 0
    told = json.loads(out)
    found = unveil.privacy_loss(
        unveil.Pair("o.csv", "s.csv"), unveil.CartSynthesizer(minbucket=10), candidates="h.csv", persons=30, curves=2,
        releases=8, by=["sex", "workab"], seed=3,
    )  # fmt: skip
    assert told["share_ruled_out"] == found.share_ruled_out
    assert [one["n_persons"] for one in told["figures"]] == [one.n for one in found.spreads]
    assert len(told["worst_groups"]) == len(found.worst_groups) > 2
    assert csv.read_csv("r.csv").num_rows == 30


def test_without_a_release_fresh_ones_are_looked_at(run):
    status, out, _ = run("o.csv --persons 3 --curves 1 --releases 5 --minbucket 50")
    assert status == 0
    assert "realised loss" not in out
    assert "delta(infinity)" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("o.csv s.csv --delta 2", "delta must be a probability"),
        ("o.csv s.csv --by town", "town"),
        ("o.csv s.csv --candidates none.csv", "none.csv"),
    ],
)
def test_wrong_calls_are_one_line(run, words, message):
    status, _, err = run(f"{words} --curves 0")
    assert status in (1, 2)
    assert message in err
    assert err.count("\n") == 1


def test_another_synthesizer_is_named(run):
    csv.write_csv(unveil.simulate.demo_population(60, seed=1).select(["sex", "workab"]), "few.csv")
    status, out, _ = run("few.csv --synthesizer catall --persons 3 --curves 1 --releases 5 --seed 3 --json -")
    assert status == 0
    found = unveil.privacy_loss(
        "few.csv", unveil.synthesis.CatallSynthesizer(), persons=3, curves=1, releases=5, seed=3
    )  # fmt: skip
    assert json.loads(out)["figures"] == without_nan(found.to_dict()["figures"])
    status, _, err = run("few.csv --synthesizer sampel")
    assert (status, err.count("\n")) == (2, 1)
    assert "there is no 'sampel'" in err
