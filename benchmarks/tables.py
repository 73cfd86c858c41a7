"""Time the table measures and print ratios; run ``python benchmarks/tables.py``.

Times are CPU seconds of all threads. Ratios compare with one bare DuckDB ``GROUP BY keys, target`` over both files,
in the same run on the same machine; for several targets with one such query per target.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import unveil
from unveil.simulate import demo_population

KEYS = ["sex", "age", "region", "placesize"]


def cpu(work: Callable[[], object], repeats: int = 5) -> float:
    """Smallest CPU time of some repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def survey(n: int, seed: int, unique: bool) -> pa.Table:
    """Four keys and ten targets; with ``unique`` the keys single out most records."""
    rng = np.random.default_rng(seed)
    population = demo_population(n, rng)
    columns = {name: population.column(name) for name in KEYS}
    if unique:
        columns["age"] = pa.array(rng.integers(0, 50_000, n))
    for i in range(10):
        columns[f"t{i}"] = pa.array(rng.integers(0, 3 + 4 * i, n))
    return pa.table(columns)


def cold_start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{i}.csv")) for i in range(2)]
        from unveil.files.write import write_table

        for i, path in enumerate(paths):
            write_table(demo_population(5000, seed=i), path)
        command = [sys.executable, "-m", "unveil.cli", "identity", *paths, "--keys", ",".join(KEYS)]
        times = []
        for _ in range(6):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"cold `unveil identity`, 5 000 records of CSV: {min(times):.2f} s CPU (median {np.median(times):.2f})")


def many_targets() -> None:
    pair = unveil.Pair(survey(50_000, 1, False), survey(50_000, 2, False))
    targets = [f"t{i}" for i in range(10)]
    for name in (*KEYS, *targets):
        pair.column(name)
    spent = cpu(lambda: unveil.attribute(pair, KEYS, targets=targets))
    print(f"50 000 records, 4 keys, 10 targets, all measures after coding: {spent * 1000:.0f} ms CPU")


def against_duckdb(unique: bool) -> None:
    import duckdb

    targets = [f"t{i}" for i in range(10)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{i}.parquet")) for i in range(2)]
        for i, path in enumerate(paths):
            pq.write_table(survey(1_000_000, i, unique), path)

        def group_by(names: list[str]) -> Callable[[], None]:
            def run() -> None:
                for name in names:
                    columns = ", ".join([*KEYS, name])
                    duckdb.sql(
                        f"select {columns}, count(*) from read_parquet({paths}) group by {columns}"
                    ).arrow().read_all()

            return run

        def measure(names: list[str]) -> Callable[[], Any]:
            return lambda: unveil.attribute(unveil.Pair(*paths), KEYS, targets=names)

        kind = "mostly unique keys" if unique else "15 000 key combinations"
        for names in (targets[5:6], targets):
            ours, theirs = cpu(measure(names), 3), cpu(group_by(names), 3)
            print(
                f"1 000 000 records x 2 from Parquet, {kind}, {len(names)} target(s): {ours:.2f} s against "
                f"{theirs:.2f} s of {len(names)} bare GROUP BY: ratio {ours / theirs:.2f}"
            )
            risks = measure(names)()
            spent = cpu(lambda risks=risks: [(risk.intervals(), risk.interval()) for risk in risks], 3)
            print(f"  all release intervals: {spent:.3f} s, {spent / ours:.3f} x the measures")
        pair = unveil.Pair(*paths)
        coded = sum(
            codes.nbytes
            for name in (*KEYS, "t5")
            for codes in (pair.column(name).original, *pair.column(name).releases)
        )
        tracemalloc.start()
        unveil.attribute(pair, KEYS, target="t5")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  memory on top of the codes: {peak / 2**20:.0f} MB, {peak / coded:.2f} x the coded columns")


def key_sets() -> None:
    pair = unveil.Pair(demo_population(5000, seed=1), demo_population(5000, seed=2))
    keys = [*KEYS, "edu", "marital", "workab"]
    spent = cpu(lambda: unveil.key_sets(pair, keys, target="depress"))
    print(f"98 key sets of up to 4 of 7 keys, 5 000 records: {spent:.2f} s CPU")


if __name__ == "__main__":
    cold_start()
    many_targets()
    key_sets()
    against_duckdb(unique=False)
    against_duckdb(unique=True)
