"""Figures of key tables where a suppressed value matches every value, beside those where it is a level of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unveil.assessment.figure import mean_of
from unveil.assessment.part import Context
from unveil.assessment.published_text import Exact
from unveil.limits import exceeds
from unveil.notes import Note

Readings = Sequence[Mapping[str, float]]
"""By release the figures in percent, by name; none where no sign of suppression is given."""
_CALLED = {"repU": "repU", "DiSCO": "DiSCO", "DCAPd": "DCAP"}


def mean_reading(readings: Readings) -> dict[str, float] | None:
    """Mean of each figure over the releases; None without readings."""
    if not readings:
        return None
    return {name: mean_of([one[name] for one in readings]) for name in readings[0]}


def as_wildcards(context: Context, readings: Readings, name: str, say: Exact) -> str:
    """A sentence to follow the figure, with a blank before it; empty without readings."""
    found = mean_reading(readings)
    if found is None:
        return ""
    return f" If a suppressed value ({context.scenario.suppressed}) matches every value: {say.percent(found[name])}."


def higher_as_wildcards(readings: Readings, values: Mapping[str, float], target: str | None = None) -> Iterator[Note]:
    """What is said where a figure is higher if suppressed values match every value.

    Parameters
    ----------
    readings
        The figures with wildcards.
    values
        The figures with the sign as a level of its own.
    target
        The target; None for figures of none.
    """
    found = mean_reading(readings) or {}
    higher = [_CALLED[name] for name in _CALLED if name in found and exceeds(found[name], values[name])]
    if higher:
        of = "" if target is None else f" of {target}"
        yield Note(
            f"{' and '.join(higher)}{of}: higher where a suppressed value matches every value than in tables, policy "
            "and map, where it is a level of its own; read the higher figure"
        )
