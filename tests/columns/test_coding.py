"""Codes and levels of one column: distinct values, one kind of value for all files, labels, and groups."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil.columns.column import MISSING, CodedColumn, are_numbers
from unveil.columns.grouping import Grouping, grouped
from unveil.columns.harmonise import as_kind, harmonise
from unveil.errors import CallError, DataError
from unveil.files.distinct import Distinct, distinct_values, level_text, level_texts

INF, NAN = math.inf, math.nan


def distinct(values: Any, label: str = "file", name: str = "x") -> Distinct:
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return distinct_values(column, label=label, name=name)


def decoded(found: Distinct) -> list[Any]:
    """What each record holds, from codes and values; None for a gap."""
    values = [*found.values.to_pylist(), None]
    return [values[code] for code in found.codes]


# ----------------------------------------------------------------------------------------- distinct values
@pytest.mark.parametrize(
    ("values", "family"),
    [
        (pa.array([3, 1, None, 3]), "number"),
        (pa.array([0, 10**9, None, 0]), "number"),
        (pa.array([-(2**63), 2**63 - 1, None]), "number"),
        (pa.array([5, 6, None], pa.int8()), "number"),
        (pa.array([0.5, None, 0.5, INF]), "number"),
        (pa.array(["a", None, "", "a"]), "text"),
        (pa.array([True, None, False]), "logical"),
        (pa.array([datetime.date(2020, 1, 5), None]), "date"),
        (pa.array([datetime.datetime(2020, 1, 5, 3), None]), "datetime"),
        (pa.nulls(2), "empty"),
        (pa.array([None, None], pa.string()), "empty"),
        (pa.array([None], pa.int64()), "empty"),
        (pa.array([], pa.float64()), "empty"),
    ],
)
def test_codes_and_values_give_the_column_back(values: pa.Array, family: str):
    found = distinct(values)
    assert found.family == family
    assert decoded(found) == values.to_pylist()
    assert found.codes.dtype == np.int32
    assert len(set(found.values.to_pylist())) == len(found.values)
    assert set(found.codes[found.codes < len(found.values)].tolist()) == set(range(len(found.values)))


@given(st.lists(st.none() | st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)), st.integers(0, 5))
def test_integers_in_any_chunks(values: list[int | None], cut: int):
    """Small ranges are coded by their offset, wide ones by a dictionary: what comes back is the same."""
    column = pa.chunked_array([pa.array(values[:cut], pa.int64()), pa.array(values[cut:], pa.int64())])
    found = distinct(column)
    assert decoded(found) == values
    assert set(found.values.to_pylist()) == set(values) - {None}


def test_a_slice_is_coded_as_what_it_shows():
    column = pa.array([9, 8, None, 7, 9]).slice(1, 3)
    assert decoded(distinct(column)) == [8, None, 7]


def test_nan_is_a_gap_like_null():
    found = distinct(pa.array([NAN, 1.0, None]))
    assert found.values.to_pylist() == [1.0]
    assert found.codes.tolist() == [1, 0, 1]


def test_unused_and_repeated_dictionary_values_count_for_nothing():
    indices, levels = pa.array([3, None, 1, 0], pa.int8()), pa.array(["b", "a", "unused", "b", None])
    assert decoded(distinct(pa.DictionaryArray.from_arrays(indices, levels))) == ["b", None, "a", "b"]
    assert sorted(distinct(pa.DictionaryArray.from_arrays(indices, levels)).values.to_pylist()) == ["a", "b"]


def test_a_null_in_the_dictionary_is_a_gap():
    found = distinct(pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([None, "a"])))
    assert (found.values.to_pylist(), found.codes.tolist()) == (["a"], [1, 0])


def test_dictionaries_that_differ_between_chunks_are_one():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    assert decoded(distinct(pa.chunked_array(chunks))) == ["a", "b", "b", "c"]


@pytest.mark.parametrize("values", [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([b"\xff"])], ids=str)
def test_what_is_not_one_value_is_refused_by_file_and_column(values: pa.Array):
    with pytest.raises(DataError, match=r"^s.csv: column 'x'"):
        distinct(values, label="s.csv")


# ------------------------------------------------------------------------------------------ texts of levels
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1e300, "1e+300"),
        (2**53 + 1, "9007199254740993"),
        (INF, "inf"),
        (np.float64(2.5), "2.5"),
        (True, "TRUE"),
        (np.bool_(False), "FALSE"),
        ("é", "é"),
        (datetime.date(2020, 1, 5), "2020-01-05"),
        (datetime.datetime(2020, 1, 5, 1, 2), "2020-01-05 01:02:00"),
        (datetime.datetime(2020, 1, 5, 1, 2, 0, 500_000), "2020-01-05 01:02:00.500"),
        (
            datetime.datetime(2020, 1, 5, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
            "2020-01-05 01:00:00Z",
        ),
    ],
)
def test_text_of_a_value(value: Any, text: str):
    assert level_text(value) == text


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("zone", "mark"), [(None, ""), ("UTC", "Z")])
def test_text_of_times_does_not_show_their_unit(unit: str, zone: str | None, mark: str):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times = pa.array([1578186000 * ticks], pa.timestamp(unit, zone))
    assert level_texts(times) == ["2020-01-05 01:00:00" + mark]


def test_text_of_fractions_of_a_second():
    assert level_texts(pa.array([1, 1_000, 1_000_000], pa.timestamp("ns"))) == [
        "1970-01-01 00:00:00.000000001",
        "1970-01-01 00:00:00.000001",
        "1970-01-01 00:00:00.001",
    ]


# --------------------------------------------------------------------------------------------- harmonising
def test_nothing_to_harmonise_changes_nothing():
    files = [distinct(pa.array([2, 1])), distinct(pa.array([1, 2, 3]))]
    result, notes = harmonise(files)
    assert notes == []
    assert [decoded(f) for f in result] == [[2, 1], [1, 2, 3]]


def test_all_files_come_out_with_one_type():
    files = [distinct(pa.array([1, 2])), distinct(pa.array([1.5, 1.0])), distinct(pa.nulls(2)), distinct(pa.array([2]))]
    result, notes = harmonise(files)
    assert [f.values.type for f in result] == [pa.float64()] * 4
    assert [decoded(f) for f in result] == [[1, 2], [1.5, 1], [None, None], [2]]
    assert notes == []


def test_files_without_a_value_are_left_alone():
    files = [distinct(pa.nulls(1)), distinct(pa.array([], pa.string()))]
    result, notes = harmonise(files)
    assert notes == []
    assert [len(f.values) for f in result] == [0, 0]


def test_a_chain_of_almost_equal_doubles_is_one_value_in_each_file():
    steps = [0.3, math.nextafter(0.3, 1), math.nextafter(math.nextafter(0.3, 1), 1)]
    result, _ = harmonise([distinct(pa.array(steps)), distinct(pa.array([0.3]))])
    assert decoded(result[0]) == [0.3] * 3


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        (" 2 ", 2),
        ("-3", -3),
        ("+4", 4),
        ("0", 0),
        ("1.50", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1,5", 1.5),
        ("1.000,5", 1000.5),
    ],
)
def test_texts_that_are_numbers(text: str, number: float):
    assert decoded(as_kind(distinct(pa.array([text])), "numeric")) == [number]


@pytest.mark.parametrize("text", ["", "01", "1,5,5", "1 00", "0x10", "1_000", "nan", "inf", "-", "e5", "٣", "1e"])
def test_texts_that_are_no_numbers(text: str):
    with pytest.raises(DataError, match=r"record 2: .* is not a number"):
        as_kind(distinct(pa.array(["1", text])), "numeric")


def test_a_message_about_a_part_names_the_record_of_the_whole():
    whole = distinct(pa.array(["4", "x", "1", "x"]))
    for part in (whole.part(np.array([0, 3, 1])), whole.part(np.array([2, 0, 1])).part(np.array([2]))):
        with pytest.raises(DataError, match="record 2: 'x' is not a number"):
            as_kind(part, "numeric")


def test_no_kind_and_no_value_need_no_reading():
    text, empty = distinct(pa.array(["x"])), distinct(pa.nulls(1))
    assert as_kind(text, None) is text
    assert as_kind(empty, "numeric") is empty


# ------------------------------------------------------------------------------------------------- columns
def column_of(*files: Any, kind: str | None = None, special: Sequence[Any] = ()) -> CodedColumn:
    tables = [pa.table({"x": v if isinstance(v, pa.Array) else pa.array(v)}) for v in files]
    pair = unveil.Pair(
        tables[0], tables[1:], kinds={"x": kind} if kind else None, special_codes={"x": special} if special else None
    )
    return pair.column("x")


def test_code_of_a_level_by_value_by_text_and_of_the_gap():
    column = column_of([1, 2.5, None], [2.5])
    for level, code in ((1, 0), (1.0, 0), ("1", 0), (2.5, 1), ("2.5", 1), (None, 2), (NAN, 2), (MISSING, 2)):
        assert column.code_of(level) == code, level
    assert [column.label(code) for code in range(3)] == ["1", "2.5", MISSING]


def test_code_of_dates_and_midnights():
    dates = column_of([datetime.date(2020, 1, 5)], [datetime.date(2020, 1, 5)])
    times = column_of(
        [datetime.datetime(2020, 1, 5), datetime.datetime(2020, 1, 5, 3)], [datetime.datetime(2020, 1, 5)]
    )
    for level in (datetime.date(2020, 1, 5), datetime.datetime(2020, 1, 5), "2020-01-05", "2020-01-05 00:00:00"):
        assert dates.code_of(level) == 0
        assert times.code_of(level) == 0
    assert times.code_of(datetime.datetime(2020, 1, 5, 3)) == 1


def test_unknown_levels_are_refused_with_near_matches():
    column = column_of(["single", "married"], ["single"])
    with pytest.raises(CallError, match="column 'x' has no level 'singel'; did you mean 'single'\\?"):
        column.code_of("singel")
    with pytest.raises(CallError, match="column 'x' has no missing values"):
        column.code_of(None)


@pytest.mark.parametrize(
    ("values", "amount"),
    [([1], True), ([0.5], True), (["1"], False), ([True], False), ([datetime.date(2020, 1, 5)], False)],
)
def test_amounts_are_numbers(values: list[Any], amount: bool):
    assert are_numbers(column_of(values, values).levels) is amount


# -------------------------------------------------------------------------------------------------- groups
def groups_of(column: CodedColumn, n: int) -> tuple[Grouping, list[list[str]]]:
    cut, grouping = grouped(column, n)
    return grouping, [[cut.labels[code] for code in codes] for codes in (cut.original, *cut.releases)]


def test_quantile_breaks_by_hand():
    """Pool 1 2 3 3 5 6 7 8: quarters at places 0, 1.75, 3.5, 5.25 and 7."""
    grouping, (original, release) = groups_of(column_of([1, 8, 3, 6], [2, 3, 5, 7]), 4)
    assert (grouping.style, grouping.breaks) == ("quantile", (1, 2.75, 4, 6.25, 8))
    assert grouping.levels == ("[1,2.75)", "[2.75,4)", "[4,6.25)", "[6.25,8]")
    assert original == ["[1,2.75)", "[6.25,8]", "[2.75,4)", "[4,6.25)"]
    assert release == ["[1,2.75)", "[2.75,4)", "[4,6.25)", "[6.25,8]"]


def test_breaks_count_every_record_of_every_release():
    """Pool 0 0 0 0 10 20 30 40 50: quarters at places 0, 2, 4, 6, 8, and the two zeros are one break."""
    grouping, files = groups_of(column_of([0, 10, 20], [0, 0, 30], [0, 40, 50]), 4)
    assert (grouping.style, grouping.breaks) == ("quantile", (0, 10, 30, 50))
    assert files == [
        ["[0,10)", "[10,30)", "[10,30)"],
        ["[0,10)", "[0,10)", "[30,50]"],
        ["[0,10)", "[30,50]", "[30,50]"],
    ]


def test_equal_widths_where_quantiles_are_fewer_than_three():
    """Pool 1 (nine times) and 9: the quarters are 1, 1, 1, 1, 9."""
    grouping, (original, _) = groups_of(column_of([1, 1, 1, 1, 9], [1, 1, 1, 1, 1]), 4)
    assert (grouping.style, grouping.breaks) == ("equal-width", (1, 3, 5, 7, 9))
    assert original == ["[1,3)"] * 4 + ["[7,9]"]
    assert grouping.levels == ("[1,3)", "[3,5)", "[5,7)", "[7,9]")


def test_two_groups_are_always_of_equal_width():
    grouping, (original, _) = groups_of(column_of([0, 1, 2, 10], [0]), 2)
    assert (grouping.style, grouping.breaks) == ("equal-width", (0, 5, 10))
    assert original == ["[0,5)"] * 3 + ["[5,10]"]


def test_a_single_value_is_one_group():
    grouping, files = groups_of(column_of([3, 3], [3]), 4)
    assert (grouping.breaks, files) == ((3, 3), [["[3,3]", "[3,3]"], ["[3,3]"]])


def test_special_codes_and_gaps_stay_apart_and_out_of_the_breaks():
    column = column_of([-9, -8, 0, 1, None], [2, 3, 4, -8], special=[-8, -9])
    grouping, (original, release) = groups_of(column, 4)
    assert grouping.breaks == (0, 1, 2, 3, 4)
    assert grouping.levels == ("[0,1)", "[1,2)", "[2,3)", "[3,4]", "-9", "-8")
    assert original == ["-9", "-8", "[0,1)", "[1,2)", MISSING]
    assert release == ["[2,3)", "[3,4]", "[3,4]", "-8"]
    cut, _ = grouped(column, 4)
    assert ([cut.labels[code] for code in cut.special], cut.kind, cut.gap) == (["-9", "-8"], "ordered", 6)


def test_special_codes_inside_the_range_are_kept_apart_too():
    _, (original, _) = groups_of(column_of([0, 1, 2, 3, 4], [2], special=[2]), 4)
    assert original.count("2") == 1


def test_amounts_are_neither_gaps_nor_special_codes_nor_infinite():
    column = column_of([2.0, -8.0, None, INF], [5.0, 2.0], special=[-8])
    assert column.levels.to_pylist() == [-8, 2, 5, INF]
    assert column.is_amount.tolist() == [False, True, True, False, False]
    assert column.amounts[column.is_amount].tolist() == [2, 5]
    assert (column.infinite, column.has_amounts) == ((3,), True)
    assert not replace(column, kind="categorical").has_amounts


def test_nothing_but_special_codes_leaves_them():
    grouping, files = groups_of(column_of([-8, None], [-8], special=[-8]), 3)
    assert (grouping.breaks, files) == ((), [["-8", MISSING], ["-8"]])


def test_infinities_are_refused_unless_special():
    with pytest.raises(DataError, match="column 'x' holds infinite values"):
        grouped(column_of([1.0, INF], [2.0, 1.0]), 3)
    _, (original, _) = groups_of(column_of([0.0, 1.0, 2.0, 3.0, INF], [1.0], special=[INF]), 2)
    assert original == ["[0,1.5)", "[0,1.5)", "[1.5,3]", "[1.5,3]", "inf"]


@pytest.mark.parametrize("n", [1, 0, -3, True, 2.0, "3", None], ids=repr)
def test_bad_numbers_of_groups_are_wrong_calls(n: Any):
    with pytest.raises(CallError, match="column 'x': the number of groups must be a whole number of at least 2"):
        grouped(column_of([1, 2], [1]), n)


@pytest.mark.parametrize(
    ("values", "kind"), [(["a"], "categorical"), ([True], "logical"), ([datetime.date(2020, 1, 5)], "date")]
)
def test_only_numbers_are_grouped(values: list[Any], kind: str):
    with pytest.raises(CallError, match=f"column 'x' is {kind} and cannot be grouped"):
        grouped(column_of(values, values), 3)


def test_numbers_stated_categorical_are_not_grouped():
    with pytest.raises(CallError, match="column 'x' is categorical and cannot be grouped"):
        grouped(column_of([1, 2], [1], kind="categorical"), 3)


def test_breaks_closer_than_8_digits_have_labels_of_their_own():
    values = [0.3, 0.3 + 1e-10, 0.3 + 2e-10, 0.3 + 3e-10, 0.3 + 4e-10]
    grouping, _ = groups_of(column_of(values, [0.3]), 3)
    assert len(set(grouping.levels)) == len(grouping.levels) == 3


def test_a_grouping_as_plain_values():
    grouping, _ = groups_of(column_of([0, 1, 2, 10], [0]), 2)
    assert grouping.to_dict() == {"style": "equal-width", "breaks": [0, 5, 10], "levels": ["[0,5)", "[5,10]"]}


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=40),
    st.lists(st.integers(-50, 50), min_size=1, max_size=20),
    st.integers(2, 8),
)
@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_every_value_lies_in_the_group_it_is_given(original: list[int], release: list[int], n: int):
    column = column_of(original, release)
    cut, grouping = grouped(column, n)
    breaks, last = grouping.cuts, len(grouping.cuts) - 2
    assert breaks == tuple(sorted(breaks))
    assert grouping.breaks == pytest.approx(breaks, rel=1e-12, abs=1e-12)
    assert (breaks[0], breaks[-1]) == (min(original + release), max(original + release))
    for value, code in zip(original + release, [*cut.original, *cut.releases[0]], strict=True):
        assert breaks[code] <= value
        assert value < breaks[code + 1] or (code == last and value == breaks[-1])
    if grouping.style == "quantile":
        pool = sorted(original + release)
        places = [Fraction(len(pool) - 1) * g / n for g in range(n + 1)]
        exact = {pool[int(p)] + (p - int(p)) * (pool[min(int(p) + 1, len(pool) - 1)] - pool[int(p)]) for p in places}
        # A place that is whole may come out a rounding error beside it, and then its break is not merged with its twin.
        assert sorted({round(b, 9) for b in breaks}) == pytest.approx(sorted({round(float(b), 9) for b in exact}))
    else:
        assert len(set(original + release)) == 1 or len(breaks) == n + 1


def test_whole_numbers_at_both_ends_of_their_range_are_levels_in_order() -> None:
    least, most = -(2**63), 2**63 - 1
    pair = unveil.Pair(pa.table({"x": [most, least, 0, most]}), pa.table({"x": [5, least, None]}))
    column = pair.column("x")
    assert column.levels.to_pylist() == [least, 0, 5, most]
    assert (column.original.tolist(), column.releases[0].tolist()) == ([3, 0, 1, 3], [2, 0, 4])
