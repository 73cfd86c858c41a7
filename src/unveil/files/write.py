"""Write a table in the format of the file's ending, as a whole or not at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import CallError, DataError, FileError, UnveilWarning
from unveil.files.arrays import check_names, normalise
from unveil.files.atomic import replacing, tidy_when_ended
from unveil.files.columnar import metadata_for
from unveil.files.form import ArrowForm, Form, PackageForm, TextForm
from unveil.files.path_checks import reason_of
from unveil.files.source import Source, Variable
from unveil.files.statistical import load_pyreadstat
from unveil.files.write_delimited import write_delimited
from unveil.files.write_statistical import PACKAGES, refuse_long_integers, write_statistical


@dataclass(frozen=True)
class _About:
    """Declarations and form of the columns."""

    variables: Mapping[str, Variable]
    form: Form | None


def write_table(
    table: pa.Table,
    path: str | Path,
    variables: Mapping[str, Variable] | None = None,
    form: Form | None = None,
    *,
    overwrite: bool = False,
    confidential: bool = False,
) -> None:
    """Write a table; :func:`unveil.files.opening.open_source` reads the same values back.

    Parameters
    ----------
    table
        The records.
    path
        Path of the file. Its ending decides the format: .csv, .tsv (both also with .gz), .parquet, .feather, .arrow,
        .sav, .zsav, .dta or .xpt.
    variables
        Declarations by column. Parquet and Feather keep all of them, SPSS most, Stata and SAS only labels or nothing
        (with a warning), text nothing: write a schema beside it.
    form
        Form of the original, see :attr:`Source.form`: spelling, encoding and delimiter of text, labels of variables,
        display formats and measure levels of statistical packages.
    overwrite
        Whether an existing file may be replaced.
    confidential
        Whether only the owner may read the file.

    Raises
    ------
    CallError
        If the ending is unknown.
    DataError
        If column names are repeated, or a value cannot be kept in the format.
    FileError
        If the file exists and ``overwrite`` is not set, or cannot be written; nothing is left behind.
    MissingPackageError
        If the format needs an optional package.

    Notes
    -----
    In delimited text gaps are empty and text is in quotes, so an empty text is not a gap. A text column
    whose values all read like numbers comes back as numbers unless a schema says otherwise.
    """
    target = Path(path)
    writer = _writer(target)
    check_names(table.column_names, target.name)
    for field in table.schema:
        # Raises an error for a column without one value per record; the values do not change.
        normalise(pa.chunked_array([], field.type), field.name, target.name)
    known = {name: v for name, v in (variables or {}).items() if name in set(table.column_names)}
    with replacing(target, overwrite=overwrite, confidential=confidential) as temporary:
        try:
            writer(table, temporary, _About(known, form), target.name)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise FileError(f"{target.name}: cannot be written ({reason_of(error)})") from None


def write_blocks(
    tables: Iterable[pa.Table], path: str | Path, variables: Mapping[str, Variable] | None = None,
    form: Form | None = None, *, overwrite: bool = False, confidential: bool = False,
) -> None:  # fmt: skip
    """Write tables that are made one after the other to one Parquet file, each as a row group.

    Parameters
    ----------
    tables
        At least one; all with the same columns.
    path, variables, form, overwrite, confidential
        As of :func:`write_table`.

    Raises
    ------
    FileError
        If the file exists and ``overwrite`` is not set, or cannot be written; nothing is left behind.
    """
    import pyarrow.parquet as pq

    target = Path(path)
    about = _About(variables or {}, form)
    writer = None
    with replacing(target, overwrite=overwrite, confidential=confidential) as temporary:
        try:
            for table in tables:
                described = _without_views(_for_polars(_described(table, about)))
                writer = writer or pq.ParquetWriter(temporary, described.schema, write_page_checksum=True)
                writer.write_table(described, row_group_size=max(len(described), 1))
                del table, described  # before the next one is made
        except pa.ArrowException as error:
            raise FileError(f"{target.name}: cannot be written ({reason_of(error)})") from None
        finally:
            if writer is not None:
                writer.close()


def check_ending(path: str | Path) -> None:
    """Raise an error, before anything is computed, if no table can be written with the ending.

    Raises
    ------
    CallError
        If the ending is unknown.
    MissingPackageError
        If the format needs an optional package.
    """
    target = Path(path)
    _writer(target)
    if target.suffix.lower() in PACKAGES:
        load_pyreadstat(target.name)


def check_writable(source: Source, path: str | Path) -> None:
    """Raise an error, before anything is computed, if a file cannot be written afterwards.

    A file without records is written to a temporary folder, to check the format's rules for names and types. Integers
    that the format would round are an error too.

    Parameters
    ----------
    source
        File or frame with the columns.
    path
        Path of the file to write.

    Raises
    ------
    CallError, DataError, FileError, MissingPackageError
        As :func:`write_table`.
    """
    import tempfile

    target = Path(path)
    fetch = source.native or source.column
    columns = {}
    for name in source.names:
        column = fetch(name)
        if target.suffix.lower() in PACKAGES:
            refuse_long_integers(column, name, target.name)
        columns[name] = column.slice(0, 0)
    with tidy_when_ended(), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # The same warnings come when the file is written.
        warnings.simplefilter("ignore", UnveilWarning)
        write_table(pa.table(columns), Path(folder, target.name), source.variables, source.form)


def _writer(target: Path) -> Callable[[pa.Table, Path, _About, str], None]:
    endings = [suffix.lower() for suffix in target.suffixes]
    if "".join(endings[-2:]) in ENDINGS and endings[-1] == ".gz":
        endings = endings[:-1]
    writer = _WRITERS.get(endings[-1] if endings else "")
    if writer is None:
        raise CallError(f"{target.name}: unknown ending; can write {', '.join(_WRITERS)} and .csv.gz")
    return writer


def _write_text(table: pa.Table, path: Path, about: _About, label: str) -> None:
    form = about.form if isinstance(about.form, TextForm) else TextForm()
    endings = [suffix.lower() for suffix in path.suffixes]
    if ".tsv" in endings:
        form = replace(form, delimiter="\t")
    elif form.delimiter == "\t" and ".csv" in endings:
        form = replace(form, delimiter=",")
    write_delimited(table, path, form)


def _write_parquet(table: pa.Table, path: Path, about: _About, label: str) -> None:
    import pyarrow.parquet as pq

    described = _for_polars(_described(table, about))
    try:
        pq.write_table(described, path, write_page_checksum=True)
    except pa.ArrowNotImplementedError:
        pq.write_table(_without_views(described), path, write_page_checksum=True)


def _without_views(table: pa.Table) -> pa.Table:
    """Return a table with text in place of views of text, which polars writes to Feather files.

    No version of Arrow writes them to Parquet in a dictionary, and older versions do not write them at all.
    """
    for i, field in enumerate(table.schema):
        kind = field.type
        if str(kind) == "string_view":
            table = table.set_column(i, field.with_type(pa.large_string()), table.column(i).cast(pa.large_string()))
        elif pa.types.is_dictionary(kind) and str(kind.value_type) == "string_view":
            plain = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
            table = table.set_column(i, field.with_type(plain), table.column(i).cast(plain))
    return table


def _for_polars(table: pa.Table) -> pa.Table:
    """Return the table with unsigned indices in dictionaries of polars: polars reads no others."""
    fields = list(table.schema)
    for i, field in enumerate(fields):
        is_polars = any(key.startswith(b"_PL_") for key in field.metadata or {})
        if is_polars and pa.types.is_dictionary(field.type) and pa.types.is_signed_integer(field.type.index_type):
            index = pa.type_for_alias(f"u{field.type.index_type}")
            fields[i] = field.with_type(pa.dictionary(index, field.type.value_type, field.type.ordered))
    columns = [
        _with_index(column, field.type.index_type) if field.type != old.type else column
        for column, field, old in zip(table.columns, fields, table.schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def _with_index(column: pa.ChunkedArray, index: pa.DataType) -> pa.ChunkedArray:
    kind = column.type
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(index), chunk.dictionary, ordered=kind.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(index, kind.value_type, kind.ordered))


def _write_arrow(table: pa.Table, path: Path, about: _About, label: str) -> None:
    described = _described(table, about)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, described.schema) as writer:
        writer.write_table(described)


def _described(table: pa.Table, about: _About) -> pa.Table:
    """Return the table with its declarations, and with the metadata that pandas needs to restore its types."""
    metadata: dict[bytes, bytes] = {}
    if isinstance(about.form, ArrowForm):
        metadata |= _of_pandas(about.form.schema, table)
    if about.variables:
        metadata |= metadata_for(about.variables)
    return table.replace_schema_metadata(metadata or None)


def _of_pandas(schema: pa.Schema, table: pa.Table) -> dict[bytes, bytes]:
    """Return the metadata of pandas on types and on row labels that are columns, without numbers of records."""
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    if not stored:
        return {}
    names = table.column_names
    kept = {
        "index_columns": [name for name in stored.get("index_columns", ()) if name in names],
        "column_indexes": stored.get("column_indexes", []),
        "columns": [
            column | {"metadata": _levels_of_pandas(column.get("metadata"), table.column(column["name"]))}
            for column in stored.get("columns", ())
            if column.get("name") in names
        ],
    }
    return {b"pandas": json.dumps(stored | kept).encode()}


def _levels_of_pandas(told: Any, column: pa.ChunkedArray) -> Any:
    """Return the metadata of pandas on categories, with the number of those that are written."""
    if not isinstance(told, dict) or "num_categories" not in told:
        return told
    levels = [len(chunk.dictionary) for chunk in column.chunks] if pa.types.is_dictionary(column.type) else []
    return told | {"num_categories": max(levels, default=0)}


def _write_package(table: pa.Table, path: Path, about: _About, label: str) -> None:
    form = about.form if isinstance(about.form, PackageForm) else None
    write_statistical(table, path, about.variables, form, label)


_TEXT = (".csv", ".tsv", ".txt")
_WRITERS: dict[str, Callable[[pa.Table, Path, _About, str], None]] = {
    **dict.fromkeys(_TEXT, _write_text),
    ".parquet": _write_parquet,
    ".feather": _write_arrow,
    ".arrow": _write_arrow,
    **dict.fromkeys(PACKAGES, _write_package),
}
ENDINGS = (*_WRITERS, *(f"{ending}.gz" for ending in _TEXT))
"""Endings of files that can be written."""
