"""A file in codes that follow from public declarations, not from its records.

It is like :class:`unveil.synthesis.methods.coded_file.CodedFile`, but a schema declares everything: the levels and
their order, the parts of amounts, the types of a release, and whether there can be gaps. Levels that no record has are
levels too. Differential privacy rests on this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.harmonise import as_kind
from unveil.errors import DataError
from unveil.files import read
from unveil.files.distinct import Distinct, distinct_of, level_texts
from unveil.files.source import Kind, Source, Variable
from unveil.synthesis.likelihood import require_variable
from unveil.synthesis.methods.coded_file import Codes
from unveil.synthesis.methods.declarations import public_columns
from unveil.synthesis.methods.parts import Floats
from unveil.synthesis.methods.public_column import PublicColumn
from unveil.synthesis.output_frame import in_flavour


@dataclass(frozen=True, eq=False)
class PublicFile:
    """An original in codes of its declarations.

    Parameters
    ----------
    variables : tuple of PublicColumn
        The columns.
    source : Source
        The original; only its number of records and its kind of frame are used.
    codes : list of (n,) int32
        Codes per column.
    """

    variables: tuple[PublicColumn, ...]
    source: Source
    codes: list[Codes]

    @classmethod
    def of(cls, source: Source, kinds: Mapping[str, Kind] | None = None) -> PublicFile:
        """Return a file in the codes of its schema.

        Raises
        ------
        CallError
            If a column lacks a declaration, or one is contradictory.
        DataError
            If a record has a value that is not declared.
        """
        variables = public_columns(source, kinds)
        return cls(variables, source, [_coded(variable, source) for variable in variables])

    @property
    def n(self) -> int:
        """Number of records."""
        return self.source.num_rows

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Per column the number of levels."""
        return tuple(variable.n_levels for variable in self.variables)

    def within(self, column: int) -> Floats:
        """Return the logarithm (l,) of the probability of a value of a release, given its code."""
        return self.variables[column].within

    def open(self, release: Any) -> Source:
        """Return a release as a source; text is read by the declared kinds."""
        named = isinstance(release, str | os.PathLike)
        source = read(release, label=None if named or isinstance(release, Source) else "the release")
        if not named:
            return source
        return read(release, schema={v.name: Variable(v.name, v.kind) for v in self.variables if v.name in source})

    def read(self, source: Source) -> tuple[list[Codes], list[NDArray[np.bool_]]]:
        """Return per column the codes (n,) of a release, and which values (n,) cannot have been drawn."""
        codes, unknown = [], []
        for variable in self.variables:
            require_variable(source, variable.name)
            found = _found(variable, source)
            own = variable.table(found.values, released=True)[found.codes]
            unknown.append(own < 0)
            codes.append(np.maximum(own, 0))
        return codes, unknown

    def frame(self, codes: Sequence[Codes], rng: np.random.Generator) -> Any:
        """Return a frame of records like that of the original; types follow from the declarations."""
        drawn = {v.name: v.draw(own, rng) for v, own in zip(self.variables, codes, strict=True)}
        return in_flavour(pa.table(drawn), self.source.flavour)

    def to_dict(self) -> dict[str, Any]:
        """Return the declarations of all columns as plain values."""
        return {variable.name: variable.to_dict() for variable in self.variables}


def _found(variable: PublicColumn, source: Source) -> Distinct:
    found = distinct_of(source, variable.name)
    return as_kind(found, variable.kind) if variable.parts is not None else found


def _coded(variable: PublicColumn, source: Source) -> Codes:
    """Return the codes (n,) of the records.

    Raises
    ------
    DataError
        If a record has a value that is not declared.
    """
    found = _found(variable, source)
    codes = variable.table(found.values)[found.codes]
    wrong = np.flatnonzero(codes < 0)
    if not wrong.size:
        return codes
    first = int(found.codes[wrong[0]])
    what = "no value" if first == len(found.values) else repr(level_texts(found.values.slice(first, 1))[0])
    way_out = "gaps = true" if first == len(found.values) else "the level, or a level for all others,"
    raise DataError(
        f"{source.label}: column {variable.name!r}, record {int(wrong[0]) + 1} has {what}, which the schema does not "
        f"declare; declare {way_out} if that is known to everybody, or correct the record. Keep this message "
        "confidential"
    )
