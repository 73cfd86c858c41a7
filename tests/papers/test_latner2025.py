"""The example that redoes Latner, Neunhoeffer & Drechsler (2025): what is kept is what the package computes."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from examples.latner2025 import compute
from examples.paper import ROOT, compare, read_compared, read_rows

from reference import FOLDER

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

HERE = ROOT / "examples" / "latner2025"
RESULTS = HERE / "results"
DRAWN = ("100 releases", "Reference implementation", "Table A.3")


def test_what_is_not_drawn_anew_is_equal_to_the_digit():
    rows = read_compared(RESULTS)
    other = [row for row in rows if row["verdict"] != "equal" and not row["item"].startswith(DRAWN)]
    assert [(row["row"], row["column"], row["printed"]) for row in other] == [("S8", "posterior of 1111", "0.03")]
    assert "simulated" in other[0]["reason"]
    assert {row["verdict"] for row in rows if row["item"].startswith(DRAWN)} <= {"equal", "within simulation error"}


def test_tables_are_those_of_the_package(shared: Path):
    original, releases = compute.files(FOLDER / "data")
    rows = {"cells": compute.records_by_cell(original, releases), "measures": compute.measures(original, releases)}
    kept = {name: read_rows(RESULTS / f"{name}.csv", ["cell", "release"]) for name in rows}
    for name, table in rows.items():
        for row, one in zip(table, kept[name], strict=True):
            assert {k: v if isinstance(v, str) else pytest.approx(v, abs=1e-7) for k, v in row.items()} == one
    empty = {"settings": read_rows(RESULTS / "settings.csv", ["setting", "cell"]), "worlds": []}
    again = compare(HERE / "printed.csv", dict(compute.numbers(rows | empty)))
    exact = [row for row in again if row["item"].startswith("Table A.1")]
    assert len(exact) == 176
    assert {row["verdict"] for row in exact} == {"equal"}


def test_posterior_is_the_closed_form(shared: Path):
    kept = {row["release"]: row for row in read_rows(RESULTS / "measures.csv", ["release"])}
    with (FOLDER / "golden" / "latner_bayes_posterior_saturated.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for release, one in kept.items():
                assert one[f"p{row['combination']}"] == pytest.approx(float(row[release]), abs=1e-7)


def test_worlds_are_those_of_the_reference(shared: Path):
    # Of the 1600 releases of the reference implementation too, only those of one world hold 1111.
    with gzip.open(FOLDER / "golden" / "cart" / "latner_16worlds_100seeds.csv.gz", "rt", encoding="utf-8") as file:
        theirs = Counter(row["last_record"] for row in csv.DictReader(file) if row["n1111"] != "0")
    rows = read_rows(RESULTS / "worlds.csv", ["setting", "world"])
    ours = {row["world"] for row in rows if row["setting"] == "numbers" and row["records"]}
    assert ours == set(theirs) == {"1111"}
    for setting in compute.WORLDS:
        for world in compute.CELLS:
            own = [row for row in rows if (row["setting"], row["world"]) == (setting, world)]
            assert sum(row["releases"] for row in own) == compute.RELEASES
            if setting != "numbers":
                assert min(row["records"] for row in own) > 0


def test_trees():
    rows = read_rows(RESULTS / "trees.csv", ["setting", "condition"])
    leaves = Counter(row["setting"] for row in rows if row["leaf"])
    assert leaves == {"numbers": 8, "factors": 6, "minbucket 75": 7, "cp 0.05": 1, "ctree": 4}
    for setting in compute.TREES:
        own = [row for row in rows if row["setting"] == setting]
        assert sum(row["records"] for row in own if row["leaf"]) == own[0]["records"] == 1000
        alone = [row for row in own if row["leaf"] and row["ones"] * row["records"] == pytest.approx(1)]
        assert [row["records"] for row in alone] == ([67] if setting in ("numbers", "ctree") else [])


def test_kept_trees_are_those_of_the_package(shared: Path):
    original, _ = compute.files(FOLDER / "data")
    for row, one in zip(
        compute.trees(original), read_rows(RESULTS / "trees.csv", ["setting", "condition"]), strict=True
    ):
        assert one == row | {"ones": pytest.approx(row["ones"], abs=1e-7)}


def test_without_the_files_the_original_is_simulated():
    original, releases = compute.files(None)
    assert [original.num_rows, len(releases)] == [1000, 10]
    assert compute.counts(original)[compute.UNIQUE] == 1
    changed = compute.with_last(original, 3)
    assert compute.counts(changed)[compute.UNIQUE] == 0
    assert (np.abs(compute.counts(changed) - compute.counts(original))).sum() == 2
    assert len(compute.trees(original)) > 10
    for setting in ("numbers", "network, epsilon 1"):
        assert (compute.released(original, setting, 2).sum(axis=1) == 1000).all()


@pytest.mark.slow
def test_drawn_results_come_out_again(shared: Path):
    original, _ = compute.files(FOLDER / "data")
    kept = read_rows(RESULTS / "settings.csv", ["setting", "cell"])
    for row, one in zip(compute.settings(original), kept, strict=True):
        assert one == {k: v if isinstance(v, str) else pytest.approx(v, rel=1e-6) for k, v in row.items()}
