"""Texts of parameters, read from the docstring of the class or function that declares them."""

from __future__ import annotations

import inspect
import re

_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?: {4}.*\n)+)", re.MULTILINE)


def parameter_texts(documented: object) -> dict[str, str]:
    """Text of each parameter by its name, from a numpydoc docstring.

    Examples
    --------
    >>> def area(width, height):
    ...     '''Return the area.
    ...
    ...     Parameters
    ...     ----------
    ...     width, height : float
    ...         In metres.
    ...     '''
    >>> parameter_texts(area)
    {'width': 'In metres.', 'height': 'In metres.'}
    """
    _, _, after = (inspect.getdoc(documented) or "").partition("Parameters\n----------\n")
    section = after.partition("\n\n")[0] + "\n"
    return {name: inspect.cleandoc(text) for names, text in _ENTRY.findall(section) for name in names.split(", ")}
