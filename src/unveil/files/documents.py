"""Small documents in TOML and JSON, checked as a whole before use.

The content is safe to use: its size and depth are bounded, a double can hold its numbers, and its characters are whole.
Anything else raises an error of one line that names the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.errors import DataError, FileError
from unveil.files.arrays import is_broken
from unveil.files.path_checks import check_readable, reason_of

LARGEST_TOML = 16 << 20
LARGEST_JSON = 256 << 20
DEEPEST = 60
DIGITS = 300
"""Most digits of a whole number: longer ones exceed a double, and Python's time grows with the square of the length."""
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++)"""
_LONG_KEY = re.compile(rf"""(?<![\w"'.-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST},}}""", re.ASCII)
_LONG_NUMBER = re.compile(rf"[0-9_]{{{DIGITS},}}")


def read_toml(path: str | Path, label: str, what: str = "is not TOML ({})") -> tuple[str, dict[str, Any]]:
    """Return the text and the content of a TOML file.

    Parameters
    ----------
    path
        Path of the file.
    label
        Its name in messages.
    what
        Message for a file that is not TOML, with the reason in place of ``{}``.

    Raises
    ------
    FileError
        If the file cannot be read, is not TOML in UTF-8, is too large or nested too deeply, or has a number that is too
        long.
    """
    import tomllib

    text = _text(_bytes(path, label, LARGEST_TOML), label)
    # The parser's time grows with the square of the length of a key.
    if _LONG_KEY.search(text):
        raise FileError(f"{label}: nested too deeply; a key has more than {DEEPEST} parts")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(label) from None
    except ValueError as error:  # of tomllib, or of a number with too many digits
        raise FileError(f"{label}: {what.format(_reason(error))}") from None
    _check(content, label)
    return text, content


def read_json(path: str | Path, label: str, what: str = "JSON") -> Any:
    """Return the content of a JSON file.

    Parameters
    ----------
    path
        Path of the file.
    label
        Its name in messages.
    what
        The expected kind of file, for the message.

    Raises
    ------
    FileError
        If the file cannot be read, is not JSON in UTF-8, is too large or nested too deeply, has a number that is too
        long, or repeats a name in one object.
    """
    return parse_json(_bytes(path, label, LARGEST_JSON), label, what)


def parse_json(stored: bytes, label: str, what: str) -> Any:
    """Return the content of JSON that is part of another file; see :func:`read_json`."""
    text = _text(stored, label)
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise _too_deep(label) from None
    except ValueError as error:
        at = f"{error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else _reason(error)
        raise FileError(f"{label}: not {what} ({at}); give the file as it was written") from None
    _check(content, label)
    return content


def _bytes(path: str | Path, label: str, largest: int) -> bytes:
    try:
        check_readable(path, label)
        with Path(path).open("rb") as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{label}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(content) > largest:
        raise FileError(f"{label}: larger than {largest >> 20} MB")
    return content


def _text(content: bytes, label: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{label}: byte {error.start} is not UTF-8 text; give the file as it was written") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{_shown(twice)} occurs twice in one object")
    return found


def _too_deep(label: str) -> FileError:
    return FileError(f"{label}: nested too deeply; give the file as it was written")


def _reason(error: Exception) -> str:
    text = reason_of(error)
    if "integer string conversion" in text:
        return f"a number has more than {DIGITS} digits"
    return text if len(text) <= 200 else f"{text[:200]}..."


def _shown(value: object) -> str:
    return f"{value!r:.60}"


def _check(content: Any, label: str) -> None:
    """Check every value, without recursion."""
    for value, depth in _walk(content):
        if depth > DEEPEST:
            raise _too_deep(label)
        if isinstance(value, int) and abs(value) >= 10**DIGITS:
            raise FileError(f"{label}: a number has more than {DIGITS} digits; no such number can be meant")
        if isinstance(value, str) and is_broken(value):
            raise FileError(f"{label}: {_shown(value)} is not text, it holds half a character; correct it")


def _walk(content: Any) -> Iterator[tuple[Any, int]]:
    """Yield names and values with their depth; a value that is too deep is not entered."""
    waiting = [(content, 1)]
    while waiting:
        value, depth = waiting.pop()
        yield value, depth
        if depth > DEEPEST:
            continue
        if isinstance(value, dict):
            waiting.extend((one, depth + 1) for pair in value.items() for one in pair)
        elif isinstance(value, list):
            waiting.extend((one, depth + 1) for one in value)


# Shapes


@dataclass(frozen=True)
class Maybe:
    """The shape, or null."""

    shape: Any


def check_shape(value: Any, shape: Any, path: str) -> None:
    """Compare a value with its shape, level by level.

    Parameters
    ----------
    value
        Plain values as JSON and TOML give them.
    shape
        A tuple of types; a list with the shape of each entry; a dict with a shape by name, of which those with a
        question mark may be left out, and ``*`` stands for every other name; or a :class:`Maybe`.
    path
        Place of the value, for the message.

    Raises
    ------
    DataError
        If a part is missing or of another type; the message names it.

    Examples
    --------
    >>> check_shape({"names": ["age"], "n": 5}, {"names": [(str,)], "n": (int,), "note?": (str,)}, "content")
    >>> check_shape({"names": ["age", 3]}, {"names": [(str,)]}, "content")
    Traceback (most recent call last):
        ...
    unveil.errors.DataError: content.names[1] is 3, expected text
    """
    if isinstance(shape, Maybe):
        if value is not None:
            check_shape(value, shape.shape, path)
    elif isinstance(shape, dict):
        if not isinstance(value, Mapping):
            raise DataError(f"{path} is {_named(value)}, expected names with values")
        named = {name.removesuffix("?") for name in shape}
        for name, inner in shape.items():
            for key in value.keys() - named if name == "*" else [name.removesuffix("?")]:
                if key in value:
                    check_shape(value[key], inner, f"{path}.{key}")
                elif not name.endswith("?"):
                    raise DataError(f"{path} has no {key!r}; the file is cut short or was made by another program")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise DataError(f"{path} is {_named(value)}, expected a list")
        for number, one in enumerate(value):
            check_shape(one, shape[0], f"{path}[{number}]")
    elif not isinstance(value, shape) or (isinstance(value, bool) and bool not in shape and object not in shape):
        expected = " or ".join(_TYPES[kind] for kind in shape)
        raise DataError(f"{path} is {_named(value)}, expected {expected}")


_TYPES = {str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "null"}


def _named(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return f"{value!r:.40}"
