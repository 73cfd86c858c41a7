"""Rules of a file: values that follow from others and are therefore not drawn, and what is true of every record.

A rule is a text of one of three forms:

- ``"marital=SINGLE if age < 16"``: the value that a column has where a condition is true; none before ``if`` is a gap;
- ``"net = gross - tax"``: the number that a column has wherever a formula is defined;
- ``"age >= 16 or marital == 'SINGLE'"``: a condition that no record breaks; of combinations that cannot be
  ``"not (sex == 'MALE' and pregnant == 'YES')"``.

What conditions and formulas may say, and what they mean where a value is missing, is in
:mod:`unveil.columns.conditions`. Rules can also be given by column: ``{"marital": [("age < 16", "SINGLE")], "net":
"gross - tax"}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unveil.columns.conditions import Condition, Mask, read_condition
from unveil.columns.formulas import (
    Formula,
    Value,
    by_combination,
    decimals_of,
    read_formula,
    rounded,
    rounded_value,
)
from unveil.columns.known_columns import KnownColumn, size_of
from unveil.columns.stated_rules import Given, StatedRules, stated_rules
from unveil.errors import CallError, DataError
from unveil.files.nearest import near_matches
from unveil.synthesis.variable import EncodedVariable, Levels
from unveil.trees import Column

Records = Mapping[str, Levels]


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule by which the value of a variable follows from others.

    Parameters
    ----------
    text
        The condition, or the formula, as the user wrote it.
    variables
        Names of the variables in it.
    decided
        Function from the records' levels to which of them (n,) it decides, and the levels that it gives them.
    is_formula
        Whether it is a formula.
    """

    text: str
    variables: frozenset[str]
    decided: Callable[[Records], tuple[Mask, Levels]]
    is_formula: bool = False


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules after a check against the variables of a file.

    Parameters
    ----------
    by_variable
        Rules by which the values of a variable follow from others, in the order in which they are tried.
    limits
        Conditions that no record breaks, with the formulas of variables in the place of these variables.
    of_undefined
        Those that name variables with a formula, once more with these variables themselves: they limit the values where
        the formula is not defined.
    operands
        By variable with a formula, the variables in it.
    """

    by_variable: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    limits: tuple[Condition, ...] = ()
    of_undefined: tuple[Condition, ...] = ()
    operands: Mapping[str, frozenset[str]] = field(default_factory=dict)


def parse_rules(given: Given | StatedRules | None, variables: Mapping[str, EncodedVariable]) -> Rules:
    """Return rules after a check against the variables.

    Parameters
    ----------
    given
        The rules.
    variables
        The variables of the file by name.

    Raises
    ------
    CallError
        If a rule cannot be read, or names a column or value that the file does not have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.files import read
    >>> from unveil.synthesis.encoding import encode
    >>> table = pa.table({"age": [15, 40, 17], "work": ["no", "yes", "no"]})
    >>> file = {variable.name: variable for variable in encode(read(table))}
    >>> (rule,) = parse_rules("work=no if age < 18", file).by_variable["work"]
    >>> rule.decided({name: Levels(variable.codes) for name, variable in file.items()})[0].tolist()
    [True, False, True]
    """
    stated = given if isinstance(given, StatedRules) else stated_rules(given)
    for name in stated.columns:
        if name not in variables:
            raise CallError(f"rules: there is no column {name!r}{near_matches(str(name), tuple(variables))}")
    known = {name: known_column(variable) for name, variable in variables.items()}
    formulas, values = _formulas(stated.formulas, known, variables)
    by_variable = {
        name: tuple(_forced(read_condition(text, known), variables[name].level(value)) for text, value in pairs)
        for name, pairs in stated.forced.items()
    }
    by_variable |= {name: (_calculated(formula, variables[name]),) for name, formula in formulas.items()}
    plain = [read_condition(text, known) for text in stated.limits]
    return Rules(
        by_variable,
        tuple(read_condition(text, known, values) for text in stated.limits),
        tuple(limit for limit in plain if not limit.variables.isdisjoint(formulas)),
        {name: formula.variables for name, formula in formulas.items()},
    )


def known_column(variable: EncodedVariable) -> KnownColumn:
    """Return a variable as conditions know it."""
    special = variable.parts[0].level_of[:-1].tolist() if len(variable.parts) > 1 else ()
    return KnownColumn(variable.name, variable.python_values, frozenset(special))


def _formulas(
    texts: Mapping[str, str], known: Mapping[str, KnownColumn], variables: Mapping[str, EncodedVariable]
) -> tuple[dict[str, Formula], dict[str, Value]]:
    """Read formulas; each with those of other columns in the place of these columns' names for conditions."""
    formulas: dict[str, Formula] = {}
    values: dict[str, Value] = {}
    waiting = dict(texts)
    while waiting:
        read = {name: read_formula(text, known) for name, text in waiting.items()}
        ready = [name for name, formula in read.items() if formula.variables.isdisjoint(waiting)]
        if not ready:
            raise CallError(f"rules: the formula of {next(iter(waiting))!r} needs, directly or not, the column itself")
        for name in ready:
            variable = variables[name]
            if variable.numeric is None or not variable.plain:
                raise CallError(f"rules: {name!r} is no column of numbers, which the formula {texts[name]!r} gives")
            formulas[name] = read[name]
            inner = read_formula(waiting.pop(name), known, values).value
            values[name] = rounded_value(inner, decimals_of(map(size_of, variable.python_values)))
    return formulas, values


def _forced(condition: Condition, level: int) -> Rule:
    def decided(records: Records) -> tuple[Mask, Levels]:
        mask = condition.holds(records)
        return mask, Levels(np.full(mask.size, level, dtype=np.int32))

    return Rule(condition.text, condition.variables, decided)


def _calculated(formula: Formula, variable: EncodedVariable) -> Rule:
    decimals = decimals_of(map(size_of, variable.python_values))
    level_of = {size_of(value): code for code, value in enumerate(variable.python_values) if value is not None}

    def decided(records: Records) -> tuple[Mask, Levels]:
        found, place = by_combination(formula.value, records)
        numbers = [rounded(number, decimals) for number in found]
        levels = _levels_of(numbers, level_of, variable)
        mask: Mask = np.array([number is not None for number in numbers], dtype=np.bool_)[place]
        return mask, Levels(levels.codes[place], None if levels.new is None else levels.new[place])

    return Rule(formula.text, formula.variables, decided, is_formula=True)


def _levels_of(numbers: Sequence[Fraction | None], level_of: Mapping[object, int], variable: EncodedVariable) -> Levels:
    """Return numbers as levels; of those that no record has the nearest level, and the number itself."""
    codes = np.array([level_of.get(number, -1) for number in numbers], dtype=np.int32)
    unseen = np.flatnonzero((codes < 0) & np.array([number is not None for number in numbers], dtype=np.bool_))
    codes = np.maximum(codes, 0)
    if not unseen.size:
        return Levels(codes)
    try:
        values = np.array([float(numbers[place] or 0) for place in unseen.tolist()])
    except OverflowError:
        raise DataError(f"column {variable.name!r}: its formula gives a number that is too large") from None
    own = Column.from_values(values, name=variable.name)
    first = variable.parts[0].column
    observed = first.with_codes(np.full(values.size, first.n_levels - 1, dtype=np.int32))
    nearest = variable.levels((own,) if len(variable.parts) == 1 else (observed, own)).codes
    new = np.full(codes.size, np.nan)
    codes[unseen], new[unseen] = nearest, values
    return Levels(codes, new)


def rows_under_rules(rules: Sequence[Rule], records: Records, n: int) -> Iterator[tuple[Rule, Mask, Levels]]:
    """Yield each rule with the records (n,) that it decides and no earlier rule does, and the levels that it gives."""
    open_ = np.ones(n, dtype=np.bool_)
    for rule in rules:
        decided, levels = rule.decided(records)
        mask = decided & open_
        open_ &= ~mask
        yield rule, mask, levels


def differing(own: Levels, other: Levels) -> NDArray[np.bool_]:
    """Return which records (n,) have other values."""
    different: NDArray[np.bool_] = own.codes != other.codes
    if own.new is None and other.new is None:
        return different
    one, two = (np.full(own.codes.size, np.nan) if each.new is None else each.new for each in (own, other))
    same: Mask = (one == two) | (np.isnan(one) & np.isnan(two))
    return different | ~same
