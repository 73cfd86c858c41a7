"""A synthesizer by its settings, as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from unveil.synthesis.calls import Foreign

__all__ = ["settings_of"]

_NO_SETTING = ("self", "progress", "n_jobs", "noise_seed")
"""What does not change the result, and a seed, which is confidential: reports hold the settings."""
_MISSING = object()


def settings_of(synthesizer: Any) -> dict[str, Any]:
    """What an object was constructed with, by the names that its constructor takes.

    Parameters
    ----------
    synthesizer
        An object that keeps what it was constructed with in attributes of the same names, or in those of its ``cart``.

    Returns
    -------
    dict
        ``class``, and the settings that are found; what is no plain value is given by its type.

    Examples
    --------
    >>> from unveil.synthesis import CartSynthesizer
    >>> found = settings_of(CartSynthesizer(minbucket=20))
    >>> found["class"], found["minbucket"], found["cp"]
    ('CartSynthesizer', 20, 1e-08)
    """
    synthesizer = synthesizer.inner if isinstance(synthesizer, Foreign) else synthesizer
    found = {"class": type(synthesizer).__name__}
    for name in inspect.signature(type(synthesizer).__init__).parameters:
        if name in _NO_SETTING:
            continue
        value = getattr(synthesizer, name, getattr(getattr(synthesizer, "cart", None), name, _MISSING))
        if value is not _MISSING:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return type(value).__name__
