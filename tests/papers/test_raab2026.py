"""The example that redoes Raab, Nowok & Dibben (2026): what is kept is what the package computes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from examples.paper import ROOT, Computed, compare, read_compared, read_rows
from examples.raab2026 import compute

from reference import FOLDER, load_json

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

HERE = ROOT / "examples" / "raab2026"
RESULTS = HERE / "results"


@pytest.fixture(scope="module")
def survey() -> compute.Survey:
    return compute.Survey(FOLDER / "data")


def test_every_printed_number_is_there(shared: Path):
    entries = load_json("raab2026_printed_numbers.json")
    printed = read_rows(HERE / "printed.csv", ["printed"])
    assert sorted(float(row["printed"]) for row in printed) == sorted(float(entry["printed"]) for entry in entries)
    assert len({(row["item"], row["row"], row["column"]) for row in printed}) == len(entries) == 166


def test_every_printed_number_is_equal_or_has_a_reason():
    rows = read_compared(RESULTS)
    assert len(rows) == len(read_rows(HERE / "printed.csv"))
    other = [row for row in rows if row["verdict"] != "equal"]
    assert {(row["verdict"], row["column"]) for row in other} == {("different", "not.tlev + NAs out")}
    assert all(row["reason"] for row in other)


def test_kept_numbers_of_the_survey_are_those_of_the_package(survey: compute.Survey, shared: Path):
    again = compare(HERE / "printed.csv", dict(compute.numbers(survey, compute.table_2(survey))))
    found = {row["computed"]: row for row in again if row["verdict"] == "not computed"}
    assert {row["item"] for row in found.values()} == {"Table 3, Adult: Dorig under exclusions"}
    kept = {(row["item"], row["row"], row["column"]): row["computed"] for row in read_compared(RESULTS)}
    for row in again:
        if row["verdict"] != "not computed":
            assert kept[row["item"], row["row"], row["column"]] == row["computed"]


def test_counts_of_table_1_are_those_of_the_package(survey: compute.Survey, shared: Path):
    rows = compute.table_1(survey)
    assert [row["measure"] for row in rows] == ["DCAPd", "DCAPs", "DCAPb", "TCAPs", "TCAPb", "TCAP"]
    assert len({row["records"] for row in rows}) == 4
    for row in rows:
        assert math.isclose(row["percent"], row["package"])


def test_figure_2_says_what_the_paper_says():
    # DiSCO and DCAPd fall with fewer released records, TCAP hardly moves, the others rise though less is released.
    rows = read_rows(RESULTS / "sizes.csv", ["target"])
    for target in ("ls", "depress", "income"):
        own = [row for row in rows if row["target"] == target]
        assert [row["k"] for row in own] == list(compute.SIZES)
        small, large = own[0], own[-1]
        for name in ("DiSCO", "DCAPd"):
            assert small[name] < large[name] / 4
        for name in ("DCAPs", "DCAPb", "TCAPs", "TCAPb"):
            assert small[name] > 1.9 * large[name]
        assert 0.85 < small["TCAP"] / large["TCAP"] < 1.05


def test_at_full_size_own_releases_are_like_those_of_the_paper():
    own = {row["target"]: row for row in read_rows(RESULTS / "sizes.csv", ["target"]) if row["k"] == 5000}
    for row in read_rows(RESULTS / "table_2.csv", ["target"]):
        for name in ("DiSCO", "DCAPd", "TCAP"):
            assert own[row["target"]][name] == pytest.approx(row[name], rel=0.06)


def test_what_exclusions_change(survey: compute.Survey, shared: Path):
    rows = {row["target"]: row for row in compute.targets(survey)}
    assert [rows["workab"][name] for name in ("one_way", "pairs")] == ["NO", 26]
    assert rows["marital"]["pairs"] == 4
    # The handed value of workab without its level NO.
    assert f"{rows['workab']['DiSCO_after']:.2f}" == "2.46"
    for target in ("income", "depress", "ls"):
        assert rows[target]["DiSCO"] == rows[target]["DiSCO_after"]


def test_without_the_files_a_survey_is_simulated():
    survey = compute.Survey(None)
    survey.original = survey.original.slice(0, 600)
    rows = compute.targets(survey)
    assert {row["target"] for row in rows} == {"marital", "income", "depress", "workab"}
    for row in compute.table_1(survey):
        assert math.isclose(row["percent"], row["package"])


def test_verdicts(tmp_path: Path):
    printed = tmp_path / "printed.csv"
    printed.write_text("item,row,column,printed,reason\nT,a,x,1.50,\nT,a,y,2.0,drawn\nT,b,x,3,why\nT,b,y,4,\n")
    computed = {
        ("T", "a", "x"): Computed(1.504),
        ("T", "a", "y"): Computed(2.25, error=0.1),
        ("T", "b", "x"): Computed(9, error=1),
    }
    rows = compare(printed, computed)
    assert [row["verdict"] for row in rows] == ["equal", "within simulation error", "different", "not computed"]
    assert [row["computed"] for row in rows] == ["1.50", "2.2", "9", ""]
    assert [row["reason"] for row in rows] == ["", "drawn", "why", "the data are not there"]
