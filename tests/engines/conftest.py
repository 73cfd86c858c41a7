"""A session of Spark for the tests that need one."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "700m",
    # Hundreds of jobs on a few records: compiling them would take longer than running them.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # Another time zone than that of the files, and small parts.
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "37",
    "spark.sql.files.maxPartitionBytes": "16k",
}


def skip_without_spark(*more: str) -> None:
    """Skip where Spark cannot be run, or fail with UNVEIL_REQUIRE_SPARK=1; it may need more packages."""
    packages = {name: _found(name) for name in ("pyspark", "pandas", *more)}
    found = {**packages, "Java": shutil.which("java")}
    missing = [name for name, there in found.items() if not there]
    if missing:
        reason = f"Spark cannot be run here: no {' and no '.join(missing)}"
        if os.environ.get("UNVEIL_REQUIRE_SPARK") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the package that holds it
        return False


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session with two threads."""
    skip_without_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        # Of pandas that pyspark does not know yet.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for name, value in OPTIONS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()
