"""The tests of tables once more, with all files as DataFrames of Spark; most of the reference cases are slow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from engines.tables_again import counted_by, of_tables
from unveil.files.source import Source
from unveil.files.spark_frames import open_spark_frame

EVERY = 12
"""Of the cases of the reference, each such one is quick enough."""
pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def as_frame(source: Source, spark: Any) -> Source:
    """The same records as a DataFrame of two parts, with what the file declares."""
    columns = {name: source.column(name) for name in source.names}
    if not columns or not source.num_rows:
        return source
    plain = {
        name: column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for name, column in columns.items()
    }
    frame = spark.createDataFrame(pa.table(plain)).coalesce(2)
    held = open_spark_frame(frame, source.label)
    return replace(source, distributed=frame, fetch=held.fetch, written=None, native=None, batches=None)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch, spark: Any) -> None:
    counted_by("auto", monkeypatch, lambda source: as_frame(source, spark))


for again in ("handed", "golden"):
    found = of_tables(again, "spark")
    assert not set(found) & set(globals()), again
    globals().update(found)
