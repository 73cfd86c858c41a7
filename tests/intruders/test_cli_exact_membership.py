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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("o.csv s.csv --exact swap", "--exact needs persons whom the synthesizer never used"),
        ("o.csv s.csv --exact swap --holdout h.csv --refit cart", "and no --refit"),
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
