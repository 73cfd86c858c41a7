"""The result of utility."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unveil._utility.distributions import Distribution
from unveil._utility.measures import Figures, UtilityMeasures
from unveil._utility.sample import Sample
from unveil.checks import check_choice
from unveil.files.source import Flavour
from unveil.result import Result, columns_of, drawer

_RANKED = {"variables": "S_pMSE", "pairs": "S_pMSE", "models": "overlap", "prediction": "difference"}
_GOOD_IS_HIGH = ("accuracy", "macro_F1", "AUC", "R2")

TABLES = ("propensity", "variables", "pairs", "models", "prediction")


@dataclass(frozen=True, repr=False)
class Utility(Result):
    """How useful one or more releases are in place of the original.

    Attributes
    ----------
    columns
        The variables that were compared.
    releases, mean, sd
        Per release, and over the releases: the headline figures by name; see the documentation.
    propensity, variables, pairs, models, prediction
        The comparisons in detail; empty where they were not asked for.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    labels
        Names of the releases.
    settings
        Options of the call that the figures depend on.
    samples
        By part that was computed on some of the records: how many of each file, of how many.
    notes
        Notes on the figures.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        The notes, and remarks on the files.
    distributions
        How often each level, or interval of amounts, of each variable is in the original and in every release; empty
        where marginals were not asked for. They name rare levels, and are not in ``to_dict()``.
    """

    _words = "words.utility.utility_text"
    _drawing = "plots.utility.plot"

    columns: tuple[str, ...]
    releases: tuple[Figures, ...]
    mean: Figures
    sd: Figures
    propensity: tuple[UtilityMeasures, ...]
    variables: tuple[UtilityMeasures, ...]
    pairs: tuple[UtilityMeasures, ...]
    models: tuple[UtilityMeasures, ...]
    prediction: tuple[UtilityMeasures, ...]
    n_original: int
    n_synthetic: tuple[int, ...]
    labels: tuple[str, ...]
    settings: Mapping[str, Any]
    samples: Mapping[str, Sample]
    notes: tuple[str, ...]
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    distributions: tuple[Distribution, ...] = field(default=(), compare=False)

    def to_frame(self, table: str = "summary", *, flavour: Flavour | None = None) -> Any:  # type: ignore[override]
        """One table as a frame: a row per release, and with several releases one of their mean.

        Parameters
        ----------
        table
            "summary", "propensity", "variables", "pairs", "models", "prediction" or "distributions" (a row per level
            of each variable and file, with its share of the records).
        flavour
            Kind of frame; that of the original by default.

        Raises
        ------
        CallError
            If there is no such table.
        """
        check_choice("table", table, ("summary", *TABLES, "distributions"))
        if table == "distributions":
            rows = [
                {"variable": one.variable, "level": bar.level, "file": file, "share": share}
                for one in self.distributions
                for bar in one.bars
                for file, share in zip(("original", *self.labels), (bar.original, *bar.releases), strict=True)
            ]
        elif table == "summary":
            rows = [{"release": name} | dict(r) for name, r in self._named(self.releases, self.mean)]
        else:
            rows = [
                dict(c.subject) | {"release": name} | dict(figures)
                for c in getattr(self, table)
                for name, figures in self._named(c.releases, c.mean)
            ]
        return self._frame(columns_of(rows), flavour)

    def _named(self, releases: tuple[Figures, ...], mean: Figures) -> list[tuple[str, Figures]]:
        named = list(zip(self.labels, releases, strict=True))
        return [*named, ("mean", mean)] if len(named) > 1 else named

    def worst(self, table: str = "variables", *, by: str | None = None, n: int = 10) -> tuple[UtilityMeasures, ...]:
        """The comparisons that are farthest from the original.

        Parameters
        ----------
        table
            "variables" or "pairs", ordered by the ratio S_pMSE; "models", by the overlap of intervals; or "prediction",
            by what the score loses.
        by
            Another figure; its largest values come first.
        n
            How many.

        Raises
        ------
        CallError
            If there is no such table or figure.
        """
        check_choice("table", table, _RANKED)
        comparisons: tuple[UtilityMeasures, ...] = getattr(self, table)
        known = dict.fromkeys(name for c in comparisons for name in c.mean)
        if comparisons:
            check_choice("by", by, (None, *known))

        def badness(comparison: UtilityMeasures) -> float:
            value = comparison.mean.get(by or _RANKED[table], math.nan)
            good = table == "models" or comparison.subject.get("score") in _GOOD_IS_HIGH
            return -math.inf if math.isnan(value) else -value if by is None and good else value

        return tuple(sorted(comparisons, key=badness, reverse=True)[:n])

    def plot(  # type: ignore[override]
        self, kind: str | None = None, *, measure: str | None = None, ax: Any = None
    ) -> Any:
        """Draw one view; needs matplotlib.

        Parameters
        ----------
        kind
            "heatmap" (variables and pairs), "variables", "models", "prediction" or "distributions" (each variable in
            the original and in the releases); by default the first of them that was computed.
        measure
            Of the heat map: "TVD" (default), "S_pMSE", "V_difference", "pearson_difference", "spearman_difference";
            of variables any of their figures; of distributions the name of a variable, to draw this one alone.
        ax
            Axes to draw on.

        Raises
        ------
        CallError
            If there is no such view, or what it shows was not computed.
        """
        return drawer(self._drawing)(self, kind, measure, ax)
