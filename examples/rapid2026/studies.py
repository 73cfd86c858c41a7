"""The simulation studies of the paper.

Original: ``unveil.simulate.rapid_population``, 1000 persons. Release: one CART synthesis. Target: disease_status, from
the other five variables. Figures are means over replications, each with a new population, synthesis and attacker. A
replication takes about half a minute and is kept in the folder ``parts`` when done.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import unveil
from unveil._rapid import rapid, rapid_synthesizer_cv
from unveil.synthesis import CartSynthesizer

KEYS = ["gender", "age", "education", "income", "health_score"]
TARGET = "disease_status"
KAPPAS = (0, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 50, 100)
DRAWN = (0, 5, 10, 20, 50)
TAUS = tuple(np.round(np.arange(0.05, 0.951, 0.05), 2).tolist())
PERMUTATIONS = 4

Part = dict[str, Any]
Rows = list[dict[str, Any]]


def at_kappa(kappa: float, seed: int) -> Part:
    """One population, its synthesis, and the random forest's attack; at kappa 10 the other studies too."""
    original = unveil.simulate.rapid_population(1000, kappa=kappa, seed=seed)
    pair = unveil.Pair(original, CartSynthesizer().fit(original).sample(seed=seed))
    plain: Part = {"target": TARGET, "ceiling": False, "seed": seed, "n_jobs": 1}
    result = rapid(pair, KEYS, permutations=PERMUTATIONS, **plain)
    figures = result.attacks[0]
    line = result.curve(TAUS, n=2).lines[0]
    part: Part = {name: figures[name] for name in ("rate", "accuracy", "null_mean")}
    part |= {"curve": line.rate.tolist(), "null_curve": [] if line.null_mean is None else line.null_mean.tolist()}
    if kappa == 10:
        found = result.attribution(repeats=2)
        part["coefficients"] = [
            [c.key, f"{c.level} vs {c.reference}" if c.level else "per sd", c.estimate] for c in found.coefficients
        ]
        part["importance"] = {i["key"]: i["score"] for i in found.importance}
        part["attackers"] = {"rf": [figures["rate"], figures["accuracy"]]}
        for name in ("cart", "gbm"):
            other = rapid(pair, KEYS, attacker=name, permutations=0, **plain).attacks[0]
            part["attackers"][name] = [other["rate"], other["accuracy"]]
    if kappa == 0:
        cv = rapid_synthesizer_cv(original, CartSynthesizer(), KEYS, target=TARGET, seed=seed, n_jobs=1)
        part |= {"held_out": cv.mean, "in_sample": cv.in_sample_mean}
    return part


def replication(seed: int, folder: Path) -> dict[str, Part]:
    """All attacks of one replication, from the folder if they are there."""
    path = folder / f"replication-{seed:03d}.json"
    if not path.exists():
        found = {f"{kappa:g}": at_kappa(kappa, seed) for kappa in KAPPAS}
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(found), encoding="utf-8")
        unfinished.replace(path)
    parts: dict[str, Part] = json.loads(path.read_text(encoding="utf-8"))
    return parts


def of(replications: list[dict[str, Part]], kappa: float, name: str) -> np.ndarray:
    """A figure at kappa in every replication."""
    return np.array([parts[f"{kappa:g}"][name] for parts in replications])


def kappas(replications: list[dict[str, Part]]) -> Rows:
    """Figure 5: rate, accuracy and null by strength of dependence."""
    rows = []
    for kappa in KAPPAS:
        rate, null, accuracy = (of(replications, kappa, name) for name in ("rate", "null_mean", "accuracy"))
        excess = (rate - null) / (1 - null)
        rows.append({
            "kappa": kappa, "rate": float(rate.mean()), "sd": float(rate.std(ddof=1)),
            "accuracy": float(accuracy.mean()), "null": float(null.mean()), "excess": float(excess.mean()),
        })  # fmt: skip
    return rows


def inclusion(replications: list[dict[str, Part]]) -> Rows:
    """Who is inferred at kappa 0, where nothing can be learnt of people in general."""
    rows = []
    for label, name in (("whole file, own synthesis", "rate"), ("persons used for the synthesis", "in_sample"),
                        ("persons held out", "held_out"), ("null", "null_mean")):  # fmt: skip
        values = of(replications, 0, name)
        error = float(values.std(ddof=1)) / len(values) ** 0.5
        rows.append({"persons": label, "rate": float(values.mean()), "error": error})
    return rows


def thresholds(replications: list[dict[str, Part]]) -> Rows:
    """The rate against tau, for some strengths of dependence."""
    rows = []
    for name, kappa, kind in [*((f"kappa {k}", k, "curve") for k in DRAWN), ("null, kappa 0", 0, "null_curve")]:
        mean = of(replications, kappa, kind).mean(axis=0)
        rows += [{"curve": name, "tau": tau, "rate": float(value)} for tau, value in zip(TAUS, mean, strict=True)]
    return rows


def coefficients(replications: list[dict[str, Part]]) -> Rows:
    """Figure 6: log odds of being at risk by key and level, over the replications."""
    estimates: dict[tuple[str, str], list[float]] = {}
    for found in (parts["10"]["coefficients"] for parts in replications):
        for key, level, estimate in found:
            estimates.setdefault((key, level), []).append(estimate)
    return [
        {
            "key": key, "level": level, "replications": len(values), "median": float(np.median(values)),
            "low": float(np.quantile(values, 0.1)), "high": float(np.quantile(values, 0.9)),
        }
        for (key, level), values in estimates.items()
    ]  # fmt: skip


def importance(replications: list[dict[str, Part]]) -> Rows:
    """Loss of r where a key is permuted, over the replications; the largest first."""
    found = {key: [parts["10"]["importance"][key] for parts in replications] for key in KEYS}
    rows = [
        {"key": key, "loss": float(np.mean(values)), "sd": float(np.std(values, ddof=1))}
        for key, values in found.items()
    ]
    return sorted(rows, key=lambda row: -row["loss"])


def attackers(replications: list[dict[str, Part]]) -> Rows:
    """Table 1: attackers at kappa 10 and tau 0.3."""
    rows = []
    for name in ("cart", "gbm", "rf"):
        rate, accuracy = np.array([parts["10"]["attackers"][name] for parts in replications]).T
        rows.append({
            "attacker": name, "rate": float(rate.mean()), "sd": float(rate.std(ddof=1)),
            "accuracy": float(accuracy.mean()),
        })  # fmt: skip
    return rows


def replicated(number: int, jobs: int, parts: Path) -> list[dict[str, Part]]:
    """All replications; those that are done are taken from the folder."""
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(partial(replication, folder=parts), range(number)))
