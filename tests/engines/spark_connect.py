"""A server of Spark Connect and its client; prints what the client finds, and what it says when the server dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import unveil

KEYS, TARGETS = ["a", "b"], ["t", "u"]
CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.warehouse.dir": "warehouse",
    "spark.sql.catalogImplementation": "in-memory",
}


def server(folder: str, port: int) -> subprocess.Popen[bytes]:
    """A server that listens at a port of this machine."""
    import pyspark

    words = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    words += ["--driver-memory", "700m", "--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    for name, value in (CONF | {"spark.connect.grpc.binding.port": str(port)}).items():
        words += ["--conf", f"{name}={value}"]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    with Path(folder, "server.log").open("wb") as said:
        return subprocess.Popen([*words, "spark-internal"], cwd=folder, env=environment, stdout=said, stderr=said)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        with socket.socket() as one:
            if one.connect_ex(("localhost", port)) == 0:
                return
        assert process.poll() is None, "the server has ended"
        time.sleep(0.5)
    raise TimeoutError("the server does not listen")


def measured(pair: unveil.Pair) -> list[str]:
    identity, risks = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, targets=TARGETS)
    found = [repr(one.to_dict()) for one in (identity, *risks)]
    return [*found, repr(identity.by("u").to_pydict())]


def said_by(*words: str) -> tuple[int, str]:
    """The status that the command line ends with, and what it says on standard error."""
    call = [sys.executable, "-m", "unveil.cli", *words]
    done = subprocess.run(call, capture_output=True, text=True, timeout=200)
    return done.returncode, done.stderr


def main(folder: str) -> None:
    port = free_port()
    process, remote = server(folder, port), f"sc://localhost:{port}"
    try:
        wait_for(port, process)
        print(json.dumps(found(folder, remote, process)))
    finally:
        process.kill()


def found(folder: str, remote: str, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark = SparkSession.builder.remote(remote).getOrCreate()
    spark.client.set_retry_policies([DefaultPolicy(max_retries=2)])
    columns = ["id % 7 as a", "cast(id % 9 as string) as b", "id % 2 as t", "id % 5 as u"]
    original = spark.range(900, numPartitions=2).selectExpr(*columns)
    release = spark.range(500, numPartitions=1).selectExpr(*columns)
    pair = unveil.Pair(original, release)
    here = unveil.Pair(original.toArrow(), release.toArrow())
    flags = Path(folder, "flags.parquet")
    unveil.identity(pair, KEYS).write_records(flags)
    written = pq.read_table(flags).sort_by("record")
    release.write.saveAsTable("release")
    keys = ["--keys", "a,b", "--spark-master", remote]
    of_table = said_by("identity", "release", "release", *keys)
    absent = said_by("identity", "release", "nowhere.people", *keys)
    same = measured(pair) == measured(here)
    process.send_signal(signal.SIGKILL)
    process.wait()
    try:
        unveil.identity(unveil.Pair(original, release), KEYS)
        lost = "nothing"
    except unveil.UnveilError as error:
        lost = str(error)
    return {
        "engine": type(pair.engine).__name__,
        "same": same,
        "same rows": written.equals(unveil.identity(here, KEYS).records()),
        "table": of_table,
        "absent": absent,
        "lost": lost,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    signal.alarm(500)
    main(sys.argv[1])
