"""`unveil membership --exact`."""

from __future__ import annotations

import json
import sys

import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with an original, its release and a holdout."""
    monkeypatch.chdir(tmp_path)
    for seed, name in ((1, "o.csv"), (2, "h.csv")):
        csv.write_csv(unveil.simulate.demo_population(150, seed=seed), name)
    synthesizer = unveil.CartSynthesizer(minbucket=10, n_jobs=1).fit("o.csv")
    csv.write_csv(synthesizer.sample(seed=1), "s.csv")

    def call(words):
        monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    return call


def test_the_figures_are_those_of_the_function(run):
    status, out, _ = run(
        "membership o.csv s.csv --holdout h.csv --exact in_out --sample 20 --minbucket 10 --json - --records r.csv"
    )
    assert status == 0
    told = json.loads(out)
    pair = unveil.Pair("o.csv", "s.csv", "h.csv")
    found = unveil.exact_membership(pair, unveil.CartSynthesizer(minbucket=10), game="in_out", sample=20)
    assert told["n_games"] == [20, 20]
    assert (told["auc"], told["share_right"]) == (found.auc, found.share_right)
    assert told["tpr"]["0.001"] is None
    assert csv.read_csv("r.csv").num_rows == 40


def test_halves_take_the_place_of_a_holdout(run):
    status, out, _ = run("membership o.csv s.csv --halves --exact swap --sample 20 --minbucket 10 --json -")
    assert status == 0
    told = json.loads(out)
    found = unveil.exact_membership(
        unveil.Pair("o.csv", "s.csv"), unveil.CartSynthesizer(minbucket=10), candidates="halves", sample=20
    )
    assert (told["others"], told["n_original"]) == ("halves", 75)
    assert told["share_right"] == found.share_right
    assert "attacks" not in told


def test_attacks_by_distance_stand_beside_where_the_holdout_was_never_seen(run):
    words = "membership o.csv s.csv --holdout h.csv --holdout-unseen --exact swap --minbucket 10 --attacks dcr"
    status, out, _ = run(words)
    assert status == 0
    assert out.index("Membership") < out.index("Exact membership") < out.index("The attacks by distance have")
    told = json.loads(run(f"{words} --json -")[1])
    attacked = unveil.membership(unveil.Pair("o.csv", "s.csv", "h.csv"), holdout_unseen=True, attacks="dcr")
    assert told["attacks"]["together"]["dcr"]["auc"] == attacked.together["dcr"].auc < told["auc"]
    assert "it is what intruders do not know that protects" in told["contrast"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("o.csv s.csv --exact swap", "--exact needs persons whom the synthesizer never used"),
        ("o.csv s.csv --exact swap --holdout h.csv --refit cart", "and no --refit"),
        ("o.csv s.csv --exact swap --holdout h.csv --halves", "--holdout FILE or --halves"),
        ("o.csv s.csv --halves", "go with --exact"),
        ("o.csv s.csv --exact out --holdout h.csv", 'Choose from: "swap", "in_out"'),
        ("o.csv s.csv --exact swap --holdout h.csv --columns sex", "--exact uses all columns"),
        ("o.csv s.csv --holdout h.csv --holdout-unseen --sample 3", "go with --exact"),
    ],
)
def test_wrong_calls_are_one_line(run, words, message):
    status, _, err = run(f"membership {words}")
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
