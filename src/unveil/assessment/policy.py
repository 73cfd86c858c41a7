"""An institution's own thresholds, read from a file and set beside the figures; none are built in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.assessment.figure import RISKS, UTILITIES
from unveil.errors import FileError
from unveil.limits import reaches, within
from unveil.microdata.documents import read_toml
from unveil.microdata.nearest import near_matches

__all__ = ["Policy", "Rule", "read_policy"]

STATISTICS = ("value", "low", "high", "excess", "excess_low", "excess_high", "p_value", "worst_release")
FIELDS = ("measure", "target", "statistic", "limit", "least", "note")
MEASURES = (*RISKS, *UTILITIES)


@dataclass(frozen=True)
class Rule:
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
        The number itself.
    least
        Whether the statistic must reach the limit, rather than stay up to it.
    note
        Words of the institution.
    """

    measure: str
    limit: float
    target: str | None = None
    statistic: str = "value"
    least: bool = False
    note: str = ""


@dataclass(frozen=True)
class Policy:
    """The rules of one file, and the file's own text."""

    label: str
    text: str
    rules: tuple[Rule, ...]

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


def _statistic(figure: Mapping[str, Any], rule: Rule) -> float:
    if rule.statistic == "worst_release":
        values = [math.nan if v is None else v for v in figure["per_release"]]
        worst = min if rule.least else max
        return math.nan if not values or any(map(math.isnan, values)) else worst(values)
    value = figure[rule.statistic]
    return math.nan if value is None else float(value)


def _row(rule: Rule, target: str | None, value: float) -> dict[str, Any]:
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
       measure = "repU"        # percent of persons
       limit = 5

       [[rule]]
       measure = "RAPID"       # share of persons
       target = "income"       # all targets without it
       statistic = "excess_high"
       limit = 0.10
       note = "guideline 7.2"

    ``statistic`` is one of value, low, high, excess, excess_low, excess_high, p_value, worst_release; ``least = true``
    asks for at least the limit.

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


def _rule(content: Mapping[str, Any], number: int, path: Path) -> Rule:
    where = f"{path}: rule {number}"
    for name in content:
        if name not in FIELDS:
            raise FileError(f"{where}: unknown key {name!r}{near_matches(name, FIELDS)}")
    for name in ("measure", "limit"):
        if name not in content:
            raise FileError(f"{where}: {name} is missing")
    _one_of(content["measure"], MEASURES, f"{where}: measure")
    _one_of(content.get("statistic", "value"), STATISTICS, f"{where}: statistic")
    limit = content["limit"]
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        raise FileError(f"{where}: limit is a number, not {limit!r}")
    for name, kind in (("target", str), ("least", bool), ("note", str)):
        if name in content and not isinstance(content[name], kind):
            raise FileError(
                f"{where}: {name} is {'true or false' if kind is bool else 'a text'}, not {content[name]!r}"
            )
    return Rule(**content)


def _one_of(value: Any, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise FileError(
            f"{what}: there is no {value!r}; choose from {', '.join(known)}{near_matches(str(value), known)}"
        )
