"""Strata that are synthesised as files by themselves, one after the other."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from command_line import called
from unveil.synthesis import synthesize_strata
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import rebuilt
from unveil.synthesis.strata_apart import key_of, seed_of


def people(n: int = 300, seed: int = 4) -> pa.Table:
    rng = np.random.default_rng(seed)
    place, age = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(16, 90, n)
    income = np.array([1, -1, 0])[place] * age * 10 + 1000 * (place + 1)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 50, n)]
    return pa.table({
        "sex": rng.choice(["f", "m"], n), "place": [["north", "south", None][p] for p in place], "age": age,
        "income": pa.array(income + rng.integers(0, 5, n), mask=rng.random(n) < 0.1), "day": days,
    })  # fmt: skip


def of_place(table: pa.Table, place: str | None) -> pa.Table:
    return table.filter(pa.array([value == place for value in table.column("place").to_pylist()]))


def test_each_stratum_is_a_file_by_itself(tmp_path: Path) -> None:
    original, path = people(), tmp_path / "copy.parquet"
    pq.write_table(original, tmp_path / "original.parquet")
    written = synthesize_strata(tmp_path / "original.parquet", path, by="place", seed=7, minbucket=3)
    copy = pq.read_table(path)
    assert copy.schema.equals(original.schema)
    assert Counter(copy.column("place").to_pylist()) == Counter(original.column("place").to_pylist())
    assert [values["place"] for values, _, _ in written.strata] == ["north", "south", None]
    assert "north" in str(written)
    for place in ("north", "south", None):
        own = of_place(original, place).sort_by([(name, "ascending") for name in original.column_names])
        seed = seed_of(7, key_of([place]))
        alone = unveil.CartSynthesizer(minbucket=3).fit(own, seed=seed).sample(seed=seed)
        assert of_place(copy, place).to_pylist() == alone.to_pylist()


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    original = people()
    turned = original.take(np.random.default_rng(1).permutation(len(original)))
    for number, table in enumerate((original, turned)):
        synthesize_strata(table, tmp_path / f"{number}.parquet", by=["place", "sex"], seed=3, k=200)
    one, other = (pq.read_table(tmp_path / f"{number}.parquet") for number in range(2))
    assert one.equals(other)
    assert len(one) == 200


def test_small_strata_and_wrong_calls(tmp_path: Path) -> None:
    few = pa.concat_tables([people(), people(4).set_column(1, "place", pa.array(["west"] * 4))])
    with pytest.raises(unveil.DataError, match=r"1 of 4 strata by 'place' have fewer than 15 records.*'west' with 4"):
        synthesize_strata(few, tmp_path / "copy.parquet", by="place")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"by": "plaze"}, "plaze"), ({"by": "place", "proper": True}, "by and proper"), ({"by": []}, "one column"),
    ]  # fmt: skip
    for options, said in wrong:
        with pytest.raises(unveil.CallError, match=said):
            synthesize_strata(people(), tmp_path / "copy.parquet", **options)
    with pytest.raises(unveil.CallError, match=r"\.parquet"):
        synthesize_strata(people(), tmp_path / "copy.csv", by="place")
    assert not list(tmp_path.iterdir())
    synthesize_strata(people(), tmp_path / "copy.parquet", by="place")
    with pytest.raises(unveil.FileError, match="exists"):
        synthesize_strata(people(), tmp_path / "copy.parquet", by="place")


def test_the_command_line_writes_the_same_records_and_their_provenance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original, output, alone = (tmp_path / f"{name}.parquet" for name in ("original", "copy", "alone"))
    pq.write_table(people(), original)
    words = ["synthesize", original, "-o", output, "-m", 1, "--by", "place,sex", "--strata-apart", "--minbucket", 3]
    status, said, _ = called([str(word) for word in [*words, "-k", 200, "--seed", 9]], monkeypatch, capsys)
    assert status == 0
    assert "1 copy of 200 records" in said
    synthesize_strata(original, alone, by=["place", "sex"], k=200, seed=9, minbucket=3)
    assert pq.read_table(output).equals(pq.read_table(alone))
    assert pq.read_metadata(output).num_row_groups == 6
    found = read_provenance(tmp_path / "copy.provenance.json")
    assert (found.seed, found.k, found.m, found.original.records) == (9, 200, 1, 300)
    assert found.settings["by"] == ["place", "sex"]
    assert found.settings["strata_apart"] is True
    assert found.releases[0].sha256 == hashlib.sha256(output.read_bytes()).hexdigest()
    # the leaves of all strata together, from fits of each by itself
    leaves = 0
    for place in ("north", "south", None):
        for sex in ("f", "m"):
            own = of_place(people(), place).filter(pa.compute.field("sex") == sex)
            own = own.sort_by([(name, "ascending") for name in own.column_names])
            fit = unveil.CartSynthesizer(minbucket=3).fit(own, seed=seed_of(9, key_of([place, sex])))
            leaves += fit.leaves()["income"]
    assert next(one for one in found.variables if one.name == "income").leaves == leaves
    with pytest.raises(unveil.DataError, match="stratum by stratum"):
        rebuilt(tmp_path / "copy.provenance.json", original)


def test_the_provenance_makes_the_same_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = tmp_path / "original.parquet"
    pq.write_table(people(), original)
    words = ["synthesize", str(original), "-m", "1", "--by", "place", "--strata-apart"]
    assert called([*words, "-o", str(tmp_path / "one.parquet")], monkeypatch, capsys)[0] == 0
    seed = read_provenance(tmp_path / "one.provenance.json").seed
    assert called([*words, "-o", str(tmp_path / "two.parquet"), "--seed", str(seed)], monkeypatch, capsys)[0] == 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "2", "--by", "place"], "makes one copy, not 2"),
        (["-m", "1"], "--by region"),
        (["-m", "1", "--by", "place", "-o", "copy.csv"], "copy.csv: strata are written as Parquet"),
        (["-m", "1", "--by", "place", "--unit", "sex", "--time", "age"], "leave out other synthesizers, --unit"),
        (["-m", "1", "--by", "place", "--method", "catall"], "has no option 'by'"),
    ],
)
def test_wrong_calls_of_the_command_line(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), "original.parquet")
    output = [] if "-o" in options else ["-o", "copy.parquet"]
    status, _, error = called(
        ["synthesize", "original.parquet", "--strata-apart", *output, *options], monkeypatch, capsys
    )  # fmt: skip
    assert status == 2
    assert said in error
    assert [path.name for path in tmp_path.iterdir()] == ["original.parquet"]
