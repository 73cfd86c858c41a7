"""The probability that a fitted sequence gives to a release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.files.nearest import near_matches
from unveil.files.source import Source
from unveil.printable import commands_shown
from unveil.result import number, paragraph, text_table
from unveil.synthesis.likelihood_of_steps import log_of_steps
from unveil.synthesis.limits import bound, broken, log_among_permitted, require_completion
from unveil.synthesis.plan import Plan
from unveil.synthesis.rules import differing, rows_under_rules
from unveil.synthesis.variable import Levels
from unveil.trees import Column


@dataclass(frozen=True)
class ImpossibleCell:
    """A value that the fitted synthesizer cannot produce.

    Parameters
    ----------
    column : str
        Its column.
    record : int
        Its record, from 0.
    value : object
        The value; None for a gap.
    """

    column: str
    record: int
    value: object


@dataclass(frozen=True, eq=False)
class LogProbability:
    """Natural logarithm of the probability of a release under a fitted synthesizer.

    Parameters
    ----------
    total : float
        Value for the whole release; ``-inf`` if a value is impossible.
    variables : mapping of str to float
        Value by variable, given the variables before it.
    records : (n,) float64
        Value by record.
    finite : float
        Value for the whole release without the impossible values.
    n_impossible : int
        Number of impossible values.
    first_impossible : ImpossibleCell or None
        The first one, in the order of synthesis, then of records.
    """

    total: float
    variables: Mapping[str, float]
    records: NDArray[np.float64]
    finite: float
    n_impossible: int
    first_impossible: ImpossibleCell | None

    def to_dict(self) -> dict[str, Any]:
        """Return figures by name, without those of the records."""
        cell = self.first_impossible
        return {
            "total": self.total,
            "variables": dict(self.variables),
            "finite": self.finite,
            "n_impossible": self.n_impossible,
            "first_impossible": None if cell is None else asdict(cell),
        }

    @commands_shown
    def __str__(self) -> str:
        rows: list[list[float | str | None]] = [[name, value] for name, value in self.variables.items()]
        table = text_table(["variable", "log probability"], [*rows, ["total", self.total]])
        if self.first_impossible is None:
            return f"{table}\n{paragraph(f'Every value of the {self.records.size} records is possible.')}"
        cell = self.first_impossible
        said = paragraph(
            f"{self.n_impossible} values cannot come from this fit; the first is {cell.value!r} in column",
            f"{cell.column!r}, record {cell.record}. Without them the total is {number(self.finite)}.",
        )
        return f"{table}\n{said}"

    __repr__ = __str__


def log_probability(plans: Sequence[Plan], source: Source) -> LogProbability:
    """Return the probability of a release: the product over variables and records of the shares of donors.

    Parameters
    ----------
    plans
        The fitted variables in the order of visit.
    source
        The release.

    Returns
    -------
    LogProbability
        In all, by variable and by record.

    Raises
    ------
    CallError
        If a variable's model has no probabilities.
    DataError
        If the release lacks a column or its values cannot be compared.
    """
    _check(plans, source)
    n = source.num_rows
    if any(plan.released is not None for plan in plans) and n != plans[0].variable.codes.size:
        raise DataError(
            f"{source.label}: {n} records, not the {plans[0].variable.codes.size} of the original; in a partially "
            "synthetic file each of them has its place"
        )
    records = {plan.variable.name: plan.variable.read(source) for plan in plans}
    by_variable = log_by_variable(plans, records, records, n)
    return summed(by_variable, n, lambda name, record: source.column(name)[record].as_py())


def log_by_variable(
    plans: Sequence[Plan], records: Mapping[str, tuple[Levels, NDArray[np.bool_]]], wanted: Collection[str], n: int
) -> dict[str, NDArray[np.float64]]:
    """Return the logarithm (n,) of the probability of every record's value, by variable.

    Parameters
    ----------
    plans
        The fitted variables in the order of visit, at least those that are wanted and their predictors.
    records
        By variable, the levels of the records of a release, and which of them (n,) no fit can draw.
    wanted
        The variables.
    n
        Number of records.
    """
    levels = {name: own for name, (own, _) in records.items()}
    columns: dict[int, Column] = {}
    found: dict[str, NDArray[np.float64]] = {}
    for plan in plans:
        name = plan.variable.name
        if name not in records:
            continue
        for step, column in zip(plan.steps, plan.variable.columns(levels[name]), strict=True):
            columns[step.position] = column
        if name in wanted:
            if plan.limits:
                require_completion(plan, plans)
            found[name] = _of_variable(plan, levels, columns, n)
            found[name][records[name][1]] = -np.inf
    return found


def require_variable(source: Source, name: str) -> None:
    """Raise an error if a release lacks a variable.

    Raises
    ------
    DataError
        If it does; similar names are listed.
    """
    if name not in source:
        hint = near_matches(name, source.names)
        raise DataError(f"{source.label} has no column {name!r}{hint}; a release needs every variable")


def _check(plans: Sequence[Plan], source: Source) -> None:
    for plan in plans:
        require_variable(source, plan.variable.name)
        for step in plan.steps:
            if step.fitted is not None and not (step.fitted.has_likelihood and has_numbers_for(step.fitted, plan)):
                raise CallError(
                    f"column {plan.variable.name!r}: its method or smoothing gives no probabilities; "
                    "fit it with method 'cart' and without smoothing"
                )


def has_numbers_for(method: object, plan: Plan) -> bool:
    """Whether numbers that a method or its fit draws can be those of a release.

    New dates and the like become the nearest observed ones, of which a method for numbers does not know.
    """
    return plan.variable.plain or plan.variable.numeric is None or not getattr(method, "draws_new_numbers", False)


def _of_variable(
    plan: Plan, levels: Mapping[str, Levels], columns: Mapping[int, Column], n: int
) -> NDArray[np.float64]:
    own = levels[plan.variable.name]
    released = plan.is_released(np.arange(n), n)
    log = (
        np.where(released & differing(own, Levels(plan.variable.codes)), -np.inf, 0.0)
        if released.any()
        else np.zeros(n)
    )
    if plan.is_kept:
        return log
    if plan.lookup is not None:
        return np.where(looked_up(plan, levels, n).codes == own.codes, 0.0, -np.inf)
    free = ~released
    for _, mask, forced in rows_under_rules(plan.rules, levels, n):
        log[mask & free & differing(own, forced)] = -np.inf
        free &= ~mask
    log += log_of_steps(plan, own, columns, free)
    if plan.limits:
        limited = bound(plan, levels, np.flatnonzero(free))
        for rows, by_level in log_among_permitted(plan, levels, columns, limited):
            log[rows] = by_level[np.arange(rows.size), own.codes[rows]]
        log[broken(plan, levels, n) & ~released] = -np.inf
    return log


def looked_up(plan: Plan, levels: Mapping[str, Levels], n: int) -> Levels:
    """Return the levels of a variable that follows from an earlier one."""
    lookup = plan.lookup
    assert lookup is not None
    if lookup.source is None:
        return Levels(np.zeros(n, dtype=np.int32))
    source = levels[lookup.source]
    return Levels(lookup.table[source.codes], source.new if lookup.same else None)


def summed(
    by_variable: Mapping[str, NDArray[np.float64]], n: int, value: Callable[[str, int], object]
) -> LogProbability:
    """Sum up logarithms of probabilities.

    Parameters
    ----------
    by_variable : mapping of str to (n,) float64
        Logarithms by variable.
    n : int
        Number of records.
    value : callable
        Function from a variable's name and a record's number to the value; it names the first impossible value.

    Returns
    -------
    LogProbability
        Sums over all values, by variable and by record.
    """
    impossible = {name: np.flatnonzero(np.isneginf(log)) for name, log in by_variable.items()}
    finite = sum(float(log[~np.isneginf(log)].sum()) for log in by_variable.values())
    first = next((name for name, rows in impossible.items() if rows.size), None)
    cell = None
    if first is not None:
        record = int(impossible[first][0])
        cell = ImpossibleCell(first, record, value(first, record))
    return LogProbability(
        total=finite if cell is None else -np.inf,
        variables={name: float(log.sum()) for name, log in by_variable.items()},
        records=sum(by_variable.values(), start=np.zeros(n)),
        finite=finite,
        n_impossible=sum(rows.size for rows in impossible.values()),
        first_impossible=cell,
    )
