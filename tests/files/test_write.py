"""Writing: what is read back has the same values, and nothing is left of a failure."""

from __future__ import annotations

import datetime
import importlib.util

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unveil.errors import CallError, DataError, FileError, UnveilWarning
from unveil.files import write
from unveil.files.opening import open_source
from unveil.files.source import Variable
from unveil.files.statistical import letter_code
from unveil.files.write import write_table

DAY = datetime.date(2020, 1, 5)
MOMENT = datetime.datetime(2020, 1, 5, 10, 11, 12)
TABLE = pa.table(
    {
        "code": pa.array(["01", "1", None, "NA"]),
        "edu": pa.array(["high", "low", None, "low"]).dictionary_encode(),
        "income": pa.array([1500, -8, None, 20]),
        "x": pa.array([0.1, 2.5, None, -1e-7]),
        "flag": pa.array([True, False, None, True]),
        "day": pa.array([DAY, DAY, None, DAY]),
        "moment": pa.array([MOMENT, MOMENT, None, MOMENT]),
    }
)
VARIABLES = {
    "edu": Variable("edu", kind="ordered", levels=("low", "mid", "high")),
    "income": Variable("income", kind="numeric", special_codes=(-8,), labels={-8: "not applicable"}),
}
HAS_STATISTICAL = importlib.util.find_spec("pyreadstat") and any(map(importlib.util.find_spec, ("pandas", "polars")))
needs_pyreadstat = pytest.mark.skipif(
    not HAS_STATISTICAL, reason="SPSS, Stata and SAS files need pyreadstat and a frame library"
)


def rows(source):
    return {name: source.column(name).to_pylist() for name in source.names}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.b.csv", "a.parquet", "a.feather", "a.arrow"])
def test_values_come_back(tmp_path, name):
    write_table(TABLE, tmp_path / name, VARIABLES)
    source = open_source(tmp_path / name)
    assert rows(source) == TABLE.to_pydict()
    if not name.endswith(("csv", "gz", "tsv")):
        assert source.variables == VARIABLES
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_text_files_keep_empty_text_apart_from_gaps(tmp_path):
    table = pa.table({'a "b", c': ["", None, 'say "hi"', "two\nlines"], "é": [float("nan"), 1.5, None, float("inf")]})
    write_table(table, tmp_path / "a.csv")
    assert rows(open_source(tmp_path / "a.csv")) == {
        'a "b", c': ["", None, 'say "hi"', "two\nlines"],
        "é": [None, 1.5, None, float("inf")],
    }


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_empty_and_all_gaps(tmp_path, name):
    write_table(TABLE.slice(0, 0), tmp_path / name)
    assert open_source(tmp_path / name).num_rows == 0
    gaps = pa.table({"a": pa.nulls(3), "b": pa.array([None, None, None], pa.string())})
    write_table(gaps, tmp_path / name, overwrite=True)
    assert rows(open_source(tmp_path / name)) == gaps.to_pydict()


CELLS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.lists(CELLS, min_size=1, max_size=6), data=st.data())
def test_any_text_comes_back(tmp_path, first, data):
    second = data.draw(st.lists(CELLS, min_size=len(first), max_size=len(first)))
    table = pa.table({"a": pa.array(first, pa.string()), "b": pa.array(second, pa.string())})
    schema = {name: {"kind": "categorical"} for name in "ab"}
    write_table(table, tmp_path / "a.csv", overwrite=True)
    assert rows(open_source(tmp_path / "a.csv", schema=schema)) == table.to_pydict()


@needs_pyreadstat
@pytest.mark.parametrize("name", ["a.sav", "a.zsav"])
def test_spss_keeps_labels_order_and_special_codes(tmp_path, name):
    write_table(TABLE, tmp_path / name, VARIABLES)
    source = open_source(tmp_path / name)
    assert rows(source) == TABLE.to_pydict() | {"flag": ["TRUE", "FALSE", None, "TRUE"]}
    assert source.variable("edu").levels == ("low", "mid", "high")
    assert source.variable("edu").kind == "ordered"
    assert source.variable("income").special_codes == (-8,)
    assert source.variable("income").labels == {-8: "not applicable"}
    write_table(TABLE, tmp_path / f"again{name}", source.variables)
    assert open_source(tmp_path / f"again{name}").variables == source.variables


@needs_pyreadstat
def test_spss_keeps_many_special_codes_as_a_range(tmp_path):
    codes = (-9, -8, -7, -1)
    table = pa.table({"x": [*codes, 5, 10]})
    write_table(table, tmp_path / "a.sav", {"x": Variable("x", special_codes=codes)})
    assert open_source(tmp_path / "a.sav").variable("x").special_codes == codes
    table = pa.table({"x": [*codes, -5, 10]})
    with pytest.warns(UnveilWarning, match="cannot keep all special codes of column 'x'"):
        write_table(table, tmp_path / "b.sav", {"x": Variable("x", special_codes=codes)})


@needs_pyreadstat
def test_stata_keeps_letters(tmp_path):
    a, b = letter_code("a"), letter_code("b")
    table = pa.table({"n": pa.array([1, a, None, b]), "s": ["x", "y", None, "x"], "d": [DAY] * 4})
    variables = {"n": Variable("n", kind="numeric", special_codes=(a, b), labels={a: "refused", b: ".b"})}
    write_table(table, tmp_path / "a.dta", variables)
    source = open_source(tmp_path / "a.dta")
    assert rows(source) == table.to_pydict()
    assert source.variable("n").special_codes == (a, b)
    assert source.variable("n").labels[a] == "refused"


@needs_pyreadstat
def test_what_a_format_does_not_keep_is_said(tmp_path):
    with pytest.warns(UnveilWarning, match="Stata files do not keep the special codes of column 'income'"):
        write_table(TABLE, tmp_path / "a.dta", VARIABLES)
    assert rows(open_source(tmp_path / "a.dta"))["income"] == [1500, -8, None, 20]
    with pytest.warns(
        UnveilWarning, match="SAS transport files do not keep the declarations of column 'edu', 'income'"
    ):
        write_table(TABLE, tmp_path / "a.xpt", VARIABLES)
    assert rows(open_source(tmp_path / "a.xpt"))["edu"] == ["high", "low", None, "low"]
    with pytest.raises(DataError, match=r"b\.sav: column 'n' holds integers beyond 2\^53"):
        write_table(pa.table({"n": [2**60]}), tmp_path / "b.sav")
    assert not (tmp_path / "b.sav").exists()


def test_an_existing_file_is_not_overwritten_by_accident(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("precious")
    with pytest.raises(FileError, match=r"a\.csv: the file exists"):
        write_table(TABLE, path)
    assert path.read_text() == "precious"
    write_table(TABLE, path, overwrite=True)
    assert open_source(path).num_rows == 4


def test_nothing_is_left_of_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("precious")

    def fails(table, temporary, variables, label):
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(write._WRITERS, ".csv", fails)
    with pytest.raises(FileError, match=r"a\.csv: cannot be written \(No space left on device\)"):
        write_table(TABLE, path, overwrite=True)
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_wrong_targets(tmp_path):
    with pytest.raises(CallError, match=r"a\.xlsx: unknown ending"):
        write_table(TABLE, tmp_path / "a.xlsx")
    with pytest.raises(FileError, match="cannot be written"):
        write_table(TABLE, tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataError, match="occurs more than once"):
        write_table(pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"]), tmp_path / "a.csv")
