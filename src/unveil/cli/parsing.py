"""What is typed on the command line, as values: names, numbers, assignments by column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyclopts import Token

from unveil.errors import CallError
from unveil.files.addresses import path_or_address


def whole(_: type, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; Python's own conversion of a fraction would cut it."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def named_path(_: type, tokens: Sequence[Token]) -> Path:
    """A path that is not empty: an empty one would mean the folder that one is in."""
    if not tokens[0].value:
        raise ValueError("the output has no name")
    return Path(tokens[0].value)


def address(_: type, tokens: Sequence[Token]) -> Path:
    """A path, or an address such as hdfs://office/people."""
    return path_or_address(tokens[0].value)


def names_of(given: list[str], known: tuple[str, ...]) -> list[str]:
    """Names separated by commas; a column whose own name has a comma is taken as it stands."""
    return [name for part in given for name in ([part] if part in known else part.split(","))]


def assignments(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in (p for text in given or () for p in split_assignments(text)):
        name, sign, value = part.rpartition("=")
        if not sign:
            raise CallError(f"--{option.replace('_', '-')} takes column=value, not {part!r}")
        pairs.append((name, value))
    return pairs


def split_assignments(text: str) -> list[str]:
    """Assignments separated by commas; a comma inside a name separates nothing."""
    parts = text.split(",")
    return parts if all("=" in part for part in parts) else [text]


def plain_value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def setting_value(text: str) -> Any:
    """A setting as it is typed: a number, true, false, none, or a text."""
    return {"true": True, "false": False, "none": None}.get(text.lower(), plain_value(text))


def groups_of(given: list[str] | None, option: str) -> int | dict[str, int | None] | None:
    if given is None:
        return None
    try:
        if len(given) == 1 and "=" not in given[0]:
            return int(given[0])
        return {name: int(value) for name, value in assignments(given, option)}
    except ValueError:
        raise CallError(f"--{option.replace('_', '-')} takes a whole number, or column=number, not {given!r}") from None


def breaks_of(given: list[str] | None) -> dict[str, list[float]]:
    """Breaks by column."""
    found = {}
    for column, value in assignments(given, "breaks"):
        try:
            found[column] = [float(part) for part in value.split(":")]
        except ValueError:
            raise CallError(f"--breaks takes column=number:number, such as age=18:30:65, not {value!r}") from None
    return found


def as_lists(intervals: list[dict[str, tuple[float, float]]]) -> list[dict[str, list[float]]]:
    return [{name: list(ends) for name, ends in one.items()} for one in intervals]


def rules_of(given: list[str] | None) -> list[str] | None:
    """Rules as they are typed; in the place of a TOML file those that it lists."""
    if given is None:
        return None
    from unveil.columns.stated_rules import listed_rules

    return list(listed_rules(given))
