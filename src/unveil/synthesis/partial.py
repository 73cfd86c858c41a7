"""Partially synthetic files: columns, or records, that are released as they are in the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.columns.conditions import read_condition
from unveil.columns.stated_rules import StatedRules
from unveil.errors import CallError, DataError
from unveil.files.arrays import quoted_list
from unveil.notes import warn
from unveil.synthesis.plan import unknown
from unveil.synthesis.rules import known_column
from unveil.synthesis.variable import EncodedVariable, Levels

Mask = NDArray[np.bool_]


def kept_columns(
    keep: str | Sequence[str] | None, names: Sequence[str], rules: StatedRules, visit_order: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns that are released as they are, in the order of the file.

    Raises
    ------
    CallError
        If a column is unknown, forced by rules, or visited after one that is drawn; or if no column is left to draw.
    """
    if keep is None:
        return ()
    if not isinstance(keep, str | Sequence) or not keep:
        raise CallError(f"keep: name one column or several, not {keep!r}")
    asked = (keep,) if isinstance(keep, str) else tuple(keep)
    for name in asked:
        if name not in names:
            raise unknown(name, names, "keep")
        if name in rules.columns:
            raise CallError(f"rules: column {name!r} is kept as it is; leave its rules out, or do not keep it")
    kept = tuple(name for name in names if name in asked)
    if len(kept) == len(names):
        raise CallError("keep names every column, so that nothing is synthetic; leave out those that are to be drawn")
    if visit_order is not None and not set(list(visit_order)[: len(kept)]) == set(kept):
        raise CallError(f"visit_order: columns that are kept come first: {quoted_list(kept)}")
    return kept


def released_records(
    condition: str | None, variables: Sequence[EncodedVariable], label: str, least: int
) -> Mask | None:
    """Return the records (n,) that are released as they are: all of which the condition is not true; None without one.

    The others are replaced, and models are fitted to them: where the condition is about values that are drawn, their
    distribution is that of the replaced, and not of all records. Fewer than ``least`` are warned of.

    Raises
    ------
    CallError
        If the condition cannot be read, or names a column that the file does not have.
    DataError
        If it is true of no record.
    """
    if condition is None:
        return None
    read = read_condition(condition, {variable.name: known_column(variable) for variable in variables})
    replaced = read.holds({variable.name: Levels(variable.codes) for variable in variables})
    if not replaced.any():
        raise DataError(f"{label}: replace_rows={condition!r} is true of no record, so that nothing would be synthetic")
    if (n := int(replaced.sum())) < least:
        warn(
            f"replace_rows={condition!r} is true of only {n} records, which are the donors of each other, and which no "
            f"tree splits (minsplit is {least}); replace more records"
        )
    return ~replaced


def require_whole(keep: object, replace_rows: object) -> None:
    """Raise an error where every record of a release has to be synthetic.

    Raises
    ------
    CallError
        If columns or records are released as they are.
    """
    for name, given in (("keep", keep), ("replace_rows", replace_rows)):
        if given is not None:
            raise CallError(
                f"{name}={given!r}: in a partially synthetic file every row is a person's, for which no posterior is "
                "computed; measure it with unveil.match_risk"
            )
