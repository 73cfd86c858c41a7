"""A column of which only counts are known: the values of each file, and how many records have each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.engines.engine import CountedValues
from unveil.engines.key_range import CodedValues
from unveil.engines.raw_values import GAP
from unveil.files.arrays import from_numpy, normalise
from unveil.files.batches import decoded
from unveil.files.distinct import Distinct, distinct_values
from unveil.files.source import Source

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class CountedColumn(CodedColumn):
    """One variable of an original and its releases, with a code per value that a file holds in the place of a record.

    Parameters
    ----------
    raw : per file (k,) int64
        Raw code of each value (:class:`unveil.engines.engine.CountedValues`), in the order of ``original`` and
        ``releases``.
    records : per file (k,) int64
        Number of records that have it.
    n_raw
        Per file the number of raw codes.
    """

    raw: tuple[Counts, ...] = ()
    records: tuple[Counts, ...] = ()
    n_raw: tuple[int, ...] = ()

    @cached_property
    def counts(self) -> tuple[NDArray[np.intp], ...]:
        """Number of records per level, those without a value last: of the original, then of each release."""
        size = len(self.levels) + 1
        return tuple(
            np.bincount(codes, records, size).astype(np.int64)
            for codes, records in zip((self.original, *self.releases), self.records, strict=True)
        )

    @property
    def by_raw_code(self) -> CodedValues:
        """The code of each raw value, as an engine takes it."""
        tables = []
        for codes, raw, n in zip((self.original, *self.releases), self.raw, self.n_raw, strict=True):
            table = np.zeros(n, np.int64)
            table[raw] = codes
            tables.append(table)
        return CodedValues(self.name, self.n_levels, tuple(tables))


def by_raw_code(columns: Iterable[CodedColumn]) -> list[CodedValues]:
    """Columns that an engine has counted, as it takes them."""
    found = []
    for column in columns:
        assert isinstance(column, CountedColumn)
        found.append(column.by_raw_code)
    return found


@dataclass(frozen=True)
class DrawnColumn(CodedColumn):
    """One variable in some records of each file, in the codes of all of them.

    Parameters
    ----------
    whole
        Per file the number of all its records per level, those without a value last.
    """

    whole: tuple[Counts, ...] = ()

    @classmethod
    def of(cls, column: CodedColumn, codes: Sequence[NDArray[np.int32]]) -> DrawnColumn:
        """The column with these codes: of the original, then of each release."""
        fields = {name: getattr(column, name) for name in CodedColumn.__dataclass_fields__}
        return cls(**fields | {"original": codes[0], "releases": tuple(codes[1:])}, whole=column.counts)

    @cached_property
    def counts(self) -> tuple[NDArray[np.intp], ...]:
        """Number of records per level of the whole files, those without a value last."""
        return self.whole


def held_values(counted: CountedValues, source: Source, name: str) -> tuple[Distinct, Counts]:
    """The values that records of one file have, as if each were a record, and their raw codes."""
    held = np.flatnonzero(counted.records)
    values = counted.values.take(from_numpy(held[held != GAP] - 1))
    if source.batches is None and source.distributed is None and source.num_rows:
        return replace(decoded(source, name, values), of_records=False), held
    chunks = [pa.nulls(1, values.type), values] if GAP in held[:1] else [values]
    column = normalise(pa.chunked_array(chunks, values.type), name, source.label)
    return replace(distinct_values(column, label=source.label, name=name), of_records=False), held


def counted_column(column: CodedColumn, counted: Sequence[CountedValues], raw: Sequence[Counts]) -> CountedColumn:
    """A column whose records are the values of its files."""
    fields = {name: getattr(column, name) for name in CodedColumn.__dataclass_fields__}
    records = tuple(one.records[held] for one, held in zip(counted, raw, strict=True))
    return CountedColumn(**fields, raw=tuple(raw), records=records, n_raw=tuple(len(one.records) for one in counted))
