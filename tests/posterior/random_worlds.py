"""Random files, synthesizers and questions about single records."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from posterior.brute_force import DAY, fitted, levels_of

OTHERS = ("ctree", "logreg", "polyreg", "pmm", "normrank", "norm", "rf")
FAR = {
    "number": [10**6, -7, 5],
    "real": [1e9, -0.125, 0.5],
    "day": [datetime.date(1960, 2, 29)],
    "text": ["?", "b"],
    "constant": ["other"],
    "recoded": [99, 4],
}


@dataclass
class World:
    """A file, what made its releases, and a question."""

    table: pa.Table
    settings: dict[str, Any]
    releases: list[pa.Table]
    target: str
    known: list[str]
    candidates: list[Any] | None
    prior: Any
    records: list[int]
    kind: dict[str, str] = field(default_factory=dict)

    @property
    def hidden(self):
        """Variables that are neither known nor asked for."""
        return [name for name in self.table.column_names if name != self.target and name not in self.known]

    @property
    def named(self):
        """Values in question in their order: the candidates, then the truths that are none."""
        column = self.table.column(self.target).to_pylist()
        first = list(dict.fromkeys(self.candidates or []))
        levels = levels_of(self.target, self.table, self.releases)
        if not self.candidates:
            return levels
        return first + [v for v in levels if v not in first and v in [column[r] for r in self.records]]


def column_of(rng, kind, n, earlier):
    """Values of one column, somewhat dependent on those before it."""
    latent = sum(((np.unique(np.array([str(v) for v in c]), return_inverse=True)[1] % 5) for c in earlier), np.zeros(n))
    latent = latent + 1.5 * rng.normal(size=n)
    gaps = rng.random(n) < (0.12 if rng.random() < 0.5 else 0.0)
    if kind == "text":
        levels = list("abcd")[: rng.integers(2, 5)]
        values = [levels[int(v)] for v in np.clip(np.floor(latent / 2), 0, len(levels) - 1)]
        if rng.random() < 0.3:
            values[rng.integers(n)] = "once"
    elif kind == "truth":
        values = [bool(v) for v in latent > np.median(latent)]
        values[:2] = [True, False]
    elif kind == "number":
        values = [int(v) for v in np.round(latent)]
        if rng.random() < 0.4:
            values = [-8 if u < 0.15 else v for u, v in zip(rng.random(n), values, strict=True)]
    elif kind == "real":
        values = [float(v) for v in (np.round(latent * 2) / 2 if rng.random() < 0.5 else np.round(latent, 1) + 1 / 3)]
    elif kind == "day":
        values, gaps = [DAY + datetime.timedelta(days=int(v)) for v in np.round(latent)], np.zeros(n, bool)
    elif kind == "constant":
        return ["same"] * n
    else:
        codes = np.unique(np.array([str(v) for v in earlier[-1]]), return_inverse=True)[1]
        return [int(code) * 3 + 1 for code in codes]
    return [None if gap else value for gap, value in zip(gaps, values, strict=True)]


def method_for(rng, kind):
    """A method that can model the kind, other than the two that copy donors of a leaf."""
    if kind in ("number", "real", "day"):
        return str(rng.choice(["ctree", "pmm", "normrank", "norm", "rf"]))
    return str(rng.choice(["ctree", "polyreg", "rf"]))


def random_world(seed):
    """One world; kinds of file, synthesizer and question follow from the seed."""
    rng = np.random.default_rng([seed, 23])
    n = int(rng.choice([20, 35, 60, 110, 200]))
    names = list("wxyz")[: rng.integers(2, 5)]
    kinds, columns = {}, []
    for i, name in enumerate(names):
        p = [0.34, 0.12, 0.26, 0.12, 0.06, 0.05, 0.05] if i else [0.4, 0.15, 0.3, 0.15, 0, 0, 0]
        kinds[name] = str(rng.choice(["text", "truth", "number", "real", "day", "constant", "recoded"], p=p))
        columns.append(column_of(rng, kinds[name], n, columns))
    order = [names[i] for i in rng.permutation(len(names))]
    table = pa.table(dict(zip(names, columns, strict=True))).select(order)
    settings = {
        "minbucket": int(rng.choice([1, 2, 5, 12])),
        "cp": float(rng.choice([0.0, 1e-8, 1e-3, 1e-2])),
        "collapse": bool(rng.random() < 0.5),
    }
    special = [name for name in names if kinds[name] == "number" and rng.random() < 0.6]
    if special:
        settings["special_codes"] = {name: [-8] for name in special}
    if rng.random() < 0.4:
        settings["visit_order"] = [names[i] for i in rng.permutation(len(names))]
    visited = settings.get("visit_order", order)
    if rng.random() < 0.3:
        last = visited[-1]
        settings["predictors"] = {last: [v for v in visited[:-1] if rng.random() < 0.5]}
    _methods(rng, settings, names, kinds)
    if rng.random() < 0.05:
        text = next((v for v in visited if kinds[v] == "text"), None)
        later = [v for v in visited if text and visited.index(v) > visited.index(text) and kinds[v] == "truth"]
        if later:
            settings["rules"] = {later[-1]: [(f"{text} == 'a'", True)]}
    m = int(rng.choice([1, 2, 3], p=[0.6, 0.2, 0.2]))
    synthesizer = fitted(settings, table)
    releases = [synthesizer.sample(int(n * rng.choice([0.5, 1])) or 1, seed=seed + r) for r in range(m)]
    target = names[rng.integers(len(names))]
    others = [name for name in names if name != target]
    known = others
    if rng.random() < 0.2 and kinds[others[0]] in ("text", "truth"):
        known = others[1:]
    values = table.column(target).to_pylist()
    records = [int(rng.integers(n)), min(range(n), key=lambda r: (values.count(values[r]), r))]
    records = list(dict.fromkeys(records))
    world = World(table, settings, releases, target, known, None, "uniform", records, kinds)
    if rng.random() < 0.6:
        world.candidates = _candidates(rng, world)
    world.prior = str(rng.choice(["uniform", "marginal", "conditional", "array"]))
    if world.prior == "array":
        world.prior = [float(v) for v in rng.random(len(world.named)) + 0.01]
    return world


def _methods(rng, settings, names, kinds):
    which = rng.random()
    if which < 0.15:
        settings["methods"] = "sample"
    elif which < 0.45:
        settings["methods"] = {name: "sample" for name in names if rng.random() < 0.5}
    elif which < 0.6:
        settings["methods"] = {name: method_for(rng, kinds[name]) for name in names[-1:]}
    elif which < 0.65:
        settings["methods"] = {name: method_for(rng, kinds[name]) for name in names}
    elif which < 0.68:
        settings["smoothing"] = "density"
    elif which < 0.71:
        settings["proper"] = True


def _candidates(rng, world):
    levels = levels_of(world.target, world.table, world.releases)
    chosen = [levels[i] for i in rng.permutation(len(levels))[: rng.integers(1, 6)]]
    if rng.random() < 0.4:
        chosen += FAR.get(world.kind[world.target], [])
    if rng.random() < 0.2:
        chosen.append(None)
    if rng.random() < 0.2:
        chosen.append(chosen[0])
    return chosen


def mixed(world, mix, seed):
    """The same file and question, with releases of trees that mix donors of leaves and columns."""
    settings = {name: value for name, value in world.settings.items() if name not in ("methods", "smoothing")} | {
        "mix": mix
    }
    maker = fitted(settings, world.table)
    releases = [maker.sample(one.num_rows, seed=seed + r) for r, one in enumerate(world.releases)]
    return replace(world, settings=settings, releases=releases)
