"""An original and its releases: which values are one level, what is refused, and what is only told."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import unveil
from unveil.errors import CallError, DataError, FileError, UnveilWarning
from unveil.files.source import Source

INF, NAN = math.inf, math.nan
quiet = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
NO_OVERLAP = "no value of the original occurs in the release"


def pair_of(original: Any, *releases: Any, **options: Any) -> unveil.Pair:
    """One column "x" in an original and its releases."""
    tables = [pa.table({"x": v if isinstance(v, pa.Array) else pa.array(v)}) for v in (original, *releases)]
    return unveil.Pair(tables[0], tables[1:], **options)


def shown(pair: unveil.Pair, name: str = "x") -> list[list[str]]:
    """Per file, the label of the level of each record."""
    column = pair.column(name)
    return [[column.labels[code] for code in codes] for codes in (column.original, *column.releases)]


def values_of(original: Any, *releases: Any, **options: Any) -> list[list[str]]:
    return shown(pair_of(original, *releases, **options))


def day(*numbers: int) -> datetime.date:
    return datetime.date(*numbers)


# ------------------------------------------------------------------------------------- equal as values
@pytest.mark.parametrize(
    ("original", "release", "expected"),
    [
        ([1, 2], [1.0, 2.0], [["1", "2"], ["1", "2"]]),
        ([1, 2], pa.array([2, 1], pa.int8()), [["1", "2"], ["2", "1"]]),
        ([1, 2], pa.array([2, 1], pa.uint64()), [["1", "2"], ["2", "1"]]),
        ([1, 2], pa.array(np.array([2, 1], np.float16)), [["1", "2"], ["2", "1"]]),
        ([1, 2], [decimal.Decimal("2.00"), decimal.Decimal("1.50")], [["1", "2"], ["2", "1.5"]]),
        ([0.1], [decimal.Decimal("0.1")], [["0.1"], ["0.1"]]),
        ([0.1], pa.array([0.1], pa.float32()), [["0.1"], ["0.1"]]),
        ([0.1 + 0.2], [0.3], [["0.3"], ["0.3"]]),
        ([2**53, 2**53 + 1], [2**53 + 1], [["9007199254740992", "9007199254740993"], ["9007199254740993"]]),
        pytest.param(
            [2**53, 2**53 + 1],
            [float(2**53)],
            [["9007199254740992", "9007199254740993"], ["9007199254740992"]],
            marks=pytest.mark.filterwarnings("ignore:.*numbers beyond 2.53 as floating point"),
        ),
        (
            pa.array([2**64 - 1, 2**64 - 2], pa.uint64()),
            pa.array([2**64 - 2], pa.uint64()),
            [["18446744073709551615", "18446744073709551614"], ["18446744073709551614"]],
        ),
        ([0.0, -0.0], [0], [["0", "0"], ["0"]]),
        ([INF, -INF, 1.0], [-INF, INF, None], [["inf", "-inf", "1"], ["-inf", "inf", "Missing"]]),
        (pa.array([NAN, None, 1.0]), [1], [["Missing", "Missing", "1"], ["1"]]),
        (["a", "b"], pa.array(["b", "a"]).dictionary_encode(), [["a", "b"], ["b", "a"]]),
        (["a"], pa.array(["a"], pa.large_string()), [["a"], ["a"]]),
        ([1, 2], pa.array([2, 1]).dictionary_encode(), [["1", "2"], ["2", "1"]]),
        ([True, None], [False, True], [["TRUE", "Missing"], ["FALSE", "TRUE"]]),
        ([day(2020, 1, 5)], pa.array([day(2020, 1, 5)], pa.date64()), [["2020-01-05"], ["2020-01-05"]]),
        ([day(2020, 1, 5)], [datetime.datetime(2020, 1, 5)], [["2020-01-05"], ["2020-01-05"]]),
        ([1, 2], pa.nulls(2), [["1", "2"], ["Missing", "Missing"]]),
        (pa.nulls(1), pa.array([None], pa.string()), [["Missing"], ["Missing"]]),
    ],
)
def test_equal_values_are_one_level_whatever_their_type(original, release, expected):
    assert values_of(original, release) == expected


def test_pandas_extension_types_hold_the_same_values():
    pd = pytest.importorskip("pandas", reason="for pandas extension types")
    original = pd.DataFrame({"x": [1, 2, 3]})
    for dtype in ("Int64", "Float64", "float64", "int64[pyarrow]", "category"):
        values = pd.Series([1, 3, 3], dtype=dtype) if dtype == "category" else pd.Series([1, None, 3]).astype(dtype)
        expected = "3" if dtype == "category" else "Missing"
        assert shown(unveil.Pair(original, pd.DataFrame({"x": values}))) == [["1", "2", "3"], ["1", expected, "3"]]


def test_15_digits_count():
    """1.00000000000001 has 15 digits and is a value of its own; one digit more is beyond a double's promise."""
    assert values_of([1.0, 1.00000000000001, 0.5], [1.000000000000001]) == [["1", "1.00000000000001", "0.5"], ["1"]]


def test_integers_that_differ_by_one_are_kept_apart_beside_fractions():
    """10^14 has 15 digits: all of them count."""
    big = 10**14
    assert values_of([big, big + 1], [0.5, float(big)])[0] == [str(big), str(big + 1)]


@pytest.mark.parametrize("big", [2**54, -(2**54)])
def test_integers_beyond_the_doubles_are_refused_beside_fractions(big: int):
    with pytest.raises(DataError, match="'x': the original holds integers beyond 2\\^53"):
        pair_of([big, 1], [0.5]).column("x")


def test_a_gap_is_not_a_text_that_reads_like_one():
    texts = ["Missing", "nan", "", "None", "NA"]
    column = pair_of([*texts, None], [None, *texts]).column("x")
    assert column.n_levels == 6
    assert sorted(column.labels[:-1]) == sorted(texts)
    assert column.labels[-1] == "Missing (no value)"
    assert column.gap == 5
    assert column.original[-1] == column.releases[0][0] == 5
    assert column.code_of("Missing") == column.original[0] != column.gap
    assert column.code_of(None) == column.gap


def test_no_gap_no_level_for_it():
    column = pair_of(["a"], ["a"]).column("x")
    assert (column.gap, column.n_levels, column.labels) == (None, 1, ("a",))


def test_text_is_compared_exactly_inside():
    with pytest.warns(UnveilWarning, match=NO_OVERLAP):
        assert values_of(["a b"], ["a  b"]) == [["a b"], ["a  b"]]


@pytest.mark.parametrize(
    ("text", "told"),
    [("F   ", "outer blanks or Unicode form"), (" F", "outer blanks"), ("F\t", "outer blanks")],
)
def test_outer_blanks_are_taken_off_and_told(text, told):
    with pytest.warns(UnveilWarning, match=f"'x': levels that differ only in {told}.*'F'"):
        assert values_of([text, "M"], ["F", "M"]) == [["F", "M"], ["F", "M"]]


def test_unicode_forms_are_one_and_told():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    with pytest.warns(UnveilWarning, match="Unicode form were taken as one"):
        assert values_of([composed], [decomposed]) == [[composed], [composed]]


def test_letter_case_is_kept_apart_and_told():
    with pytest.warns(UnveilWarning, match="'x': levels that differ only in letter case were kept apart: 'A' and 'a'"):
        assert values_of(["a", "A"], ["A", "A"]) == [["a", "A"], ["A", "A"]]


def test_many_twins_are_counted_not_listed():
    texts = list("abcde")
    with pytest.warns(UnveilWarning, match="'A' and 'a'; 'B' and 'b'; 'C' and 'c'; and 2 more"):
        pair_of(texts, [t.upper() for t in texts] + texts).column("x")


def test_messages_quote_no_value_that_only_the_original_has():
    with pytest.warns(UnveilWarning) as caught:
        pair_of(["rare", "rare ", "RARE"], ["else"]).column("x")
    assert sorted(str(one.message) for one in caught) == [
        "column 'x': levels that differ only in letter case were kept apart: 1 of the original, which no release has",
        "column 'x': levels that differ only in outer blanks or Unicode form were taken as one: 1 of the original, "
        "which no release has",
        "column 'x': no value of the original occurs in the release (which holds 'else', for example); nothing can "
        "match",
    ]


def test_no_overlap_is_told_per_release():
    with pytest.warns(UnveilWarning, match="no value of the original occurs in release 2") as caught:
        pair_of([1, 2], [1], [3], [None]).column("x")
    assert len(caught) == 1


# ------------------------------------------------------------------------------------ different families
def test_numbers_as_text_are_read_as_numbers_and_told():
    with pytest.warns(UnveilWarning, match="number in the original, text in the release: the text was read as numbers"):
        assert values_of([1, 2, 0.5], ["1", " 2.0", ".5"]) == [["1", "2", "0.5"], ["1", "2", "0.5"]]


def test_integers_as_text_keep_all_digits():
    with pytest.warns(UnveilWarning, match="read as numbers"):
        found = values_of([2**53 + 1, 2**53], [str(2**53 + 1)])
    assert found == [["9007199254740993", "9007199254740992"], ["9007199254740993"]]


def test_numbers_beside_words_are_compared_as_text_and_told():
    with pytest.warns(UnveilWarning, match="the numbers were compared as text"):
        assert values_of([1, 2.0], ["1", "unknown"]) == [["1", "2"], ["1", "unknown"]]


def test_leading_zeros_beside_numbers_are_refused():
    with pytest.raises(DataError, match=r"'x' holds number in the original.*the release has codes.*'01'"):
        pair_of([1, 2], ["01", "2"]).column("x")


def test_leading_zeros_of_both_files_are_kept():
    assert values_of(["01", "1"], ["1", "01"]) == [["01", "1"], ["1", "01"]]


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (["TRUE", "false"], ["TRUE", "FALSE"]),
        (["True ", "FALSE"], ["TRUE", "FALSE"]),
        ([1, 0], ["TRUE", "FALSE"]),
        ([1.0, 0.0], ["TRUE", "FALSE"]),
        (["yes", "no"], ["TRUE", "FALSE"]),
        (["T", "F"], ["TRUE", "FALSE"]),
        (["1", "0"], ["TRUE", "FALSE"]),
    ],
)
def test_logicals_beside_what_says_true_and_false(release, expected):
    with pytest.warns(UnveilWarning, match="logical in the original.*compared as true and false"):
        assert values_of([True, False], release) == [["TRUE", "FALSE"], expected]


@pytest.mark.parametrize(("release", "bad"), [(["oui", "non"], "'oui'"), ([1, 2], "2"), (["ok", "2"], "'ok'")])
def test_logicals_beside_anything_else_are_refused(release, bad):
    row = 2 if bad == "2" else 1
    with pytest.raises(DataError, match=f"the release: column 'x', record {row}: {bad} is neither true nor false"):
        pair_of([True, False], release).column("x")


def test_dates_beside_iso_text():
    with pytest.warns(UnveilWarning, match="the text was read as dates"):
        found = values_of([day(2020, 1, 5)], ["2020-01-05", "2020-02-01"])
    assert found == [["2020-01-05"], ["2020-01-05", "2020-02-01"]]


def test_dates_beside_other_text_are_refused():
    with pytest.raises(DataError, match="the release: column 'x' holds text such as '05/01/2020' beside dates"):
        pair_of([day(2020, 1, 5)], ["05/01/2020"]).column("x")


@pytest.mark.parametrize("moment", [day(2020, 1, 5), datetime.datetime(2020, 1, 5, 3)])
def test_dates_beside_numbers_are_refused(moment):
    with pytest.raises(DataError, match="number in the release: these cannot be compared"):
        pair_of([moment], [18266]).column("x")


def test_dates_beside_times_are_midnights():
    times = [datetime.datetime(2020, 1, 5, 3), datetime.datetime(2020, 1, 6)]
    found = values_of([day(2020, 1, 5), day(2020, 1, 6)], times)
    assert found == [
        ["2020-01-05 00:00:00", "2020-01-06 00:00:00"],
        ["2020-01-05 03:00:00", "2020-01-06 00:00:00"],
    ]


def test_units_of_times_do_not_matter():
    second = 1578186000  # 2020-01-05 01:00:00 UTC
    files = [pa.array([second * 1000**k], pa.timestamp(u)) for k, u in enumerate(("s", "ms", "us", "ns"))]
    assert values_of(*files) == [["2020-01-05 01:00:00"]] * 4


def test_time_zones_are_compared_as_moments():
    moment = pa.array([1578186000], pa.timestamp("s", "UTC"))
    there = pa.array([1578186000], pa.timestamp("s", "Europe/Warsaw"))
    assert values_of(moment, there) == [["2020-01-05 01:00:00Z"]] * 2


@pytest.mark.parametrize("text", ["2020-01-05T01:00:00Z", "2020-01-05 02:00:00+01:00"])
def test_zoned_times_beside_zoned_text(text):
    with pytest.warns(UnveilWarning, match="read as dates"):
        found = values_of(pa.array([1578186000], pa.timestamp("s", "UTC")), [text])
    assert found == [["2020-01-05 01:00:00Z"]] * 2


def test_times_with_and_without_zone_are_refused():
    with pytest.raises(DataError, match="'x': the original holds times with a zone, another file times without"):
        pair_of(pa.array([0], pa.timestamp("s", "UTC")), pa.array([0], pa.timestamp("s"))).column("x")


def test_times_that_no_unit_holds_are_refused():
    with pytest.raises(DataError, match="'x' holds times too far apart"):
        pair_of(pa.array([10**12], pa.timestamp("s")), pa.array([5], pa.timestamp("ns"))).column("x")


@pytest.mark.parametrize(("values", "kind"), [([[1]], "list"), ([{"a": 1}], "struct")], ids=["list", "struct"])
def test_nested_values_are_refused(values, kind):
    with pytest.raises(DataError, match=f"the original: column 'x' holds {kind}.* not one value per record"):
        pair_of(values, values).column("x")


# ---------------------------------------------------------------------------- hard to keep apart
@quiet
def test_first_integer_beyond_the_doubles_is_not_merged_with_its_neighbour():
    try:
        original, _ = values_of([2**53, 2**53 + 1], [0.5])
    except DataError:
        return
    assert original[0] != original[1]


@quiet
def test_integers_of_16_digits_are_not_merged_beside_fractions():
    try:
        original, _ = values_of([10**15 + 1, 10**15 + 2], [0.5])
    except DataError:
        return
    assert original[0] != original[1]


@quiet
def test_long_serial_numbers_as_text_are_not_merged():
    try:
        original, _ = values_of(["12345678901234567890", "12345678901234567891"], [5])
    except DataError:
        return
    assert original[0] != original[1]


def test_long_decimals_are_not_merged():
    cents = [decimal.Decimal("12345678901234567.01"), decimal.Decimal("12345678901234567.02")]
    try:
        original, _ = values_of(cents, cents)
    except DataError:
        return
    assert original[0] != original[1]


@quiet
def test_units_of_times_of_day_do_not_matter():
    original, release = values_of(pa.array([3720], pa.time32("s")), pa.array([3720 * 10**6], pa.time64("us")))
    assert original == release


@quiet
def test_units_of_durations_do_not_matter():
    original, release = values_of(pa.array([60], pa.duration("s")), pa.array([60_000], pa.duration("ms")))
    assert original == release


@pytest.mark.parametrize("first", [True, False])
def test_durations_beside_numbers_are_seconds_and_it_is_said(first: bool):
    files = [pa.array([60, 90], pa.duration("ms")), [0.06, 0.09]]
    kinds = ("durations", "numbers") if first else ("numbers", "durations")
    said = f"holds {kinds[0]} in the original, {kinds[1]} in the release: the durations were compared as seconds"
    with pytest.warns(UnveilWarning, match=said):
        original, release = values_of(*(files if first else files[::-1]))
    assert original == release == ["0.06", "0.09"]


def test_logical_numbers_and_text_over_several_releases():
    with pytest.warns(UnveilWarning, match=r"logical in the original, number in release 1, text in release 2: .*true"):
        files = values_of([True, False, None], [1, 0, 0], ["FALSE", "true", None])
    assert files == [["TRUE", "FALSE", "Missing"], ["TRUE", "FALSE", "FALSE"], ["FALSE", "TRUE", "Missing"]]
    with pytest.raises(DataError, match=r"release 2: column 'x', record 2: 'maybe' is neither true nor false"):
        values_of([True, False], [1, 0], ["FALSE", "maybe"])
    with pytest.raises(DataError, match=r"release 1: column 'x', record 1: 2 is neither true nor false"):
        values_of([True, False], [2, 0], ["FALSE", "TRUE"])


@quiet
def test_dates_beside_times_with_a_zone_are_refused():
    with pytest.raises(DataError, match="zone"):
        pair_of([day(2020, 1, 5)], pa.array([1578178800], pa.timestamp("s", "Europe/Warsaw"))).column("x")


@quiet
def test_dates_beside_nanoseconds():
    found = values_of([day(2020, 1, 5)], pa.array([1578186000 * 10**9 + 1], pa.timestamp("ns")))
    assert found == [["2020-01-05 00:00:00"], ["2020-01-05 01:00:00.000000001"]]


def test_categorical_as_stated_keeps_leading_zeros_of_files(tmp_path: Path):
    (tmp_path / "o.csv").write_text("area\n1\n2\n")
    (tmp_path / "s.csv").write_text("area\n01\n2\n")
    pair = unveil.Pair(tmp_path / "o.csv", tmp_path / "s.csv", kinds={"area": "categorical"})
    assert shown(pair, "area") == [["1", "2"], ["01", "2"]]


def test_labels_are_different_texts():
    texts = ["Missing", "Missing (no value)", None]
    column = pair_of(texts, texts).column("x")
    assert len(set(column.labels)) == 3
    assert column.code_of("Missing (no value)") == column.original[1]


def test_a_gap_is_no_special_code():
    with pytest.raises(CallError, match="special"):
        pair_of([-8, 1], [1, 2], special_codes={"x": None}).column("x")


# --------------------------------------------------------------------------------------- levels and order
def test_levels_ascend_by_value_not_by_text():
    column = pair_of([10, 9, -1], [100, 9]).column("x")
    assert column.labels == ("-1", "9", "10", "100")
    assert (column.original.tolist(), column.releases[0].tolist()) == ([2, 1, 0], [3, 1])


def measures(original: Any, release: Any) -> list[Mapping[str, float]]:
    pair = unveil.Pair(original, release)
    return [
        unveil.identity(pair, ["k"]).releases[0],
        unveil.attribute(pair, ["k"], target="t").releases[0],
    ]


# By hand: d has a 2, b 1, c 1; s has a 1, b 1, b 1.
KEYS, RELEASED = ["a", "a", "b", "c"], ["a", "b", "b"]
TARGET, RELEASED_TARGET = ["y", "n", "y", "n"], ["y", "y", "y"]
BY_HAND = {"UiO": 50.0, "UiS": 100 / 3, "UiOiS": 25.0, "repU": 0.0}


def dictionary(values: Sequence[str], levels: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([levels.index(v) for v in values]), pa.array(levels))


@pytest.mark.parametrize("levels", [["a", "b", "c"], ["c", "b", "a"], ["z", "c", "y", "a", "b", "x"]], ids="".join)
def test_order_of_levels_and_unused_levels_count_for_nothing(levels):
    original = pa.table({"k": dictionary(KEYS, levels), "t": TARGET})
    release = pa.table({"k": dictionary(RELEASED, ["unused", *reversed(levels)]), "t": RELEASED_TARGET})
    identity, attribute = measures(original, release)
    assert identity == pytest.approx(BY_HAND)
    # a and b are disclosive in s for y; one a and the b have it.
    assert (attribute["iS"], attribute["DiS"], attribute["DiSCO"]) == (75.0, 75.0, 50.0)
    assert unveil.Pair(original, release).column("k").n_levels == 3


def test_declared_order_is_kept_others_follow():
    pd = pytest.importorskip("pandas", reason="for declared categories")
    ordered = pd.CategoricalDtype(["low", "mid", "high", "unused"], ordered=True)
    original = pd.DataFrame({"x": pd.Series(["high", "low"], dtype=ordered)})
    column = unveil.Pair(original, pd.DataFrame({"x": ["zero", "mid", "any"]}, dtype=object)).column
    with pytest.warns(UnveilWarning, match=NO_OVERLAP):
        found = column("x")
    assert (found.kind, found.labels) == ("ordered", ("low", "mid", "high", "any", "zero"))


def test_polars_enum_order_is_kept():
    pl = pytest.importorskip("polars", reason="for polars Enum")
    frame = pl.DataFrame({"x": pl.Series(["mid", "low"], dtype=pl.Enum(["low", "mid", "high"]))})
    assert unveil.Pair(frame, frame).column("x").labels == ("low", "mid")


def test_row_labels_count_for_nothing():
    pd = pytest.importorskip("pandas", reason="for row labels")
    plain = pd.DataFrame({"k": KEYS, "t": TARGET}), pd.DataFrame({"k": RELEASED, "t": RELEASED_TARGET})
    labelled = plain[0].set_axis([7, 7, 0, 0]), plain[1].set_axis(["x", "x", "y"])
    assert measures(*labelled) == measures(*plain)
    assert measures(*labelled)[0] == pytest.approx(BY_HAND)
    assert unveil.Pair(*labelled).names == ("k", "t")


def test_every_flavour_gives_the_same_figures(make_frame, flavour):
    original, release = make_frame({"k": KEYS, "t": TARGET}), make_frame({"k": RELEASED, "t": RELEASED_TARGET})
    assert measures(original, release)[0] == pytest.approx(BY_HAND)
    assert unveil.Pair(original, pa.table({"k": RELEASED})).flavour == flavour


# --------------------------------------------------------------------------------------- declarations
def test_labels_translate_the_numbers_of_the_other_file():
    coded = unveil.read(pa.table({"x": [1, 2, 1]}))
    worded = unveil.read(
        pa.table({"x": ["male", "female"]}), schema={"x": unveil.Variable("x", labels={1: "male", 2: "female"})}
    )
    for pair, expected in (
        (unveil.Pair(coded, worded), [["male", "female", "male"], ["male", "female"]]),
        (unveil.Pair(worded, coded), [["male", "female"], ["male", "female", "male"]]),
    ):
        with pytest.warns(UnveilWarning, match="the codes were replaced by their declared labels"):
            assert shown(pair) == expected


def test_labels_that_leave_a_number_out_translate_the_others():
    worded = unveil.read(
        pa.table({"x": ["male", "3"]}), schema={"x": unveil.Variable("x", labels={1: "male", 2: "female"})}
    )
    with pytest.warns(UnveilWarning, match="the labels were replaced by their codes"):
        found = shown(unveil.Pair(pa.table({"x": [1, 3]}), worded))
    assert found == [["1", "3"], ["1", "3"]]


def test_special_codes_that_no_record_has_are_told():
    with pytest.warns(UnveilWarning, match="'x': of the special codes -8, -9 the files hold -8"):
        assert pair_of([-8, 1], [1, 2], special_codes={"x": [-8, -9]}).column("x").special == (0,)


def test_special_codes_of_numbers_are_numbers():
    assert pair_of([-8, 1], [1, 2], special_codes={"x": "-8"}).column("x").special == (0,)
    with pytest.raises(CallError, match="special code 'n/a' of the numeric column 'x' is not a number"):
        pair_of([-8, 1], [1, 2], special_codes={"x": "n/a"}).column("x")


@pytest.mark.parametrize("codes", [-8, [-8], (-8.0,)], ids=repr)
def test_special_codes(codes):
    pair = pair_of([-8, 5, None], [-8.0, 5.5], special_codes={"x": codes})
    column = pair.column("x")
    assert [column.labels[code] for code in column.special] == ["-8"]


def test_special_codes_of_one_column_say_nothing_of_another():
    table = pa.table({"x": [-8, 1], "y": [-8, 1]})
    pair = unveil.Pair(table, table, special_codes={"x": -8})
    assert (pair.column("x").special, pair.column("y").special) == ((0,), ())


def test_special_codes_of_a_schema_and_their_override():
    table = pa.table({"x": [-9, -8, 1]})
    schema = {"x": unveil.Variable("x", special_codes=(-8,))}
    assert unveil.Pair(table, table, schema=schema).column("x").special == (1,)
    assert unveil.Pair(table, table, schema=schema, special_codes={"x": [-9]}).column("x").special == (0,)


def test_kinds_override_what_the_file_says():
    assert pair_of([1, 2], [2]).column("x").kind == "numeric"
    assert pair_of([1, 2], [2], kinds={"x": "categorical"}).column("x").kind == "categorical"
    assert pair_of(["2", "10"], ["10"]).column("x").labels == ("10", "2")
    stated = pair_of(["2", "10"], ["10.0"], kinds={"x": "numeric"}).column("x")
    assert (stated.kind, stated.labels) == ("numeric", ("2", "10"))
    stated = pair_of(["true", "FALSE"], [1, 0], kinds={"x": "logical"}).column("x")
    assert (stated.kind, stated.labels, stated.original.tolist()) == ("logical", ("FALSE", "TRUE"), [1, 0])
    stated = pair_of(["2020-01-05"], ["2020-01-05 00:00:00"], kinds={"x": "date"}).column("x")
    assert (stated.kind, stated.labels) == ("date", ("2020-01-05",))


@pytest.mark.parametrize(
    ("values", "kind", "complaint"),
    [
        (["1", "x"], "numeric", "the original: column 'x', record 2: 'x' is not a number"),
        (["1", "02"], "numeric", "record 2: '02' is not a number"),
        ([True, False], "numeric", "declared numeric but holds values such as 'FALSE'"),
        ([5, 6], "date", "declared date but holds values such as '5'"),
        (["5 May"], "date", "holds text such as '5 May'"),
        (["oui"], "logical", "record 1: 'oui' is neither true nor false"),
    ],
)
def test_values_that_are_not_of_the_stated_kind_are_named(values, kind, complaint):
    with pytest.raises(DataError, match=complaint):
        pair_of(values, values, kinds={"x": kind}).column("x")


def test_unknown_kind_and_unknown_columns_are_wrong_calls():
    with pytest.raises(CallError, match="'x': kind must be 'numeric', 'categorical'"):
        pair_of([1], [1], kinds={"x": "nominal"})
    table = pa.table({"region": [1], "age": [1]})
    for option in ({"kinds": {"regoin": "numeric"}}, {"special_codes": {"regoin": -8}}):
        with pytest.raises(CallError, match="the original has no column 'regoin'; did you mean 'region'\\?"):
            unveil.Pair(table, table, **option)
    with pytest.raises(CallError, match="the original has no column 'regoin'; did you mean 'region'\\?"):
        unveil.Pair(table, table).column("regoin")
    with pytest.raises(CallError, match=r"no column 'zzz'$"):
        unveil.Pair(table, table).column("zzz")


# -------------------------------------------------------------------------------------------- the files
def test_names_are_those_of_all_files_in_the_originals_order():
    original = pa.table({"b": [1], "a": [1], "c": [1]})
    pair = unveil.Pair(original, [pa.table({"c": [1], "b": [1], "extra": [1]}), pa.table({"b": [1], "c": [1]})])
    assert pair.names == ("b", "c")


def test_sizes_and_labels():
    pair = pair_of([1, 2, 3], [1, 2], [3])
    assert (pair.n_original, pair.n_releases, pair.n_synthetic) == (3, 2, (2, 1))
    assert pair.labels == ("release 1", "release 2")
    assert pair_of([1], [1]).labels == ("the release",)
    assert repr(pair) == "Pair: the original (3 records) and release 1 (2 records), release 2 (1 records)"


def test_one_release_may_come_alone_or_in_a_list():
    table = pa.table({"x": [1]})
    for synthetic in (table, [table], (table,)):
        assert unveil.Pair(table, synthetic).n_releases == 1
    with pytest.raises(CallError, match="no release given"):
        unveil.Pair(table, [])


def test_a_release_that_lacks_a_column_is_named_with_it():
    original, other = pa.table({"age": [1], "sex": [1]}), pa.table({"age": [1], "sexx": [1]})
    pair = unveil.Pair(original, [original, other])
    assert pair.column("age").n_levels == 1
    with pytest.raises(DataError, match=r"release 2 has no column 'sex'; did you mean 'sexx'.*the original has it"):
        pair.column("sex")


@pytest.mark.parametrize("how", ["frame", "csv", "parquet"])
def test_an_original_without_records_is_refused(tmp_path: Path, how: str):
    table = pa.table({"x": pa.array([], pa.int64())})
    data: Any = table
    if how == "csv":
        data = tmp_path / "none.csv"
        csv.write_csv(table, data)
    elif how == "parquet":
        data = tmp_path / "none.parquet"
        pq.write_table(table, data)
    label = "the original" if how == "frame" else data.name
    with pytest.raises(DataError, match=f"{label} has no records; there is nothing to measure"):
        unveil.Pair(data, pa.table({"x": [1]}))


def test_a_release_without_records_leaves_its_own_shares_undefined():
    pair = unveil.Pair(
        pa.table({"k": ["a", "b", "b"], "t": ["y", "y", "n"]}), pa.table({"k": [], "t": []}, schema=None)
    )
    identity = unveil.identity(pair, ["k"]).releases[0]
    assert identity["UiO"] == pytest.approx(100 / 3)
    assert math.isnan(identity["UiS"])
    assert (identity["UiOiS"], identity["repU"]) == (0, 0)
    attribute = unveil.attribute(pair, ["k"], target="t")
    values = attribute.releases[0]
    undefined = {name for name, value in values.items() if math.isnan(value)}
    assert undefined == {"Dsyn", "CAPs", "DCAPs", "DCAPb", "TCAPs", "TCAPb", "TCAP", "mean_denom"}
    assert set(attribute.undefined) == undefined
    assert (values["iS"], values["DiS"], values["DiSCO"], values["DCAPd"]) == (0, 0, 0, 0)


def test_files_of_the_same_name_are_told_apart_by_their_path(tmp_path: Path):
    paths = []
    for folder in ("real", "one", "two"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "data.csv")
        paths[-1].write_text("x,y\n1,2\n" if folder != "two" else "x\n1\n")
    pair = unveil.Pair(paths[0], paths[1:])
    assert pair.labels == (str(paths[1]), str(paths[2]))
    with pytest.raises(DataError, match=f"{paths[2]} has no column 'y'; {paths[0]} has it"):
        pair.column("y")
    assert unveil.Pair(paths[0], tmp_path / "one" / "data.csv").labels == (str(paths[1]),)


def test_files_of_different_names_are_called_by_them(tmp_path: Path):
    for name in ("real.csv", "made.csv"):
        (tmp_path / name).write_text("x\n1\n")
    assert unveil.Pair(tmp_path / "real.csv", str(tmp_path / "made.csv")).labels == ("made.csv",)


def test_a_source_keeps_the_name_it_was_given():
    table = pa.table({"x": [1]})
    assert unveil.Pair(table, unveil.read(table, label="bootstrap")).labels == ("bootstrap",)


def test_a_file_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(FileError, match=r"gone\.csv: no such file"):
        unveil.Pair(pa.table({"x": [1]}), tmp_path / "gone.csv")


def test_text_options_hold_for_every_file(tmp_path: Path):
    (tmp_path / "o.csv").write_bytes("x;y\ncafé;NA\n".encode("latin-1"))
    (tmp_path / "s.csv").write_bytes("x;y\ncafé;1,5\n".encode("latin-1"))
    pair = unveil.Pair(
        tmp_path / "o.csv", tmp_path / "s.csv", encoding="latin-1", delimiter=";", decimal=",", missing=("NA",)
    )
    assert shown(pair) == [["café"], ["café"]]
    assert shown(pair, "y") == [["Missing"], ["1.5"]]


def test_the_original_as_its_own_release_is_told(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text("x\n1\n")
    with pytest.warns(UnveilWarning, match="is the original itself"):
        unveil.Pair(path, path)
    source = unveil.read(pa.table({"x": [1]}), label="both")
    with pytest.warns(UnveilWarning, match="both is the original itself"):
        unveil.Pair(source, source)


# ---------------------------------------------------------------------------------------------- reading
def test_only_the_columns_asked_for_are_read_and_each_once():
    asked: list[str] = []
    table = pa.table({"a": [1], "b": [2], "c": [3]})

    def fetch(name: str) -> pa.ChunkedArray:
        asked.append(name)
        return table.column(name)

    source = Source("lazy", ("a", "b", "c"), 1, fetch)
    pair = unveil.Pair(source, table)
    assert asked == []
    unveil.identity(pair, ["a"])
    unveil.identity(pair, ["a", "c"])
    assert asked == ["a", "c"]


def test_parquet_is_read_column_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    paths = tmp_path / "real.parquet", tmp_path / "made.parquet"
    for path in paths:
        pq.write_table(pa.table({"a": [1, 2], "b": [1, 1], "huge": [[1], [2]]}), path)
    read: list[list[str]] = []
    original = pq.ParquetFile.read

    def spy(self: Any, columns: Any = None, **options: Any) -> pa.Table:
        read.append(columns)
        return original(self, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read", spy)
    pair = unveil.Pair(*paths)
    assert read == []
    assert unveil.identity(pair, ["a"]).UiO == 100
    assert read == [["a"], ["a"]]


def test_a_column_is_grouped_once():
    pair = pair_of([1, 2, 3, 4, 5], [2, 4])
    assert pair.grouping("x", 4)[0] is pair.grouping("x", 4)[0]
    assert pair.column("x", n_groups=4).labels == ("[1,2)", "[2,3)", "[3,4)", "[4,5]")
    assert pair.column("x").labels == ("1", "2", "3", "4", "5")


# ------------------------------------------------------------------------------------------------- groups
@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.1 + 0.2, 0.7, 1.1, 1688.0, 2000.0, 2360.0, 1e6]), min_size=12, max_size=60),
    st.integers(2, 30),
)
def test_breaks_are_those_of_fractions(values: list[float], n_groups: int) -> None:
    """A break that is a value on paper is reported as that value; only who has just it may be in either group."""
    table = pa.table({"x": values})
    cut, grouping = unveil.Pair(table, table).grouping("x", n_groups)
    written = sorted(Fraction(f"{v:.15g}") for v in [*values, *values])
    places = [Fraction((len(written) - 1) * i, n_groups) for i in range(n_groups + 1)]
    exact = sorted({
        written[int(p)] + (written[min(int(p) + 1, len(written) - 1)] - written[int(p)]) * (p - int(p)) for p in places
    })  # fmt: skip
    if grouping.style == "equal-width":
        assert len(exact) <= 3
        return
    # Where rounding makes two cuts of one quantile, the reference program counts two, and so do we.
    assume(len(grouping.cuts) == len(exact))
    assert grouping.breaks == pytest.approx([float(b) for b in exact], rel=1e-13, abs=0)
    assert [b for b, on_paper in zip(grouping.breaks, exact, strict=True) if on_paper in written] == [
        float(on_paper) for on_paper in exact if on_paper in written
    ]
    for value, code in zip(values, cut.original, strict=True):
        number = Fraction(f"{value:.15g}")
        upper = min(sum(b <= number for b in exact), len(exact) - 1) - 1
        assert cut.labels[code] in {cut.labels[upper], cut.labels[max(upper - 1, 0)] if number in exact else None}


def test_no_groups() -> None:
    """0 is for no groups, as in the call of the paper's program; 1 and less is refused."""
    table = unveil.simulate.demo_population(200, seed=1)
    pair = unveil.Pair(table, table)
    plain = unveil.attribute(pair, ["sex", "age"], target="income")
    for none in (0, {"income": 0}):
        found = unveil.attribute(pair, ["sex", "age"], target="income", ngroups_target=none, ngroups_keys={"age": 0})
        assert found.releases == plain.releases
        assert found.grouping == {}
    assert unveil.identity(pair, ["sex", "age"], ngroups_keys=0).repU == unveil.identity(pair, ["sex", "age"]).repU
    for wrong in (1, -1, False, 2.5):
        with pytest.raises(unveil.errors.CallError, match="at least 2"):
            unveil.attribute(pair, ["sex"], target="income", ngroups_target=wrong)


@pytest.mark.parametrize("options", [{"special_codes": ["x"]}, {"special_codes": 3}, {"kinds": 3}, {"kinds": ["x"]}])
def test_options_by_column_are_mappings(options):
    table = pa.table({"x": [1, 2]})
    with pytest.raises(CallError, match="by column, as a mapping"):
        unveil.Pair(table, table.slice(0, 1), **options)


def test_files_without_a_name_are_called_by_what_they_are():
    source = unveil.read(pa.table({"a": [1, 2, 3, 4], "b": list("xyxy")}))
    pair = unveil.Pair(source[:3], [source[3:], source[1:]])
    assert (pair.original.label, *pair.labels) == ("the original", "release 1", "release 2")
    assert unveil.Pair(source, source[:2], source[2:]).holdout.label == "the held-out records"
    with pytest.warns(UnveilWarning, match="the release is the original itself"):
        unveil.Pair(source, source)


def test_parts_of_one_file_are_told_apart(tmp_path):
    (tmp_path / "people.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    source = unveil.read(tmp_path / "people.csv")
    pair = unveil.Pair(source[:2], [source[2:], source[1:]])
    assert (pair.original.label, *pair.labels) == ("people.csv, 1", "people.csv, 2", "people.csv, 3")
    named = unveil.read(source[:2], label="wave 1")
    assert unveil.Pair(named, source[2:]).original.label == "wave 1"
