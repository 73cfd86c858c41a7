"""Measures that other packages register, as parts of an assessment.

A measure declares the names and kinds of its figures before it sees a record: a ``share`` of persons, from 0 to 1, or a
``count`` of them. With each figure it says on how many original records the figure rests. That is all the gate needs:
shares and counts are rounded like those of this package, and a name that was not declared goes nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any

from unveil.assessment.part import Context, Section
from unveil.assessment.registered_measures import registered_measure
from unveil.checks import is_number, is_whole_number
from unveil.errors import CallError, DataError, UnveilError
from unveil.notes import Note
from unveil.printable import one_line
from unveil.registered import Registered

KINDS = ("share", "count")
_TAKES = "figures: a mapping of their names to 'share' or 'count'"


def other_measure_part(name: str) -> Callable[[Context], Section]:
    """The part of one registered measure."""

    def part(context: Context) -> Section:
        one = registered_measure(name)
        measure, kinds = _loaded(one)
        flavour = getattr(measure, "flavour", None)
        pair, scenario = context.pair, context.scenario
        try:
            found = measure(
                pair.original.to_frame(flavour), [release.to_frame(flavour) for release in pair.releases],
                list(scenario.keys), list(scenario.targets),
            )  # fmt: skip
        except UnveilError:
            raise
        except Exception as error:
            text = f"measure {name!r} of the package {one.package} failed"
            raise DataError(Note(f"{text} with {type(error).__name__}: {one_line(str(error))}", text)) from error
        figures = [_figure(one, kinds, *item, pair.n_original) for item in _items(one, found)]
        return Section(entries={"other_measures": [{"measure": name, "package": one.package, "figures": figures}]})

    return part


def _loaded(one: Registered) -> tuple[Callable[..., Any], Mapping[str, str]]:
    """The measure, and by name the kinds of its figures."""
    made = one.load()
    try:
        measure = made() if isclass(made) else made
    except Exception as error:
        raise CallError(f"{_said(one)} cannot be made without settings ({error}); register an object") from None
    kinds = getattr(measure, "figures", None)
    if not callable(measure) or not isinstance(kinds, Mapping) or not kinds:
        raise CallError(f"{_said(one)} is no function with {_TAKES}")
    for name, kind in kinds.items():
        if not isinstance(name, str) or kind not in KINDS:
            raise CallError(f"{_said(one)}: {name!r}: {kind!r} is not one of its {_TAKES}")
    return measure, dict(kinds)


def _items(one: Registered, found: Any) -> list[tuple[str, Any]]:
    if not isinstance(found, Mapping):
        raise DataError(f"{_said(one)} returned {type(found).__name__}; it has to be (value, persons) by name")
    return list(found.items())


def _figure(one: Registered, kinds: Mapping[str, str], name: str, given: Any, n: int) -> dict[str, Any]:
    """A figure, checked against what was declared of it."""
    if name not in kinds:
        raise DataError(f"{_said(one)} returned {name!r}, which its figures do not declare")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"{_said(one)}: {name} has to be a pair, its value and the number of persons it rests on")
    value, persons = given
    if not is_whole_number(persons) or not 0 <= persons <= n:
        raise DataError(f"{_said(one)}: {name} rests on {persons!r} persons; the original has {n}")
    most = 1 if kinds[name] == "share" else persons
    value = math.nan if value is None else value
    if not is_number(value) and not (isinstance(value, float) and math.isnan(value)):
        raise DataError(f"{_said(one)}: {name} is {value!r}, which is no number")
    if not (math.isnan(value) or 0 <= value <= most):
        raise DataError(f"{_said(one)}: {name} is {value:g}; a {kinds[name]} is from 0 to {most}")
    return {"name": name, "kind": kinds[name], "value": float(value), "persons": int(persons)}


def _said(one: Registered) -> str:
    return f"measure {one.name!r} of the package {one.package}"
