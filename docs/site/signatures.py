"""What ``unveil.assess`` takes: the program writes its signature and its parameters from those of the scenario.

mkdocstrings reads the code without running it; Griffe, which reads for it, calls :class:`Written`.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe


class Written(griffe.Extension):
    """Functions whose docstring has a place for options, as they are when the program runs."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if func.docstring is None or "{options}" not in func.docstring.value:
            return
        running = getattr(importlib.import_module(func.module.path), func.name)
        func.docstring.value = inspect.getdoc(running) or ""
        func.parameters = griffe.Parameters(*map(_parameter, inspect.signature(running).parameters.values()))


def _parameter(one: inspect.Parameter) -> griffe.Parameter:
    required = one.default is inspect.Parameter.empty
    return griffe.Parameter(
        one.name,
        annotation=str(one.annotation),
        kind=griffe.ParameterKind(one.kind.description),
        default=None if required else repr(one.default),
    )
