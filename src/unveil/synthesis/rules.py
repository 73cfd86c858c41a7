"""Rules: values that follow from earlier variables and are therefore not drawn.

A condition is a text such as ``"age < 18"``, ``"sex == 'male' and region in ['north', 'east']"`` or
``"income is None"``, or a mapping of variables to a value, several values, or a function of a value. A column name that
is not a plain word stands between backticks: ``"`marital status` == 'single'"``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.distinct import level_text
from unveil.files.nearest import near_matches
from unveil.limits import as_written
from unveil.synthesis.variable import EncodedVariable, Levels

SHOWN = 100
"""Longest part of a condition that a message repeats."""

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
class Rule:
    """One rule of a variable.

    Parameters
    ----------
    text
        The condition as the user wrote it.
    variables
        Names of the variables in it.
    holds
        Function from the records' levels to a mask (n,).
    level
        Level of the variable where the condition holds.
    """

    text: str
    variables: frozenset[str]
    holds: Callable[[Records], Mask]
    level: int


def parse_rules(
    rules: Mapping[str, Sequence[tuple[Condition, object]]], variables: Mapping[str, EncodedVariable]
) -> dict[str, tuple[Rule, ...]]:
    """Return rules after a check against the variables.

    Parameters
    ----------
    rules
        By variable, pairs of condition and forced value.
    variables
        The variables of the file by name.

    Returns
    -------
    dict of str to tuple of Rule
        Rules by variable.

    Raises
    ------
    CallError
        If a condition cannot be read, or names a column or value that the file does not have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.files import read
    >>> from unveil.synthesis.encoding import encode
    >>> table = pa.table({"age": [15, 40, 17], "work": ["no", "yes", "no"]})
    >>> file = {variable.name: variable for variable in encode(read(table))}
    >>> (rule,) = parse_rules({"work": [("age < 18", "no")]}, file)["work"]
    >>> rule.holds({name: Levels(variable.codes) for name, variable in file.items()}).tolist()
    [True, False, True]
    """
    parsed = {}
    for name, pairs in rules.items():
        _variable(name, variables)
        if not isinstance(pairs, tuple | list) or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
            raise CallError(f"rules of column {name!r} must be a list of pairs (condition, value)")
        parsed[name] = tuple(_rule(condition, variables[name].level(value), variables) for condition, value in pairs)
    return parsed


def _rule(condition: Condition, level: int, variables: Mapping[str, EncodedVariable]) -> Rule:
    if isinstance(condition, Mapping):
        holds = _joined([_mask(_variable(name, variables), _accepts(wanted)) for name, wanted in condition.items()])
        return Rule(repr(dict(condition)), frozenset(condition), holds, level)
    if not isinstance(condition, str):
        raise _unreadable(condition)
    try:
        tree, quoted = _parsed(condition)
        reading = _Reading(condition, quoted, variables, set())
        holds = _expression(tree, reading)
    except (RecursionError, MemoryError):
        raise CallError(f"condition {_shown(condition)} is nested too deeply; write it shorter") from None
    return Rule(condition, frozenset(reading.seen), holds, level)


def rule_from_text(text: str) -> tuple[str, str, str | None]:
    """Split a rule ``column=value if condition`` into column, condition and value.

    An empty value means a gap.

    Raises
    ------
    CallError
        If the rule has another form.

    Examples
    --------
    >>> rule_from_text("marital=SINGLE if age < 16")
    ('marital', 'age < 16', 'SINGLE')
    """
    name, sign, rest = text.partition("=")
    value, word, condition = rest.partition(" if ")
    if not (name.strip() and sign and word and condition.strip()):
        raise CallError(
            f"a rule is written column=value if condition, such as marital=SINGLE if age < 16, not {text!r}"
        )
    return name.strip(), condition.strip(), value.strip() or None


@dataclass(frozen=True)
class _Reading:
    """A condition while it is read.

    Parameters
    ----------
    text
        The condition as the user wrote it.
    quoted
        Column names between backticks, by the placeholder that Python parses in their place.
    variables
        The variables of the file.
    seen
        Names of the variables in the condition.
    """

    text: str
    quoted: Mapping[str, str]
    variables: Mapping[str, EncodedVariable]
    seen: set[str]

    def variable(self, node: ast.expr) -> EncodedVariable | None:
        """Return the variable that a node names by a word, by words with points, or in backticks; else None."""
        name = _dotted(node)
        if name is None:
            return None
        name = self.quoted.get(name, name)
        self.seen.add(name)
        return _variable(name, self.variables)


TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*+'?+|"(?:[^"\\]|\\.)*+"?+|`([^`]*+)`?+""", re.DOTALL)
"""Texts, and names between backticks; without a closing sign they go to the end, which keeps the search linear."""


def _parsed(condition: str) -> tuple[ast.expr, dict[str, str]]:
    quoted: dict[str, str] = {}

    def placeholder(found: re.Match[str]) -> str:
        if not found[1] or not found[0].endswith("`"):
            return found[0]
        word = f"column_{len(quoted)}_in_backticks"
        quoted[word] = found[1]
        return word

    try:
        return ast.parse(TOKEN.sub(placeholder, condition.strip()), mode="eval").body, quoted
    except (SyntaxError, ValueError):
        raise _unreadable(condition) from None


def _unreadable(condition: object) -> CallError:
    return CallError(f"condition {_shown(condition)} cannot be read; write for example \"age < 18 and sex == 'f'\"")


def _shown(condition: object) -> str:
    text = repr(condition)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return None if head is None else f"{head}.{node.attr}"
    return None


def _variable(name: str, variables: Mapping[str, EncodedVariable]) -> EncodedVariable:
    if name not in variables:
        raise CallError(f"rules: there is no column {name!r}{near_matches(str(name), tuple(variables))}")
    return variables[name]


def _joined(masks: Sequence[Callable[[Records], Mask]], by: np.ufunc = np.logical_and) -> Callable[[Records], Mask]:
    return lambda records: by.reduce([mask(records) for mask in masks])


def _accepts(wanted: Any) -> Test:
    if callable(wanted):
        return lambda value: bool(wanted(value))
    if isinstance(wanted, Collection) and not isinstance(wanted, str):
        return lambda value: any(_same(value, one) for one in wanted)
    return lambda value: _same(value, wanted)


def _same(value: object, wanted: object) -> bool:
    """Whether two values are equal, or written alike ("1" and 1, a date and its text)."""
    if value is None or wanted is None:
        return value is wanted
    return value == wanted or level_text(value) == level_text(wanted)


def _mask(variable: EncodedVariable, test: Test) -> Callable[[Records], Mask]:
    """Return a function from records to a mask; the test is applied once per level."""
    by_level = np.array([test(value) for value in variable.python_values], dtype=np.bool_)

    def holds(records: Records) -> Mask:
        levels = records[variable.name]
        mask: Mask = by_level[levels.codes]
        if levels.new is not None:
            rows = np.flatnonzero(~np.isnan(levels.new))
            mask[rows] = [test(number) for number in levels.new[rows].tolist()]
        return mask

    return holds


def _expression(node: ast.expr, reading: _Reading) -> Callable[[Records], Mask]:
    if isinstance(node, ast.BoolOp):
        parts = [_expression(value, reading) for value in node.values]
        return _joined(parts, np.logical_and if isinstance(node.op, ast.And) else np.logical_or)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _expression(node.operand, reading)
        return lambda records: ~inner(records)
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        return _joined([_compared(*each, reading) for each in zip(operands, node.ops, operands[1:], strict=False)])
    raise _refused(reading)


def _compared(left: ast.expr, sign: ast.cmpop, right: ast.expr, reading: _Reading) -> Callable[[Records], Mask]:
    """Return the mask of a comparison of a column with a value, in any order."""
    variable = reading.variable(left)
    if variable is not None:
        return _mask(variable, _comparison(sign, right, reading.text))
    variable = reading.variable(right)
    if variable is None or type(sign) not in MIRRORED:
        raise _refused(reading)
    return _mask(variable, _comparison(MIRRORED[type(sign)](), left, reading.text))


def _refused(reading: _Reading) -> CallError:
    return CallError(
        f"condition {_shown(reading.text)}: only comparisons of a column with a value, and, or, not can be used"
    )


def _comparison(sign: ast.cmpop, given: ast.expr, text: str) -> Test:
    try:
        wanted = ast.literal_eval(given)
    except (ValueError, TypeError):
        raise CallError(
            f"condition {_shown(text)}: to the right of a comparison must be a number, text or list"
        ) from None
    several = isinstance(wanted, Collection) and not isinstance(wanted, str | bytes)
    if isinstance(sign, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        is_equal = isinstance(sign, ast.Eq | ast.Is)
        if several:
            words = ("==", "in") if is_equal else ("!=", "not in")
            raise CallError(f"condition {_shown(text)}: {words[0]} takes one value; for several write {words[1]} [...]")
        return lambda value: _same(value, wanted) == is_equal
    if isinstance(sign, ast.In | ast.NotIn):
        if not several:
            raise CallError(f"condition {_shown(text)}: in takes a list, such as [{wanted!r}]")
        inside = _accepts(wanted)
        return inside if isinstance(sign, ast.In) else lambda value: not inside(value)
    return lambda value: _ordered(COMPARISONS[type(sign)], value, wanted, text)


def _ordered(compare: Callable[[Any, Any], Any], value: Any, wanted: Any, text: str) -> bool:
    """Compare a value; a gap is neither smaller nor larger, a date is compared by its text."""
    if value is None:
        return False
    if isinstance(wanted, str) and not isinstance(value, str | int | float):
        value = level_text(value)
    elif isinstance(value, float):
        value = as_written(value)
    try:
        return bool(compare(value, wanted))
    except TypeError:
        raise CallError(f"condition {_shown(text)}: {value!r} and {wanted!r} have no order") from None


def rows_under_rules(rules: Sequence[Rule], records: Records, n: int) -> Iterator[tuple[Rule, Mask]]:
    """Yield each rule with the records (n,) that it decides and no earlier rule does."""
    open_ = np.ones(n, dtype=np.bool_)
    for rule in rules:
        mask = rule.holds(records) & open_
        open_ &= ~mask
        yield rule, mask
