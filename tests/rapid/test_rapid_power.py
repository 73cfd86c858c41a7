"""How many persons a rate of RAPID needs: on results, and on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called
from unveil.stats.power import power_at, smallest_n


@pytest.fixture(scope="module")
def result() -> unveil.Rapid:
    people = unveil.simulate.demo_population(200, seed=1)
    pair = unveil.Pair(people, people.slice(0, 200))
    return unveil.rapid(pair, ["sex", "age", "region"], target="marital", attacker=["cart", "logit"], permutations=5)


def test_rows_are_those_of_rate_and_null_of_each_attack(result: unveil.Rapid):
    found = result.power()
    assert len(found.rows) == 2
    for row, attack in zip(found.rows, result.attacks, strict=True):
        assert (row["rate"], row["null"], row["n"]) == (attack["rate"], attack["null_mean"], attack["n"])
        assert row["n_needed"] == smallest_n(attack["null_mean"], attack["rate"])
        at_n = power_at(pa.array([attack["n"]]).to_numpy(), attack["null_mean"], attack["rate"])[0]
        assert row["power"] == at_n
    assert found.to_frame("arrow").num_rows == 2
    assert f"{found.rows[0]['n_needed']:.0f}" in str(found)
    assert len(found.plot().lines) == 3


def test_a_smaller_rate_needs_more_persons(result: unveil.Rapid):
    null = max(attack["null_mean"] for attack in result.attacks)
    needed = [result.power(rate=null + step).rows[0]["n_needed"] for step in (0.3, 0.1, 0.02)]
    assert needed == sorted(needed)
    assert needed[0] < needed[2]
    stricter = result.power(rate=null + 0.1, alpha=0.01, power=0.9).rows[0]["n_needed"]
    assert stricter > needed[1]


def test_what_has_no_number_says_why(result: unveil.Rapid):
    row = result.power(rate=1e-9).rows[0]
    assert math.isnan(row["n_needed"])
    assert row["undefined"] == "the rate is not above its null"
    people = unveil.simulate.demo_population(200, seed=1)
    bare = unveil.rapid(unveil.Pair(people, people.slice(0, 200)), "sex", target="marital", attacker="cart",
                        permutations=0)  # fmt: skip
    assert bare.power().rows[0]["undefined"] == "no null was run (permutations=0)"
    assert "no null was run" in str(bare.power())
    with pytest.raises(unveil.CallError, match="alpha"):
        result.power(alpha=0)


def test_the_command_line_shows_it_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    people = unveil.simulate.demo_population(200, seed=1)
    csv.write_csv(people, "o.csv")
    csv.write_csv(people.slice(0, 150), "s.csv")
    words = [
        "rapid",
        "o.csv",
        "s.csv",
        "--keys",
        "sex,age",
        "--target",
        "marital",
        "--attacker",
        "cart",
        "--permutations",
        "3",
    ]
    status, out, err = called([*words, "--power", "--json", "a.json"], monkeypatch, capsys)
    assert status == 0, err
    assert "records needed" in out
    told = json.loads(Path("a.json").read_text())["power"]["marital"]["rows"]
    assert told[0]["n_needed"] > 1
    _, out, _ = called(words, monkeypatch, capsys)
    assert "records needed" not in out
