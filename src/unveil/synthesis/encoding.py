"""From the columns of a file to the typed parts that are modelled.

Every column becomes *levels* (one code per distinct value, the gap last) and one or two *parts*
(:class:`unveil.trees.Column`). A numeric column with gaps, special codes or infinities has two: which special
value it is, or that a number was observed; and the number, fitted on observed records only. All others have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.checks import check_choice
from unveil.columns.column import CodedColumn, are_numbers
from unveil.columns.harmonise import codes_over, levels_of, ordered_levels
from unveil.errors import CallError
from unveil.files.arrays import buffer_view
from unveil.files.distinct import KIND_OF_FAMILY, Distinct
from unveil.files.nearest import near_matches
from unveil.files.source import KINDS, Kind, Scalar, Source, Variable
from unveil.synthesis.variable import EncodedVariable, ModelledPart
from unveil.trees import Column
from unveil.trees.column import ColumnKind

FILLER = 0.0
"""What the numeric part reads where no number was observed; the tree tells such records apart by the other part."""

EXACT_DOUBLE = 2**53


def encode(
    source: Source,
    *,
    kinds: Mapping[str, Kind] | None = None,
    special_codes: Mapping[str, Iterable[Scalar] | Scalar] | None = None,
) -> tuple[EncodedVariable, ...]:
    """Encode every column of a file.

    Parameters
    ----------
    source : Source
        The file.
    kinds : mapping of str to kind, optional
        What the values of a column are, where the file leaves it open.
    special_codes : mapping of str to values, optional
        Values of numeric columns that are not amounts.

    Returns
    -------
    tuple of EncodedVariable
        In column order.

    Raises
    ------
    CallError
        If an option names a column or kind that does not exist.
    DataError
        If a column cannot be read as the stated kind.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.files import read
    >>> (income,) = encode(read(pa.table({"income": [900, -8, None, 700]})), special_codes={"income": [-8]})
    >>> [(part.name, part.column.codes.tolist()) for part in income.parts]
    [('income_part', [2, 0, 1, 2]), ('income', [2, 0, 0, 1])]
    """
    kinds, special_codes = kinds or {}, special_codes or {}
    for name in (*kinds, *special_codes):
        if name not in source:
            raise CallError(f"{source.label} has no column {name!r}{near_matches(str(name), source.names)}")
    for name, kind in kinds.items():
        check_choice(f"column {name!r}: kind", kind, KINDS)
    # All codes are rows of one array, which trees read as it is; rows that stay unused take no memory.
    block = np.empty((2 * len(source.names), source.num_rows), dtype=np.int32)
    variables, taken = [], 0
    for name in source.names:
        declared = source.variable(name)
        found = levels_of(source, name, kinds.get(name))
        kind = kinds.get(name) or declared.kind or KIND_OF_FAMILY[found.family]
        variable = encoded(in_model_order(found, kind, declared), kind, special_codes.get(name), declared)
        variables.append(_moved(variable, block[taken : taken + len(variable.parts)]))
        taken += len(variable.parts)
    return tuple(variables)


def _moved(variable: EncodedVariable, rows: NDArray[np.int32]) -> EncodedVariable:
    """The same variable, with the codes of its parts in the given rows."""
    for part, row in zip(variable.parts, rows, strict=True):
        row[:] = part.column.codes
    parts = tuple(
        replace(part, column=part.column.with_codes(row)) for part, row in zip(variable.parts, rows, strict=True)
    )
    return replace(variable, parts=parts, codes=variable.codes if len(parts) > 1 else rows[0])


def in_model_order(found: Distinct, kind: Kind, declared: Variable) -> Distinct:
    """Values ascending; those of an ordered variable in declared order, with the others behind.

    Only an ordered variable is modelled by the order of its levels; a fit must not depend on that of others.
    """
    levels = ordered_levels([found.values], declared.levels or () if kind == "ordered" else ())
    return replace(found, values=levels, codes=codes_over(found, levels))


def encoded(
    found: Distinct,
    kind: Kind,
    special: Iterable[Scalar] | Scalar | None,
    declared: Variable,
    *,
    has_gap: bool | None = None,
) -> EncodedVariable:
    """Parts of a column that is coded by its levels.

    Parameters
    ----------
    found
        Levels in the order of :func:`in_model_order`, and the records by level.
    kind
        What the values are.
    special
        Values that are not amounts; by default those that are declared.
    declared
        What the file declares of the column.
    has_gap
        Whether the gap is a level; by default if one of the records has none.
    """
    n_values = len(found.values)
    gap = bool((found.codes == n_values).any()) if has_gap is None else has_gap
    numbers, plain = _numbers(found.values)
    places: tuple[int, ...] = ()
    if plain:
        given = declared.special_codes if special is None else special
        given = [given] if isinstance(given, str | int | float) else given
        special = [float(value) for value in given if isinstance(value, int | float | np.number)]
        places = tuple(np.flatnonzero(np.isin(numbers, special)).tolist()) if special else ()
    column = CodedColumn(found.column, kind, found.values, gap, found.codes, (), places)
    if column.has_amounts:
        parts = _numeric_parts(column, numbers)
    else:
        parts, plain = (_whole(column, "ordered" if kind == "ordered" else "categorical"),), False
    declared = replace(declared, labels=dict(declared.labels))
    return EncodedVariable(
        column.name, kind, column.levels, column.original, column.n_levels, parts, plain, found.label, declared
    )


def _whole(
    column: CodedColumn, kind: ColumnKind = "categorical", numbers: NDArray[np.float64] | None = None
) -> ModelledPart:
    """A part that has the codes of the column."""
    codes = np.arange(column.n_levels, dtype=np.int32)
    part = Column(column.original, kind, max(column.n_levels, 1), numbers, column.name)
    return ModelledPart(column.name, part, codes, codes)


def _numeric_parts(column: CodedColumn, numbers: NDArray[np.float64]) -> tuple[ModelledPart, ...]:
    """Parts of a column with amounts: which special value or gap it is, if there are any, and the number."""
    is_special = np.isnan(column.amounts)
    if not is_special.any():
        return (_whole(column, "numeric", numbers),)
    name, codes = column.name, column.original
    observed = np.flatnonzero(~is_special)
    n_special = is_special.size - observed.size
    of_level = np.where(is_special, np.cumsum(is_special) - 1, n_special).astype(np.int32)
    level_of = np.append(np.flatnonzero(is_special), -1).astype(np.int32)
    which = Column(of_level.take(codes), "categorical", n_special + 1, name=f"{name}_part")
    # Counts are not needed, but without them NumPy loads its masked arrays.
    values, _ = np.unique(np.append(numbers[observed], FILLER), return_counts=True)
    rank = np.full(is_special.size, np.searchsorted(values, FILLER), dtype=np.int32)
    rank[observed] = np.searchsorted(values, numbers[observed])
    back = np.full(values.size, -1, dtype=np.int32)
    back[rank[observed]] = observed
    amount = Column(rank.take(codes), "numeric", values.size, values, name)
    return (
        ModelledPart(which.name, which, of_level, level_of),
        ModelledPart(name, amount, rank, back, np.flatnonzero((~is_special).take(codes))),
    )


def _numbers(values: pa.Array) -> tuple[NDArray[np.float64], bool]:
    """Ascending values as ascending floating-point numbers, and whether these are the values themselves."""
    if pt.is_floating(values.type):
        return buffer_view(values.cast(pa.float64()), np.float64), True
    if not (are_numbers(values) or pt.is_date32(values.type) or pt.is_timestamp(values.type)) or not len(values):
        return np.zeros(len(values)), False
    whole = buffer_view(values.cast(pa.int32() if pt.is_date32(values.type) else pa.int64()).cast(pa.int64()), np.int64)
    if max(-int(whole[0]), int(whole[-1])) <= EXACT_DOUBLE:
        return whole.astype(np.float64), are_numbers(values)
    above = (whole.astype(np.uint64) - whole[:1].astype(np.uint64)).astype(np.float64)
    # Beyond the exact range neighbours can fall together; their ranks keep them apart and in order.
    return (above if (np.diff(above) > 0).all() else np.arange(whole.size, dtype=np.float64)), False
