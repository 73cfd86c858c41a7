"""One figure of risk with all that must stand beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.notes import Note
from unveil.stats import NAMES, Interval

RISKS = (
    "repU",
    "DiSCO",
    "DCAP",
    "RAPID",
    "posterior",
    "posterior certain",
    "membership AUC",
    "exact membership",
    "linkage",
    "match risk",
)
UTILITIES = ("mean TVD", "worst pair TVD", "S_pMSE", "pMSE", "SPECKS")
"""Names of all figures, by which policies, maps and comparisons refer to them."""

PERCENT = ("repU", "DiSCO", "DCAP", "linkage", "match risk")
"""Measures in percent of records; the others are shares, areas, or distances."""

SHARES_OF_RECORDS = ("mean TVD", "worst pair TVD", "SPECKS")
"""Distances that are shares of records: they are shown as percent."""

SHARES = ("RAPID", "posterior", "posterior certain", *SHARES_OF_RECORDS)
"""Measures between 0 and 1 that are printed as percent."""

OF_PROCESS = ("repU", "DiSCO", "DCAP", "RAPID")
"""Measures with a process interval."""

NO_PROCESS = Note("it is given for repU, DiSCO, DCAP and RAPID")


@dataclass(frozen=True)
class Figure:
    """A figure, its uncertainty, its baselines, and the measure that would contradict it.

    Parameters
    ----------
    measure, intruder, target
        What is measured, for whom (empty for utility), and of which target (None where it concerns no target).
    unit
        "percent" of persons, "share" (0 to 1), "auc", or "distance" of a measure of utility.
    per_release
        Value of each release, or one value where all releases are taken together.
    low, high
        Interval of the mean.
    over
        What that interval is over: "this release" (other records, with the release kept), "releases of this
        original", or "repeated fits" (of the synthesizer, to other halves of the records).
    process_low, process_high
        Its process interval: over samples of as many persons and a release made from each.
    process_undefined
        Why there is none, where there is none.
    sentence, does_not_show
        What it means, and what it does not say.
    contradicted_by
        The measure to look at before a low value is believed.
    margin
        The same without release and keys.
    null_mean, null_95, p_value
        The same if the release said nothing of how keys and target go together.
    ceiling
        The same attack on the original itself.
    held_out
        The same for real persons that the synthesizer never saw.
    excess, excess_low, excess_high
        (value - null) / (1 - null), and its interval.
    undefined
        Why there is no value, where there is none.
    persons
        Original records behind the figure; all of them where it is None.
    """

    measure: str
    intruder: str
    target: str | None
    unit: str
    per_release: Sequence[float]
    low: float
    high: float
    sentence: str
    does_not_show: str
    contradicted_by: str
    margin: float = math.nan
    null_mean: float = math.nan
    null_95: float = math.nan
    p_value: float = math.nan
    ceiling: float = math.nan
    held_out: float = math.nan
    excess: float = math.nan
    excess_low: float = math.nan
    excess_high: float = math.nan
    undefined: str | None = None
    persons: int | None = None
    over: str = NAMES["release"]
    process_low: float = math.nan
    process_high: float = math.nan
    process_undefined: str | None = NO_PROCESS

    @property
    def value(self) -> float:
        """Mean over the releases; NaN where one is not defined."""
        return mean_of(self.per_release)

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain values."""
        plain: Mapping[str, Any] = vars(self)
        return {
            "measure": self.measure,
            "intruder": self.intruder or None,
            "target": self.target,
            "unit": self.unit,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "over": self.over,
            "process_low": self.process_low,
            "process_high": self.process_high,
            "process_undefined": self.process_undefined,
            "undefined": self.undefined,
            "per_release": list(self.per_release),
            "persons": self.persons,
            **{name: plain[name] for name in _LADDER},
            "sentence": self.sentence,
            "does_not_show": self.does_not_show,
            "contradicted_by": self.contradicted_by,
        }


_LADDER = (
    "margin", "null_mean", "null_95", "p_value", "ceiling", "held_out", "excess", "excess_low", "excess_high",
)  # fmt: skip


def digits_of(measure: str) -> int:
    """Digits behind the point where a figure is printed as it is: percentages have two.

    Examples
    --------
    >>> digits_of("repU"), digits_of("RAPID"), digits_of("membership AUC")
    (2, 2, 4)
    """
    return 2 if measure in (*PERCENT, *SHARES) else 4


def printed(measure: str, value: float | None) -> float | None:
    """A figure as it is printed: shares are percent.

    Examples
    --------
    >>> printed("RAPID", 0.25), printed("repU", 25.0), printed("membership AUC", 0.5)
    (25.0, 25.0, 0.5)
    """
    return 100 * value if value is not None and measure in SHARES else value


def printed_statistic(measure: str, statistic: str, value: float, digits: int = 6) -> str:
    """A number that a policy limits as it is printed: an excess is a share whatever it is of, a p-value is none.

    Examples
    --------
    >>> printed_statistic("RAPID", "value", 0.07), printed_statistic("repU", "worst_release", 20.0)
    ('7 %', '20 %')
    >>> printed_statistic("membership AUC", "excess_high", 0.05), printed_statistic("RAPID", "p_value", 0.05)
    ('5 %', '0.05')
    """
    if statistic == "p_value":
        return f"{value:.{digits}g}"
    if statistic.startswith("excess"):
        return f"{100 * value:.{digits}g} %"
    return f"{100 * value if measure in SHARES else value:.{digits}g}{' %' if measure in (*PERCENT, *SHARES) else ''}"


def process_of(found: Interval, factor: float = 1.0, reason: str | None = None) -> dict[str, Any]:
    """A process interval by the names of a :class:`Figure`.

    Parameters
    ----------
    found
        The interval.
    factor
        From its unit to that of the figure.
    reason
        Why there is none although the synthesizer is known; said in the place of the interval's own reason.
    """
    if found.undefined is None:
        return {"process_low": factor * found.low, "process_high": factor * found.high, "process_undefined": None}
    return {"process_undefined": reason or Note(found.undefined)}


def mean_of(values: Sequence[float]) -> float:
    """Mean of an exact sum; NaN where a value is not defined or there is none.

    Examples
    --------
    >>> mean_of([1.0, 2.0]), mean_of([])
    (1.5, nan)
    """
    return math.fsum(values) / len(values) if values else math.nan
