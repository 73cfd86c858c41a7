"""Time and memory of utility; run ``python benchmarks/utility.py``.

With the reference data (``$UNVEIL_SHARED``, or the folder ``shared`` beside the project): nine variables of a survey of
5000 persons with five releases, and Adult with its release taken five times. Without them a simulated survey.
"""

from __future__ import annotations

import os
import resource
import time
import warnings
from itertools import pairwise
from pathlib import Path

import unveil

SHARED = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def measure(name: str, pair: unveil.Pair, **options: object) -> None:
    marks = [("reading", time.perf_counter(), time.process_time())]
    unveil.utility(
        pair,
        progress=lambda _, __, part: marks.append((part, time.perf_counter(), time.process_time())),
        **options,
    )
    marks.append(("", time.perf_counter(), time.process_time()))
    for (part, wall, cpu), (_, wall_end, cpu_end) in pairwise(marks):
        print(f"{name}, {part}: {cpu_end - cpu:.1f} s CPU, {wall_end - wall:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}, all: {marks[-1][2] - marks[0][2]:.1f} s CPU, {marks[-1][1] - marks[0][1]:.1f} s; peak {peak:.0f} MB"
    )


def main() -> None:
    small = unveil.simulate.demo_population(200, seed=1)
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    unveil.utility(unveil.Pair(small, small), ["sex", "age"])
    data = SHARED / "data"
    if data.is_dir():
        releases = [str(data / f"sd2011_9_s5_{i}.csv") for i in range(1, 6)]
        pair = unveil.Pair(str(data / "sd2011_9.csv"), releases, special_codes={"income": [-8]})
        measure("survey, 9 variables, 5 releases", pair, models=["income ~ age + sex", "workab ~ age + sex"])
        adult = unveil.Pair(str(data / "adult.csv.gz"), [str(data / "adult_syn.csv.gz")] * 5)
        measure("Adult, 14 variables, 5 releases", adult, models=["income ~ age + sex"])
    else:
        population = unveil.simulate.demo_population(10_000, seed=1)
        measure("simulated survey", unveil.Pair(population.slice(0, 5000), population.slice(5000)))


if __name__ == "__main__":
    main()
