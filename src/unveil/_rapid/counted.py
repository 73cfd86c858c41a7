"""RAPID of persons whom an engine counts: models of drawn records, applied to all persons where they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.counted_result import CountedRapid
from unveil._rapid.problem import numbers_of_target
from unveil._rapid.result import Rapid, over_releases
from unveil._rapid.sample import TrainingSample
from unveil._rapid.scored_cells import OneSum, ScoreCells, Scored
from unveil.columns.column import CodedColumn
from unveil.columns.counted import DrawnColumn, by_raw_code
from unveil.columns.pair import Pair
from unveil.errors import DataError
from unveil.models.features import Key, KeyTable
from unveil.models.learners import ForestPredictor, Predictor
from unveil.notes import Note
from unveil.stats import excess

Floats = NDArray[np.float64]


def over_all(found: Rapid, pair: Pair, most: int, target_na: str | float) -> CountedRapid:
    """Apply the models of drawn records to all persons.

    Parameters
    ----------
    found
        RAPID of the drawn records.
    pair
        The files, of which an engine counts the records.
    most
        Records of a file that models are trained on at most.
    target_na
        What becomes of persons without a number.
    """
    assert pair.engine is not None
    runner, column = found.runner, pair.compared(found.target)
    score = _score_of(found, column, target_na, apart=pair.original.distributed is not None)
    coded = by_raw_code(map(pair.compared, (*found.keys, found.target)))
    (sums,) = pair.engine.total(coded[:-1], [coded[-1:]], [score])
    *each, margin = sums.each
    attacks = tuple(
        dict(of_drawn) | _figures(of_drawn, one, margin) for of_drawn, one in zip(found.attacks, each, strict=True)
    )
    sample = TrainingSample.of_releases(_with_target(score, column)[1:], most)
    persons = len(runner.problem.truth)
    drawn = Note(
        f"null, ceiling, curves and groups are those of {persons} of {margin.persons} original records, drawn with "
        f"seed {runner.seed}; the rate is that of all",
        "null, ceiling, curves and groups are those of original records drawn at random; the rate is that of all",
    )
    notes = (*runner.problem.notes, *([] if sample is None else [sample.note(runner.seed)]), drawn)
    kept: dict[str, Any] = {one.name: getattr(found, one.name) for one in fields(found)}
    return CountedRapid(
        **kept
        | over_releases([run.release for run in found.runs], [one.rate for one in each])
        | {
            "attacks": attacks,
            "baseline": _baseline(found, score, column),
            "n_original": pair.n_original,
            "n_counted": margin.persons,
            "n_synthetic": pair.n_synthetic,
            "sample": sample,
            "notes": notes,
        },
        persons=persons,
        _score=replace(score, models=score.models[:-1]),
        _files=pair,
    )


def _score_of(found: Rapid, column: CodedColumn, target_na: str | float, *, apart: bool) -> ScoreCells:
    """How all persons are scored, by each attacker and then by who knows neither release nor keys."""
    runner, problem = found.runner, found.runner.problem
    keys = problem.original.table.keys
    counts = column.counts[0][: column.n_levels]
    if problem.classes is None:
        truth = _filled(column, counts, target_na, problem.pair.original.label)
        held = np.flatnonzero((counts > 0) & ~np.isnan(truth))
        shares, middle = None, np.asarray(_median(truth[held], counts[held]))
        width = _spread_of(truth[held], counts[held], runner.rule.scoring)
    else:
        truth = np.array(problem.listed, dtype=np.int32)
        shares = counts[np.argsort(truth)] / counts.sum()
        middle, width = shares, None
    none = np.zeros(0, dtype=np.int32)
    return ScoreCells(
        tuple(Key(DrawnColumn.of(key.column, [none]), key.order) for key in keys),
        tuple(
            (np.arange(key.n_levels) if key.order is None else np.argsort(key.order)).astype(np.int32) for key in keys
        ),
        truth,
        (*(_on_one_thread(run.predict) if apart else run.predict for run in found.runs), Always(middle)),
        Scored(runner.rule, runner.delta, shares, width),
    )


@dataclass(frozen=True, eq=False)
class Always:
    """Predicts the same for everybody."""

    value: Floats

    def __call__(self, table: KeyTable) -> Floats:
        """The prediction for each record."""
        return np.broadcast_to(self.value, (len(table), *self.value.shape))


def _on_one_thread(predict: Predictor) -> Predictor:
    """The attacker for a worker of Spark, which has one thread for each of its tasks."""
    if isinstance(predict, ForestPredictor):
        return replace(predict, forest=replace(predict.forest, threads=1))
    return predict


def _filled(column: CodedColumn, counts: NDArray[np.integer], target_na: str | float, label: str) -> Floats:
    """The number of each level; NaN for persons who are left out."""
    for code in column.infinite:
        if counts[code]:
            raise DataError(
                f"{label}: column {column.name!r} holds {column.label(code)}; an infinite target cannot be inferred as "
                "a number: recode it, or use kind='categorical'"
            )
    numbers = numbers_of_target(column)
    if target_na == "exclude":
        return numbers
    held = np.flatnonzero((counts > 0) & ~np.isnan(numbers))
    fill = _median(numbers[held], counts[held]) if target_na == "median" else float(target_na)
    return np.where(np.isnan(numbers), fill, numbers)


def _median(values: Floats, counts: NDArray[np.integer]) -> float:
    """The median of values that many persons have."""
    order = np.argsort(values)
    reached, n = np.cumsum(counts[order]), int(counts.sum())
    middle = np.searchsorted(reached, [(n - 1) // 2, n // 2], side="right")
    return float(values[order][middle].mean())


def _spread_of(values: Floats, counts: NDArray[np.integer], metric: str) -> float | None:
    """Standard deviation or range of values that many persons have; None where errors are in other units."""
    if metric == "range":
        return float(np.ptp(values))
    if metric != "sd":
        return None
    n = int(counts.sum())
    mean = float(values @ counts) / n
    return math.sqrt(float((values - mean) ** 2 @ counts) / max(n - 1, 1))


def _with_target(score: ScoreCells, column: CodedColumn) -> list[int]:
    """How many records of each file have a class, or a number."""
    has_one = np.ones(column.n_levels, dtype=bool) if score.scored.shares is not None else ~np.isnan(score.truth)
    return [int(counts[: column.n_levels][has_one].sum()) for counts in column.counts]


def _baseline(found: Rapid, score: ScoreCells, column: CodedColumn) -> dict[str, float]:
    if score.scored.shares is None:
        return {"median": float(score.models[-1](found.runner.problem.original.table.take(slice(1)))[0])}
    classes = found.runner.problem.classes or ()
    return {classes[code]: float(score.scored.shares[code]) for code in found.runner.problem.listed}


def _figures(of_drawn: Any, one: OneSum, margin: OneSum) -> dict[str, float]:
    """The figures of an attack that all persons give, beside those of the drawn ones."""
    null = of_drawn["null_mean"]
    found = {
        "rate": one.rate,
        "n_at_risk": one.at_risk,
        "n": one.persons,
        "margin": margin.rate,
        "excess": excess(one.rate, margin.rate if math.isnan(null) else null),
        "excess_over_margin": excess(one.rate, margin.rate),
        "mean_score": one.mean("mean_score"),
    }
    if "mae" in of_drawn:
        return found | {"mae": one.mean("mae"), "mae_margin": margin.mean("mae"), "rmse": math.sqrt(one.mean("mse"))}
    right, guessed = one.right / one.persons, margin.right / margin.persons
    return found | {
        "accuracy": right,
        "accuracy_margin": guessed,
        "accuracy_excess": excess(right, guessed),
        "mean_probability": one.mean("mean_probability"),
        "mean_probability_margin": margin.mean("mean_probability"),
    }
