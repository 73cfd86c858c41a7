"""Time and memory of RAPID; run ``python benchmarks/rapid.py``.

With the reference data (``$UNVEIL_SHARED``, or the folder ``shared`` beside the project) the default random forest is
run on Adult: six keys, target income, 500 trees. The R package with ranger took 19 s of CPU for that on two threads and
970 MB; CPU seconds of different machines and loads compare only roughly. The other lines need no data.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import unveil
from unveil._rapid import rapid

SHARED = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
ADULT_KEYS = ["age", "education", "marital.status", "occupation", "race", "sex"]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def adult() -> None:
    pair = unveil.Pair(str(SHARED / "data" / "adult.csv.gz"), str(SHARED / "data" / "adult_syn.csv.gz"))
    for name in (*ADULT_KEYS, "income"):
        pair.column(name)
    small = unveil.simulate.rapid_population(100, seed=1)
    rapid(unveil.Pair(small, small), ["age"], target="disease_status", permutations=1)
    for extra, options in (
        ("attack alone", {"permutations": 0, "ceiling": False}),
        ("with ceiling (5 folds) and null (4 shuffles)", {"permutations": 4}),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        result = rapid(pair, ADULT_KEYS, target="income", **options)
        print(
            f"Adult, rf 500 trees, 6 keys, {extra}: {time.process_time() - cpu:.1f} s CPU, "
            f"{time.perf_counter() - wall:.1f} s; rate {result.rate:.4f}; peak {peak_megabytes():.0f} MB"
        )


def survey(n: int, seed: int, classes: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    population = unveil.simulate.demo_population(n, rng)
    columns = {name: population.column(name) for name in ("sex", "age", "region", "placesize")}
    return pa.table(columns | {"t": pa.array(rng.integers(0, classes, n))})


def bootstrap() -> None:
    pair = unveil.Pair(survey(50_000, 1, 5), survey(50_000, 2, 5), kinds={"t": "categorical"})
    result = rapid(
        pair, ["sex", "age", "region", "placesize"], target="t", attacker="cart", permutations=0, ceiling=False
    )
    start = time.process_time()
    result.intervals(n=500)
    rate = time.process_time() - start
    start = time.process_time()
    result.curve(n=500)
    print(
        f"50 000 records, 500 replicates: interval of the rate {1000 * rate:.0f} ms, "
        f"band of the whole curve {1000 * (time.process_time() - start):.0f} ms CPU"
    )


def million(attacker: str) -> None:
    pair = unveil.Pair(survey(1_000_000, 1, 10), survey(1_000_000, 2, 10), kinds={"t": "categorical"})
    for name in ("sex", "age", "region", "placesize", "t"):
        pair.column(name)
    before, wall, cpu = peak_megabytes(), time.perf_counter(), time.process_time()
    result = rapid(
        pair, ["sex", "age", "region", "placesize"], target="t", attacker=attacker, permutations=0, ceiling=False
    )
    print(
        f"1 000 000 records, 10 classes, {attacker}: {time.process_time() - cpu:.1f} s CPU, "
        f"{time.perf_counter() - wall:.1f} s, peak {peak_megabytes():.0f} MB ({before:.0f} MB before); "
        f"rate {result.rate:.4f}"
    )


def main() -> None:
    if len(sys.argv) > 1:
        million(sys.argv[1])
        return
    bootstrap()
    if SHARED.is_dir():
        adult()
    # in processes of their own, so that each has its own peak of memory
    for attacker in ("cart", "rf"):
        subprocess.run([sys.executable, __file__, attacker], check=True)


if __name__ == "__main__":
    main()
