"""Cross-validation of a synthesizer: is a person safer whose record was not used?

The original is cut into folds. From all folds but one a release is made; the attack on the fold that was left out says
what anybody can be told from the release, the attack on the records that were used says what is added by having been
in. The difference is what a membership argument is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil._rapid.problem import TargetKind
from unveil._rapid.rapid import rapid
from unveil._tables.keyed_pair import as_names
from unveil.checks import check_whole_numbers
from unveil.columns.harmonise import own_levels
from unveil.columns.pair import Pair
from unveil.columns.weights import population_of
from unveil.errors import CallError
from unveil.files.distinct import distinct_of
from unveil.files.nearest import near_matches
from unveil.files.opening import open_source
from unveil.files.source import Flavour, Kind, Scalar, Source
from unveil.models.learners import TrainingTarget, fold_of, resolve
from unveil.result import Result
from unveil.stats import normal_quantile
from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew
from unveil.synthesis.record_order import value_order

_LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class RapidCV(Result):
    """RAPID of a synthesizer, of held-out persons and of those whose records were used.

    Attributes
    ----------
    keys, target
        The key variables and the target variable.
    held_out, in_sample
        Per fold (and repetition) the rate of persons left out, and of persons used for the synthesis.
    mean, sd, se
        Of the held-out rates; the standard error is ``sd / sqrt(number of folds)``.
    interval
        ``mean -+ 1.96 se``, cut at 0 and 1.
    in_sample_mean, in_sample_sd
        Of the in-sample rates.
    inclusion
        ``in_sample - held_out``, mean over the folds: what having been in the original adds.
    inclusion_interval
        Normal interval of that mean.
    warnings
        What deserves a look in the file, and in any fold.
    """

    _words = "words.rapid.cross_validation"
    _drawing = "plots.rapid.plot_cross_validation"

    keys: tuple[str, ...]
    target: str
    kind: str
    threshold: float
    attackers: tuple[str, ...]
    n: int
    held_out: tuple[float, ...]
    in_sample: tuple[float, ...]
    mean: float
    sd: float
    se: float
    interval: tuple[float, float]
    in_sample_mean: float
    in_sample_sd: float
    inclusion: float
    inclusion_interval: tuple[float, float]
    warnings: tuple[str, ...]
    flavour: Flavour

    def _columns(self) -> dict[str, Any]:
        """A row per fold."""
        folds = list(range(1, len(self.held_out) + 1))
        return {"fold": folds, "held_out": self.held_out, "in_sample": self.in_sample}


def rapid_synthesizer_cv(
    original: Any, synthesizer: Any, keys: str | Sequence[str], *, target: str, folds: int = 5, repeats: int = 1,
    attacker: Any = "rf", seed: int = 0, kind: TargetKind | None = None, kinds: Mapping[str, Kind] | None = None,
    special_codes: Mapping[str, Sequence[Scalar]] | None = None, schema: Any = None,
    progress: Callable[[int, int, str], None] | None = None, **options: Any,
) -> RapidCV:  # fmt: skip
    """Assess a synthesizer by attacking persons whose records it has not seen.

    Parameters
    ----------
    original
        The file of real records: a path or a frame.
    synthesizer
        A function from a frame (of the flavour of the original) to a frame, or an object with ``fit`` and ``sample``;
        arguments named ``seed`` and ``n`` are passed where ``sample``, or the function, has them.
    keys, target
        The key variables and the target variable.
    folds
        Number of folds; those of a categorical target hold each class in equal shares.
    repeats
        How often the folds are drawn.
    attacker, kind
        As of :func:`rapid`.
    seed
        Of folds, synthesis and attackers.
    kinds, special_codes, schema
        As of :class:`unveil.Pair`.
    progress
        Called with the number of folds done, their total, and a name.
    **options
        Further options of :func:`rapid`: ``tau``, ``epsilon``, ``metric``, ...

    Returns
    -------
    RapidCV
        Rates per fold, their mean, sd and interval, held-out and in-sample.

    Raises
    ------
    CallError
        If there are fewer records than folds, or the synthesizer is none.
    DataError
        If the synthesizer does not return a frame with the keys and the target.

    References
    ----------
    Templ, Thees & Müller (2026), arXiv:2602.09235.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.rapid_population(200, kappa=10, seed=1)
    >>> cv = rapid_synthesizer_cv(people, lambda frame: frame, ["age", "income"], target="disease_status",
    ...                           attacker="cart", folds=2)
    >>> len(cv.held_out), cv.inclusion > -0.2
    (2, True)
    """
    check_whole_numbers(2, folds=folds)
    check_whole_numbers(1, repeats=repeats)
    check_whole_numbers(0, seed=seed)
    source = open_source(original, schema=schema, label=None if isinstance(original, str) else "the original")
    if source.num_rows < folds:
        raise CallError(
            f"{folds} folds need as many records, and {source.label} has {source.num_rows}; ask for fewer folds"
        )
    # The order in which the records came is not to matter.
    source = source.part(value_order(source))
    maker, population = as_synthesizer(synthesizer), population_of(source)
    options = {"permutations": 0, "ceiling": False} | options
    if target not in source:
        raise CallError(f"{source.label} has no column {target!r}{near_matches(target, source.names)}")
    for key in as_names(keys, "key"):
        source.require(key)
    found = own_levels(distinct_of(source, target))
    declared = (kinds or {}).get(target) or source.variable(target).kind
    measured = (
        declared in ("numeric", "date", "datetime") if declared else found.family in ("number", "date", "datetime")
    )
    continuous = kind == "continuous" or (kind is None and measured and len(found.values) > 2)
    resolve(attacker, continuous)
    labels = TrainingTarget(found.codes, None if continuous else len(found.values) + 1)
    held_out: list[float] = []
    in_sample: list[float] = []
    last: Any = None
    said: list[str] = []
    for repeat in range(repeats):
        fold = fold_of(labels, folds, np.random.SeedSequence(seed, spawn_key=(repeat,)))
        for f in range(folds):
            used = source.part(np.flatnonzero(fold != f), "the records used")
            left = source.part(np.flatnonzero(fold == f), "the records left out")
            number_of_draw = seed + repeat * folds + f
            fitted = fitted_anew(maker, used, seed=number_of_draw)
            made = open_source(fitted.sample(used.num_rows, seed=number_of_draw), label="the synthesizer's release")
            for attacked, rates in ((left, held_out), (used, in_sample)):
                pair = Pair(attacked, made, kinds=kinds, special_codes=special_codes, population=population)
                last = rapid(pair, keys, target=target, attacker=attacker, kind=kind, seed=seed, **options)
                rates.append(last.rate)
                said += last.warnings
            if progress is not None:
                progress(len(held_out), repeats * folds, "folds")
    said = [*source.remarks_on([*last.keys, target]), *said]
    return _summary(last, source, held_out, in_sample, tuple(dict.fromkeys(said)))


def _summary(
    last: Any, source: Source, held_out: list[float], in_sample: list[float], said: tuple[str, ...]
) -> RapidCV:
    mean, sd = float(np.mean(held_out)), float(np.std(held_out, ddof=1))
    difference = np.array(in_sample) - np.array(held_out)
    se = sd / math.sqrt(len(held_out))
    z = normal_quantile(_LEVEL)
    spread = z * float(np.std(difference, ddof=1)) / math.sqrt(len(held_out))
    return RapidCV(
        keys=last.keys,
        target=last.target,
        kind=last.kind,
        threshold=last.threshold,
        attackers=last.attackers,
        n=source.num_rows,
        held_out=tuple(held_out),
        in_sample=tuple(in_sample),
        mean=mean,
        sd=sd,
        se=se,
        interval=(max(mean - z * se, 0.0), min(mean + z * se, 1.0)),
        in_sample_mean=float(np.mean(in_sample)),
        in_sample_sd=float(np.std(in_sample, ddof=1)),
        inclusion=float(difference.mean()),
        inclusion_interval=(float(difference.mean() - spread), float(difference.mean() + spread)),
        warnings=said,
        flavour=source.flavour,
    )
