"""What the library of a format, at its strictest, says of a file that was read without a word."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unveil.files.statistical import letter_code

__all__ = ["difference", "plain"]

Columns = Mapping[str, list[Any]]
UNTOLD = ...
"""A value that the strict reader does not tell."""


def difference(found: Columns, path: Path, ending: str, said: Sequence[str] = ()) -> str | None:
    """The first difference to the strict reading; None where there is none.

    A value that was read as a gap, as no calendar has such a day, is none where a warning said so of the column.
    """
    try:
        expected = _READERS[ending](path)
    except Exception as error:
        return f"the strict reader refuses: {type(error).__name__} {error}"
    if list(found) != list(expected):
        return f"columns {list(found)} for {list(expected)}"
    for name, values in found.items():
        others = expected[name]
        if len(values) != len(others):
            return f"{name}: {len(values)} records for {len(others)}"
        for row, (value, other) in enumerate(zip(values, others, strict=True)):
            told = value is None and any(repr(name) in text for text in said)
            if not told and not _same(value, other):
                return f"{name}, record {row + 1}: {value!r} for {other!r}"
    return None


def plain(column: Any) -> list[Any]:
    """The values as those of Python; dates that it has none for as numbers."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        width = {64: "int64", 32: "int32"}[column.type.bit_width]
        values = [value for chunk in column.chunks for value in chunk.view(width).to_pylist()]
    return values


def _same(value: Any, other: Any) -> bool:
    if other is UNTOLD or value == other or (_is_gap(value) and _is_gap(other)):
        return True
    if isinstance(other, str):
        # Stata's missing values with a letter have a number here, which the letter decides.
        letter = len(other) == 1 and other.islower() and value == letter_code(other)
        return letter or _written(value, other.strip())
    if value is None or other is None:
        return False
    # A label; a date, by its number.
    if isinstance(value, str | datetime.date | datetime.time | datetime.timedelta) or abs(other) > 1e10:
        return True
    return isinstance(value, float | int) and isinstance(other, float | int) and math.isclose(value, other)


def _is_gap(value: Any) -> bool:
    return value is None or value in ("", "NA", "NaN") or (isinstance(value, float) and math.isnan(value))


def _written(value: Any, text: str) -> bool:
    """Whether a field of a text file says the value."""
    if value is None:
        return text in ("", "NA", "NaN", "N/A", "NULL", "null", ".", "None", "<NA>", "#N/A")
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int | float):
        try:
            return math.isclose(float(text.replace(",", ".")), value)
        except ValueError:
            return False
    if isinstance(value, datetime.datetime):
        numbers = [int(part) for part in re.findall("[0-9]+", text)]
        return numbers == [*value.timetuple()[: len(numbers)]]
    if isinstance(value, datetime.date):
        return [int(part) for part in re.findall("[0-9]+", text)] == [value.year, value.month, value.day]
    return str(value).strip() == text


def _text(path: Path) -> Columns:
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    for encoding in ("utf-16",) if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise ValueError("no text")
    # The delimiter that the header has most of.
    delimiter = max(",;\t", key=text.splitlines()[0].count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    if len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) + 1}:  # row names, which are left out
        rows = [rows[0], *(row[1:] for row in rows[1:])]
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise ValueError("a record of another length")
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def _parquet(path: Path) -> Columns:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path, page_checksum_verification=True).read()
    table.validate(full=True)
    return {name: plain(table.column(name)) for name in table.column_names}


def _arrow(path: Path) -> Columns:
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        table = pa.ipc.open_file(file).read_all() if is_file else pa.ipc.open_stream(file).read_all()
        table.validate(full=True)
        return {name: plain(table.column(name)) for name in table.column_names}


def _package(reader: str) -> Any:
    def read(path: Path) -> Columns:
        import pyreadstat

        user_missing = {"user_missing": True} if reader in ("read_sav", "read_dta") else {}
        read = getattr(pyreadstat, reader)
        try:
            data, meta = read(str(path), output_format="dict", **user_missing)
        except (OverflowError, ValueError):  # a date that no calendar has; only the numbers are compared
            data, meta = read(str(path), output_format="dict", disable_datetime_conversion=True, **user_missing)
        columns = {name: list(values) for name, values in data.items()}
        if meta.number_rows is not None and any(len(values) != meta.number_rows for values in columns.values()):
            raise ValueError(f"{meta.number_rows} records are announced")
        return columns

    return read


def _r(path: Path) -> Columns:
    import numpy as np
    import pandas as pd
    import rdata

    def whole(numbers: Any, _: Any) -> Any:
        """Whole numbers of 64 bits, which lie in the file as others."""
        found = np.asarray(numbers).view("int64")
        return pd.arrays.IntegerArray(found, found == np.iinfo("int64").min)

    def labelled(values: Any, _: Any) -> Any:
        """Texts are read by their labels here, and a gap may have a letter; numbers are known by their codes too."""
        array = np.asarray(values)
        if array.dtype.kind in "OUST":
            return pd.array([UNTOLD] * len(array), dtype=object)
        if array.dtype.kind == "f":
            return pd.array([UNTOLD if math.isnan(value) else value for value in array.tolist()], dtype=object)
        return values

    def parts(values: Any, _: Any) -> Any:
        """A time as its parts, of which rdata makes nothing."""
        return pd.array([UNTOLD] * len(values["sec"]), dtype=object)

    classes = rdata.conversion.DEFAULT_CLASS_MAP | {"integer64": whole, "haven_labelled": labelled, "POSIXlt": parts}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = rdata.read_rda if path.suffix == ".rda" else rdata.read_rds
        found = read(path, constructor_dict=classes)
    waiting = [found]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, pd.DataFrame):
            return {
                str(name): [None if gap else value for gap, value in zip(column.isna(), column.tolist(), strict=True)]
                for name, column in one.items()
            }
        waiting += list(one.values()) if isinstance(one, dict) else list(one) if isinstance(one, list) else []
    raise ValueError("no data frame")


_READERS = {
    ".csv": _text, ".csv.gz": _text, ".tsv": _text, ".parquet": _parquet, ".arrow": _arrow,
    ".sav": _package("read_sav"), ".zsav": _package("read_sav"), ".por": _package("read_por"),
    ".dta": _package("read_dta"), ".xpt": _package("read_xport"), ".sas7bdat": _package("read_sas7bdat"),
    ".rds": _r, ".rda": _r,
}  # fmt: skip
