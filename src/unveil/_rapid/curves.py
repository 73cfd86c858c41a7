"""The rate over a grid of thresholds, with a band for each attack and the null beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack, Runner, null_rates
from unveil._rapid.process import process_intervals
from unveil._rapid.resampling import Resampled
from unveil._rapid.sample import sampling_half, widened
from unveil._rapid.threshold import Distribution, RiskThreshold
from unveil.errors import CallError
from unveil.files.source import Flavour
from unveil.result import Result, columns_of
from unveil.stats import Kind, is_process, rate_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One curve: of one attack, and of all persons or of one class.

    ``rate``, ``low``, ``high`` (k,): share at risk and its band. ``null_mean``, ``null_95``, ``ceiling``
    (k,): the same under the null and of the original by itself; None where not run, or for a single class.
    """

    attacker: str
    release: str
    group: str
    n: int
    rate: Floats
    low: Floats
    high: Floats
    null_mean: Floats | None = None
    null_95: Floats | None = None
    ceiling: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RapidCurve(Result):
    """Share of persons at risk over a grid of thresholds: never rising in tau, never falling in epsilon.

    Attributes
    ----------
    target, symbol, threshold
        The target, the name of the threshold, and the one that was chosen.
    thresholds : (k,)
        The grid, ascending.
    lines
        The curves.
    level
        Coverage of the bands.
    kind
        What they are over: "release" (persons, the release kept) or "process" (samples and releases).
    undefined
        Why there are no bands, where there are none.
    warnings
        Those of the measure.
    """

    _words = "words.rapid.curve"
    _drawing = "plots.rapid.plot_curve"

    target: str
    symbol: str
    threshold: float
    thresholds: tuple[float, ...]
    lines: tuple[CurveLine, ...]
    level: float
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    kind: Kind = "release"
    undefined: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The curves as plain values."""
        found = super().to_dict()
        del found["threshold"], found["symbol"]
        return {self.symbol if name == "thresholds" else name: values for name, values in found.items()}

    def _columns(self) -> dict[str, Any]:
        """A row per curve and threshold."""
        of_line, of_point = (
            ("attacker", "release", "group", "n"),
            ("rate", "low", "high", "null_mean", "null_95", "ceiling"),
        )
        rows = []
        for line in self.lines:
            values = vars(line)
            for k, threshold in enumerate(self.thresholds):
                row = {name: values[name] for name in of_line} | {self.symbol: threshold}
                rows.append(row | {name: None if values[name] is None else values[name][k] for name in of_point})
        return columns_of(rows)


def rapid_curve(
    runs: Sequence[Attack], runner: Runner, thresholds: Sequence[float] | None, *, by_class: bool, n: int, seed: int,
    level: float, kind: Kind = "release", again: Sequence[Sequence[Attack]] | None = None,
) -> RapidCurve:  # fmt: skip
    """Evaluate the rate of each attack over a grid.

    Parameters
    ----------
    runs, runner
        The attacks, and what was asked for.
    thresholds
        The grid; by default one that spans the rule's range.
    by_class
        Also one curve per true class.
    n, seed, level
        Of the bootstrap.
    kind
        Of the bands; "process" has one curve per attacker, the mean over the releases.
    again
        The same attacks on resampled originals, for "process".

    Raises
    ------
    CallError
        If the grid is empty or no number, or classes are asked of a continuous target.
    """
    rule, problem = runner.rule, runner.problem
    if by_class and problem.classes is None:
        raise CallError(f"{problem.target!r} is continuous and has no classes")
    grid = rule.grid() if thresholds is None else tuple(sorted({float(t) for t in thresholds}))
    if not grid or not np.isfinite(grid).all():
        raise CallError(f"thresholds must be numbers, not {list(grid)!r}")
    if is_process(kind, level):
        return _process_curve(runs, runner, grid, again, n=n, seed=seed, level=level)
    lines = []
    for run in runs:
        risky, persons = Resampled.of([run], runner).rates(grid, n=n, seed=seed)
        groups: list[tuple[str, Floats, Floats]] = [("", run.score, risky[:, 0].sum(axis=1) / len(run.score))]
        if by_class and problem.classes is not None:
            for code in problem.listed:
                if (problem.truth == code).any():
                    of_class = np.full(risky[:, 0, code].shape, np.nan)
                    np.divide(risky[:, 0, code], persons[:, code, None], out=of_class, where=persons[:, code, None] > 0)
                    groups.append((problem.classes[code], run.score[problem.truth == code], of_class))
        for label, score, drawn in groups:
            rate, n_persons = Distribution.of(score).rates(grid, rule), len(score)
            ends = [
                rate_interval(float(r), d, n_persons, level)["bootstrap"] for r, d in zip(rate, drawn.T, strict=True)
            ]
            # samples of the release are scored for all persons together
            halves = np.zeros(len(grid)) if label else sampling_half([run], grid, rule, level)
            spans = zip(rate.tolist(), ends, halves.tolist(), strict=True)
            low, high = np.array([widened(*span) if span[-1] else span[1] for span in spans]).T
            beside = {} if label else _beside([run], grid, rule)
            name = problem.pair.labels[run.release]
            lines.append(CurveLine(run.attacker, name, label, n_persons, rate, low, high, **beside))
    return RapidCurve(
        problem.target,
        rule.symbol,
        rule.threshold,
        grid,
        tuple(lines),
        level,
        runner.warnings,
        problem.pair.flavour,
        unit=problem.pair.unit,
    )


def _process_curve(
    runs: Sequence[Attack], runner: Runner, grid: tuple[float, ...], again: Sequence[Sequence[Attack]] | None,
    *, n: int, seed: int, level: float,
) -> RapidCurve:  # fmt: skip
    """Per attacker the mean rate of the releases with its process band."""
    rule, problem = runner.rule, runner.problem
    lines, reason = [], None
    for name in dict.fromkeys(run.attacker for run in runs):
        own = [run for run in runs if run.attacker == name]
        spans = process_intervals(own, runner, grid, _named(again, name), n=n, seed=seed, level=level)
        reason = spans[0].undefined
        ends = np.array([(span.value, span.low, span.high) for span in spans]).T
        beside = _beside(own, grid, rule)
        lines.append(CurveLine(name, "mean of the releases", "", len(problem.truth), *ends, **beside))
    return RapidCurve(
        problem.target, rule.symbol, rule.threshold, grid, tuple(lines), level, problem.warnings, problem.pair.flavour,
        kind="process", undefined=reason, unit=problem.pair.unit,
    )  # fmt: skip


def _beside(runs: Sequence[Attack], grid: tuple[float, ...], rule: RiskThreshold) -> dict[str, Floats]:
    """Null and ceiling of the attacks of one attacker, those that there are."""
    null, ceiling = null_rates(runs, grid, rule), runs[0].ceiling
    found = {"null_mean": null.mean(axis=0), "null_95": np.quantile(null, 0.95, axis=0)} if len(null) else {}
    return found if ceiling is None else found | {"ceiling": ceiling.rates(grid, rule)}


def _named(again: Sequence[Sequence[Attack]] | None, attacker: str) -> list[list[Attack]] | None:
    return None if again is None else [[run for run in runs if run.attacker == attacker] for runs in again]
