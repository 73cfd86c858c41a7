"""The tests of tables once more, with all files as DataFrames of Spark; most of the reference cases are slow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from engines.tables_again import counted_by, of_tables
from unveil.files.source import Source
from unveil.files.spark_frames import open_spark_frame

EVERY = 40
"""Of the cases of each test, one of so many is not marked as slow."""
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


def thinned(test: Any) -> None:
    """Mark most cases of a test as slow."""
    marks = []
    for mark in test.pytestmark:
        if mark.name == "parametrize":
            names, cases = mark.args
            mark = pytest.mark.parametrize(
                names, [case if i % EVERY == 0 else slow(case) for i, case in enumerate(cases)]
            ).mark
        marks.append(mark)
    test.pytestmark = marks


def slow(case: Any) -> Any:
    """A case that is marked as slow; what a test declares as a plain value has no identifier of its own."""
    if hasattr(case, "marks"):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.slow])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch, spark: Any) -> None:
    counted_by("auto", monkeypatch, lambda source: as_frame(source, spark))


for again in ("handed", "golden"):
    found = of_tables(again, "spark")
    assert not set(found) & set(globals()), again
    # Its point is how long it takes in memory.
    found.pop("test_many_levels_in_several_keys", None)
    for name, value in found.items():
        if again == "golden" and name.startswith("test_"):
            thinned(value)
    globals().update(found)
