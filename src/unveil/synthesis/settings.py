"""A synthesizer by its settings, as plain values."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from unveil.synthesis.any_synthesizer import Foreign

_NO_SETTING = ("self", "progress", "n_jobs", "noise_seed")
"""What does not change the result, and a seed, which is confidential: reports hold the settings."""
_MISSING = object()
_DEEPEST = 8


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


def identity_of(synthesizer: Any) -> dict[str, Any]:
    """All that a synthesizer was constructed with, as far as it keeps it under the names of its constructor."""
    synthesizer = synthesizer.inner if isinstance(synthesizer, Foreign) else synthesizer
    cart = getattr(synthesizer, "cart", None)
    if not hasattr(synthesizer, "fit"):  # a function of a frame
        return {"function": synthesizer}
    found = {"class": f"{type(synthesizer).__module__}.{type(synthesizer).__qualname__}", "cart": cart}
    for name in inspect.signature(type(synthesizer).__init__).parameters:
        value = getattr(synthesizer, name, _MISSING)
        if name not in _NO_SETTING and value is not _MISSING:
            found[name] = value
    return found


def in_plain_words(value: Any, depth: int = 0) -> Any:
    """A value in plain words: the same in every process, and the same for two values only if they are alike.

    Examples
    --------
    >>> in_plain_words({"b": (1, 2.5), "a": None})
    [('a', None), ('b', [1, 2.5])]
    >>> in_plain_words(lambda x: x > 1) == in_plain_words(lambda x: x > 2)
    False
    """
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return value
    called = f"{type(value).__module__}.{type(value).__qualname__}"
    if depth > _DEEPEST:
        return called
    if isinstance(value, Mapping):
        named = {str(name): in_plain_words(one, depth + 1) for name, one in value.items()}
        return sorted(named.items(), key=lambda item: item[0])
    if isinstance(value, set | frozenset):
        return sorted(repr(in_plain_words(one, depth + 1)) for one in value)
    if isinstance(value, list | tuple):
        return [in_plain_words(one, depth + 1) for one in value]
    if isinstance(value, np.generic | np.ndarray):
        array = np.ascontiguousarray(value)
        content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        return called, str(array.dtype), array.shape, hashlib.sha256(content).hexdigest()
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return called, in_plain_words(fields, depth + 1)
    if isinstance(value, CodeType):
        return value.co_code.hex(), value.co_names, in_plain_words(value.co_consts, depth + 1)
    if isinstance(value, FunctionType):
        around = [in_plain_words(cell.cell_contents, depth + 1) for cell in value.__closure__ or ()]
        return value.__qualname__, in_plain_words(value.__code__, depth + 1), around
    if hasattr(value, "__array__"):
        return in_plain_words(np.asarray(value), depth + 1)
    if type(value).__module__ in ("datetime", "decimal"):
        return repr(value)
    return called, in_plain_words(getattr(value, "__dict__", {}), depth + 1)
