"""A numeric column for disclosure control: amounts, separate from gaps and special codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.arrays import buffer_view, flags, quoted_list
from unveil.files.schema import suspected_special_codes
from unveil.files.source import Scalar
from unveil.notes import warn
from unveil.synthesis.sdc.records import GivenFile

SpecialCodes = Mapping[str, Iterable[Scalar] | Scalar] | None
Numbers = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Amounts:
    """A numeric column.

    Parameters
    ----------
    values : (n,) int64 or float64
        Value by record; 0 for a gap.
    present : (n,) bool
        Whether the value is an amount: neither gap nor special code.
    n_gaps, n_special
        Number of gaps and of special codes.
    """

    values: Numbers
    present: NDArray[np.bool_]
    n_gaps: int
    n_special: int

    @property
    def is_whole(self) -> bool:
        """Whether the column's type is one of whole numbers."""
        return self.values.dtype == np.int64

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of gaps and special codes by name, for a report."""
        return {"n_gaps": self.n_gaps, "n_special": self.n_special}

    @property
    def untouched(self) -> str:
        """A sentence on the values that are never changed."""
        return f"{self.n_gaps} gaps and {self.n_special} special codes stay as they are."


def amounts_of(records: GivenFile, column: str, special_codes: SpecialCodes, action: str) -> Amounts:
    """Return a numeric column.

    Raises
    ------
    CallError
        If the column does not exist, or is not numeric.
    """
    records.source.require(column)
    source = records.source
    stored = source.column(column)
    declared = source.variable(column)
    if not (pa.types.is_integer(stored.type) or pa.types.is_floating(stored.type)):
        kind = "categorical" if pa.types.is_dictionary(stored.type) else str(stored.type)
        raise CallError(f"{source.label}: column {column!r} is {kind}; {action} needs numbers")
    if declared.kind not in (None, "numeric"):
        raise CallError(f"{source.label}: column {column!r} is {declared.kind}; {action} needs amounts")
    special = codes_of(special_codes, column, records) or declared.special_codes
    if not special and (suspected := suspected_special_codes(stored)):
        warn(
            f"{source.label}: column {column!r} holds {quoted_list(suspected)}, which look like codes and are "
            f"treated as amounts; otherwise declare them: special_codes={{{column!r}: {list(suspected)}}}"
        )
    dtype: Any = np.int64 if pa.types.is_integer(stored.type) else np.float64
    joined = pa.concat_arrays(stored.chunks) if stored.num_chunks else pa.array([], stored.type)
    gap = flags(pc.is_null(joined, nan_is_null=True))
    values = np.where(gap, dtype(0), buffer_view(joined.fill_null(dtype(0).item()), dtype))
    is_special = np.isin(values, [code for code in special if not isinstance(code, str)]) & ~gap
    return Amounts(values, ~gap & ~is_special, int(gap.sum()), int(is_special.sum()))


def codes_of(special_codes: SpecialCodes, column: str, records: GivenFile) -> tuple[Scalar, ...]:
    """Return the special codes that the user gives for a column.

    Raises
    ------
    CallError
        If codes are given for a column that does not exist.
    """
    for name in special_codes or {}:
        records.source.require(name)
    given = (special_codes or {}).get(column, ())
    return (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
