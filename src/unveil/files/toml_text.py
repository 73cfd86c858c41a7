"""Plain values as a TOML file writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unveil.printable import printable


def key_text(name: str) -> str:
    """A name before an equals sign, or of a table: in quotes unless all its letters may stand bare.

    Examples
    --------
    >>> print(key_text("income"), key_text("marital status"))
    income "marital status"
    """
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else quoted(name)


def value_text(value: Any) -> str:
    """A text, number, flag, list or table as TOML writes it on one line.

    Examples
    --------
    >>> print(value_text({"income": [-8, 1.5], "first wave": True}))
    { income = [-8, 1.5], "first wave" = true }
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(name)} = {value_text(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(one) for one in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(str(value)) if isinstance(value, str | Path) else repr(value)


def quoted(text: str) -> str:
    r"""A text in quotes; control characters and invisible ones are escaped.

    Examples
    --------
    >>> print(quoted('a "b"\a'))
    "a \"b\"\u0007"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escape(c) for c in escaped) + '"'


def _escape(character: str) -> str:
    if printable(character) == character and character not in "\t\n":
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"
