"""Which synthesizer keeps the units of a file whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from unveil.errors import CallError
from unveil.synthesis.household import HouseholdSynthesizer
from unveil.synthesis.panel import PanelSynthesizer
from unveil.synthesis.wide_units import UnitSynthesizer


def keeping_units(unit: object, time: object, method: str | None) -> Callable[..., UnitSynthesizer] | None:
    """The synthesizer of the units of a panel or of households, to be called with its settings; None for single rows.

    Parameters
    ----------
    unit, time
        The columns that name the unit of a row and its wave; of households, those of household and person, and None.
    method
        The method; None for a synthesizer of others.

    Raises
    ------
    CallError
        If the columns name neither, or the method is not "cart".
    """
    if unit is None and time is None:
        return None
    names = [unit] if isinstance(unit, str) else list(unit) if isinstance(unit, list | tuple) else []
    if not all(isinstance(name, str) for name in names) or len(names) != (1 if isinstance(time, str) else 2):
        raise CallError(
            "units are kept whole in a panel, by unit and time of its rows (unit='person_id', time='wave'), and in "
            "households, by household and person (unit=['household', 'person'])"
        )
    if method != "cart":
        others = "a synthesizer that is given" if method is None else repr(method)
        raise CallError(f"units are kept whole by method 'cart', not by {others}; leave out unit and time")
    if isinstance(time, str):
        return partial(PanelSynthesizer, names[0], time)
    return partial(HouseholdSynthesizer, names)
