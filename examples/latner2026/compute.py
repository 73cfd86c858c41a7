"""What Latner, Neunhoeffer & Drechsler (2026 draft) compute, on releases drawn here."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from examples.paper import Cell, Computed, data_file

import unveil

KEYS = ["sex", "age", "region", "placesize"]
SEVEN = [*KEYS, "edu", "socprof", "marital"]
TARGET = "depress"
RELEASES = 5
MANY = 20
"""Releases from which the structure of one is estimated; five say little of the spread."""
MINBUCKETS = (1, 5, 10, 20, 50, 100, 200)
SPREAD = 2 / RELEASES
"""Variance of the difference of two means of five releases, in variances of one release."""
COSTS = {
    "4 variables of 2 levels": (4, 2), "10 variables of 2 levels": (10, 2), "5 variables of 5 levels": (5, 5),
    "10 variables of 5 levels": (10, 5),
}  # fmt: skip
THEIRS = {
    "4 variables of 2 levels": "5 minutes", "10 variables of 2 levels": "10 hours", "5 variables of 5 levels": "3 days",
    "10 variables of 5 levels": "infeasible",
}  # fmt: skip
"""Time of the Bayesian risk by simulation, as printed."""

Rows = list[dict[str, Any]]


def columns_of(folder: Path | None) -> pa.Table:
    """The survey's keys and target: the paper's, or without its file a simulated one, which has fewer keys."""
    if folder is None:
        table = unveil.simulate.demo_population(5000, seed=1)
        return table.select([name for name in (*SEVEN, TARGET) if name in table.column_names])
    source = unveil.read(data_file(folder, "sd2011_21"))
    return pa.table({name: source.column(name) for name in (*SEVEN, TARGET)})


def released(survey: pa.Table, columns: Sequence[str], minbucket: int = 5, number: int = RELEASES) -> unveil.Pair:
    """Releases of some columns."""
    original = survey.select(list(columns))
    maker = unveil.CartSynthesizer(minbucket=minbucket).fit(original)
    return unveil.Pair(original, list(maker.sample(m=number, seed=1)))


def structure(survey: pa.Table) -> Rows:
    """Combinations of keys in the original and in twenty releases, with their spread; and in five of them together."""
    many = unveil.structure(released(survey, [*KEYS, TARGET], number=MANY), KEYS)
    rows = []
    for name in ("combinations_original", "combinations_synthetic", "combinations_novel", "percent_novel"):
        values = [release[name] for release in many.releases]
        rows.append({"figure": name, "mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1))})
    kept = 100 - unveil.structure(released(survey, [*KEYS, TARGET]), KEYS).union["percent_novel"]
    return [*rows, {"figure": "union_in_original", "mean": kept, "sd": math.nan}]


def key_sets(survey: pa.Table) -> Rows:
    """All sets of one to four keys: their combinations, the uniques that bound repU, and means and spread of five."""
    keys = [name for name in SEVEN if name in survey.column_names]
    original = survey.select([*keys, TARGET])
    releases = unveil.CartSynthesizer().fit(original).sample(m=RELEASES, seed=1)
    found = [unveil.key_sets(unveil.Pair(original, one), keys, target=TARGET, max_size=4).sets for one in releases]
    rows = []
    for sets in zip(*found, strict=True):
        row: dict[str, Any] = {
            "keys": " ".join(sets[0].keys), "size": len(sets[0].keys), "combinations": sets[0].combinations,
            "UiO": sets[0].measures["UiO"],
        }  # fmt: skip
        for name in ("repU", "DiSCO"):
            values = [one.measures[name] for one in sets]
            row |= {name: float(np.mean(values)), f"{name}_sd": float(np.std(values, ddof=1))}
        rows.append(row)
    return rows


def minbuckets(survey: pa.Table) -> Rows:
    """Novel combinations, repU and DiSCO by the size of the smallest leaf."""
    rows = []
    for minbucket in MINBUCKETS:
        pair = released(survey, [*KEYS, TARGET], minbucket)
        values = {
            "percent novel": [one["percent_novel"] for one in unveil.structure(pair, KEYS).releases],
            "repU": [one["repU"] for one in unveil.identity(pair, KEYS).releases],
            "DiSCO": [one["DiSCO"] for one in unveil.attribute(pair, KEYS, target=TARGET).releases],
        }
        for name, found in values.items():
            rows.append({
                "minbucket": minbucket, "measure": name, "mean": float(np.mean(found)),
                "sd": float(np.std(found, ddof=1)),
            })  # fmt: skip
    return rows


def costs() -> Rows:
    """CPU seconds of the posterior of one record among all cells, every variable unknown, 1000 records."""
    rng = np.random.default_rng(0)
    rows = []
    for name, (variables, levels) in COSTS.items():
        latent = rng.normal(size=1000)
        cuts = np.linspace(-1.2, 1.2, levels - 1) if levels > 2 else [0.0]
        values = {f"v{i}": np.digitize(latent + rng.normal(size=1000), cuts).astype(str) for i in range(variables)}
        table = pa.table(values)
        synthesizer = unveil.CartSynthesizer(collapse=False).fit(table)
        pair = unveil.Pair(table, synthesizer.sample(seed=1))
        # With ten million worlds the trees are held as they were fitted.
        kind = "fixed" if levels**variables > 1e6 else "exact"
        before = time.process_time()
        risk = unveil.posterior(pair, synthesizer, target=table.column_names, records=[0], structure=kind)
        rows.append({
            "variables": name, "worlds": risk.n_values, "structure": kind,
            "seconds": round(time.process_time() - before, 2), "posterior": risk.mean_posterior,
        })  # fmt: skip
    return rows


def desiderata() -> Rows:
    """The draft's D1 to D5, decided by the package's trials."""
    return [{"measure": measure} | dict(verdicts) for measure, verdicts in unveil.conformance().verdicts.items()]


# ------------------------------------------------------------------------------------------------ printed numbers
def numbers(results: Mapping[str, Rows]) -> Iterator[tuple[Cell, Computed]]:
    """Every number that is printed, from the rows of the results."""
    names = {
        "combinations_original": "combinations in the original", "combinations_synthetic": "combinations of a release",
        "combinations_novel": "novel combinations of a release", "percent_novel": "percent novel",
        "union_in_original": "percent of the five releases' combinations that are in the original",
    }  # fmt: skip
    for row in results["structure"]:
        # The union has no spread of its own; that of the mean share stands for it.
        spread = next(one["sd"] for one in results["structure"] if one["figure"] == "percent_novel")
        sd = spread if math.isnan(row["sd"]) else row["sd"]
        yield (
            ("Structure, means of five releases", names[row["figure"]], "value"),
            Computed(row["mean"], sd * SPREAD**0.5),
        )
    item = "98 key sets, largest by number of keys"
    for size in range(1, 5):
        own = [row for row in results["key_sets"] if row["size"] == size]
        for name in ("repU", "DiSCO"):
            largest = max(own, key=lambda row: row[name])
            yield (item, str(size), name), Computed(largest[name], largest[f"{name}_sd"] * SPREAD**0.5)
    for name in ("repU", "DiSCO"):
        value = correlation(results["key_sets"], name)
        yield (item, "correlation with the number of combinations", name), Computed(value)
    for row in results["minbuckets"]:
        cell = ("minbucket, means of five releases", str(row["minbucket"]), row["measure"])
        yield cell, Computed(row["mean"], row["sd"] * SPREAD**0.5)


def correlation(rows: Rows, name: str) -> float:
    """Pearson correlation of a measure with the number of combinations, over the sets."""
    return float(np.corrcoef([row["combinations"] for row in rows], [row[name] for row in rows])[0, 1])
