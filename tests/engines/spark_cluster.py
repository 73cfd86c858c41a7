"""A cluster of separate processes on this machine, of which one is killed while it counts; prints what was found."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import unveil

RECORDS = 120_000
KEYS, TARGETS = ["a", "b"], ["t", "u", "v"]


def dies_once(folder: str) -> Any:
    """A function on Arrow batches that kills the process of Spark that it runs in: once, after it was armed."""

    def pass_by(batches: Any) -> Iterator[pa.RecordBatch]:
        import os
        import signal
        from pathlib import Path

        for batch in batches:
            if batch.column(0)[0].as_py() > 0.7 * RECORDS and Path(folder, "armed").exists():
                try:
                    Path(folder, "killed").touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    process = os.getppid()
                    while Path(f"/proc/{process}/comm").read_text().strip() != "java":
                        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
                    os.kill(process, signal.SIGKILL)
            yield batch

    return pass_by


def shuffled(log: Path) -> int:
    """Bytes that all tasks have written for others."""
    events = [json.loads(line) for file in log.iterdir() for line in file.read_text().splitlines()]
    ended = [event["Task Metrics"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
    return sum(one["Shuffle Write Metrics"]["Shuffle Bytes Written"] for one in ended if one)


def measured(pair: unveil.Pair) -> list[str]:
    found = [unveil.identity(pair, KEYS), *unveil.attribute(pair, KEYS, targets=TARGETS)]
    return [repr(one.to_dict()) for one in found]


def main(folder: str) -> None:
    from pyspark.sql import SparkSession

    os.mkdir(Path(folder, "log"))
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.sql.shuffle.partitions": "3",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": Path(folder, "log").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    columns = ["id", "id % 7 as a", "id % 9 as b", "id % 2 as t", "id % 5 as u", "cast(id % 3 as string) as v"]
    whole = spark.range(RECORDS, numPartitions=4).selectExpr(*columns)
    original = whole.mapInArrow(dies_once(folder), whole.schema)
    release = spark.range(RECORDS // 2, numPartitions=2).selectExpr(*columns)
    expected = measured(unveil.Pair(original, release, engine="memory"))
    before = shuffled(Path(folder, "log"))
    in_peace = measured(unveil.Pair(original, release))
    bytes_in_all = shuffled(Path(folder, "log")) - before
    Path(folder, "armed").touch()
    after_a_loss = measured(unveil.Pair(original, release))
    print(
        json.dumps(
            {
                "in peace": in_peace == expected,
                "after a loss": after_a_loss == expected,
                "killed": Path(folder, "killed").exists(),
                "bytes per record": bytes_in_all / (1.5 * RECORDS),
            }
        )
    )
    spark.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    signal.alarm(580)
    main(sys.argv[1])
