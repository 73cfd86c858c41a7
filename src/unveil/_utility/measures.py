"""The utility measures of one thing that is compared between the original and every release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from unveil.plain import Plain

Figures = Mapping[str, float]


@dataclass(frozen=True)
class UtilityMeasures(Plain):
    """Utility measures of one variable, pair of variables, coefficient, predicted target or propensity model.

    Parameters
    ----------
    subject
        What is compared: texts and whole numbers by name, such as ``{"variable": "age"}``.
    releases
        Per release its figures by name; NaN where one is not defined.
    mean
        The mean over the releases where defined; of a coefficient the combined estimate.
    sd
        Standard deviation over the releases; NaN of fewer than two.
    undefined
        Why a figure is NaN, by its name.
    """

    subject: Mapping[str, Any]
    releases: tuple[Figures, ...]
    mean: Figures
    sd: Figures
    undefined: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        subject: Mapping[str, Any],
        releases: Sequence[Figures],
        *,
        mean: Figures | None = None,
        undefined: Mapping[str, str] | None = None,
    ) -> UtilityMeasures:
        """Gather the figures of all releases."""
        if len(releases) == 1:
            # of hundreds of thousands of pairs, the same figures are not held twice
            only = releases[0]
            return cls(subject, (only,), {**only, **mean} if mean else only, _no_sd(tuple(only)), undefined or {})
        return cls(subject, tuple(releases), mean_of(releases) | dict(mean or {}), sd_of(releases), undefined or {})

    def to_dict(self) -> dict[str, Any]:
        """The measures as plain values."""
        found = super().to_dict()
        subject: dict[str, Any] = found.pop("subject")
        return subject | found


def mean_of(releases: Sequence[Figures]) -> dict[str, float]:
    """Mean of every figure over the releases where it is defined.

    Examples
    --------
    >>> mean_of([{"TVD": 0.25}, {"TVD": 0.75}, {"TVD": float("nan")}])
    {'TVD': 0.5}
    """
    return {name: _over(releases, name, 0) for name in releases[0]}


def sd_of(releases: Sequence[Figures]) -> dict[str, float]:
    """Standard deviation of every figure over the releases where it is defined; NaN of fewer than two."""
    return {name: _over(releases, name, 1) for name in releases[0]}


@lru_cache(maxsize=64)
def _no_sd(names: tuple[str, ...]) -> Figures:
    """The standard deviations over a single release."""
    return dict.fromkeys(names, math.nan)


def _over(releases: Sequence[Figures], name: str, moment: int) -> float:
    values = [value for value in (r[name] for r in releases) if not math.isnan(value)]
    if len(values) <= moment:
        return math.nan
    if len(values) == 1:
        return values[0]
    return float(np.std(values, ddof=1)) if moment else float(np.mean(values))
