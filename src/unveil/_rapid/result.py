"""The result of inference: RAPID of one target."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner
from unveil._rapid.attribution import Attribution, attribute_flags
from unveil._rapid.curves import RapidCurve, rapid_curve
from unveil._rapid.document import attack_document
from unveil._rapid.figures import attack_figures, attack_intervals, over_margin, over_rates
from unveil._rapid.groups import group_rates, person_columns, worst_groups
from unveil._rapid.power import RapidPower, rows_of
from unveil._rapid.process import process_intervals
from unveil._rapid.resampling import Resampled
from unveil._rapid.sample import TrainingSample, sampling_half, widened
from unveil._rapid.scores import class_shares
from unveil.columns.pair import Pair
from unveil.errors import CallError, UnveilWarning
from unveil.files.nearest import near_matches
from unveil.files.source import Flavour
from unveil.plain import plain, without_nan
from unveil.printable import how_many
from unveil.result import Result, columns_of, drawer
from unveil.stats import OVER, Excess, Interval, Kind, is_process, rate_interval

Floats = NDArray[np.float64]
Intervals = dict[str, tuple[float, float]]


def _spread(rates: Sequence[float]) -> float:
    """Standard deviation of rates; NaN of a single one."""
    return float(np.std(rates, ddof=1)) if len(rates) > 1 else math.nan


def over_releases(releases: Sequence[int], rates: Sequence[float]) -> dict[str, Any]:
    """Per release ``rate`` and ``envelope``, and their ``mean``, ``worst`` and ``sd``, from the rates of all attacks.

    Parameters
    ----------
    releases, rates
        Per attack the position of its release, and its rate.
    """
    each = []
    for release in sorted(set(releases)):
        own = [rate for one, rate in zip(releases, rates, strict=True) if one == release]
        each.append({"rate": sum(own) / len(own), "envelope": max(own)})
    return {
        "releases": tuple(each),
        "mean": {name: sum(r[name] for r in each) / len(each) for name in each[0]},
        "worst": {name: max(r[name] for r in each) for name in each[0]},
        "sd": {name: _spread([r[name] for r in each]) for name in each[0]},
    }


@dataclass(frozen=True, repr=False)
class Rapid(Result):
    """What models trained on one or more releases infer about the target of real persons.

    Attributes
    ----------
    keys, target
        The key variables and the target variable.
    kind
        "categorical" or "continuous".
    scoring
        How a person's score is made: a scoring of classes, or a metric of errors.
    threshold
        tau (at risk: score above it) or epsilon (at risk: error below it).
    attackers
        Names of the attackers.
    releases
        Per release: ``rate``, the mean over the attackers, and ``envelope``, their maximum.
    mean, worst, sd
        The same over the releases: the mean, the largest, and the standard deviation (NaN of a single release).
    attacks
        Per attacker and release, figures by name; see the documentation.
    baseline
        Per class its share in the original; for a continuous target its median.
    n_original, n_counted, n_synthetic
        Number of original records, of those that count, and of the records of each release.
    labels
        What the releases are called.
    sample
        How many records of each release the attackers were trained on, where these are not all.
    notes
        What the figures do not say by themselves.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        What deserves a look in the files, and what makes the figures say nothing.
    runs, runner
        The attacks as they were run, and what was asked for.
    """

    _words = "words.rapid.one_target"

    keys: tuple[str, ...]
    target: str
    kind: str
    scoring: str
    threshold: float
    attackers: tuple[str, ...]
    releases: tuple[Mapping[str, float], ...]
    mean: Mapping[str, float]
    worst: Mapping[str, float]
    sd: Mapping[str, float]
    attacks: tuple[Mapping[str, Any], ...]
    baseline: Mapping[str, float]
    n_original: int
    n_counted: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    sample: TrainingSample | None
    notes: tuple[str, ...]
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    runs: tuple[Attack, ...] = field(repr=False, compare=False)
    runner: Runner = field(repr=False, compare=False)
    _again: Callable[[Pair, int], Rapid] = field(repr=False, compare=False)
    _trained: dict[int, tuple[Sequence[Pair], list[tuple[Attack, ...]]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(
        cls, runs: Sequence[Attack], runner: Runner, attackers: Sequence[str], again: Callable[[Pair, int], Rapid]
    ) -> Rapid:
        """Gather attacks that were run, release by release; ``again`` repeats them on other files."""
        problem, rule = runner.problem, runner.rule
        figures = [
            {"attacker": run.attacker, "release": problem.pair.labels[run.release]} | attack_figures(run, runner)
            for run in runs
        ]
        if problem.classes is None:
            baseline = {"median": float(np.median(problem.truth))}
        else:
            shares = class_shares(problem.truth, len(problem.classes))
            baseline = {problem.classes[code]: float(shares[code]) for code in problem.listed}
        sample = TrainingSample.of_releases([len(one) for one in problem.releases], runner.most_records)
        return cls(
            keys=problem.keys,
            target=problem.target,
            kind=problem.kind,
            scoring=rule.scoring,
            threshold=rule.threshold,
            attackers=tuple(attackers),
            **over_releases([run.release for run in runs], [run.rate for run in runs]),
            attacks=tuple(figures),
            baseline=baseline,
            n_original=problem.pair.n_original,
            n_counted=len(problem.truth),
            n_synthetic=problem.pair.n_synthetic,
            labels=problem.pair.labels,
            sample=sample,
            notes=problem.notes if sample is None else (*problem.notes, sample.note(runner.seed)),
            unmatched=problem.unmatched,
            warnings=runner.warnings,
            flavour=problem.pair.flavour,
            unit=problem.pair.unit,
            runs=tuple(runs),
            runner=runner,
            _again=again,
        )

    @property
    def rate(self) -> float:
        """Share of persons at risk, in [0, 1]: the mean over attackers and releases."""
        return self.mean["rate"]

    @property
    def envelope(self) -> float:
        """The largest rate of any attacker on any release."""
        return self.worst["envelope"]

    @property
    def each(self) -> dict[str, dict[str, float]]:
        """Per attacker the mean and the largest (``worst``) of its rates over the releases, and their ``sd``."""
        found = {}
        for name in self.attackers:
            rates = [attack["rate"] for attack in self.attacks if attack["attacker"] == name]
            found[name] = {"mean": sum(rates) / len(rates), "worst": max(rates), "sd": _spread(rates)}
        return found

    @property
    def tau(self) -> float | None:
        """The threshold of a categorical target."""
        return self.threshold if self.kind == "categorical" else None

    @property
    def epsilon(self) -> float | None:
        """The threshold of a continuous target."""
        return self.threshold if self.kind == "continuous" else None

    @property
    def symbol(self) -> str:
        """What the threshold is called: "tau" or "epsilon"."""
        return self.runner.rule.symbol

    @property
    def permutations(self) -> int:
        """Number of shuffles of the null."""
        return len(self.runs[0].null)

    @property
    def seed(self) -> int:
        """Of all random numbers."""
        return self.runner.seed

    def to_dict(
        self, *, curve: bool = False, attribution: bool = False, by: str | Sequence[str] = ()
    ) -> dict[str, Any]:
        """The result as plain values; what is not defined is None.

        Parameters
        ----------
        curve
            Also ``curve``, the rate over a grid of thresholds: :meth:`RapidCurve.to_dict`.
        attribution
            Also ``attribution`` of each attack: :meth:`Attribution.to_dict`. Takes some seconds.
        by
            Columns; each attack then also has ``by``: per column a list of dicts with ``level`` and the figures of
            ``by_class``.

        Returns
        -------
        dict
            - ``keys``, ``target``, ``kind``, ``scoring``, ``symbol`` ("tau" or "epsilon"), ``threshold`` (also under
              its symbol), ``attackers``, ``labels`` (of the releases), ``n_original``, ``n_counted``, ``n_synthetic``,
              ``sample`` (None, or ``records`` and ``of``), ``permutations``, ``seed``, ``notes``, ``unmatched``,
              ``warnings``.
            - ``baseline``: per class its share in the original, or the ``median``.
            - ``releases``: per release ``rate`` (mean over the attackers) and ``envelope`` (their maximum); ``mean``,
              ``worst`` and ``sd`` over the releases; ``each``: per attacker ``mean``, ``worst`` and ``sd``.
            - ``attacks``: per release and attacker a dict: ``attacker``, ``release``, ``rate``, ``n_at_risk``, ``n``,
              ``margin``, ``null_mean``, ``null_95``, ``p_value``, ``ceiling``, ``excess``, ``excess_over_margin``,
              ``suggested_threshold``, ``mean_score``; of classes ``accuracy``, ``accuracy_margin``,
              ``accuracy_excess``, ``mean_probability``, ``mean_probability_margin``; of numbers ``mae``,
              ``mae_margin``, ``rmse``; ``intervals``: ``bootstrap``, ``wilson``, ``clopper_pearson``, ``excess``, each
              [low, high]; ``by_class`` (None of numbers): a list of dicts with ``class``, ``n``, ``n_at_risk``,
              ``rate``, ``wilson_low``, ``wilson_high``, ``difference``, ``mean_score``, ``b``; ``worst_subgroups``: a
              list of dicts with ``group``, ``n``, ``n_at_risk``, ``rate``, ``wilson_low``, ``wilson_high``.
        """
        columns = (by,) if isinstance(by, str) else tuple(by)
        attacks = [
            attack_document(run, self.runner, figures, intervals, by=columns, attribution=attribution)
            for run, figures, intervals in zip(self.runs, self.attacks, self.intervals(), strict=True)
        ]
        found = super().to_dict() | {
            "symbol": self.symbol,
            self.symbol: self.threshold,
            "each": self.each,
            "attacks": attacks,
            "intervals_of_mean": {kind: self.interval(kind).to_dict() for kind in OVER},
            "permutations": self.permutations,
            "seed": self.seed,
        }
        if curve:
            found["curve"] = self.curve().to_dict()
        document: dict[str, Any] = without_nan(plain(found))
        return document

    def _columns(self) -> dict[str, Any]:
        """A row per attacker and release: figures and 95 % intervals, this release."""
        rows = [{"target": self.target, **attack} for attack in self.attacks]
        for row, interval in zip(rows, self.intervals(), strict=True):
            for name, (low, high) in interval.items():
                row |= {f"{name}_low": low, f"{name}_high": high}
        return columns_of(rows)

    def run(self, release: int = 0, attacker: int | str = 0) -> Attack:
        """One attack, by number or name of the attacker.

        Raises
        ------
        CallError
            If there is no such release or attacker.
        """
        names = list(self.attackers)
        if isinstance(attacker, str):
            if attacker not in names:
                raise CallError(f"attacker {attacker!r} was not run{near_matches(attacker, names)}")
            attacker = names.index(attacker)
        if not 0 <= release < len(self.labels) or not 0 <= attacker < len(names):
            there = f"{how_many(len(self.labels), 'release')} and {how_many(len(names), 'attacker')}"
            raise CallError(f"there are {there}, counted from 0")
        return next(r for r in self.runs if r.release == release and r.attacker == names[attacker])

    def records(self, release: int = 0, attacker: int | str = 0, *, flavour: Flavour | None = None) -> Any:
        """Per original record: true value, prediction, score and whether at risk. This is confidential.

        Categorical: ``g`` (probability of the true class), ``b`` (share of the class) and the score, called ``r``.
        Continuous: the error, called ``e``; records that do not count are null.
        """
        columns = person_columns(self.run(release, attacker), self.runner.problem)
        return self._frame(columns, flavour)

    def write_records(
        self, path: str | Path, release: int = 0, attacker: int | str = 0, *, overwrite: bool = False
    ) -> None:  # fmt: skip
        """Write :meth:`records` to a file that only its owner can read. It is confidential.

        Parameters
        ----------
        path
            The file; its ending tells the format.
        release, attacker
            Which attack.
        overwrite
            Whether a file that exists may be replaced.

        Raises
        ------
        CallError
            If there is no such release or attacker, or the ending is unknown.
        FileError
            If the file exists and ``overwrite`` is not set, or cannot be written.
        """
        from unveil.files.write import write_table

        write_table(self.records(release, attacker, flavour="arrow"), path, overwrite=overwrite, confidential=True)

    def by(self, column: str, release: int = 0, attacker: int | str = 0, *, flavour: Flavour | None = None) -> Any:
        """The rate for each level of a column, with a Wilson interval and the difference to the overall rate.

        For the target of a categorical problem this is the rate per true class; ``b`` is then the class's share.
        """
        columns = group_rates(self.run(release, attacker), self.runner, column)
        return self._frame(columns, flavour)

    def by_class(self, release: int = 0, attacker: int | str = 0, *, flavour: Flavour | None = None) -> Any:
        """The rate per true class, beside the class's share b.

        Raises
        ------
        CallError
            If the target is continuous.
        """
        if self.kind != "categorical":
            raise CallError(f"{self.target!r} is continuous and has no classes; use by() with another column")
        return self.by(self.target, release, attacker, flavour=flavour)

    def worst_subgroups(
        self, release: int = 0, attacker: int | str = 0, *, n: int = 10, least: int = 30, flavour: Flavour | None = None
    ) -> Any:
        """Levels of a key, and pairs of levels of two keys, with the highest rates.

        Sorted by the lower end of the Wilson interval, so that a small group does not lead by chance. Numeric keys
        are cut into quarters of persons.

        Parameters
        ----------
        release, attacker
            Which attack.
        n
            Number of groups that are listed.
        least
            Smallest number of persons of a group.
        flavour
            Kind of frame.
        """
        columns = worst_groups(self.run(release, attacker), self.runner, n=n, least=least)
        return self._frame(columns, flavour)

    def intervals(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> list[Intervals]:
        """Per attack (attacker and release), release intervals of the rate and of its excess.

        They are over persons, with the release and the model kept. What a score takes from the other persons (class
        shares b, means of g, the spread of y) is computed anew in every resample. Of attackers trained on a sample of
        the release ``bootstrap`` and ``excess`` are over the draw of the sample too.

        Parameters
        ----------
        n
            Number of bootstrap replicates; models are not refitted.
        seed
            Seed of the draws.
        level
            Coverage, between 0 and 1.

        Returns
        -------
        list of dict
            ``bootstrap``, ``wilson``, ``clopper_pearson`` of the rate; ``excess`` of the excess over the null.
        """
        return [attack_intervals(run, self.runner, n=n, seed=seed, level=level) for run in self.runs]

    def interval(
        self, kind: Kind = "release", *, resamples: Sequence[Pair] | None = None, n: int = 500, seed: int = 0,
        level: float = 0.95,
    ) -> Interval:  # fmt: skip
        """An interval of a named kind for the rate: the mean over attackers and releases.

        Parameters
        ----------
        kind
            ``"release"``: over samples of as many records, with these releases kept. ``"process"``: over samples and
            releases made from them; it needs several releases, or resamples.
        resamples
            What :func:`unveil.synthesis.resamples` makes with the synthesizer; the attackers are trained on each.
        n, seed
            Number and seed of bootstrap replicates.
        level
            Coverage, between 0 and 1.

        Raises
        ------
        CallError
            If the kind is unknown, or the level is out of its range.
        """
        if is_process(kind, level):
            again = self._repeated(resamples)
            return process_intervals(self.runs, self.runner, [self.threshold], again, n=n, seed=seed, level=level)[0]
        return Interval("release", self.rate, *self._over_persons(n, seed, level)[1], level)

    def _over_persons(self, n: int, seed: int, level: float) -> tuple[Floats, tuple[float, float]]:
        """Resamples of the rate, and its release interval."""
        drawn = Resampled.of(self.runs, self.runner).rates([self.threshold], n=n, seed=seed)[0]
        rates: Floats = drawn.sum(axis=(2, 3)).mean(axis=1) / len(self.runs[0].at_risk)
        ends = rate_interval(self.rate, rates, self.n_counted, level)["bootstrap"]
        half = sampling_half(self.runs, [self.threshold], self.runner.rule, level)[0]
        return rates, widened(self.rate, ends, half) if half else ends

    def above_null(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> Excess:
        """The rate, mean over attackers and releases, among the means of the shuffles.

        The b-th shuffle of the mean shuffles every release. Without a null it is the excess over the margin.
        """
        drawn, ends = self._over_persons(n, seed, level)
        if not self.permutations:
            margins = Resampled.of(self.runs, self.runner).margins(n=n, seed=seed)
            return over_margin(self.rate, drawn, margins, self.runner, ends, level)
        return over_rates(self.runs, self.rate, ends, level, self.runner.rule)

    def _repeated(self, resamples: Sequence[Pair] | None) -> list[tuple[Attack, ...]] | None:
        """The same attacks on resampled originals and their releases; trained once."""
        if resamples is None:
            return None
        if id(resamples) not in self._trained:
            with warnings.catch_warnings():
                # What is to be said of the files and the models was said of the original.
                warnings.simplefilter("ignore", UnveilWarning)
                found = [self._again(part, number).runs for number, part in enumerate(resamples)]
            self._trained[id(resamples)] = (resamples, found)
        return self._trained[id(resamples)][1]

    def curve(
        self, thresholds: Sequence[float] | None = None, *, by_class: bool = False, n: int = 500, seed: int = 0,
        level: float = 0.95, kind: Kind = "release", resamples: Sequence[Pair] | None = None,
    ) -> RapidCurve:  # fmt: skip
        """The rate over a grid of thresholds, with bands of a named kind and the null; see :class:`RapidCurve`.

        Bands hold for each threshold by itself. Those of kind "process" are of the mean over the releases, one curve
        per attacker; see :meth:`interval`.
        """
        return rapid_curve(
            self.runs, self.runner, thresholds, by_class=by_class, n=n, seed=seed, level=level, kind=kind,
            again=self._repeated(resamples) if kind == "process" else None,
        )  # fmt: skip

    def attribution(
        self, release: int = 0, attacker: int | str = 0, *, repeats: int = 5, level: float = 0.95
    ) -> Attribution:
        """Which keys put persons at risk; see :class:`Attribution`."""
        return attribute_flags(self.run(release, attacker), self.runner, repeats=repeats, level=level)

    def power(self, *, rate: float | None = None, alpha: float = 0.05, power: float = 0.8) -> RapidPower:
        """How many persons it takes for the rate to stand above its null; see :class:`RapidPower`.

        Parameters
        ----------
        rate
            The rate that is to be seen, from 0 to 1; by default that of each attack.
        alpha
            Largest probability that a one-sided test takes a null that holds for a rate above it.
        power
            Probability that the test sees the rate.
        """
        return RapidPower(
            target=self.target, symbol=self.symbol, threshold=self.threshold, alpha=alpha, power=power,
            rows=rows_of(self.attacks, rate, alpha, power), warnings=self.warnings, flavour=self.flavour,
            unit=self.unit,
        )  # fmt: skip

    def plot(self, ax: Any = None) -> Any:
        """The threshold curve with the null; needs matplotlib."""
        return self.curve().plot(ax=ax)

    def plot_predictions(self, release: int = 0, attacker: int | str = 0, ax: Any = None) -> Any:
        """Predicted against true values of a continuous target, with the tolerance; needs matplotlib.

        Raises
        ------
        CallError
            If the target is categorical.
        """
        if self.kind != "continuous":
            raise CallError(f"{self.target!r} is categorical; predicted against true values are drawn of numbers only")
        return drawer("plots.rapid.plot_predictions")(self.run(release, attacker), self.runner, ax=ax)
