"""Declarations as options of ``read``, and what it returns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError

TABLE = pa.table({"sex": ["f", "m", "f"], "income": [100, -8, 300], "grade": [1, 2, 1]})


def test_options_declare_what_a_schema_would():
    by_options = unveil.read(TABLE, kinds={"grade": "categorical"}, special_codes={"income": -8})
    by_schema = unveil.read(TABLE, schema={"grade": {"kind": "categorical"}, "income": {"special_codes": [-8]}})
    assert [by_options.variable(name) for name in TABLE.column_names] == [
        by_schema.variable(name) for name in TABLE.column_names
    ]


@pytest.mark.parametrize("codes", [np.array([-8, -9]), {-8, -9}, pa.array([-8, -9]), range(-9, -7)])
def test_special_codes_are_listed_in_any_way(codes):
    read = unveil.read(TABLE, special_codes={"income": codes}).variable("income").special_codes
    assert sorted(read) == [-9, -8]
    assert {type(code) for code in read} == {int}


def test_options_add_to_a_schema_and_do_not_contradict_it():
    schema = {"income": {"kind": "numeric"}}
    both = unveil.read(TABLE, schema=schema, special_codes={"income": [-8, -9]}).variable("income")
    assert (both.kind, both.special_codes) == ("numeric", (-8, -9))
    with pytest.raises(CallError, match="column 'income': the schema declares kind 'numeric', not 'categorical'"):
        unveil.read(TABLE, schema=schema, kinds={"income": "categorical"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"special_codes": [-8]}, "special_codes are given by column"),
        ({"kinds": "numeric"}, "kinds are given by column"),
        ({"kinds": {"income": "number"}}, "'income'"),
        ({"special_codes": {"incom": -8}}, "'incom'.*'income'"),
    ],
)
def test_wrong_options_are_named(options, said):
    with pytest.raises(CallError, match=said):
        unveil.read(TABLE, **options)


def test_a_part_is_a_file_and_a_frame():
    source = unveil.read(TABLE)
    part = source[1:]
    assert part.to_frame().equals(TABLE.slice(1))
    assert source[::2].to_frame("arrow").column("income").to_pylist() == [100, 300]
    assert unveil.identity(unveil.Pair(source, part), ["sex"]).n_synthetic == (2,)
    assert repr(source) == "Source: data (3 records), columns sex, income, grade"
    with pytest.raises(CallError, match="a slice"):
        source["sex"]
    with pytest.raises(TypeError, match="not iterable"):
        list(source)


def test_frames_in_the_place_of_a_pair():
    for measure in (unveil.identity, unveil.attribute, unveil.utility, unveil.posterior, unveil.rapid):
        with pytest.raises(CallError, match=rf"{measure.__name__}\(unveil.Pair\(original, release\)"):
            measure(TABLE, TABLE, ["sex"], "grade")
    with pytest.raises(CallError, match=r"identity\(unveil.Pair\(original, release\)"):
        unveil.identity(pair=TABLE, keys=["sex"])


def test_names_are_there_to_be_completed():
    risk = unveil.attribute(unveil.Pair(TABLE, TABLE), ["sex"], target="income")
    assert {"DiSCO", "Dorig", "to_frame"} <= set(dir(risk))
    assert "Any" not in dir(unveil)
    assert {"assess", "posterior", "sdc"} <= set(dir(unveil))


def test_checks_as_a_frame():
    original = pa.table({"sex": ["f"] * 60 + ["m"] * 60, "ill": ["no"] * 60 + ["yes"] * 60})
    risk = unveil.attribute(unveil.Pair(original, original), ["sex"], target="ill", check_1way=(50, 40))
    rows = risk.checks().to_pylist()
    assert [row["check"] for row in rows] == ["1-way"] * bool(risk.check_1way[0]) + ["2-way"] * len(risk.check_2way[0])
    assert len(rows) >= 2
    for row, flag in zip(rows[-len(risk.check_2way[0]) :], risk.check_2way[0], strict=True):
        assert {name: row[name] for name in flag} == flag
    assert rows[0]["target_level"] == risk.check_1way[0]["level"]
    nothing = unveil.attribute(unveil.Pair(original, original), ["sex"], target="ill", check_1way=(500, 99))
    assert nothing.checks().column_names == risk.checks().column_names
