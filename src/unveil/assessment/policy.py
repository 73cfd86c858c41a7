"""An institution's own thresholds, read from a file and set beside the figures; none are built in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.assessment.figure import PERCENT, RISKS, UTILITIES
from unveil.checks import check_choice, check_numbers
from unveil.errors import CallError, FileError
from unveil.files.documents import read_toml
from unveil.files.nearest import near_matches
from unveil.limits import reaches, within

STATISTICS = ("value", "low", "high", "excess", "excess_low", "excess_high", "p_value", "worst_release")
FIELDS = ("measure", "target", "statistic", "limit", "least", "note")
MEASURES = (*RISKS, *UTILITIES)
_PLAIN = ("value", "low", "high", "worst_release")
_WITHOUT = {
    "repU": ("excess", "excess_low", "excess_high", "p_value"),
    "posterior": ("p_value",),
    "linkage": ("excess_low", "excess_high"),
    "match risk": ("excess_low", "excess_high", "p_value"),
    "posterior certain": ("excess", "excess_low", "excess_high", "p_value"),
    "exact membership": ("excess", "excess_low", "excess_high", "p_value"),
} | {name: tuple(one for one in STATISTICS if one not in _PLAIN) for name in UTILITIES}
"""Statistics that a measure never has."""
_OF_TARGETS = ("DiSCO", "DCAP", "RAPID", "posterior", "posterior certain")
_UNBOUNDED = ("S_pMSE",)


@dataclass(frozen=True)
class Threshold:
    """One threshold.

    Parameters
    ----------
    measure
        A measure by its name in the assessment.
    target
        The target it concerns; every target where it is None.
    statistic
        Which number of the figure is held against the limit.
    limit
        The number itself: percent of repU, DiSCO, DCAP, linkage and match risk; of all others, and of excesses and
        p-values, a share.
    least
        Whether the statistic must reach the limit, rather than stay up to it.
    note
        Words of the institution.

    Raises
    ------
    CallError
        If the measure or statistic is unknown, or the limit is none that the statistic can meet or miss.
    """

    measure: str
    limit: float
    target: str | None = None
    statistic: str = "value"
    least: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        check_choice("statistic", self.statistic, STATISTICS)
        if self.statistic in _WITHOUT.get(self.measure, ()):
            possible = [one for one in STATISTICS if one not in _WITHOUT[self.measure]]
            raise CallError(f"statistic: {self.measure} has no {self.statistic}; choose from {', '.join(possible)}")
        for name, value, kind, what in (
            ("target", self.target, str | None, "a text"), ("least", self.least, bool, "true or false"),
            ("note", self.note, str, "a text"),
        ):  # fmt: skip
            if not isinstance(value, kind):
                raise CallError(f"{name} is {what}, not {value!r}")
        if self.target is not None and self.measure not in _OF_TARGETS:
            raise CallError(f"target: {self.measure} concerns no target; leave {self.target!r} out")
        self._check_limit()

    def _check_limit(self) -> None:
        limit, what = self.limit, self.measure
        check_numbers(0, limit=limit)
        if self.statistic not in _PLAIN:
            what = f"the {self.statistic} of {self.measure}"
        elif self.measure in PERCENT:
            if limit > 100:
                raise CallError(f"limit: {what} is in percent, so {limit:g} is above all that it can be")
            return
        elif self.measure in _UNBOUNDED:
            return
        if limit > 1:
            meant = f": write {limit / 100:g} for {limit:g} %" if limit <= 100 else ""
            raise CallError(f"limit: {what} is at most 1, and {limit:g} would allow everything{meant}")


@dataclass(frozen=True)
class Policy:
    """The rules of one file, and the file's own text."""

    label: str
    text: str
    rules: tuple[Threshold, ...]

    def check(self, targets: Sequence[str]) -> None:
        """Refuse rules for targets that are not assessed: their figures would be missing, and nobody would know why.

        Raises
        ------
        CallError
            If a rule names such a target.
        """
        for number, rule in enumerate(self.rules, 1):
            if rule.target is not None and rule.target not in targets:
                raise CallError(
                    f"{self.label}: rule {number}: target {rule.target!r} is not assessed"
                    f"{near_matches(rule.target, targets)}; the targets are {', '.join(targets)}"
                )

    def rows(self, figures: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Hold every figure that a rule concerns against it.

        A figure that was not measured, or is not defined, is said to be so; it is never within a limit.
        """
        figures = list(figures)
        rows = []
        for rule in self.rules:
            concerned = [
                f
                for f in figures
                if f["measure"] == rule.measure and (rule.target is None or f["target"] == rule.target)
            ]
            if not concerned:
                rows.append(_row(rule, rule.target, math.nan))
            rows.extend(_row(rule, figure["target"], _statistic(figure, rule)) for figure in concerned)
        return rows


def _statistic(figure: Mapping[str, Any], rule: Threshold) -> float:
    if rule.statistic == "worst_release":
        values = [math.nan if v is None else v for v in figure["per_release"]]
        worst = min if rule.least else max
        return math.nan if not values or any(map(math.isnan, values)) else worst(values)
    value = figure[rule.statistic]
    return math.nan if value is None else float(value)


def _row(rule: Threshold, target: str | None, value: float) -> dict[str, Any]:
    if math.isnan(value):
        verdict = "not measured"
    elif rule.least:
        verdict = "within" if reaches(value, rule.limit) else "below"
    else:
        verdict = "within" if within(value, rule.limit) else "above"
    return {
        "measure": rule.measure,
        "target": target,
        "statistic": rule.statistic,
        "limit": rule.limit,
        "direction": "at least" if rule.least else "at most",
        "value": value,
        "verdict": verdict,
        "note": rule.note,
    }


def read_policy(path: str | Path) -> Policy:
    """Read a policy file: TOML with one ``[[rule]]`` per threshold.

    .. code-block:: toml

       [[rule]]
       measure = "repU"        # percent of records
       limit = 5

       [[rule]]
       measure = "RAPID"       # share of records: at most 1
       target = "income"       # all targets without it
       statistic = "excess_high"
       limit = 0.10
       note = "guideline 7.2"

    ``statistic`` is one of value, low, high, excess, excess_low, excess_high, p_value, worst_release; ``least = true``
    asks for at least the limit. Limits are in the unit of the figure: percent of repU, DiSCO, DCAP, linkage and match
    risk, shares else; excesses and p-values are shares always.

    Raises
    ------
    FileError
        If the file cannot be read, is no TOML, or a rule is not understood.
    """
    path = Path(path)
    text, content = read_toml(path, str(path))
    for name in content:
        if name != "rule":
            raise FileError(
                f"{path}: unknown key {name!r}; a policy is a list of [[rule]]{near_matches(name, ['rule'])}"
            )
    found = content.get("rule")
    if not isinstance(found, list) or not found or not all(isinstance(rule, dict) for rule in found):
        raise FileError(f"{path}: holds no [[rule]]; each names a measure and a limit")
    return Policy(path.name, text, tuple(_rule(rule, number, path) for number, rule in enumerate(found, 1)))


def _rule(content: Mapping[str, Any], number: int, path: Path) -> Threshold:
    where = f"{path}: rule {number}"
    for name in content:
        if name not in FIELDS:
            raise FileError(
                f"{where}: unknown key {name!r}; a rule has {', '.join(FIELDS)}{near_matches(name, FIELDS)}"
            )
    for name in ("measure", "limit"):
        if name not in content:
            raise FileError(f"{where}: {name} is missing")
    try:
        return Threshold(**content)
    except CallError as error:
        raise FileError(f"{where}: {error}") from None
