"""Relations of DuckDB: read in batches, with the results of the same records as a table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from counted_figures import measured
from engines.test_files_engine import KINDS_OF_ALL_ENGINES, random_files, slow_from
from unveil.errors import DataError, UnveilError
from unveil.files.opening import open_source

duckdb = pytest.importorskip("duckdb", reason="for DuckDB relations")

COLUMNS = (
    "(i % 3)::hugeint * 40000000000000000000000000000000000001",
    "(i % 4)::utinyint",
    "(i % 5)::decimal(10, 2) / 4",
    "(i % 5)::decimal(38, 3)",
    "case i % 4 when 0 then 'nan'::float when 1 then 0.1 when 2 then -0.0 else null end",
    "case i % 4 when 0 then 0.1::double when 1 then 0.0 when 2 then -0.0 else null end",
    "(['z', 'y', 'x', NULL])[1 + i % 4]::enum('z', 'x', 'y')",
    "(['a', 'A', ' a', 'é', 'e\u0301', '', 'null', NULL])[1 + i % 8]",
    "'2020-01-01'::date + (i % 5)::int",
    "timestamptz '2020-01-01 00:30:00+02' + interval (i % 3) hour",
    "timestamp_ns '2020-01-01 00:00:00.000000001' + interval (i % 2) hour",
    "i % 2 = 0",
    "uuid '00000000-0000-0000-0000-000000000000'",
    "time '10:00' + interval (i % 3) minute",
    "encode(chr(97 + (i % 3)::int))",
)


@pytest.fixture
def con() -> Any:
    connection = duckdb.connect()
    connection.execute("set default_collation = 'NOCASE'; set timezone = 'Asia/Tokyo'")
    yield connection
    connection.close()


def relations(con: Any, seed: int) -> tuple[list[Any], list[str]]:
    rng = np.random.default_rng(seed)
    columns = rng.choice(COLUMNS, 4, replace=False)
    names = ["Sex", "sex", 'a "quoted" name', "t"]
    chosen = ", ".join(
        f'{text} as "{n}"' for text, n in zip(columns, (n.replace('"', '""') for n in names), strict=True)
    )
    found = []
    for number, n in enumerate((90, 70, 40)):
        con.execute(f"create table t{number} as select (range * {rng.integers(1, 99)}) % 101 as i from range({n})")
        found.append(con.sql(f"select {chosen} from t{number}"))
    return found, names


@pytest.mark.parametrize("seed", range(20))
def test_relations_give_what_their_records_give(con: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where names differ only in letter case, and DuckDB's collation takes texts as equal that are not."""
    found, names = relations(con, seed)
    tables = [one.fetch_arrow_table() if hasattr(one, "fetch_df_chunk") else one.to_arrow_table() for one in found]
    tables = [table.rename_columns(names) for table in tables]
    monkeypatch.setattr("unveil.files.duckdb_relations.BATCH", 2048)
    results = []
    for files, engine in ((tables, "memory"), (found, "memory"), (found, "files")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", unveil.UnveilWarning)
            try:
                pair = unveil.Pair(files[0], files[1:], engine=engine)
                results.append(measured(pair, names[:2], names[2:]))
            except UnveilError as error:
                results.append([str(error)])
    # A table of Arrow does not say in which order the levels of an enumeration are.
    assert results[1] == results[2]
    if "enum" not in repr([one.types for one in found]).lower():
        assert results[0] == results[1]


@pytest.mark.parametrize("seed", slow_from(10))
def test_parquet_files_through_relations(seed: int, con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The random files of the other engines, read by DuckDB, against the same files read here."""
    monkeypatch.setattr("unveil.files.duckdb_relations.BATCH", 2048)
    files, kinds = random_files(seed, tmp_path, KINDS_OF_ALL_ENGINES)
    found = [con.sql(f"select * from read_parquet('{file}')") for file in files]
    results = []
    for given, engine in (([pq.read_table(file) for file in files], "memory"), (found, "files")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", unveil.UnveilWarning)
            try:
                results.append(measured(unveil.Pair(given[0], given[1:], engine=engine), kinds[:2], kinds[2:]))
            except UnveilError as error:
                results.append([str(error)])
    assert results[0] == results[1]


def test_nothing_is_read_before_it_is_asked_for(con: Any) -> None:
    source = open_source(con.sql("select i, error('read') as e from range(5) t(i)"))
    assert (source.names, source.num_rows) == (("i", "e"), 5)
    assert pa.concat_arrays([batch["i"] for batch in source.batches(["i"])]).to_pylist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match=r"data: the relation cannot be read \(.*read.*\); keep its connection open"):
        source.column("e")


def test_columns_of_one_relation_are_of_one_run(con: Any) -> None:
    """Two runs of a query may give records in two orders."""
    source = open_source(con.sql("select i, i + 1 as j from range(10000) t(i) order by random()"))
    assert (np.array(source.column("j")) - np.array(source.column("i")) == 1).all()


def test_levels_of_an_enumeration_are_known_without_a_record(con: Any) -> None:
    source = open_source(con.sql("select 'x'::enum('z', 'x', 'y') as e where false"))
    assert source.variable("e").levels == ("z", "x", "y")
    assert source.column("e").to_pylist() == []


@pytest.mark.parametrize("loss", ["closed", "dropped", "fewer records"])
def test_what_is_lost_meanwhile_is_one_line(con: Any, loss: str) -> None:
    con.execute("create table people as select range % 7 as k, range % 3 as t from range(1000)")
    pair = unveil.Pair(con.table("people"), con.table("people"), engine="files")
    if loss == "closed":
        con.close()
    else:
        con.execute("drop table people" if loss == "dropped" else "delete from people where k = 1")
    with pytest.raises(DataError, match=r"^the original: the relation (cannot be read|gives 857 records)") as caught:
        unveil.attribute(pair, ["k"], target="t")
    assert "\n" not in str(caught.value)


def test_values_that_change_between_two_readings(con: Any) -> None:
    con.execute("create table people as select range % 7 as k, range % 3 as t from range(1000)")
    pair = unveil.Pair(con.table("people"), con.table("people"), engine="files")
    engine: Any = pair.engine
    engine.values_of(0, "k")
    for file in engine._files:
        file.kept = []
    con.execute("update people set k = 99 where k = 6")
    with pytest.raises(DataError, match="the original: column 'k' holds other values than when it was first read"):
        unveil.attribute(pair, ["k"], target="t")


def test_an_interrupted_reading_is_not_taken_for_a_whole_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.files.columnar.BATCH", 100)
    people = unveil.simulate.demo_population(1000, seed=1)
    pq.write_table(people, tmp_path / "people.parquet")
    pair = unveil.Pair(tmp_path / "people.parquet", people, engine="files")
    source = pair.original
    engine: Any = pair.engine
    whole = source.batches
    assert whole is not None

    def interrupted(names: Any) -> Any:
        yield next(whole(names))
        raise KeyboardInterrupt

    engine._files[0].source = unveil.files.source.replace(source, batches=interrupted)
    with pytest.raises(KeyboardInterrupt):
        unveil.identity(pair, ["sex", "age"])
    engine._files[0].source = source
    found = unveil.identity(pair, ["sex", "age"]).to_dict()
    assert repr(found) == repr(unveil.identity(unveil.Pair(people, people), ["sex", "age"]).to_dict())
