"""RAPID of persons whom Spark counts: the models go to its workers, and sums come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil._rapid import rapid
from unveil._rapid.counted_result import CountedRapid
from unveil.files.spark_frames import open_spark_frame

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
KEYS = ["x", "k"]
OPTIONS: dict[str, Any] = {"permutations": 1, "ceiling": False, "n_jobs": 1, "most_records": 60}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """More records than are drawn: of the original and of the release."""
    folder, rng = tmp_path_factory.mktemp("rapid"), np.random.default_rng(1)
    for name, n in (("original", 1100), ("release", 900)):
        x = rng.integers(0, 9, n)
        y = np.round(20 + 3.0 * x + rng.normal(size=n))
        columns = {"x": pa.array(x, mask=rng.random(n) < 0.05), "k": rng.choice(list("abc"), n), "t": y > 32,
                   "y": pa.array(y, mask=rng.random(n) < 0.05)}  # fmt: skip
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=300)
    return [str(folder / f"{name}.parquet") for name in ("original", "release")]


@pytest.mark.parametrize(("target", "attacker"), [("t", ["rf", "logit"]), ("y", ["cart", "gbm"])])
def test_the_figures_are_those_from_files(
    target: str, attacker: list[str], paths: list[str], spark: Any, tmp_path: Path
) -> None:  # fmt: skip
    frames = [open_spark_frame(spark.read.parquet(path), Path(path).name) for path in paths]
    found = rapid(unveil.Pair(*frames), KEYS, target=target, attacker=attacker, **OPTIONS)
    files = rapid(unveil.Pair(*paths, engine="files"), KEYS, target=target, attacker=attacker, **OPTIONS)
    assert isinstance(found, CountedRapid)
    assert found.sample is not None
    assert found.sample.records == (60,)
    assert found.to_dict() == files.to_dict()
    found.write_records(tmp_path / "spark.parquet")
    files.write_records(tmp_path / "files.parquet")
    one, other = (pq.read_table(tmp_path / f"{name}.parquet").sort_by("record") for name in ("spark", "files"))
    assert one.schema.names == other.schema.names
    for name in one.schema.names:
        np.testing.assert_array_equal(one[name].to_numpy(), other[name].to_numpy())


def test_what_needs_the_records_says_what_to_do(paths: list[str], spark: Any) -> None:
    pair = unveil.Pair(*(spark.read.parquet(path) for path in paths))
    with pytest.raises(unveil.CallError, match="sample of the records to a Parquet file"):
        rapid(pair, KEYS, target="t", scoring="conditional", **OPTIONS)
