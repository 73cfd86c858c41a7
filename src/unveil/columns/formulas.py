"""Formulas: numbers that follow from the columns of a record, calculated with as decimals, without rounding.

A formula is a text such as ``"gross - tax"``: columns and numbers, joined by ``+``, ``-``, ``*``, ``/`` and
parentheses. A column name that is not a plain word stands between backticks. It is not defined where a column has a gap
or a special code, nor for a division by zero.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unveil.columns.known_columns import KnownColumn, Records, size_of
from unveil.errors import CallError
from unveil.files.distinct import level_text
from unveil.files.nearest import near_matches

MOST_DECIMALS = 9
SHOWN = 100
"""Longest part of a text that a message repeats."""
OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
Constant = tuple[str | None, object]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Value:
    """What a part of a text comes to in a record.

    Parameters
    ----------
    columns
        The columns that it depends on, by name.
    of
        Function from what a record has in them, by name, to the value; None where it is not defined.
    """

    columns: Mapping[str, KnownColumn]
    of: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula that was read.

    Parameters
    ----------
    text
        The formula as the user wrote it.
    value
        What it comes to.
    constants
        Values in the text.
    """

    text: str
    value: Value
    constants: tuple[Constant, ...] = ()

    @property
    def variables(self) -> frozenset[str]:
        """Names of the columns that it depends on."""
        return frozenset(self.value.columns)


def read_formula(text: str, columns: Mapping[str, KnownColumn], formulas: Mapping[str, Value] | None = None) -> Formula:
    """Read a formula.

    Parameters
    ----------
    text
        The formula.
    columns
        The columns that it can name.
    formulas
        What stands in the place of some columns, by their names.

    Raises
    ------
    CallError
        If it cannot be read, or names a column that there is not, or none.

    Examples
    --------
    >>> formula = read_formula("0.3 - tax / 2", {"tax": KnownColumn("tax", [0.4, None])})
    >>> formula.value.of({"tax": Fraction(4, 10)}), formula.value.of({"tax": None})
    (Fraction(1, 10), None)
    """
    reading = Reading(text, columns, formulas or {}, "formula")
    value = reading.read(lambda tree: calculated(tree, reading))
    if not value.columns:
        raise CallError(f"formula {shown(text)} names no column")
    return Formula(text, value, tuple(reading.constants))


TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*+'?+|"(?:[^"\\]|\\.)*+"?+|`([^`]*+)`?+""", re.DOTALL)
"""Texts, and names between backticks; without a closing sign they go to the end, which keeps the search linear."""


@dataclass(frozen=True)
class Reading:
    """A text while it is read.

    Parameters
    ----------
    text
        The text as the user wrote it.
    columns, formulas
        See :func:`read_formula`.
    what
        What the text is called.
    quoted
        Column names between backticks, by the placeholder that Python parses in their place.
    seen
        Names of the columns in the text.
    constants
        Values in the text that a column is tested for, with its name; those that are calculated with, without one.
    """

    text: str
    columns: Mapping[str, KnownColumn]
    formulas: Mapping[str, Value]
    what: str
    quoted: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    constants: list[Constant] = field(default_factory=list)

    def read(self, of: Callable[[ast.expr], T]) -> T:
        """Parse the text and return what a function makes of its syntax tree."""
        try:
            return of(self._parsed())
        except (RecursionError, MemoryError):
            raise CallError(f"{self.what} {shown(self.text)} is nested too deeply; write it shorter") from None

    def column(self, node: ast.expr) -> str | None:
        """Return the name of the column that a node names by a word, by words with points, or in backticks; else None.

        Raises
        ------
        CallError
            If there is no such column.
        """
        name = _dotted(node)
        if name is None:
            return None
        name = self.quoted.get(name, name)
        if name not in self.columns:
            raise CallError(f"rules: there is no column {name!r}{near_matches(str(name), tuple(self.columns))}")
        self.seen.add(name)
        return name

    def refused(self, why: str) -> CallError:
        """Return an error about the text."""
        return CallError(f"{self.what} {shown(self.text)}: {why}")

    def _parsed(self) -> ast.expr:
        def placeholder(found: re.Match[str]) -> str:
            if not found[1] or not found[0].endswith("`"):
                return found[0]
            word = f"column_{len(self.quoted)}_in_backticks"
            self.quoted[word] = found[1]
            return word

        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(TOKEN.sub(placeholder, self.text.strip()), mode="eval").body
            for part in ast.walk(tree):
                if isinstance(part, ast.Constant):
                    str(part.value)  # a ValueError for a whole number of more digits than Python writes
            return tree
        except (SyntaxError, ValueError):
            raise unreadable(self.text, self.what) from None


def unreadable(given: object, what: str) -> CallError:
    """Return the error for what is no condition, or no formula."""
    example = "gross - tax" if what == "formula" else "age < 18 and sex == 'f'"
    return CallError(f'{what} {shown(given)} cannot be read; write for example "{example}"')


def shown(given: object) -> str:
    """Return a text as messages repeat it."""
    text = repr(given)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def shown_size(size: object) -> str:
    """Return a number, a text or another value as messages show it."""
    if isinstance(size, Fraction):
        return level_text(float(size))
    return repr(size if isinstance(size, str | int | float) or size is None else level_text(size))


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return None if head is None else f"{head}.{node.attr}"
    return None


def calculated(node: ast.expr, reading: Reading) -> Value:
    """Return what a part of a text comes to.

    Raises
    ------
    CallError
        If it is no column, constant or calculation with numbers.
    """
    name = reading.column(node)
    if name is not None:
        own = reading.formulas.get(name)
        return own or Value({name: reading.columns[name]}, operator.itemgetter(name))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        reading.constants.append((None, node.value))
        constant = size_of(node.value)
        return Value({}, lambda record: constant)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        zero = Value({}, lambda record: Fraction(0))
        return _joined(operator.sub, zero, calculated(node.operand, reading), reading)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = calculated(node.left, reading), calculated(node.right, reading)
        return _joined(OPERATIONS[type(node.op)], left, right, reading)
    raise reading.refused("only columns, values, + - * / and comparisons joined by and, or, not can be used")


def _joined(operation: Callable[[Any, Any], Any], left: Value, right: Value, reading: Reading) -> Value:
    def of(record: Mapping[str, Any]) -> Any:
        one, two = left.of(record), right.of(record)
        for side in (one, two):
            if side is not None and not isinstance(side, Fraction):
                raise reading.refused(f"{shown_size(side)} is no number, which +, -, * and / take")
        if one is None or two is None or (operation is operator.truediv and two == 0):
            return None
        return operation(one, two)

    return Value({**left.columns, **right.columns}, of)


def by_combination(value: Value, records: Records) -> tuple[list[Any], NDArray[np.intp]]:
    """Work a value out once for every combination of values that records have in its columns.

    Returns
    -------
    results
        The value of each combination; None where it is not defined.
    place : (n,) int
        The combination of each record.
    """
    sizes, places = [], []
    for name, column in value.columns.items():
        own = records[name]
        place, known = own.codes.astype(np.int64), column.sizes
        if own.new is not None:
            rows = np.flatnonzero(~np.isnan(own.new))
            numbers, among = np.unique(own.new[rows], return_inverse=True)
            place[rows] = len(known) + among.ravel()
            known = [*known, *map(size_of, numbers.tolist())]
        sizes.append(known)
        places.append(place)
    combined = places[0]
    for place, known in zip(places[1:], sizes[1:], strict=True):
        # Renumbered at each step, so that products of many levels stay small.
        combined = np.unique(combined, return_inverse=True)[1].ravel() * len(known) + place
    _, first, combined = np.unique(combined, return_index=True, return_inverse=True)
    found = [[known[code] for code in place[first].tolist()] for known, place in zip(sizes, places, strict=True)]
    names = tuple(value.columns)
    return [value.of(dict(zip(names, row, strict=True))) for row in zip(*found, strict=True)], combined.ravel()


def decimals_of(sizes: Iterable[object]) -> int | None:
    """Return the decimals that all numbers among some sizes have at most, as they are written; None beyond nine.

    Examples
    --------
    >>> decimals_of([Fraction(1, 4), Fraction(3), None]), decimals_of([Fraction(1, 3)])
    (2, None)
    """
    numbers = [size for size in sizes if isinstance(size, Fraction)]
    return next((d for d in range(MOST_DECIMALS + 1) if all((one * 10**d).denominator == 1 for one in numbers)), None)


def rounded(number: Fraction | None, decimals: int | None) -> Fraction | None:
    """Return a number with so many decimals, halves to the even digit; as it is without decimals."""
    return number if number is None or decimals is None else Fraction(round(number, decimals))


def rounded_value(value: Value, decimals: int | None) -> Value:
    """Return a value that is rounded so."""
    return Value(value.columns, lambda record: rounded(value.of(record), decimals))
