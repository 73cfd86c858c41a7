"""Rules of a file as users state them: sorted by their form, and what each means for a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from unveil.columns.conditions import TRUE, Condition, TruthOf, Written, equality, read_condition
from unveil.columns.formulas import decimals_of, read_formula, rounded_value, shown
from unveil.columns.known_columns import KnownColumn
from unveil.errors import CallError
from unveil.files.nearest import near_matches

FORMS = "column=value if condition, column = formula, or a condition; such as marital=SINGLE if age < 16"

Pairs = Sequence[tuple[Written, object]]
Given = str | Sequence[str] | Mapping[str, Pairs | str]
"""Rules as a user gives them; see :mod:`unveil.synthesis.rules`."""


@dataclass(frozen=True)
class StatedRules:
    """Rules by their form, not yet checked against a file.

    Parameters
    ----------
    forced
        By column, pairs of condition and value.
    formulas
        By column, its formula.
    limits
        Conditions that no record breaks.
    """

    forced: Mapping[str, Pairs] = field(default_factory=dict)
    formulas: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose values follow from others."""
        return (*self.forced, *self.formulas)


def stated_rules(given: Given | None) -> StatedRules:
    """Sort rules by their form.

    Raises
    ------
    CallError
        If a rule has none of the forms.

    Examples
    --------
    >>> found = stated_rules(["marital=SINGLE if age < 16", "net = gross - tax", "age >= 0"])
    >>> found.forced, found.formulas, found.limits
    ({'marital': [('age < 16', 'SINGLE')]}, {'net': 'gross - tax'}, ('age >= 0',))
    """
    if given is None:
        return StatedRules()
    if isinstance(given, Mapping):
        formulas = {name: rule for name, rule in given.items() if isinstance(rule, str)}
        forced = {name: rule for name, rule in given.items() if not isinstance(rule, str)}
        for name, pairs in forced.items():
            if not isinstance(pairs, tuple | list) or not all(_is_pair(one) for one in pairs):
                raise CallError(f"rules of column {name!r} must be a list of pairs (condition, value), or a formula")
        return StatedRules(forced, formulas)
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise CallError(f"rules are texts, or given by column as a mapping, not {shown(given)}")
    pairs_of: dict[str, list[tuple[Written, object]]] = {}
    formula_of: dict[str, str] = {}
    limits: list[str] = []
    for text in texts:
        if (assigned := _assigned(text)) is None:
            limits.append(text)
            continue
        name, rest = assigned
        found = _VALUE_IF.fullmatch(f" {rest} ")
        value, condition = (found[1], found[2]) if found else (rest, None)
        if not name or not (value if condition is None else condition).strip():
            raise CallError(f"a rule is written {FORMS}, not {shown(text)}")
        if condition is not None:
            pairs_of.setdefault(name, []).append((condition.strip(), value.strip() or None))
        elif formula_of.setdefault(name, value.strip()) != value.strip():
            raise CallError(f"rules: column {name!r} has two formulas, {formula_of[name]!r} and {value.strip()!r}")
    for name in formula_of:
        if name in pairs_of:
            raise CallError(f"rules: column {name!r} has a formula, and values by conditions; give one of them")
    return StatedRules(pairs_of, formula_of, tuple(limits))


def listed_rules(given: Sequence[str]) -> tuple[str, ...]:
    """Rules as they are typed; in the place of a TOML file those that it lists.

    Raises
    ------
    CallError
        If such a file holds anything but a list of rules.
    FileError
        If it cannot be read.
    """
    found: list[str] = []
    for text in given:
        if not is_rule_file(text):
            found.append(text)
            continue
        from unveil.files.documents import read_toml

        content = read_toml(text, text)[1]
        listed = content.get("rules")
        if set(content) != {"rules"} or not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise CallError(f'{text}: a file of rules holds one list of texts, rules = ["net = gross - tax"]')
        found += listed
    return tuple(found)


def is_rule_file(text: str) -> bool:
    """Whether a text names a file of rules."""
    return text.lower().endswith(".toml")


def files_beside(folder: Path, given: str | Sequence[str]) -> list[str]:
    """Rules, of which files are named relative to a folder."""
    texts = [given] if isinstance(given, str) else given
    return [str(folder / text) if is_rule_file(text) else text for text in texts]


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2


_ASSIGNED = re.compile(r"""\s*(?:`([^`]*)`\s*|([^=<>!'"`]*))=(?!=)(.*)""", re.DOTALL)

_VALUE_IF = re.compile(r"((?:`[^`]*`|[^`])*?)\sif\s(.*)", re.DOTALL)
"""Value and condition; the word may stand on a line of its own, and in a name between backticks it divides nothing."""


def _assigned(text: str) -> tuple[str, str] | None:
    """Return the column that a rule gives values to, and what follows the sign; None for a condition."""
    if not text.strip():
        return "", ""
    found = _ASSIGNED.fullmatch(text)
    return None if found is None else ((found[1] or found[2] or "").strip(), found[3])


def _follows(condition: Condition, own: Condition) -> TruthOf:
    return lambda records: np.maximum(TRUE - condition.truth(records), own.truth(records))


def checked_by(given: Given | StatedRules, columns: Mapping[str, KnownColumn]) -> tuple[Condition, ...]:
    """Return rules as conditions that a record keeps or breaks.

    A value that follows from a condition is broken where the condition is true and the column has another value; a
    formula, where it is defined and the column has another number.

    Parameters
    ----------
    given
        The rules.
    columns
        The columns that they can name.

    Raises
    ------
    CallError
        If a rule cannot be read, or names a column that there is not.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns = {"age": KnownColumn("age", [15, 40]), "marital": KnownColumn("marital", ["S", "M"])}
    >>> (rule,) = checked_by("marital=S if age < 16", columns)
    >>> codes = {"age": np.array([0, 0, 1]), "marital": np.array([0, 1, 1])}
    >>> rule.broken({name: SimpleNamespace(codes=own, new=None) for name, own in codes.items()}).tolist()
    [False, True, False]
    """
    stated = given if isinstance(given, StatedRules) else stated_rules(given)
    for name in stated.columns:
        if name not in columns:
            raise CallError(f"rules: there is no column {name!r}{near_matches(str(name), tuple(columns))}")
    found = []
    for name, pairs in stated.forced.items():
        for written, value in pairs:
            condition, equal = read_condition(written, columns), read_condition({name: value}, columns)
            text = f"{name}={'' if value is None else value} if {condition.text}"
            variables, constants = condition.variables | equal.variables, (*condition.constants, *equal.constants)
            found.append(Condition(text, variables, _follows(condition, equal), constants))
    for name, formula in stated.formulas.items():
        own = columns[name]
        said = own.sizes if own.observed is None else [own.sizes[code] for code in own.observed]
        if any(size is not None and not isinstance(size, Fraction) for size in said):
            raise CallError(f"rules: {name!r} is no column of numbers, which the formula {shown(formula)} gives")
        read = read_formula(formula, columns)
        value = rounded_value(read.value, decimals_of(said))
        variables = frozenset((name, *value.columns))
        found.append(Condition(f"{name} = {formula}", variables, equality(own, value), read.constants))
    found += [read_condition(text, columns) for text in stated.limits]
    return tuple(found)
