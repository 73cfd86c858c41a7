"""Releases that are coarser than the original: both are measured at the coarseness of the release."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.cli import main
from unveil.columns.hierarchy import Hierarchy

REGIONS = {"n1": ["north", "all"], "n2": "north", "s1": ["south", "all"], "s2": ["south"], "north": "all"}
AGES = {"0-17": [0, 18], "18-64": [18, 65], "65+": [65, 120], "0-64": [0, 65]}
HIERARCHIES = {"region": REGIONS, "age": AGES}


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "region": rng.choice(["n1", "n2", "s1", "s2"], n),
            "age": rng.integers(0, 90, n),
            "ill": rng.choice(["yes", "no"], n, p=[0.2, 0.8]),
        }
    )


def coarsened(table, region=None, age=None):
    """A file whose regions and ages are replaced by a function of each."""
    for name, by in (("region", region), ("age", age)):
        if by is not None:
            values = [None if v is None else by(v) for v in table.column(name).to_pylist()]
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def compass(region):
    return {"n": "north", "s": "south"}[region[0]]


def band(age):
    return "0-17" if age < 18 else "18-64" if age < 65 else "65+"


def figures(pair):
    risk = unveil.attribute(pair, ["region", "age"], target="ill")
    identity = unveil.identity(pair, ["region", "age"])
    return repr((risk.mean, identity.releases, identity.UiO))


@pytest.mark.parametrize(("region", "age"), [(compass, band), (compass, None), (None, band), (lambda r: "all", band)])
def test_the_original_is_measured_at_the_coarseness_of_the_release(region, age):
    original, release = people(), coarsened(people(300, seed=2), region, age)
    by_hand = unveil.Pair(coarsened(original, region, age), release)
    found = unveil.Pair(original, release, hierarchies=HIERARCHIES)
    assert figures(found) == figures(by_hand)
    assert figures(found) != figures(unveil.Pair(original, people(300, seed=2)))


def test_a_release_as_fine_as_the_original_changes_nothing():
    original, release = people(), people(300, seed=2)
    found = unveil.Pair(original, release, hierarchies=HIERARCHIES)
    assert found.column("age").kind == "numeric"
    assert figures(found) == figures(unveil.Pair(original, release))


def test_mixed_releases_are_compared_at_the_coarsest_common_cut():
    """The north is released as a whole and by its parts; the south by its parts alone, which stay."""
    original = people()
    release = people(300, seed=2)
    mixed = release.set_column(
        0, "region", pa.array(["north" if r == "n1" else r for r in release.column("region").to_pylist()])
    )
    with pytest.warns(unveil.UnveilWarning, match="coarse levels and finer ones below them; these are recoded too"):
        found = unveil.Pair(original, mixed, hierarchies={"region": REGIONS})

    def by(region):
        return "north" if region[0] == "n" else region

    by_hand = unveil.Pair(coarsened(original, by), coarsened(mixed, by))
    assert figures(found) == figures(by_hand)


def test_several_releases_have_one_cut():
    first, second = coarsened(people(300, 2), compass), people(300, 3)
    with pytest.warns(unveil.UnveilWarning, match="these are recoded too"):
        found = unveil.Pair(people(), [first, second], hierarchies={"region": REGIONS})
    assert found.column("region").labels == ("north", "south")


def test_values_that_no_release_holds_are_raised_as_far_as_the_least_coarse_level():
    release = coarsened(people(300, 2), compass)
    north = release.filter(pa.compute.equal(release["region"], "north"))
    found = unveil.Pair(people(), north, hierarchies={"region": REGIONS})
    assert found.column("region").labels == ("north", "south")


def test_gaps_and_special_codes_stay():
    original = pa.table({"age": [5, 20, -8, None, 70], "ill": list("ababa")})
    release = pa.table({"age": ["0-17", None, "-8", "65+", "18-64"], "ill": list("ababa")})
    found = unveil.Pair(original, release, special_codes={"age": [-8]}, hierarchies={"age": AGES})
    column = found.column("age")
    assert [column.labels[code] for code in column.original] == ["0-17", "18-64", "-8", "Missing", "65+"]


def test_the_held_out_records_are_recoded_alike():
    release = coarsened(people(300, 2), compass, band)
    ladder = [
        unveil.attribute(pair, ["region", "age"], target="ill").ladder(permutations=1).mean["DiSCO"].held_out
        for pair in (
            unveil.Pair(people(), release, people(200, 5), hierarchies=HIERARCHIES),
            unveil.Pair(coarsened(people(), compass, band), release, coarsened(people(200, 5), compass, band)),
        )
    ]
    assert ladder[0] == ladder[1]


@given(st.lists(st.integers(-5, 60), min_size=1, max_size=8, unique=True), st.integers(-10, 70))
def test_a_number_has_the_interval_that_holds_it(breaks, number):
    ends = sorted({*breaks, -8})
    made = {f"{a} to {b}": [a, b] for a, b in pairwise(ends)}
    if not made:
        return
    path = Hierarchy.of("x", made).path(str(number), float(number))
    assert list(path[1:]) == [level for level, (low, high) in made.items() if low <= number < high]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"n1": ["north", "all"], "n2": ["north", "world"]}, "'north' has two next coarser levels, 'all' and 'world'"),
        ({"a": "b", "b": "c", "c": "a"}, "levels form a circle: 'a' < 'b' < 'c' < 'a'"),
        ({"a": "a"}, "levels form a circle: 'a' < 'a'"),
        ({"0-9": [0, 10], "5-14": [5, 15]}, "the intervals '0-9' and '5-14' overlap"),
        ({"0-9": [0, 10], "again": [0, 10]}, "the intervals '0-9' and 'again' overlap"),
        ({"0-9": [0, 10], "20-29": [20, 30]}, "the intervals leave a hole from 10 to below 20"),
        ({"0-9": [0, 10], "10-14": [10, 15], "0-19": [0, 20]}, "the intervals leave a hole from 15 to below 20"),
        ({"0-9": [10, 0]}, "'0-9' is from 10 to below 0: no number lies in it"),
        ({"0-9": [0, 10, 20]}, "'0-9' takes its coarser levels, from near to far, or the two ends of an interval"),
        ({"a": 5}, "'a' takes its coarser levels"),
        ({"a": []}, "'a' takes its coarser levels"),
        ({}, "'x' takes coarser levels by level, or intervals, not {}"),
        ("north", "'x' takes coarser levels by level, or intervals, not 'north'"),
    ],
)
def test_what_is_no_hierarchy_is_refused(levels, said):
    with pytest.raises(unveil.CallError) as error:
        Hierarchy.of("x", levels)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_levels_without_a_place_columns_and_options_are_named():
    original, release = people(), coarsened(people(300, 2), compass)
    with pytest.raises(unveil.DataError, match="holds 's2', which has no place in the hierarchy"):
        unveil.Pair(original, release, hierarchies={"region": {"n1": "north", "n2": "north", "s1": "south"}})
    wrong = coarsened(release, lambda region: "nort" if region == "north" else region)
    with pytest.raises(unveil.DataError, match=r"'nort', which has no place .*; did you mean 'north'"):
        unveil.Pair(original, wrong, hierarchies={"region": REGIONS})
    with pytest.raises(unveil.CallError, match="no column 'regoin'; did you mean 'region'"):
        unveil.Pair(original, release, hierarchies={"regoin": REGIONS})
    with pytest.raises(unveil.CallError, match="leave out its breaks and kind"):
        unveil.Pair(original, coarsened(release, age=band), hierarchies=HIERARCHIES, breaks={"age": [18]})
    with pytest.raises(unveil.CallError, match="hierarchies are applied in memory"):
        unveil.Pair(original, release, hierarchies=HIERARCHIES, engine="files")
    with pytest.raises(unveil.CallError, match="hierarchies are given by column"):
        unveil.Pair(original, release, hierarchies=[REGIONS])


TOML = """
[region]
n1 = "north"
n2 = "north"
s1 = ["south"]
s2 = ["south"]

[age]
"0-17" = [0, 18]
"18-64" = [18, 65]
"65+" = [65, inf]
"""


def test_the_command_line_and_scenarios_take_a_file(tmp_path, monkeypatch, capsys):
    def run(words):
        monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
        with pytest.raises(SystemExit) as ending:
            main()
        return ending.value.code, capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    original, release = people(), coarsened(people(300, 2), compass, band)
    pyarrow.csv.write_csv(original, "o.csv")
    pyarrow.csv.write_csv(release, "s.csv")
    (tmp_path / "h.toml").write_text(TOML, encoding="utf-8")
    wanted = unveil.attribute(
        unveil.Pair(coarsened(original, compass, band), release), ["region", "age"], target="ill"
    ).mean["DiSCO"]
    status, said = run("attribute o.csv s.csv --keys region,age --target ill --hierarchies h.toml --json -")
    assert (status, json.loads(said.out)["mean"]["DiSCO"]) == (0, wanted)
    (tmp_path / "s.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nhierarchies = "h.toml"\nkeys = ["region", "age"]\ntargets = "ill"\n'
        'measures = "attribute"\n',
        encoding="utf-8",
    )
    assert run("assess --scenario s.toml --no-release-safe --json r.json")[0] == 0
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["figures"]
    assert [one["value"] for one in found if one["measure"] == "DiSCO"] == [wanted]
    wrong = {'[region]\na = "b"\nb = "a"\n': "circle", "[region\n": "not TOML", "region = 1\n": "not 1"}
    for content, part in wrong.items():
        (tmp_path / "h.toml").write_text(content, encoding="utf-8")
        status, said = run("identity o.csv s.csv --keys region --hierarchies h.toml")
        assert status == 1
        assert said.err.startswith("unveil: h.toml: ")
        assert part in said.err
        assert said.err.count("\n") == 1
