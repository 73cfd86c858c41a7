"""SPSS, Stata and SAS transport files: types, labels and formats as far as pyreadstat writes them.

Stata's ``byte`` and ``int`` become ``long``, its ``float`` becomes ``double``: pyreadstat has no others. Values,
labels and display formats stay.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError, FileError, MissingPackageError
from unveil.files.arrays import normalise, quoted_list
from unveil.files.form import PackageColumn, PackageForm
from unveil.files.path_checks import reason_of
from unveil.files.source import Variable
from unveil.files.statistical import letter_of, load_pyreadstat, plain_code
from unveil.notes import warn

PACKAGES = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata", ".xpt": "SAS"}
EXACT_DOUBLE = 2**53
LONG = 2_147_483_620
"""Largest number of Stata's type ``long``; larger ones are its missing values."""
WHOLE_STORAGE = ("int8", "int16", "int32")
SPSS_DISCRETE = 3
Declared = Mapping[str, Variable]


def write_statistical(table: pa.Table, path: Path, variables: Declared, form: PackageForm | None, label: str) -> None:
    """Write a table in the format of the ending.

    Parameters
    ----------
    table
        The records.
    path
        Path of the file.
    variables
        Declarations by column.
    form
        Form of the original.
    label
        Name of the file in messages.

    Raises
    ------
    DataError
        If a column holds integers beyond 2^53, or durations.
    FileError
        If the format does not allow a name or a value.
    MissingPackageError
        If pyreadstat, or a frame library that it writes from, is not installed.
    """
    package = PACKAGES[path.suffix.lower()]
    form = form or PackageForm("")
    own = form if form.package == package else PackageForm(package)
    prepared = _prepare(table, variables, form, own, label)
    function, package_options = _WRITERS[package]
    options = package_options(prepared, variables, own, label)
    options["column_labels"] = {name: column.title for name, column in form.columns.items() if column.title}
    if formats := {n: c.format for n, c in own.columns.items() if c.format and n in prepared.columns}:
        options["variable_format"] = formats
    if package == "SPSS":
        options["compress"] = path.suffix.lower() == ".zsav"
    frame = _frame(prepared, label)
    try:
        getattr(load_pyreadstat(label), function)(frame, str(path), **options)
    except Exception as error:
        raise FileError(f"{label}: cannot be written ({reason_of(error)})") from None
    if package == "SAS":
        _check_complete(table.num_rows if prepared.columns else 0, path, label)


def refuse_long_integers(column: pa.ChunkedArray, name: str, label: str) -> None:
    """Raise an error for integers that a format with doubles only would round.

    Raises
    ------
    DataError
        If an integer is beyond 2^53.
    """
    kind = column.type
    if not pa.types.is_integer(kind) and not (pa.types.is_decimal(kind) and kind.scale <= 0):
        return
    if _largest(column) > EXACT_DOUBLE:
        raise DataError(
            f"{label}: column {name!r} holds integers beyond 2^53, which the format would round; "
            "write csv or parquet, or make them text"
        )


@dataclass
class _Prepared:
    """Columns in the types of pyreadstat (numbers, text and dates), and their declarations."""

    columns: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    with_letters: dict[str, list[Any]] = field(default_factory=dict)
    labels: dict[str, dict[Any, str]] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)


def _spss_options(prepared: _Prepared, variables: Declared, own: PackageForm, label: str) -> dict[str, Any]:
    missing = {name: list(column.missing) for name, column in own.columns.items() if column.missing}
    for name, variable in variables.items():
        if variable.special_codes and name not in missing:
            missing[name] = _spss_missing(variable, prepared.columns[name], label)
    measures = {name: column.measure for name, column in own.columns.items() if column.measure}
    return {
        "variable_value_labels": prepared.labels,
        "missing_ranges": {name: codes for name, codes in missing.items() if codes},
        "variable_measure": prepared.measures | measures,
        "variable_display_width": {name: column.width for name, column in own.columns.items() if column.width},
    }


def _spss_missing(variable: Variable, column: pa.ChunkedArray, label: str) -> list[Any]:
    """Return special codes for SPSS: up to three single codes, or a range without amounts."""
    codes = sorted(code for code in variable.special_codes if isinstance(code, int | float))
    if len(codes) <= SPSS_DISCRETE:
        return list(codes)
    others = {v for v in pc.unique(column).to_pylist() if v is not None} - set(codes)
    if not any(codes[0] <= value <= codes[-1] for value in others):
        return [{"lo": codes[0], "hi": codes[-1]}]
    warn(f"{label}: SPSS cannot keep all special codes of column {variable.name!r}; write a schema beside the file")
    return list(codes[:SPSS_DISCRETE])


def _stata_options(prepared: _Prepared, variables: Declared, own: PackageForm, label: str) -> dict[str, Any]:
    lost = [v.name for v in variables.values() if any(letter_of(code) is None for code in v.special_codes)]
    _warn_lost(lost, "special codes", "Stata", label)
    letters = {
        name: sorted({value for value in values if isinstance(value, str)})
        for name, values in prepared.with_letters.items()
    }
    version = {} if own.version is None else {"version": own.version}
    return {"variable_value_labels": prepared.labels, "missing_user_values": letters or None} | version


def _sas_options(prepared: _Prepared, variables: Declared, own: PackageForm, label: str) -> dict[str, Any]:
    _warn_lost([v.name for v in variables.values() if v != Variable(v.name)], "declarations", "SAS transport", label)
    return {"file_format_version": own.version or 8}


_WRITERS: dict[str, tuple[str, Callable[[_Prepared, Declared, PackageForm, str], dict[str, Any]]]] = {
    "SPSS": ("write_sav", _spss_options),
    "Stata": ("write_dta", _stata_options),
    "SAS": ("write_xport", _sas_options),
}
"""By package, pyreadstat's function and its options."""


def _check_complete(n: int, path: Path, label: str) -> None:
    """Look at the last of ``n`` records: pyreadstat does not say if a disk is full while it writes this format."""
    if n:
        _, meta = load_pyreadstat(label).read_xport(str(path), row_offset=n - 1, output_format="dict")
        if meta.number_rows != 1:
            raise FileError(f"{label}: cannot be written (the file is cut off; is the disk full?)")


def _warn_lost(names: list[str], what: str, where: str, label: str) -> None:
    if names:
        warn(
            f"{label}: {where} files do not keep the {what} of column {quoted_list(names)}; "
            "write a schema beside the file"
        )


# Columns


def _prepare(table: pa.Table, variables: Declared, form: PackageForm, own: PackageForm, label: str) -> _Prepared:
    prepared = _Prepared()
    # pyreadstat decides by the first record whether a column has letters.
    letters = own.package == "Stata" and table.num_rows > 0
    for name in table.column_names:
        refuse_long_integers(table.column(name), name, label)
        column = normalise(table.column(name), name, label)
        variable = variables.get(name, Variable(name)) if own.package != "SAS" else Variable(name)
        kept = form.columns.get(name, PackageColumn())
        prepared.measures[name] = _measure(column.type, variable)
        column, labels = _codes(column, variable)
        column = _storable(column, own.columns.get(name), name, label)
        prepared.columns[name] = column
        if labels := _as_in_the_file(labels, kept.labels):
            prepared.labels[name] = {_like(code, column.type, letters): text for code, text in labels.items()}
        if letters and any(letter_of(code) for code in (*variable.labels, *variable.special_codes)):
            prepared.with_letters[name] = [letter_of(value) or value for value in column.to_pylist()]
    return prepared


def _measure(kind: pa.DataType, variable: Variable) -> str:
    if variable.kind == "ordered":
        return "ordinal"
    return "nominal" if pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) else "scale"


def _codes(column: pa.ChunkedArray, variable: Variable) -> tuple[pa.ChunkedArray, Mapping[Any, str]]:
    """Return a categorical or logical column as codes, if it has labels, else as it is; and label by code."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int64()), {0: "FALSE", 1: "TRUE"}
    if not pa.types.is_dictionary(column.type):
        return column, variable.labels
    if not pa.types.is_string(column.type.value_type):
        return column, {}
    occurring = set(pc.unique(column.cast(pa.string())).to_pylist()) - {None}
    labels: dict[Any, str] = dict(variable.labels)
    kind = _type_of_codes(labels)
    if kind is None or not occurring <= set(labels.values()):
        labels, kind = {code: str(level) for code, level in enumerate(variable.levels or (), start=1)}, pa.int64()
    if not labels or not occurring <= set(labels.values()):
        return column, {}
    code_of = {text: code for code, text in labels.items()}
    codes = pa.array([code_of.get(text) for text in column.cast(pa.string()).to_pylist()], kind)
    return pa.chunked_array([codes]), labels


def _type_of_codes(codes: Mapping[Any, str]) -> pa.DataType | None:
    """Return the type that holds all codes; None if numbers and text are mixed."""
    kinds = {type(code) for code in codes}
    if kinds == {str}:
        return pa.string()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds and kinds <= {int, float} else None


def _as_in_the_file(labels: Mapping[Any, str], kept: Mapping[Any, str]) -> dict[Any, str]:
    """Return the labels of the file, without labels and codes that reading added to tell levels apart."""
    if not kept:
        return dict(labels)
    original = {plain_code(code): text for code, text in kept.items()}
    found = {}
    for code, text in labels.items():
        known = original.get(code)
        if known is not None and text in (known.strip(), f"{known.strip()} ({code})", str(code)):
            found[code] = known
        elif known is not None or text not in (str(code), f".{letter_of(code)}"):
            found[code] = text
    return found


def _like(code: Any, kind: pa.DataType, letters: bool) -> Any:
    """Return a code in the type of its column, as pyreadstat compares them."""
    if pa.types.is_string(kind):
        return str(code)
    letter = letter_of(code)
    if letter and letters:
        return letter
    return float(code) if pa.types.is_floating(kind) else code


def _storable(column: pa.ChunkedArray, like: PackageColumn | None, name: str, label: str) -> pa.ChunkedArray:
    """Return a column in a type that statistical packages have."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _storable(column.cast(kind.value_type), like, name, label)
    if pa.types.is_null(kind):
        return column.cast(pa.string() if like and like.storage == "string" else pa.float64())
    if pa.types.is_integer(kind):
        refuse_long_integers(column, name, label)
        is_whole = like is None or like.storage in WHOLE_STORAGE
        return column.cast(pa.int32() if is_whole and _largest(column) <= LONG else pa.float64())
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz)).cast(pa.timestamp("us"))
    if pa.types.is_duration(kind):
        raise DataError(f"{label}: column {name!r} holds durations, which the format cannot keep")
    return column


def _largest(column: pa.ChunkedArray) -> int:
    """Return the largest absolute value of a column of integers; 0 where there is none."""
    extremes = pc.min_max(column).as_py()
    return int(max(-(extremes["min"] or 0), extremes["max"] or 0))


def _frame(prepared: _Prepared, label: str) -> Any:
    """Return the columns as a frame for pyreadstat: of polars or pandas, whichever is installed."""
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
        way_out = "pip install 'unveil[pandas]' or 'unveil[polars]'"
        raise MissingPackageError(f"{label}: writing this format needs pandas or polars; {way_out}") from None
    frame = table.to_pandas(date_as_object=True)
    for name, values in prepared.with_letters.items():
        frame[name] = pandas.Series(values, dtype=object)
    return frame
