"""One attack person by person, and the rates of groups of persons, as columns of plain values."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.inference.attack import Attack
from unveil.inference.intervals import wilson
from unveil.inference.keys import Key
from unveil.inference.problem import Problem

__all__ = ["group_rates", "person_columns", "worst_groups"]

_QUARTERS = 4

Columns = dict[str, list[Any]]


def person_columns(run: Attack, problem: Problem) -> Columns:
    """Per original record the true value, the prediction, the score and the flag; see :meth:`Rapid.records`."""
    columns: Columns = {"record": list(range(problem.pair.n_original))}
    if problem.classes is not None and run.inferred.probability is not None:
        labels = np.array(problem.classes, dtype=object)
        shares = np.bincount(problem.truth, minlength=len(labels)) / len(problem.truth)
        return columns | {
            "truth": labels[problem.truth].tolist(),
            "prediction": labels[run.inferred.predicted].tolist(),
            "g": run.inferred.probability.tolist(),
            "b": shares[problem.truth].tolist(),
            "r": run.score.tolist(),
            "at_risk": run.at_risk.tolist(),
        }
    numbers = {"truth": problem.truth, "prediction": run.inferred.predicted, "e": run.score}
    for name, values in numbers.items():
        whole = np.full(problem.pair.n_original, None, dtype=object)
        whole[problem.counted] = values
        columns[name] = whole.tolist()
    flags = np.zeros(problem.pair.n_original, dtype=bool)
    flags[problem.counted] = run.at_risk
    return columns | {"at_risk": flags.tolist()}


def group_rates(run: Attack, problem: Problem, column: str) -> Columns:
    """The rate for each level of a column; see :meth:`Rapid.by`."""
    groups = problem.pair.column(column)
    codes = groups.original[problem.counted]
    n = np.bincount(codes, minlength=groups.n_levels)
    hits = np.bincount(codes[run.at_risk], minlength=groups.n_levels)
    # sums of scores in their order: they are not to depend on that of the records
    order = np.lexsort((run.score, codes))
    score = np.bincount(codes[order], weights=run.score[order], minlength=groups.n_levels)
    present = np.flatnonzero(n)
    ends = [wilson(int(hits[i]), int(n[i])) for i in present]
    rates = hits[present] / n[present]
    columns: Columns = {
        column: [groups.labels[i] for i in present],
        "n": n[present].tolist(),
        "n_at_risk": hits[present].tolist(),
        "rate": rates.tolist(),
        "wilson_low": [low for low, _ in ends],
        "wilson_high": [high for _, high in ends],
        "difference": (rates - run.rate).tolist(),
        "mean_score": (score[present] / n[present]).tolist(),
    }
    if column == problem.target and problem.classes is not None:
        columns["b"] = (n[present] / n.sum()).tolist()
    return columns


def worst_groups(run: Attack, problem: Problem, *, n: int, least: int) -> Columns:
    """The groups of one key or two with the highest rates; see :meth:`Rapid.worst_subgroups`."""
    table = problem.original.table
    parts = [_parts(key, codes) for key, codes in zip(table.keys, table.codes, strict=True)]
    found: list[tuple[Any, ...]] = []
    for chosen in [(i,) for i in range(len(parts))] + list(combinations(range(len(parts)), 2)):
        codes = np.zeros(len(run.at_risk), dtype=np.int64)
        for i in chosen:
            codes = codes * len(parts[i][1]) + parts[i][0]
        levels, position = np.unique(codes, return_inverse=True)
        size = np.bincount(position.ravel())
        hits = np.bincount(position.ravel()[run.at_risk], minlength=len(levels))
        for g in np.flatnonzero(size >= least):
            name, rest = [], int(levels[g])
            for i in reversed(chosen):
                rest, code = divmod(rest, len(parts[i][1]))
                name.append(f"{problem.keys[i]} {parts[i][1][code]}")
            ends = wilson(int(hits[g]), int(size[g]))
            found.append((", ".join(reversed(name)), int(size[g]), int(hits[g]), float(hits[g] / size[g]), *ends))
    top = sorted(found, key=lambda group: (-group[4], group[0]))[:n]
    names = ("group", "n", "n_at_risk", "rate", "wilson_low", "wilson_high")
    return {name: [group[i] for group in top] for i, name in enumerate(names)}


def _parts(key: Key, codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], list[str]]:
    """Levels of a key, numeric ones cut into quarters, as codes and labels."""
    if key.values is None:
        return codes.astype(np.int64), list(key.labels)
    values = key.values[codes]
    present = ~np.isnan(values)
    quarters = np.arange(1, _QUARTERS) / _QUARTERS
    cuts = np.unique(np.quantile(values[present], quarters)) if present.any() else np.array([])
    part = np.searchsorted(cuts, values, side="left")
    texts = [f"{c:g}" for c in cuts]
    labels = ["any"]
    if texts:
        labels = [f"up to {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"above {texts[-1]}"]
    return np.where(present, part, len(labels)).astype(np.int64), [*labels, "without an amount"]
