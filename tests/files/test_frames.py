"""Data frames of every flavour, and Parquet and Arrow files."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
import uuid
import warnings
from importlib import import_module
from importlib.util import find_spec

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import CallError, DataError, FileError, UnveilWarning
from unveil.files.opening import open_source


def values(source, name):
    return source.column(name).to_pylist()


@pytest.fixture
def pd():
    return pytest.importorskip("pandas", reason="for pandas frames")


@pytest.fixture
def pl():
    return pytest.importorskip("polars", reason="for polars frames")


TABLE = pa.table(
    {
        "n": pa.array([1, None, 3]),
        "x": pa.array([0.5, 1.0, None]),
        "s": pa.array(["a", None, "a"]),
        "b": pa.array([True, None, False]),
        "d": pa.array([datetime.date(2020, 1, 5), None, None]),
        "t": pa.array([datetime.datetime(2020, 1, 5, 1, 2), None, None]),
    }
)


def test_every_flavour_holds_the_same_values(make_frame, flavour):
    source = open_source(make_frame(TABLE))
    assert (source.flavour, source.label, source.num_rows) == (flavour, "data", 3)
    for name in TABLE.column_names:
        found = [None if v != v or str(v) in ("NaT", "nan") else v for v in values(source, name)]
        assert found == values(open_source(TABLE), name)
    assert pa.types.is_dictionary(source.column("s").type)


@pytest.mark.parametrize(
    ("array", "kind", "expected"),
    [
        (pa.array([0.1, None], pa.float32()), pa.float64(), [0.1, None]),
        (pa.array([1, 2], pa.uint8()), pa.int64(), [1, 2]),
        (pa.array([2**64 - 1, 1], pa.uint64()), None, [str(2**64 - 1), "1"]),
        (pa.array([decimal.Decimal("1.50")]), pa.float64(), [1.5]),
        (pa.array([decimal.Decimal("12")]), pa.int64(), [12]),
        (pa.array(["a"], pa.large_string()), None, ["a"]),
        (pa.array([None, None]), pa.null(), [None, None]),
        (pa.array([1.0, 1.0, None]).dictionary_encode(), None, [1.0, 1.0, None]),
        (pa.array([0], pa.date64()), pa.date32(), [datetime.date(1970, 1, 1)]),
    ],
)
def test_arrow_types_become_few(array, kind, expected):
    column = open_source(pa.table({"x": array})).column("x")
    assert column.to_pylist() == expected
    assert column.type == kind if kind else pa.types.is_dictionary(column.type)


def test_dictionaries_of_several_chunks_become_one():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b", None]).dictionary_encode()]
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int8()), pa.array(["a", "b", "a"]))
    column = open_source(pa.table({"x": pa.chunked_array(chunks)})).column("x")
    assert column.num_chunks == 1
    assert column.to_pylist() == ["b", "a", "c", "b", None]
    column = open_source(pa.table({"x": repeated})).column("x")
    assert column.chunk(0).dictionary.to_pylist() == ["a", "b"]
    assert column.to_pylist() == ["a", "b", "a", None]


@pytest.mark.parametrize("array", [pa.array([[1]]), pa.array([{"a": 1}])])
def test_what_is_not_one_value_per_record_is_refused_by_name(array):
    source = open_source(pa.table({"ok": [1], "odd": array}), label="release 2")
    assert values(source, "ok") == [1]
    with pytest.raises(DataError, match="release 2: column 'odd' holds"):
        source.column("odd")


def test_repeated_and_blank_names():
    one = pa.array([1])
    with pytest.raises(DataError, match="original: the column name 'a' occurs more than once"):
        open_source(pa.Table.from_arrays([one, one], ["a", "a"]), label="original")
    with pytest.raises(DataError, match="column 1 has no name"):
        open_source(pa.Table.from_arrays([one], [" "]))


@pytest.mark.parametrize("data", [3, [1, 2], {"a": [1]}, None])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(CallError, match="neither a file name nor a data frame"):
        open_source(data)


def test_one_column_is_no_table(pl):
    with pytest.raises(CallError, match="a table is needed"):
        open_source(pl.Series([1]))


def test_a_source_is_returned_as_it_is():
    source = open_source(TABLE)
    assert open_source(source) is source
    assert open_source(source, label="original").label == "original"
    assert open_source(source, schema={"n": {"special_codes": [-8]}}).variable("n").special_codes == (-8,)


def test_declared_order_of_an_arrow_dictionary():
    levels = pa.array(["low", "high"])
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0]), levels, ordered=True)
    variable = open_source(pa.table({"x": array})).variable("x")
    assert (variable.kind, variable.levels) == ("ordered", ("low", "high"))


def test_record_batches_and_narwhals():
    narwhals = pytest.importorskip("narwhals", reason="for narwhals frames")
    assert values(open_source(pa.record_batch({"a": [1]})), "a") == [1]
    assert values(open_source(narwhals.from_native(TABLE)), "n") == [1, None, 3]


def test_duckdb_relation():
    duckdb = pytest.importorskip("duckdb", reason="for DuckDB relations")
    source = open_source(duckdb.sql("select 'x'::enum('y', 'x') as e, 1::hugeint as h, 1.5::decimal(5, 2) as d"))
    assert [values(source, name) for name in source.names] == [["x"], [1], [1.5]]
    assert source.variable("e").levels == ("y", "x")
    with pytest.raises(DataError, match="'a' occurs more than once"):
        open_source(duckdb.sql("select 1 as a, 2 as a"))


# polars


def test_polars_categories(pl):
    frame = pl.DataFrame(
        {
            "c": pl.Series(["a", None, "b"], dtype=pl.Categorical),
            "e": pl.Series(["b", "a", None], dtype=pl.Enum(["z", "b", "a"])),
        }
    )
    source = open_source(frame)
    assert (source.variable("c").kind, source.variable("c").levels) == ("categorical", None)
    assert (source.variable("e").kind, source.variable("e").levels) == ("categorical", ("z", "b", "a"))
    assert values(source, "c") == ["a", None, "b"]
    assert values(source, "e") == ["b", "a", None]


def test_polars_objects_are_refused(pl):
    frame = pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(DataError, match="column 'o'"):
        open_source(frame).column("o")


# pandas


def test_pandas_gaps_of_four_kinds_are_one(pd):
    frame = pd.DataFrame({"k": pd.Series(["a", None, float("nan"), "a", pd.NA, pd.NaT], dtype=object)})
    assert values(open_source(frame), "k") == ["a", None, None, "a", None, None]


def test_pandas_mixed_numbers_and_text_are_text(pd):
    cells = [1, "1", 2.0, 2, 1.5, None, float("nan"), "x", pd.NA, True]
    with pytest.warns(UnveilWarning, match="data: column 'k' holds values of several types"):
        found = values(open_source(pd.DataFrame({"k": pd.Series(cells, dtype=object)})), "k")
    assert found == ["1", "1", "2", "2", "1.5", None, None, "x", None, "True"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([True, False, None, float("nan")], [True, False, None, None]),
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([datetime.date(2020, 1, 1), None], [datetime.date(2020, 1, 1), None]),
        ([decimal.Decimal("1.5"), None], [1.5, None]),
        ([None, float("nan")], [None, None]),
    ],
)
def test_pandas_objects_of_one_kind_keep_it(pd, cells, expected):
    assert values(open_source(pd.DataFrame({"k": pd.Series(cells, dtype=object)})), "k") == expected


def test_pandas_types(pd):
    frame = pd.DataFrame(
        {
            "i": pd.Series([1, None], dtype="Int64"),
            "a": pd.Series(["x", None], dtype="string"),
            "p": pd.Series([1, None], dtype="int64[pyarrow]"),
            "z": pd.Series(pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Vienna")),
            "m": pd.period_range("2020-01", periods=2, freq="M"),
            "s": pd.Series(pd.arrays.SparseArray([0, 1])),
        }
    )
    source = open_source(frame)
    assert values(source, "i") == values(source, "p") == [1, None]
    assert values(source, "a") == ["x", None]
    assert source.column("z").type.tz == "Europe/Vienna"
    assert values(source, "m") == ["2020-01", "2020-02"]
    assert values(source, "s") == [0, 1]


def test_pandas_categories(pd):
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", None, "b"], categories=["b", "a", "unused"]),
            "n": pd.Categorical([10, 2, 10], ordered=True),
            "g": pd.cut(pd.Series([1, 2, 3]), [0, 2, 4]),
            "e": pd.Categorical([None, None, None]),
        }
    )
    source = open_source(frame)
    assert values(source, "c") == ["a", None, "b"]
    assert source.variable("c").levels == ("b", "a", "unused")
    assert (source.variable("n").kind, source.variable("n").levels) == ("ordered", (2, 10))
    assert values(source, "n") == [10, 2, 10]
    assert values(source, "g") == ["(0, 2]", "(0, 2]", "(2, 4]"]
    assert source.variable("g").kind == "ordered"
    assert values(source, "e") == [None] * 3


def test_pandas_row_labels_carry_no_information(pd):
    frame = pd.DataFrame({"k": list("abc")}, index=[7, 7, 0])
    source = open_source(frame)
    assert source.names == ("k",)
    assert values(source, "k") == ["a", "b", "c"]


def test_pandas_names(pd):
    assert open_source(pd.DataFrame({1: [1], ("a", "b"): [2]})).names == ("1", "('a', 'b')")
    with pytest.raises(DataError, match="data: the column name 'age' occurs more than once"):
        open_source(pd.DataFrame([[30, 31, "y"]], columns=["age", "age", "t"]))


@pytest.mark.parametrize("cell", [[1], {"a": 1}, (1, 2), {1}, 1j])
def test_pandas_cells_that_are_not_one_value(pd, cell):
    source = open_source(pd.DataFrame({"k": pd.Series([cell, cell]), "ok": [1, 2]}))
    assert values(source, "ok") == [1, 2]
    with pytest.raises(DataError, match="column 'k' holds"):
        source.column("k")
    with pytest.warns(UnveilWarning), pytest.raises(DataError, match="column 'k' holds"):
        open_source(pd.DataFrame({"k": pd.Series([cell, "x", 1], dtype=object)})).column("k")


# Parquet and Arrow files


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
def test_column_files(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    table = TABLE.append_column("a.b", pa.array([1, 2, 3])).append_column("a", pa.array([4, 5, 6]))
    if ending == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        feather.write_feather(table, path, chunksize=2, compression="lz4")
    source = open_source(path)
    assert (source.label, source.num_rows, source.path) == (path.name, 3, str(path))
    for name in table.column_names:
        assert values(source, name) == table.column(name).to_pylist()
    assert pa.types.is_dictionary(source.column("s").type)


def test_arrow_stream_file(tmp_path):
    path = tmp_path / "people.arrow"
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert values(open_source(path), "n") == [1, None, 3]


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_pandas_row_labels_in_files_are_no_column(tmp_path, pd, ending):
    path = tmp_path / f"people{ending}"
    frame = pd.DataFrame({"k": pd.Categorical(["a", "b"], ["b", "a", "c"])}, index=[5, 6])
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        feather.write_feather(pa.Table.from_pandas(frame), path)
        assert open_source(path).variable("k").levels == ("b", "a", "c")
    assert open_source(path).names == ("k",)
    assert open_source(path).variable("k").kind == "categorical"


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("part", [0, 3, 0.5, -1])
def test_damaged_column_files(tmp_path, ending, part):
    whole = tmp_path / f"whole{ending}"
    pq.write_table(TABLE, whole) if ending == ".parquet" else feather.write_feather(TABLE, whole)
    content = whole.read_bytes()
    path = tmp_path / f"cut{ending}"
    path.write_bytes(content[: int(part * len(content)) if isinstance(part, float) else part])
    with pytest.raises(FileError, match=rf"cut{ending}: .*not a complete") as caught:
        open_source(path).column("n")
    assert "\n" not in str(caught.value)


def test_opening_does_not_import_pandas_or_polars(tmp_path):
    csv = tmp_path / "people.csv"
    csv.write_text("a,b,c\n1,x,NA\n2,y,1.5\n")
    pq.write_table(TABLE, tmp_path / "people.parquet")
    feather.write_feather(TABLE, tmp_path / "people.feather")
    program = f"""
import sys, warnings
from unveil.files.opening import open_source
warnings.simplefilter("ignore")
for name in ("people.csv", "people.parquet", "people.feather"):
    source = open_source({str(tmp_path)!r} + "/" + name)
    for column in source.names:
        source.column(column)
print(sorted({{"pandas", "polars", "pyreadstat"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_categories_in_ascending_order_declare_nothing(pd, tmp_path):
    frame = pd.DataFrame(
        {
            "text": pd.Categorical(["b", "a", "b"]),
            "order": pd.Categorical(["a", "b", "a"], categories=["b", "a"]),
            "ordered": pd.Categorical(["b", "a", "b"], ordered=True),
        }
    )
    frame.to_parquet(tmp_path / "frame.parquet")
    frame.to_feather(tmp_path / "frame.feather")
    for data in (frame, tmp_path / "frame.parquet", tmp_path / "frame.feather"):
        source = open_source(data)
        found = {name: (source.variable(name).kind, source.variable(name).levels) for name in source.names}
        assert found["text"] == ("categorical", None)
        assert found["order"] == ("categorical", ("b", "a"))
        assert found["ordered"] == ("ordered", ("a", "b"))


UUIDS = ["02f16d3d-8f4c-29e7-d92b-0703f7467ac9", "ffffffff-0000-0000-0000-000000000001"]


@pytest.mark.parametrize("kind", [pa.binary(16), pa.binary(), pa.large_binary()])
def test_bytes_are_one_value(kind):
    uuids = pa.array([bytes.fromhex(one.replace("-", "")) for one in UUIDS] + [None], kind)
    assert values(open_source(pa.table({"id": uuids})), "id") == [*UUIDS, None]


def test_other_bytes_are_read_by_their_digits():
    table = pa.table({"hash": pa.array([b"\x00\xff", None, b"", b"\x00\xff"])})
    assert values(open_source(table), "hash") == ["00ff", None, "", "00ff"]


def test_uuids_of_every_origin_are_the_same_levels(tmp_path):
    uuids = [uuid.UUID(one) for one in UUIDS]
    stored = pa.table({"id": pa.array([one.bytes for one in uuids], pa.binary(16))})
    pq.write_table(stored, tmp_path / "ids.parquet")
    frames = [stored, tmp_path / "ids.parquet", pa.table({"id": UUIDS})]
    if find_spec("pandas"):
        frames.append(import_module("pandas").DataFrame({"id": uuids}))
    for frame in frames:
        assert values(open_source(frame), "id") == UUIDS


FAR = {
    "date32": pa.array([10**8, 19000], pa.int32()).cast(pa.date32()),
    "date64": pa.array([10**15, 86_400_001], pa.int64()).cast(pa.date64()),
    "timestamp": pa.array([10**13, 10**9], pa.timestamp("s")),
}


@pytest.mark.parametrize("kind", FAR)
def test_dates_that_only_arrow_knows_are_levels_like_others(kind):
    people = pa.table({"day": pa.concat_arrays([FAR[kind]] * 20), "sex": ["f", "m"] * 20, "n": [0, 0, 1, 1] * 10})
    pair = unveil.Pair(people, people.slice(0, 30))
    # Each sex has one day: who knows it is told the day.
    assert unveil.attribute(pair, ["sex"], target="day").DiSCO == 100
    synthesizer = unveil.CartSynthesizer().fit(people)
    assert synthesizer.log_prob(synthesizer.sample(seed=1)).n_impossible == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risk = unveil.posterior(pair, unveil.CartSynthesizer(), target="day", structure="fixed", largest_impossible=1)
    assert risk.n_values == 2
