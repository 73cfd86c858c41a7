"""One attack person by person, and the rates of groups of persons, as columns of plain values."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.problem import Problem
from unveil._rapid.resampling import Resampled
from unveil._rapid.scores import class_shares
from unveil.models.features import Key
from unveil.stats import Groups, rate_interval, wilson

Floats = NDArray[np.float64]
_QUARTERS = 4
_DRAWS, _SEED, _LEVEL = 200, 0, 0.95
"""Of the intervals of groups."""

Columns = dict[str, list[Any]]


def person_columns(run: Attack, problem: Problem) -> Columns:
    """Per original record the true value, the prediction, the score and the flag; see :meth:`Rapid.records`."""
    columns: Columns = {name: one.to_pylist() for name, one in problem.pair.record_names().items()}
    if problem.classes is not None and run.inferred.probability is not None:
        labels = np.array(problem.classes, dtype=object)
        shares = class_shares(problem.truth, len(labels))
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


def group_rates(run: Attack, runner: Runner, column: str) -> Columns:
    """The rate for each level of a column; see :meth:`Rapid.by`."""
    problem = runner.problem
    groups = problem.pair.column(column)
    codes = groups.original[problem.counted]
    by = Groups(codes, groups.n_levels)
    hits = by.sums(run.at_risk).astype(np.int64)
    rates = hits / by.n
    drawn = Resampled.of([run], runner).groups(codes, groups.n_levels, n=_DRAWS, seed=_SEED)
    ends = [_ends(h, n, drawn[0][:, i], drawn[1][:, i]) for i, n, h in zip(by.present, by.n, hits, strict=True)]
    columns: Columns = {
        column: [groups.labels[i] for i in by.present],
        "n": by.n.tolist(),
        "n_at_risk": hits.tolist(),
        "rate": rates.tolist(),
        "wilson_low": [low for low, _ in ends],
        "wilson_high": [high for _, high in ends],
        "difference": (rates - run.rate).tolist(),
        "mean_score": by.means(run.score).tolist(),
    }
    if column == problem.target and problem.classes is not None:
        columns["b"] = (by.n / by.n.sum()).tolist()
    return columns


def worst_groups(run: Attack, runner: Runner, *, n: int, least: int) -> Columns:
    """The groups of one key or two with the highest rates; see :meth:`Rapid.worst_subgroups`."""
    problem = runner.problem
    table = problem.original.table
    parts = [_parts(key, codes) for key, codes in zip(table.keys, table.codes, strict=True)]
    found: list[tuple[Any, ...]] = []
    for chosen in [(i,) for i in range(len(parts))] + list(combinations(range(len(parts)), 2)):
        levels, position = np.unique(_crossed(parts, chosen), return_inverse=True)
        size = np.bincount(position.ravel())
        hits = np.bincount(position.ravel()[run.at_risk], minlength=len(levels))
        for g in np.flatnonzero(size >= least):
            name, rest = [], int(levels[g])
            for i in reversed(chosen):
                rest, code = divmod(rest, len(parts[i][1]))
                name.append(f"{table.keys[i].name} {parts[i][1][code]}")
            low = wilson(int(hits[g]), int(size[g]))[0]
            found.append((low, ", ".join(reversed(name)), int(size[g]), int(hits[g]), chosen, levels[g]))
    top = sorted(found, key=lambda group: (-group[0], group[1]))[:n]
    ends = _together(run, runner, [_crossed(parts, group[4]) == group[5] for group in top])
    columns: Columns = {
        name: [group[i] for group in top] for i, name in enumerate(("group", "n", "n_at_risk"), start=1)
    }
    columns["rate"] = [hits / size for hits, size in zip(columns["n_at_risk"], columns["n"], strict=True)]
    return columns | {"wilson_low": [low for low, _ in ends], "wilson_high": [high for _, high in ends]}


def _crossed(parts: list[tuple[NDArray[np.int64], list[str]]], chosen: tuple[int, ...]) -> NDArray[np.int64]:
    """The combination of some keys' levels, of every person."""
    codes = np.zeros(len(parts[0][0]), dtype=np.int64)
    for i in chosen:
        codes = codes * len(parts[i][1]) + parts[i][0]
    return codes


def _together(run: Attack, runner: Runner, members: list[NDArray[np.bool_]]) -> list[tuple[float, float]]:
    """Intervals of groups that may have persons in common."""
    if not members:
        return []
    # what a person belongs to, as one number
    belongs = np.dot(1 << np.arange(len(members)), np.array(members))
    kinds, group = np.unique(belongs, return_inverse=True)
    hits, persons = Resampled.of([run], runner).groups(group.ravel(), len(kinds), n=_DRAWS, seed=_SEED)
    ends = []
    for i, member in enumerate(members):
        inside = (kinds >> i) & 1 == 1
        drawn = hits[:, inside].sum(axis=1), persons[:, inside].sum(axis=1)
        ends.append(_ends(int(run.at_risk[member].sum()), int(member.sum()), *drawn))
    return ends


def _ends(hits: int, n: int, drawn_hits: Floats, drawn: Floats) -> tuple[float, float]:
    """Wilson's interval of a group, with the variance of its resamples."""
    rates = np.divide(drawn_hits, drawn, out=np.full(len(drawn), np.nan), where=drawn > 0)
    return rate_interval(hits / n, rates, n, _LEVEL)["wilson"]


def _parts(key: Key, codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], list[str]]:
    """Levels of a key, numeric ones cut into quarters, as codes and labels."""
    if key.kind != "numeric":
        return codes.astype(np.int64), [key.label(code) for code in range(key.n_levels)]
    values = key.column.amounts[codes]
    present = ~np.isnan(values)
    quarters = np.arange(1, _QUARTERS) / _QUARTERS
    cuts = np.unique(np.quantile(values[present], quarters)) if present.any() else np.array([])
    part = np.searchsorted(cuts, values, side="left")
    texts = [f"{c:g}" for c in cuts]
    labels = ["any"]
    if texts:
        labels = [f"up to {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"above {texts[-1]}"]
    return np.where(present, part, len(labels)).astype(np.int64), [*labels, "without an amount"]
