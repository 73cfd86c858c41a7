"""The Parquet files of a folder as one file: their records one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from unveil.errors import FileError
from unveil.files.arrays import TEXT, check_names, from_numpy, normalise, quoted_list, text_array
from unveil.files.columnar import open_parquet
from unveil.files.folders import Part, parts_of
from unveil.files.form import ArrowForm
from unveil.files.source import BATCH, Batches, Source, Variable
from unveil.files.unified import common_type, converted, read_as

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")


@dataclass(frozen=True)
class _Opened:
    """What is known of one file without keeping it open: a system lets a program have some 1000 files open."""

    part: Part
    schema: pa.Schema
    num_rows: int
    batches: Batches
    variables: Mapping[str, Variable]

    @classmethod
    def of(cls, part: Part) -> _Opened:
        source = open_parquet(part.path, part.name)
        assert isinstance(source.form, ArrowForm)
        assert source.batches is not None
        return cls(part, source.form.schema, source.num_rows, source.batches, source.variables)


@dataclass(frozen=True)
class _Joined:
    """The files, and the types of all columns: those of the files, then those that the names of folders give."""

    label: str
    files: tuple[_Opened, ...]
    schema: pa.Schema
    named: Mapping[str, pa.DataType]

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """Some columns file by file, and each file batch by batch."""
        stored = [name for name in names if name not in self.named]
        for file in self.files:
            for batch in file.batches(stored) if stored else _lengths(file.num_rows):
                n = batch if isinstance(batch, int) else len(next(iter(batch.values())))
                said = {
                    name: _repeated(value, n, self.named[name]) for name, value in file.part.values if name in names
                }
                held = {} if isinstance(batch, int) else self._converted(file, batch)
                yield {name: said[name] if name in said else held[name] for name in names}

    def _converted(self, file: _Opened, batch: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        found = {}
        for name, values in batch.items():
            kind = self.schema.field(name).type
            try:
                found[name] = converted(values, read_as(kind), name, file.part.name)
            except pa.ArrowInvalid:
                raise FileError(
                    f"{file.part.name}: column {name!r} holds values that {kind}, the type for all files of the "
                    "folder, does not keep; write all files with one type"
                ) from None
        return found

    def native(self, name: str) -> pa.ChunkedArray:
        """A column in the type of the files; texts by a dictionary."""
        chunks = [batch[name] for batch in self.batches([name])]
        return pa.chunked_array(chunks, self.named.get(name) or read_as(self.schema.field(name).type))

    def fetch(self, name: str) -> pa.ChunkedArray:
        """A column as all files give it."""
        return normalise(self.native(name), name, self.label)


def open_parts(path: Path, label: str) -> Source:
    """Open a folder of Parquet files, or those whose names fit a pattern.

    Raises
    ------
    FileError
        If there are none, one cannot be read, or their columns or types differ.
    """
    files = tuple(_Opened.of(part) for part in parts_of(path, label))
    schema = _common_schema(files)
    columns = [name for name, _ in files[0].part.values if name not in schema.names]
    named = {name: _type_of([dict(file.part.values)[name] for file in files]) for name in columns}
    joined = _Joined(label, files, schema, named)
    every = schema
    for name, kind in named.items():
        every = every.append(pa.field(name, pa.string() if pa.types.is_dictionary(kind) else kind))
    return Source(
        label,
        check_names(every.names, label),
        sum(file.num_rows for file in files),
        joined.fetch,
        _declared(files),
        path=str(path),
        form=ArrowForm(every),
        native=joined.native,
        batches=joined.batches,
        parts=tuple(str(file.part.path) for file in files),
    )


def _common_schema(files: Sequence[_Opened]) -> pa.Schema:
    """The columns of the first file, each in a type for all files."""
    first = files[0]
    schema = first.schema
    for file in files[1:]:
        _check_same_columns(first, file)
        for position, field in enumerate(schema):
            other = file.schema.field(field.name).type
            kind = common_type(field.type, other)
            if kind is None:
                raise FileError(
                    f"{file.part.name}: column {field.name!r} is of type {other}, in files before it of {field.type}; "
                    "write all files of a folder with one type"
                )
            if kind != field.type:
                schema = schema.set(position, field.with_type(kind))
    return schema


def _check_same_columns(first: _Opened, file: _Opened) -> None:
    for one, other in ((first, file), (file, first)):
        lacking = [name for name in one.schema.names if name not in set(other.schema.names)]
        if lacking:
            raise FileError(
                f"{other.part.name} has no column {quoted_list(lacking)}, which {one.part.name} has; all files of a "
                "folder need the same columns"
            )


def _declared(files: Sequence[_Opened]) -> dict[str, Variable]:
    """Declarations of the first file that has records; levels and labels of the others come behind its own."""
    found: dict[str, Variable] = {}
    for file in sorted(files, key=lambda one: not one.num_rows):
        for name, variable in file.variables.items():
            known = found.setdefault(name, variable)
            if known.levels is not None and variable.levels is not None:
                levels = tuple(dict.fromkeys([*known.levels, *variable.levels]))
                known = replace(known, levels=levels)
            found[name] = replace(known, labels={**variable.labels, **known.labels})
    return found


def _type_of(values: Sequence[str | None]) -> pa.DataType:
    """Whole numbers where all values are some, without leading zeros; else text."""
    return pa.int64() if all(value is None or _WHOLE.fullmatch(value) for value in values) else TEXT


def _repeated(value: str | None, n: int, kind: pa.DataType) -> pa.Array:
    if value is None:
        return pa.nulls(n, kind)
    if pa.types.is_integer(kind):
        return from_numpy(np.full(n, int(value), np.int64))
    return pa.DictionaryArray.from_arrays(from_numpy(np.zeros(n, np.int32)), text_array([value]))


def _lengths(n: int) -> Iterator[int]:
    return (min(BATCH, n - start) for start in range(0, n, BATCH))
