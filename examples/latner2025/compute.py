"""What Latner, Neunhoeffer & Drechsler (2025) compute, and the exact posterior in place of their simulation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from examples.paper import Cell, Computed, data_file

import unveil
from unveil.simulate import latner_population
from unveil.synthesis import BayesNetworkSynthesizer, CartSynthesizer, CatallSynthesizer
from unveil.synthesis.methods import Ctree
from unveil.trees import Column

VARIABLES = ["var1", "var2", "var3", "var4"]
CELLS = [f"{cell:04b}" for cell in range(16)]
UNIQUE = 15
"""The cell 1111, in which only the last record is."""
KEYS = ["sex", "age", "region", "placesize"]
RELEASES = 100
PER_SETTING = 30
FACTORS = dict.fromkeys(VARIABLES, "categorical")
PUBLIC = {name: {"levels": [0, 1]} for name in VARIABLES}

Maker = Callable[[int], Any]
"""Makes the synthesizer of a release; its number is the seed of noise, where there is some."""
Rows = list[dict[str, Any]]
Conditions = tuple[tuple[str, int], ...]
"""Variables and their values on the way from the root to a node."""


def cart(**settings: Any) -> Maker:
    """Sequential CART; trees have no seed."""
    return lambda seed: CartSynthesizer(**settings)


def histogram(epsilon: float) -> Maker:
    """The histogram of all cells with Laplace noise, drawn anew for every release."""
    return lambda seed: CatallSynthesizer(prior=0, epsilon=epsilon, schema=PUBLIC, noise_seed=seed)


def network(epsilon: float | None) -> Maker:
    """A Bayesian network with noise, drawn anew for every release."""
    return lambda seed: BayesNetworkSynthesizer(epsilon=epsilon, schema=PUBLIC, noise_seed=seed)


SETTINGS: Mapping[str, Maker] = {
    "numbers": cart(),
    "minbucket 25": cart(minbucket=25),
    "minbucket 50": cart(minbucket=50),
    "minbucket 75": cart(minbucket=75),
    "cp 0.0001": cart(cp=1e-4),
    "cp 0.01": cart(cp=0.01),
    "cp 0.05": cart(cp=0.05),
    "factors": cart(kinds=FACTORS),
    "ctree": cart(methods="ctree"),
    "ctree, factors": cart(methods="ctree", kinds=FACTORS),
    "network": network(None),
    "network, epsilon 0.1": network(0.1),
    "network, epsilon 1": network(1.0),
    "network, epsilon 10": network(10.0),
}
"""The paper's settings, by name: the first is its default, the four variables being numbers."""
WORLDS = ("numbers", "minbucket 75", "cp 0.05", "network, epsilon 1")
"""Settings in which the sixteen worlds are drawn."""
TREES = ("numbers", "factors", "minbucket 75", "cp 0.05", "ctree")
"""Settings whose trees are drawn side by side."""
SWEEPS: Mapping[str, Mapping[str, Maker]] = {
    "minbucket": {f"{k}": cart(minbucket=k) for k in (5, 10, 25, 50, 75, 100, 150, 250)},
    "cp": {f"{cp:g}": cart(cp=cp) for cp in (1e-8, 1e-4, 1e-3, 0.01, 0.02, 0.05)},
    "coding and method": {
        "numbers": cart(), "factors": cart(kinds=FACTORS),
        "factors, no collapse": cart(kinds=FACTORS, collapse=False), "ctree": cart(methods="ctree"),
    },
    "histogram with noise, epsilon": {f"{epsilon:g}": histogram(epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0)},
}  # fmt: skip
"""Settings for which the posterior is computed."""


def drawn_with_noise(setting: str) -> bool:
    """Whether a fit is random, so that every release needs one of its own."""
    return "epsilon" in setting


def files(folder: Path | None) -> tuple[pa.Table, list[pa.Table]]:
    """The original and ten releases: the paper's, or without them simulated ones."""
    if folder is None:
        original = latner_population(1000, seed=1)
        return original, CartSynthesizer().fit(original).sample(m=10, seed=1)
    names = ["latner_original", *(f"latner_syn{k:02d}" for k in range(1, 11))]
    original, *releases = (pyarrow.csv.read_csv(data_file(folder, name)) for name in names)
    return original, releases


def counts(table: pa.Table) -> np.ndarray:
    """(16,) records by cell."""
    cell = sum(table.column(name).to_numpy().astype(int) << (3 - i) for i, name in enumerate(VARIABLES))
    return np.bincount(cell, minlength=16)


def with_last(original: pa.Table, cell: int) -> pa.Table:
    """The original with its last record in another cell: one of the sixteen worlds."""
    bits = {name: (cell >> (3 - i)) & 1 for i, name in enumerate(VARIABLES)}
    return pa.table({name: [*original.column(name).to_pylist()[:-1], bits[name]] for name in VARIABLES})


def risk_of(original: pa.Table, release: pa.Table, synthesizer: Any) -> Any:
    """Posterior of the last record's cell among sixteen."""
    pair = unveil.Pair(original, release)
    return unveil.posterior(pair, synthesizer, target=VARIABLES, records=[original.num_rows - 1])


def released(original: pa.Table, setting: str, number: int) -> np.ndarray:
    """(number, 16) records by cell, of releases of an original under a setting."""
    make = SETTINGS[setting]
    if drawn_with_noise(setting):
        return np.array([counts(make(i).fit(original).sample(seed=i)) for i in range(number)])
    tables = make(0).fit(original).sample(m=number, seed=1)
    return np.array([counts(table) for table in tables])


# ---------------------------------------------------------------------------------------------------------- tables
def records_by_cell(original: pa.Table, releases: Sequence[pa.Table]) -> Rows:
    """Table A.1: records by cell, of the original and the releases."""
    by_file = {"original": counts(original)} | {f"S{k}": counts(table) for k, table in enumerate(releases, start=1)}
    return [{"cell": name} | {file: int(found[i]) for file, found in by_file.items()} for i, name in enumerate(CELLS)]


def measures(original: pa.Table, releases: Sequence[pa.Table]) -> Rows:
    """Tables 1 and A.2: replicated uniques, DiSCO, and the posterior of all sixteen cells, for each release."""
    synthesizer = CartSynthesizer().fit(original)
    rows = []
    for k, release in enumerate(releases, start=1):
        pair = unveil.Pair(original, release)
        posterior = risk_of(original, release, synthesizer).posteriors().probabilities[0]
        identity = unveil.identity(pair, VARIABLES[:3])
        attribute = unveil.attribute(pair, VARIABLES[:3], target="var4")
        rows.append({
            "release": f"S{k}", "repU": identity.repU, "DiSCO": attribute.DiSCO,
            "records": int(counts(release)[UNIQUE]),
        } | {f"p{name}": float(p) for name, p in zip(CELLS, posterior, strict=True)})  # fmt: skip
    return rows


def survey(folder: Path) -> Rows:
    """Table A.3: releases of Social Diagnosis 2011, as drawn and with one value for everybody."""
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    whole = pyarrow.csv.read_csv(data_file(folder, "sd2011_9"), convert_options=options)
    original = whole.select([*KEYS, "depress"])
    synthesizer = CartSynthesizer().fit(original)
    rows = []
    for name, called in (("sd2011_5_latner", "as drawn"), ("sd2011_5_latner_modified", "depress 0 for all")):
        pair = unveil.Pair(original, [data_file(folder, f"{name}_{k}") for k in range(1, 6)])
        identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="depress")
        risk = unveil.posterior(pair, synthesizer, target="depress", structure="fixed", releases="each")
        repu, disco = (
            [one[measure] for one in found.releases] for measure, found in (("repU", identity), ("DiSCO", attribute))
        )
        rows.append({
            "releases": called, "UiO": identity.UiO, "Dorig": attribute.Dorig, "repU": identity.repU,
            "repU_sd": float(np.std(repu, ddof=1)), "DiSCO": attribute.DiSCO, "DiSCO_sd": float(np.std(disco, ddof=1)),
            "posterior": risk.mean_posterior,
        })  # fmt: skip
    return rows


# --------------------------------------------------------------------------------------------------------- figures
def settings(original: pa.Table, number: int = RELEASES) -> Rows:
    """Records by cell over many releases under each setting, and how many of these hold 1111 how often."""
    rows = []
    for setting in SETTINGS:
        found = released(original, setting, number)
        for i, name in enumerate(CELLS):
            low, high = np.quantile(found[:, i], [0.05, 0.95])
            rows.append({
                "setting": setting, "cell": name, "mean": float(found[:, i].mean()),
                "sd": float(found[:, i].std(ddof=1)), "low": float(low), "high": float(high),
                "without": int((found[:, i] == 0).sum()), "once": int((found[:, i] == 1).sum()),
                "twice": int((found[:, i] == 2).sum()), "thrice": int((found[:, i] == 3).sum()),
            })  # fmt: skip
    return rows


def worlds(original: pa.Table, number: int = RELEASES) -> Rows:
    """Figure 3 and the slides: how many releases hold how many records 1111, in each of the sixteen worlds."""
    rows = []
    for setting in WORLDS:
        for cell, name in enumerate(CELLS):
            held = released(with_last(original, cell), setting, number)[:, UNIQUE]
            for value, times in zip(*np.unique(held, return_counts=True), strict=True):
                rows.append({"setting": setting, "world": name, "records": int(value), "releases": int(times)})
    return rows


def sweeps(original: pa.Table, number: int = PER_SETTING) -> Rows:
    """The exact posterior of 1111 under several settings, a row for each release."""
    rows = []
    for sweep, makers in SWEEPS.items():
        for value, make in makers.items():
            for seed in range(number):
                synthesizer = make(seed).fit(original)
                release = synthesizer.sample(seed=seed)
                risk = risk_of(original, release, synthesizer)
                held = risk.releases[0].get("fixed", {}).get("mean_posterior", math.nan)
                bound = math.exp(float(value)) / (math.exp(float(value)) + 15) if "epsilon" in sweep else math.nan
                rows.append({
                    "sweep": sweep, "value": value, "posterior": risk.mean_posterior, "fixed": held,
                    "records": int(counts(release)[UNIQUE]), "bound": bound,
                })  # fmt: skip
    return rows


# ----------------------------------------------------------------------------------------------------------- trees
def trees(original: pa.Table) -> Rows:
    """The fitted trees of var4 under five settings, a row for each node in the order of visit, the left child first."""
    rows = []
    for setting in TREES:
        found = ctree_paths(original) if setting == "ctree" else cart_paths(original, setting)
        for path, leaf in found:
            chosen = np.ones(original.num_rows, dtype=bool)
            for name, value in path:
                chosen &= original.column(name).to_numpy() == value
            rows.append({
                "setting": setting, "depth": len(path), "condition": "{} = {}".format(*path[-1]) if path else "all",
                "records": int(chosen.sum()), "ones": float(original.column("var4").to_numpy()[chosen].mean()),
                "leaf": int(leaf),
            })  # fmt: skip
    return rows


def cart_paths(original: pa.Table, setting: str) -> Iterator[tuple[Conditions, bool]]:
    """Each node of a tree by the values that lead to it, and whether it is a leaf."""
    fitted = SETTINGS[setting](0).fit(original).trees()["var4"].tree
    path: Conditions = ()
    for line in fitted.to_text().splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        found = re.match(r"(\w+) (?:(<|>=) 0.5|in \{(\d)\})", line.strip())
        path = path[: max(depth - 1, 0)]
        if found:
            path = (*path, (found[1], int(found[3] or found[2] == ">=")))
        yield path, "leaf" in line


def ctree_paths(original: pa.Table) -> Iterator[tuple[Conditions, bool]]:
    """The same of a conditional inference tree."""
    columns = [Column.from_values(original.column(name).to_numpy().astype(float)) for name in VARIABLES]
    fitted = Ctree().fit(columns[3], columns[:3], np.random.default_rng(1))
    waiting: list[tuple[int, Conditions]] = [(0, ())]
    while waiting:
        i, path = waiting.pop()
        node = fitted.nodes[i]
        yield path, node.leaf >= 0
        if node.leaf < 0:
            name = VARIABLES[node.feature]
            waiting += [(node.right, (*path, (name, 1))), (i + 1, (*path, (name, 0)))]


# -------------------------------------------------------------------------------------------------- printed numbers
def numbers(results: Mapping[str, Rows]) -> Iterator[tuple[Cell, Computed]]:
    """Every number that is printed, from the rows of the results."""
    for row in results["cells"]:
        for name in list(row)[1:]:
            yield ("Table A.1, records by cell", row["cell"], name), Computed(row[name])
    item = "Tables 1 and A.2, keys var1 to var3, target var4"
    for row in results["measures"]:
        for column, name in (("repU", "repU"), ("DiSCO", "DiSCO"), ("posterior of 1111", "p1111")):
            yield (item, row["release"], column), Computed(row[name])
    for column in ("repU", "DiSCO"):
        yield (item, "mean", column), Computed(float(np.mean([row[column] for row in results["measures"]])))
    unique = {row["setting"]: row for row in results["settings"] if row["cell"] == CELLS[UNIQUE]}
    for times, name in enumerate(("without", "once", "twice", "thrice")):
        share = unique["numbers"][name] / RELEASES
        error = RELEASES * math.sqrt(2 * share * (1 - share) / RELEASES)
        yield ("100 releases, by records 1111", str(times), "releases"), Computed(RELEASES * share, error)
    for setting, row in unique.items():
        cell = ("Reference implementation (synthpop 1.9-2, R), 100 releases", setting, "mean records 1111")
        yield cell, Computed(row["mean"], row["sd"] * math.sqrt(2 / RELEASES))
    possible = {row["world"] for row in results["worlds"] if row["setting"] == "numbers" and row["records"]}
    yield ("Figure 3", "worlds that ever release 1111", "of 16"), Computed(len(possible))
    for row in results.get("survey", []):
        for name in ("UiO", "Dorig", "repU", "DiSCO"):
            error = row.get(f"{name}_sd", 0.0) * math.sqrt(2 / 5)
            yield (
                ("Table A.3, Social Diagnosis 2011, means of five releases", row["releases"], name),
                Computed(row[name], error),
            )
