"""An interval that says what it is over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from unveil.checks import check_choice, check_shares
from unveil.plain import Plain

Kind = Literal["release", "process"]

OVER: dict[Kind, str] = {
    "release": (
        "over samples of as many records from the same population, with the release kept as it is: what this release "
        "would read with other records in the place of those at hand"
    ),
    "process": (
        "over samples of as many records from the same population and a release made from each: what the same "
        "procedure gives on average"
    ),
}
"""What each kind of interval is over."""

ONE_RELEASE = (
    "one release does not show how releases differ; give several releases of the same original, or have the "
    "synthesizer fitted again (unveil assess --provenance; in Python unveil.assess(..., synthesizer=...))"
)
"""Why there is no process interval."""

NAMES: dict[Kind, str] = {"release": "this release", "process": "the process"}
"""What each kind is called in tables and reports."""


def is_process(kind: str, level: float) -> bool:
    """Whether a process interval is asked for; raise CallError unless kind and level are those of an interval."""
    check_shares(level=level)
    check_choice("kind", kind, tuple(OVER))
    return kind == "process"


@dataclass(frozen=True)
class Interval(Plain):
    """A figure with an interval of a named kind.

    Attributes
    ----------
    kind
        "release" or "process"; :data:`OVER` says over what each is.
    value
        The figure.
    low, high
        The ends; NaN where the interval is not defined.
    level
        Coverage.
    undefined
        Why there is no interval, where there is none.
    """

    kind: Kind
    value: float
    low: float
    high: float
    level: float
    undefined: str | None = None

    @classmethod
    def missing(cls, kind: Kind, value: float, level: float, reason: str) -> Interval:
        """No interval, for a reason."""
        return cls(kind, value, math.nan, math.nan, level, reason)

    def scaled(self, factor: float) -> Interval:
        """The same in other units, as percent for shares."""
        return Interval(
            self.kind, factor * self.value, factor * self.low, factor * self.high, self.level, self.undefined
        )

    def in_words(self, name: str, digits: int = 2) -> str:
        """The ends behind the name of a measure; nothing where there are none.

        Examples
        --------
        >>> Interval("process", 0.2, 0.1, 0.4, 0.95).in_words("rate")
        'rate 0.10 to 0.40'
        """
        return "" if self.undefined is not None else f"{name} {self.low:.{digits}f} to {self.high:.{digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """The interval as plain values, with what it is over."""
        return super().to_dict() | {"over": OVER[self.kind]}


def called(kind: Kind, level: float = 0.95) -> str:
    """What an interval of a kind is called wherever it is shown.

    Examples
    --------
    >>> called("release"), called("process", 0.9)
    ('95 % interval, this release', '90 % interval, the process')
    """
    return f"{100 * level:g} % interval, {NAMES[kind]}"


def kinds_in_words(process: str, reason: str | None, level: float = 0.95) -> list[str]:
    """Over what the intervals of a result are.

    Parameters
    ----------
    process
        The process intervals as they are printed, where there are any.
    reason
        Why there is none, where there is none.
    level
        Coverage.

    Examples
    --------
    >>> for line in kinds_in_words("repU 1.0 to 2.0", None):
    ...     print(line)
    95 % interval, this release: over other records of the same population, with the release kept.
    95 % interval, the process (other records, and a release made from each): repU 1.0 to 2.0.
    """
    kept = f"{called('release', level)}: over other records of the same population, with the release kept."
    other = f"{called('process', level)} (other records, and a release made from each):"
    return [kept, f"{other} {process}." if process else f"{other} not defined, {reason}."]
