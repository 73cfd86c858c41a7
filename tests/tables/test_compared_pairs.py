"""Pairs to leave out whose key level is a comparison."""

from __future__ import annotations

import datetime
import json
import sys

import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from unveil.cli import main
from unveil.errors import CallError

AGES = [18, 19, 20, 21, 19, 40, 65, None, -8]
ORIGINAL = pa.table({"age": AGES, "a<b": list("uvuvuvuvu"), "m": ["S", "S", "S", "M", "M", "M", "W", "S", "S"]})
RELEASE = ORIGINAL.slice(0, 9)


def measured(pairs, breaks=None, keys=("age",)):
    pair = unveil.Pair(ORIGINAL, RELEASE, special_codes={"age": -8}, breaks=breaks)
    return unveil.attribute(pair, list(keys), target="m", exclude_pairs=pairs).releases


@pytest.mark.parametrize(
    ("said", "levels"),
    [
        ("<20", [18, 19]),
        ("<= 20", [18, 19, 20]),
        (">20", [21, 40, 65]),
        (">=65", [65]),
        (">-9", [18, 19, 20, 21, 40, 65]),
    ],
)
def test_a_comparison_stands_for_all_amounts_that_it_holds_for(said, levels):
    assert measured([("age", said, "S")]) == measured([("age", level, "S") for level in levels])
    assert measured([("age", said, "S")]) != measured([]) or not {18, 19, 20}.intersection(levels)


def test_groups_are_on_one_side_of_the_number():
    breaks = {"age": [20, 40]}
    assert measured([("age", "<20", "S")], breaks) == measured([("age", "below 20", "S")], breaks)
    assert measured([("age", ">=20", "S")], breaks) == measured(
        [("age", "[20,40)", "S"), ("age", "40 or more", "S")], breaks
    )
    for said, held in (("<19", "below 20"), ("<=20", r"\[20,40\)"), (">40", "40 or more"), (">=41", "40 or more")):
        with pytest.raises(CallError, match=f"age {said} holds for a part of the group '{held}' only"):
            measured([("age", said, "S")], breaks)


def test_the_last_group_by_quantiles_holds_its_upper_end():
    pair = unveil.Pair(ORIGINAL, RELEASE, special_codes={"age": -8})
    with pytest.raises(CallError, match="a part of the group"):
        unveil.attribute(pair, ["age"], target="m", ngroups_keys=3, exclude_pairs=[("age", ">=65", "S")])
    everything = unveil.attribute(pair, ["age"], target="m", ngroups_keys=3, exclude_pairs=[("age", "<=65", "S")])
    named = unveil.identity(pair, ["age"], ngroups_keys=3).grouping["age"]["levels"][:-1]
    by_name = unveil.attribute(
        pair, ["age"], target="m", ngroups_keys=3, exclude_pairs=[("age", level, "S") for level in named]
    )
    assert everything.releases == by_name.releases


def test_a_level_that_reads_like_a_comparison_is_a_level():
    table = pa.table({"size": ["<20", "20+", "<20", "20+"], "m": list("SMSM")})
    pair = unveil.Pair(table, table)
    found = unveil.attribute(pair, ["size"], target="m", exclude_pairs=[("size", "<20", "S")])
    assert found.Dorig == 50
    with pytest.raises(CallError, match="'<30'"):
        unveil.attribute(pair, ["size"], target="m", exclude_pairs=[("size", "<30", "S")])


def test_a_year_is_no_day():
    births = [datetime.date(year, 1, 1) for year in (1950, 1980, 1991, 1991)]
    table = pa.table({"birth": births, "m": list("SMSM")})
    with pytest.raises(CallError, match="column 'birth' has no level '<1990'"):
        unveil.attribute(unveil.Pair(table, table), ["birth"], target="m", exclude_pairs=[("birth", "<1990", "S")])


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(ORIGINAL, "o.csv")

    def found(*pairs):
        words = ["attribute", "o.csv", "o.csv", "--keys", "age,a<b", "--target", "m", "--special-codes", "age=-8"]
        monkeypatch.setattr(sys, "argv", ["unveil", *words, *(f"--exclude-pairs={p}" for p in pairs), "--json", "-"])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        out, err = capsys.readouterr()
        return json.loads(out)["releases"] if status == 0 else err

    assert (
        found("age<20:S") == found("age=18:S", "age=19:S") == list(measured([("age", "<20", "S")], keys=("age", "a<b")))
    )
    assert found("a<b=u:S") == list(measured([("a<b", "u", "S")], keys=("age", "a<b")))
    assert "age<20:SINGLE, not 'agee=1'" in found("agee=1")
