"""Rules of a policy, held against the unfavourable end of a figure's interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unveil.assessment.policy import Policy, Threshold
from unveil.plain import Plain

UPPER = {"value": "high", "excess": "excess_high"}
LOWER = {"value": "low", "excess": "excess_low"}
"""The end of the interval that a rule for a figure is held against."""


@dataclass(frozen=True)
class HeldRule(Plain):
    """One rule and the figure of one target.

    Attributes
    ----------
    rule
        Number of the rule in the policy, from 1.
    measure, target, unit
        What is measured, of which target (None where it concerns no target), and in which unit.
    statistic, direction, limit
        As in the policy.
    value
        The statistic, as a mean over sets of releases.
    end
        The end of its interval that the limit is held against, in the worst set; the statistic itself where it is an
        end or has no interval.
    limit_used
        ``end / limit``, or ``limit / end`` where the limit is to be reached: at most 1 if the rule holds.
    verdict
        "within", "above", "below", or "not measured".
    persons
        Original records behind the figure; all of them where it is None.
    """

    rule: int
    measure: str
    target: str | None
    unit: str
    statistic: str
    direction: str
    limit: float
    value: float
    end: float
    limit_used: float
    verdict: str
    persons: int | None = None


def held(policy: Policy, figures: Sequence[Mapping[str, Any]]) -> tuple[HeldRule, ...]:
    """Hold the figures of one set of releases against the rules.

    A figure that was not measured is not within a limit.
    """
    found = []
    for number, rule in enumerate(policy.rules, 1):
        of_figures, of_ends = (replace(policy, rules=(one,)).rows(figures) for one in (rule, _strict(rule)))
        for figure, end in zip(of_figures, of_ends, strict=True):
            # A single release has no interval of utility: the figure itself is held against the limit.
            used = figure if end["verdict"] == "not measured" else end
            found.append(
                HeldRule(
                    rule=number,
                    measure=rule.measure,
                    target=figure["target"],
                    unit=_unit(figures, rule.measure),
                    statistic=rule.statistic,
                    direction=figure["direction"],
                    limit=rule.limit,
                    value=figure["value"],
                    end=used["value"],
                    limit_used=_limit_used(used["value"], rule, used["verdict"]),
                    verdict=used["verdict"],
                    persons=_persons(figures, rule.measure, figure["target"]),
                )
            )
    return tuple(found)


def over_sets(sets: Sequence[Sequence[HeldRule]]) -> tuple[HeldRule, ...]:
    """The rules over several sets of releases: the mean of the statistic, and the worst end."""
    found = []
    for same in zip(*sets, strict=True):
        worst = max(same, key=lambda one: one.limit_used)
        found.append(replace(worst, value=math.fsum(one.value for one in same) / len(same)))
    return tuple(found)


def most_used(rules: Iterable[HeldRule]) -> float:
    """The largest share of a limit that is used: at most 1 if every rule holds."""
    return max(one.limit_used for one in rules)


def _strict(rule: Threshold) -> Threshold:
    """The rule for the unfavourable end of the interval."""
    ends = LOWER if rule.least else UPPER
    return replace(rule, statistic=ends.get(rule.statistic, rule.statistic))


def _unit(figures: Sequence[Mapping[str, Any]], measure: str) -> str:
    return next((str(one["unit"]) for one in figures if one["measure"] == measure), "")


def _persons(figures: Sequence[Mapping[str, Any]], measure: str, target: str | None) -> int | None:
    same = (one.get("persons") for one in figures if (one["measure"], one["target"]) == (measure, target))
    return next(same, None)


def _limit_used(end: float, rule: Threshold, verdict: str) -> float:
    """How much of the limit is used; the verdict, which allows for rounding, decides on which side of 1 it lies."""
    if verdict == "not measured":
        return math.inf
    part, whole = (rule.limit, end) if rule.least else (end, rule.limit)
    used = part / whole if whole > 0 else (0.0 if part <= 0 else math.inf)
    return min(used, 1.0) if verdict == "within" else max(used, 1.0 + 1e-9)
