"""Rules: values that follow from earlier variables and are therefore not drawn.

A condition is a text such as ``"age < 18"``, ``"sex == 'male' and region in ['north', 'east']"`` or
``"income is None"``, or a mapping of variables to their value, their values, or a function of a value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.microdata.coding import level_text
from unveil.microdata.nearest import near_matches
from unveil.synthesis.encode import EncodedVariable, Levels

__all__ = ["Condition", "Rule", "parse_rules", "rows_under_rules"]

Mask = NDArray[np.bool_]
Records = Mapping[str, Levels]
Condition = str | Mapping[str, Any]
Test = Callable[[object], bool]

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule of a variable.

    Parameters
    ----------
    text
        The condition as it was given.
    variables
        Names of the variables that it looks at.
    holds
        Function from the records' levels to a mask.
    level
        Level that the variable then has.
    """

    text: str
    variables: frozenset[str]
    holds: Callable[[Records], Mask]
    level: int


def parse_rules(
    rules: Mapping[str, Sequence[tuple[Condition, object]]], variables: Mapping[str, EncodedVariable]
) -> dict[str, tuple[Rule, ...]]:
    """Read rules, and check them against the variables.

    Parameters
    ----------
    rules
        By variable, pairs of condition and forced value.
    variables
        The variables of the file by name.

    Returns
    -------
    dict of str to tuple of Rule
        By variable.

    Raises
    ------
    CallError
        If a condition cannot be read, or names a column or value that the file does not have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.microdata import read
    >>> from unveil.synthesis.encode import encode
    >>> table = pa.table({"age": [15, 40, 17], "work": ["no", "yes", "no"]})
    >>> file = {variable.name: variable for variable in encode(read(table))}
    >>> (rule,) = parse_rules({"work": [("age < 18", "no")]}, file)["work"]
    >>> rule.holds({name: Levels(variable.codes) for name, variable in file.items()}).tolist()
    [True, False, True]
    """
    parsed = {}
    for name, pairs in rules.items():
        _variable(name, variables)
        if isinstance(pairs, str) or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
            raise CallError(f"rules of column {name!r} must be a list of pairs (condition, value)")
        parsed[name] = tuple(_rule(condition, variables[name].level(value), variables) for condition, value in pairs)
    return parsed


def _rule(condition: Condition, level: int, variables: Mapping[str, EncodedVariable]) -> Rule:
    if isinstance(condition, Mapping):
        holds = _all([_mask(_variable(name, variables), _accepts(wanted)) for name, wanted in condition.items()])
        return Rule(repr(dict(condition)), frozenset(condition), holds, level)
    try:
        tree = ast.parse(condition.strip(), mode="eval").body
    except (SyntaxError, AttributeError):
        raise CallError(
            f"condition {condition!r} cannot be read; write for example \"age < 18 and sex == 'f'\""
        ) from None
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Rule(condition, names, _expression(tree, condition, variables), level)


def _variable(name: str, variables: Mapping[str, EncodedVariable]) -> EncodedVariable:
    if name not in variables:
        raise CallError(f"rules: there is no column {name!r}{near_matches(str(name), tuple(variables))}")
    return variables[name]


def _all(masks: Sequence[Callable[[Records], Mask]]) -> Callable[[Records], Mask]:
    return lambda records: np.logical_and.reduce([mask(records) for mask in masks])


def _any(masks: Sequence[Callable[[Records], Mask]]) -> Callable[[Records], Mask]:
    return lambda records: np.logical_or.reduce([mask(records) for mask in masks])


def _accepts(wanted: Any) -> Test:
    if callable(wanted):
        return lambda value: bool(wanted(value))
    if isinstance(wanted, Collection) and not isinstance(wanted, str):
        return lambda value: any(_same(value, one) for one in wanted)
    return lambda value: _same(value, wanted)


def _same(value: object, wanted: object) -> bool:
    """Equal as values, or as they are written ("1" and 1, a date and its text)."""
    if value is None or wanted is None:
        return value is wanted
    return value == wanted or level_text(value) == level_text(wanted)


def _mask(variable: EncodedVariable, test: Test) -> Callable[[Records], Mask]:
    """Whether the test holds, found once per level."""
    by_level = np.array([test(value) for value in variable.python_values], dtype=np.bool_)

    def holds(records: Records) -> Mask:
        levels = records[variable.name]
        mask: Mask = by_level[levels.codes]
        if levels.new is not None:
            rows = np.flatnonzero(~np.isnan(levels.new))
            mask[rows] = [test(number) for number in levels.new[rows].tolist()]
        return mask

    return holds


def _expression(node: ast.expr, text: str, variables: Mapping[str, EncodedVariable]) -> Callable[[Records], Mask]:
    if isinstance(node, ast.BoolOp):
        parts = [_expression(value, text, variables) for value in node.values]
        return _all(parts) if isinstance(node.op, ast.And) else _any(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _expression(node.operand, text, variables)
        return lambda records: ~inner(records)
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and len(node.ops) == 1:
        test = _comparison(node.ops[0], node.comparators[0], text)
        return _mask(_variable(node.left.id, variables), test)
    raise CallError(f"condition {text!r}: only comparisons of a column with a value, and, or, not can be used")


def _comparison(sign: ast.cmpop, given: ast.expr, text: str) -> Test:
    try:
        wanted = ast.literal_eval(given)
    except ValueError:
        raise CallError(f"condition {text!r}: to the right of a comparison must be a number, text or list") from None
    if isinstance(sign, ast.Eq | ast.Is):
        return lambda value: _same(value, wanted)
    if isinstance(sign, ast.NotEq | ast.IsNot):
        return lambda value: not _same(value, wanted)
    if isinstance(sign, ast.In | ast.NotIn):
        inside = _accepts(wanted)
        return inside if isinstance(sign, ast.In) else lambda value: not inside(value)
    return lambda value: _ordered(COMPARISONS[type(sign)], value, wanted, text)


def _ordered(compare: Callable[[Any, Any], Any], value: Any, wanted: Any, text: str) -> bool:
    """A gap is neither smaller nor larger; a date is compared by its text, which has the same order."""
    if value is None:
        return False
    if isinstance(wanted, str) and not isinstance(value, str | int | float):
        value = level_text(value)
    try:
        return bool(compare(value, wanted))
    except TypeError:
        raise CallError(f"condition {text!r}: {value!r} and {wanted!r} have no order") from None


def rows_under_rules(rules: Sequence[Rule], records: Records, n: int) -> Iterator[tuple[Rule, Mask]]:
    """For each rule the records that it decides: those that no earlier one does."""
    open_ = np.ones(n, dtype=np.bool_)
    for rule in rules:
        mask = rule.holds(records) & open_
        open_ &= ~mask
        yield rule, mask
