"""Parquet files opened in a Spark session that is started for them, as the command line does."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unveil.errors import CallError, MissingPackageError
from unveil.files.folders import PARQUET, label_of, stands_for_several
from unveil.files.source import Source
from unveil.files.spark_frames import asking_spark, open_spark_frame

_CONNECT = "sc://"


def opened_by_spark(paths: Sequence[Path], master: str) -> list[Source]:
    """Parquet files, folders of them or patterns of their names as Spark DataFrames.

    Parameters
    ----------
    paths
        The files.
    master
        Where Spark runs: ``local[2]``, ``spark://host:7077``, or ``sc://host`` for Spark Connect.

    Raises
    ------
    CallError
        If a file is not Parquet.
    FileError
        If there is no such file.
    MissingPackageError
        If PySpark or Java is not installed.
    """
    for path in paths:
        if path.suffix.lower() != PARQUET and not stands_for_several(path):
            raise CallError(f"{path}: with a Spark master files are Parquet, folders of Parquet files, or patterns")
    session = _session(master)
    opened = []
    for path in paths:
        with asking_spark(label_of(path)):
            frame = session.read.parquet(str(path))
        opened.append(open_spark_frame(frame, label_of(path)))
    return opened


def _session(master: str) -> Any:
    if find_spec("pyspark") is None:
        raise MissingPackageError("Spark needs the package pyspark: pip install 'unveil[spark]'")
    if master.startswith("local"):
        # Workers on this machine run this Python; which one those of a cluster run is for the cluster to say.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    here = not master.startswith(_CONNECT)
    if here and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise MissingPackageError(
            "Spark needs Java, and there is none: install Java 17 or newer (apt-get install default-jre-headless), or "
            "say where it is (JAVA_HOME)"
        )
    # Said at every call with a newer pandas, of which nothing is used here.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    with asking_spark(f"Spark at {master}"):
        from pyspark.sql import SparkSession

        if not here:
            return SparkSession.builder.remote(master).getOrCreate()
        options = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
        builder = SparkSession.builder.master(master).appName("unveil")
        for name, value in options.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()
