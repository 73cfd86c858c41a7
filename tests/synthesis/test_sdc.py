"""Disclosure control: what is changed, what is left alone, and that types survive in every flavour of frame."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from reference import data_file, load_json, parameters
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files.write import write_table
from unveil.synthesis import sdc
from unveil.synthesis.bandwidth import rule_of_thumb
from unveil.synthesis.sdc.smoothing import decimals_of

Make = Callable[[Any], Any]
INCOME = [1000, 1500, -8, None, 2500, 90000, 2000]
CODES = {"income": [-8]}


def survey() -> pa.Table:
    return pa.table(
        {
            "id": pa.array(range(7), pa.int16()),
            "income": pa.array(INCOME, pa.int32()),
            "weight": pa.array([60.5, 70.25, None, 80.0, 55.5, 90.0, 61.0], pa.float32()),
            "region": pa.array(["n", "n", "n", "s", None, "w", "e"]),
            "group": pa.array(["a", "a", "b", "b", "c", "a", None]).dictionary_encode(),
            "flag": pa.array([True, False, None, True, True, False, True]),
        }
    )


def types_of(frame: Any) -> list[Any]:
    return list(frame.schema.types) if isinstance(frame, pa.Table) else list(frame.dtypes)


def values(frame: Any, column: str) -> list[Any]:
    """Values in any flavour, gaps as None."""
    given = pa.table(frame).column(column).to_pylist()
    return [None if v is None or v != v else v for v in given]


# ----------------------------------------------------------------------------------- replicated uniques
def unique_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = load_json("replicated_uniques_1.9.2.json")["cases"]
    return cases


@pytest.mark.parametrize("case", parameters(unique_cases, lambda case: case["id"]))
def test_the_reference_records_are_removed_and_repu_is_0(case: dict[str, Any], shared: Path):
    original, keys = data_file(case["original"]), case["keys"]
    for name, formula, theirs in zip(case["synthetic"], case["formula"], case["syntheses"], strict=True):
        release = unveil.read(data_file(name))
        numbered = pa.table({n: release.column(n) for n in release.names})
        numbered = numbered.append_column("row number", pa.array(range(1, release.num_rows + 1)))
        kept, report = sdc.drop_replicated_uniques(unveil.Pair(original, numbered), keys, data=numbered)
        assert report.n_changed == formula["Replicated uniques"]
        assert kept.num_rows == release.num_rows - report.n_changed
        assert unveil.identity(unveil.Pair(original, kept), keys).repU == 0
        if case["synthpop_equals_formula"]:
            left = set(kept.column("row number").to_pylist())
            removed = [row for row in range(1, release.num_rows + 1) if row not in left]
            assert len(removed) == theirs["n_repU_rm"]
            assert removed[:20] == theirs["first20_repU_rm_rows_1based"]
            assert sum(removed) == theirs["sum_of_repU_rm_rows_1based"]


def test_what_remains_keeps_flavour_and_types(make_frame: Make):
    release = make_frame(survey())
    original = make_frame(survey().slice(0, 3))
    pair = unveil.Pair(original, [make_frame(survey().slice(0, 2)), release])
    kept, report = sdc.drop_replicated_uniques(pair, ["id"], 1, data=release)
    assert type(kept) is type(release)
    assert types_of(kept) == types_of(release)
    assert values(kept, "id") == [3, 4, 5, 6]
    assert (report.n_records, report.n_changed, report.data) == (7, 3, "release 2")
    assert len(release) == 7


def test_without_the_frame_the_types_of_the_pair_are_used_and_named(make_frame: Make, flavour: str):
    columns = {"k": [1, 2, 2], "x": pa.array([5, None, 2**60], pa.int64()), "t": ["a", "b", None]}
    release = make_frame(pa.table(columns))
    kept, report = sdc.drop_replicated_uniques(unveil.Pair(make_frame({"k": [1]}), release), "k")
    assert type(kept) is type(release)
    assert "data=" in str(report)
    assert values(kept, "t") == ["b", None]
    if flavour != "pandas":  # pandas itself makes decimals of whole numbers with gaps
        assert values(kept, "x") == [None, 2**60]


def test_whole_numbers_with_gaps_stay_whole_in_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    release = pandas.DataFrame({"k": [1, 2, 2], "x": pandas.array([5, None, 2**60 + 1], dtype="Int64")})
    kept, _ = sdc.drop_replicated_uniques(unveil.Pair(pandas.DataFrame({"k": [1]}), release), "k")
    assert list(map(str, kept.dtypes)) == ["int64", "Int64"]
    assert kept["x"].iloc[1] == 2**60 + 1


def test_a_release_from_a_file_becomes_an_arrow_table_with_its_declarations(tmp_path: Path):
    levels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), ["lo", "hi"])
    declared = {"x": unveil.Variable("x", kind="ordered", levels=("lo", "hi"))}
    write_table(pa.table({"x": levels, "t": ["1", "b", "c"]}), tmp_path / "release.parquet", declared)
    original = pa.table({"x": ["lo", "hi"], "t": ["1", "b"]})
    kept, report = sdc.drop_replicated_uniques(unveil.Pair(original, tmp_path / "release.parquet"), ["x"])
    assert isinstance(kept, pa.Table)
    assert kept.schema.field("t").type == pa.string()
    assert unveil.read(kept).variable("x").levels == ("lo", "hi")
    assert (kept.num_rows, report.n_changed, report.data) == (2, 1, "release.parquet")


def test_a_combination_with_a_missing_key_counts_unless_told_otherwise():
    original = pa.table({"a": ["x", None], "b": [1, 2]})
    pair = unveil.Pair(original, original)
    assert sdc.drop_replicated_uniques(pair, ["a", "b"])[1].n_changed == 2
    kept, report = sdc.drop_replicated_uniques(pair, ["a", "b"], use_keys_na=False)
    assert report.n_changed == 1
    assert unveil.identity(unveil.Pair(original, kept), ["a", "b"], use_keys_na=False).repU == 0


@pytest.mark.filterwarnings("ignore:column 'k'. no value of the original occurs")
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.lists(st.integers(0, 6), max_size=30))
def test_repu_is_0_afterwards_and_only_replicated_uniques_go(original: list[int], release: list[int]):
    whole, made = pa.table({"k": original}), pa.table({"k": pa.array(release, pa.int64())})
    kept, report = sdc.drop_replicated_uniques(unveil.Pair(whole, made), "k")
    left = kept.column("k").to_pylist()
    assert left == [k for k in release if not (original.count(k) == 1 and release.count(k) == 1)]
    assert report.n_changed == len(release) - len(left)
    if left:
        assert unveil.identity(unveil.Pair(whole, kept), "k").repU == 0


@pytest.mark.parametrize("release", [1, -1, True, 0.0])
def test_no_such_release(release: Any):
    pair = unveil.Pair(pa.table({"k": [1]}), pa.table({"k": [1]}))
    with pytest.raises(CallError, match="release must be a whole number from 0 to 0"):
        sdc.drop_replicated_uniques(pair, "k", release)


def test_data_must_be_the_release():
    pair = unveil.Pair(pa.table({"k": [1]}), pa.table({"k": [1, 2]}))
    with pytest.raises(DataError, match="data is not the release"):
        sdc.drop_replicated_uniques(pair, "k", data=pa.table({"k": [1]}))
    with pytest.raises(CallError, match="has no column 'kk'; did you mean 'k'"):
        sdc.drop_replicated_uniques(pair, "kk")


# ------------------------------------------------------------------------------------ top and bottom coding
def test_top_code_changes_amounts_only(make_frame: Make):
    frame = make_frame(survey())
    coded, report = sdc.top_code(frame, "income", at=2000, special_codes=CODES)
    assert type(coded) is type(frame)
    assert types_of(coded) == types_of(frame)
    assert values(coded, "income") == [1000, 1500, -8, None, 2000, 2000, 2000]
    assert values(frame, "income") == INCOME
    for other in ("id", "weight", "region", "group", "flag"):
        assert values(coded, other) == values(frame, other)
    assert report.to_dict() == {
        "action": "top_code",
        "data": "data",
        "columns": ["income"],
        "n_records": 7,
        "n_changed": 2,
        "figures": {"threshold": 2000, "quantile": None, "n_at_threshold": 3, "n_gaps": 1, "n_special": 1},
        "sentences": list(report.sentences),
    }
    assert json.dumps(report.to_dict())
    assert "2 of 7 records were above 2000" in str(report)


def test_bottom_code_changes_amounts_only(make_frame: Make):
    coded, report = sdc.bottom_code(make_frame(survey()), "income", at=1500, special_codes={"income": -8})
    assert values(coded, "income") == [1500, 1500, -8, None, 2500, 90000, 2000]
    assert (report.n_changed, report.figures["n_at_threshold"]) == (1, 2)


def test_decimals_are_coded_in_single_precision_too(make_frame: Make):
    frame = make_frame(survey())
    coded, _ = sdc.top_code(frame, "weight", at=70.1)
    assert types_of(coded) == types_of(frame)
    assert values(coded, "weight") == [60.5, float(np.float32(70.1)), None, float(np.float32(70.1)), 55.5,
                                       float(np.float32(70.1)), 61.0]  # fmt: skip


@pytest.mark.parametrize(
    ("quantile", "threshold", "above", "below"), [(0.5, 5, 5, 4), (0.9, 9, 1, 8), (0.91, 10, 0, 9), (0.001, 1, 9, 0)]
)
def test_a_quantile_is_a_value_that_occurs(quantile: float, threshold: int, above: int, below: int):
    data = pa.table({"x": pa.array([*range(1, 11), None])})
    _, top = sdc.top_code(data, "x", quantile=quantile)
    _, bottom = sdc.bottom_code(data, "x", quantile=quantile)
    assert top.figures["threshold"] == bottom.figures["threshold"] == threshold
    assert (top.n_changed, bottom.n_changed) == (above, below)


def test_codes_that_a_file_declares_are_kept(tmp_path: Path):
    table = pa.table({"income": [5, 10, 99, 50]})
    write_table(table, tmp_path / "a.parquet", {"income": unveil.Variable("income", special_codes=(99,))})
    coded, _ = sdc.top_code(tmp_path / "a.parquet", "income", at=20)
    assert values(coded, "income") == [5, 10, 99, 20]
    coded, _ = sdc.top_code(unveil.read(table, schema={"income": {"special_codes": [99]}}), "income", at=20)
    assert values(coded, "income") == [5, 10, 99, 20]
    assert unveil.read(coded).variable("income").special_codes == (99,)


def test_what_looks_like_a_code_and_is_not_declared_is_named():
    with pytest.warns(UnveilWarning, match="column 'income' holds -8, which look like codes"):
        coded, _ = sdc.bottom_code(survey(), "income", at=1000)
    assert values(coded, "income")[2] == 1000


@pytest.mark.parametrize("number", [2**62, 2**53 + 1])
def test_large_whole_numbers_stay_exact(make_frame: Make, number: int):
    coded, _ = sdc.top_code(make_frame({"x": [number - 1, number, number + 1]}), "x", at=number)
    assert values(coded, "x") == [number - 1, number, number]


def test_infinite_amounts_are_amounts():
    coded, _ = sdc.top_code(pa.table({"x": [1.0, float("inf"), float("nan")]}), "x", at=2)
    assert values(coded, "x") == [1.0, 2.0, None]


def test_pandas_keeps_row_labels_and_names_that_are_numbers():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({7: [1, 5], "y": [1, 2]}, index=["r", "s"])
    coded, _ = sdc.top_code(frame, "7", at=3)
    assert list(coded.index) == ["r", "s"]
    assert list(coded.columns) == [7, "y"]
    assert coded[7].tolist() == [1, 3]
    nullable = pandas.DataFrame({"x": pandas.array([1, None, 9], dtype="Int8")})
    assert str(sdc.top_code(nullable, "x", at=4)[0]["x"].dtype) == "Int8"


@pytest.mark.parametrize("code", [sdc.top_code, sdc.bottom_code])
@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ("incme", {"at": 1}, "data has no column 'incme'; did you mean 'income'"),
        ("income", {}, "column 'income': .*at=.*or a quantile="),
        ("income", {"at": 1, "quantile": 0.5}, "one of the two"),
        ("income", {"at": 1.5}, "column 'income' holds whole numbers; at must be one, not 1.5"),
        ("income", {"at": "x"}, "column 'income': at must be a number"),
        ("income", {"at": True}, "at must be a number"),
        ("income", {"at": float("nan")}, "at must be a number"),
        ("income", {"quantile": 1}, "column 'income': quantile must lie between 0 and 1, not 1"),
        ("region", {"at": 1}, "column 'region' is categorical; .* needs numbers"),
        ("flag", {"at": 1}, "column 'flag' is bool; .* needs numbers"),
        ("income", {"at": 1, "special_codes": {"incom": [1]}}, "data has no column 'incom'"),
    ],
)
def test_wrong_calls_name_the_column(code: Any, column: str, options: dict[str, Any], message: str):
    options = {"special_codes": CODES} | options
    with pytest.raises(CallError, match=message) as caught:
        code(survey(), column, **options)
    assert "\n" not in str(caught.value)


def test_numbers_that_are_declared_categories_are_not_coded():
    with pytest.raises(CallError, match="column 'x' is categorical; top_code needs amounts"):
        sdc.top_code(unveil.read(pa.table({"x": [1, 2]}), schema={"x": {"kind": "categorical"}}), "x", at=1)


def test_a_threshold_that_the_type_cannot_hold(make_frame: Make):
    frame = make_frame(pa.table({"x": pa.array([1, 2], pa.uint8())}))
    with pytest.raises(CallError, match="data: column 'x' cannot take the new values in its own type") as caught:
        sdc.top_code(frame, "x", at=-1)
    assert "\n" not in str(caught.value)


def test_no_amounts_no_quantile():
    with pytest.raises(DataError, match="column 'x' has no amounts"):
        sdc.top_code(pa.table({"x": pa.array([None, -8])}), "x", quantile=0.5, special_codes={"x": -8})
    coded, report = sdc.top_code(pa.table({"x": pa.array([None], pa.int64())}), "x", at=5)
    assert (values(coded, "x"), report.n_changed) == ([None], 0)


# ------------------------------------------------------------------------------------------------ smoothing
def test_smoothing_keeps_range_decimals_gaps_and_codes(make_frame: Make):
    rng = np.random.default_rng(1)
    amounts = np.round(rng.gamma(2, 900, 400), 1)
    column = [None if i % 10 == 0 else -8.0 if i % 10 == 1 else float(x) for i, x in enumerate(amounts)]
    frame = make_frame(pa.table({"income": pa.array(column, pa.float32()), "id": range(400)}))
    smoothed, report = sdc.smooth(frame, "income", 3, special_codes=CODES)
    new = values(smoothed, "income")
    assert types_of(smoothed) == types_of(frame)
    observed = [(o, n) for o, n in zip(column, new, strict=True) if o is not None and o != -8]
    assert [i for i, v in enumerate(new) if v is None] == list(range(0, 400, 10))
    assert [i for i, v in enumerate(new) if v == -8] == list(range(1, 400, 10))
    low, high = min(o for o, _ in observed), max(o for o, _ in observed)
    assert all(np.float32(low) <= n <= np.float32(high) for _, n in observed)
    assert all(np.float32(round(n, 1)) == np.float32(n) for _, n in observed)
    assert report.figures["n_gaps"] == report.figures["n_special"] == 40
    assert report.n_changed > 300
    again, _ = sdc.smooth(frame, "income", 3, special_codes=CODES)
    other, _ = sdc.smooth(frame, "income", 4, special_codes=CODES)
    assert values(again, "income") == new != values(other, "income")


def test_the_noise_has_the_bandwidth_as_its_standard_deviation():
    x = np.random.default_rng(5).normal(0, 1000, 20000)
    data = pa.table({"x": np.append(x, [-1e9, 1e9])})
    smoothed, report = sdc.smooth(data, "x", 8, bandwidth=50.0)
    noise = np.array(values(smoothed, "x"))[:-2] - x
    assert report.figures["bandwidth"] == 50
    assert abs(noise.std() / 50 - 1) < 4 / np.sqrt(2 * noise.size)
    assert abs(noise.mean()) < 4 * 50 / np.sqrt(noise.size)


def test_rule_of_thumb_by_hand():
    x = np.array([55.0, 61.5, 70.0, 82.5, 90.1])
    deviation = np.sqrt(((x - x.mean()) ** 2).sum() / 4)
    assert np.isclose(rule_of_thumb(x), 0.9 * min(deviation, 21 / 1.34) * 5 ** (-1 / 5))
    wide = np.array([0.0, 1, 2, 3, 1000])
    assert np.isclose(rule_of_thumb(wide), 0.9 * (2 / 1.34) * 5 ** (-1 / 5))
    assert rule_of_thumb(np.array([0.0] * 9 + [1])) > 0
    assert rule_of_thumb(np.array([3.0])) == rule_of_thumb(np.array([])) == 0


def test_decimals():
    assert decimals_of(np.array([0.1, 0.25, 3])) == 2
    assert decimals_of(np.array([1.0, 2.0])) == 0
    assert decimals_of(np.array([1 / 3])) == 15


def test_whole_numbers_stay_whole_and_a_spike_stays(make_frame: Make):
    column = [0] * 80 + list(range(100, 2100, 100))
    smoothed, report = sdc.smooth(make_frame({"x": column}), "x", 1, bandwidth=30)
    new = values(smoothed, "x")
    assert new[:80] == [0] * 80
    assert all(type(v) is int for v in new)
    assert new[80:] != column[80:]
    assert report.figures["n_spike"] == 80
    assert "80 records with the one value that most have keep it" in " ".join(str(report).split())


def test_noise_below_the_rounding_is_named():
    smoothed, report = sdc.smooth(pa.table({"x": [1, 2, 3]}), "x", 1, bandwidth=0.001)
    assert values(smoothed, "x") == [1, 2, 3]
    assert report.n_changed == 0
    assert "a larger bandwidth is needed" in " ".join(str(report).split())


@pytest.mark.parametrize("column", [[], [None, None], [5, 5, 5], [7]])
def test_nothing_to_smooth(column: list[int | None]):
    data = pa.table({"x": pa.array(column, pa.int64())})
    smoothed, report = sdc.smooth(data, "x", 1)
    assert smoothed.equals(data)
    assert report.n_changed == 0


@pytest.mark.parametrize(
    ("column", "seed", "options", "error", "message"),
    [
        ("x", -1, {}, CallError, "column 'x': seed must be a whole number"),
        ("x", True, {}, CallError, "column 'x': seed"),
        ("x", 1.5, {}, CallError, "column 'x': seed"),
        ("x", 1, {"bandwidth": 0}, CallError, "column 'x': bandwidth must be a number above 0, not 0"),
        ("x", 1, {"bandwidth": float("inf")}, CallError, "bandwidth"),
        ("y", 1, {}, CallError, "data has no column 'y'"),
        ("t", 1, {}, CallError, "column 't' is categorical; smooth needs numbers"),
        ("i", 1, {}, DataError, "column 'i' holds infinite values"),
        ("b", 1, {}, DataError, r"column 'b' holds integers beyond 2\^53"),
    ],
)
def test_smoothing_errors(column: str, seed: Any, options: dict[str, Any], error: Any, message: str):
    data = pa.table({"x": [1.0, 2], "t": ["a", "b"], "i": [1.0, float("inf")], "b": [1, 2**60]})
    with pytest.raises(error, match=message):
        sdc.smooth(data, column, seed, **options)


# ---------------------------------------------------------------------------------------------- rare levels
def test_rare_levels_are_merged_in_text(make_frame: Make):
    frame = make_frame(survey())
    merged, report = sdc.merge_rare_levels(frame, "region", 2)
    assert type(merged) is type(frame)
    assert types_of(merged) == types_of(frame)
    assert values(merged, "region") == ["n", "n", "n", "other", None, "other", "other"]
    assert report.figures == {"minimum": 2, "into": "other", "merged": 3, "n_into": 3, "n_gaps": 1}
    assert report.n_changed == 3
    # What a merged level was called would be what is to be hidden.
    assert "'w'" not in str(report)


def test_values_that_are_one_level_elsewhere_are_counted_together(make_frame: Make):
    numbers = [0.9, 0.8999999999999999, 0.1, 0.1, 0.5, None]
    merged, report = sdc.merge_rare_levels(make_frame(pa.table({"x": numbers})), "x", 2, into=0.1)
    assert values(merged, "x") == [0.9, 0.8999999999999999, 0.1, 0.1, 0.1, None]
    assert report.figures == {"minimum": 2, "into": 0.1, "merged": 1, "n_into": 3, "n_gaps": 1}
    # A letter with its accent as one sign, as two, and with a blank behind: three spellings of one level.
    texts = ["caf\u00e9", "cafe\u0301", "caf\u00e9 ", "bar", "bar", "bar", "pub"]
    merged, report = sdc.merge_rare_levels(make_frame(pa.table({"x": texts})), "x", 3, into="bar")
    assert values(merged, "x") == [*texts[:6], "bar"]
    merged, report = sdc.merge_rare_levels(
        make_frame(
            pa.table({"x": texts}),
        ),
        "x",
        4,
        into="bar",
    )
    assert values(merged, "x") == ["bar"] * 7
    assert (report.figures["merged"], report.figures["n_into"]) == (2, 7)


def test_spellings_of_one_number_are_one_level_where_numbers_are_declared(tmp_path: Path):
    (tmp_path / "s.toml").write_text('[columns.x]\nkind = "numeric"\nspecial_codes = [9]\n')
    data = unveil.read(pa.table({"x": ["1", "1.0", "2", "3", "3", "9"]}), schema=tmp_path / "s.toml")
    merged, report = sdc.merge_rare_levels(data, "x", 2, into="3")
    assert values(merged, "x") == ["1", "1.0", "3", "3", "3", "9"]
    assert report.figures["merged"] == 1


def test_categories_in_two_spellings_go_or_stay_together(make_frame: Make):
    column = pa.array(["caf\u00e9", "cafe\u0301", "bar", "bar", "bar"]).dictionary_encode()
    merged, _ = sdc.merge_rare_levels(make_frame(pa.table({"x": column})), "x", 2)
    assert values(merged, "x") == column.to_pylist()
    merged, _ = sdc.merge_rare_levels(make_frame(pa.table({"x": column})), "x", 3, into="bar")
    assert values(merged, "x") == ["bar"] * 5


def test_categories_list_the_new_level_and_not_the_merged_ones(make_frame: Make, flavour: str):
    indices = pa.array([0, 0, 1, 2, None, 2, 4], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, ["a", "rare", "c", "unused", "few"])
    frame = make_frame(pa.table({"x": column}))
    merged, _ = sdc.merge_rare_levels(frame, "x", 2)
    assert values(merged, "x") == ["a", "a", "other", "c", None, "c", "other"]
    if flavour == "pandas":
        assert merged["x"].cat.categories.tolist() == ["a", "c", "unused", "other"]
    if flavour == "arrow":
        assert merged.column("x").chunk(0).dictionary.to_pylist() == ["a", "c", "unused", "other"]
        assert merged.schema.field("x").type == frame.schema.field("x").type
    if flavour == "polars":
        assert merged.schema == frame.schema


def test_polars_enum_and_ordered_categories():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame({"x": pl.Series(["lo", "mid", "hi", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))})
    merged, _ = sdc.merge_rare_levels(frame, "x", 2, into="lo")
    assert merged["x"].to_list() == ["lo", "lo", "hi", "hi"]
    assert merged["x"].dtype == pl.Enum(["lo", "hi"])
    merged, _ = sdc.merge_rare_levels(frame.lazy().collect(), "x", 2, into="hi")
    assert merged["x"].dtype == pl.Enum(["hi"])


def test_an_ordered_column_takes_only_a_level_that_has_a_place():
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 2], pa.int8()), ["lo", "mid", "hi"], ordered=True)
    data = pa.table({"x": pa.chunked_array([ordered], kind)})
    with pytest.raises(CallError, match=r"column 'x' is ordered, and 'other' has no place .* 'lo', 'mid', 'hi'"):
        sdc.merge_rare_levels(data, "x", 2)
    merged, _ = sdc.merge_rare_levels(data, "x", 2, into="mid")
    assert merged.column("x").type == kind
    assert merged.column("x").chunk(0).dictionary.to_pylist() == ["mid", "hi"]


def test_pandas_keeps_the_order_of_categories():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    dtype = pandas.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    frame = pandas.DataFrame({"x": pandas.Series(["lo", "mid", "hi", "hi"], dtype=dtype, index=[3, 1, 2, 0])})
    merged, _ = sdc.merge_rare_levels(frame, "x", 2, into="mid")
    assert merged["x"].dtype == pandas.CategoricalDtype(["mid", "hi"], ordered=True)
    assert merged["x"].tolist() == ["mid", "mid", "hi", "hi"]
    assert list(merged.index) == [3, 1, 2, 0]
    objects = pandas.DataFrame({"x": pandas.Series(["a", "a", "b", "c", None], dtype=object)})
    merged, _ = sdc.merge_rare_levels(objects, "x", 2)
    assert merged["x"].dtype == object
    assert values(merged, "x") == ["a", "a", "other", "other", None]


def test_numbers_that_stand_for_categories(make_frame: Make):
    frame = make_frame(pa.table({"x": pa.array([1, 1, 2, 3, -8, None], pa.int8())}))
    with pytest.raises(CallError, match="column 'x' holds numbers; into must be of the same type, not 'other'"):
        sdc.merge_rare_levels(frame, "x", 2)
    merged, _ = sdc.merge_rare_levels(frame, "x", 2, into=9, special_codes={"x": [-8]})
    assert values(merged, "x") == [1, 1, 9, 9, -8, None]
    assert types_of(merged) == types_of(frame)
    frame = make_frame(pa.table({"x": pa.array([1, 1, 1, 2, 3], pa.int8())}))
    with pytest.raises(CallError, match="column 'x' cannot take"):
        sdc.merge_rare_levels(frame, "x", 2, into=999)


def test_declared_levels_of_a_file_follow(tmp_path: Path):
    declared = {"x": unveil.Variable("x", kind="categorical", levels=("a", "b", "c"), labels={1: "a", 2: "b", 3: "c"})}
    column = pa.array(["a", "a", "b", "c"]).dictionary_encode()
    write_table(pa.table({"x": column}), tmp_path / "in.parquet", declared)
    merged, _ = sdc.merge_rare_levels(tmp_path / "in.parquet", "x", 2)
    assert unveil.read(merged).variable("x").levels == ("a", "other")


def test_a_level_that_exists_takes_the_rare_ones_up():
    data = pa.table({"x": ["other", "a", "a", "b"]})
    merged, report = sdc.merge_rare_levels(data, "x", 2)
    assert values(merged, "x") == ["other", "a", "a", "other"]
    assert (report.n_changed, report.figures["n_into"]) == (1, 2)


def test_a_merged_level_that_is_still_rare_is_named():
    with pytest.warns(UnveilWarning, match="column 'x': the merged level 'other' has 1 records, fewer than 3"):
        sdc.merge_rare_levels(pa.table({"x": ["a", "a", "a", "b"]}), "x", 3)


@pytest.mark.parametrize(
    ("column", "minimum", "into", "message"),
    [
        ("x", 0, "other", "column 'x': minimum must be a whole number from 1, not 0"),
        ("x", 2.5, "other", "minimum must be"),
        ("x", True, "other", "minimum must be"),
        ("y", 2, "other", "data has no column 'y'"),
        ("x", 2, 7, "column 'x' holds text; into must be of the same type, not 7"),
        ("x", 2, None, "column 'x': into must be a level, not None"),
        ("flag", 2, "other", "column 'flag' is logical and has no levels to merge"),
    ],
)
def test_merging_errors(column: str, minimum: Any, into: Any, message: str):
    with pytest.raises(CallError, match=message):
        sdc.merge_rare_levels(pa.table({"x": ["a"], "flag": [True]}), column, minimum, into)


def test_nothing_rare_nothing_changed(make_frame: Make):
    frame = make_frame({"x": ["a", "a", None]})
    merged, report = sdc.merge_rare_levels(frame, "x", 2)
    assert report.n_changed == 0
    assert values(merged, "x") == ["a", "a", None]


# ------------------------------------------------------------------------------------------------ the label
def test_the_label_comes_last_and_the_rest_stays(make_frame: Make):
    frame = make_frame(survey())
    labelled, report = sdc.label(frame, "synthetic, not real persons")
    assert type(labelled) is type(frame)
    assert values(labelled, "synthetic_label") == ["synthetic, not real persons"] * 7
    assert pa.table(labelled).column_names[:-1] == survey().column_names
    assert types_of(labelled)[:-1] == types_of(frame)
    assert "synthetic_label" not in pa.table(frame).column_names
    assert report.columns == ("synthetic_label",)


def test_label_errors():
    with pytest.raises(CallError, match="the label must be a text, not ' '"):
        sdc.label(survey(), " ")
    with pytest.raises(CallError, match="data has a column 'id' already; give column="):
        sdc.label(survey(), "synthetic", column="id")
    with pytest.raises(CallError, match="the label's column needs a name"):
        sdc.label(survey(), "synthetic", column="")


# ------------------------------------------------------------------------------------- where frames come from
def test_files_batches_and_duckdb_become_arrow_tables(tmp_path: Path):
    (tmp_path / "a.csv").write_text("k,x\nu,1\nv,5\n", encoding="utf-8")
    coded, report = sdc.top_code(tmp_path / "a.csv", "x", at=3)
    assert coded.to_pydict() == {"k": ["u", "v"], "x": [1, 3]}
    assert report.data == "a.csv"
    batch = pa.RecordBatch.from_pydict({"x": [1, 5]})
    assert sdc.top_code(batch, "x", at=3)[0].to_pydict() == {"x": [1, 3]}
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    assert sdc.top_code(reader, "x", at=3)[0].to_pydict() == {"x": [1, 3]}
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    relation = duckdb.sql("select * from (values (1), (5)) as t(x)")
    assert sdc.top_code(relation, "x", at=3)[0].to_pydict() == {"x": [1, 3]}


@pytest.mark.parametrize("data", [5, [1, 2], None, pa.array([1])])
def test_what_is_no_table_is_refused(data: Any):
    with pytest.raises(CallError):
        sdc.label(data, "synthetic")


def test_an_empty_frame_stays_empty(make_frame: Make):
    frame = make_frame(survey().slice(0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for treated, report in (
            sdc.top_code(frame, "income", at=5),
            sdc.smooth(frame, "income", 1),
            sdc.merge_rare_levels(frame, "group", 2),
            sdc.label(frame, "synthetic"),
        ):
            assert len(treated) == report.n_changed == 0
            assert types_of(treated)[:6] == types_of(frame)


def test_what_is_written_as_the_threshold_is_not_beyond_it(make_frame: Make):
    # 0.1 + 0.2 is above 0.3 in binary, and 0.8 - 0.1 below 0.7
    frame = make_frame(pa.table({"x": [0.1 + 0.2, 0.3, 0.31, 0.8 - 0.1, 0.7]}))
    coded, report = sdc.top_code(frame, "x", at=0.3)
    assert values(coded, "x") == [0.1 + 0.2, 0.3, 0.3, 0.3, 0.3]
    assert (report.n_changed, report.figures["n_at_threshold"]) == (3, 5)
    coded, report = sdc.bottom_code(frame, "x", at=0.7)
    assert values(coded, "x") == [0.7, 0.7, 0.7, 0.8 - 0.1, 0.7]
    assert (report.n_changed, report.figures["n_at_threshold"]) == (3, 5)
    # Amounts are exact: of a thousand million a unit is no rounding error, nor is one of a thousand billion billion.
    large = make_frame(pa.table({"x": [1e9 + 0.5, 1e9, 1e9 - 0.5], "y": [1e16 + 2, 1e16, 0.0]}))
    assert values(sdc.top_code(large, "x", at=1e9)[0], "x") == [1e9, 1e9, 1e9 - 0.5]
    assert values(sdc.top_code(large, "y", at=1e16)[0], "y") == [1e16, 1e16, 0.0]


def test_a_quantile_is_counted_in_whole_numbers():
    # 7 of 100 values are at most 7, though .07 * 100 is more than 7 in binary
    data = pa.table({"x": pa.array(range(1, 101))})
    for quantile in (0.07, 0.14, 0.28, 0.29, 0.55, 0.56, 0.57, 0.58):
        _, report = sdc.top_code(data, "x", quantile=quantile)
        assert report.figures["threshold"] == round(100 * quantile)
        assert report.n_changed == 100 - round(100 * quantile)
