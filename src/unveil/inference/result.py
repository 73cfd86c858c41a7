"""The results of inference: what they hold, and how they are shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.inference.attack import Attack, Runner
from unveil.inference.attribution import Attribution, attribute_flags
from unveil.inference.curves import RapidCurve, rapid_curve
from unveil.inference.figures import attack_figures, attack_intervals
from unveil.inference.intervals import wilson
from unveil.microdata.nearest import near_matches
from unveil.microdata.source import Flavour
from unveil.result import frame, number, paragraph, text_table

__all__ = ["Rapid", "Rapids"]

Intervals = dict[str, tuple[float, float]]
_QUARTERS = 4


@dataclass(frozen=True)
class Rapid:
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
    notes
        What the figures do not say by themselves.
    """

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
    notes: tuple[str, ...]
    _runs: tuple[Attack, ...] = field(repr=False, compare=False)
    _runner: Runner = field(repr=False, compare=False)

    @classmethod
    def of(cls, runs: Sequence[Attack], runner: Runner, attackers: Sequence[str]) -> Rapid:
        """Gather attacks that were run, release by release."""
        problem, rule = runner.problem, runner.rule
        figures = [
            {"attacker": run.attacker, "release": problem.pair.labels[run.release]} | attack_figures(run, runner)
            for run in runs
        ]
        per_release = []
        for release in range(problem.pair.n_releases):
            rates = [run.rate for run in runs if run.release == release]
            per_release.append({"rate": sum(rates) / len(rates), "envelope": max(rates)})
        if problem.classes is None:
            baseline = {"median": float(np.median(problem.truth))}
        else:
            shares = np.bincount(problem.truth, minlength=len(problem.classes)) / len(problem.truth)
            baseline = {problem.classes[code]: float(shares[code]) for code in problem.listed}
        return cls(
            keys=problem.keys,
            target=problem.target,
            kind=problem.kind,
            scoring=rule.scoring,
            threshold=rule.threshold,
            attackers=tuple(attackers),
            releases=tuple(per_release),
            mean={name: sum(r[name] for r in per_release) / len(per_release) for name in per_release[0]},
            worst={name: max(r[name] for r in per_release) for name in per_release[0]},
            sd={
                name: float(np.std([r[name] for r in per_release], ddof=1)) if len(per_release) > 1 else math.nan
                for name in per_release[0]
            },
            attacks=tuple(figures),
            baseline=baseline,
            n_original=problem.pair.n_original,
            n_counted=len(problem.truth),
            n_synthetic=problem.pair.n_synthetic,
            labels=problem.pair.labels,
            notes=problem.notes,
            _runs=tuple(runs),
            _runner=runner,
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
    def tau(self) -> float | None:
        """The threshold of a categorical target."""
        return self.threshold if self.kind == "categorical" else None

    @property
    def epsilon(self) -> float | None:
        """The threshold of a continuous target."""
        return self.threshold if self.kind == "continuous" else None

    @cached_property
    def _default_intervals(self) -> list[Intervals]:
        return self.intervals()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return {
            "keys": list(self.keys),
            "target": self.target,
            "kind": self.kind,
            "scoring": self.scoring,
            self._runner.rule.symbol: self.threshold,
            "attackers": list(self.attackers),
            "releases": [dict(r) for r in self.releases],
            "mean": dict(self.mean),
            "worst": dict(self.worst),
            "sd": dict(self.sd),
            "attacks": [
                dict(a) | {"intervals": {name: list(ends) for name, ends in i.items()}}
                for a, i in zip(self.attacks, self._default_intervals, strict=True)
            ],
            "baseline": dict(self.baseline),
            "n_original": self.n_original,
            "n_counted": self.n_counted,
            "n_synthetic": list(self.n_synthetic),
            "labels": list(self.labels),
            "permutations": len(self._runs[0].null),
            "seed": self._runner.seed,
            "notes": list(self.notes),
        }

    def _rows(self) -> dict[str, list[Any]]:
        rows: dict[str, list[Any]] = {"target": [self.target] * len(self.attacks)}
        for name in self.attacks[0]:
            rows[name] = [attack[name] for attack in self.attacks]
        for name in ("bootstrap", "wilson", "clopper_pearson", "excess"):
            for end, side in ((0, "low"), (1, "high")):
                rows[f"{name}_{side}"] = [interval[name][end] for interval in self._default_intervals]
        return rows

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per attacker and release: figures and 95 % intervals."""
        return frame(self._rows(), flavour or self._runner.problem.pair.flavour)

    def _run(self, release: int, attacker: int | str) -> Attack:
        names = list(self.attackers)
        if isinstance(attacker, str):
            if attacker not in names:
                raise CallError(f"attacker {attacker!r} was not run{near_matches(attacker, names)}")
            attacker = names.index(attacker)
        if not 0 <= release < len(self.labels) or not 0 <= attacker < len(names):
            raise CallError(f"there are {len(self.labels)} release(s) and {len(names)} attacker(s), counted from 0")
        return next(r for r in self._runs if r.release == release and r.attacker == names[attacker])

    def records(self, release: int = 0, attacker: int | str = 0, *, flavour: Flavour | None = None) -> Any:
        """Per original record: true value, prediction, score and whether at risk. This is confidential.

        Categorical: ``g`` (probability of the true class), ``b`` (share of the class) and the score, called ``r``.
        Continuous: the error, called ``e``; records that do not count are null.
        """
        run, problem = self._run(release, attacker), self._runner.problem
        columns: dict[str, Any] = {"record": np.arange(self.n_original)}
        if problem.classes is not None and run.inferred.probability is not None:
            labels = np.array(problem.classes, dtype=object)
            b = np.array([self.baseline[label] for label in problem.classes])
            columns |= {
                "truth": labels[problem.truth].tolist(),
                "prediction": labels[run.inferred.predicted].tolist(),
                "g": run.inferred.probability,
                "b": b[problem.truth],
                "r": run.score,
                "at_risk": run.at_risk,
            }
        else:
            numbers = {"truth": problem.truth, "prediction": run.inferred.predicted, "e": run.score}
            for name, values in numbers.items():
                whole = np.full(self.n_original, np.nan)
                whole[problem.counted] = values
                columns[name] = [None if math.isnan(v) else v for v in whole.tolist()]
            flags = np.zeros(self.n_original, dtype=bool)
            flags[problem.counted] = run.at_risk
            columns["at_risk"] = flags
        return frame(columns, flavour or problem.pair.flavour)

    def by(self, column: str, release: int = 0, attacker: int | str = 0, *, flavour: Flavour | None = None) -> Any:
        """The rate for each level of a column, with a Wilson interval and the difference to the overall rate.

        For the target of a categorical problem this is the rate per true class; ``b`` is then the class's share.
        """
        run, problem = self._run(release, attacker), self._runner.problem
        groups = problem.pair.column(column)
        codes = groups.original[problem.counted]
        n = np.bincount(codes, minlength=groups.n_levels)
        k = np.bincount(codes, weights=run.at_risk, minlength=groups.n_levels)
        order = np.lexsort((run.score, codes))
        score = np.bincount(codes[order], weights=run.score[order], minlength=groups.n_levels)
        present = np.flatnonzero(n)
        ends = [wilson(int(k[i]), int(n[i])) for i in present]
        rates = k[present] / n[present]
        columns = {
            column: [groups.labels[i] for i in present],
            "n": n[present],
            "rate": rates,
            "wilson_low": [low for low, _ in ends],
            "wilson_high": [high for _, high in ends],
            "difference": rates - run.rate,
            "mean_score": score[present] / n[present],
        }
        if column == self.target and problem.classes is not None:
            columns["b"] = n[present] / n.sum()
        return frame(columns, flavour or problem.pair.flavour)

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
        run, problem = self._run(release, attacker), self._runner.problem
        parts = [_parts(problem.original.table.keys[i], codes) for i, codes in enumerate(problem.original.table.codes)]
        found: list[tuple[str, int, float, float, float]] = []
        sets = [(i,) for i in range(len(parts))] + list(combinations(range(len(parts)), 2))
        for chosen in sets:
            codes = np.zeros(len(run.at_risk), dtype=np.int64)
            for i in chosen:
                codes = codes * len(parts[i][1]) + parts[i][0]
            levels, position = np.unique(codes, return_inverse=True)
            size = np.bincount(position)
            hits = np.bincount(position, weights=run.at_risk)
            for g in np.flatnonzero(size >= least):
                low, high = wilson(int(hits[g]), int(size[g]))
                name, rest = [], int(levels[g])
                for i in reversed(chosen):
                    rest, code = divmod(rest, len(parts[i][1]))
                    name.append(f"{self.keys[i]} {parts[i][1][code]}")
                found.append((", ".join(reversed(name)), int(size[g]), float(hits[g] / size[g]), low, high))
        top = sorted(found, key=lambda group: (-group[3], group[0]))[:n]
        names = ("group", "n", "rate", "wilson_low", "wilson_high")
        return frame(
            {name: [group[i] for group in top] for i, name in enumerate(names)}, flavour or problem.pair.flavour
        )

    def intervals(self, *, n: int = 500, seed: int = 0, level: float = 0.95) -> list[Intervals]:
        """Per attack (attacker and release), intervals of the rate and of its excess.

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
        return [attack_intervals(run, self._runner, n=n, seed=seed, level=level) for run in self._runs]

    def curve(
        self, thresholds: Sequence[float] | None = None, *, by_class: bool = False, n: int = 500, seed: int = 0,
        level: float = 0.95,
    ) -> RapidCurve:  # fmt: skip
        """The rate over a grid of thresholds, with bootstrap bands and the null; see :class:`RapidCurve`."""
        return rapid_curve(self._runs, self._runner, thresholds, by_class=by_class, n=n, seed=seed, level=level)

    def attribution(self, release: int = 0, attacker: int | str = 0, *, repeats: int = 5) -> Attribution:
        """Which keys put persons at risk; see :class:`Attribution`."""
        return attribute_flags(self._run(release, attacker), self._runner, repeats=repeats)

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
        from unveil.inference.plots import plot_predictions

        return plot_predictions(self._run(release, attacker), self._runner, ax=ax)

    def __str__(self) -> str:
        symbol = self._runner.rule.symbol
        quality = "accuracy" if self.kind == "categorical" else "mae"
        shown = ("margin", "null_mean", "null_95", "ceiling", "excess", "p_value", quality)
        rows: list[list[float | str | None]] = []
        for attack, interval in zip(self.attacks, self._default_intervals, strict=True):
            low, high = interval["bootstrap"]
            rows.append([
                attack["release"], attack["attacker"], f"{attack['n_at_risk']}/{attack['n']}",
                f"{attack['rate']:.3f}", f"{low:.3f} to {high:.3f}", *(number(attack[m], 3) for m in shown),
            ])  # fmt: skip
        if len(rows) > 1:
            rows.append(["mean", "", "", f"{self.rate:.3f}", "", *[""] * len(shown)])
            rows.append(["largest", "", "", f"{self.envelope:.3f}", "", *[""] * len(shown)])
        if len(self.labels) > 1:
            rows.append(["sd over releases", "", "", f"{self.sd['rate']:.3f}", "", *[""] * len(shown)])
        header = ["release", "attacker", "at risk", "rate", "95 % interval", "margin", "null", "null 95 %", "ceiling",
                  "excess", "p", quality]  # fmt: skip
        return "\n".join(
            [
                f"RAPID of {self.target!r} ({self.kind}): {self.n_counted} of {self.n_original} original records, "
                f"keys {', '.join(self.keys)}; {self.scoring}, {symbol} {self.threshold:g}",
                "",
                text_table(header, rows),
                "",
                paragraph(*_in_words(self)),
                *(paragraph(f"Note: {note}.") for note in self.notes),
            ]
        )

    __repr__ = __str__


def _in_words(result: Rapid) -> list[str]:
    share = 100 * result.rate
    if result.kind == "continuous":
        what = f"a model trained on the release tells {result.target!r} with an error ({result.scoring}) below"
        sentences = [f"Of 100 persons whose keys are known, for {share:.1f} {what} {result.threshold:g}."]
    else:
        what = f"a model trained on the release infers the true {result.target!r} clearly better than its share"
        sentences = [f"Of 100 persons whose keys are known, for {share:.1f} {what} (score above {result.threshold:g})."]
    nulls = [a["null_mean"] for a in result.attacks if not math.isnan(a["null_mean"])]
    if nulls:
        sentences.append(
            f"If the release said nothing of how {result.target!r} goes with the keys, it would be "
            f"{100 * sum(nulls) / len(nulls):.1f} (null: target shuffled); read the rate against that."
        )
    else:
        sentences.append("No null was run (permutations=0): without it the rate cannot be read.")
    sentences.append(
        "margin: the same share without release and keys. ceiling: the same attack trained on the original, each "
        "person predicted without themselves. excess: (rate - null) / (1 - null)."
    )
    sentences.append(
        "Not shown: whether a person's record was used to make the release. What holds for people in general can be "
        "inferred about those who are in no file."
    )
    return sentences


def _parts(key: Any, codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], list[str]]:
    """Levels of a key, numeric ones cut into quarters, as codes and labels."""
    if key.values is None:
        return codes.astype(np.int64), list(key.labels)
    values = key.values[codes]
    present = ~np.isnan(values)
    cuts = (
        np.unique(np.quantile(values[present], np.arange(1, _QUARTERS) / _QUARTERS)) if present.any() else np.array([])
    )
    part = np.searchsorted(cuts, values, side="left")
    texts = [f"{c:g}" for c in cuts]
    labels = ["any"]
    if texts:
        labels = [f"up to {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"above {texts[-1]}"]
    result = np.where(present, part, len(labels)).astype(np.int64)
    return result, [*labels, "without an amount"]


class Rapids(Sequence[Rapid]):
    """RAPID of several targets inferred from the same keys; a sequence of :class:`Rapid`."""

    def __init__(self, results: Sequence[Rapid]):
        self._results = tuple(results)

    @overload
    def __getitem__(self, index: int) -> Rapid: ...
    @overload
    def __getitem__(self, index: slice) -> Rapids: ...
    def __getitem__(self, index: int | slice) -> Rapid | Rapids:
        return Rapids(self._results[index]) if isinstance(index, slice) else self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Rapid]:
        return iter(self._results)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain values, by target."""
        return {"keys": list(self[0].keys), "targets": [result.to_dict() for result in self]}

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per target, attacker and release."""
        tables = [result._rows() for result in self]
        names = list(dict.fromkeys(name for table in tables for name in table))
        rows: dict[str, list[Any]] = {name: [] for name in names}
        for table in tables:
            for name in names:
                rows[name].extend(table.get(name) or [None] * len(table["target"]))
        return frame(rows, flavour or self[0]._runner.problem.pair.flavour)

    def plot(self, ax: Any = None) -> Any:
        """Per target a dot for the rate, with its null and ceiling; needs matplotlib."""
        from unveil.inference.plots import plot_targets

        return plot_targets(self, ax=ax)

    def __str__(self) -> str:
        rows: list[list[float | str | None]] = []
        for result in sorted(self, key=lambda r: -r.rate):
            means = {
                name: float(np.mean([a[name] for a in result.attacks]))
                for name in ("margin", "null_mean", "ceiling", "excess")
            }
            rows.append([
                result.target, result.kind, f"{result._runner.rule.symbol} {result.threshold:g}", str(result.n_counted),
                number(result.rate, 3), number(result.envelope, 3), *(number(v, 3) for v in means.values()),
            ])  # fmt: skip
        return "\n".join(
            [
                f"RAPID: {self[0].n_original} original records, keys {', '.join(self[0].keys)}; "
                f"{', '.join(self[0].attackers)}",
                "",
                text_table(
                    [
                        "target",
                        "kind",
                        "threshold",
                        "records",
                        "rate",
                        "largest",
                        "margin",
                        "null",
                        "ceiling",
                        "excess",
                    ],
                    rows,
                ),
                "",
                paragraph(
                    "Share of persons whose target a model trained on the release infers; means over attackers and "
                    "releases. Read each rate against its null: the same after shuffling the target in the release.",
                ),
                *(paragraph(f"{result.target}: {note}.") for result in self for note in result.notes),
            ]
        )

    __repr__ = __str__
