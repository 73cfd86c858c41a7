"""SPSS, Stata and SAS files: labels, user missing values, dates, and what belongs to no such file."""

from __future__ import annotations

import datetime
import importlib
import importlib.util
from types import SimpleNamespace

import pyarrow as pa
import pytest

from unveil.errors import DataError, FileError, MissingPackageError, UnveilWarning
from unveil.files import statistical
from unveil.files.opening import open_source
from unveil.files.statistical import letter_code

pyreadstat = pytest.importorskip("pyreadstat", reason="for SPSS, Stata and SAS files")
FRAMES = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
if not FRAMES:
    pytest.skip("pyreadstat writes pandas or polars frames only", allow_module_level=True)

DAY = datetime.date(2020, 1, 5)
MOMENT = datetime.datetime(2020, 1, 5, 10, 11, 12)


def frame(columns):
    library = importlib.import_module(FRAMES[0])
    if FRAMES[0] == "pandas":
        return library.DataFrame(
            {n: library.Series(v, dtype=object if None in v else None) for n, v in columns.items()}
        )
    return library.DataFrame(columns)


def values(source, name):
    return source.column(name).to_pylist()


def spss(tmp_path, columns, **options):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(frame(columns), str(path), **options)
    return open_source(path)


def test_a_column_whose_values_all_have_labels_is_categorical(tmp_path):
    source = spss(
        tmp_path,
        {"sex": [2.0, 1.0, None, 2.0], "edu": [1.0, 3.0, 3.0, 1.0]},
        variable_value_labels={
            "sex": {1: "male", 2: "female", 3: "other"},
            "edu": {1: "low", 2: "mid", 3: "high"},
        },
        variable_measure={"edu": "ordinal"},
    )
    assert values(source, "sex") == ["female", "male", None, "female"]
    variable = source.variable("sex")
    assert (variable.kind, variable.levels) == ("categorical", ("male", "female", "other"))
    assert variable.labels == {1: "male", 2: "female", 3: "other"}
    assert (source.variable("edu").kind, source.variable("edu").levels) == ("ordered", ("low", "mid", "high"))


def test_user_missing_values_of_a_number_are_special_codes(tmp_path):
    source = spss(
        tmp_path,
        {"income": [1500.0, -8.0, None, 20.0], "age": [30.0, -1.0, -2.0, 40.5]},
        variable_value_labels={"income": {-8: "not applicable"}},
        missing_ranges={"income": [-8, -9], "age": [{"lo": -99, "hi": -1}]},
    )
    assert values(source, "income") == [1500, -8, None, 20]
    assert source.column("income").type == pa.int64()
    variable = source.variable("income")
    assert (variable.kind, variable.special_codes) == ("numeric", (-9, -8))
    assert variable.labels == {-8: "not applicable"}
    assert source.variable("age").special_codes == (-2, -1)
    assert values(source, "age") == [30.0, -1.0, -2.0, 40.5]


def test_user_missing_values_of_a_categorical_column_are_levels(tmp_path):
    source = spss(
        tmp_path,
        {"sex": [1.0, 2.0, -9.0, None]},
        variable_value_labels={"sex": {1: "male", 2: "female"}},
        missing_ranges={"sex": [-9]},
    )
    assert values(source, "sex") == ["male", "female", "-9", None]
    assert source.variable("sex").levels == ("-9", "male", "female")


def test_equal_labels_of_two_codes_are_not_merged(tmp_path):
    columns = {"x": [1.0, 2.0, 3.0]}
    with pytest.warns(UnveilWarning, match=r"people\.sav: column 'x': several codes have the label 'other'"):
        source = spss(tmp_path, columns, variable_value_labels={"x": {1: "other", 2: "other", 3: "none"}})
    assert values(source, "x") == ["other (1)", "other (2)", "none"]


def test_text_loses_its_padding_and_dates_stay_dates(tmp_path):
    source = spss(
        tmp_path,
        {"s": ["F   ", " M", "", "F"], "d": [DAY, None, DAY, DAY], "t": [MOMENT, None, MOMENT, MOMENT]},
    )
    assert values(source, "s") == ["F", " M", None, "F"]
    assert values(source, "d") == [DAY, None, DAY, DAY]
    assert values(source, "t") == [MOMENT, None, MOMENT, MOMENT]
    assert source.column("d").type == pa.date32()


def test_labels_of_text(tmp_path):
    source = spss(tmp_path, {"s": ["a", "b", "a"]}, variable_value_labels={"s": {"a": "Anna", "b": "Bert"}})
    assert values(source, "s") == ["Anna", "Bert", "Anna"]


def test_labels_of_some_numbers_only_leave_the_column_numeric(tmp_path):
    source = spss(tmp_path, {"n": [0.0, 1.0, 25.0]}, variable_value_labels={"n": {0: "none", 25: "25 or more"}})
    assert values(source, "n") == [0, 1, 25]
    assert source.variable("n").labels == {0: "none", 25: "25 or more"}
    assert source.variable("n").kind == "numeric"


def test_letters_of_stata_stay_different_answers(tmp_path):
    path = tmp_path / "people.dta"
    library = importlib.import_module(FRAMES[0])
    cells = [1.0, 2.0, "a", None, "b"]
    if FRAMES[0] == "pandas":
        data = library.DataFrame({"n": library.Series(cells, dtype=object), "sex": library.Series(cells, dtype=object)})
    else:
        data = library.DataFrame({name: library.Series(cells, dtype=library.Object) for name in ("n", "sex")})
    labels = {"sex": {1: "male", 2: "female", "a": "refused"}, "n": {"a": "refused"}}
    pyreadstat.write_dta(
        data,
        str(path),
        missing_user_values={"n": ["a", "b"], "sex": ["a", "b"]},
        variable_value_labels=labels,
    )
    source = open_source(path)
    a, b = letter_code("a"), letter_code("b")
    assert values(source, "n") == [1, 2, a, None, b]
    assert source.column("n").type == pa.int64()
    assert source.variable("n").special_codes == (a, b)
    assert source.variable("n").labels == {a: "refused", b: ".b"}
    assert values(source, "sex") == ["male", "female", "refused", None, ".b"]
    assert source.variable("sex").levels == ("male", "female", "refused", ".b")


def test_a_number_in_the_place_of_a_letter_is_refused(monkeypatch):
    meta = SimpleNamespace(
        column_names=["n"],
        readstat_variable_types={"n": "double"},
        variable_value_labels={},
        variable_measure={},
        missing_ranges={},
    )
    data = {"n": ["a", float(letter_code("b"))]}
    monkeypatch.setattr(statistical, "read_aside", lambda *_, **__: (data, meta))
    with pytest.raises(DataError, match="column 'n' holds -2000000002"):
        statistical.read_statistical("people.dta", "people.dta", ".dta")


def test_single_precision_equals_its_decimals(tmp_path):
    meta = SimpleNamespace(readstat_variable_types={"x": "float"}, variable_value_labels={}, variable_measure={})
    column, variable = statistical._column("x", [0.10000000149011612, None], meta, "people.dta")
    assert column.to_pylist() == [0.1, None]
    assert variable is None


def test_transport_file_of_sas(tmp_path):
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(frame({"n": [1.0, 2.0], "s": ["F ", "M"], "d": [DAY, DAY]}), str(path))
    source = open_source(path)
    assert [values(source, name) for name in source.names] == [[1, 2], ["F", "M"], [DAY, DAY]]


def test_no_records(tmp_path):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(frame({"n": [1.0], "s": ["a"]})[:0], str(path))
    source = open_source(path)
    assert (source.names, source.num_rows) == (("n", "s"), 0)


@pytest.mark.parametrize("ending", list(statistical.FORMATS))
def test_what_is_no_such_file(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    path.write_bytes(b"a,b\n1,2\n" * 100)
    with pytest.raises(FileError, match=rf"people{ending}: not a readable") as caught:
        open_source(path)
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = tmp_path / "people.sav"
    path.write_bytes(b"$FL2")

    monkeypatch.setattr(statistical, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"people\.sav: .*pip install 'unveil\[files\]'"):
        open_source(path)


IMPOSSIBLE = [13_000_000_000.0, 1e18, 13_000_086_400.0, -1e16, None]


@pytest.mark.parametrize(
    ("ending", "write", "form", "dates"),
    [
        ("sav", "write_sav", "DATE11", IMPOSSIBLE),
        ("dta", "write_dta", "%td", [20_000.0, 1e12, 20_001.0, -1e12, None]),
        ("xpt", "write_xport", "DATE9.", [20_000.0, 1e12, 20_001.0, -1e12, None]),
    ],
)
def test_impossible_dates_cost_their_cells_only(tmp_path, ending, write, form, dates):
    path = tmp_path / f"people.{ending}"
    people = frame({"day": dates, "age": [20, 30, 40, 50, 60]})
    getattr(pyreadstat, write)(people, str(path), variable_format={"day": form})
    with pytest.warns(UnveilWarning, match=r"column 'day', records 2, 4: no calendar has the date; they were read as"):
        source = open_source(path)
    assert source.column("age").to_pylist() == [20, 30, 40, 50, 60]
    days = source.column("day").to_pylist()
    assert [day is None for day in days] == [False, True, False, True, True]
    assert (days[2] - days[0]).days == 1


def test_a_column_of_impossible_dates_keeps_its_numbers(tmp_path):
    path = tmp_path / "people.dta"
    people = frame({"day": [1e12 + i for i in range(300)], "age": list(range(300))})
    pyreadstat.write_dta(people, str(path), variable_format={"day": "%td"})
    with pytest.warns(UnveilWarning, match=r"column 'day' is declared to hold dates.*read as numbers"):
        source = open_source(path)
    assert source.column("day").to_pylist() == [10**12 + i for i in range(300)]
