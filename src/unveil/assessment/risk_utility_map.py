"""Points of risk and utility on one absolute map: the result of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.assessment.figure import digits_of
from unveil.assessment.result import Assessment
from unveil.files.source import Flavour
from unveil.printable import commands_shown
from unveil.result import frame, number, paragraph, text_table, warnings_in_words, without_nan
from unveil.stats import NAMES

__all__ = ["Point", "RiskUtilityMap"]


@dataclass(frozen=True)
class Point:
    """One release, or one synthesizer with its settings.

    Attributes
    ----------
    label
        What it is called.
    releases
        Number of releases that it is the mean of.
    risks, utilities
        By measure: value, and the lower and upper end of its interval; risks are means over the targets.
    pareto
        Whether no other point has both less risk and more utility.
    """

    label: str
    releases: int
    risks: Mapping[str, tuple[float, float, float]]
    utilities: Mapping[str, tuple[float, float, float]]
    pareto: bool


@dataclass(frozen=True)
class RiskUtilityMap:
    """Points of risk and utility, both absolute: they mean the same whatever else is compared.

    Attributes
    ----------
    keys, targets
        What the intruder knows and wants.
    risk, utility
        The measures that make the map.
    points
        In the order in which they were given.
    assessments
        By label, all that was measured.
    warnings
        What deserves a look, of each candidate by its label.
    """

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    risk: str
    utility: str
    points: tuple[Point, ...]
    assessments: Mapping[str, Assessment]
    warnings: tuple[str, ...] = ()
    flavour: Flavour = "arrow"

    def to_dict(self) -> dict[str, Any]:
        """The points as plain values; what is not defined is None."""
        plain: dict[str, Any] = without_nan(
            {
                "schema": "unveil.comparison",
                "schema_version": "1.0",
                "keys": list(self.keys),
                "targets": list(self.targets),
                "risk": self.risk,
                "utility": self.utility,
                "points": [
                    {
                        "label": point.label,
                        "releases": point.releases,
                        "pareto": point.pareto,
                        "risks": {name: list(ends) for name, ends in point.risks.items()},
                        "utilities": {name: list(ends) for name, ends in point.utilities.items()},
                    }
                    for point in self.points
                ],
                "parts": {
                    label: [part for part in one.to_dict()["parts"] if part["status"] != "done"]
                    for label, one in self.assessments.items()
                },
                "warnings": list(self.warnings),
            }
        )
        return plain

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """One row per point: label, number of releases, every measure with its interval, and whether none is better."""
        columns: dict[str, Any] = {
            "label": [point.label for point in self.points],
            "releases": [point.releases for point in self.points],
        }
        for kind in ("risks", "utilities"):
            for name in dict.fromkeys(name for point in self.points for name in getattr(point, kind)):
                for i, end in enumerate(("", " low", " high")):
                    columns[name + end] = [getattr(p, kind).get(name, (math.nan,) * 3)[i] for p in self.points]
        columns["pareto"] = [point.pareto for point in self.points]
        return frame(columns, flavour or self.flavour)

    def plot(self, ax: Any = None) -> Any:
        """The map, with intervals; points that none betters are joined; needs matplotlib."""
        from unveil.show.plots.assessment import plot_map

        return plot_map(self, ax=ax)

    @commands_shown
    def __str__(self) -> str:
        rows: list[list[float | str | None]] = []
        for point in sorted(self.points, key=lambda p: (p.risks.get(self.risk, (math.inf,))[0], p.label)):
            risk, useful = (
                found.get(name, (math.nan,) * 3)
                for found, name in ((point.risks, self.risk), (point.utilities, self.utility))
            )
            others = [number(point.risks[name][0], digits_of(name)) for name in point.risks if name != self.risk]
            rows.append(
                [f"{point.label}{' *' if point.pareto else ''}", point.releases,
                 *_shown(risk, digits_of(self.risk)), *_shown(useful, digits_of(self.utility)), *others]
            )  # fmt: skip
        names = [name for name in self.points[0].risks if name != self.risk]
        kept, drawn = f"interval, {NAMES['release']}", "interval, releases"
        header = ["", "releases", self.risk, kept, self.utility, drawn, *names]
        return "\n".join(
            [
                f"Risk and utility: keys {', '.join(self.keys)}; targets {', '.join(self.targets)}",
                "",
                text_table(header, rows),
                "",
                paragraph(
                    "* no other has less risk and more utility at once. Risks are means over the targets, repU, DiSCO",
                    "and DCAP in percent of original records, the others as shares; smaller is safer.",
                    f"{self.utility} is a distance from the original; smaller is more useful. Intervals of",
                    "risk are over other records of the same population, with the releases kept; of utility, over",
                    "releases of this original. Where they overlap the order is not settled.",
                    "Not shown: what an intruder with other keys learns.",
                ),
                *warnings_in_words(self.warnings),
            ]
        )

    __repr__ = __str__


def _shown(found: Sequence[float], digits: int) -> list[str]:
    """A figure and its interval."""
    value, low, high = (number(one, digits) for one in found)
    return [value, "-" if math.isnan(found[1]) else f"{low} to {high}"]
