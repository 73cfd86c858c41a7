"""Parquet and Arrow (Feather) files: opened by their schema alone, read one column at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import FileError
from unveil.files.arrays import buffer_view, check_names, declare_an_order, dictionary_levels, normalise
from unveil.files.arrow_checks import OWN_KEY, check_records, of_pandas, own_entries, refusing, valid
from unveil.files.form import ArrowForm
from unveil.files.source import BATCH, KINDS, Batches, Kind, Source, Variable
from unveil.notes import warn

Fetch = Callable[[str], pa.ChunkedArray]

ARROW_FILE = b"ARROW1"
START_OF_STREAM = 8
END_OF_STREAM = b"\xff\xff\xff\xff" + bytes(4)


@dataclass(frozen=True)
class _ArrowData:
    """The columns of one file, and how they become a source.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    what
        Format of the file in messages: "Parquet" or "Arrow".
    schema
        Schema of the columns, without row labels.
    num_rows
        Number of records.
    """

    path: Path
    label: str
    what: str
    schema: pa.Schema
    num_rows: int

    def source(
        self,
        read: Fetch,
        levels: Callable[[str], Sequence[Any]] | None = None,
        native: Fetch | None = None,
        batches: Batches | None = None,
    ) -> Source:
        """Return the source.

        Parameters
        ----------
        read
            Function from a column's name to its values.
        levels
            Function from the name of a dictionary column to its levels in their order; by default those of the column.
        native
            As ``read``, in the file's own type, where that is another.
        batches
            Function from the names of some columns to their values batch by batch.
        """
        raw = self._checked(read)

        def fetch(name: str) -> pa.ChunkedArray:
            return normalise(raw(name), name, self.label)

        variables = declared_by_arrow(
            self.schema, levels or (lambda name: dictionary_levels(fetch(name))), fetch, self.label
        )
        return Source(
            self.label,
            tuple(self.schema.names),
            self.num_rows,
            fetch,
            variables,
            path=str(self.path),
            form=ArrowForm(self.schema),
            native=self._checked(native or read),
            batches=None if batches is None else self._checked_batches(batches),
        )

    def _checked(self, read: Fetch) -> Fetch:
        """Return the function with an error for damaged columns."""

        def column(name: str) -> pa.ChunkedArray:
            with refusing(self.label, self.what):
                values = read(name)
                if len(values) != self.num_rows:
                    raise ValueError(f"a column has {len(values)} values, the file {self.num_rows} records")
                return valid(values, name, self.label)

        return column

    def _checked_batches(self, read: Batches) -> Batches:
        """Return the function with an error for damaged columns."""

        def batches(names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
            found = 0
            with refusing(self.label, self.what):
                for batch in read(names):
                    for name, values in batch.items():
                        valid(pa.chunked_array([values]), name, self.label)
                    found += len(next(iter(batch.values())))
                    yield batch
                if found != self.num_rows:
                    raise ValueError(f"the columns have {found} values, the file {self.num_rows} records")

        return batches


def open_parquet(path: Path, label: str) -> Source:
    """Open a Parquet file; text is read as a dictionary.

    Raises
    ------
    FileError
        If the file is not Parquet, is cut off or damaged.
    """
    import pyarrow.parquet as pq

    def opened(**options: Any) -> pq.ParquetFile:
        return pq.ParquetFile(path, memory_map=True, page_checksum_verification=True, **options)

    def state() -> tuple[int, int]:
        found = path.stat()
        return found.st_size, found.st_mtime_ns

    def check_unchanged() -> None:
        # A file that is mapped into memory and cut off meanwhile ends the process; one that was written again mixes
        # its columns with those that were read before.
        if not path.exists():
            raise FileError(f"{label}: the file was removed after it was opened; open it again")
        if state() != at_first:
            raise FileError(f"{label}: the file was changed after it was opened; open it again")

    def column(file: pq.ParquetFile, name: str) -> pa.ChunkedArray:
        check_unchanged()
        # The reader takes the name as a path, so a nested neighbour may come along: pick by exact name.
        return file.read(columns=[name]).column(name)

    def batches(names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        check_unchanged()
        # Mapped pages would count as memory of the process, however large the file is.
        with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=text, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH, columns=list(names)):
                check_unchanged()
                yield {name: batch.column(batch.schema.get_field_index(name)) for name in names}

    with refusing(label, "Parquet"):
        at_first = state()
        schema = pq.read_schema(path, memory_map=True)
        text = [field.name for field in schema if _is_text(field.type)]
        file = opened(read_dictionary=text)
        kept = _without_index(schema, label)
        num_rows = check_records(_records_of_groups(file.metadata, label), label)
        data = _ArrowData(path, label, "Parquet", kept, num_rows)
        return data.source(lambda name: column(file, name), native=lambda name: column(opened(), name), batches=batches)


def open_arrow(path: Path, label: str) -> Source:
    """Open an Arrow file or stream (Feather); the file is mapped into memory, not read.

    Raises
    ------
    FileError
        If the file is not Arrow, is cut off or damaged.
    """
    with refusing(label, "Arrow"):
        mapped = pa.memory_map(str(path))
        is_file = mapped.read(len(ARROW_FILE)) == ARROW_FILE
        mapped.seek(0)
        return _open_file(mapped, path, label) if is_file else _open_stream(mapped, path, label)


def _open_file(mapped: pa.MemoryMappedFile, path: Path, label: str) -> Source:
    schema = pa.ipc.open_file(mapped).schema
    kept = _without_index(schema, label)
    # Of a compressed file only the first column is unpacked to count the records.
    reader = pa.ipc.open_file(mapped, options=pa.ipc.IpcReadOptions(included_fields=[0]))
    if _batches_before_the_footer(mapped) > reader.num_record_batches:
        raise FileError(f"{label}: holds more records than the end of the file says; write it again")
    num_rows = check_records(sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches)), label)

    def column(name: str) -> pa.ChunkedArray:
        options = pa.ipc.IpcReadOptions(included_fields=[schema.names.index(name)])
        return pa.ipc.open_file(pa.memory_map(str(path)), options=options).read_all().column(0)

    return _ArrowData(path, label, "Arrow", kept, num_rows).source(column)


def _open_stream(mapped: pa.MemoryMappedFile, path: Path, label: str) -> Source:
    table = pa.ipc.open_stream(mapped).read_all()
    _check_end(mapped, label)
    kept = _without_index(table.schema, label)
    num_rows = check_records(table.num_rows, label)
    return _ArrowData(path, label, "Arrow", kept, num_rows).source(table.column, levels=lambda _: ())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _records_of_groups(metadata: Any, label: str) -> int:
    """Number of records, which the end of a Parquet file gives twice."""
    num_rows: int = metadata.num_rows
    if num_rows != sum(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)):
        raise FileError(f"{label}: the end of the file contradicts itself about the number of records; write it again")
    return num_rows


def _batches_before_the_footer(mapped: pa.MemoryMappedFile) -> int:
    """Number of record batches in an Arrow file, which is a stream with a table of contents behind it."""
    found = 0
    mapped.seek(START_OF_STREAM)
    try:
        messages = pa.ipc.MessageReader.open_stream(mapped)
        while True:
            found += messages.read_next_message().type == "record batch"
    except (StopIteration, pa.ArrowException, OSError):
        # Older files have no mark between stream and table of contents.
        return found


def _check_end(mapped: pa.MemoryMappedFile, label: str) -> None:
    """Check that a stream is complete, and that nothing follows it in the file."""
    end, size = mapped.tell(), mapped.size()
    rest = mapped.read(size - end)
    if rest.strip(b"\0"):
        raise FileError(f"{label}: goes on for {len(rest)} bytes after the end of its records; write it again")
    mapped.seek(0)
    # Old streams end with four bytes of zeros, which also serve as padding.
    is_old = mapped.read(4) != END_OF_STREAM[:4]
    mapped.seek(max(end - len(END_OF_STREAM), 0))
    if not is_old and mapped.read(len(END_OF_STREAM)) != END_OF_STREAM:
        warn(f"{label}: has no mark at its end, so that records may be missing; write it again")


def _without_index(schema: pa.Schema, label: str) -> pa.Schema:
    """Return the schema without the row labels that pandas stores beside the data where they have no name."""
    index = {entry for entry in of_pandas(schema.metadata, label).get("index_columns", ()) if isinstance(entry, str)}
    names = [n for n in schema.names if not (n in index and n.startswith("__index_level_"))]
    if not names:
        raise FileError(f"{label}: the file has no columns")
    return pa.schema([schema.field(name) for name in check_names(names, label)], schema.metadata)


# What Arrow schemas declare


def declared_by_arrow(
    schema: pa.Schema,
    levels: Callable[[str], Sequence[Any]],
    column: Callable[[str], pa.ChunkedArray],
    label: str,
    *,
    enumerations: bool = False,
) -> dict[str, Variable]:
    """Return the declarations in an Arrow schema: of this package, then of pandas, polars and Arrow.

    Parameters
    ----------
    schema
        The schema with its metadata.
    levels
        Function from a dictionary column's name to its dictionary; called only if the order is declared.
    column
        Function from its name to the column; called only if pandas listed the levels.
    label
        Name of the data in messages.
    enumerations
        Whether dictionaries come from a program (DuckDB) that uses them for declared enumerations only.
    """
    own = own_declarations(schema.metadata, label)
    by_pandas = {
        one["name"]
        for one in of_pandas(schema.metadata, label).get("columns", ())
        if one.get("pandas_type") == "categorical" and isinstance(one.get("name"), str)
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
            # Without levels there is no order.
            found[field.name] = Variable(field.name, kind=kind if declared else "categorical", levels=declared or None)
    return found | own


def _codes(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """Return the codes (n,) of a dictionary in one chunk, -1 for a gap."""
    if not column.num_chunks:
        return np.zeros(0, dtype=np.int32)
    return buffer_view(column.chunk(0).indices.fill_null(-1), np.int32)


def metadata_for(variables: Mapping[str, Variable]) -> dict[bytes, bytes]:
    """Return declarations as metadata, which :func:`open_parquet` and :func:`open_arrow` read.

    A column whose levels are neither numbers nor text is left out: its Arrow dictionary holds the levels.
    """
    fields = ("name", "kind", "levels", "special_codes", "labels", "labelled")
    stored = [
        {field: getattr(v, field) for field in fields} | {"labels": list(v.labels.items())}
        for v in variables.values()
        if all(isinstance(level, bool | int | float | str) for level in v.levels or ())
    ]
    return {OWN_KEY: json.dumps(stored, ensure_ascii=False).encode()}


def own_declarations(metadata: Mapping[bytes, bytes] | None, label: str) -> dict[str, Variable]:
    """Return the declarations that :func:`metadata_for` wrote, by column; empty if there are none.

    Raises
    ------
    FileError
        If they are damaged.
    """
    found = {}
    for entry in own_entries(metadata, label):
        if entry["kind"] not in (*KINDS, None):
            raise FileError(f"{label}, declarations: there is no kind {entry['kind']!r:.60}; write the file again")
        found[entry["name"]] = Variable(
            name=entry["name"],
            kind=entry["kind"],
            levels=None if entry["levels"] is None else tuple(entry["levels"]),
            special_codes=tuple(entry["special_codes"]),
            labels=dict(entry["labels"]),
            labelled=entry.get("labelled", False),
        )
    return found
