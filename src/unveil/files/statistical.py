"""SPSS, Stata and SAS files, read by the optional package pyreadstat.

A numeric column whose values all have labels is categorical: its values are the labels, in the order of the codes.
User missing values ("refused", "not applicable") tell something about a person, so they are levels or special codes,
never gaps; only the system missing value is a gap.

Stata and SAS have letters (``.a`` to ``.z``, ``._``) as user missing values of a number. A letter becomes a special
code far below any amount, the same in every file: :data:`LETTER_BASE` less the letter's place in the alphabet (``.a``
is -2000000001, ``._`` is -2000000027), so that the column stays numeric and two letters stay two answers.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError, FileError, MissingPackageError
from unveil.files.arrays import check_names, normalise, text_array, tidy_text, whole_numbers
from unveil.files.completeness import check_whole
from unveil.files.form import PackageColumn, PackageForm
from unveil.files.impossible_dates import read_around_impossible
from unveil.files.path_checks import no_memory, reason_of
from unveil.files.reader_process import read_aside
from unveil.files.source import Kind, Source, Variable
from unveil.notes import Note, warn

LETTER_BASE = -2_000_000_000
STATA_RELEASES = {8: 113, 10: 114, 12: 115, 13: 117, 14: 118, 15: 119}
"""Number of the file format by the version, as pyreadstat counts it."""
LETTERS = "abcdefghijklmnopqrstuvwxyz_"


@dataclass(frozen=True)
class _Format:
    """A file format: its usual name, pyreadstat's function, and the options that this function has."""

    title: str
    reader: str
    has_encoding: bool = True
    has_user_missing: bool = True


FORMATS = {
    ".sav": _Format("SPSS", "read_sav"),
    ".zsav": _Format("SPSS", "read_sav"),
    ".por": _Format("SPSS portable", "read_por", has_encoding=False, has_user_missing=False),
    ".dta": _Format("Stata", "read_dta"),
    ".sas7bdat": _Format("SAS", "read_sas7bdat"),
    ".xpt": _Format("SAS transport", "read_xport", has_user_missing=False),
}


def letter_code(letter: str) -> int:
    """Return the number that stands for a letter of the user missing values of Stata or SAS.

    Examples
    --------
    >>> letter_code("a")
    -2000000001
    """
    return LETTER_BASE - 1 - LETTERS.index(letter.lower())


def letter_of(code: object) -> str | None:
    """Return the letter that a number stands for; None for an ordinary number.

    Examples
    --------
    >>> letter_of(-2000000002)
    'b'
    """
    if not isinstance(code, int) or not LETTER_BASE - len(LETTERS) <= code < LETTER_BASE:
        return None
    return LETTERS[LETTER_BASE - code - 1]


def load_pyreadstat(label: str) -> ModuleType:
    """Return the package pyreadstat.

    Raises
    ------
    MissingPackageError
        If it is not installed.
    """
    check_installed(label)
    return importlib.import_module("pyreadstat")


def check_installed(label: str) -> None:
    """Raise MissingPackageError unless pyreadstat is installed."""
    if find_spec("pyreadstat") is None:
        raise MissingPackageError(f"{label}: SPSS, Stata and SAS files need pyreadstat; pip install 'unveil[files]'")


def read_statistical(path: Path, label: str, ending: str, *, encoding: str | None = None) -> Source:
    """Read an SPSS, Stata or SAS file with its value labels and user missing values.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    ending
        The file name's ending, one of :data:`FORMATS`.
    encoding
        Character encoding, if the file does not state it or states a wrong one.

    Raises
    ------
    MissingPackageError
        If pyreadstat is not installed.
    FileError
        If the file cannot be read.
    """
    form = FORMATS[ending]
    check_installed(label)
    options: dict[str, Any] = {"output_format": "dict"}
    if form.has_user_missing:
        options["user_missing"] = True
    if encoding is not None and form.has_encoding:
        options["encoding"] = encoding
    try:
        read = partial(read_aside, form.reader, path)
        try:
            data, meta = read(**options)
        except (OverflowError, ValueError):
            data, meta = read_around_impossible(read, label, options)
    except MemoryError:
        raise no_memory(label) from None
    except Exception as error:
        raise FileError(
            f"{label}: not a readable {form.title} file ({reason_of(error)}); check its ending, or give encoding="
        ) from None
    if not all(isinstance(name, str) for name in meta.column_names):
        raise FileError(f"{label}: not a readable {form.title} file (a name of a column is damaged); write it again")
    names = check_names(list(meta.column_names), label)
    columns: dict[str, pa.ChunkedArray] = {}
    variables: dict[str, Variable] = {}
    for name in names:
        columns[name], variable = _column(name, data.pop(name), meta, label)
        if variable is not None:
            variables[name] = variable
    num_rows = len(columns[names[0]]) if names else 0
    check_whole(path, label, ending, num_rows)
    form_of_file = _form_of(path, form, meta, names)
    return Source(label, names, num_rows, columns.__getitem__, variables, path=str(path), form=form_of_file)


def _form_of(path: Path, form: _Format, meta: Any, names: Sequence[str]) -> PackageForm:
    package = form.title.split()[0]
    is_spss = package == "SPSS"
    columns = {
        name: PackageColumn(
            title=meta.column_names_to_labels.get(name),
            storage=meta.readstat_variable_types.get(name),
            format=meta.original_variable_types.get(name),
            measure=meta.variable_measure.get(name) if is_spss else None,
            width=meta.variable_display_width.get(name) if is_spss else None,
            labels=dict(meta.variable_value_labels.get(name, {})),
            missing=tuple((getattr(meta, "missing_ranges", None) or {}).get(name, ())) if is_spss else (),
        )
        for name in names
    }
    return PackageForm(package, _version(path, package), columns)


def _version(path: Path, package: str) -> int | None:
    """Return the version of the file format, as pyreadstat counts it, by the first bytes of the file."""
    with path.open("rb") as file:
        head = file.read(40)
    if package == "SAS":
        return {b"LIBRARY": 5, b"LIBV8  ": 8}.get(head[20:27])
    if package != "Stata" or not head:
        return None
    release = int(head[28:31]) if head.startswith(b"<stata_dta>") else head[0]
    return next((version for version, number in STATA_RELEASES.items() if release <= number), None)


def _column(name: str, values: Any, meta: Any, label: str) -> tuple[pa.ChunkedArray, Variable | None]:
    values = values if isinstance(values, list) else values.tolist()
    storage = meta.readstat_variable_types.get(name)
    # A damaged label is None.
    labels = {code: text for code, text in meta.variable_value_labels.get(name, {}).items() if text is not None}
    if storage == "string":
        column = tidy_text(pa.chunked_array([pa.array(values, pa.string())]))
        labels = {str(code).rstrip(" "): text for code, text in labels.items()}
        special: tuple[Any, ...] = ()
    else:
        letters = {value for value in values if isinstance(value, str)}
        if letters:
            values = [letter_code(value) if isinstance(value, str) else value for value in values]
            labels = _with_letters(labels, letters)
        column = _numbers(values, storage)
        if pa.types.is_temporal(column.type):
            return column, None
        labels = {plain_code(code): text for code, text in labels.items()}
        special = _special_codes(column, meta, name, letters, label)
    return labelled_column(name, column, labels, special, meta.variable_measure.get(name) == "ordinal", label)


def _with_letters(labels: Mapping[Any, str], letters: set[str]) -> dict[Any, str]:
    """Return labels by code; a letter without a label gets itself as label (``.a``)."""
    return {letter: f".{letter}" for letter in sorted(letters)} | dict(labels)


def _numbers(values: list[Any], storage: str | None) -> pa.ChunkedArray:
    """Return numbers, dates or times; doubles become integers if all are whole."""
    column = pa.chunked_array([pa.array(values, from_pandas=True)])
    if not pa.types.is_floating(column.type):
        return normalise(column, "", "")
    if storage == "float":
        column = normalise(column.cast(pa.float32()), "", "")
    return whole_numbers(column)


def plain_code(code: Any) -> Any:
    """Return a code of pyreadstat in the form of this package: whole numbers as integers, letters as numbers."""
    if isinstance(code, str):
        return letter_code(code)
    return int(code) if code == int(code) else float(code)


def _special_codes(
    column: pa.ChunkedArray, meta: Any, name: str, letters: set[str], label: str
) -> tuple[int | float, ...]:
    """Return the user missing values: declared single values, occurring values in a declared range, and letters."""
    ranges = (getattr(meta, "missing_ranges", None) or {}).get(name, [])
    codes = {plain_code(r["lo"]) for r in ranges if r["lo"] == r["hi"]}
    for span in ranges:
        inside = pc.and_(pc.greater_equal(column, pa.scalar(span["lo"])), pc.less_equal(column, pa.scalar(span["hi"])))
        codes.update(plain_code(code) for code in pc.unique(pc.filter(column, inside)).to_pylist())
    by_letter = {letter_code(letter) for letter in letters}
    clash = {code for code in pc.unique(column).to_pylist() if letter_of(code) and code not in by_letter}
    if by_letter and clash:
        raise DataError(f"{label}: column {name!r} holds {clash.pop()}, the number kept for a user missing letter")
    return tuple(sorted(codes | by_letter, key=code_order))


def code_order(code: Any) -> tuple[bool, Any]:
    """Return a key that sorts numbers first, then letters by the alphabet."""
    return letter_of(code) is not None, code if letter_of(code) is None else -code


def labelled_column(
    name: str,
    column: pa.ChunkedArray,
    labels: Mapping[Any, str],
    special: Sequence[Any],
    ordinal: bool,
    label: str,
) -> tuple[pa.ChunkedArray, Variable | None]:
    """Return the column as labels if every value has one, else unchanged, and its declaration."""
    occurring = set(pc.unique(column).to_pylist()) - {None}
    substantive = occurring - set(special)
    is_text = pa.types.is_string(column.type)
    if not substantive <= set(labels) or set(labels) <= set(special):
        plain = normalise(column, name, label)
        if not labels and not special:
            return plain, None
        return plain, Variable(
            name, kind=None if is_text else "numeric", special_codes=tuple(special), labels=dict(labels)
        )
    codes = sorted(set(labels) | (set(special) & occurring), key=str if is_text else code_order)
    levels = _distinct_labels(name, [(code, labels.get(code, str(code))) for code in codes], label)
    indices = pc.index_in(column.combine_chunks(), value_set=_array_of(codes, column.type))
    coded = pa.chunked_array([pa.DictionaryArray.from_arrays(indices, text_array(levels))])
    kind: Kind = "ordered" if ordinal else "categorical"
    by_code = dict(zip(codes, levels, strict=True))
    return coded, Variable(
        name, kind=kind, levels=tuple(levels), special_codes=tuple(special), labels=by_code, labelled=True
    )


def _array_of(codes: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the codes in the type of the column; None for a code that the type cannot hold: no record has it."""
    if pa.types.is_integer(kind):
        codes = [code if isinstance(code, int) else None for code in codes]
    return pa.array(codes, kind)


def _distinct_labels(name: str, labelled: Sequence[tuple[Any, str]], label: str) -> list[str]:
    """Return the labels, with the code added if two codes have the same label."""
    texts = [text.strip() or str(code) for code, text in labelled]
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        apart = "they are kept apart, with the code added to the label"
        text = Note(
            f"{label}: column {name!r}: several codes have the label {repeated[0]!r}; {apart}",
            f"{label}: column {name!r}: several codes have the same label; {apart}",
        )
        warn(text, [name])
    return [f"{text} ({code})" if text in repeated else text for (code, _), text in zip(labelled, texts, strict=True)]
