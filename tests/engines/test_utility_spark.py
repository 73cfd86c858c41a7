"""Utility where Spark counts the records: the same tables, the same records drawn, the same figures as from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.files.spark_frames import open_spark_frame
from unveil.plain import without_nan

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
OPTIONS: dict[str, Any] = {"most_records": 40, "permutations": 3, "minbucket": 5, "folds": 2, "n_jobs": 1}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """More records than are drawn, some of them alike, with gaps."""
    folder, rng = tmp_path_factory.mktemp("utility"), np.random.default_rng(1)
    for name, n in (("original", 600), ("release", 450)):
        x = rng.integers(0, 9, n)
        y = np.round(20 + 3.0 * x + rng.normal(size=n))
        columns = {"x": pa.array(x, mask=rng.random(n) < 0.05), "k": rng.choice(list("abc"), n),
                   "y": pa.array(y, mask=rng.random(n) < 0.05)}  # fmt: skip
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=100)
    return [str(folder / f"{name}.parquet") for name in ("original", "release")]


@pytest.mark.parametrize("numbered", [True, False])
def test_the_figures_are_those_from_files(
    numbered: bool, paths: list[str], spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not numbered:
        monkeypatch.setattr("unveil.engines.draw.MOST_NUMBERED", 1)
    frames = [open_spark_frame(spark.read.parquet(path), Path(path).name) for path in paths]
    found, files = (
        without_nan(unveil.utility(pair, models="y ~ x", **OPTIONS).to_dict())
        for pair in (unveil.Pair(*frames), unveil.Pair(*paths, engine="files"))
    )
    assert found["samples"]["prediction"] == {"records": [40, 40], "of": [600, 450], "draws": 5}
    assert found == files
