"""Parquet and Arrow (Feather) files: opened by their schema alone, read one column at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import FileError
from unveil.microdata.arrays import buffer_view, check_names, declare_an_order, dictionary_levels, normalise
from unveil.microdata.form import ArrowForm
from unveil.microdata.source import Kind, Source, Variable

__all__ = ["declared_by_arrow", "metadata_for", "open_arrow", "open_parquet"]

METADATA_KEY = b"unveil"
ARROW_FILE = b"ARROW1"


def open_parquet(path: Path, label: str) -> Source:
    """Open a Parquet file; text is read as a dictionary.

    Raises
    ------
    FileError
        If the file is not Parquet or is cut off.
    """
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path, memory_map=True)
        text = [field.name for field in schema if _is_text(field.type)]
        file = pq.ParquetFile(path, memory_map=True, read_dictionary=text)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _not_a(label, "Parquet", error) from None
    names = _without_index(schema)
    check_names(names, label)

    def raw(opened: pq.ParquetFile, name: str) -> pa.ChunkedArray:
        try:
            # The reader takes the name as a path, so a nested neighbour may come along: pick by exact name.
            return opened.read(columns=[name]).column(name)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise _not_a(label, "Parquet", error) from None

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(raw(file, name), name, label)

    def native(name: str) -> pa.ChunkedArray:
        return raw(pq.ParquetFile(path, memory_map=True), name)

    variables = declared_by_arrow(schema, lambda name: dictionary_levels(fetch(name)), fetch)
    form = ArrowForm(pa.schema([schema.field(name) for name in names], schema.metadata))
    return Source(label, names, file.metadata.num_rows, fetch, variables, path=str(path), form=form, native=native)


def open_arrow(path: Path, label: str) -> Source:
    """Open an Arrow file or stream (Feather); the file is mapped into memory, not read.

    Raises
    ------
    FileError
        If the file is not Arrow or is cut off.
    """
    try:
        mapped = pa.memory_map(str(path))
        is_file = mapped.read(len(ARROW_FILE)) == ARROW_FILE
        mapped.seek(0)
        if not is_file:
            return _open_stream(mapped, path, label)
        # Of a compressed file only the first column is unpacked to count the records.
        reader = pa.ipc.open_file(mapped, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        num_rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
    except (pa.ArrowException, OSError) as error:
        raise _not_a(label, "Arrow", error) from None
    schema = pa.ipc.open_file(mapped).schema
    names = _without_index(schema)
    check_names(names, label)

    def raw(name: str) -> pa.ChunkedArray:
        options = pa.ipc.IpcReadOptions(included_fields=[schema.names.index(name)])
        try:
            return pa.ipc.open_file(pa.memory_map(str(path)), options=options).read_all().column(0)
        except (pa.ArrowException, OSError) as error:
            raise _not_a(label, "Arrow", error) from None

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(raw(name), name, label)

    def levels(name: str) -> Sequence[Any]:
        options = pa.ipc.IpcReadOptions(included_fields=[schema.names.index(name)])
        if not reader.num_record_batches:
            return ()
        batch = pa.ipc.open_file(pa.memory_map(str(path)), options=options).get_batch(0)
        values: Sequence[Any] = batch.column(0).dictionary.to_pylist()
        return values

    form = ArrowForm(pa.schema([schema.field(name) for name in names], schema.metadata))
    variables = declared_by_arrow(schema, levels, fetch)
    return Source(label, names, num_rows, fetch, variables, path=str(path), form=form, native=raw)


def _open_stream(mapped: pa.MemoryMappedFile, path: Path, label: str) -> Source:
    table = pa.ipc.open_stream(mapped).read_all()
    names = _without_index(table.schema)
    check_names(names, label)

    def fetch(name: str) -> pa.ChunkedArray:
        return normalise(table.column(name), name, label)

    variables = declared_by_arrow(table.schema, lambda _: (), fetch)
    return Source(
        label,
        names,
        table.num_rows,
        fetch,
        variables,
        path=str(path),
        form=ArrowForm(pa.schema([table.schema.field(name) for name in names], table.schema.metadata)),
        native=table.column,
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _not_a(label: str, what: str, error: Exception) -> FileError:
    reason = " ".join(str(error).split()).rstrip(".")
    return FileError(f"{label}: not a complete {what} file ({reason}); check its ending, or write it again")


def _without_index(schema: pa.Schema) -> tuple[str, ...]:
    """Column names without the row labels that pandas stores beside the data where they have no name."""
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = {entry for entry in stored.get("index_columns", ()) if isinstance(entry, str)}
    return tuple(n for n in schema.names if not (n in index and n.startswith("__index_level_")))


# What Arrow schemas declare


def declared_by_arrow(
    schema: pa.Schema,
    levels: Callable[[str], Sequence[Any]],
    column: Callable[[str], pa.ChunkedArray],
    *,
    enumerations: bool = False,
) -> dict[str, Variable]:
    """Declarations found in an Arrow schema: our own, then those of pandas, polars and Arrow itself.

    Parameters
    ----------
    schema
        The schema with its metadata.
    levels
        Function from a dictionary column's name to its dictionary; asked only where the order is declared.
    column
        Function from its name to the column; asked only where pandas has listed the levels.
    enumerations
        Whether dictionaries come from a program (DuckDB) that uses them for declared enumerations only.
    """
    metadata = schema.metadata or {}
    own = variables_from_json(metadata[METADATA_KEY]) if METADATA_KEY in metadata else {}
    by_pandas = {
        column["name"]
        for column in json.loads(metadata.get(b"pandas", b"{}")).get("columns", ())
        if column.get("pandas_type") == "categorical"
    }
    found = {}
    for field in schema:
        if field.name in own or not pa.types.is_dictionary(field.type):
            continue
        polars = {key[:9] for key in field.metadata or {} if key.startswith(b"_PL_")}
        kind: Kind = "ordered" if field.type.ordered and not polars else "categorical"
        has_order = enumerations or field.type.ordered or field.name in by_pandas or b"_PL_ENUM_" in polars
        declared = tuple(levels(field.name)) if has_order else ()
        if declared and field.name in by_pandas and not field.type.ordered:
            declared = declared if declare_an_order(declared, _codes(column(field.name))) else ()
        if declared or polars or field.name in by_pandas or _is_text(field.type.value_type):
            # An order whose levels cannot be known is none.
            found[field.name] = Variable(field.name, kind=kind if declared else "categorical", levels=declared or None)
    return found | own


def _codes(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Codes of a dictionary in one chunk, -1 for a gap."""
    if not column.num_chunks:
        return np.zeros(0, dtype=np.int32)
    return buffer_view(column.chunk(0).indices.fill_null(-1), np.int32)


def metadata_for(variables: Mapping[str, Variable]) -> dict[bytes, bytes]:
    """Declarations as the metadata that :func:`open_parquet` and :func:`open_arrow` find again.

    Levels that are neither numbers nor text are left to the Arrow dictionary that holds them.
    """
    stored = [
        {
            "name": v.name,
            "kind": v.kind,
            "levels": None if v.levels is None else list(v.levels),
            "special_codes": list(v.special_codes),
            "labels": [[code, label] for code, label in v.labels.items()],
            "labelled": v.labelled,
        }
        for v in variables.values()
        if all(isinstance(level, bool | int | float | str) for level in v.levels or ())
    ]
    return {METADATA_KEY: json.dumps(stored, ensure_ascii=False).encode()}


def variables_from_json(stored: bytes) -> dict[str, Variable]:
    """The declarations that :func:`metadata_for` wrote."""
    return {
        entry["name"]: Variable(
            name=entry["name"],
            kind=entry["kind"],
            levels=None if entry["levels"] is None else tuple(entry["levels"]),
            special_codes=tuple(entry["special_codes"]),
            labels=dict(entry["labels"]),
            labelled=bool(entry.get("labelled", False)),
        )
        for entry in json.loads(stored)
    }
