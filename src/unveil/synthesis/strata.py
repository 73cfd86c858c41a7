"""Strata: parts of a file with a sequence of trees each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil.columns.formulas import shown_size
from unveil.errors import CallError, DataError
from unveil.files.arrays import quoted_list
from unveil.synthesis.fitting import Progress, fit_plans
from unveil.synthesis.plan import Plan, unknown
from unveil.synthesis.sampling import BLOCK, draw_blocks, joined
from unveil.synthesis.variable import EncodedVariable, Levels

_FIT, _DRAW = 5, 6
"""First keys of the random numbers of fits and draws; whole files have others."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """Records that agree in the columns that make the strata.

    Parameters
    ----------
    values
        What they have there, by column; None for a gap.
    n_records
        Number of records.
    plans
        The variables, fitted to these records alone.
    """

    values: dict[str, object]
    n_records: int
    plans: tuple[Plan, ...]


def columns_of_strata(
    by: str | Sequence[str] | None, names: Sequence[str], rules: Collection[str], *, proper: bool
) -> tuple[str, ...]:
    """Return the columns that make the strata; none for a file as a whole.

    Raises
    ------
    CallError
        If a column is unknown, named twice or forced by rules, or if copies have bootstrap samples.
    """
    if by is None:
        return ()
    if not isinstance(by, str | Sequence) or not by:
        raise CallError(f"by: name one column or several, not {by!r}")
    columns = (by,) if isinstance(by, str) else tuple(by)
    for name in columns:
        if name not in names:
            raise unknown(name, names, "by")
    if len(set(columns)) < len(columns):
        raise CallError(f"by: give each column once, not {quoted_list(columns)}")
    if proper:
        raise CallError("by and proper: bootstrap samples of strata are not drawn; leave one of them out")
    for name in columns:
        if name in rules:
            raise CallError(f"rules: column {name!r} makes the strata, and is the same in each; leave its rules out")
    return columns


def require_no_strata(by: str | Sequence[str] | None) -> None:
    """Raise an error where one sequence of trees is needed and every stratum has its own.

    Raises
    ------
    CallError
        If there are strata.
    """
    if by is not None:
        raise CallError(
            f"by={by!r}: each stratum has trees of its own, for which neither the probability of a release nor a "
            "posterior is computed; leave by out"
        )


def records_by_stratum(
    by: Sequence[str], variables: Sequence[EncodedVariable], least: int, label: str
) -> list[NDArray[np.int64]]:
    """Return the records of every stratum, in ascending order of its values; a gap is a value, the last.

    Raises
    ------
    DataError
        If a stratum has fewer records than a tree can split.
    """
    own = {variable.name: variable for variable in variables}
    place = np.zeros(variables[0].codes.size, dtype=np.int64)
    for name in by:
        place = np.unique(place * own[name].n_levels + own[name].codes, return_inverse=True)[1].ravel()
    sizes = np.bincount(place)
    records = np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1])
    if (sizes < least).any():
        first = values_of(by, variables, int(records[int(np.argmax(sizes < least))][0]))
        raise too_small(by, sizes.tolist(), first, least, label)
    return records


def too_small(
    by: Sequence[str], sizes: Sequence[int], first: Mapping[str, object], least: int, label: str
) -> DataError:
    """The error where strata have too few records.

    Parameters
    ----------
    by
        The columns that make the strata.
    sizes
        Number of records of each stratum.
    first
        What the first of those with too few has in the columns.
    least
        The fewest records that a tree can split.
    label
        What the file is called.
    """
    where = ", ".join(f"{name} {shown_size(value)}" for name, value in first.items())
    small = [size for size in sizes if size < least]
    return DataError(
        f"{label}: {len(small)} of {len(sizes)} strata by {quoted_list(by)} have fewer than {least} records, the "
        f"first is {where} with {small[0]}; too few for trees of "
        "their own: merge levels, or name other columns in by"
    )


def values_of(by: Sequence[str], variables: Sequence[EncodedVariable], record: int) -> dict[str, object]:
    """Return what a record has in the columns that make the strata."""
    own = {variable.name: variable for variable in variables}
    return {name: own[name].python_values[own[name].codes[record]] for name in by}


def fit_strata(
    plans: Sequence[Plan], by: Sequence[str], records: Sequence[NDArray[np.int64]], seed: int, *, threads: int,
    progress: Progress | None,
) -> tuple[Stratum, ...]:  # fmt: skip
    """Fit the variables to each stratum.

    Parameters
    ----------
    plans
        The variables, not fitted.
    by
        The columns that make the strata.
    records
        Records of every stratum.
    seed
        Seed; the random numbers of a stratum depend on it and on the place of its values.
    threads, progress
        As of :func:`fit_plans`.
    """
    variables = [plan.variable for plan in plans]
    made = []
    for number, rows in enumerate(records):

        def done(count: int, total: int, name: str, number: int = number) -> None:
            if progress:
                progress(number * total + count, len(records) * total, f"{name} of stratum {number + 1}")

        fitted = fit_plans(plans, seed, (_FIT, number), records=rows, threads=threads, progress=done)
        made.append(Stratum(values_of(by, variables, int(rows[0])), rows.size, fitted))
    return tuple(made)


def draw_strata(strata: Sequence[Stratum], n: int, seed: int, copy: int) -> Iterator[dict[str, Levels]]:
    """Give the levels of one copy, stratum after stratum, a block of records at a time."""
    waiting: list[dict[str, Levels]] = []
    for number, size in enumerate(apportioned([stratum.n_records for stratum in strata], n)):
        for block in draw_blocks(strata[number].plans, size, seed, (_DRAW, number, copy)):
            if waiting and sum(map(_n_records, (*waiting, block))) > BLOCK:
                yield joined(waiting)
                waiting = []
            waiting.append(block)
    yield joined(waiting)


def apportioned(sizes: Sequence[int], n: int) -> list[int]:
    """Divide n records among strata in proportion to their sizes, by the largest remainders.

    Examples
    --------
    >>> apportioned([50, 30, 20], 100), apportioned([50, 30, 20], 7)
    ([50, 30, 20], [4, 2, 1])
    """
    total = sum(sizes)
    whole = [size * n // total for size in sizes]
    remainders = sorted(range(len(sizes)), key=lambda i: (-(sizes[i] * n % total), i))
    for place in remainders[: n - sum(whole)]:
        whole[place] += 1
    return whole


def _n_records(block: dict[str, Levels]) -> int:
    return int(next(iter(block.values())).codes.size)
