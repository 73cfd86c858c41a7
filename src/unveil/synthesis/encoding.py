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
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.columns.column import is_amount
from unveil.columns.harmonise import levels_of
from unveil.errors import CallError
from unveil.files.arrays import buffer_view, from_numpy
from unveil.files.distinct import Distinct, level_text, python_values
from unveil.files.nearest import near_matches
from unveil.files.source import KINDS, Kind, Scalar, Source
from unveil.synthesis.variable import EncodedVariable, Levels, ModelledPart
from unveil.trees import Column

__all__ = ["EncodedVariable", "Levels", "ModelledPart", "encode"]

Floats = NDArray[np.float64]

FILLER = 0.0
"""What the numeric part reads where no number was observed; the tree tells such records apart by the other part."""

EXACT_DOUBLE = 2**53
NUMERIC_FAMILIES = ("number", "date", "datetime")
KIND_OF_FAMILY: Mapping[str, Kind] = {
    "number": "numeric",
    "text": "categorical",
    "logical": "logical",
    "date": "date",
    "datetime": "datetime",
    "empty": "categorical",
}


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
        if not isinstance(kind, str) or kind not in KINDS:
            raise CallError(f"column {name!r}: unknown kind {kind!r}; choose from {', '.join(KINDS)}")
    # All codes are rows of one array, which trees read as it is; rows that stay unused take no memory.
    block = np.empty((2 * len(source.names), source.num_rows), dtype=np.int32)
    variables, taken = [], 0
    for name in source.names:
        variable = _variable(source, name, kinds.get(name), special_codes.get(name))
        variables.append(_moved(variable, block[taken : taken + len(variable.parts)]))
        taken += len(variable.parts)
    return tuple(variables)


def _moved(variable: EncodedVariable, rows: NDArray[np.int32]) -> EncodedVariable:
    """The same variable, with the codes of its parts in the given rows."""
    parts = []
    for part, row in zip(variable.parts, rows, strict=True):
        row[:] = part.column.codes
        parts.append(ModelledPart(part.name, part.column.with_codes(row), part.of_level, part.level_of, part.rows))
    codes = variable.codes if len(parts) > 1 else parts[0].column.codes
    return EncodedVariable(
        variable.name,
        variable.kind,
        variable.values,
        codes,
        variable.n_levels,
        tuple(parts),
        variable.plain,
        variable.distinct,
        variable.declared,
    )


def _variable(
    source: Source, name: str, kind: Kind | None, special: Iterable[Scalar] | Scalar | None
) -> EncodedVariable:
    declared = source.variable(name)
    found = levels_of(source, name, kind)
    kind = kind or declared.kind or KIND_OF_FAMILY[found.family]
    # Only an ordered variable is modelled by the order of its levels; a fit must not depend on that of others.
    found = _sorted(found, declared.levels or () if kind == "ordered" else ())
    has_gap = bool((found.codes == len(found.values)).any())
    n_levels = len(found.values) + has_gap
    is_number = kind in ("numeric", "date", "datetime") and found.family in NUMERIC_FAMILIES
    if special is None:
        special = declared.special_codes
    parts, plain = _numeric_parts(name, found, n_levels, _listed(special)) if is_number else (None, False)
    if parts is None:
        codes = np.arange(n_levels, dtype=np.int32)
        column = Column(found.codes, "ordered" if kind == "ordered" else "categorical", max(n_levels, 1), name=name)
        parts = (ModelledPart(name, column, codes, codes),)
    own = Distinct(found.label, name, found.family, found.values, np.arange(len(found.values), dtype=np.int32))
    return EncodedVariable(
        name,
        kind,
        found.values,
        found.codes,
        n_levels,
        parts,
        plain,
        own,
        replace(declared, labels=dict(declared.labels)),
    )


def _listed(values: Iterable[Scalar] | Scalar) -> list[Scalar]:
    return [values] if isinstance(values, str | int | float) else list(values)


def _sorted(found: Distinct, declared: Iterable[Scalar]) -> Distinct:
    """Values ascending, or in declared order with the others behind."""
    values = found.values
    order = buffer_view(pc.sort_indices(values), np.uint64).astype(np.int64)
    rank = {level_text(level): i for i, level in enumerate(declared)}
    if rank:
        ranks = [rank.get(level_text(v), len(rank)) for v in python_values(values.take(from_numpy(order)))]
        order = order[np.argsort(np.array(ranks), kind="stable")]
    if (order == np.arange(order.size)).all():
        return found
    table = np.empty(order.size + 1, dtype=np.int64)
    table[order], table[-1] = np.arange(order.size), order.size
    return found.recoded(found.family, values.take(from_numpy(order)), table)


def _numeric_parts(
    name: str, found: Distinct, n_levels: int, special: list[Scalar]
) -> tuple[tuple[ModelledPart, ...] | None, bool]:
    """Parts of a numeric variable, and whether the numbers are as they are; None where no number is observed."""
    amounts, plain = _amounts(found.values)
    is_special = np.ones(n_levels, dtype=np.bool_)
    is_special[: amounts.size] = ~np.isfinite(amounts)
    for value in special if plain else ():
        if isinstance(value, int | float | np.number):
            is_special[: amounts.size] |= amounts == float(value)
    if is_special.all():
        return None, False
    if not is_special.any():
        codes = np.arange(n_levels, dtype=np.int32)
        column = Column(found.codes, "numeric", n_levels, amounts, name)
        return (ModelledPart(name, column, codes, codes),), plain
    observed = np.flatnonzero(~is_special)
    n_special = n_levels - observed.size
    of_level = np.where(is_special, np.cumsum(is_special) - 1, n_special).astype(np.int32)
    level_of = np.append(np.flatnonzero(is_special), -1).astype(np.int32)
    which = ModelledPart(
        f"{name}_part",
        Column(of_level[found.codes], "categorical", n_special + 1, name=f"{name}_part"),
        of_level,
        level_of,
    )
    values = np.union1d(amounts[observed], [FILLER])
    rank = np.full(n_levels, np.searchsorted(values, FILLER), dtype=np.int32)
    rank[observed] = np.searchsorted(values, amounts[observed])
    back = np.full(values.size, -1, dtype=np.int32)
    back[rank[observed]] = observed
    column = Column(rank[found.codes], "numeric", values.size, values, name)
    return (which, ModelledPart(name, column, rank, back, np.flatnonzero(~is_special[found.codes]))), plain


def _amounts(values: pa.Array) -> tuple[Floats, bool]:
    """Ascending values as strictly ascending floating-point numbers, and whether these are the values themselves."""
    if pa.types.is_floating(values.type):
        return buffer_view(values.cast(pa.float64()), np.float64), True
    is_number = is_amount(values)
    whole = buffer_view(
        values.cast(pa.int32() if values.type == pa.date32() else pa.int64()).cast(pa.int64()), np.int64
    )
    if max(-int(whole[0]), int(whole[-1])) <= EXACT_DOUBLE:
        return whole.astype(np.float64), is_number
    above = (whole.astype(np.uint64) - whole[:1].astype(np.uint64)).astype(np.float64)
    # Beyond the exact range neighbours can fall together; their ranks keep them apart and in order.
    return (above if (np.diff(above) > 0).all() else np.arange(whole.size, dtype=np.float64)), False
