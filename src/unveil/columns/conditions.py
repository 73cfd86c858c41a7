"""Conditions about the columns of a record, as texts that are read and never run.

A condition is a text such as ``"age < 18"``, ``"income is None"`` or
``"net <= gross - tax or sex == 'male' and region in ['north', 'east']"``, or a mapping of columns to a value, several
values, or a function of a value. A column name that is not a plain word stands between backticks:
``"`marital status` == 'single'"``.

A condition is true, false or unknown. A gap is a value like others where a column is compared with constants by ``==``,
``!=``, ``in`` and ``is``. It has no size: what is larger or smaller than it is unknown, and so are formulas with it,
and comparisons of columns with each other. A special code has no size in formulas and between columns either. ``not``
unknown is unknown; ``and`` is false where one side is false, and ``or`` true where one side is true, whatever the other
is (Kleene's logic). Numbers are compared and calculated with as decimals, as they are written, without rounding.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.columns.formulas import (
    Constant,
    Reading,
    Value,
    by_combination,
    calculated,
    shown_size,
    unreadable,
)
from unveil.columns.known_columns import KnownColumn, Records
from unveil.files.distinct import level_text
from unveil.limits import as_written

FALSE, UNKNOWN, TRUE = 0, 1, 2
"""In this order ``and`` is the smallest of its parts, ``or`` the largest, and ``not`` the distance from true."""

Truth = NDArray[np.int8]
Mask = NDArray[np.bool_]
TruthOf = Callable[[Records], Truth]
Test = Callable[[object], int]
Written = str | Mapping[str, Any]

ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
"""Each comparison with its sides exchanged."""


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition that was read.

    Parameters
    ----------
    text
        The condition as the user wrote it.
    variables
        Names of the columns in it.
    truth
        Function from records to FALSE, UNKNOWN or TRUE for each (n,).
    constants
        Values in it that a column is tested for, with the name of the column, and values in its formulas, without a
        name. Numbers that a column is larger or smaller than are not among them.
    """

    text: str
    variables: frozenset[str]
    truth: TruthOf
    constants: tuple[Constant, ...] = ()

    def holds(self, records: Records) -> Mask:
        """Which records (n,) it is true of."""
        found: Mask = self.truth(records) == TRUE
        return found

    def broken(self, records: Records) -> Mask:
        """Which records (n,) it is false of."""
        found: Mask = self.truth(records) == FALSE
        return found


def read_condition(
    written: Written, columns: Mapping[str, KnownColumn], formulas: Mapping[str, Value] | None = None
) -> Condition:
    """Read a condition.

    Parameters
    ----------
    written
        The condition.
    columns
        The columns that it can name.
    formulas
        What stands in the place of some columns, by their names.

    Raises
    ------
    CallError
        If it cannot be read, or names a column that there is not.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns = {"age": KnownColumn("age", [15, 40, None]), "limit": KnownColumn("limit", [16, 18])}
    >>> codes = {"age": np.array([0, 1, 2]), "limit": np.array([1, 1, 0])}
    >>> records = {name: SimpleNamespace(codes=own, new=None) for name, own in codes.items()}
    >>> read_condition("age + 1 <= limit", columns).truth(records).tolist()
    [2, 0, 1]
    """
    if isinstance(written, Mapping):
        reading = Reading(repr(dict(written)), columns, {}, "condition")
        parts = []
        for name, wanted in written.items():
            reading.column(ast.Name(name))
            reading.constants.extend((name, one) for one in _each(wanted))
            parts.append(_by_level(columns[name], _accepts(wanted)))
        return Condition(reading.text, frozenset(reading.seen), _joined(parts), tuple(reading.constants))
    if not isinstance(written, str):
        raise unreadable(written, "condition")
    reading = Reading(written, columns, formulas or {}, "condition")
    truth = reading.read(lambda tree: _truth(tree, reading))
    return Condition(written, _variables(reading), truth, tuple(reading.constants))


def _variables(reading: Reading) -> frozenset[str]:
    """Names of the columns that a condition depends on."""
    own = (reading.formulas[name].columns if name in reading.formulas else (name,) for name in reading.seen)
    return frozenset(name for names in own for name in names)


def _joined(parts: Sequence[TruthOf], by: np.ufunc = np.minimum) -> TruthOf:
    return lambda records: by.reduce([part(records) for part in parts])


def _truth(node: ast.expr, reading: Reading) -> TruthOf:
    if isinstance(node, ast.BoolOp):
        parts = [_truth(value, reading) for value in node.values]
        return _joined(parts, np.minimum if isinstance(node.op, ast.And) else np.maximum)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _truth(node.operand, reading)
        return lambda records: TRUE - inner(records)
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        return _joined([_compared(*each, reading) for each in zip(operands, node.ops, operands[1:], strict=False)])
    raise reading.refused("only comparisons of columns, values and formulas, and, or, not can be used")


def _compared(left: ast.expr, sign: ast.cmpop, right: ast.expr, reading: Reading) -> TruthOf:
    """Return the truth of a comparison: of a column with a constant, in any order, or of columns and formulas."""
    for one, kind, other in ((left, type(sign), right), (right, MIRRORED.get(type(sign)), left)):
        name = reading.column(one)
        if kind is not None and name is not None and name not in reading.formulas and _is_constant(other):
            wanted = ast.literal_eval(other)
            if kind not in ORDERS or not isinstance(wanted, int | float):
                reading.constants.extend((name, one) for one in _each(wanted))
            return _by_level(reading.columns[name], _comparison(kind(), wanted, reading))
    if isinstance(sign, ast.In | ast.NotIn | ast.Is | ast.IsNot):
        raise reading.refused("in and is take a column on their left, and values on their right")
    sides = calculated(left, reading), calculated(right, reading)
    compare = ORDERS.get(type(sign)) or (operator.eq if isinstance(sign, ast.Eq) else operator.ne)

    def of(record: Mapping[str, Any]) -> int:
        one, two = (side.of(record) for side in sides)
        if one is None or two is None:
            return UNKNOWN
        try:
            return TRUE if compare(one, two) else FALSE
        except TypeError:
            raise reading.refused(f"{shown_size(one)} and {shown_size(two)} have no order") from None

    value = Value({**sides[0].columns, **sides[1].columns}, of)
    if not value.columns:
        raise reading.refused("a comparison names no column")
    return _by_record(value)


def _each(wanted: Any) -> Collection[Any]:
    """The values of a list, or the one value."""
    return wanted if isinstance(wanted, Collection) and not isinstance(wanted, str | bytes) else (wanted,)


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return True


def _comparison(sign: ast.cmpop, wanted: Any, reading: Reading) -> Test:
    several = isinstance(wanted, Collection) and not isinstance(wanted, str | bytes)
    if isinstance(sign, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        is_equal = isinstance(sign, ast.Eq | ast.Is)
        if several:
            words = ("==", "in") if is_equal else ("!=", "not in")
            raise reading.refused(f"{words[0]} takes one value; for several write {words[1]} [...]")
        return lambda value: _sure(_same(value, wanted) == is_equal)
    if isinstance(sign, ast.In | ast.NotIn):
        if not several:
            raise reading.refused(f"in takes a list, such as [{wanted!r}]")
        inside = _accepts(wanted)
        return inside if isinstance(sign, ast.In) else lambda value: TRUE - inside(value)
    return lambda value: _ordered(ORDERS[type(sign)], value, wanted, reading)


def _sure(true: bool) -> int:
    return TRUE if true else FALSE


def _accepts(wanted: Any) -> Test:
    if callable(wanted):
        return lambda value: _sure(bool(wanted(value)))
    if isinstance(wanted, Collection) and not isinstance(wanted, str):
        return lambda value: _sure(any(_same(value, one) for one in wanted))
    return lambda value: _sure(_same(value, wanted))


def _same(value: object, wanted: object) -> bool:
    """Whether two values are equal, or written alike ("1" and 1, a date and its text)."""
    if value is None or wanted is None:
        return value is wanted
    return value == wanted or level_text(value) == level_text(wanted)


def _ordered(compare: Callable[[Any, Any], Any], value: Any, wanted: Any, reading: Reading) -> int:
    """Compare a value; of a gap it is not known whether it is smaller or larger, a date is compared by its text."""
    if value is None:
        return UNKNOWN
    if isinstance(wanted, str) and not isinstance(value, str | int | float):
        value = level_text(value)
    elif isinstance(value, float):
        value = as_written(value)
    try:
        return _sure(bool(compare(value, wanted)))
    except TypeError:
        raise reading.refused(f"{shown_size(value)} and {wanted!r} have no order") from None


def _by_level(column: KnownColumn, test: Test) -> TruthOf:
    """Return a function from records to the truth; the test is applied once per level."""
    levels = np.array([test(value) for value in column.values], dtype=np.int8)

    def truth(records: Records) -> Truth:
        own = records[column.name]
        found: Truth = levels[own.codes]
        if own.new is not None:
            rows = np.flatnonzero(~np.isnan(own.new))
            found[rows] = [test(number) for number in own.new[rows].tolist()]
        return found

    return truth


def equality(column: KnownColumn, value: Value) -> TruthOf:
    """Return a function from records to whether a column has a value; unknown where the value is not defined."""

    def of(record: Mapping[str, Any]) -> int:
        one, two = record[column.name], value.of(record)
        return UNKNOWN if two is None else _sure(one == two)

    return _by_record(Value({**value.columns, column.name: column}, of))


def _by_record(value: Value) -> TruthOf:
    def truth(records: Records) -> Truth:
        found, place = by_combination(value, records)
        return np.array(found, dtype=np.int8)[place]

    return truth
