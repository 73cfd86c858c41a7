"""The example that redoes Latner, Neunhoeffer & Drechsler (2026 draft)."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.latner2026 import compute
from examples.paper import ROOT, read_compared, read_rows

from reference import FOLDER

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

RESULTS = ROOT / "examples" / "latner2026" / "results"


def test_structure_and_minbucket_table_are_within_simulation_error():
    rows = [row for row in read_compared(RESULTS) if not row["item"].startswith("98 key sets")]
    assert len(rows) == 5 + 3 * len(compute.MINBUCKETS)
    assert {row["verdict"] for row in rows} <= {"equal", "within simulation error"}
    (original,) = (row for row in rows if row["row"] == "combinations in the original")
    assert original["verdict"] == "equal"


def test_printed_uniques_that_no_set_of_the_seven_keys_can_have():
    rows = read_rows(RESULTS / "key_sets.csv", ["keys"])
    assert len(rows) == 98
    compared = read_compared(RESULTS)
    for size, bound in ((1, 0.02), (2, 3.12)):
        # A unique that is replicated is a unique: repU is at most UiO.
        assert max(row["UiO"] for row in rows if row["size"] == size) == pytest.approx(bound)
        (one,) = (row for row in compared if (row["row"], row["column"]) == (str(size), "repU") and "98" in row["item"])
        assert float(one["printed"]) > bound
        assert f"{bound:g}".lstrip("0") in one["reason"]
    assert all(row["repU"] <= row["UiO"] for row in rows)


def test_kept_minbuckets_come_out_again(shared: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compute, "MINBUCKETS", (200,))
    kept = read_rows(RESULTS / "minbuckets.csv", ["measure"])
    survey = compute.columns_of(FOLDER / "data")
    for row in compute.minbuckets(survey):
        (one,) = (o for o in kept if (o["minbucket"], o["measure"]) == (row["minbucket"], row["measure"]))
        assert one == row | {"mean": pytest.approx(row["mean"], rel=1e-6), "sd": pytest.approx(row["sd"], rel=1e-6)}


def test_costs():
    rows = read_rows(RESULTS / "costs.csv", ["variables", "structure"])
    assert [row["worlds"] for row in rows] == [16, 1024, 3125, 9765625]
    assert set(compute.THEIRS) == set(compute.COSTS) == {row["variables"] for row in rows}
    # Minutes to days by simulation.
    assert all(row["seconds"] < 60 for row in rows)


def test_desiderata_are_those_of_the_documentation():
    text = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    table = text.partition("## The table")[2].partition("The authors' table")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line]
    stated = {name: [cell.split()[0] for cell in cells] for name, *cells in lines[2:]}
    rows = read_rows(RESULTS / "desiderata.csv", ["measure", "D1", "D2", "D3", "D4", "D5"])
    assert {row["measure"]: [row[f"D{i}"] for i in range(1, 6)] for row in rows} == stated


def test_without_the_file_a_survey_is_simulated():
    survey = compute.columns_of(None).slice(0, 300)
    assert {row["figure"] for row in compute.structure(survey)} >= {"combinations_original", "percent_novel"}
    assert {row["size"] for row in compute.key_sets(survey)} == {1, 2, 3, 4}
