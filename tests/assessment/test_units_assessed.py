"""An assessment of units of several rows: what it counts, what it leaves out, and what it says of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli import main
from unveil.simulate import demo_population

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")


def households(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n), rng.integers(1, 4, n))
    region = rng.integers(0, 4, n)[unit]
    return pa.table(
        {
            "household": unit,
            "person": np.arange(len(unit)),
            "region": ["nesw"[v] for v in region],
            "sex": ["fm"[v] for v in rng.integers(0, 2, len(unit))],
            "owner": [("no", "yes")[v] for v in (region + rng.integers(0, 2, n)[unit]) % 2],
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, seed in (("o", 1), ("s", 2)):
        csv.write_csv(households(200, seed), tmp_path / f"{name}.csv")
    return tmp_path


def test_figures_count_units_and_measures_of_rows_are_left_out() -> None:
    one, other = households(200, 1), households(200, 2)
    pair = unveil.Pair(one, other, unit="household", time="person")
    found = unveil.assess(
        pair, ["region", "sex"], targets="owner", synthesizer=unveil.CartSynthesizer(), budget=10, permutations=2
    )
    content = found.to_dict()
    assert content["scenario"]["unit"] == ["household"]
    assert content["scenario"]["time"] == "person"
    risk = unveil.identity(pair, ["region", "sex"])
    figure = found.figure("repU")
    assert figure.value == risk.repU
    assert "of the 100 also meet exactly one synthetic unit" in figure.sentence
    left = {part["name"]: part["reason"] for part in content["parts"] if part["status"] == "skipped"}
    assert set(left) == {
        "membership", "membership: all but one record", "posterior: owner", "partial knowledge: owner",
        "advice: synthesizer",
    }  # fmt: skip
    assert all("not defined for units of several rows" in reason for reason in left.values())
    assert {part["status"] for part in content["parts"] if part["name"] not in left} <= {"done", "partial"}
    assert "A record is a unit of several rows, named by household." in found.to_public_summary()
    for page in (found.to_html(), found.to_markdown(), str(found)):
        assert "count units of several rows (named by household, ordered by person)" in " ".join(page.split())
        assert "200 units" in page or page == str(found)


@pytest.fixture
def run(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command line in the folder of the files: status, standard output and standard error."""

    def call(words: str) -> tuple[Any, str, str]:
        monkeypatch.chdir(files)
        monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
        with pytest.raises(SystemExit) as ending:
            main()
        return ending.value.code, *capsys.readouterr()

    return call


def test_the_command_line_and_a_scenario_name_units(files: Path, run: Callable[..., Any]) -> None:
    names = [str(files / name) for name in ("o.csv", "s.csv")]
    risk = unveil.identity(unveil.Pair(*names, unit="household", time="person"), ["region", "sex"])
    status, out, _ = run("identity o.csv s.csv --keys region,sex --json - --unit household --time person")
    found = json.loads(out)
    assert (status or 0, found["mean"]["repU"], found["n_original"]) == (0, risk.repU, 200)
    assert found["unit"] == ["household"]
    (files / "study.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nkeys = ["region", "sex"]\ntargets = "owner"\nunit = "household"\n'
        'time = "person"\nmeasures = ["identity"]\n'
    )
    status, out, _ = run("assess --scenario study.toml --no-release-safe --json -")
    found = json.loads(out)
    assert (status or 0, found["scenario"]["unit"], found["scenario"]["time"]) == (0, ["household"], "person")
    assert found["data"]["original"]["records"] == 200


@pytest.mark.parametrize(
    "verb", ["attribute", "structure", "keysets", "anonymity", "rapid --attacker cart --permutations 0 --no-ceiling"]
)
@pytest.mark.parametrize("unit", ["--unit household,person", "--unit household --unit person"])
def test_each_verb_counts_units(verb: str, unit: str, run: Callable[..., Any]) -> None:
    target = " --target owner" if verb.startswith(("attribute", "rapid")) else ""
    status, out, _ = run(f"{verb}{target} o.csv s.csv --keys region,sex {unit}")
    assert (status or 0) == 0
    assert "units (household, person)" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("anonymity o.csv --keys region --unit household", "--unit and --time need a release too"),
        ("identity o.csv s.csv --keys region --unit houses", "o.csv has no column 'houses'"),
        (
            "identity o.csv s.csv --keys household --unit household",
            "'household' names units, and is neither key nor",
        ),
        ("identity o.csv s.csv --keys region --time person", "name the unit too"),
        ("identity o.csv s.csv --keys region --unit household --time sex", "are of one unit (household) and have the"),
    ],
)
def test_what_cannot_be_is_one_line(words: str, said: str, run: Callable[..., Any]) -> None:
    status, _, err = run(words)
    assert status in (1, 2)
    assert said in err
    assert "Traceback" not in err


def test_a_map_counts_units_and_refuses_synthesizers_of_single_rows():
    survey, release = (demo_population(300, seed=seed, households=True) for seed in (1, 2))
    options = {"targets": "edu", "unit": "household", "measures": ["identity", "attribute"]}
    found = unveil.compare(survey, {"a": release}, ["region", "sex"], **options)
    alone = unveil.identity(unveil.Pair(survey, release, unit="household"), ["region", "sex"])
    assert found.points[0].risks["repU"][0] == pytest.approx(alone.repU)
    with pytest.raises(unveil.CallError, match="cart: this synthesizer draws rows one by one"):
        unveil.compare(survey, {"cart": unveil.CartSynthesizer()}, ["region", "sex"], **options)


def test_a_map_takes_weights_that_no_release_has():
    survey, release = (demo_population(200, seed=seed) for seed in (1, 2))
    weighted = survey.append_column("weight", pa.array([2.0 + i % 3 for i in range(200)]))
    found = unveil.compare(
        weighted, {"a": release}, ["region", "sex"], weights="weight", measures=["attribute", "utility"]
    )
    assert "weight" not in found.targets
    assert found.assessments["a"].content["scenario"]["weights"] == "weight"
    assert found.assessments["a"].content["scenario"]["population"] == pytest.approx(
        sum(2.0 + i % 3 for i in range(200))
    )
