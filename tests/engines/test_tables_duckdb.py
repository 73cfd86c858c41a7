"""The tests of tables once more, with all files as relations of DuckDB."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from engines.tables_again import counted_by, of_tables
from unveil.files.duckdb_relations import open_relation
from unveil.files.source import Source

duckdb = pytest.importorskip("duckdb", reason="for DuckDB relations")


@cache
def connection() -> Any:
    # Pairs that a file of tests keeps are measured again and again.
    return duckdb.connect()


def as_relation(source: Source) -> Source:
    """The same records as a table of DuckDB, with what the file declares."""
    columns = {name: source.column(name) for name in source.names}
    if not columns or not source.num_rows:
        return source
    held = open_relation(connection().from_arrow(pa.table(columns)), source.label)
    return replace(source, batches=held.batches, fetch=held.fetch, written=None, native=None)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted_by("files", monkeypatch, as_relation)


for again in ("handed", "golden", "papers"):
    found = of_tables(again, "duckdb")
    assert not set(found) & set(globals()), again
    globals().update(found)
