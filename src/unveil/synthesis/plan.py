"""Order, predictors and method of each variable: the user's options, checked against the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unveil.columns.conditions import Condition
from unveil.errors import CallError
from unveil.files.nearest import near_matches
from unveil.notes import warn
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.protocol import FittedVariable, VariableMethod
from unveil.synthesis.rules import Rule, Rules, rows_under_rules
from unveil.synthesis.variable import EncodedVariable, Levels
from unveil.trees import Column

MOST_CELLS = 2_000_000
"""Most levels of a categorical predictor times classes with which a tree takes seconds."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A variable that is constant, or follows from an earlier variable level by level.

    Parameters
    ----------
    source
        The earlier variable; None for a constant.
    table : (l,) int32
        Level of the variable by the level of the source; a single entry for a constant.
    same : bool
        Whether the levels of both variables are the same numbers.
    """

    source: str | None
    table: NDArray[np.int32]
    same: bool


@dataclass(frozen=True, eq=False)
class PlanStep:
    """One part of a variable, and how it is fitted.

    Parameters
    ----------
    name
        Name of the part.
    position
        Place among all parts in the order of visit; also the key of its random numbers.
    part
        Number of the part within its variable.
    predictors
        Positions of its predictors.
    rows : (r,) int64 or None
        Records of the fit; None for all.
    method
        Method of the part; None if it is not fitted.
    fitted
        The fitted model.
    """

    name: str
    position: int
    part: int
    predictors: tuple[int, ...]
    rows: NDArray[np.int64] | None
    method: VariableMethod | None
    fitted: FittedVariable | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """One variable in the order of visit.

    Parameters
    ----------
    variable
        The variable.
    steps
        Its parts.
    lookup
        The variable that it follows from, if it does.
    rules
        Its rules.
    predictors
        The variables that predict it, including those that are constant in this file.
    limits
        Conditions that no record breaks and that its value decides: the others in them are drawn before it, or follow
        from it.
    released : (n,) bool or None
        Original records whose own value is released; None for none.
    """

    variable: EncodedVariable
    steps: tuple[PlanStep, ...]
    lookup: Lookup | None
    rules: tuple[Rule, ...]
    predictors: tuple[str, ...]
    limits: tuple[Condition, ...] = ()
    released: NDArray[np.bool_] | None = None

    @property
    def is_kept(self) -> bool:
        """Whether all original values are released."""
        return self.released is not None and bool(self.released.all())

    def is_released(self, records: NDArray[np.intp] | None, n: int) -> NDArray[np.bool_]:
        """Return which of the records (n,) of a copy have the value of their original record.

        Parameters
        ----------
        records : (n,) int or None
            The original record of each record; None where they have none.
        n
            Number of records.
        """
        if self.released is None or records is None:
            return np.zeros(n, dtype=np.bool_)
        found: NDArray[np.bool_] = self.released[records]
        return found

    @property
    def ruled_by(self) -> tuple[str, ...]:
        """Other variables on which its value depends by rules, in alphabetical order."""
        found = {name for rule in self.rules for name in rule.variables}
        found |= {name for limit in self.limits for name in limit.variables}
        return tuple(sorted(found - {self.variable.name}))

    def with_fits(self, fits: Mapping[int, FittedVariable]) -> Plan:
        """Return the plan with fitted models, given by the position of their step."""
        return replace(self, steps=tuple(replace(step, fitted=fits.get(step.position)) for step in self.steps))


def draw_plan(
    variables: Sequence[EncodedVariable],
    *,
    visit_order: Sequence[str] | None,
    predictors: Mapping[str, Iterable[str]] | None,
    methods: Mapping[str, VariableMethod],
    without_predictors: VariableMethod,
    parts: Mapping[str, VariableMethod],
    rules: Rules,
    carried: Collection[str],
    kept: Sequence[str] = (),
    released: NDArray[np.bool_] | None = None,
) -> tuple[Plan, ...]:
    """Return the variables in the order of synthesis, with predictors, methods and rules.

    Parameters
    ----------
    variables
        The variables of the file.
    visit_order
        Their names in the order of synthesis; column order by default.
    predictors
        By variable, the earlier variables that predict it; all of them by default.
    methods
        Method by variable.
    without_predictors
        Method of variables without predictors, if they are not smoothed.
    parts
        Method of the part "which special value, or observed" by variable.
    rules
        The rules of the file. Without an order of visit a variable with a formula is visited after those in it.
    carried
        Variables that are copied if they are one-to-one recodings of an earlier predictor; others always use their
        method.
    kept
        Variables that are released as they are; they are visited first.
    released : (n,) bool, optional
        Records that are released as they are; models are fitted to the others.

    Returns
    -------
    tuple of Plan
        In the order of visit.

    Raises
    ------
    CallError
        If names do not exist, or a variable is needed before it is synthesised.
    """
    by_name = {variable.name: variable for variable in variables}
    order = _order(visit_order, by_name) if visit_order is not None else _after_operands(by_name, kept, rules.operands)
    chosen = _predictors(predictors, order)
    # A variable that is drawn independently must not follow another.
    chosen |= {name: () for name in order if not getattr(methods[name], "uses_predictors", True)}
    _check_rules(rules.by_variable, order)
    limits = _limits(rules, order, by_name)
    positions: dict[str, tuple[int, ...]] = {}
    plans, taken = [], 0
    columns: list[Column] = []
    too_many: list[tuple[str, str]] = []
    for name in order:
        variable, own_rules, own_limits = by_name[name], tuple(rules.by_variable.get(name, ())), limits.get(name, ())
        before = tuple(p for other in chosen[name] for p in positions[other])
        excluded = _excluded(own_rules, by_name, variable, released)
        sources = [by_name[other] for other in chosen[name]] if name in carried else []
        own_released = np.ones(variable.codes.size, dtype=np.bool_) if name in kept else released
        lookup = None if own_rules or own_limits or own_released is not None else _lookup(variable, sources)
        steps = []
        for i, part in enumerate(variable.parts):
            rows = _rows(part.rows, excluded)
            usable = tuple(p for p in before if few_enough(columns[p], part.column))
            too_many.extend((columns[p].name, name) for p in before if p not in usable)
            method = methods[name] if i == len(variable.parts) - 1 else parts[name]
            if not usable and not (isinstance(method, CartMethod) and method.smoothing):
                method = without_predictors
            fits = lookup is None and name not in kept and (rows is None or rows.size > 0)
            steps.append(PlanStep(part.name, taken + i, i, usable, rows, method if fits else None))
        positions[name] = tuple(range(taken, taken + len(steps))) if variable.n_levels > 1 else ()
        taken += len(steps)
        columns.extend(part.column for part in variable.parts)
        plans.append(Plan(variable, tuple(steps), lookup, own_rules, chosen[name], own_limits, own_released))
    if too_many:
        pairs = "; ".join(f"{response!r} by {predictor!r}" for predictor, response in too_many[:3])
        more = f" and {len(too_many) - 3} more" if len(too_many) > 3 else ""
        warn(
            f"text of too many different values does not predict text of too many: {pairs}{more}; drop such columns, "
            "or merge their rare levels"
        )
    return tuple(plans)


def few_enough(predictor: Column, response: Column) -> bool:
    """Whether the table of levels by classes, which a split on a categorical predictor needs, is small enough."""
    if predictor.kind != "categorical" or response.kind == "numeric":
        return True
    return predictor.n_levels * response.n_levels <= MOST_CELLS


def unknown(name: object, names: Iterable[str], option: str) -> CallError:
    """Return an error for a name that the file does not have."""
    return CallError(f"{option}: there is no column {name!r}{near_matches(str(name), tuple(names))}")


def _order(visit_order: Sequence[str], names: Mapping[str, object]) -> tuple[str, ...]:
    if isinstance(visit_order, str) or not isinstance(visit_order, Iterable):
        raise CallError(f"visit_order must be a list of columns, not {visit_order!r}")
    order = tuple(visit_order)
    seen: set[str] = set()
    for name in order:
        if not isinstance(name, str) or name not in names:
            raise unknown(name, names, "visit_order")
        if name in seen:
            raise CallError(f"visit_order names column {name!r} more than once")
        seen.add(name)
    left_out = [name for name in names if name not in seen]
    if left_out:
        raise CallError(f"visit_order leaves out {', '.join(map(repr, left_out))}; name every column, or drop it first")
    return order


def _after_operands(
    names: Iterable[str], first: Sequence[str], operands: Mapping[str, Iterable[str]]
) -> tuple[str, ...]:
    """Return names in their order, some first, and those with a formula right behind the last name in it."""
    order = [*first, *(name for name in names if name not in operands and name not in first)]
    waiting = {name: set(operands[name]) for name in names if name in operands}
    while waiting:
        name = next(name for name, needed in waiting.items() if needed.isdisjoint(waiting))
        order.insert(1 + max(order.index(other) for other in waiting.pop(name)), name)
    return tuple(order)


def _limits(
    rules: Rules, order: Sequence[str], variables: Mapping[str, EncodedVariable]
) -> dict[str, tuple[Condition, ...]]:
    """Return conditions by the variable that they limit: the last one in them that is drawn, and varies."""
    limits: dict[str, tuple[Condition, ...]] = {}
    for limit in (*rules.limits, *rules.of_undefined):
        inside = [name for name in order if name in limit.variables]
        last = next((name for name in reversed(inside) if variables[name].n_levels > 1), inside[-1])
        limits[last] = (*limits.get(last, ()), limit)
    return limits


def _predictors(wanted: Mapping[str, Iterable[str]] | None, order: Sequence[str]) -> dict[str, tuple[str, ...]]:
    chosen = {name: tuple(order[:i]) for i, name in enumerate(order)}
    for name, given in (wanted or {}).items():
        if name not in chosen:
            raise unknown(name, order, "predictors")
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise CallError(f"predictors of column {name!r} must be a list of columns, not {given!r}")
        asked = set(given)
        for other in asked:
            if other not in chosen:
                raise unknown(other, order, f"predictors of {name!r}")
            if other not in chosen[name]:
                raise CallError(
                    f"column {name!r} cannot be predicted by {other!r}, which is not yet synthesised at that point; "
                    f"move {other!r} before {name!r} in visit_order"
                )
        chosen[name] = tuple(other for other in chosen[name] if other in asked)
    return chosen


def _check_rules(rules: Mapping[str, Sequence[Rule]], order: Sequence[str]) -> None:
    for name, own in rules.items():
        earlier = set(order[: order.index(name)])
        for rule in own:
            for other in sorted(rule.variables - earlier):
                raise CallError(
                    f"rule {rule.text!r} of column {name!r} looks at {other!r}, which is not yet synthesised at that "
                    f"point; move {other!r} before {name!r} in visit_order"
                )


def _excluded(
    rules: Sequence[Rule], variables: Mapping[str, EncodedVariable], variable: EncodedVariable,
    released: NDArray[np.bool_] | None,
) -> NDArray[np.bool_] | None:  # fmt: skip
    """Return whether each original record (n,) is released or has its value by a rule; None where none can be."""
    if not rules:
        return released
    records = {name: Levels(other.codes) for name, other in variables.items()}
    masks = [mask for _, mask, _ in rows_under_rules(rules, records, variable.codes.size)]
    decided: NDArray[np.bool_] = np.logical_or.reduce(masks if released is None else [*masks, released])
    return decided


def _rows(rows: NDArray[np.int64] | None, excluded: NDArray[np.bool_] | None) -> NDArray[np.int64] | None:
    if excluded is None:
        return rows
    return np.flatnonzero(~excluded) if rows is None else rows[~excluded[rows]]


def _lookup(variable: EncodedVariable, earlier: Sequence[EncodedVariable]) -> Lookup | None:
    """Return how the variable follows from an earlier one, if it does."""
    if variable.n_levels <= 1:
        return Lookup(None, np.zeros(1, dtype=np.int32), False)
    n = variable.codes.size
    for other in earlier:
        if other.n_levels != variable.n_levels:
            continue
        same = other.values.equals(variable.values)
        # Two variables that hardly repeat a value match one to one by chance.
        if not same and 2 * variable.n_levels > n:
            continue
        table = np.zeros(other.n_levels, dtype=np.int32)
        table[other.codes] = variable.codes
        if (table[other.codes] == variable.codes).all():
            return Lookup(other.name, table, same and variable.plain)
    return None


def restricted(column: Column, rows: NDArray[np.int64] | None) -> Column:
    """Return some records of a column; all if rows is None."""
    if rows is None:
        return column
    return column.with_codes(column.codes.take(rows))
