"""Checks of the values that a caller gives for options; each raises CallError and names the option."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TypeGuard

import numpy as np

from unveil.errors import CallError


def is_whole_number(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or of numpy; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, of Python or of numpy; a truth value is none, infinity and NaN are."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole_numbers(least: int, most: int | None = None, /, **options: object) -> None:
    """Raise CallError unless each option is a whole number from ``least``, up to ``most`` if that is given.

    Examples
    --------
    >>> check_whole_numbers(2, folds=5, repeats=1)
    Traceback (most recent call last):
    unveil.errors.CallError: repeats must be a whole number from 2, not 1
    """
    for name, value in options.items():
        if not is_whole_number(value) or value < least or (most is not None and value > most):
            limits = f"from {least}" if most is None else f"from {least} to {most}"
            raise CallError(f"{name} must be a whole number {limits}, not {value!r}")


def check_numbers(least: float = -math.inf, /, **options: object) -> None:
    """Raise CallError unless each option is a finite number from ``least``."""
    for name, value in options.items():
        if not is_number(value) or not least <= value < math.inf:
            limit = "" if least == -math.inf else f" from {least:g}"
            raise CallError(f"{name} must be a number{limit}, not {value!r}")


def check_range(least: float, most: float, /, **options: object) -> None:
    """Raise CallError unless each option is a number from ``least`` to ``most``."""
    for name, value in options.items():
        if not is_number(value) or not least <= value <= most:
            raise CallError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")


def check_positive(**options: object) -> None:
    """Raise CallError unless each option is a finite number above 0."""
    for name, value in options.items():
        if not is_number(value) or not 0 < value < math.inf:
            raise CallError(f"{name} must be a number above 0, not {value!r}")


def check_shares(**options: object) -> None:
    """Raise CallError unless each option is a number above 0 and below 1, such as the level of an interval."""
    for name, value in options.items():
        if not is_number(value) or not 0 < value < 1:
            raise CallError(f"{name} must lie between 0 and 1, not {value!r}")


def check_flags(**options: object) -> None:
    """Raise CallError unless each option is True or False; 0 and 1 are neither."""
    for name, value in options.items():
        if not isinstance(value, bool | np.bool_):
            raise CallError(f"{name} must be True or False, not {value!r}")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise CallError unless the option is one of the choices.

    Examples
    --------
    >>> check_choice("scale", "sd", ("range", "iqr"))
    Traceback (most recent call last):
    unveil.errors.CallError: scale must be 'range' or 'iqr', not 'sd'
    """
    known = list(choices)
    if value not in known:
        *others, last = map(repr, known)
        raise CallError(f"{name} must be {', '.join(others)} or {last}, not {value!r}")


def as_texts(name: str, given: object) -> tuple[str, ...]:
    """The option as a tuple of texts; raise CallError unless it is a text or a list of texts."""
    if isinstance(given, str):
        return (given,)
    texts = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(one, str) for one in texts):
        raise CallError(f"{name} takes a text or a list of texts, not {given!r}")
    return texts


def some_of(name: str, given: object, choices: Iterable[str]) -> tuple[str, ...]:
    """The choices that the option names, in the order of the choices; raise CallError unless it names some of them.

    Examples
    --------
    >>> some_of("measures", ["pairs", "models"], ("models", "marginals", "pairs"))
    ('models', 'pairs')
    """
    known, names = list(choices), as_texts(name, given)
    if not names:
        raise CallError(f"{name}: none is named; choose from {', '.join(known)}")
    for one in names:
        check_choice(name, one, known)
    return tuple(one for one in known if one in names)
