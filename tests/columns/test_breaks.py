"""Numeric columns cut at breaks that are given: in the pair, a schema, an option, and on the command line."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from command_line import called
from unveil.cli import main
from unveil.columns.grouping import grouped
from unveil.errors import CallError

AGES = [3, 17, 18, 29, 30, 64, 65, 90, None, -8]
BREAKS = [18, 30, 65]
GROUPS = ["below 18"] * 2 + ["[18,30)"] * 2 + ["[30,65)"] * 2 + ["65 or more"] * 2 + [None, "-8"]
ILL = [*"abababab", "a", "b"]
ORIGINAL = pa.table({"age": AGES, "ill": ILL})
RELEASE = pa.table({"age": [5, 19, 19, 31, 70, None, -8], "ill": list("aabbaab")})
CUT = pa.table({"age": GROUPS, "ill": ILL})
CUT_RELEASE = pa.table(
    {"age": ["below 18", "[18,30)", "[18,30)", "[30,65)", "65 or more", None, "-8"], "ill": list("aabbaab")}
)
BY_HAND = unveil.Pair(CUT, CUT_RELEASE)
WITH_BREAKS = {
    "pair": lambda: unveil.Pair(ORIGINAL, RELEASE, special_codes={"age": -8}, breaks={"age": BREAKS}),
    "schema": lambda: unveil.Pair(ORIGINAL, RELEASE, schema={"age": {"special_codes": [-8], "breaks": BREAKS}}),
}


@pytest.mark.parametrize("how", WITH_BREAKS)
def test_figures_are_those_of_files_cut_by_hand(how):
    pair = WITH_BREAKS[how]()
    for measure in (
        lambda p: unveil.identity(p, ["age"]).releases,
        lambda p: unveil.attribute(p, ["age"], target="ill").releases,
        lambda p: unveil.attribute(p, ["ill"], target="age").releases,
        lambda p: unveil.structure(p, ["age", "ill"]).releases,
        lambda p: unveil.key_sets(p, ["age", "ill"]).sets,
    ):
        assert measure(pair) == measure(BY_HAND)
    risk = unveil.identity(pair, ["age"])
    assert risk.grouping["age"]["breaks"] == BREAKS
    assert risk.grouping["age"]["style"] == "breaks"
    assert "below 18" in str(risk)
    # Columns as they are for measures that do not count combinations.
    assert pair.column("age").kind == "numeric"


def test_an_option_of_a_measure_counts_before_the_pair():
    pair = WITH_BREAKS["pair"]()
    own = unveil.identity(pair, ["age"], ngroups_keys={"age": [50]})
    assert own.grouping["age"]["levels"] == ["below 50", "50 or more", "-8"]
    assert unveil.identity(pair, ["age"], ngroups_keys={"age": 0}).grouping == {}
    assert unveil.identity(pair, ["age"], ngroups_keys={"age": 3}).grouping["age"]["style"] == "quantile"


@pytest.mark.parametrize(
    "breaks", [[], [30, 18], [18, 18], ["x"], [float("nan")], "18", 18, [[1], [2]], [1, float("inf")], [10**400]]
)
def test_wrong_breaks_are_named(breaks):
    with pytest.raises(CallError, match=r"column 'age': breaks are numbers in ascending order"):
        unveil.Pair(ORIGINAL, RELEASE, breaks={"age": breaks})


@pytest.mark.parametrize("breaks", [[18, 30], np.array([18, 30]), (18, 30)])
def test_a_variable_takes_breaks_as_the_pair_does(breaks):
    schema = {"age": unveil.Variable("age", breaks=breaks)}
    found = unveil.identity(unveil.Pair(ORIGINAL, RELEASE, schema=schema), ["age"])
    assert found.grouping == unveil.identity(unveil.Pair(ORIGINAL, RELEASE, breaks={"age": breaks}), ["age"]).grouping


@pytest.mark.parametrize("breaks", [20, "18", [30, 18]])
def test_wrong_breaks_of_a_variable_are_named(breaks):
    with pytest.raises(CallError, match="column 'age': breaks must be numbers in ascending order"):
        unveil.read(ORIGINAL, schema={"age": unveil.Variable("age", breaks=breaks)})


def test_neighbouring_numbers_as_breaks_have_labels_of_their_own():
    breaks = [0.1, np.nextafter(0.1, 1), np.nextafter(np.nextafter(0.1, 1), 1)]
    levels = unveil.identity(unveil.Pair(ORIGINAL, RELEASE, breaks={"age": breaks}), ["age"]).grouping["age"]["levels"]
    assert len(set(levels)) == len(levels) == 4


def test_only_numbers_of_known_columns_are_cut():
    with pytest.raises(CallError, match=r"no column 'aged'.*'age'"):
        unveil.Pair(ORIGINAL, RELEASE, breaks={"aged": [1]})
    with pytest.raises(CallError, match="'ill' is categorical and cannot be grouped"):
        unveil.identity(unveil.Pair(ORIGINAL, RELEASE, breaks={"ill": [1]}), ["ill"])
    with pytest.raises(CallError, match="'age': breaks must be numbers"):
        unveil.read(ORIGINAL, schema={"age": {"breaks": ["2020-01-01"]}})


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=40),
    st.lists(st.integers(-60, 60), min_size=1, max_size=6, unique=True).map(sorted),
)
def test_every_amount_is_in_the_group_whose_break_is_the_last_below_it(amounts, breaks):
    table = pa.table({"x": amounts})
    column = unveil.Pair(table, table, kinds={"x": "numeric"}).column("x")
    cut, _ = grouped(column, tuple(map(float, breaks)))
    assert cut.original.tolist() == [sum(b <= x for b in breaks) for x in amounts]


def test_files_that_are_counted_batch_by_batch_and_held_out_records(tmp_path):
    rng = np.random.default_rng(1)
    tables = [
        pa.table({"age": rng.integers(0, 99, n), "sex": rng.choice(["f", "m"], n), "ill": rng.choice(list("abc"), n)})
        for n in (300, 200, 250)
    ]
    paths = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for path, table in zip(paths, tables, strict=True):
        pyarrow.parquet.write_table(table, path)
    found = [
        unveil.attribute(
            unveil.Pair(paths[0], paths[1], paths[2], breaks={"age": BREAKS}, engine=engine),
            ["age", "sex"],
            target="ill",
        )
        for engine in ("memory", "files")
    ]
    assert found[0].releases == found[1].releases
    by_hand = [
        pa.table({**{n: t.column(n) for n in ("sex", "ill")}, "age": np.digitize(t.column("age"), BREAKS).astype(str)})
        for t in tables
    ]
    expected = unveil.attribute(unveil.Pair(*by_hand), ["age", "sex"], target="ill")
    assert found[0].releases == expected.releases
    rungs = [risk.ladder(permutations=19, seed=1) for risk in (found[0], expected)]
    assert str(rungs[0]).split("held out")[1].split()[:40] == str(rungs[1]).split("held out")[1].split()[:40]


def test_breaks_on_the_command_line_and_in_a_scenario(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, table in (("o.csv", ORIGINAL), ("s.csv", RELEASE)):
        pyarrow.csv.write_csv(table, name)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["unveil", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    words = ("identity", "o.csv", "s.csv", "--keys", "age", "--special-codes", "age=-8", "--json", "-")
    status, out, _ = call(*words, "--breaks", "age=18:30:65")
    assert status == 0
    assert json.loads(out)["grouping"]["age"]["levels"] == ["below 18", "[18,30)", "[30,65)", "65 or more", "-8"]
    status, _, err = call(*words, "--breaks", "age=18:x")
    assert status == 2
    assert "such as age=18:30:65" in err
    (tmp_path / "s.toml").write_text(
        'original = "o.csv"\nsynthetic = "s.csv"\nkeys = ["age"]\ntargets = ["ill"]\nspecial_codes = {age = [-8]}\n'
        'breaks = {age = [18, 30, 65]}\nmeasures = ["identity"]\nminimum_count = 1\n'
    )
    status, out, err = call("assess", "--scenario", "s.toml", "--json", "a.json", "--no-release-safe")
    assert status == 0, err
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["scenario"]["breaks"] == {"age": [18.0, 30.0, 65.0]}
    figure = next(one for one in found["figures"] if one["measure"] == "repU")
    assert figure["value"] == pytest.approx(unveil.identity(BY_HAND, ["age"]).repU)


def test_a_range_that_does_not_count_is_the_same_by_every_way_to_say_it(tmp_path, monkeypatch, capsys):
    """Keys, targets and `age<20:SINGLE`, in an assessment by scenario, options and schema, as in files cut by hand."""
    original, release = (unveil.simulate.demo_population(300, seed=seed) for seed in (1, 2))
    breaks = {"age": [20, 40, 65], "income": [1000, 2000]}

    def by_hand(table):
        for name, ends in breaks.items():
            values = [v if v is None or v == -8 else sum(v >= end for end in ends) for v in table[name].to_pylist()]
            texts = pa.array([None if v is None else f"group {v}" for v in values])
            table = table.set_column(table.column_names.index(name), name, texts)
        return table

    pair, keys = unveil.Pair(by_hand(original), by_hand(release)), ["sex", "age", "region"]
    wanted = {
        "marital": unveil.attribute(pair, keys, target="marital", exclude_pairs=["age=group 0:SINGLE"]).mean["DiSCO"],
        "income": unveil.attribute(pair, keys, target="income").mean["DiSCO"],
    }
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(original, "o.csv")
    pyarrow.csv.write_csv(release, "r.csv")
    (tmp_path / "schema.toml").write_text(
        "[columns.age]\nbreaks = [20, 40, 65]\n[columns.income]\nbreaks = [1000, 2000]\nspecial_codes = [-8]\n"
    )
    (tmp_path / "s.toml").write_text(
        'original = "o.csv"\nsynthetic = "r.csv"\nkeys = ["sex", "age", "region"]\ntargets = ["income", "marital"]\n'
        'measures = "attribute"\nexclude_pairs = ["age<20:SINGLE"]\n[breaks]\nage = [20, 40, 65]\n'
        "income = [1000, 2000]\n[special_codes]\nincome = [-8]\n"
    )
    shared = "o.csv r.csv --keys sex,age,region --targets income,marital --measures attribute"
    for words in (
        "--scenario s.toml",
        f"{shared} --breaks age=20:40:65,income=1000:2000 --special-codes income=-8 --exclude-pairs age<20:SINGLE",
        f"{shared} --schema schema.toml --exclude-pairs age<20:SINGLE",
    ):
        call = ["assess", *words.split(), "--no-release-safe", "--json", "-", "--html", "p.html", "--overwrite"]
        status, out, err = called(call, monkeypatch, capsys)
        assert status == 0, err
        figures = json.loads(out)["figures"]
        assert {f["target"]: f["value"] for f in figures if f["measure"] == "DiSCO"} == pytest.approx(wanted)
        assert "--breaks age=20:40:65" in (tmp_path / "p.html").read_text(encoding="utf-8")
