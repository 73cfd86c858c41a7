"""Prediction of real records by models trained on the release and on real records."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.draws import over_draws
from unveil._utility.measures import UtilityMeasures
from unveil._utility.prediction_scores import ERROR_OF, class_scores, number_scores, record_scores
from unveil.errors import CallError
from unveil.models.features import KeyTable
from unveil.models.learners import Attacker, TrainingTarget, fit_attacker, fold_of, resolve
from unveil.threads import in_threads

Floats = NDArray[np.float64]


def compare_prediction(
    draws: Sequence[Sequence[Compared]], targets: Sequence[str], *, learner: Any, folds: int, seed: int, threads: int,
    share: float = 1.0, step: Callable[[str], None] | None = None,
) -> tuple[UtilityMeasures, ...]:  # fmt: skip
    """Train on synthetic and test on real (TSTR), against train on real and test on real (TRTR).

    TRTR is cross-fitted: every real record is predicted by a model that was trained on the other folds. TSTR predicts
    the same records from the release.

    Parameters
    ----------
    draws
        The variables of all files; of large files those of several samples.
    targets
        Variables to be predicted, each from all others.
    learner
        The model; see :func:`learner_for`.
    folds
        Number of folds.
    seed
        Seed of folds and learner.
    threads
        Number of threads; no figure depends on it.
    share
        Share of the original that a sample is.
    step
        Called with the name of each target that is done.

    Returns
    -------
    tuple of UtilityMeasures
        One per target and score. Subject: ``target``, ``kind``, ``score``, ``learner``. Figures: ``TRTR``, ``TSTR``,
        ``difference`` (TSTR less TRTR) and its standard error ``se`` where the score is a mean over records. Of several
        samples they are means, and the standard error is also over the draw of samples; see :func:`over_draws`.
    """

    def one(place: int) -> list[UtilityMeasures]:
        found = []
        for number, variables in enumerate(draws):
            target = next(v for v in variables if v.name == targets[place])
            others = [v for v in variables if v is not target]
            stream = np.random.SeedSequence(seed, spawn_key=(place, *([number] if number else [])))
            found.append(_one(target, others, learner, folds, stream, threads))
        return found[0] if len(found) == 1 else over_draws(found, share)

    # trees let others work while they grow; other learners bring threads of their own
    workers = threads if isinstance(learner, str) and learner == "cart" else 1
    # a learner silences warnings while it is fitted; what several at once leave behind is put back here
    with warnings.catch_warnings():
        found = in_threads(one, range(len(targets)), workers, step and (lambda _, place: step(targets[place])))
    return tuple(comparison for of_target in found for comparison in of_target)


def learner_for(learner: Any, continuous: bool) -> Attacker:
    """What learns to predict numbers, or classes: "linear" is lm or logit, for others see
    :func:`unveil.models.learners.resolve`.

    Raises
    ------
    CallError
        If there is no such learner, there are several, or it does not suit the kind of target.
    """
    if isinstance(learner, str) and learner == "linear":
        learner = "lm" if continuous else "logit"
    found = resolve(learner, continuous)
    if len(found) != 1:
        raise CallError("name one learner; for several, call once for each")
    return found[0]


def _one(
    target: Compared, others: Sequence[Compared], learner: Any, folds: int, seed: np.random.SeedSequence, threads: int
) -> list[UtilityMeasures]:
    continuous = int(target.column.is_amount.sum()) > 2
    kind = "continuous" if continuous else "categorical"
    attacker = learner_for(learner, continuous)
    stream = iter(seed.spawn(folds + len(target.column.releases) + 1))
    table, y = _training(target, others, None, continuous)
    reason = _reason(y, folds)
    if reason:
        return [_undefined(target, kind, attacker.name, reason)]
    real = _cross_fitted(attacker, table, y, folds, stream, threads)
    score = number_scores if continuous else class_scores
    before = score(y.y, real)
    releases: list[dict[str, dict[str, float]]] = []
    for release in range(len(target.column.releases)):
        train, labels = _training(target, others, release, continuous)
        if not len(train):
            releases.append({name: {"TRTR": before[name], "TSTR": math.nan} for name in before})
            continue
        synthetic = fit_attacker(attacker, train, labels, next(stream), threads)(table)
        after = score(y.y, synthetic)
        releases.append({name: {"TRTR": before[name], "TSTR": after[name]} for name in before})
        apart = {n: record_scores(y.y, synthetic)[n] - record_scores(y.y, real)[n] for n in ERROR_OF[kind]}
        for name in before:
            se = float(apart[name].std(ddof=1)) / math.sqrt(len(table)) if name in apart else math.nan
            releases[-1][name] |= {"difference": after[name] - before[name], "se": se}
    return [
        UtilityMeasures.of(
            {"target": target.name, "kind": kind, "score": name, "learner": attacker.name},
            [{"difference": math.nan, "se": math.nan} | r[name] for r in releases],
            undefined={} if name in ERROR_OF[kind] else {"se": "the score is no mean over records"},
        )
        for name in before
    ]


def _training(
    target: Compared, others: Sequence[Compared], release: int | None, continuous: bool
) -> tuple[KeyTable, TrainingTarget]:
    """The records of one file that have a target; a gap of a categorical target is a class."""
    codes = [v.column.original if release is None else v.column.releases[release] for v in (target, *others)]
    table = KeyTable(tuple(v.key for v in others), np.stack(codes[1:]))
    if not continuous:
        return table, TrainingTarget(codes[0], target.column.n_levels)
    held = np.flatnonzero(target.column.is_amount[codes[0]])
    # scores have no unit, and squares of very large amounts are out of range; a power of 2 changes no digit
    exponent = int(np.frexp(np.nanmax(np.abs(target.column.amounts)))[1])
    return table.take(held), TrainingTarget(np.ldexp(target.column.amounts[codes[0][held]], -exponent), None)


def _reason(y: TrainingTarget, folds: int) -> str:
    if len(y.y) < 2 * folds:
        return f"{len(y.y)} records with a target are too few for {folds} folds"
    return "the original has a single value" if len(np.unique(y.y)) < 2 else ""


def _undefined(target: Compared, kind: str, learner: str, reason: str) -> UtilityMeasures:
    figures = dict.fromkeys(("difference", "se", "TRTR", "TSTR"), math.nan)
    subject = {"target": target.name, "kind": kind, "score": ERROR_OF[kind][0], "learner": learner}
    return UtilityMeasures.of(
        subject, [figures] * len(target.column.releases), undefined=dict.fromkeys(figures, reason)
    )


def _cross_fitted(
    attacker: Attacker, table: KeyTable, y: TrainingTarget, folds: int, stream: Any, threads: int
) -> Floats:
    """Every record as the other folds predict it."""
    # records are put in an order of their own first: folds do not depend on the order in which they came
    order = table.ordering(y.y)
    fold = np.empty(len(table), dtype=np.intp)
    fold[order] = fold_of(y.take(order), folds, next(stream))
    shape = (len(table),) if y.n_classes is None else (len(table), y.n_classes)
    predicted = np.zeros(shape)
    for f in range(folds):
        inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        predict = fit_attacker(attacker, table.take(inside), y.take(inside), next(stream), threads)
        predicted[outside] = predict(table.take(outside))
    return predicted
