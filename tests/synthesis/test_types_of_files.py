"""A synthetic file has the types, labels and spelling of the file that it was made from."""

from __future__ import annotations

import datetime
import importlib
import json
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import CallError, DataError
from unveil.synthesis.synthetic_files import synthesize_files

N = 60
DAY = datetime.date(2020, 1, 5)
MOMENT = datetime.datetime(2020, 1, 5, 10, 11, 12)
FRAMES = [name for name in ("polars", "pandas") if find_spec(name)]
pyreadstat = pytest.importorskip("pyreadstat") if find_spec("pyreadstat") and FRAMES else None
needs_pyreadstat = pytest.mark.skipif(pyreadstat is None, reason="pyreadstat, or a frame to write from, is absent")


def made(original: Path, output: Path, **options: Any) -> Path:
    """The one synthetic copy of a file."""
    synthesize_files(original, output, m=1, **options)
    return output


def repeated(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array([values[i % len(values)] for i in range(N)], kind)


def typed_table() -> pa.Table:
    """Columns of every type that people keep, most of them with gaps."""
    whole = {
        str(kind): repeated([1, 2, None, 100], kind)
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())
    }
    return pa.table(
        whole
        | {
            "serial": repeated([2**63 + 1, 2**63 + 2, 2**64 - 1], pa.uint64()),
            "float32": repeated([0.1, 2.5, None], pa.float32()),
            "decimal": repeated([Decimal("1.50"), Decimal("22.25"), None], pa.decimal128(7, 2)),
            "bool": repeated([True, False, None], pa.bool_()),
            "date": repeated([DAY, DAY + datetime.timedelta(3), None], pa.date32()),
            "ms": repeated([MOMENT, None], pa.timestamp("ms")),
            "zoned": repeated([MOMENT, MOMENT + datetime.timedelta(3)], pa.timestamp("us", "Europe/Warsaw")),
            "time": repeated([datetime.time(10, 1), datetime.time(11, 2)], pa.time32("s")),
            "text": repeated(["a", "b", None], pa.string()),
            "long text": repeated(["x", "y"], pa.large_string()),
            "levels": pa.DictionaryArray.from_arrays(
                repeated([1, 0, None], pa.int8()), pa.array(["low", "high", "never"]), ordered=True
            ),
            "coded": repeated(["u", "v", None], pa.string()).dictionary_encode(),
        }
    )


def write_arrow(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_arrow(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


# ----------------------------------------------------------------------------------------------- Parquet and Arrow
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_parquet_and_feather_keep_every_type(tmp_path: Path, ending: str):
    table = typed_table()
    path = tmp_path / f"original.{ending}"
    read: Any = pq.read_table if ending == "parquet" else read_arrow
    (pq.write_table if ending == "parquet" else write_arrow)(table, path)
    table = read(path)
    release = read(made(path, tmp_path / f"release.{ending}"))
    assert {f.name: f.type for f in release.schema} == {f.name: f.type for f in table.schema}
    for name in table.column_names:
        assert set(release.column(name).to_pylist()) <= set(table.column(name).to_pylist())
    assert release.column("levels").unify_dictionaries().chunk(0).dictionary.to_pylist() == ["low", "high", "never"]


def test_types_pass_between_parquet_and_feather(tmp_path: Path):
    table = typed_table()
    pq.write_table(table, tmp_path / "original.parquet")
    release = read_arrow(made(tmp_path / "original.parquet", tmp_path / "release.feather"))
    assert {f.name: f.type for f in release.schema} == {
        f.name: f.type for f in pq.read_schema(tmp_path / "original.parquet")
    }


def test_a_path_gives_a_table_with_the_file_s_types(tmp_path: Path):
    table = typed_table()
    pq.write_table(table, tmp_path / "original.parquet")
    release = unveil.synthesize(tmp_path / "original.parquet", m=1, seed=1)
    assert release.schema.types == pq.read_schema(tmp_path / "original.parquet").types


def test_levels_that_nobody_declared_and_nobody_has_are_not_in_the_file(tmp_path: Path):
    # A dictionary lists all values of the file; a rare one must not come along without its record.
    values = ["usual"] * (N - 1) + ["rare"]
    pq.write_table(pa.table({"x": pa.array(values).dictionary_encode()}), tmp_path / "original.parquet")
    for seed in range(20):
        path = made(tmp_path / "original.parquet", tmp_path / f"{seed}.parquet", seed=seed, k=5)
        column = pq.read_table(path).column("x")
        assert set(column.chunk(0).dictionary.to_pylist()) == set(column.to_pylist())


def test_the_order_that_parquet_declares_is_the_order_of_the_levels(tmp_path: Path):
    pq.write_table(typed_table(), tmp_path / "original.parquet", row_group_size=7)
    variable = unveil.read(tmp_path / "original.parquet").variable("levels")
    assert (variable.kind, variable.levels) == ("ordered", ("low", "high", "never"))


def test_pandas_finds_its_types_again(tmp_path: Path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "Int8": pd.array([1, None, 3] * 20, "Int8"),
            "boolean": pd.array([True, None, False] * 20, "boolean"),
            "string": pd.array(["a", None, "b"] * 20, "string"),
            "category": pd.Categorical(["b", "a", "b"] * 20, categories=["unused", "b", "a"]),
            "ordered": pd.Categorical(["b", "a", "b"] * 20, categories=["unused", "b", "a"], ordered=True),
        },
        index=range(7, 67),
    )
    for ending in ("parquet", "feather"):
        path = tmp_path / f"original.{ending}"
        (frame.to_parquet if ending == "parquet" else frame.reset_index(drop=True).to_feather)(path)
        release = getattr(pd, f"read_{ending}")(made(path, tmp_path / f"{ending}.{ending}", k=25))
        again = getattr(pd, f"read_{ending}")(path)
        assert release.dtypes.equals(again.dtypes)
        assert list(release.index) == list(range(25))


def test_polars_finds_its_types_again(tmp_path: Path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["low", "hi;gh", None] * 20, dtype=pl.Enum(["no", "low", "hi;gh"])),
            "categorical": pl.Series(["x", "y", None] * 20, dtype=pl.Categorical),
            "text": ["u", "v", None] * 20,
            "decimal": pl.Series(["1.50", None, "2.25"] * 20).cast(pl.Decimal(7, 2)),
            "u64": pl.Series([2**63 + 1, 2**63 + 2, None] * 20, dtype=pl.UInt64),
            "zoned": pl.Series([MOMENT, None, MOMENT] * 20, dtype=pl.Datetime("ms", "UTC")),
        }
    )
    frame.write_parquet(tmp_path / "original.parquet")
    frame.write_ipc(tmp_path / "original.feather")
    for ending, read in (("parquet", pl.read_parquet), ("feather", pl.read_ipc)):
        release = made(tmp_path / f"original.{ending}", tmp_path / f"{ending}.{ending}")
        assert read(release).schema == frame.schema
    for start, ending, read in (("parquet", "feather", pl.read_ipc), ("feather", "parquet", pl.read_parquet)):
        release = made(tmp_path / f"original.{start}", tmp_path / f"from-{start}.{ending}")
        assert read(release).schema == frame.schema


# ---------------------------------------------------------------------------------------------------------- frames
def test_frames_keep_their_types():
    table = typed_table()
    assert unveil.synthesize(table, m=1, seed=1).schema == table.schema


def test_pandas_frames_keep_their_types():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3] * 20, "Int16"),
            "u": pd.array([2**63 + 1, None, 3] * 20, "UInt64"),
            "f": pd.array([0.5, None, 3] * 20, "Float32"),
            "b": pd.array([True, None, False] * 20, "boolean"),
            "s": pd.array(["a", None, "b"] * 20, "string"),
            "c": pd.Categorical(["b", "a", None] * 20, categories=["unused", "b", "a"], ordered=True),
            "i8": np.array([1, 2, 3] * 20, np.int8),
            "t": pd.to_datetime(["2020-01-05", None, "2020-01-06"] * 20).tz_localize("Europe/Warsaw"),
            "a": pd.array([1, None, 3] * 20, pd.ArrowDtype(pa.int8())),
            "d": pd.array([Decimal("1.50"), None, Decimal("2.25")] * 20, pd.ArrowDtype(pa.decimal128(7, 2))),
        }
    )
    assert unveil.synthesize(frame, m=1, seed=1).dtypes.equals(frame.dtypes)


def test_polars_frames_keep_their_types():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["low", "high", None] * 20, dtype=pl.Enum(["no", "low", "high"])),
            "categorical": pl.Series(["x", "y", None] * 20, dtype=pl.Categorical),
            "decimal": pl.Series(["1.50", None, "2.25"] * 20).cast(pl.Decimal(7, 2)),
            "u64": pl.Series([2**63 + 1, 2**63 + 2, None] * 20, dtype=pl.UInt64),
            "i8": pl.Series([1, 2, None] * 20, dtype=pl.Int8),
            "zoned": pl.Series([MOMENT, None, MOMENT] * 20, dtype=pl.Datetime("ms", "Europe/Warsaw")),
            "time": [datetime.time(1, 2), None, datetime.time(3)] * 20,
        }
    )
    assert unveil.synthesize(frame, m=1, seed=1).schema == frame.schema


# ------------------------------------------------------------------------------------------------------------ text
def lines(path: Path, encoding: str = "utf-8") -> list[list[str]]:
    return [line.split(";" if ";" in line else ",") for line in path.read_text(encoding=encoding).splitlines()]


def test_numbers_keep_their_decimals_and_truths_their_spelling(tmp_path: Path):
    path = tmp_path / "original.csv"
    rows = ["390.0,1.50,12,TRUE,2020-01-05T10:11", "400.0,22.25,13,FALSE,2020-01-06T11:12", "NA,2.00,14,TRUE,"] * 20
    path.write_text("\n".join(["weight,price,n,flag,moment", *rows]) + "\n", encoding="utf-8")
    with pytest.warns(match="read as a gap"):
        source = unveil.read(path)
    assert source.column("weight").type == pa.float64()
    header, *release = lines(made(path, tmp_path / "release.csv"))
    assert header == ['"weight"', '"price"', '"n"', '"flag"', '"moment"']
    real = [set(column) for column in zip(*(row.split(",") for row in rows), strict=True)]
    for values, known in zip(zip(*release, strict=True), real, strict=True):
        assert set(values) <= known


def test_amounts_and_days_keep_their_notation(tmp_path: Path):
    path = tmp_path / "original.csv"
    rows = ["1.234,50;13.04.1942;+5;13.04.1942 10:11", "-12,00;01.12.1950;-3;", ";;0;14.04.1942 09:00"] * 20
    path.write_text("\n".join(["income;born;change;seen", *rows]) + "\n", encoding="utf-8")
    source = unveil.read(path)
    types = [source.column(name).type for name in source.names]
    assert types == [pa.float64(), pa.date32(), pa.int64(), pa.timestamp("us")]
    header, *release = lines(made(path, tmp_path / "release.csv"))
    assert header == ['"income"', '"born"', '"change"', '"seen"']
    real = [set(column) for column in zip(*(row.split(";") for row in rows), strict=True)]
    for values, known in zip(zip(*release, strict=True), real, strict=True):
        assert set(values) <= known


def test_new_numbers_have_the_decimals_too(tmp_path: Path):
    path = tmp_path / "original.csv"
    path.write_text("\n".join(["weight", *(f"{i}.0" for i in range(300, 400))]) + "\n", encoding="utf-8")
    path = made(path, tmp_path / "release.csv", settings={"smoothing": "density"})
    assert all(text.endswith(".0") and text.count(".") == 1 for (text,) in lines(path)[1:])


def test_the_dialect_is_kept(tmp_path: Path):
    path = tmp_path / "original.csv"
    rows = ["Málaga;1,5;3", "Cádiz;2,0;4", ";3,25;5"] * 20
    path.write_bytes("\n".join(["región;ingreso;n", *rows]).encode("latin-1"))
    release = made(path, tmp_path / "release.csv", reading={"encoding": "latin-1"})
    header, *records = lines(release, "latin-1")
    assert header == ['"región"', '"ingreso"', '"n"']
    assert {r[1] for r in records} <= {"1,5", "2,0", "3,25"}
    source = unveil.read(release, encoding="latin-1")
    assert source.column("ingreso").type == pa.float64()
    # The ending of a tab-separated file says what is between its fields.
    made(path, tmp_path / "tabbed.tsv", reading={"encoding": "latin-1"})
    assert "\t" in (tmp_path / "tabbed.tsv").read_text(encoding="latin-1").splitlines()[0]


def test_a_mark_of_the_byte_order_is_kept(tmp_path: Path):
    (tmp_path / "original.csv").write_bytes("é,x\na,1\nb,2\n".encode("utf-8-sig"))
    assert made(tmp_path / "original.csv", tmp_path / "release.csv").read_bytes().startswith(b"\xef\xbb\xbf")


# ----------------------------------------------------------------------------------------- SPSS, Stata, SAS transport
def frame_of(columns: dict[str, pa.Array]) -> Any:
    table = pa.table(columns)
    if FRAMES[0] == "polars":
        return importlib.import_module("polars").from_arrow(table)
    return table.to_pandas(date_as_object=True)


def described(path: Path, *names: str) -> dict[str, Any]:
    reader = {"sav": "read_sav", "zsav": "read_sav", "dta": "read_dta", "xpt": "read_xport"}[path.suffix[1:]]
    options = {} if path.suffix == ".xpt" else {"user_missing": True}
    _, meta = getattr(pyreadstat, reader)(str(path), output_format="dict", **options)
    return {name: getattr(meta, name) for name in names}


COLUMNS = {
    "sex": repeated([1, 2, 9], pa.int32()),
    "edu": repeated([1, 2, 3], pa.int32()),
    "answer": repeated(["y", "n", "y"], pa.string()),
    "rate": repeated([1.5, 2.5, 99.0], pa.float64()),
    "n": repeated([1, None, 3], pa.int32()),
    "income": repeated([100.25, 200.5, -8.0], pa.float64()),
    "day": repeated([DAY, DAY + datetime.timedelta(3)], pa.date32()),
    "moment": repeated([MOMENT, MOMENT + datetime.timedelta(3)], pa.timestamp("us")),
}
TITLES = {"sex": "Sex of respondent", "income": "Net income", "day": "Day of interview"}
LABELS = {
    "sex": {1: "male", 2: "female", 3: "other", 9: "refused"},
    "edu": {1: "low", 2: "same", 3: "same"},
    "answer": {"y": "yes", "n": "no"},
    "rate": {1.5: "half more", 2.5: "much more", 99.0: "unknown"},
    "income": {-8: "none"},
}


@needs_pyreadstat
@pytest.mark.filterwarnings("ignore:.*several codes have the label")
@pytest.mark.parametrize("ending", ["sav", "zsav"])
def test_spss_files_keep_all_that_they_declare(tmp_path: Path, ending: str):
    path = tmp_path / f"original.{ending}"
    pyreadstat.write_sav(
        frame_of(COLUMNS), str(path), compress=ending == "zsav", file_label="A survey", column_labels=TITLES,
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "income": [{"lo": -9, "hi": -1}], "answer": ["n"]},
        variable_measure={"sex": "nominal", "edu": "ordinal", "income": "scale", "n": "ordinal"},
        variable_format={"sex": "F4.0", "income": "COMMA9.3", "day": "EDATE10", "n": "F3.0"},
        variable_display_width={"sex": 12},
    )  # fmt: skip
    names = (
        "column_names_to_labels", "variable_value_labels", "missing_ranges", "variable_measure",
        "original_variable_types", "readstat_variable_types", "variable_display_width",
    )  # fmt: skip
    release = made(path, tmp_path / f"release.{ending}")
    assert described(release, *names) == described(path, *names)
    for name in COLUMNS:
        source, again = unveil.read(path), unveil.read(release)
        assert set(again.column(name).to_pylist()) <= set(source.column(name).to_pylist())
    assert (release.read_bytes()[:4] == b"$FL3") == (ending == "zsav")


@needs_pyreadstat
@pytest.mark.filterwarnings("ignore:.*several codes have the label")
@pytest.mark.parametrize("version", [10, 12, 13, 14, 15])
def test_stata_files_keep_all_that_they_declare(tmp_path: Path, version: int):
    path = tmp_path / "original.dta"
    labels = {name: LABELS[name] for name in ("sex", "edu")}
    pyreadstat.write_dta(
        frame_of(COLUMNS), str(path), file_label="A survey", version=version, column_labels=TITLES,
        variable_value_labels=labels,
        variable_format={"sex": "%8.0g", "income": "%9.2f", "day": "%tdD_m_Y"},
    )  # fmt: skip
    names = (
        "column_names_to_labels", "variable_value_labels", "original_variable_types", "readstat_variable_types",
        "variable_storage_width",
    )  # fmt: skip
    release = made(path, tmp_path / "release.dta")
    assert described(release, *names) == described(path, *names)
    # The head says the version; from version 13 on it is text, and the label of the file comes later.
    head = 30 if version >= 13 else 10
    assert release.read_bytes()[:head] == path.read_bytes()[:head]


@needs_pyreadstat
def test_stata_letters_stay_letters_in_labelled_columns_too(tmp_path: Path):
    source = pa.table({"x": repeated([1, 2, 3], pa.int64())})
    values = [[1, "a", 2][i % 3] for i in range(N)]
    library = importlib.import_module(FRAMES[0])
    frame = (
        library.DataFrame({"x": library.Series("x", values, dtype=library.Object)})
        if FRAMES[0] == "polars"
        else library.DataFrame({"x": library.Series(values, dtype=object)})
    )
    path = tmp_path / "original.dta"
    labels = {"x": {1: "one", 2: "two", "a": "refused"}}
    pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, missing_user_values={"x": ["a"]})
    release = made(path, tmp_path / "release.dta")
    data, _ = pyreadstat.read_dta(str(release), user_missing=True, output_format="dict")
    assert set(data["x"]) == {1, 2, "a"}
    assert described(release, "variable_value_labels") == described(path, "variable_value_labels")
    assert source.num_rows == N


@needs_pyreadstat
@pytest.mark.parametrize("version", [5, 8])
def test_sas_transport_files_keep_all_that_they_declare(tmp_path: Path, version: int):
    path = tmp_path / "original.xpt"
    pyreadstat.write_xport(
        frame_of(COLUMNS), str(path), file_label="A survey", column_labels=TITLES, table_name="SURVEY",
        file_format_version=version, variable_format={"sex": "BEST12", "day": "DATE9"},
    )  # fmt: skip
    names = ("column_names_to_labels", "original_variable_types", "variable_display_width")
    release = made(path, tmp_path / "release.xpt")
    assert described(release, *names) == described(path, *names)
    assert release.read_bytes()[:48] == path.read_bytes()[:48]


@needs_pyreadstat
def test_labels_and_titles_pass_from_spss_to_stata(tmp_path: Path):
    columns = {name: COLUMNS[name] for name in ("sex", "n", "day")}
    path = tmp_path / "original.sav"
    pyreadstat.write_sav(
        frame_of(columns), str(path), column_labels=TITLES, variable_value_labels={"sex": LABELS["sex"]},
        variable_format={"sex": "F4.0"},
    )  # fmt: skip
    found = described(
        made(path, tmp_path / "release.dta"),
        "column_names_to_labels", "variable_value_labels", "readstat_variable_types",
    )  # fmt: skip
    assert found["column_names_to_labels"] == {"sex": TITLES["sex"], "n": None, "day": TITLES["day"]}
    assert found["variable_value_labels"] == {"sex": LABELS["sex"]}
    # Whole numbers with gaps come to the original as they are written: as decimals where pandas writes it.
    types = found["readstat_variable_types"]
    assert {name: types[name] for name in ("sex", "day")} == {"sex": "int32", "day": "double"}


@needs_pyreadstat
def test_the_measure_level_follows_from_the_kind(tmp_path: Path):
    pq.write_table(typed_table().select(["int8", "levels", "text", "bool"]), tmp_path / "original.parquet")
    found = described(made(tmp_path / "original.parquet", tmp_path / "release.sav"), "variable_measure")
    assert found["variable_measure"] == {"int8": "scale", "levels": "ordinal", "text": "nominal", "bool": "nominal"}


# ------------------------------------------------------------------------------- refused before anything is computed
def must_not_be_reached(*_: Any, **__: Any) -> None:
    raise AssertionError("the synthesis was begun")


@needs_pyreadstat
@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt"])
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(20, 0)])
def test_integers_that_the_format_would_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, kind: Any):
    monkeypatch.setattr("unveil.synthesis.synthetic_files.CartSynthesizer.fit", must_not_be_reached)
    pq.write_table(pa.table({"serial": repeated([2**53 + 1, 5], kind)}), tmp_path / "original.parquet")
    with pytest.raises(DataError, match=r"release\.\w+: column 'serial' holds integers beyond 2\^53"):
        made(tmp_path / "original.parquet", tmp_path / f"release.{ending}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["original.parquet"]


@needs_pyreadstat
@pytest.mark.parametrize(("ending", "name"), [("sav", "marital status"), ("dta", "a.b"), ("xpt", "é"), ("dta", "1st")])
def test_names_that_the_format_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, name: str):
    monkeypatch.setattr("unveil.synthesis.synthetic_files.CartSynthesizer.fit", must_not_be_reached)
    pq.write_table(pa.table({name: [1, 2, 3]}), tmp_path / "original.parquet")
    with pytest.raises((DataError, CallError, unveil.errors.FileError), match=r"release\.\w+: "):
        made(tmp_path / "original.parquet", tmp_path / f"release.{ending}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["original.parquet"]


def test_metadata_of_other_programs_does_not_pass(tmp_path: Path):
    table = pa.table({"x": [1, 2, 3]}).replace_schema_metadata({"note": "of Mr Smith", "pandas": json.dumps({})})
    pq.write_table(table, tmp_path / "original.parquet")
    release = pq.read_schema(made(tmp_path / "original.parquet", tmp_path / "release.parquet"))
    assert b"note" not in (release.metadata or {})


# ------------------------------------------------------------------------------------------------- new numbers in types
DURATIONS = [5, 10, 11, 25, 40, 41, 55, 90]


def seconds_of(values: list[Any]) -> list[float]:
    return [value.total_seconds() for value in values]


def test_new_durations_are_durations_of_the_same_size():
    table = pa.table({"d": repeated(DURATIONS, pa.duration("s")).cast(pa.duration("ms"))})
    release = unveil.synthesize(table, m=1, seed=1, smoothing="density")
    assert release.schema == table.schema
    drawn = seconds_of(release.column("d").to_pylist())
    assert set(drawn) - set(DURATIONS)
    assert 5 <= min(drawn) < max(drawn) <= 90


def test_new_durations_of_pandas_and_polars():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame(
        {
            "numpy": pd.to_timedelta([DURATIONS[i % 8] for i in range(N)], "s").as_unit("ms"),
            "arrow": pd.array([DURATIONS[i % 7] * 1000 for i in range(N)], pd.ArrowDtype(pa.int64())).astype(
                pd.ArrowDtype(pa.duration("ms"))
            ),
            "sparse": pd.arrays.SparseArray([i % 5 for i in range(N)]),
            "u8": pd.array([i % 9 for i in range(N)], pd.ArrowDtype(pa.uint8())),
            "decimal": pd.array([Decimal(i % 9) / 4 for i in range(N)], pd.ArrowDtype(pa.decimal128(8, 2))),
            "Float32": pd.array([i % 9 / 4 for i in range(N)], "Float32"),
        }
    )
    release = unveil.synthesize(frame, m=1, seed=1, smoothing="density")
    assert release.dtypes.equals(frame.dtypes)
    for name in ("numpy", "arrow"):
        assert 5 <= min(seconds_of(list(release[name]))) < max(seconds_of(list(release[name]))) <= 90
    other = pl.DataFrame({"d": pl.Series([DURATIONS[i % 8] * 1000 for i in range(N)]).cast(pl.Duration("ms"))})
    drawn = unveil.synthesize(other, m=1, seed=1, smoothing="density")
    assert drawn.schema == other.schema
    assert 5 <= min(seconds_of(drawn["d"].to_list())) < max(seconds_of(drawn["d"].to_list())) <= 90


def test_new_numbers_of_pandas_are_of_the_type_of_their_column():
    pd = pytest.importorskip("pandas")
    numbers = [DURATIONS[i % 8] for i in range(N)]
    columns = {
        "single": np.array(numbers, np.float32) / 8,
        "half": np.array(numbers, np.float16) / 8,
        "gaps": pd.arrays.SparseArray(np.where(np.arange(N) % 4, np.array(numbers) / 8, np.nan)),
        "text": pd.Series([str(v) for v in numbers], dtype="str"),
        "object": pd.Series([str(v) for v in numbers], dtype=object),
        "exact": pd.Series([Decimal(v) / 4 for v in numbers], dtype=object),
        "lengths": pd.Series([datetime.timedelta(seconds=v) for v in numbers], dtype=object),
        "whole": pd.Series([None, *numbers[1:]], dtype=object),
        "dictionary": pd.Series(
            pd.arrays.ArrowExtensionArray(pa.array(np.array(numbers) / 8).cast(pa.decimal128(8, 3)).dictionary_encode())
        ),
    }
    frame = pd.DataFrame(columns)
    release = unveil.synthesize(
        frame, m=1, seed=1, smoothing="density", kinds={"text": "numeric", "object": "numeric"},
        predictors={name: [] for name in columns},
    )  # fmt: skip
    assert release.dtypes.equals(frame.dtypes)
    assert set(release["single"]) - set(frame["single"])
    for name in frame:
        assert set(map(type, release[name].dropna())) == set(map(type, frame[name].dropna()))
    assert set(map(float, release["text"])) - set(map(float, frame["text"]))
    assert not any("." in text for text in [*release["text"], *release["object"]])


def test_new_numbers_in_text_are_spelled_as_others(make_frame: Any):
    frame = make_frame(pa.table({"x": [str(v) for v in DURATIONS] * 9}))
    release = unveil.synthesize(frame, m=1, seed=1, smoothing="density", kinds={"x": "numeric"})
    drawn = set(release["x"].to_pylist() if isinstance(release, pa.Table) else release["x"])
    assert {str(int(text)) for text in drawn} == drawn
    assert drawn - {str(v) for v in DURATIONS}


def test_categories_take_no_new_numbers():
    values = [str(v) for v in DURATIONS] * 9
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    levels = pa.array(range(0, 1200, 10))
    for frame in (
        pd.DataFrame({"x": pd.Categorical(values)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum([str(v) for v in DURATIONS]))}),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([*range(120)] * 2, pa.int8()), levels)}),
    ):
        with pytest.raises(DataError, match="column 'x' consists of categories, which cannot take new numbers"):
            unveil.synthesize(frame, m=1, seed=1, k=2000, smoothing="density", kinds={"x": "numeric"})


def test_ordered_dictionaries_of_dates_and_numbers_stay_in_order(tmp_path: Path):
    codes = repeated([0, 1, 2, None], pa.int8())
    table = pa.table(
        {
            "dates": pa.DictionaryArray.from_arrays(codes, pa.array([30, 10, 20], pa.date32()), ordered=True),
            "numbers": pa.DictionaryArray.from_arrays(codes, pa.array([30, 10, 20], pa.int16()), ordered=True),
        }
    )
    write_arrow(table, tmp_path / "original.feather")
    path = made(tmp_path / "original.feather", tmp_path / "release.feather")
    assert read_arrow(path).schema.types == table.schema.types
    for name in table.column_names:
        levels = unveil.read(tmp_path / "original.feather").variable(name).levels
        assert unveil.read(path).variable(name).levels == levels
        assert read_arrow(path).column(name).chunk(0).dictionary.equals(table.column(name).chunk(0).dictionary)


@needs_pyreadstat
@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_a_release_has_not_the_title_of_the_original(tmp_path: Path, ending: str):
    path = tmp_path / f"original.{ending}"
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
    columns = {name: COLUMNS[name] for name in ("n", "day")}
    write(frame_of(columns), str(path), file_label="CASE OF N. N.", **({"table_name": "NN"} if ending == "xpt" else {}))
    assert b"CASE OF N. N." in path.read_bytes()
    release = made(path, tmp_path / f"release.{ending}").read_bytes()
    assert b"CASE OF" not in release


NOTED = {"note": "checked with N. N.", "n": 987654321}


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_notes_on_the_original_and_its_columns_stay_with_it(tmp_path: Path, ending: str):
    fields = [
        pa.field("sex", pa.dictionary(pa.int32(), pa.string()), metadata={"by": "N. N."}),
        pa.field("n", pa.int64(), metadata={"by": "N. N."}),
    ]
    columns = [pa.array(["f", "m"] * 30).dictionary_encode(), pa.array([i % 20 for i in range(60)])]
    described = {
        "index_columns": [], "column_indexes": [], "pandas_version": "2.2.0", "attributes": NOTED,
        "columns": [
            {"name": "sex", "field_name": "sex", "pandas_type": "categorical", "numpy_type": "int8",
             "metadata": {"num_categories": 987654321, "ordered": False}},
            {"name": "n", "field_name": "n", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
        ],
    }  # fmt: skip
    metadata = {"pandas": json.dumps(described), "about": "checked with N. N."}
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata))
    path = tmp_path / f"original.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    release = made(path, tmp_path / f"release.{ending}")
    for secret in (b"N. N.", b"987654321"):
        assert secret in path.read_bytes()
        assert secret not in release.read_bytes()
    again = unveil.synthesize(table, m=1, seed=1)
    assert "N. N." not in f"{again.schema.metadata} {[field.metadata for field in again.schema]}"
    if find_spec("pandas"):
        assert str(pq.read_table(release).to_pandas().dtypes["sex"]) == "category" if ending == "parquet" else True
