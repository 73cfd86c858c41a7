"""What a measure says to somebody who gives it frames in the place of a pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from unveil.columns.pair import Pair
from unveil.errors import CallError

P = ParamSpec("P")
R = TypeVar("R")


def pair_first(measure: Callable[P, R]) -> Callable[P, R]:
    """The same measure, which says how a pair is made if its first argument is none.

    Examples
    --------
    >>> @pair_first
    ... def measure(pair: Pair, keys: list[str]) -> int:
    ...     return len(keys)
    >>> measure("original.csv", "release.csv", ["sex"])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    unveil.errors.CallError: measure: the first argument is a Pair of original and release, not str; make one first:
    measure(unveil.Pair(original, release), ...)
    """
    name = measure.__name__

    @wraps(measure)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        given = arguments[:1] or tuple(value for option, value in options.items() if option == "pair")
        if given and not isinstance(given[0], Pair):
            kind = type(given[0]).__name__
            raise CallError(
                f"{name}: the first argument is a Pair of original and release, not {kind}; make one first: "
                f"{name}(unveil.Pair(original, release), ...)"
            )
        return measure(*arguments, **options)

    return checked


def refuse_units(files: object, measure: str) -> None:
    """Refuse a pair of units where a measure speaks of rows.

    Parameters
    ----------
    files
        What the measure was given.
    measure
        Its name.

    Raises
    ------
    CallError
        If it is a pair with units.
    """
    if isinstance(files, Pair) and files.unit:
        raise CallError(
            f"{measure} is not defined for units of several rows (unit={', '.join(files.unit)}): give files with one "
            "row for each, such as its last, and no unit"
        )
