"""RAPID of several targets at once: counts by hand, shuffles, and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from command_line import called

OPTIONS = {"attacker": "rf", "permutations": 0, "ceiling": False}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return unveil.simulate.demo_population(250, seed=1)


def test_the_joint_rate_is_that_of_the_records_of_each_target(people: pa.Table):
    pair = unveil.Pair(people, [people, unveil.CartSynthesizer(n_jobs=1).fit(people).sample(seed=1)])
    results = unveil.rapid(
        pair, ["sex", "age", "region", "placesize"], targets=["marital", "depress", "income"], attacker=["cart", "rf"],
        permutations=0, ceiling=False,
    )  # fmt: skip
    found = results.joint(permutations=0)
    assert [(row["release"], row["attacker"]) for row in found.rows] == [
        ("release 1", "cart"), ("release 1", "rf"), ("release 2", "cart"), ("release 2", "rf")
    ]  # fmt: skip
    for number, row in enumerate(found.rows):
        tables = [one.records(number // 2, row["attacker"], flavour="arrow") for one in results]
        scored = np.all([table.column(-2).is_valid().to_numpy() for table in tables], axis=0)
        told = np.all([table["at_risk"].fill_null(False).to_numpy() for table in tables], axis=0)
        counts = told[scored]
        assert row["n_at_risk"] == sum(counts)
        assert row["rate"] == pytest.approx(sum(counts) / len(counts))
        assert found.n == len(counts) < 250
        assert row["correct"] <= row["rate"] <= row["high"]
        flagged = found.records(number, flavour="arrow")
        assert sum(flagged["at_risk"].to_pylist()) == row["n_at_risk"]


def test_a_case_by_hand():
    # ill is told of a and b, job of a alone; half of the others have each value, which no score above tau can tell
    half = ["x", "y"] * 10
    original = pa.table(
        {
            "key": ["a"] * 20 + ["b"] * 20 + ["c"] * 20,
            "ill": ["x"] * 40 + half,
            "job": ["x"] * 20 + half + half,
        }
    )
    results = unveil.rapid(unveil.Pair(original, original.slice(0, 60)), "key", targets=["ill", "job"], tau=0.5,
                           **OPTIONS)  # fmt: skip
    (row,) = results.joint(permutations=0).rows
    assert (row["rate"], row["n_at_risk"], row["correct"]) == (pytest.approx(1 / 3), 20, pytest.approx(1 / 3))
    assert row["independent"] == pytest.approx(2 / 9)
    assert row["margin"] == 0
    assert np.isnan(row["null_mean"])


def test_shuffled_targets_are_told_together_less_often_and_the_same_seed_gives_the_same_null(people: pa.Table):
    pair = unveil.Pair(people, people.slice(0, 250))
    results = unveil.rapid(pair, ["sex", "age", "region", "placesize"], targets=["marital", "edu"], **OPTIONS)
    one, two = results.joint(permutations=19), results.joint(permutations=19)
    assert one.to_dict() == two.to_dict()
    (row,) = one.rows
    assert row["null_mean"] < row["null_95"] < row["rate"]
    assert row["p_value"] == 0.05
    order = np.random.default_rng(1).permutation(250)
    mixed = unveil.Pair(people.take(order), people.take(order[::-1]))
    again = unveil.rapid(mixed, ["sex", "age", "region", "placesize"], targets=["marital", "edu"], **OPTIONS).joint()
    assert again.rows[0]["null_mean"] == pytest.approx(row["null_mean"])
    assert again.rows[0]["rate"] == row["rate"]
    assert "all of marital, edu" in str(one)
    assert one.to_frame("arrow").num_rows == 1
    assert one.plot().get_xlabel() == "share of records"


def test_where_the_release_says_nothing_the_p_value_is_not_small(people: pa.Table):
    rng = np.random.default_rng(5)
    mixed = people
    for name in ("marital", "edu"):
        mixed = mixed.set_column(
            mixed.column_names.index(name), name, people[name].take(rng.permutation(250))
        )  # fmt: skip
    small = 0
    for seed in range(12):
        results = unveil.rapid(unveil.Pair(people, mixed), ["sex", "region"], targets=["marital", "edu"], seed=seed,
                               tau=0.1, **OPTIONS)  # fmt: skip
        small += results.joint(permutations=9).rows[0]["p_value"] <= 0.1
    assert small <= 6


def test_one_target_is_refused(people: pa.Table):
    results = unveil.rapid(unveil.Pair(people, people), "sex", targets=["marital"], **OPTIONS)
    with pytest.raises(unveil.CallError, match="name two or more"):
        results.joint()
    with pytest.raises(unveil.CallError, match="permutations"):
        results.joint(permutations=-1)


def test_the_command_line_shows_it_on_request(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(people, "o.csv")
    csv.write_csv(people.slice(0, 200), "s.csv")
    words = "rapid o.csv s.csv --keys sex,age --attacker cart --permutations 3 --no-ceiling"
    several = [*words.split(), "--targets", "marital,edu"]
    status, out, err = called([*several, "--joint", "--json", "a.json"], monkeypatch, capsys)
    assert status == 0, err
    assert "all of marital, edu" in out
    assert json.loads(Path("a.json").read_text())["joint"]["rows"][0]["n_at_risk"] >= 0
    status, _, err = called([*words.split(), "--target", "marital", "--joint"], monkeypatch, capsys)
    assert (status, err.count("\n")) == (2, 1)
