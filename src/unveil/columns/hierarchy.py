"""Hierarchies: which coarser levels a level belongs to, and which intervals a number lies in."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.checks import is_number
from unveil.errors import CallError, FileError
from unveil.files.distinct import level_text
from unveil.files.documents import read_toml

Ends = tuple[float, float]


@dataclass(frozen=True)
class Hierarchy:
    """The coarser levels of one column.

    Parameters
    ----------
    parents
        By level the next coarser one; of an interval, the smallest one around it.
    intervals
        The intervals that hold no other, ascending: a level, from which number, and below which.
    heights
        By level that has a finer one, how many steps it is above the finest below it; an interval is one above numbers.
    """

    parents: Mapping[str, str]
    intervals: tuple[tuple[str, Ends], ...]
    heights: Mapping[str, int]

    @classmethod
    def of(cls, name: str, given: Any) -> Hierarchy:
        """Check the levels of a column.

        Parameters
        ----------
        name
            The column.
        given
            By level its coarser levels, from near to far (a text or a list of texts), or the two ends of an interval.

        Raises
        ------
        CallError
            If it has another form, a level has two next coarser levels, levels form a circle, or intervals overlap or
            leave a hole.

        Examples
        --------
        >>> found = Hierarchy.of("age", {"0-17": [0, 18], "18-64": [18, 65], "65+": [65, 120], "all": [0, 120]})
        >>> found.path("20", 20.0), found.path("65+")
        (('20', '18-64', 'all'), ('65+', 'all'))
        """
        if not isinstance(given, Mapping) or not given:
            raise CallError(f"hierarchies: {name!r} takes coarser levels by level, or intervals, not {given!r}")
        parents: dict[str, str] = {}
        ends: dict[str, Ends] = {}
        for level, value in ((level_text(key), value) for key, value in given.items()):
            if (found := _ends(value)) is not None:
                ends[level] = found
                continue
            for finer, coarser in _steps(name, level, value):
                if parents.setdefault(finer, coarser) != coarser:
                    raise CallError(
                        f"hierarchies: {name!r}: {finer!r} has two next coarser levels, {parents[finer]!r} and "
                        f"{coarser!r}; leave one of them out"
                    )
        finest, around = _nested(name, ends)
        parents |= around
        _check_no_circle(name, parents)
        return cls(parents, tuple((level, ends[level]) for level in finest), _heights(parents, ends))

    def knows(self, level: str) -> bool:
        """Whether a level has a place here."""
        return level in self.parents or level in self.heights

    def path(self, level: str, amount: float | None = None) -> tuple[str, ...]:
        """A level or number and the coarser levels that it belongs to, from near to far."""
        found = [level]
        coarser = self.parents.get(level) or (None if amount is None else self._interval(amount))
        while coarser is not None:
            found.append(coarser)
            coarser = self.parents.get(coarser)
        return tuple(found)

    def _interval(self, amount: float) -> str | None:
        place = bisect_right([low for _, (low, _) in self.intervals], amount) - 1
        if place < 0 or amount >= self.intervals[place][1][1]:
            return None
        return self.intervals[place][0]


def _ends(value: Any) -> Ends | None:
    """The two ends of an interval; None if the value is none."""
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2 and all(map(is_number, value)):
        return float(value[0]), float(value[1])
    return None


def _steps(name: str, level: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each level of a list with the next."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(one, str) for one in listed):
        raise CallError(
            f"hierarchies: {name!r}: {level!r} takes its coarser levels, from near to far, or the two ends of an "
            f"interval, not {value!r}"
        )
    return zip([level, *listed], listed, strict=False)


def _nested(name: str, ends: Mapping[str, Ends]) -> tuple[list[str], dict[str, str]]:
    """The intervals that hold no other, ascending, and the smallest interval around each."""
    for level, (low, high) in ends.items():
        if not low < high:
            raise CallError(f"hierarchies: {name!r}: {level!r} is from {low:g} to below {high:g}: no number lies in it")
    around: dict[str, str] = {}
    inside: dict[str | None, list[str]] = {None: []}
    stack: list[str] = []
    for level in sorted(ends, key=lambda one: (ends[one][0], -ends[one][1])):
        low, high = ends[level]
        while stack and ends[stack[-1]][1] <= low:
            stack.pop()
        if stack and (high > ends[stack[-1]][1] or ends[level] == ends[stack[-1]]):
            raise CallError(f"hierarchies: {name!r}: the intervals {stack[-1]!r} and {level!r} overlap")
        if stack:
            around[level] = stack[-1]
        inside.setdefault(stack[-1] if stack else None, []).append(level)
        stack.append(level)
    for outer, levels in inside.items():
        _check_no_hole(name, None if outer is None else ends[outer], [ends[level] for level in levels])
    return [level for level in sorted(ends, key=ends.__getitem__) if level not in inside], around


def _check_no_hole(name: str, outer: Ends | None, inner: Sequence[Ends]) -> None:
    highs, lows = [high for _, high in inner], [low for low, _ in inner]
    if outer is not None:
        highs, lows = [outer[0], *highs], [*lows, outer[1]]
    else:
        highs, lows = highs[:-1], lows[1:]
    for end, begin in zip(highs, lows, strict=True):
        if end != begin:
            raise CallError(
                f"hierarchies: {name!r}: the intervals leave a hole from {end:g} to below {begin:g}; an interval "
                "begins where the one before it ends"
            )


def _check_no_circle(name: str, parents: Mapping[str, str]) -> None:
    sound: set[str] = set()
    for level in parents:
        seen: dict[str, None] = {}
        at: str | None = level
        while at is not None and at not in sound:
            if at in seen:
                circle = [*list(seen)[list(seen).index(at) :], at]
                raise CallError(f"hierarchies: {name!r}: levels form a circle: {' < '.join(map(repr, circle))}")
            seen[at] = None
            at = parents.get(at)
        sound.update(seen)


def _heights(parents: Mapping[str, str], ends: Mapping[str, Ends]) -> dict[str, int]:
    heights = dict.fromkeys(ends, 1)
    for level in parents:
        height = heights.get(level, 0)
        at = parents.get(level)
        while at is not None:
            height += 1
            heights[at] = max(heights.get(at, 0), height)
            at = parents.get(at)
    return heights


def hierarchies_of(given: Any) -> dict[str, Hierarchy]:
    """Hierarchies by column, from a TOML file with a table per column, or from a mapping of the same form.

    Raises
    ------
    CallError
        If a mapping is no hierarchy.
    FileError
        If a file cannot be read, or is none.
    """
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        try:
            return hierarchies_of(read_toml(path, str(path))[1])
        except CallError as error:
            raise FileError(f"{path}: {error}") from None
    if not isinstance(given, Mapping):
        raise CallError(f"hierarchies are given by column, as a mapping or a TOML file, not as {given!r}")
    return {str(name): Hierarchy.of(str(name), levels) for name, levels in given.items()}
