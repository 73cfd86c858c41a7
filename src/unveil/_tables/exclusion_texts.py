"""Exclusions as texts: what an option says, and what a check advises to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from unveil.errors import CallError
from unveil.files.nearest import near_matches, near_or_all

Triple = tuple[str, object, object]
_REST = re.compile(r"(<=|>=|<|>|=)(.*)", re.DOTALL)


def pair_readings(text: str, keys: Sequence[str]) -> list[Triple]:
    """All triples (key, key level, target level) that a text may mean: names and levels may hold its signs.

    Parameters
    ----------
    text
        Such as ``age=19:SINGLE``, or a comparison such as ``age<20:SINGLE``.
    keys
        Names of the key variables.

    Raises
    ------
    CallError
        If the text has another form, or begins with no key.

    Examples
    --------
    >>> pair_readings("time=10:30:no", ["time", "age"])
    [('time', '10', '30:no'), ('time', '10:30', 'no')]
    >>> pair_readings("age<20:SINGLE", ["age"])
    [('age', '<20', 'SINGLE')]
    """
    readings: list[Triple] = []
    for name in sorted((key for key in keys if text.startswith(key)), key=len, reverse=True):
        found = _REST.fullmatch(text, len(name))
        if found is not None:
            sign, parts = found[1].removeprefix("="), found[2].split(":")
            readings += [(name, sign + ":".join(parts[:n]), ":".join(parts[n:])) for n in range(1, len(parts))]
    if readings:
        return readings
    name, *rest = re.split("[=<>]", text, maxsplit=1)
    if rest and ":" in rest[0] and name not in keys:
        raise CallError(f"exclude_pairs: {text!r} begins with no key{near_or_all(name, keys, 'the keys are')}")
    raise CallError(
        f"exclude_pairs takes key=key level:target level, or a comparison such as age<20:SINGLE, not {text!r}"
    )


def levels_by_target(texts: Sequence[str], targets: Sequence[str]) -> dict[str, list[str]]:
    """Levels by target, from texts such as ``workab=NO`` or ``workab=NO,ill=yes``; a level may hold commas and signs.

    Raises
    ------
    CallError
        If a text begins with no target.

    Examples
    --------
    >>> levels_by_target(["hours=>=40", "ill=no, never"], ["hours", "ill"])
    {'hours': ['>=40'], 'ill': ['no, never']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        parts = text.split(",")
        if any(_target_of(part, targets) is None for part in parts):
            parts = [text]
        for part in parts:
            target = _target_of(part, targets)
            if target is None:
                name, sign, _ = part.partition("=")
                wrong = f"{part!r} begins with no target{near_matches(name, targets)}" if sign else f"not {part!r}"
                raise CallError(f"not_target_levels takes target=level: {wrong}")
            found.setdefault(target, []).append(part[len(target) + 1 :])
    return found


def _target_of(text: str, targets: Sequence[str]) -> str | None:
    return max((name for name in targets if text.startswith(f"{name}=")), key=len, default=None)


def pair_option(pair: Mapping[str, object]) -> str:
    """The option of the command line that leaves out a pair of :func:`unveil._tables.checks.two_way`.

    Examples
    --------
    >>> pair_option({"key": "age", "key_level": "16", "target_level": "NOT YET"})
    "--exclude-pairs 'age=16:NOT YET'"
    """
    return f"--exclude-pairs {shlex.quote(pair_text(pair))}"


def pair_text(pair: Mapping[str, object]) -> str:
    """A pair of :func:`unveil._tables.checks.two_way` as ``exclude_pairs`` takes it."""
    return f"{pair['key']}={pair['key_level']}:{pair['target_level']}"


def level_option(target: str, level: str) -> str:
    """The option of the command line that leaves out a level of a target.

    Examples
    --------
    >>> level_option("workab", "NO")
    '--not-target-levels workab=NO'
    """
    return f"--not-target-levels {shlex.quote(f'{target}={level}')}"
