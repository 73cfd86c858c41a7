"""Counting in the workers of Spark gives the integers that counting in memory gives."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import unveil
from engines.conftest import skip_without_spark
from engines.test_files_engine import KINDS_OF_ALL_ENGINES, measured, random_files, slow_from
from unveil.engines.spark import Spark
from unveil.errors import CallError, DataError, FileError

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::unveil.UnveilWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def both(memory: Callable[[], Any], spark: Callable[[], Any]) -> list[Any]:
    """What two ways find, or the error that they end with."""
    found = []
    for way in (memory, spark):
        try:
            found.append(way())
        except DataError as error:
            found.append(str(error))
    return found


def from_counts(pair: unveil.Pair, keys: list[str], targets: list[str]) -> list[Any]:
    """What takes three jobs of Spark: one for all values, and one for each measure."""
    found: list[Any] = [*unveil.attribute(pair, keys, targets=targets), unveil.identity(pair, keys)]
    return [repr(one.to_dict()) for one in found]


@pytest.mark.parametrize("seed", slow_from(16))
def test_spark_gives_the_same_as_columns_in_memory(seed: int, tmp_path: Path, spark: Any) -> None:
    """With gaps, special codes, odd types, Unicode, numbers as text, dates, in a session of another time zone."""
    files, kinds = random_files(seed, tmp_path, KINDS_OF_ALL_ENGINES)
    tables, frames = [pq.read_table(file) for file in files], [spark.read.parquet(file) for file in files]
    found = measured if seed == 0 else from_counts
    one, other = both(
        lambda: found(unveil.Pair(tables[0], tables[1:]), kinds[:2], kinds[2:]),
        lambda: found(unveil.Pair(frames[0], frames[1:]), kinds[:2], kinds[2:]),
    )
    assert one == other


@pytest.mark.parametrize("releases", [["sd2011_9_s1"], [f"sd2011_9_s5_{i}" for i in range(1, 6)]], ids=["one", "five"])
def test_golden_data(releases: list[str], shared: Path, tmp_path: Path, spark: Any) -> None:
    keys, targets = ["sex", "age", "region", "placesize"], ["depress", "income", "ls"]
    tables, frames = [], []
    for name in ("sd2011_9", *releases):
        tables.append(csv.read_csv(shared / "data" / f"{name}.csv"))
        pq.write_table(tables[-1], tmp_path / f"{name}.parquet")
        frames.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
    one, other = (
        from_counts(unveil.Pair(files[0], files[1:], special_codes={"income": -8}), keys, targets)
        for files in (tables, frames)
    )
    assert one == other


def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The physical plans of all jobs that come."""
    found = []
    collected = Spark._collected

    def told(self: Spark, frame: Any) -> pa.Table:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            frame.explain()
        found.append(text.getvalue())
        return collected(self, frame)

    monkeypatch.setattr(Spark, "_collected", told)
    return found


def small(spark: Any, n: int = 60) -> tuple[Any, Any]:
    """Two DataFrames with two keys and three targets."""
    columns = "id % 5 as a, cast(id % 3 as string) as b, id % 2 as t, id % 7 as u, id % 4 as v"
    return spark.range(n).selectExpr(*columns.split(", ")), spark.range(n // 2).selectExpr(*columns.split(", "))


def test_one_exchange(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = unveil.Pair(*small(spark))
    assert isinstance(pair.engine, Spark)
    found = plans(monkeypatch)
    unveil.identity(pair, ["a", "b"])
    assert [plan.count("Exchange") for plan in found] == [0, 1]
    found.clear()
    unveil.attribute(pair, ["a", "b"], targets=["t", "u", "v"])
    assert [plan.count("Exchange") for plan in found] == [0, 1]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_times_do_not_depend_on_the_zone_of_the_session(zone: str, tmp_path: Path, spark: Any) -> None:
    """Hours that a clock shows twice stay two, and what is printed is in UTC."""
    hours = [datetime.datetime(2020, 10, 25, h, tzinfo=datetime.UTC) for h in (0, 1, 2, 0, 1)]
    table = pa.table({"when": pa.array(hours, pa.timestamp("us", "UTC")), "t": list("abcab")})
    pq.write_table(table, tmp_path / "one.parquet")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.read.parquet(str(tmp_path / "one.parquet"))
        pair = unveil.Pair(frame, frame)
        assert pair.compared("when").labels == unveil.Pair(table, table).column("when").labels
        assert pair.column("when").labels == pair.compared("when").labels
        assert unveil.identity(pair, "when").repU == pytest.approx(100 / 5)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_names_that_spark_reads_otherwise(spark: Any) -> None:
    """Dots, backticks and names that differ by case alone."""
    table = pa.table({"a.b": [1, 2, 2], "Sex": ["f", "m", "m"], "sex": [1, 2, 3], "it`s": [True, None, False]})
    frame = spark.createDataFrame(table)
    one, other = (
        from_counts(unveil.Pair(data, data), ["a.b", "Sex"], ["sex", "it`s"])
        for data in (table, frame)
    )  # fmt: skip
    assert one == other
    repeated = spark.range(3).selectExpr("id as a", "id as a")
    with pytest.raises(DataError, match=r"'a' occurs more than once"):
        unveil.Pair(repeated, repeated)


def test_a_release_without_records(spark: Any) -> None:
    table = pa.table({"k": ["a", "b", "b"], "t": [1, 2, 2]})
    one, other = (from_counts(unveil.Pair(*data), ["k"], ["t"]) for data in (
        (table, table.slice(0, 0)), (spark.createDataFrame(table), spark.createDataFrame(table).limit(0))
    ))  # fmt: skip
    assert one == other


def test_columns_that_hold_several_values(spark: Any) -> None:
    frame = spark.range(4).selectExpr("id as k", "array(id) as listed", "id % 2 as t")
    pair = unveil.Pair(frame, frame)
    with pytest.raises(DataError, match="column 'listed' holds array<bigint> values, not one value per record"):
        unveil.identity(pair, ["k", "listed"])
    assert unveil.identity(pair, ["k"]).repU == 100


def test_files_that_are_not_all_of_spark(spark: Any) -> None:
    frame, table = spark.range(3), pa.table({"id": [1, 2]})
    with pytest.raises(CallError, match="the release is no Spark DataFrame, and Spark counts all files or none"):
        unveil.Pair(frame, table)
    with pytest.raises(CallError, match="memory_limit and temp_dir are those of this process"):
        unveil.Pair(frame, frame, memory_limit="1GB")
    assert unveil.identity(unveil.Pair(frame, table, engine="memory"), "id").repU == pytest.approx(200 / 3)


def test_records_that_change(spark: Any) -> None:
    """What is drawn anew whenever Spark reads is not counted."""

    def anew(batches: Any) -> Any:
        import time

        import pyarrow

        for batch in batches:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([time.time_ns()] * batch.num_rows)], names=["k"])

    frame = spark.range(9).mapInArrow(anew, "k long")
    with pytest.raises(DataError, match="the original: the records were not the same when they were read again"):
        unveil.identity(unveil.Pair(frame, spark.range(9).selectExpr("id as k")), "k")


def test_a_table_whose_files_are_gone(tmp_path: Path, spark: Any) -> None:
    spark.range(3).write.parquet(str(tmp_path / "gone"))
    frame = spark.read.parquet(str(tmp_path / "gone"))
    for file in (tmp_path / "gone").glob("*.parquet"):
        file.unlink()
    with pytest.raises(FileError, match=r"^the original: Spark cannot read a file of the table \(.*does not exist"):
        unveil.identity(unveil.Pair(frame, spark.range(3)), "id")


def test_one_combination_with_most_records(spark: Any) -> None:
    """Records of a combination are brought together before they are exchanged."""
    skewed = spark.range(20_000).selectExpr("if(id % 3 = 0, -1, id) as k", "id % 2 as t")
    table = skewed.toArrow()
    one, other = (from_counts(unveil.Pair(data, data), ["k"], ["t"]) for data in (table, skewed))
    assert one == other


def test_rows_of_records_are_written_by_the_workers(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """No record passes the driver; each has its number in the order in which Spark gives them."""
    original, release = small(spark, 90)
    pair, here = unveil.Pair(original, release), unveil.Pair(original.toArrow(), release.toArrow())
    one, other = (
        [unveil.identity(of, ["a", "b"]), unveil.attribute(of, ["a", "b"], target="u")] for of in (here, pair)
    )
    collected, most = Spark._collected, []
    monkeypatch.setattr(Spark, "_collected", lambda *call: most.append(collected(*call)) or most[-1])
    for expected, found in zip(one, other, strict=True):
        folder = tmp_path / f"{type(found).__name__}.parquet"
        found.write_records(folder)
        assert pq.read_table(folder).sort_by("record").equals(expected.records())
        with pytest.raises(FileError, match="the file exists; name another, or replace it"):
            found.write_records(folder)
        assert {oct(file.stat().st_mode & 0o77) for file in folder.glob("*.parquet")} == {"0o0"}
    assert max(table.num_rows for table in most) < 10
    assert one[1].records().equals(other[1].records())
    assert pair._columns == {}


def test_levels_of_a_column(spark: Any) -> None:
    original, release = small(spark, 90)
    pair, here = unveil.Pair(original, release), unveil.Pair(original.toArrow(), release.toArrow())
    for column in ("a", "u", "t"):
        one, other = (
            [unveil.identity(of, ["a", "b"]).by(column), unveil.attribute(of, ["a", "b"], target="u").by(column)]
            for of in (here, pair)
        )
        assert all(map(pa.Table.equals, one, other))
    assert pair._columns == {}


def test_separate_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    """No digit changes, and few bytes are exchanged."""
    skip_without_spark()
    script = Path(__file__).with_name("spark_cluster.py")
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("bytes per record") < 1
    assert found == {"in peace": True, "after a loss": True, "killed": True}


def test_spark_connect(tmp_path: Path) -> None:
    """The same figures through a server; a table by its name; no table, and no server any more, are one line each."""
    skip_without_spark("grpc", "grpc_status", "google.protobuf")
    script = Path(__file__).with_name("spark_connect.py")
    call = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    status, absent = found.pop("absent")
    assert (status, absent.count("\n")) == (1, 1)
    assert absent.startswith("unveil: nowhere.people: Spark does not find what is asked for")
    lost = r"the original: the connection to Spark is lost \((RETRIES_EXCEEDED|UNAVAILABLE)\): start a session again"
    assert re.match(lost, found.pop("lost"))
    assert found == {"engine": "Spark", "same": True, "same rows": True, "table": [0, ""]}


def test_command_line(shared: Path, tmp_path: Path) -> None:
    """A folder of Parquet files, counted by Spark and by this process."""
    skip_without_spark()
    for name in ("sd2011_9", "sd2011_9_s1"):
        table = csv.read_csv(shared / "data" / f"{name}.csv")
        (tmp_path / name).mkdir()
        for part in range(2):
            pq.write_table(table.slice(2500 * part, 2500), tmp_path / name / f"{part}.parquet")
    words = ["identity", "sd2011_9", "sd2011_9_s1", "--keys", "sex,age,region,placesize", "--json", "-"]
    found = []
    for more in ([], ["--spark-master", "local[2]"]):
        call = [sys.executable, "-m", "unveil.cli", *words, *more]
        done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, timeout=400)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
