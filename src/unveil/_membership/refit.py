"""A synthesizer that is fitted with and without the records that are attacked.

Where no records were held out, the synthesizer itself makes them: the original is cut in halves at random, a release is
made from one half, and both are attacked; then the halves change places. What is measured is the synthesizer with half
as many records as the release that will be given out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.infer import membership
from unveil._membership.largest import Largest, contributions, largest_of
from unveil._membership.result import BASELINE, Membership
from unveil.checks import check_whole_numbers
from unveil.columns.pair import Pair
from unveil.columns.weights import population_of
from unveil.errors import CallError, DataError
from unveil.files.opening import open_source
from unveil.files.source import Flavour, Kind, Scalar
from unveil.plain import plain
from unveil.result import Result, columns_of
from unveil.stats import normal_quantile
from unveil.stats.roc import FPRS, RocFigures
from unveil.synthesis.any_synthesizer import as_synthesizer, fitted_anew
from unveil.synthesis.record_order import value_order

_LABEL = "the synthesizer's release"


@dataclass(frozen=True, repr=False)
class MembershipOfSynthesizer(Result):
    """Membership inference against a synthesizer, over random halves.

    Attributes
    ----------
    runs
        Per half and repetition, :class:`Membership` of the release made from it.
    attacks
        Names of the attacks.
    auc, auc_interval
        Per attack the mean area under the ROC curve, and its interval: normal on the scale of the area, with the mean
        of the runs' variances, as if all runs attacked the same persons; it is rather too wide.
    auc_sd
        Per attack the standard deviation over the runs.
    tpr
        Per attack the mean share of members found at each of the shares of false alarms 0.001, 0.01 and 0.1.
    largest
        The best of the attacks beside its null; see :class:`Largest`.
    n, repeats, n_releases, level, seed
        Number of records, of repetitions (two runs each), of releases made from each half and attacked together,
        coverage, and where halves and draws come from.
    warnings
        What deserves a look in the file, and in any run.
    """

    _words = "words.membership.of_synthesizer"
    _drawing = "plots.membership.plot_runs"

    runs: tuple[Membership, ...]
    attacks: tuple[str, ...]
    auc: dict[str, float]
    auc_interval: dict[str, tuple[float, float]]
    auc_sd: dict[str, float]
    tpr: dict[str, tuple[float, ...]]
    largest: Largest
    n: int
    repeats: int
    n_releases: int
    level: float
    seed: int
    warnings: tuple[str, ...]
    flavour: Flavour

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        tpr = {name: {f"{fpr:g}": hit for fpr, hit in zip(FPRS, hits, strict=True)} for name, hits in self.tpr.items()}
        copies = [plain(run.copies_together) for run in self.runs]
        return super().to_dict() | {"tpr": tpr, "baseline": BASELINE, "copies": copies}

    def _columns(self) -> dict[str, Any]:
        """A row per run and attack."""
        rows = [
            {"run": number, "attack": name, "auc": one.auc, "auc_low": one.auc_interval[0],
             "auc_high": one.auc_interval[1], **{f"tpr_{fpr:g}": hit for fpr, hit in zip(FPRS, one.tpr, strict=True)}}
            for number, run in enumerate(self.runs, start=1)
            for name, one in run.together.items()
        ]  # fmt: skip
        return columns_of(rows)


def membership_synthesizer(
    original: Any, synthesizer: Any, *, repeats: int = 3, releases: int = 1, seed: int = 0,
    kinds: Mapping[str, Kind] | None = None,
    special_codes: Mapping[str, Sequence[Scalar]] | None = None, schema: Any = None,
    progress: Callable[[int, int, str], None] | None = None, **options: Any,
) -> MembershipOfSynthesizer:  # fmt: skip
    """Attack releases made with and without each record.

    Parameters
    ----------
    original
        The file of real records: a path or a frame.
    synthesizer
        A function from a frame (of the flavour of the original) to a frame, or an object with ``fit`` and ``sample``;
        arguments named ``seed`` and ``n`` are passed where ``sample``, or the function, has them. It must hold nothing
        of the records already.
    repeats
        Number of times the original is cut; each half is attacked once.
    releases
        Number of releases that are made from each half, and attacked together: as many as will be given out.
    seed
        Seed of halves, releases and attacks.
    kinds, special_codes, schema
        As for :class:`unveil.Pair`.
    progress
        Called with the number of halves attacked, their total, and a name.
    options
        Passed on to :func:`unveil.membership`: ``columns``, ``attacks``, ``level`` and so on.

    Returns
    -------
    MembershipOfSynthesizer
        Figures on average and of every release.

    Raises
    ------
    CallError
        If an option is out of its range, or ``synthesizer`` is none.
    DataError
        If there are fewer than 4 records, or the synthesizer does not return a frame.

    References
    ----------
    Shokri et al. (2017), Membership inference attacks against machine learning models, IEEE S&P. Stadler, Oprisanu &
    Troncoso (2022), Synthetic data - anonymisation groundhog day, USENIX Security.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(200, seed=1)
    >>> found = unveil.membership_synthesizer(people, lambda frame: frame, repeats=1, attacks="dcr")
    >>> len(found.runs), found.auc["dcr"] > 0.9
    (2, True)
    """
    check_whole_numbers(1, repeats=repeats, releases=releases)
    check_whole_numbers(0, seed=seed)
    for name in ("holdout", "holdout_unseen"):
        if name in options:
            raise CallError(f"{name}: the records held out are cut from the original, before the synthesizer is fitted")
    source = open_source(original, schema=schema, label=None if isinstance(original, str) else "the original")
    if source.num_rows < 4:
        raise DataError(f"two halves need at least 4 records, and {source.label} has {source.num_rows}; give more")
    source = source.part(value_order(source))
    maker, population = as_synthesizer(synthesizer), population_of(source)
    runs: list[Membership] = []
    weights: dict[str, NDArray[np.float64]] = {}
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(source.num_rows)
        halves = np.sort(order[: source.num_rows // 2]), np.sort(order[source.num_rows // 2 :])
        for used, left in (halves, halves[::-1]):
            members = source.part(used, "the half that was used")
            others = source.part(left, "the half that was not")
            fitted = fitted_anew(maker, members, seed=seed + len(runs))
            # No two releases of any half have the same seed.
            seeds = [seed + len(runs) + 2 * repeats * number for number in range(releases)]
            made = [open_source(fitted.sample(len(used), seed=own), label=_LABEL) for own in seeds]
            pair = Pair(members, made, others, kinds=kinds, special_codes=special_codes, population=population)
            runs.append(membership(pair, holdout_unseen=True, seed=seed, **options))
            _add_weights(weights, runs[-1], used, left, 1 / (2 * repeats))
            if progress is not None:
                progress(len(runs), 2 * repeats, "halves")
    said = [*source.remarks_on(runs[0].columns), *(text for run in runs for text in run.warnings)]
    return _summary(runs, weights, (repeats, releases), seed, tuple(dict.fromkeys(said)))


def _add_weights(
    weights: dict[str, NDArray[np.float64]], run: Membership, used: NDArray[np.intp], left: NDArray[np.intp],
    share: float,
) -> None:  # fmt: skip
    """Add what the persons of one run contribute to the mean area of each attack, person by person."""
    records = run._records
    persons = np.concatenate([used[records.members.numbers], left[records.others.numbers]])
    for name, scores in run._scores[-1].items():
        total = weights.setdefault(name, np.zeros(len(used) + len(left)))
        if scores is not None:
            total[persons] += share * contributions(scores, records.is_member)


def _summary(
    runs: list[Membership],
    weights: Mapping[str, NDArray[np.float64]],
    how_often: tuple[int, int],
    seed: int,
    said: tuple[str, ...],
) -> MembershipOfSynthesizer:
    attacks, level = runs[0].attacks, runs[0].level
    z = normal_quantile(level)
    auc, interval, sd, tpr = {}, {}, {}, {}
    for name in attacks:
        figures = [run.together[name] for run in runs]
        areas = np.array([one.auc for one in figures])
        auc[name] = float(areas.mean())
        sd[name] = float(areas.std(ddof=1))
        spread = math.sqrt(float(np.mean([_standard_error(one, z) ** 2 for one in figures])))
        interval[name] = (max(auc[name] - z * spread, 0.0), min(auc[name] + z * spread, 1.0))
        tpr[name] = tuple(float(hit) for hit in np.mean([one.tpr for one in figures], axis=0))
    return MembershipOfSynthesizer(
        tuple(runs),
        attacks,
        auc,
        interval,
        sd,
        tpr,
        largest_of(auc, weights, seed),
        len(next(iter(weights.values()))),
        *how_often,
        level,
        seed,
        said,
        runs[0].flavour,
    )


def _standard_error(one: RocFigures, z: float) -> float:
    """Half the length of the interval, in normal quantiles."""
    return (one.auc_interval[1] - one.auc_interval[0]) / (2 * z)
