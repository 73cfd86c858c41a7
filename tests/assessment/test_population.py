"""An assessment of a sample says how many replicated uniques are unique in the population."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from unveil.assessment.gate import release_safe
from unveil.assessment.published_text import Exact, Rounded
from unveil.assessment.rounding import Rounding
from unveil.cli import main
from unveil.columns.checkpoint import fingerprint

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

KEYS = ["sex", "age", "marital"]


@pytest.fixture(scope="module")
def files() -> tuple[pa.Table, pa.Table]:
    people = unveil.simulate.demo_population(1200, seed=1)
    sample = people.slice(0, 400).append_column("weight", pa.array(np.linspace(10, 30, 400)))
    return sample, people.slice(200, 400)


def assessed(pair: unveil.Pair, **options: object) -> unveil.Assessment:
    return unveil.assess(pair, KEYS, targets="depress", measures=["identity"], **options)


def test_the_sentence_on_replicated_uniques(files):
    pair = unveil.Pair(*files, weights="weight")
    found = assessed(pair)
    share = unveil.population_risk(pair, KEYS).headline(pair.labels[0])["population_uniques"] / 400
    sentence = found.figure("repU").sentence
    (said,) = re.findall(r"of whom about ([\d.]+) are expected to be unique in the population\.$", sentence)
    assert float(said) == pytest.approx(100 * share, abs=0.05)
    assert "population" not in assessed(unveil.Pair(*files)).figure("repU").sentence


def test_what_is_published_is_rounded(files):
    whole = json.loads(assessed(unveil.Pair(*files, weights="weight", population=7890), release_safe=False).to_json())
    assert whole["scenario"]["weights"] == "weight"
    assert whole["scenario"]["population"] == 7890
    published = release_safe(whole)
    assert published["scenario"]["population"] == 7900
    assert published["scenario"]["weights"] == "weight"
    (said,) = re.findall(r"of whom about ([\d.]+) are expected", published["figures"][0]["sentence"])
    # 10 of 400 persons are 2.5 %, so that percentages are multiples of 5, and what is below has one digit.
    assert float(said) % 5 == 0 or len(said.strip("0.")) == 1
    assert any(said in text for text in published["summary"])


def test_expected_numbers_as_they_are_written():
    rounded = Rounded(Rounding(400, 10))
    assert [Exact().expected(share) for share in (0.1234, 0.0004, 0.0)] == ["about 12.3", "about 0.04", "about 0"]
    assert [rounded.expected(share) for share in (0.1234, 0.0123, 0.0)] == ["about 10", "about 1", "about 0"]
    assert Exact().expected(1e-40) == rounded.expected(1e-40) == "fewer than 0.01"


def test_other_weights_are_another_assessment(files):
    assert fingerprint(unveil.Pair(*files)) == fingerprint(unveil.Pair(*files))
    weighted = unveil.Pair(*files, weights="weight")
    assert (
        len({fingerprint(pair) for pair in (unveil.Pair(*files), weighted, unveil.Pair(*files, population=9000))}) == 3
    )


def test_weights_in_a_scenario_file(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(files[0], "o.csv")
    pyarrow.csv.write_csv(files[1], "s.csv")
    text = 'original = "o.csv"\nsynthetic = "s.csv"\nkeys = ["sex", "age"]\nmeasures = "identity"\n'
    (tmp_path / "study.toml").write_text(text + 'weights = "weight"\npopulation = 8000\n')
    monkeypatch.setattr(sys, "argv", ["unveil", "assess", "--scenario", "study.toml", "--json", "a.json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    found = json.loads((tmp_path / "a.json").read_text())
    assert (found["scenario"]["weights"], found["scenario"]["population"]) == ("weight", 8000)
    assert "weight" not in found["scenario"]["targets"]
    for line, said in (("population = true", "population takes a number"), ("weights = 3", "weights takes a text")):
        (tmp_path / "study.toml").write_text(text + line + "\n")
        monkeypatch.setattr(sys, "argv", ["unveil", "assess", "--scenario", "study.toml"])
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main()
        assert said in capsys.readouterr().err
