"""By what rule an entry of an assessment passes the gate; :mod:`unveil.assessment.gate` says which entry by which."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unveil.assessment.figure import SHARES_OF_RECORDS
from unveil.assessment.published_text import HELD_BACK, SUFFIX, TOO_FEW_REASON, rounding_of
from unveil.assessment.rounding import Rounding, significant

LOG_ODDS_STEP = 0.5
LEAST_P_VALUE = 0.01
PRIOR_IS_GUESS = ("posterior",)
"""Figures whose guess is a mean prior."""
LOTS = {"membership AUC": 0.5, "exact membership": 0.5}
"""What a guess between two persons achieves, whatever the records are."""


@dataclass(frozen=True)
class GatePosition:
    """Where the gate stands.

    Parameters
    ----------
    rounding
        How far figures are rounded here.
    row
        The entries beside the one that is asked for.
    name
        Its name.
    place
        Position of the row in its list.
    whole
        The assessment.
    files
        Names of files, and what the files are called instead.
    """

    rounding: Rounding
    row: Mapping[str, Any]
    name: str
    place: int
    whole: Mapping[str, Any]
    files: Mapping[str, str]

    def without_names(self, text: str) -> str:
        """A text without the names of files, which hold names of persons."""
        if not self.files:
            return text
        longest_first = sorted(self.files, key=len, reverse=True)
        anyone = "|".join(map(re.escape, longest_first))
        return re.sub(rf"(?<!\w)(?:{anyone})(?!\w)", lambda found: self.files[found[0]], text)


Rule = Callable[[Any, GatePosition], Any]


# Words --------------------------------------------------------------------------------------------------------------


def as_it_is(value: Any, at: GatePosition) -> Any:
    """Words of the program, names of variables, and settings: plain values and lists of them."""
    if isinstance(value, list):
        return [one for one in value if not isinstance(one, Mapping | list)]
    return None if isinstance(value, Mapping) else value


def settings(value: Any, at: GatePosition) -> Any:
    """Plain values by name."""
    return {str(name): as_it_is(one, at) for name, one in value.items()} if isinstance(value, Mapping) else None


def said(value: Any, at: GatePosition) -> str | None:
    """The public text, or a remark in its place."""
    if value is None:
        return None
    public = at.row.get(at.name + SUFFIX)
    return at.without_names(public) if isinstance(public, str) else HELD_BACK


def sentences(value: Any, at: GatePosition) -> list[str]:
    """The public texts of a list, each once."""
    public = at.row.get(at.name + SUFFIX)
    if not isinstance(value, list) or not value:
        return []
    if not isinstance(public, list) or len(public) != len(value):
        return [HELD_BACK]
    return list(dict.fromkeys(at.without_names(text) if isinstance(text, str) else HELD_BACK for text in public))


def nothing(value: Any, at: GatePosition) -> None:
    """None in its place, where the name itself has to be there."""


def instead(text: str) -> Rule:
    """A text of the gate in its place."""
    return lambda value, at: text


def why_undefined(value: Any, at: GatePosition) -> str | None:
    """Why a figure has no value: of so few persons the gate lets none out."""
    exact = at.row.get("value")
    return TOO_FEW_REASON if exact is not None and figure(exact, at) is None else said(value, at)


# Numbers ------------------------------------------------------------------------------------------------------------


def number(rule: Callable[[float, Rounding], Any]) -> Rule:
    """A rule for numbers, and lists of them; anything else is held back."""

    def of(value: Any, at: GatePosition) -> Any:
        if isinstance(value, list):
            return [of(one, at) for one in value]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return rule(value, at.rounding)

    return of


percent = number(lambda value, rounding: rounding.percent(value))
share = number(lambda value, rounding: rounding.share(value))
difference = number(lambda value, rounding: rounding.nearest(value))
correlation = number(lambda value, rounding: rounding.nearest(value, power=-2))
prior = number(lambda value, rounding: rounding.expected(value))
percent_low = number(lambda value, rounding: rounding.outward(value, up=False))
percent_high = number(lambda value, rounding: rounding.outward(value, up=True))
share_low = number(lambda value, rounding: rounding.outward(value, up=False, power=-2))
share_high = number(lambda value, rounding: rounding.outward(value, up=True, power=-2))
two_digits = number(lambda value, rounding: significant(value))
count = number(lambda value, rounding: rounding.count(value))
log_odds = number(lambda value, rounding: LOG_ODDS_STEP * round(value / LOG_ODDS_STEP))
p_value = number(lambda value, rounding: max(rounding.outward(value, up=True, power=-2) or 1.0, LEAST_P_VALUE))

_BY_UNIT: Mapping[str, tuple[Rule, Rule, Rule]] = {
    "percent": (percent_low, percent, percent_high),
    "share": (share_low, share, share_high),
    "auc": (share_low, share, share_high),
    "distance": (two_digits, two_digits, two_digits),
}


def of_kind(value: Any, at: GatePosition) -> Any:
    """A figure of another package, by the kind that was declared before it saw a record; no other kind is known."""
    rule = {"share": share, "count": count}.get(str(at.row.get("kind")))
    return None if rule is None else rule(value, at)


def _in_its_unit(which: int) -> Rule:
    def of(value: Any, at: GatePosition) -> Any:
        measure, unit = at.row.get("measure"), str(at.row.get("unit"))
        if measure in SHARES_OF_RECORDS:
            unit = "share"
        return _BY_UNIT.get(unit, (nothing,) * 3)[which](value, at)

    return of


low, figure, high = (_in_its_unit(which) for which in range(3))
"""The lower end, the value and the upper end of a figure whose unit stands beside it."""


def guess(value: Any, at: GatePosition) -> Any:
    """What a guess achieves: a figure of the records, unless it is a prior or a lot between two persons."""
    if at.row.get("measure") in PRIOR_IS_GUESS:
        return prior(value, at)
    return LOTS.get(str(at.row.get("measure"))) or figure(value, at)


def by_metric(value: Any, at: GatePosition) -> Any:
    """A score of predictions: an accuracy is a share of persons."""
    return (share if at.row.get("metric") == "accuracy" else two_digits)(value, at)


_OF_STATISTIC = {"low": low, "high": high, "excess": share, "excess_low": share_low, "excess_high": share_high,
                 "p_value": p_value}  # fmt: skip


def of_policy(value: Any, at: GatePosition) -> Any:
    """Return the value that a policy compares with its limit, rounded as the figure is."""
    every = [*at.whole["figures"], *((at.whole.get("utility") or {}).get("figures") or ())]
    for one in every:
        if (one["measure"], one["target"]) == (at.row.get("measure"), at.row.get("target")):
            rule = _OF_STATISTIC.get(str(at.row.get("statistic")), figure)
            return rule(value, replace(at, row=one, rounding=rounding_of(one, at.rounding)))
    return None


# Files --------------------------------------------------------------------------------------------------------------


def called_instead(assessment: Mapping[str, Any]) -> dict[str, str]:
    """Return words that replace the names of files in a published document."""
    inputs = [(one["label"], one["role"]) for one in (assessment.get("provenance") or {}).get("inputs", ())]
    found = {label: f"the {role}" for label, role in inputs}
    found[assessment["data"]["original"]["label"]] = "the original"
    releases = [one["label"] for one in assessment["data"]["releases"]]
    return found | {label: f"release {number}" for number, label in enumerate(releases, 1)}


def original_or_release(value: Any, at: GatePosition) -> str:
    """Return the role of a file in place of its name: names of files can hold names of persons."""
    role = at.row.get("role")
    return f"release {at.place}" if role == "release" else str(role)


def numbered_release(value: Any, at: GatePosition) -> str:
    """A release by its number."""
    return f"release {at.place + 1}"


def of_release(rule: Rule) -> Rule:
    """Sizes and digests of a release are known to whoever has it; of real records the rule decides."""
    return lambda value, at: value if at.row.get("role") == "release" else rule(value, at)


def title(value: Any, at: GatePosition) -> str:
    """Return the description of the files without their names."""
    m = len(at.whole["data"]["releases"])
    return "The original and one release" if m == 1 else f"The original and {m} releases"


def names_only(value: Any, at: GatePosition) -> list[str]:
    """Names of variables, without what is declared of them."""
    return [str(name) for name in value] if isinstance(value, Mapping) else []


# Tables -------------------------------------------------------------------------------------------------------------


def histogram(value: Any, at: GatePosition) -> Any:
    """Counts of persons; the outer bins that are not told are cut off, as they say how far single persons lie."""
    if not isinstance(value, Mapping):
        return None
    counts = count(value["counts"], at)
    shown = [i for i, n in enumerate(counts) if n]
    if not shown:
        return None
    first, last = shown[0], shown[-1]
    return {"edges": value["edges"][first : last + 2], "counts": counts[first : last + 1]}


def missed(value: Any, at: GatePosition) -> Any:
    """The share of the persons at risk that another measure does not flag, if both cells are told."""
    cells: list[Any] = [at.row.get(name) for name in ("both", "only_posterior")]
    if any(not isinstance(n, int) or at.rounding.count(n) is None for n in cells):
        return None
    return share(value, replace(at, rounding=replace(at.rounding, persons=sum(cells))))
