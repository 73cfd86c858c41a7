"""Delimited text: dialects, types decided by distinct values, gaps, and bad files."""

from __future__ import annotations

import codecs
import csv
import datetime
import gzip
import io
import os
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unveil.errors import CallError, DataError, FileError, UnveilError, UnveilWarning
from unveil.files import delimited
from unveil.files.dialect import find_dialect
from unveil.files.opening import open_source
from unveil.files.source import Source, Variable


@pytest.fixture
def read(tmp_path):
    """Function that writes text or bytes to a file and opens it."""

    def opened(content: str | bytes, name: str = "people.csv", **options) -> Source:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return open_source(path, **options)

    return opened


def values(source: Source, name: str) -> list:
    return source.column(name).to_pylist()


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        (["1", "-2", "0"], pa.int64(), [1, -2, 0]),
        (["9007199254740993", "9223372036854775807"], pa.int64(), [9007199254740993, 9223372036854775807]),
        (["1.5", "2", "-.5", "1e3"], pa.float64(), [1.5, 2.0, -0.5, 1000.0]),
        (["1", "inf", "-inf"], pa.float64(), [1.0, float("inf"), float("-inf")]),
        (["1", "Inf"], pa.float64(), [1.0, float("inf")]),
        (["TRUE", "false", "True"], pa.bool_(), [True, False, True]),
        (["2020-01-05", "1960-12-31"], pa.date32(), [datetime.date(2020, 1, 5), datetime.date(1960, 12, 31)]),
        (
            ["2020-01-05 10:11", "2020-01-05T10:11:12.5"],
            pa.timestamp("us"),
            [datetime.datetime(2020, 1, 5, 10, 11), datetime.datetime(2020, 1, 5, 10, 11, 12, 500000)],
        ),
        (
            ["2020-01-05T10:11:12Z", "2020-01-05 12:11:12+02:00"],
            pa.timestamp("us", "UTC"),
            [datetime.datetime(2020, 1, 5, 10, 11, 12, tzinfo=datetime.UTC)] * 2,
        ),
    ],
)
def test_types_are_decided_by_the_values(read, cells, kind, expected):
    source = read("x,y\n" + "".join(f"{cell},a\n" for cell in cells))
    assert source.column("x").type == kind
    assert values(source, "x") == expected


@pytest.mark.parametrize(
    "cells",
    [
        ["01", "1", "02"],
        ["-07", "7"],
        ["+1", "1"],
        ["00.5", "1"],
        ["9223372036854775808", "1"],
        ["9007199254740993", "0.5"],
        ["2020-02-30", "2020-01-01"],
        ["inf", "Inf"],
        ["1", "a"],
        ["0x1A", "1"],
        ["1e400", "1"],
        ["1_000", "1"],
        ["T", "F"],
    ],
)
def test_what_would_lose_something_as_a_number_stays_text(read, cells):
    source = read("x,y\n" + "".join(f'"{cell}",a\n' for cell in cells))
    assert pa.types.is_dictionary(source.column("x").type)
    assert values(source, "x") == cells


def test_leading_zeros_far_down_the_file_keep_the_whole_column_text(read):
    cells = [str(i) for i in range(1, 30_000)] + ["007"]
    source = read("x\n" + "\n".join(cells) + "\n")
    assert values(source, "x") == cells


def test_only_the_empty_field_is_a_gap_by_default(read):
    with pytest.warns(UnveilWarning, match=r"people\.csv: column 'country': 'NA' kept as a level.*\(missing\)"):
        source = read("country,t\nNA,x\nNA,x\n,y\nNC,x\nNE,y\n")
    assert values(source, "country") == ["NA", "NA", None, "NC", "NE"]
    source = read("country,t\nNA,x\nNA,x\n,y\nNC,x\nNE,y\n", missing=("", "NA"))
    assert values(source, "country") == [None, None, None, "NC", "NE"]
    assert values(read("x,y\n-9,1\n-8,2\n", missing="-9"), "x") == [None, -8]


def test_quoted_text_is_never_a_gap(read):
    source = read('x,y\n"",1\n,2\n"NA",3\n', missing=("", "NA"))
    assert values(source, "x") == ["", None, "NA"]


@pytest.mark.parametrize("token", ["NA", "NaN", "N/A", "NULL", "null", ".", "None", "<NA>", "#N/A"])
@pytest.mark.parametrize("other", ["1", "1.5", "TRUE", "2020-01-05"])
def test_usual_tokens_among_numbers_dates_and_logicals_are_gaps(read, token, other):
    with pytest.warns(UnveilWarning, match="people.csv: column 'x': .* read as a gap"):
        source = read(f"x,y\n{other},1\n{token},2\n")
    assert values(source, "x")[1] is None
    assert not pa.types.is_dictionary(source.column("x").type)


def test_a_quoted_token_among_numbers_keeps_the_column_text(read):
    with pytest.warns(UnveilWarning, match="would hold no text but for 'NA' in quotes"):
        source = read('x,y\n1,1\n"NA",2\n')
    assert values(source, "x") == ["1", "NA"]


def test_a_quoted_blank_among_numbers_is_a_gap(read):
    with pytest.warns(UnveilWarning, match="read as a gap"):
        source = read('"x","y"\n"1","a"\n"","b"\n')
    assert values(source, "x") == [1, None]


def test_columns_without_any_value(read):
    with pytest.warns(UnveilWarning, match="column 'b': 'NA' read as a gap"):
        source = read('a,b,c\n,NA,""\n,NA,""\n')
    assert source.column("a").type == pa.null()
    assert values(source, "b") == [None, None]
    assert values(source, "c") == ["", ""]


def test_text_is_exact(read):
    cells = ["a", " a", "a ", "A", 'say "hi"', "x;y", "x,y", "two\nlines", "two\r\nlines", "é", "日本"]
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["x", "y"], *([c, "1"] for c in cells)])
    assert values(read(buffer.getvalue()), "x") == cells


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(read, delimiter):
    source = read(f"a{delimiter}b b{delimiter}c\n1{delimiter}x{delimiter}2\n")
    assert source.names == ("a", "b b", "c")


def test_semicolon_with_either_decimal_sign(read):
    spanish = "región;ingreso\nMálaga;1,5\nMálaga;2,5\nCádiz;1,5\n"
    with pytest.warns(UnveilWarning, match="cp1252"):
        source = read(spanish.encode("cp1252"))
    assert source.names == ("región", "ingreso")
    assert values(source, "ingreso") == [1.5, 2.5, 1.5]
    assert values(source, "región") == ["Málaga", "Málaga", "Cádiz"]
    assert values(read(spanish.replace(",", ".")), "ingreso") == [1.5, 2.5, 1.5]


def test_a_comma_that_may_be_a_thousands_sign_is_not_guessed_at(read):
    with pytest.warns(UnveilWarning, match="give decimal=','"):
        source = read("a;b\n1,500;x\n12,250;y\n")
    assert values(source, "a") == ["1,500", "12,250"]
    assert values(read("a;b\n1,500;x\n12,250;y\n", decimal=","), "a") == [1.5, 12.25]
    with pytest.warns(UnveilWarning, match="column 'b' holds numbers with a point"):
        source = read("a;b\n1,5;1.234\n2,5;2.345\n")
    assert values(source, "b") == ["1.234", "2.345"]


AMOUNTS = [
    (["3.007,83", "950,00", "12"], [3007.83, 950.0, 12.0]),
    (["1.234.567", "8"], [1234567, 8]),
    (["-1.234,5", "0"], [-1234.5, 0.0]),
    (["1,234.50", "7"], [1234.5, 7.0]),
    (["1,234,567", "8"], [1234567, 8]),
    (["1 234,5", "7,25"], [1234.5, 7.25]),
    (["1\u00a0234,5", "7"], [1234.5, 7.0]),
    (["1\u202f234.5", "7"], [1234.5, 7.0]),
    (["1 234", "12"], [1234, 12]),
    (["1'234.50", "3"], [1234.5, 3.0]),
    (["1\u2019234", "3"], [1234, 3]),
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(("cells", "expected"), AMOUNTS, ids=lambda v: str(v[0]))
def test_amounts_with_a_sign_of_thousands(read, cells, expected, delimiter):
    source = read(f"x{delimiter}y\n" + "".join(f'"{cell}"{delimiter}a\n' for cell in cells))
    assert values(source, "x") == expected
    forced = read(
        f"x{delimiter}y\n" + "".join(f'"{cell}"{delimiter}a\n' for cell in cells), schema={"x": {"kind": "numeric"}}
    )
    assert values(forced, "x") == expected


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1,234", "1"], "may be a decimal or a thousands sign"),
        (["1,500", "1.234"], "may be a decimal or a thousands sign"),
        (["1,5", "1"], "numbers with a decimal comma, the sign between the columns of this file"),
        (["01/02/2020", "03/04/2020"], "days that may have the day or the month first"),
        (["1-2-2020", "3-4-2020"], "days that may have the day or the month first"),
        ([f"1.00{i},50" for i in range(8)] + ["k.A."], "looks like amounts, but for"),
        ([f"377{i},50" for i in range(8)] + ["k.A."], "looks like amounts, but for"),
        ([f"{i}.04.1942" for i in range(1, 9)] + ["unknown"], "looks like days, but for"),
        ([f"{i}.04.42" for i in range(1, 9)], "looks like days, but for"),
    ],
    ids=lambda v: str(v[0]),
)
def test_amounts_and_days_that_stay_text_are_told(read, cells, said):
    with pytest.warns(UnveilWarning, match=rf"people\.csv: column 'x' holds .*{said}.*; kept as text"):
        source = read("x,y\n" + "".join(f'"{cell}",a\n' for cell in cells))
    assert values(source, "x") == cells


@pytest.mark.parametrize("cells", [["123 456", "234 567"], ["1.2.3", "1.2.4"], ["1 23", "4"], ["12 345 6", "1"]])
def test_codes_in_groups_of_digits_stay_text(read, cells):
    assert values(read("x,y\n" + "".join(f"{cell},a\n" for cell in cells)), "x") == cells


def test_a_decimal_sign_that_was_given_is_kept(read):
    assert values(read("x;y\n1.234;a\n950;b\n", decimal=","), "x") == [1234, 950]
    assert values(read("x;y\n1.234;a\n950;b\n", decimal="."), "x") == [1.234, 950.0]
    assert values(read("x;y\n1.234,5;a\n950;b\n", decimal=","), "x") == [1234.5, 950.0]
    assert values(read("x;y\n1.234,5;a\n950;b\n", decimal="."), "x") == ["1.234,5", "950"]


def test_amounts_of_one_column_tell_of_the_commas_of_others(read):
    """ "1,500" may be 1.5 or 1500; where another column has decimal commas it is 1.5."""
    source = read("x;y\n1.234,50;1,500\n950,00;2,250\n")
    assert (values(source, "x"), values(source, "y")) == ([1234.5, 950.0], [1.5, 2.25])
    with pytest.warns(UnveilWarning, match="column 'y' holds numbers whose comma may be"):
        source = read("x;y;z\n1.234,50;1,500;0.5\n950,00;2,250;2.75\n")
    assert (values(source, "x"), values(source, "z")) == ([1234.5, 950.0], [0.5, 2.75])


def day(*numbers):
    return datetime.date(*numbers)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["13.04.1942", "01.12.1950"], [day(1942, 4, 13), day(1950, 12, 1)]),
        (["1.4.1942", "13.12.1950"], [day(1942, 4, 1), day(1950, 12, 13)]),
        (["01.02.2020"], [day(2020, 2, 1)]),
        (["13/04/1942", "01/02/1950"], [day(1942, 4, 13), day(1950, 2, 1)]),
        (["04/13/1942", "01/02/1950"], [day(1942, 4, 13), day(1950, 1, 2)]),
        (["13-04-1942", "1-2-1950"], [day(1942, 4, 13), day(1950, 2, 1)]),
        (["2020/02/13", "2020/01/02"], [day(2020, 2, 13), day(2020, 1, 2)]),
        (["13.04.1942 10:11"], [datetime.datetime(1942, 4, 13, 10, 11)]),
    ],
    ids=lambda v: str(v[0]),
)
def test_days_of_other_orders(read, cells, expected):
    assert values(read("x,y\n" + "".join(f"{cell},a\n" for cell in cells)), "x") == expected
    kind = "datetime" if ":" in cells[0] else "date"
    forced = read("x,y\n" + "".join(f"{cell},a\n" for cell in cells), schema={"x": {"kind": kind}})
    assert values(forced, "x") == expected


@pytest.mark.parametrize(
    "cells", [["30.02.2020", "01.01.2020"], ["13/04/1942", "04/13/1942"], ["13.04.1942", "1942-04-13"]]
)
def test_days_that_are_not_all_of_one_order_stay_text(read, cells):
    assert values(read("x,y\n" + "".join(f"{cell},a\n" for cell in cells)), "x") == cells


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["+5", "-3", "0"], [5, -3, 0]),
        (["+1.5", "2"], [1.5, 2.0]),
        (["+5", "+5", "+7"], [5, 5, 7]),
        (["+1", "1"], ["+1", "1"]),
        (["+01", "2"], ["+01", "2"]),
        (["+-1", "2"], ["+-1", "2"]),
        (["+1.234,5", "1"], [1234.5, 1.0]),
    ],
    ids=lambda v: str(v[0]),
)
def test_plus_signs_that_tell_no_two_values_apart(read, cells, expected):
    assert values(read("x;y\n" + "".join(f"{cell};a\n" for cell in cells)), "x") == expected


@pytest.mark.parametrize("cells", [["1", "0"], ["T", "F"], ["yes", "no"], ["Y", "n"], ["TRUE", "false"]])
def test_logicals_as_stated(read, cells):
    source = read("x,y\n" + "".join(f"{cell},a\n" for cell in [*cells, ""]), schema={"x": {"kind": "logical"}})
    assert values(source, "x") == [True, False, None]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_marks_and_encodings(read, encoding):
    source = read("région,n\nÎle,1\n".encode(encoding))
    assert source.names == ("région", "n")
    assert values(source, "région") == ["Île"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": 7}, "encoding must be text, not 7"), ({"encoding": b"utf-8"}, "encoding must be text"),
        ({"encoding": "hex"}, "unknown encoding 'hex'"), ({"encoding": "\0"}, "unknown encoding"),
        ({"encoding": "undefined"}, "unknown encoding"), ({"delimiter": 5}, "delimiter must be text, not 5"),
        ({"delimiter": [","]}, "delimiter must be text"), ({"missing": 3}, "missing must be a text, or a list"),
        ({"missing": None}, "missing must be"), ({"missing": {"x": "-"}}, "missing must be"),
    ],
)  # fmt: skip
def test_options_of_another_type_are_refused(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(CallError, match=message):
        open_source(tmp_path / "a.csv", **options)


def test_given_encodings(read):
    assert values(read("a,b\nŁódź,1\n".encode("cp1250"), encoding="cp1250"), "a") == ["Łódź"]
    with pytest.raises(FileError, match=r"people\.csv: line 3 is not utf-8"):
        read(b"a,b\nx,1\n\xe1,2\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"line 40002 is not utf-8"):
        read(b"a,b\n" + b"some text to fill the block,1\n" * 40_000 + b"\xe1,2\n", encoding="utf-8")
    with pytest.raises(CallError, match="unknown encoding"):
        read("a,b\n", encoding="utf-99")


def test_windows_text_far_down_the_file(read):
    with pytest.warns(UnveilWarning, match="cp1252"):
        source = read(b"a,b\n" + b"some text to fill the first block,1\n" * 40_000 + b"\xe1,2\n")
    assert values(source, "a")[-1] == "á"


def test_gzip_is_known_by_its_content(read):
    packed = gzip.compress(b"a,b\n1,x\n")
    assert values(read(packed, "people.csv.gz"), "a") == [1]
    assert values(read(packed, "packed.csv"), "a") == [1]
    assert values(read(b"a\tb\n1\tx\n", "plain.tsv.gz"), "a") == [1]
    with pytest.raises(FileError, match=r"cut\.csv\.gz: cannot be read"):
        read(gzip.compress(os.urandom(50).hex().encode() * 999)[:-30], "cut.csv.gz")


def test_awkward_names_are_kept(read):
    source = read('"petal length (cm)","q1.2\'a","a ""b""",index,"x,y"\n1,2,3,4,5\n')
    assert source.names == ("petal length (cm)", "q1.2'a", 'a "b"', "index", "x,y")
    assert values(source, 'a "b"') == [3]


@pytest.mark.parametrize("content", [",a,b\n1,x,2\n2,y,3\n", '"a","b"\n"1","x",2\n"2","y",3\n'])
def test_row_names_of_r_are_left_out(read, content):
    with pytest.warns(UnveilWarning, match="row names"):
        source = read(content)
    assert source.names == ("a", "b")
    assert values(source, "a") == ["x", "y"]


def test_records_and_columns_at_the_small_end(read):
    source = read("a,b\n")
    assert (source.names, source.num_rows, len(source.column("a"))) == (("a", "b"), 0, 0)
    assert read("a,b").num_rows == 0
    assert values(read("a,b\n1,2"), "b") == [2]
    assert values(read("a\n1\n\n3\n"), "a") == [1, None, 3]
    assert values(read("a,b\n1,2\n\n3,4\n"), "a") == [1, 3]
    assert values(read("a,b\r\n1,2\r\n"), "b") == [2]


BAD = [
    ("age,age,t\n30,31,y\n", DataError, r"people\.csv: the column name 'age' occurs more than once"),
    ("age,,t\n30,31,y\n", DataError, r"people\.csv: column 2 has no name"),
    ("age,t,\n30,y,\n", DataError, r"the last column has no name"),
    ("", FileError, r"people\.csv: the file is empty"),
    ("\n\n", FileError, r"people\.csv: the file is empty"),
    ("a,b\n1,2\n\n3\n4,5\n", FileError, r"people\.csv: line 4 has 1 fields, the header has 2"),
    ("a,b\n1,2\n3,4,5\n", FileError, r"line 3 has 3 fields"),
    ('a,b\n1,"x\n2,y\n3,z\n', FileError, r"the quotes of the record on line 2 do not pair"),
    (b"PAR1....", FileError, "not a text file but a Parquet file"),
    (b"PK\x03\x04....", FileError, "ZIP archive or an Excel workbook"),
    (b"a,b\n1,\x00\n", FileError, "zero bytes"),
    ("<!DOCTYPE html><html>", FileError, "a web page"),
    ("sep=;\na;b\n1;2\n", FileError, "a hint for Excel"),
    ('{"a": 1}', FileError, "a JSON file"),
]


@pytest.mark.parametrize(("content", "error", "message"), BAD)
def test_bad_files_say_what_is_wrong_in_one_line(read, content, error, message):
    with pytest.raises(error, match=message) as caught:
        read(content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ",,"}, "one character"),
        ({"decimal": "x"}, "decimal must be"),
        ({"schema": 3}, "schema must be"),
    ],
)
def test_wrong_options(read, options, message):
    with pytest.raises(CallError, match=message):
        read("a,b\n1,2\n", **options)


def test_no_such_file_and_unknown_ending(tmp_path, read):
    with pytest.raises(FileError, match=r"nowhere\.csv: no such file"):
        open_source(tmp_path / "nowhere.csv")
    with pytest.raises(FileError, match="a folder"):
        open_source(tmp_path)
    with pytest.raises(FileError, match=r"unknown ending '\.xlsx'"):
        read(b"PK", "people.xlsx")


def test_declared_kinds_force_the_reading(read):
    text = "code,n,d\n1,007,2020-01-05\n2,+8,\n"
    declared = {
        "code": Variable("code", kind="categorical", levels=(1, 2)),
        "n": {"kind": "numeric"},
        "d": {"kind": "date"},
    }
    source = read(text, schema=declared)
    assert values(source, "code") == ["1", "2"]
    assert source.variable("code").levels == ("1", "2")
    assert values(source, "n") == [7, 8]
    assert values(source, "d") == [datetime.date(2020, 1, 5), None]


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("numeric", "unknown"), ("logical", "maybe"), ("date", "2020-02-30"), ("datetime", "noon")],
)
def test_a_value_not_of_its_declared_kind_is_named(read, kind, cell):
    fine = {"numeric": "1", "logical": "TRUE", "date": "2020-01-01", "datetime": "2020-01-01 10:00"}[kind]
    with pytest.raises(DataError, match=rf"people\.csv: line 3, column 'x': '{cell}' is not a {kind} value"):
        read(f"y,x\na,{fine}\nb,{cell}\n", schema={"x": {"kind": kind}})


ODD_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(st.tuples(ODD_TEXT, ODD_TEXT), min_size=1, max_size=6))
@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_any_text_comes_back_exactly(tmp_path, cells):
    path = tmp_path / "any.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("a", "b"), *cells])
    source = open_source(path, schema={name: {"kind": "categorical"} for name in "ab"})
    assert list(zip(values(source, "a"), values(source, "b"), strict=True)) == cells


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_named_error(tmp_path, content):
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        try:
            source = open_source(path)
        except UnveilError as error:
            message = str(error)
        else:
            message = "any.csv: read"
            assert all(len(source.column(name)) == source.num_rows for name in source.names)
    assert message.startswith("any.csv: ")
    assert "\n" not in message
    assert path.read_bytes() == content


def test_a_mark_alone_is_an_empty_file(read):
    with pytest.raises(FileError, match="empty"):
        read(codecs.BOM_UTF8)


def test_shared_survey_data(shared):
    source = open_source(shared / "data" / "adult.csv.gz")
    assert source.num_rows == 48_842
    assert len(source.names) == 15
    assert source.column("age").type == pa.int64()
    assert source.column("workclass").null_count == 2799
    survey = open_source(shared / "data" / "sd2011.csv")
    assert survey.column("income").null_count == 683
    assert survey.column("bmi").type == pa.float64()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are no text")
@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_names_that_are_no_text(tmp_path, ending):
    path = os.fsencode(tmp_path) + b"/caf\xe9." + ending.encode()
    with open(path, "wb") as file:
        file.write(b"a,b\n1,2\n")
    with pytest.raises(FileError, match=r"'caf\\udce9\.\w+': the path is not text, it holds half a character; rename"):
        open_source(os.fsdecode(path))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_a_text_is_found_wherever_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int):
    path = tmp_path / "x.csv"
    path.write_text('a,b\n1,"NA"\n2,NULL\n', encoding="utf-8")
    form = find_dialect(path, "x", None, None)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", size)
    assert delimited._holds_any(form, {'"NA"', '"."'})
    assert not delimited._holds_any(form, {'"NULL"', '"nan"'})
    assert not delimited._holds_any(form, ())


def test_files_without_tokens_in_quotes_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    parsed = []
    parse = delimited._parse

    def counted(*arguments):
        parsed.append(arguments)
        return parse(*arguments)

    monkeypatch.setattr(delimited, "_parse", counted)
    for text, times in (('a,b\n1,""\n2,x\n', 1), ("a,b\n1,NA\n2,5\n", 1), ('a,b\n1,"NA"\n2,5\n', 2)):
        path = tmp_path / "x.csv"
        path.write_text(text, encoding="utf-8")
        parsed.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            open_source(path)
        assert len(parsed) == times, text
