"""What Spark runs in its workers, called without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.engines import choice, spark_tasks
from unveil.engines.key_range import CodedValues, KeyRange, Layout
from unveil.engines.spark_tasks import CombineCells, CountValues, MeasureCells
from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilError
from unveil.files import spark_session
from unveil.files.spark_frames import one_line_of, open_spark_frame
from unveil.files.spark_session import opened_by_spark


def batches(columns: dict[str, Any], size: int = 50) -> Sequence[pa.RecordBatch]:
    return pa.table(columns).to_batches(max_chunksize=size)


def coded(n_levels: int, n_raw: int) -> CodedValues:
    return CodedValues("k", n_levels, (np.arange(n_raw) % n_levels,) * 2)


def combining(layout: Layout, values: pa.Array, file: int = 0) -> CombineCells:
    return CombineCells("the original", file, (layout,), (values,), (np.arange(len(values) + 1),), ((),))


def test_values_are_counted_with_the_gap_first() -> None:
    (row,) = CountValues(1)(batches({"k": pa.array([1.5, None, -0.0, 0.0, 1.5, None])}, 2))
    table = spark_tasks.unpacked(row.column(2)[0].as_py())
    found = dict(zip(map(str, table.column(0).to_pylist()), table.column(1).to_pylist(), strict=True))
    assert found == {"None": 2, "1.5": 2, "-0.0": 1, "0.0": 1}
    assert row.column(0).to_pylist() == [1]


@pytest.mark.parametrize("places", [0, 1 << 21], ids=["sorted", "counted"])
def test_a_combination_with_most_records_goes_on_once(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_tasks, "_PLACES", places)
    monkeypatch.setattr(spark_tasks, "_RECORDS", 64)
    monkeypatch.setattr(spark_tasks, "_SORTED", 100)
    rng = np.random.default_rng(1)
    k = np.where(rng.random(3000) < 0.3, 7, rng.integers(0, 400, 3000))
    values = pa.array(np.unique(k))
    layout = Layout((len(values) + 1,), (), 2)
    rows = pa.Table.from_batches(combining(layout, values, 1)(batches({"c0": k})))
    assert rows.column("combination").to_pylist() == list(range(1, len(values) + 1))
    assert rows.column("records").to_pylist() == np.unique(k, return_counts=True)[1].tolist()
    assert set(rows.column("place").to_pylist()) == {1}


def test_cells_that_are_too_many_to_wait_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is measured afterwards is the same."""
    for name, size in (("_PLACES", 0), ("_RECORDS", 64), ("_SORTED", 100), ("_MOST", 150)):
        monkeypatch.setattr(spark_tasks, name, size)
    k = np.random.default_rng(2).integers(0, 900, 3000)
    values = pa.array(np.arange(900))
    layout = Layout((901,), (), 1)
    rows = list(combining(layout, values)(batches({"c0": k})))
    assert len(rows) > 3
    (sums,) = MeasureCells((layout,), (_tallies,))(rows)
    expected = np.unique(k, return_counts=True)
    assert sums.column("first").to_pylist() == [expected[0][0] + 1]
    assert pickle.loads(sums.column("payload")[0].as_py()) == expected[1].tolist()


def _tallies(part: KeyRange) -> list[int]:
    return part.tallies[0].tolist()


def test_a_part_without_records() -> None:
    layout = Layout((3,), (), 1)
    none = batches({"c0": pa.array([], pa.int64())})
    assert list(CountValues(0)(none)) == []
    assert sum(one.num_rows for one in combining(layout, pa.array([1, 2]))(none)) == 0
    assert list(MeasureCells((layout,), (_tallies,))([])) == []


def test_values_that_were_not_there_before() -> None:
    with pytest.raises(DataError, match="the original: the records were not the same when they were read again"):
        list(combining(Layout((3,), (), 1), pa.array([1, 2]))(batches({"c0": [1, 3]})))


@pytest.mark.parametrize(
    ("said", "kind", "told"),
    [
        ("... ModuleNotFoundError: No module named 'unveil'", MissingPackageError, "unveil among them"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has", MissingPackageError, "give them the Python"),
        ("java.lang.OutOfMemoryError: Java heap space\n at x", DataError, "spark.executor.memory"),
        ("ExecutorLostFailure (executor 1 exited)", DataError, "more and smaller parts"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `x` cannot be found. Verify", FileError, "listTables"),
        ("Cannot call methods on a stopped SparkContext.\nThis", DataError, "start a session again"),
        ("Error: [Errno 111] Connection refused", DataError, "the connection to Spark is lost"),
        ("Traceback\n  File x\nunveil.errors.CallError: name fewer keys\n\n at java", CallError, "^name fewer keys$"),
        ("An error occurred while calling o1.count.\n: x.Y: [CAST] no\n", DataError, "cannot read or count"),
    ],
)  # fmt: skip
def test_errors_are_one_line_that_says_what_to_do(said: str, kind: type[UnveilError], told: str) -> None:
    error = one_line_of(RuntimeError(said), "the original")
    assert type(error) is kind
    assert "\n" not in str(error)
    with pytest.raises(kind, match=told):
        raise error


def test_what_a_session_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CallError, match=r"o\.csv: with a Spark master files are Parquet"):
        opened_by_spark([Path("o.csv")], "local[2]")
    folder = [tmp_path]
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[spark\]'"):
        opened_by_spark(folder, "local[2]")
    monkeypatch.setattr(spark_session, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MissingPackageError, match="Spark needs Java, and there is none: install Java 17"):
        opened_by_spark(folder, "local[2]")


@pytest.mark.parametrize("name", ["people", "census.people", "spark_catalog.census.people"])
def test_names_of_tables(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could be a table is one, unless it is a file; an ending of other files is a mistake."""
    monkeypatch.chdir(tmp_path)
    assert spark_session._names_table(Path(name))
    Path(name).mkdir()
    assert not spark_session._names_table(Path(name))
    assert not any(map(spark_session._names_table, map(Path, ("o.csv", "a/b", "o.parquet", "*.parquet", "x.sav"))))


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one line at once, and not after a quarter of an hour."""
    monkeypatch.setattr(spark_session, "_SECONDS", 5)
    told = r"^the server: the connection to Spark is lost \(Connection refused\): start a session again"
    with pytest.raises(DataError, match=told), spark_session.asking_spark("the server"):
        spark_session._remote(None, "sc://localhost:1")


def test_more_records_than_come_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measure that fits models says so in one line, before Spark gives anything."""

    class Frame:
        columns = ("a", "b")

        def count(self) -> int:
            return 10**9

    source = open_spark_frame(Frame(), "the original")
    with pytest.raises(DataError, match=r"^the original: this needs .* 1000000000 with 2 columns; measure a sample \("):
        source.column("a")


def test_an_engine_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    table = pa.table({"k": [1, 2]})
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[spark\]'"):
        unveil.Pair(table, table, engine="spark")
