"""Plain values: what JSON can hold in the place of tuples, arrays, classes and NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


class Plain:
    """A dataclass that says all that it holds, but for what is left out when two of them are compared."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, by name."""
        kept = (one.name for one in fields(self) if one.compare)  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in kept}


def plain(value: Any) -> Any:
    """Lists, dicts, texts and numbers in the place of tuples, arrays and dataclasses.

    Examples
    --------
    >>> plain({"keys": ("sex", "age"), "rate": np.array([0.5, 0.1]), "n": np.int64(3)})
    {'keys': ['sex', 'age'], 'rate': [0.5, 0.1], 'n': 3}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def without_nan(value: Any) -> Any:
    """JSON has no NaN and no infinity: what is not defined is null.

    Examples
    --------
    >>> without_nan({"DiSCO": [9.5, float("nan")]})
    {'DiSCO': [9.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
