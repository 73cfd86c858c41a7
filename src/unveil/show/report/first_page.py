"""The first page of the report: what intruders learn, the strongest first, in one picture and a few sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.show.report.arrange import Page
from unveil.show.report.figures import interval, shown

LEARNS = {
    "posterior certain": "is certain of the value",
    "posterior": "gives the true value the probability",
    "exact membership": "tells whose record was used",
    "membership AUC": "tells members from others by distance (area)",
    "RAPID": "infers the value with a model",
    "DiSCO": "reads one value off, rightly",
    "repU": "finds one record for a unique person",
    "linkage": "finds a person by the nearest record",
    "match risk": "matches a person with the own record",
}
"""What an intruder does, by the measure that counts it, the most telling first; others stand further down."""
MOST_TARGETS = 3
"""Targets of one measure in the picture: those furthest above chance."""
MOST_SENTENCES = 5
MOST_CHANGES = 4


@dataclass(frozen=True)
class Line:
    """One row of the picture.

    Parameters
    ----------
    figure
        The figure that is drawn.
    learns
        What the intruder does.
    beside
        What there is without the release, in words.
    """

    figure: dict[str, Any]
    learns: str
    beside: str


def lines(figures: Sequence[dict[str, Any]]) -> list[Line]:
    """The rows of one intruder: each measure with the targets that are furthest above chance."""
    found = []
    for measure, learns in LEARNS.items():
        same = [f for f in figures if f["measure"] == measure and f["value"] is not None]
        found += [Line(one, learns, _beside(one)) for one in sorted(same, key=_above_chance)[:MOST_TARGETS]]
    return found


def _above_chance(figure: dict[str, Any]) -> tuple[float, float]:
    """Figures with the highest excess first; those without one by their value."""
    excess = figure["excess"]
    return (math.inf if excess is None else -excess, -figure["value"])


def _beside(figure: dict[str, Any]) -> str:
    """What the figure has to be compared with: its null, and without one what is known before the release."""
    chance = interval(figure["null_mean"], figure["null_95"], figure["unit"])
    if chance:
        return f"{chance} by chance"
    if figure["null_mean"] is not None:
        return f"{shown(figure['null_mean'], figure['unit'])} by chance"
    if figure["margin"] is not None:
        return f"{shown(figure['margin'], figure['unit'])} without the release"
    return ""


def strongest_first(page: Page) -> list[tuple[dict[str, Any], list[Line]]]:
    """Intruders who were looked at, with their rows."""
    return [(one, lines(figures)) for one, figures in reversed(page.intruders) if lines(figures)]


def sentences(page: Page) -> list[tuple[str, str]]:
    """At most five, each with who learns it: what each intruder learns, how the strongest weakens, and utility.

    One more where a release breaks rules that the original keeps.
    """
    found = [(who, text) for who, text in _sentences(page) if text]
    found = (found or [("", text) for text in page.a["summary"]])[:MOST_SENTENCES]
    broken = (page.a.get("plausibility") or {}).get("in_short")
    return [*found, ("", broken)] if broken and ("", broken) not in found else found


def _sentences(page: Page) -> Iterator[tuple[str, str]]:
    curves = {t.content["target"]: t.content.get("partial_knowledge") for t in page.targets}
    for intruder, rows in strongest_first(page):
        top = rows[0].figure
        yield intruder["title"], top["sentence"]
        if curve := curves.pop(top["target"], None):
            yield "", curve.get("in_short") or ""
    if page.a["utility"] is not None:
        yield "", page.a["utility"]["sentence"]


def not_computed(page: Page) -> list[str]:
    """Names of the parts that are not whole, each with how it stands."""
    return [f"{part['name']} ({part['status']})" for part in page.a["parts"] if part["status"] != "done"]
