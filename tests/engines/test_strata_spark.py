"""Strata that the workers of Spark synthesise: the records that come from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.synthesis import synthesize_strata

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng, n = np.random.default_rng(2), 240
    place, age = rng.integers(0, 3, n), rng.integers(16, 90, n)
    table = pa.table({
        "Place": [["north", "south", None][p] for p in place], "owns": rng.choice(["x", "y"], n), "a.ge": age,
        "income": pa.array(100.5 * place + age, mask=rng.random(n) < 0.1),
    })  # fmt: skip
    path = tmp_path_factory.mktemp("strata") / "original.parquet"
    pq.write_table(table, path, row_group_size=60)
    return str(path)


def test_the_copy_is_that_from_files(original: str, spark: Any, tmp_path: Path) -> None:
    """A name with a dot, a gap as a stratum, and amounts with gaps."""
    of_files = synthesize_strata(original, tmp_path / "files.parquet", by="Place", k=300, seed=5, minbucket=3)
    frame = spark.read.parquet(original).repartition(3)
    of_spark = synthesize_strata(frame, tmp_path / "spark.parquet", by="Place", k=300, seed=5, minbucket=3)
    assert of_spark.strata == of_files.strata
    assert [values["Place"] for values, _, _ in of_spark.strata] == ["north", "south", None]
    one, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("files", "spark"))
    assert one.schema.names == other.schema.names
    for value in ("north", "south", None):
        rows = [[row for row in table.to_pylist() if row["Place"] == value] for table in (one, other)]
        assert rows[0] == rows[1]
    with pytest.raises(unveil.FileError, match="exists"):
        synthesize_strata(frame, tmp_path / "spark.parquet", by="Place", seed=5)


def test_a_stratum_that_is_too_small_is_named(original: str, spark: Any, tmp_path: Path) -> None:
    frame = spark.read.parquet(original).selectExpr("*", "case when income > 280 then 'few' else 'many' end as size")
    n = frame.filter("size = 'few'").count()
    assert 0 < n < 15
    with pytest.raises(unveil.DataError, match=rf"1 of 2 strata by 'size' .*size 'few' with {n}"):
        synthesize_strata(frame, tmp_path / "spark.parquet", by="size")
