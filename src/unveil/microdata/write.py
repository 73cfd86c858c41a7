"""Writing a table in the format that the file's name says, whole or not at all."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import CallError, DataError, FileError, MissingPackageError, UnveilWarning
from unveil.microdata.arrays import check_names, normalise, quoted_list
from unveil.microdata.atomic import replacing
from unveil.microdata.columnar import metadata_for
from unveil.microdata.source import Variable
from unveil.microdata.statistical import letter_of, load_pyreadstat

__all__ = ["write_table"]

EXACT_DOUBLE = 2**53
SPSS_DISCRETE = 3
Declared = Mapping[str, Variable]


def write_table(
    table: pa.Table, path: str | Path, variables: Declared | None = None, *, overwrite: bool = False
) -> None:
    """Write a table; what :func:`unveil.microdata.open_source` reads back has the same values.

    Parameters
    ----------
    table
        The records.
    path
        Where to; the ending says the format: .csv, .tsv (both also with .gz), .parquet, .feather, .arrow,
        .sav, .zsav, .dta or .xpt.
    variables
        Declarations by column. Parquet and Feather keep all of them, SPSS all that it can express, Stata and
        SAS only labels or nothing (a warning says so), text nothing: write a schema beside it.
    overwrite
        Whether an existing file may be replaced.

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
    plain = pa.Table.from_arrays(
        [normalise(table.column(name), name, target.name) for name in table.column_names], table.column_names
    )
    known = {name: v for name, v in (variables or {}).items() if name in set(table.column_names)}
    with replacing(target, overwrite=overwrite) as temporary:
        try:
            writer(plain, temporary, known, target.name)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise FileError(f"{target.name}: cannot be written ({' '.join(str(error).split())})") from None


def _writer(target: Path) -> Callable[[pa.Table, Path, Declared, str], None]:
    endings = [suffix.lower() for suffix in target.suffixes]
    if endings[-1:] == [".gz"] and endings[-2:-1] in ([".csv"], [".tsv"], [".txt"]):
        endings = endings[:-1]
    writer = _WRITERS.get(endings[-1] if endings else "")
    if writer is None:
        raise CallError(f"{target.name}: unknown ending; can write {', '.join(_WRITERS)} and .csv.gz")
    return writer


# Text and Arrow


def _write_delimited(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    from pyarrow import csv as arrow_csv

    is_tabbed = ".tsv" in path.suffixes
    text = pa.Table.from_arrays([_printable(column) for column in table.columns], table.column_names)
    # The header is written here, because Arrow does not double a quote inside a name.
    header = ("\t" if is_tabbed else ",").join('"' + name.replace('"', '""') + '"' for name in table.column_names)
    options = arrow_csv.WriteOptions(include_header=False, delimiter="\t" if is_tabbed else ",", quoting_style="needed")
    with pa.output_stream(str(path), compression="gzip" if path.suffix == ".gz" else None) as stream:
        stream.write(f"{header}\n".encode())
        arrow_csv.write_csv(text, stream, options)


def _printable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as Arrow's writer can print it: no dictionaries, NaN as a gap."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_null(column.type):
        return column.cast(pa.int64())
    if pa.types.is_duration(column.type) or pa.types.is_time(column.type):
        return column.cast(pa.string())
    return column


def _write_parquet(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_with_metadata(table, variables), path)


def _write_arrow(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    described = _with_metadata(table, variables)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, described.schema) as writer:
        writer.write_table(described)


def _with_metadata(table: pa.Table, variables: Declared) -> pa.Table:
    return table.replace_schema_metadata(metadata_for(variables)) if variables else table


# SPSS, Stata and SAS


@dataclass
class _Prepared:
    """Columns as pyreadstat takes them: numbers, text and dates, and the declarations beside them."""

    columns: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    with_letters: dict[str, list[Any]] = field(default_factory=dict)
    labels: dict[str, dict[Any, str]] = field(default_factory=dict)
    ordinal: list[str] = field(default_factory=list)


def _write_spss(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    pyreadstat = load_pyreadstat(label)
    prepared = _prepare(table, variables, label)
    missing = {
        name: _spss_missing(v, table.column(name), label)
        for name, v in variables.items()
        if v.special_codes and name not in prepared.ordinal
    }
    _call(
        pyreadstat.write_sav,
        prepared,
        path,
        label,
        compress=path.suffix.lower() == ".zsav",
        variable_value_labels=prepared.labels,
        missing_ranges={name: codes for name, codes in missing.items() if codes},
        variable_measure=dict.fromkeys(prepared.ordinal, "ordinal"),
    )


def _spss_missing(variable: Variable, column: pa.ChunkedArray, label: str) -> list[Any]:
    """Special codes as SPSS keeps them: three single ones, or a range that no amount lies in."""
    codes = sorted(code for code in variable.special_codes if isinstance(code, int | float))
    if len(codes) <= SPSS_DISCRETE:
        return list(codes)
    others = {v for v in pc.unique(column).to_pylist() if v is not None} - set(codes)
    if not any(codes[0] <= value <= codes[-1] for value in others):
        return [{"lo": codes[0], "hi": codes[-1]}]
    warnings.warn(
        f"{label}: SPSS cannot keep all special codes of column {variable.name!r}; write a schema beside the file",
        UnveilWarning,
        stacklevel=2,
    )
    return list(codes[:SPSS_DISCRETE])


def _write_stata(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    pyreadstat = load_pyreadstat(label)
    prepared = _prepare(table, variables, label, letters=True)
    lost = [v.name for v in variables.values() if any(letter_of(code) is None for code in v.special_codes)]
    _warn_lost(lost, "special codes", "Stata", label)
    letters = {
        name: sorted({value for value in values if isinstance(value, str)})
        for name, values in prepared.with_letters.items()
    }
    _call(
        pyreadstat.write_dta,
        prepared,
        path,
        label,
        variable_value_labels=prepared.labels,
        missing_user_values=letters or None,
    )


def _write_sas(table: pa.Table, path: Path, variables: Declared, label: str) -> None:
    pyreadstat = load_pyreadstat(label)
    prepared = _prepare(table, {}, label)
    _warn_lost([v.name for v in variables.values() if v != Variable(v.name)], "declarations", "SAS transport", label)
    _call(pyreadstat.write_xport, prepared, path, label)


def _warn_lost(names: list[str], what: str, where: str, label: str) -> None:
    if names:
        warnings.warn(
            f"{label}: {where} files do not keep the {what} of column {quoted_list(names)}; "
            "write a schema beside the file",
            UnveilWarning,
            stacklevel=3,
        )


def _prepare(table: pa.Table, variables: Declared, label: str, *, letters: bool = False) -> _Prepared:
    prepared = _Prepared()
    for name in table.column_names:
        variable = variables.get(name, Variable(name))
        column = table.column(name)
        codes = _codes(column, variable)
        if codes is not None:
            column, prepared.labels[name] = codes
            if variable.kind == "ordered":
                prepared.ordinal.append(name)
        elif variable.labels and not pa.types.is_dictionary(column.type):
            prepared.labels[name] = {_letter_or(code, letters): text for code, text in variable.labels.items()}
        prepared.columns[name] = _storable(column, name, label)
        if letters and any(letter_of(code) for code in variable.special_codes):
            prepared.with_letters[name] = [_letter_or(value, True) for value in column.to_pylist()]
    return prepared


def _letter_or(value: Any, letters: bool) -> Any:
    return (letter_of(value) or value) if letters else value


def _codes(column: pa.ChunkedArray, variable: Variable) -> tuple[pa.ChunkedArray, dict[Any, str]] | None:
    """A categorical or logical column as numbers with labels, or None where it is written as it is."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int64()), {0: "FALSE", 1: "TRUE"}
    if not pa.types.is_dictionary(column.type) or not pa.types.is_string(column.type.value_type):
        return None
    occurring = set(pc.unique(column.cast(pa.string())).to_pylist()) - {None}
    labels: dict[Any, str] = dict(variable.labels)
    if not labels or not occurring <= set(labels.values()) or not all(isinstance(c, int) for c in labels):
        labels = {code: str(level) for code, level in enumerate(variable.levels or (), start=1)}
    if not labels or not occurring <= set(labels.values()):
        return None
    code_of = {text: code for code, text in labels.items()}
    numbers = pa.array([code_of.get(text) for text in column.cast(pa.string()).to_pylist()], pa.int64())
    return pa.chunked_array([numbers]), labels


def _storable(column: pa.ChunkedArray, name: str, label: str) -> pa.ChunkedArray:
    """A column in the types that statistical packages have."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _storable(column.cast(kind.value_type), name, label)
    if pa.types.is_null(kind):
        return column.cast(pa.float64())
    if pa.types.is_integer(kind):
        extremes = pc.min_max(column).as_py()
        if max(-(extremes["min"] or 0), extremes["max"] or 0) > EXACT_DOUBLE:
            raise DataError(f"{label}: column {name!r} holds integers beyond 2^53, which the format would round")
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz)).cast(pa.timestamp("us"))
    if pa.types.is_duration(kind):
        raise DataError(f"{label}: column {name!r} holds durations, which the format cannot keep")
    return column


def _call(function: Any, prepared: _Prepared, path: Path, label: str, **options: Any) -> None:
    frame = _frame(prepared, label)
    try:
        function(frame, str(path), **options)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{label}: cannot be written ({reason})") from None


def _frame(prepared: _Prepared, label: str) -> Any:
    """pyreadstat takes pandas or polars frames: whichever is installed."""
    table = pa.table(prepared.columns)
    try:
        polars = importlib.import_module("polars")
    except ImportError:
        pass
    else:
        frame = polars.from_arrow(table)
        objects = [polars.Series(n, v, dtype=polars.Object) for n, v in prepared.with_letters.items()]
        return frame.with_columns(objects) if objects else frame
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingPackageError(f"{label}: writing this format needs pandas; pip install 'unveil[files]'") from None
    frame = table.to_pandas(date_as_object=True)
    for name, values in prepared.with_letters.items():
        frame[name] = pandas.Series(values, dtype=object)
    return frame


_WRITERS: dict[str, Callable[[pa.Table, Path, Declared, str], None]] = {
    ".csv": _write_delimited,
    ".tsv": _write_delimited,
    ".txt": _write_delimited,
    ".parquet": _write_parquet,
    ".feather": _write_arrow,
    ".arrow": _write_arrow,
    ".sav": _write_spss,
    ".zsav": _write_spss,
    ".dta": _write_stata,
    ".xpt": _write_sas,
}
