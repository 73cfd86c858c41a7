"""Time sequential CART and print ratios; run ``python benchmarks/synthesis.py [folder of reference data] [--large]``.

Times are CPU seconds of all threads, from the frame to the finished synthetic frame. Ratios compare with the CPU
seconds that synthpop 1.9-2 took for the same files on the same kind of machine, as recorded beside the reference
data. ``--large`` adds a file of a million records, made by repeating the census.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import unveil
from unveil.synthesis import CartSynthesizer

FOLDER = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
REFERENCE = {"sd2011_9": (2.3, 2.5), "adult": (42.0, 44.0)}
WORST = {"sd2011_9": 60, "adult": 45}


def cpu(work: Callable[[], object], repeats: int) -> float:
    """Smallest CPU time of some repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def load(folder: Path, name: str) -> pa.Table:
    """A file as a table, with the levels of its ordered columns."""
    path = next(p for p in (folder / "data" / f"{name}.csv", folder / "data" / f"{name}.csv.gz") if p.exists())
    schema = json.loads((folder / "data" / f"{name}.schema.json").read_text(encoding="utf-8"))
    declared = {c["name"]: unveil.Variable(c["name"], kind=c["kind"]) for c in schema["columns"]}
    source = unveil.read(path, schema=declared)
    return pa.table({column: source.column(column) for column in source.names})


def against_reference(table: pa.Table, name: str, options: dict[str, object], repeats: int) -> None:
    """One file, one thread: fit and one copy."""
    spent = cpu(lambda: CartSynthesizer(n_jobs=1, **options).fit(table).sample(seed=1), repeats)
    low, high = REFERENCE[name]
    print(
        f"{name}: {table.num_rows} records, {table.num_columns} columns: {spent * 1000:.0f} ms CPU; the reference "
        f"takes {low / spent:.0f} to {high / spent:.0f} times as long (goal {WORST[name]})"
    )


def copies(table: pa.Table) -> None:
    """A hundred copies cost one fit."""
    options = {"special_codes": {"income": [-8]}, "n_jobs": 1}
    fit = cpu(lambda: CartSynthesizer(**options).fit(table), 5)
    fitted = CartSynthesizer(**options).fit(table)
    one, hundred = cpu(lambda: fitted.sample(seed=1), 5), cpu(lambda: fitted.sample(m=100, seed=1), 1)
    print(f"fit {fit * 1000:.0f} ms, one copy {one * 1000:.1f} ms, 100 copies {hundred * 1000:.0f} ms CPU")


def large(table: pa.Table, n: int = 1_000_000) -> None:
    """A million records: time and memory."""
    rows = pa.array(np.random.default_rng(1).integers(0, table.num_rows, n))
    original = table.take(rows).combine_chunks()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu_start = time.perf_counter(), time.process_time()
    CartSynthesizer().fit(original).sample(seed=1)
    wall, spent = time.perf_counter() - start, time.process_time() - cpu_start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{n:,} records, {original.num_columns} columns: {spent:.0f} s CPU, {wall:.0f} s, peak memory "
        f"{peak / 1024:.0f} MB ({(peak - before) / 1024:.0f} MB above the {original.nbytes / 2**20:.0f} MB original's)"
    )


def main(arguments: list[str]) -> None:
    """Run all."""
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    paths = [argument for argument in arguments if not argument.startswith("-")]
    folder = Path(paths[0]) if paths else FOLDER
    nine, adult = load(folder, "sd2011_9"), load(folder, "adult")
    CartSynthesizer().fit(nine)  # compiles, once
    against_reference(nine, "sd2011_9", {"special_codes": {"income": [-8]}}, 20)
    copies(nine)
    against_reference(adult, "adult", {}, 3)
    everything = load(folder, "sd2011")
    spent = cpu(lambda: CartSynthesizer(n_jobs=1).fit(everything).sample(seed=1), 3)
    print(f"sd2011: {everything.num_columns} columns in own order: {spent:.2f} s CPU (goal 0.6; the reference hangs)")
    if "--large" in arguments:
        large(adult)


if __name__ == "__main__":
    main(sys.argv[1:])
