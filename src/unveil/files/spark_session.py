"""Parquet files opened in a Spark session that is started for them, as the command line does."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unveil.errors import CallError, MissingPackageError
from unveil.files.addresses import Address
from unveil.files.folders import PARQUET, label_of, stands_for_several
from unveil.files.opening import ENDINGS
from unveil.files.source import Source
from unveil.files.spark_frames import asking_spark, open_spark_frame

_CONNECT = "sc://"
_PORT = 15002
"""Where a server of Spark Connect listens if nothing else is said."""
_SECONDS = 10
"""How long such a server may take to answer."""
_TRIES = 6
"""How often it is asked again."""
_LONGEST = 10_000
"""How many milliseconds at most lie between: half a minute in all."""
_TABLE = re.compile(r"[^\W\d]\w*(\.\w+){0,2}")
"""Names of a table, with its database and its catalog."""


def opened_by_spark(paths: Sequence[Path], master: str) -> list[Source]:
    """Parquet files, folders of them, patterns of their names, or tables as Spark DataFrames.

    Parameters
    ----------
    paths
        The files, or names of tables: ``people``, ``census.people``, ``catalog.census.people``.
    master
        Where Spark runs: ``local[2]``, ``spark://host:7077``, or ``sc://host`` for Spark Connect.

    Raises
    ------
    CallError
        If a file is not Parquet.
    FileError
        If there is no such file or table.
    MissingPackageError
        If PySpark or Java is not installed.
    """
    for path in paths:
        known = isinstance(path, Address) or stands_for_several(path) or _names_table(path)
        if path.suffix.lower() != PARQUET and not known:
            raise CallError(
                f"{path}: with a Spark master files are Parquet, folders of Parquet files, patterns, or names of tables"
            )
    session = _session(master)
    opened = []
    for path in paths:
        with asking_spark(label_of(path)):
            frame = session.table(str(path)) if _names_table(path) else session.read.parquet(str(path))
        opened.append(open_spark_frame(frame, label_of(path)))
    return opened


def _remote(session: Any, master: str) -> Any:
    """A session of Spark Connect; where its server is gone, it is tried for half a minute, not for ten."""
    host, _, port = master.removeprefix(_CONNECT).split("/")[0].rpartition(":")
    with socket.create_connection((host or port, int(port) if host else _PORT), timeout=_SECONDS):
        pass
    found = session.builder.remote(master).getOrCreate()
    from pyspark.sql.connect.client.retries import DefaultPolicy

    found.client.set_retry_policies([DefaultPolicy(max_retries=_TRIES, max_backoff=_LONGEST)])
    return found


def _names_table(path: Path) -> bool:
    """Whether a path is no file, and could be the name of a table."""
    could_be = _TABLE.fullmatch(str(path)) is not None and path.suffix.lower() not in ENDINGS
    return could_be and not os.path.lexists(path)


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
            return _remote(SparkSession, master)
        options = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
        builder = SparkSession.builder.master(master).appName("unveil")
        for name, value in options.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()
