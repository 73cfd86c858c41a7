"""The call: check the arguments, then compute each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from unveil._utility.compared import Compared, compared
from unveil._utility.counted import CountedRecords, most_drawn
from unveil._utility.distributions import Distribution, distributions
from unveil._utility.formula import models_of
from unveil._utility.headline import headline
from unveil._utility.marginals import FileWeights, compare_marginals
from unveil._utility.measures import UtilityMeasures, mean_of, sd_of
from unveil._utility.pairs import compare_pairs
from unveil._utility.prediction import compare_prediction, learner_for
from unveil._utility.propensity import MODELS, Null, compare_propensity
from unveil._utility.regression import compare_models
from unveil._utility.result import Utility
from unveil._utility.sample import MOST_RECORDS, Sample, sampled_targets, samples_of
from unveil.checks import check_choice, check_shares, check_whole_numbers, some_of
from unveil.columns.drawn import is_larger
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.columns.weights import release_weights
from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.notes import Note
from unveil.threads import n_threads, one_blas_thread

MEASURES = ("propensity", "marginals", "pairs", "models", "prediction")
_EXACT = Note("variables and pairs are exact: their tables are counted over all records")
_OF_SAMPLES = (2**32 - 1,)
"""Tells the draws of samples from those of permutations and folds, which have the same seed."""
Progress = Callable[[int, int, str], None]
Step = Callable[[str], None]


@pair_first
def utility(
    pair: Pair, columns: Sequence[str] | None = None, *, measures: Sequence[str] | str = MEASURES,
    models: str | Mapping[str, Any] | Iterable[Any] = (), propensity: Sequence[str] | str = ("logistic", "cart"),
    null: Null | None = None, permutations: int = 20, minbucket: int = 20, ngroups: int = 5,
    bias_corrected: bool = False, targets: Sequence[str] | str | None = None, learner: Any = "cart", folds: int = 5,
    most_records: int | None = None, level: float = 0.95, seed: int = 0, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Utility:  # fmt: skip
    """Measure how useful releases are in place of the original.

    Parameters
    ----------
    pair
        The original and its releases.
    columns
        Variables to compare; by default all that the files share.
    measures
        Which of "propensity", "marginals", "pairs", "models", "prediction".
    models
        Regression models to fit to all files: formulas such as ``"income ~ age + sex"`` or ``"logistic: ill ~ age"``,
        or mappings with ``outcome``, ``predictors`` and perhaps ``kind``.
    propensity
        Which propensity models: "logistic" (main effects), "cart".
    null
        How the expectation of pMSE is found: "permutation" of the file a record is from, "pairs" of releases, or by
        default the formula for logistic and permutation for cart.
    permutations
        Number of permutations, spread over releases of equal size.
    minbucket
        Smallest leaf of the cart propensity model.
    ngroups
        Groups that amounts are cut into for tables, at quantiles of all files together.
    bias_corrected
        Whether Cramér's V is corrected for its bias.
    targets
        Variables that are predicted from all others; by default all columns; of more than 50
        columns a random 50, and of more than 200 fewer, at least 10.
    learner
        Model that predicts them: cart, rf, gbm, linear (logit for classes, lm for numbers), or an estimator with
        ``fit`` and ``predict_proba`` or ``predict``.
    folds
        Number of folds for models trained on real records.
    most_records
        Records of each file that models of propensity and prediction use at most: of larger files as many are drawn at
        random, with equal probability. By default 20 000 for propensity and 10 000 for prediction, which is the mean of
        five such samples. Variables and pairs are always of all records; regression models, too, but of 100 000 at most
        where an engine counts the records.
    level
        Coverage of confidence intervals, between 0 and 1.
    seed
        Seed of samples, permutations, folds and learners.
    n_jobs
        Number of threads; all by default. No figure depends on it.
    progress
        Called with the number of finished steps, of all steps, and a text.

    Returns
    -------
    Utility
        Figures per release and their mean; tables of variables, pairs, coefficients and targets. Where a part is of
        sampled records, ``samples`` says of how many, and so does a note; the standard errors of prediction are also
        over the draw of the samples, and the expectation of pMSE is that of a sample of this size.

    Raises
    ------
    CallError
        If a column, measure, model or option is unknown or out of range, or null="pairs" has a single release.
    DataError
        If files cannot be compared, or a model has no complete record.

    References
    ----------
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), General and specific utility measures for synthetic data, Journal of
    the Royal Statistical Society A 181, 663-688. Raab, Nowok & Dibben (2021), Assessing, visualizing and improving the
    utility of synthetic data, arXiv:2109.12717.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f"] * 60 + ["m"] * 40})
    >>> release = pa.table({"sex": ["f"] * 50 + ["m"] * 50})
    >>> found = unveil.utility(unveil.Pair(original, release), measures="marginals")
    >>> round(found.mean["TVD_max"], 3), round(found.mean["S_pMSE_max"], 3)
    (0.1, 4.04)
    """
    named_by, pair = pair.left_out, pair.rows
    chosen = some_of("measures", measures, MEASURES)
    fitted = some_of("propensity", propensity, MODELS)
    check_whole_numbers(0, seed=seed)
    check_whole_numbers(1, minbucket=minbucket)
    check_whole_numbers(2, permutations=permutations, ngroups=ngroups, folds=folds)
    check_shares(level=level)
    if most_records is not None:
        check_whole_numbers(1, most_records=most_records)
    threads = n_threads(n_jobs)
    check_choice("null", null, (None, "permutation", "pairs"))
    if null == "pairs" and sum(n > 0 for n in pair.n_synthetic) < 2:
        raise CallError("null='pairs' compares releases with each other and needs at least two; use permutation")
    names, notes = _columns(pair, columns, named_by)
    named = models_of(models, pair.names if columns is None else names, every=names)
    if columns is None:
        asked = {name for model in named for name in (model.outcome, *model.predictors)}
        asked.update([targets] if isinstance(targets, str) else targets or ())
        names, notes = _with_asked(pair, asked, named_by)
    predicted = _targets(targets, names)
    streams = np.random.SeedSequence(seed, spawn_key=_OF_SAMPLES).spawn(len(MOST_RECORDS) + 1)
    if targets is None and "prediction" in chosen:
        predicted = sampled_targets(predicted, streams[-1])
    if targets is None and 0 < len(predicted) < len(names):
        notes = (*notes, Note(f"prediction is of {len(predicted)} of the {len(names)} columns, drawn at random: name "
                              "targets for others"))  # fmt: skip
    if "prediction" in chosen and predicted:
        learner_for(learner, isinstance(learner, str) and learner == "lm")
    counted = None
    if is_larger(pair, most_drawn(most_records)):
        counted = CountedRecords.of(pair, names, ngroups, most_records, seed)
        notes = (*notes, *([_EXACT] if {"marginals", "pairs"} & set(chosen) else []))
    variables = compared(pair, names, ngroups) if counted is None else counted.variables
    samples: dict[str, Sample] = {}

    def drawn(part: str) -> tuple[tuple[Compared, ...], ...]:
        if counted is not None:
            kept, samples[part] = counted.samples_of(part)
            return kept
        if part not in MOST_RECORDS:
            return (variables,)
        most, stream = most_records or MOST_RECORDS[part], streams[list(MOST_RECORDS).index(part)]
        kept, sample = samples_of(variables, part, most, stream)
        if sample is not None:
            samples[part] = sample
        return kept

    def predicted_in(draws: Sequence[tuple[Compared, ...]], step: Step) -> tuple[UtilityMeasures, ...]:
        return compare_prediction(
            draws, predicted, learner=learner, folds=folds, seed=seed, threads=threads, step=step,
            share=samples["prediction"].share if "prediction" in samples else 1.0,
        )  # fmt: skip

    parts: dict[str, Callable[[Step], tuple[UtilityMeasures, ...]]] = {
        "propensity": lambda step: compare_propensity(
            drawn("propensity")[0], models=fitted, null=null, permutations=permutations, minbucket=minbucket, seed=seed,
            threads=threads, step=step,
        ),
        "marginals": lambda step: compare_marginals(variables, _weights(pair)),
        "pairs": lambda step: (
            compare_pairs(variables, corrected=bias_corrected, step=step) if counted is None
            else counted.compare_pairs(corrected=bias_corrected, step=step)
        ),
        "models": lambda step: compare_models(named, drawn("models")[0], level) if named else (),
        "prediction": lambda step: predicted_in(drawn("prediction"), step),
    }  # fmt: skip
    steps = dict.fromkeys(MEASURES, 1) | {
        "propensity": len(fitted), "pairs": max(len(names) - 1, 1), "prediction": max(len(predicted), 1)
    }  # fmt: skip
    found: dict[str, tuple[UtilityMeasures, ...]] = dict.fromkeys(MEASURES, ())
    told = _Told(progress, sum(steps[name] for name in chosen))
    with one_blas_thread():
        for name in chosen:
            found[name] = parts[name](told.begun(name))
            told.ended(steps[name])
    notes = (*notes, *(sample.note(part, seed) for part, sample in samples.items()))
    tables = (found["propensity"], found["marginals"], found["pairs"], found["models"], found["prediction"])
    releases = tuple(headline(r, *tables) for r in range(pair.n_releases))
    # Amounts are compared by distances and in groups: what matters is a group that one file lacks.
    cells = [variable.cells for variable in variables]
    return Utility(
        names, releases, mean_of(releases), sd_of(releases), *tables, pair.n_original, pair.n_synthetic, pair.labels,
        {"measures": list(chosen), "ngroups": ngroups, "propensity": list(fitted), "permutations": permutations,
         "minbucket": minbucket, "bias_corrected": bias_corrected, "folds": folds, "level": level, "seed": seed},
        samples, notes, pair.unmatched(cells), tuple(dict.fromkeys([*notes, *pair.notes(cells)])), pair.flavour,
        distributions(variables) if "marginals" in chosen else (),
    )  # fmt: skip


@dataclass
class _Told:
    """Tells how far the call is: in steps, of which each part has a number.

    Parameters
    ----------
    progress
        Who is told.
    total
        Number of steps of all parts.
    """

    progress: Progress | None
    total: int
    before: int = 0

    def begun(self, part: str) -> Step:
        """Say that a part begins, and give back what is called after each of its steps."""
        done = count(self.before)

        def step(what: str) -> None:
            if self.progress:
                self.progress(next(done), self.total, f"{part}, {what}" if what else part)

        step("")
        return step

    def ended(self, steps: int) -> None:
        """A part with so many steps has ended."""
        self.before += steps


def distributions_of(pair: Pair, names: Sequence[str], least: int, ngroups: int = 5) -> tuple[Distribution, ...]:
    """The distribution of each column in all files, with bars of so many original records at least."""
    rows = pair.rows
    if is_larger(rows, most_drawn(None)):
        return distributions(CountedRecords.of(rows, names, ngroups, None, 0).variables, least)
    return distributions(compared(rows, names, ngroups), least)


def _weights(pair: Pair) -> FileWeights | None:
    """What the records of all files stand for, where the original is a sample."""
    if pair.weights is None:
        return None
    sampled = pair.weights
    return sampled.values, tuple(release_weights(release, sampled) for release in pair.releases)


def _with_asked(pair: Pair, asked: Set[str], left_out: Sequence[str]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """The named columns, by default all, and those that a model or a prediction needs."""
    usual, notes = pair.roles.default_columns([*asked, *left_out])
    names = tuple(name for name in pair.names if name in usual or name in asked)
    return names, (*notes, *pair.roles.identifier_notes(name for name in names if name in asked))


def _columns(
    pair: Pair, columns: Sequence[str] | None, left_out: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """The columns, and notes on them and on those that are left out; where none are named, some are always left out."""
    if columns is None:
        names, notes = pair.roles.default_columns(left_out)
        if not names:
            raise CallError("; ".join(["the files have no column in common that can be compared", *notes]))
        return names, notes
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names:
        raise CallError("name at least one column")
    if len(set(names)) < len(names):
        raise CallError("a column is named twice")
    pair.require(names)
    return names, tuple(pair.roles.identifier_notes(names))


def _targets(targets: Sequence[str] | str | None, names: tuple[str, ...]) -> tuple[str, ...]:
    if targets is None:
        return names if len(names) > 1 else ()
    chosen = (targets,) if isinstance(targets, str) else tuple(targets)
    for name in chosen:
        if name not in names:
            raise CallError(f"target {name!r} is not among the columns compared{near_matches(str(name), names)}")
    if chosen and len(names) < 2:
        raise CallError("to predict a target takes at least one other column")
    return tuple(dict.fromkeys(chosen))
