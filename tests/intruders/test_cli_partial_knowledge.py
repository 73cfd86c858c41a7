"""`unveil partial-knowledge`."""

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
    """Run the command line in a folder with an original, its release and known records."""
    monkeypatch.chdir(tmp_path)
    people = unveil.simulate.demo_population(150, seed=1)
    csv.write_csv(people, "o.csv")
    csv.write_csv(people.slice(3), "known.csv")
    csv.write_csv(people.slice(0, 0), "header.csv")
    csv.write_csv(unveil.CartSynthesizer(minbucket=10, n_jobs=1).fit("o.csv").sample(seed=1), "s.csv")

    def call(words):
        monkeypatch.setattr(sys, "argv", ["unveil", "partial-knowledge", *words.split()])
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    return call


def test_the_figures_are_those_of_the_function(run):
    words = "o.csv s.csv --target sex --minbucket 10 --records-known 1,0.9 --sets 1 --sample 40 --seed 3"
    status, out, _ = run(f"{words} --json - --records r.csv")
    assert status == 0
    found = unveil.partial_knowledge(
        unveil.Pair("o.csv", "s.csv"), unveil.CartSynthesizer(minbucket=10), target="sex", records_known=[1, 0.9],
        sets=1, sample=40, seed=3,
    )  # fmt: skip
    assert json.loads(out)["points"] == found.to_dict()["points"]
    assert csv.read_csv("r.csv").num_rows == 80


def test_a_file_of_known_records(run):
    status, out, _ = run("o.csv s.csv --target sex --minbucket 10 --records-known known.csv")
    assert status == 0
    assert "sex of 3 persons among 150 records" in out


def test_known_records_are_read_like_the_original(run):
    people = unveil.simulate.demo_population(150, seed=1).select(["sex", "age", "workab"])
    release = unveil.CartSynthesizer(minbucket=10, n_jobs=1).fit(people).sample(seed=1)
    for name, table in {"o.csv": people, "s.csv": release, "known.csv": people.slice(3)}.items():
        written = table["workab"].cast("string").fill_null("none")
        csv.write_csv(table.set_column(2, "workab", written), name)
    status, out, _ = run("o.csv s.csv --target sex --minbucket 10 --records-known known.csv --missing none")
    assert status == 0
    assert "sex of 3 persons among 150 records" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--records-known 1.5", "records_known must be shares from 0 to 1"),
        ("--records-known few", "takes shares such as 1,0.9,0.5, or a file"),
        ("--records-known s.csv", "row 0 of s.csv is not a record of o.csv"),
        ("--records-known=", "takes shares such as 1,0.9,0.5, or a file"),
        ("--records-known header.csv", "there are no records in header.csv; 0 is for an intruder who knows none"),
        ("--structure fixed", "structure must be 'splits' or 'exact'"),
        ("--rows x", "--rows takes record numbers"),
    ],
)
def test_wrong_calls_are_one_line(run, words, message):
    status, _, err = run(f"o.csv s.csv --target sex --minbucket 10 {words}")
    assert status in (1, 2)
    assert message in err
    assert err.count("\n") == 1
