"""How counting batch by batch grows with the number of records: ``python -m benchmarks.growth [LARGEST]``."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = {"few combinations": (2, 80, 16, 6), "mostly unique keys": (99_991, 997, 2, 6)}
"""By name the number of levels of each key."""
CASES = {
    "few combinations": ("few combinations", "2GB"),
    "mostly unique keys": ("mostly unique keys", "2GB"),
    "mostly unique keys, put aside": ("mostly unique keys", "64MB"),
}
"""By name the keys, and the memory that counting may take."""
COUNT = """
import resource, sys, unveil
*files, limit = sys.argv[1:]
start = resource.getrusage(resource.RUSAGE_SELF)
pair = unveil.Pair(*files, engine="files", memory_limit=limit)
unveil.attribute(pair, ["k0", "k1", "k2", "k3"], target="t")
end = resource.getrusage(resource.RUSAGE_SELF)
print(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime, end.ru_maxrss * 1024)
"""


def write(path: Path, levels: tuple[int, ...], n: int, seed: int) -> Path:
    """Keys of so many levels, and a target of eight, written in row groups of a million records."""
    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(
        path, pa.schema([(f"k{i}", pa.int32()) for i in range(len(levels))] + [("t", pa.int8())])
    ) as file:
        for start in range(0, n, 1_000_000):
            size = min(1_000_000, n - start)
            columns = [rng.integers(0, k, size).astype(np.int32) for k in levels]
            file.write_table(pa.table([*columns, rng.integers(0, 8, size).astype(np.int8)], schema=file.schema))
    return path


def main(largest: int) -> None:
    """Print CPU seconds and memory of each case and size, and the exponent of growth."""
    sizes = [largest // 16, largest // 4, largest]
    with tempfile.TemporaryDirectory() as folder:
        for name, (keys, limit) in CASES.items():
            seconds = []
            for n in sizes:
                files = [write(Path(folder, f"{seed}.parquet"), KEYS[keys], n, seed) for seed in (1, 2)]
                call = [sys.executable, "-c", COUNT, *map(os.fspath, files), limit]
                cpu, memory = map(
                    float, subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
                )
                seconds.append(cpu)
                print(f"{name}: {n} + {n} records, {cpu:.2f} CPU seconds, {memory / 2**20:.0f} MiB")
            exponents = [math.log(b / a) / math.log(4) for a, b in pairwise(seconds)]
            powers = " and ".join(f"{one:.2f}" for one in exponents)
            print(f"{name}: four times the records take seconds to the power of {powers}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16_000_000)
