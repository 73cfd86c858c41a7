"""Figure 4: the share of persons of Adult whose income is inferred, against tau, by attacker and class.

Five releases are made by the CART synthesizer; three attackers are trained on each. What is done for a release and an
attacker is kept in the folder ``parts``: a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import unveil

KEYS = ["age", "education", "marital.status", "occupation", "race", "sex"]
TAUS = tuple(np.round(np.arange(0, 0.951, 0.05), 2).tolist())
ATTACKERS = {"rf": "random forest", "gbm": "gradient boosting", "logit_l1": "logistic, L1"}
RELEASES = 5
PERMUTATIONS = 4

Part = dict[str, Any]


def keys_and_income(path: str) -> pa.Table:
    """The columns of Adult that are used."""
    source = unveil.read(path)
    return pa.table({name: source.column(name) for name in (*KEYS, "income")})


def attacked(original: pa.Table, release: Any, attacker: str, *, ceiling: bool) -> Part:
    """One release and attacker: curves of all persons and of each class, null, and the original by itself."""
    pair = unveil.Pair(original, release)
    result = unveil.rapid(
        pair, KEYS, target="income", attacker=attacker, permutations=PERMUTATIONS, ceiling=ceiling, seed=1
    )
    part: Part = {"persons": pair.n_original, "curves": {}}
    for line in result.curve(TAUS, by_class=True).lines:
        part["curves"][line.group or "all"] = [line.rate.tolist(), line.low.tolist(), line.high.tolist()]
        if line.null_mean is not None:
            part["null"] = line.null_mean.tolist()
        if line.ceiling is not None:
            part["ceiling"] = line.ceiling.tolist()
    return part


def kept(path: Path, original: pa.Table, release: Any, attacker: str, *, ceiling: bool) -> Part:
    """What was found for a release and an attacker, from its file if it is there."""
    if not path.exists():
        found = attacked(original, release, attacker, ceiling=ceiling)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(found), encoding="utf-8")
        unfinished.replace(path)
    part: Part = json.loads(path.read_text(encoding="utf-8"))
    return part


def curves(original: pa.Table, parts: Path) -> list[dict[str, Any]]:
    """A row for each attacker, class and tau: mean over the releases, outer ends of their bands, null, ceiling."""
    releases = unveil.CartSynthesizer().fit(original).sample(m=RELEASES, seed=1)
    rows = []
    for attacker in ATTACKERS:
        found = [
            kept(parts / f"adult-{attacker}-{i}.json", original, release, attacker, ceiling=i == 1)
            for i, release in enumerate(releases, start=1)
        ]
        null, ceiling = np.mean([part["null"] for part in found], axis=0), found[0]["ceiling"]
        for group in found[0]["curves"]:
            rate, low, high = (np.array([part["curves"][group][i] for part in found]) for i in range(3))
            for t, tau in enumerate(TAUS):
                rows.append({
                    "attacker": attacker, "class": group, "tau": tau, "rate": float(rate[:, t].mean()),
                    "low": float(low[:, t].min()), "high": float(high[:, t].max()),
                    "null": float(null[t]) if group == "all" else np.nan,
                    "ceiling": ceiling[t] if group == "all" else np.nan,
                })  # fmt: skip
    return rows
