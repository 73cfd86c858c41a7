"""The rate over a grid of thresholds, with a band for each attack and the null beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.inference.attack import Attack, Runner
from unveil.inference.intervals import bootstrap_rates, percentile_band
from unveil.inference.threshold import Rule
from unveil.microdata.source import Flavour
from unveil.result import frame, number, text_table, warnings_in_words
from unveil.shown import commands_shown

__all__ = ["CurveLine", "RapidCurve", "rapid_curve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One curve: of one attack, and of all persons or of one class.

    ``rate``, ``low``, ``high`` (k,): share at risk and its bootstrap band. ``null_mean``, ``null_95``, ``ceiling``
    (k,): the same under the null and of the original by itself; None where not run, or for a single class.
    """

    attacker: str
    release: str
    group: str
    n: int
    rate: Floats
    low: Floats
    high: Floats
    null_mean: Floats | None
    null_95: Floats | None
    ceiling: Floats | None


@dataclass(frozen=True, eq=False)
class RapidCurve:
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
    warnings
        Those of the measure.
    """

    target: str
    symbol: str
    threshold: float
    thresholds: tuple[float, ...]
    lines: tuple[CurveLine, ...]
    level: float
    warnings: tuple[str, ...]
    flavour: Flavour

    def to_dict(self) -> dict[str, Any]:
        """The curves as plain values."""
        return {
            "target": self.target,
            self.symbol: list(self.thresholds),
            "level": self.level,
            "lines": [
                {"attacker": line.attacker, "release": line.release, "group": line.group, "n": line.n}
                | {
                    name: None if getattr(line, name) is None else getattr(line, name).tolist()
                    for name in ("rate", "low", "high", "null_mean", "null_95", "ceiling")
                }
                for line in self.lines
            ],
            "warnings": list(self.warnings),
        }

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per curve and threshold."""
        k = len(self.thresholds)
        columns: dict[str, list[Any]] = {
            "attacker": [line.attacker for line in self.lines for _ in range(k)],
            "release": [line.release for line in self.lines for _ in range(k)],
            "group": [line.group for line in self.lines for _ in range(k)],
            "n": [line.n for line in self.lines for _ in range(k)],
            self.symbol: list(self.thresholds) * len(self.lines),
        }
        for name in ("rate", "low", "high", "null_mean", "null_95", "ceiling"):
            columns[name] = [
                v
                for line in self.lines
                for v in ([None] * k if getattr(line, name) is None else getattr(line, name).tolist())
            ]
        return frame(columns, flavour or self.flavour)

    def plot(self, ax: Any = None) -> Any:
        """The curves with their bands, the null and the ceiling; needs matplotlib."""
        from unveil.inference.plots import plot_curve

        return plot_curve(self, ax=ax)

    @commands_shown
    def __str__(self) -> str:
        many = len(self.lines) > 1
        header = [self.symbol]
        for line in self.lines:
            header.append(" ".join(filter(None, (line.attacker, line.release, line.group))) if many else "rate")
        first = self.lines[0]
        beside = [] if many or first.null_mean is None else ["null", "null 95 %"]
        rows: list[list[float | str | None]] = []
        for i, threshold in enumerate(self.thresholds):
            row: list[float | str | None] = [f"{threshold:g}", *(number(float(line.rate[i]), 3) for line in self.lines)]
            if beside and first.null_mean is not None and first.null_95 is not None:
                row += [number(float(first.null_mean[i]), 3), number(float(first.null_95[i]), 3)]
            rows.append(row)
        return "\n".join(
            [f"Share of records at risk of inference of {self.target!r}", "", text_table([*header, *beside], rows),
             *warnings_in_words(self.warnings)]
        )  # fmt: skip

    __repr__ = __str__


def rapid_curve(
    runs: Sequence[Attack], runner: Runner, thresholds: Sequence[float] | None, *, by_class: bool, n: int, seed: int,
    level: float,
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
    lines = []
    for run in runs:
        null = np.array([d.rates(grid, rule) for d in run.null]) if run.null else None
        ceiling = None if run.ceiling is None else run.ceiling.rates(grid, rule)
        groups: list[tuple[str, Floats]] = [("", run.score)]
        if by_class and problem.classes is not None:
            groups += [
                (problem.classes[code], run.score[problem.truth == code])
                for code in problem.listed
                if (problem.truth == code).any()
            ]
        for label, score in groups:
            rate, low, high = _banded(score, grid, rule, n=n, seed=seed, level=level)
            whole = label == ""
            lines.append(
                CurveLine(
                    run.attacker, problem.pair.labels[run.release], label, len(score), rate, low, high,
                    None if null is None or not whole else null.mean(axis=0),
                    None if null is None or not whole else np.quantile(null, 0.95, axis=0),
                    ceiling if whole else None,
                )
            )  # fmt: skip
    return RapidCurve(
        problem.target, rule.symbol, rule.threshold, grid, tuple(lines), level, runner.warnings, problem.pair.flavour
    )


def _banded(
    score: Floats, grid: tuple[float, ...], rule: Rule, *, n: int, seed: int, level: float
) -> tuple[Floats, Floats, Floats]:
    """Rates and bootstrap band; persons between the same two thresholds are of one kind."""
    kind = np.searchsorted(rule.edges(grid), score, side="left" if rule.above else "right")
    counts = np.bincount(kind, minlength=len(grid) + 1)
    drawn = bootstrap_rates(counts, n=n, seed=seed)

    def rates(by_kind: NDArray[np.integer]) -> Floats:
        total = np.cumsum(by_kind, axis=-1)[..., :-1]
        risky: Floats = (len(score) - total if rule.above else total) / len(score)
        return risky

    low, high = percentile_band(rates(drawn), level)
    return rates(counts), low, high
