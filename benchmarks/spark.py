"""What Spark exchanges for each record: ``python -m benchmarks.spark [RECORDS]``, with PySpark and Java installed."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import unveil

TABLES = {
    "few combinations": ("id % 2", "id % 80", "id % 16", "id % 6"),
    "mostly unique keys": ("id % 99991", "id % 997", "id % 2", "id % 6"),
    "one combination with 30 %": ("if(id % 10 < 3, -1, id % 99991)", "if(id % 10 < 3, -1, id % 997)", "1", "1"),
}
"""By name the four keys of a table."""
KEYS = ["a", "b", "c", "d"]
TARGETS = [f"t{place}" for place in range(10)]


def frames(spark: Any, keys: tuple[str, ...], n: int) -> list[Any]:
    """An original and a release of as many records, with ten targets of eight levels."""
    columns = [f"{key} as {name}" for key, name in zip(keys, KEYS, strict=True)]
    columns += [f"concat('level ', (id div {7**place}) % 8) as {name}" for place, name in enumerate(TARGETS)]
    mixed = spark.range(2 * n).selectExpr("id as number", "abs(xxhash64(id)) as id")
    return [mixed.where(f"number {side} {n}").selectExpr(*columns) for side in ("<", ">=")]


def written(log: Path) -> Iterator[int]:
    """Bytes that each task has written for others."""
    for file in log.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                yield event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]


def main(n: int) -> None:
    """Print one line for each table and measure."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(folder).as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        for name, keys in TABLES.items():
            pair = unveil.Pair(*frames(spark, keys, n))
            pair.prepare(KEYS, TARGETS)
            for what, measure in (
                ("identity", lambda pair=pair: unveil.identity(pair, KEYS)),
                ("attribute", lambda pair=pair: unveil.attribute(pair, KEYS, target="t0")),
                ("attribute, ten targets", lambda pair=pair: unveil.attribute(pair, KEYS, targets=TARGETS)),
            ):
                before, start = sum(written(Path(folder))), time.perf_counter()
                measure()
                seconds, exchanged = time.perf_counter() - start, sum(written(Path(folder))) - before
                print(
                    f"{name}, {what}: {exchanged / (2 * n):.3f} bytes per record, {seconds:.0f} s for {2 * n} records"
                )
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
