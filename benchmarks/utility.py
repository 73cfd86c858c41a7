"""Time and memory of utility; run ``python benchmarks/utility.py``.

With the reference data (``$UNVEIL_SHARED``, or the folder ``shared`` beside the project): nine variables of a survey of
5000 persons with one and with five releases, Adult with its release, beside scikit-learn's trees for its predictions,
and a million records of Adult drawn with repetition. Without them a simulated survey. Always a file of 842 columns.
"""

from __future__ import annotations

import os
import resource
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import unveil

SHARED = Path(os.environ.get("UNVEIL_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def measure(name: str, pair: unveil.Pair, **options: object) -> None:
    marks = [("reading", time.perf_counter(), time.process_time())]

    def progress(_done: int, _total: int, text: str) -> None:
        part = text.partition(",")[0]
        if part != marks[-1][0]:
            marks.append((part, time.perf_counter(), time.process_time()))

    unveil.utility(pair, progress=progress, **options)
    marks.append(("", time.perf_counter(), time.process_time()))
    for (part, wall, cpu), (_, wall_end, cpu_end) in pairwise(marks):
        print(f"{name}, {part}: {cpu_end - cpu:.1f} s CPU, {wall_end - wall:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}, all: {marks[-1][2] - marks[0][2]:.1f} s CPU, {marks[-1][1] - marks[0][1]:.1f} s; peak {peak:.0f} MB"
    )


def peer(pair: unveil.Pair, folds: int = 5, most: int = 10_000) -> None:
    """Fits of scikit-learn's trees to as many records, of as many targets and folds as ``prediction`` makes."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns = [pair.column(name) for name in pair.names]
    real, release = (np.column_stack([file[:most] for file in files]) for files in (
        [column.original for column in columns], [column.releases[0] for column in columns]
    ))  # fmt: skip
    start = time.process_time()
    for target, column in enumerate(columns):
        tree = (DecisionTreeRegressor if column.has_amounts else DecisionTreeClassifier)(min_samples_leaf=7)
        for fold in range(folds + 1):
            train = release if fold == folds else real[np.arange(len(real)) % folds != fold]
            tree.fit(np.delete(train, target, axis=1), train[:, target])
            tree.predict(np.delete(real, target, axis=1))
    print(f"scikit-learn, {len(columns) * (folds + 1)} trees: {time.process_time() - start:.1f} s CPU")


def many_columns(columns: int = 842, n: int = 2000) -> tuple[pa.Table, pa.Table]:
    """Related columns of four kinds, and a release of each column drawn by itself."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=(n, 20))
    found = {}
    for j in range(columns):
        x = common @ rng.normal(size=20) * 0.2 + rng.normal(size=n)
        amount = np.where(rng.random(n) < 0.05, np.nan, np.round(1000 * np.exp(x / 2)))
        kinds = (np.digitize(x, [0]), np.digitize(x, [-1, -0.3, 0.3, 1]), amount, np.clip(2 * x + 6, 0, 11).astype(int))
        found[f"v{j}"] = pa.array(kinds[j % 4] if j % 4 == 2 else kinds[j % 4].astype(str), from_pandas=True)
    table = pa.table(found)
    drawn = {name: table[name].take(pa.array(rng.integers(n, size=n))) for name in table.column_names}
    return table, pa.table(drawn)


def repeated(path: Path, seed: int, n: int = 1_000_000) -> pa.Table:
    """Records of a file drawn with repetition."""
    table = pyarrow.csv.read_csv(path)
    return table.take(pa.array(np.random.default_rng(seed).integers(len(table), size=n)))


def main() -> None:
    small = unveil.simulate.demo_population(200, seed=1)
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    unveil.utility(unveil.Pair(small, small), ["sex", "age"])
    data = SHARED / "data"
    if data.is_dir():
        releases = [str(data / f"sd2011_9_s5_{i}.csv") for i in range(1, 6)]
        pair = unveil.Pair(str(data / "sd2011_9.csv"), releases, special_codes={"income": [-8]})
        measure("survey, 9 variables, 5 releases", pair, models=["income ~ age + sex", "workab ~ age + sex"])
        pair = unveil.Pair(str(data / "sd2011_9.csv"), str(data / "sd2011_9_s1.csv"), special_codes={"income": [-8]})
        measure("survey, 9 variables", pair)
        files = [data / f"{name}.csv.gz" for name in ("adult", "adult_syn")]
        pair = unveil.Pair(*map(str, files))
        measure("Adult, 14 variables", pair)
        peer(pair)
        measure("a million records of Adult", unveil.Pair(*(repeated(file, i) for i, file in enumerate(files))))
    else:
        population = unveil.simulate.demo_population(10_000, seed=1)
        measure("simulated survey", unveil.Pair(population.slice(0, 5000), population.slice(5000)))
    measure("842 columns", unveil.Pair(*many_columns()))


if __name__ == "__main__":
    main()
