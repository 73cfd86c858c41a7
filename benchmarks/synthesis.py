"""Time sequential CART and print ratios; run ``python benchmarks/synthesis.py [folder of reference data]``.

Times are CPU seconds of all threads, from the frame to the finished synthetic frame. Ratios compare with the CPU
seconds that synthpop 1.9-2 took for the same files on the same kind of machine, as recorded beside the reference
data. ``--python-synthpop`` adds those of the Python package ``py-synthpop``, which runs in an interpreter of its own,
because it needs old versions of its dependencies (py-synthpop 0.1.2, pandas below 2, numpy below 2, scikit-learn).
``--large`` adds a file of a million records, made by repeating the census.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
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
PEER = """
import contextlib, io, json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas
from synthpop import Synthpop
path, kinds, special = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
types = {name: "float" if kind == "numeric" else "category" for name, kind in kinds.items()}
frame = pandas.read_csv(path, keep_default_na=False, na_values=[""]).astype(types)
start = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    synthesizer = Synthpop(cont_na=special)
    synthesizer.fit(frame, types)
    synthesizer.generate(len(frame))
print(time.process_time() - start)
"""


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
    declared = {column: unveil.Variable(column, kind=kind) for column, kind in kinds(folder, name).items()}
    source = unveil.read(data_file(folder, name), schema=declared)
    return pa.table({column: source.column(column) for column in source.names})


def data_file(folder: Path, name: str) -> Path:
    """Where a file is."""
    return next(p for p in (folder / "data" / f"{name}.csv", folder / "data" / f"{name}.csv.gz") if p.exists())


def kinds(folder: Path, name: str) -> dict[str, str]:
    """What the columns of a file hold."""
    schema = json.loads((folder / "data" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return {column["name"]: column["kind"] for column in schema["columns"]}


def against_reference(table: pa.Table, name: str, options: dict[str, object], repeats: int) -> float:
    """One file, one thread: fit and one copy."""
    spent = cpu(lambda: CartSynthesizer(n_jobs=1, **options).fit(table).sample(seed=1), repeats)
    low, high = REFERENCE[name]
    print(
        f"{name}: {table.num_rows} records, {table.num_columns} columns: {spent * 1000:.0f} ms CPU; the reference "
        f"takes {low / spent:.0f} to {high / spent:.0f} times as long (goal {WORST[name]})"
    )
    return spent


def against_python(folder: Path, name: str, special: dict[str, list[float]], spent: float, python: str | None) -> None:
    """The same file by the Python package, fit and one copy; ``spent`` is what this package takes."""
    if python is None:
        print(f"{name} by py-synthpop: not installed")
        return
    arguments = [str(data_file(folder, name)), json.dumps(kinds(folder, name)), json.dumps(special)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = subprocess.run([python, "-c", PEER, *arguments], capture_output=True, text=True, env=environment, check=False)
    if run.returncode:
        print(f"{name} by py-synthpop: failed with {run.stderr.strip().splitlines()[-1]}")
        return
    seconds = float(run.stdout)
    print(f"{name} by py-synthpop: {seconds:.2f} s CPU, {seconds / spent:.0f} times as long")


def copies(table: pa.Table) -> None:
    """A hundred copies cost one fit."""
    options = {"special_codes": {"income": [-8]}, "n_jobs": 1}
    fit = cpu(lambda: CartSynthesizer(**options).fit(table), 5)
    fitted = CartSynthesizer(**options).fit(table)
    one, hundred = cpu(lambda: fitted.sample(seed=1), 5), cpu(lambda: fitted.sample(m=100, seed=1), 1)
    print(f"fit {fit * 1000:.0f} ms, one copy {one * 1000:.1f} ms, 100 copies {hundred * 1000:.0f} ms CPU")


def large(table: pa.Table, n: int = 1_000_000) -> None:
    """A million records: time, and memory beside the original and the release, which the caller holds."""
    rows = pa.array(np.random.default_rng(1).integers(0, table.num_rows, n))
    original = table.take(rows).combine_chunks()
    del rows
    before = resident("VmRSS")
    start, cpu_start = time.perf_counter(), time.process_time()
    fitted = CartSynthesizer().fit(original)
    fit = resident("VmHWM") - before
    release = fitted.sample(seed=1)
    wall, spent = time.perf_counter() - start, time.process_time() - cpu_start
    peak = resident("VmHWM") - before
    coded = n * original.num_columns * 4
    print(
        f"{n:,} records, {original.num_columns} columns: {spent:.0f} s CPU, {wall:.0f} s (goal 20); peak memory above "
        f"the original's: fit {fit / coded:.2f}, fit and copy {(peak - release.nbytes) / coded:.2f} without the copy's "
        f"own {release.nbytes / coded:.2f}, in units of the {coded / 2**20:.0f} MB of its codes (goal 3)"
    )


def resident(what: str) -> int:
    """Bytes of memory that this process has (``VmRSS``) or had at most (``VmHWM``); 0 where no system says so."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


def main(arguments: list[str]) -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description="Time sequential CART.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="folder of reference data")
    parser.add_argument("--large", action="store_true", help="also synthesise a million records")
    parser.add_argument("--python-synthpop", metavar="PATH", help="interpreter that has py-synthpop")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    nine, adult = load(chosen.folder, "sd2011_9"), load(chosen.folder, "adult")
    CartSynthesizer().fit(nine).sample(seed=1)  # loads libraries, once
    special = {"income": [-8]}
    spent = against_reference(nine, "sd2011_9", {"special_codes": special}, 20)
    against_python(chosen.folder, "sd2011_9", special, spent, chosen.python_synthpop)
    copies(nine)
    spent = against_reference(adult, "adult", {}, 3)
    against_python(chosen.folder, "adult", {}, spent, chosen.python_synthpop)
    everything = load(chosen.folder, "sd2011")
    spent = cpu(lambda: CartSynthesizer(n_jobs=1).fit(everything).sample(seed=1), 3)
    print(f"sd2011: {everything.num_columns} columns in own order: {spent:.2f} s CPU (goal 0.6; the reference hangs)")
    if chosen.large:
        large(adult)


if __name__ == "__main__":
    main(sys.argv[1:])
