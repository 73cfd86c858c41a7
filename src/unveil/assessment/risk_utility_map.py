"""Points of risk and utility on one absolute map: the result of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unveil.assessment.pareto import pareto
from unveil.assessment.result import Assessment
from unveil.files.source import Flavour
from unveil.plain import without_nan
from unveil.result import Result, drawer

VIEWS = ("map", "all")
"""What can be drawn: the map of two measures, or every risk against every utility."""


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


@dataclass(frozen=True, repr=False)
class RiskUtilityMap(Result):
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

    _words = "words.assessment.risk_utility_map"
    _drawing = "plots.risk_utility.plot_map"

    keys: tuple[str, ...]
    targets: tuple[str, ...]
    risk: str
    utility: str
    points: tuple[Point, ...]
    assessments: Mapping[str, Assessment]
    warnings: tuple[str, ...] = ()
    flavour: Flavour = "arrow"

    @property
    def measures(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The risks and the utilities that some point has, in the order in which they were measured."""
        risks = dict.fromkeys(name for point in self.points for name in point.risks)
        return tuple(risks), tuple(dict.fromkeys(name for point in self.points for name in point.utilities))

    @property
    def pareto_of_all(self) -> tuple[bool, ...]:
        """Of each point, whether no other is at least as good in all risks and utilities at once, and better in one.

        A point that lacks a measure of the others is not compared, and is none of them.
        """
        risks, utilities = self.measures
        nothing = (math.nan,) * 3
        return tuple(
            pareto(
                [
                    [
                        *(point.risks.get(name, nothing)[0] for name in risks),
                        *(point.utilities.get(name, nothing)[0] for name in utilities),
                    ]
                    for point in self.points
                ]
            )
        )

    def plot(self, kind: str = "map", ax: Any = None) -> Any:  # type: ignore[override]
        """Draw risk against utility; needs matplotlib.

        Parameters
        ----------
        kind
            "map": :attr:`risk` against :attr:`utility`, with intervals. "all": small multiples, every risk against
            every utility, in which the points stand out that no other betters in all of them at once.
        ax
            Axes to draw one map on.

        Raises
        ------
        CallError
            If there is no such view, or nothing to draw.
        """
        return drawer(self._drawing)(self, kind, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """The points as plain values; what is not defined is None."""
        document: dict[str, Any] = without_nan(
            {
                "schema": "unveil.comparison",
                "schema_version": "1.1",
                "keys": self.keys,
                "targets": self.targets,
                "risk": self.risk,
                "utility": self.utility,
                "points": [
                    {name: getattr(point, name) for name in ("label", "releases", "pareto", "risks", "utilities")}
                    | {"pareto_of_all": is_best}
                    for point, is_best in zip(self.points, self.pareto_of_all, strict=True)
                ],
                "parts": {
                    label: [part for part in one.to_dict()["parts"] if part["status"] != "done"]
                    for label, one in self.assessments.items()
                },
                "warnings": self.warnings,
            }
        )
        return document

    def _columns(self) -> dict[str, Any]:
        """A row per point: label, number of releases, every measure with its interval, and whether none is better."""
        columns = {name: [getattr(point, name) for point in self.points] for name in ("label", "releases", "pareto")}
        pareto = columns.pop("pareto")
        for kind in ("risks", "utilities"):
            for name in dict.fromkeys(name for point in self.points for name in getattr(point, kind)):
                for i, end in enumerate(("", " low", " high")):
                    columns[name + end] = [getattr(p, kind).get(name, (math.nan,) * 3)[i] for p in self.points]
        return columns | {"pareto": pareto, "pareto_of_all": list(self.pareto_of_all)}
