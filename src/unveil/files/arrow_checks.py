"""Checks of Parquet and Arrow data before use.

Arrow trusts its buffers: an index beyond its dictionary, an offset beyond its text, or broken text ends the process, or
gives the value of another record. So every column is validated in full when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.errors import DataError, FileError, UnveilError, is_of_memory
from unveil.files.arrays import buffer_view
from unveil.files.documents import Maybe, check_shape, parse_json
from unveil.files.path_checks import installed_memory, no_memory, reason_of

BYTES_PER_VALUE = 4
"""Least memory of a value: its code."""
OWN_KEY = b"unveil"
_TEXT, _ANY = (str,), (object,)
_SCALAR = (str, int, float, bool)
_OWN = [
    {
        "name": _TEXT, "kind": Maybe(_TEXT), "levels": Maybe([_SCALAR]), "special_codes": [_SCALAR],
        "labels": [[_SCALAR]], "labelled?": (bool,),
    }
]  # fmt: skip
_PANDAS = {"index_columns?": [_ANY], "columns?": [{"name?": _ANY}], "column_indexes?": [_ANY]}


@contextmanager
def refusing(label: str, what: str) -> Iterator[None]:
    """Turn errors of Arrow about a damaged file into one line.

    Parameters
    ----------
    label
        The file's name in messages.
    what
        The expected format, "Parquet" or "Arrow".

    Raises
    ------
    FileError
        In place of any error of Arrow, or of Python about the result of Arrow.
    """
    try:
        yield
    except UnveilError:
        raise
    except (pa.ArrowException, MemoryError, OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        if is_of_memory(error):
            raise no_memory(label) from None
        reason = reason_of(error).rstrip(".")
        reason = reason if len(reason) <= 300 else f"{reason[:300]}..."
        raise FileError(
            f"{label}: not a complete {what} file ({reason}); check its ending, or write it again"
        ) from None


def valid(column: pa.ChunkedArray, name: str, label: str) -> pa.ChunkedArray:
    """Return the column after a full check of its offsets, indices, text and numbers of gaps.

    Raises
    ------
    DataError
        If the column is damaged.
    """
    try:
        for chunk in column.chunks:
            # A date in milliseconds need not be midnight: it is read as a time then.
            _check(chunk.view(pa.int64()) if pa.types.is_date64(chunk.type) else chunk)
    except (pa.ArrowException, MemoryError, ValueError) as error:
        if is_of_memory(error):
            raise no_memory(label) from None
        raise DataError(
            f"{label}: column {name!r} is damaged ({reason_of(error):.300}); write the data again"
        ) from None
    return column


def _check(chunk: pa.Array) -> None:
    """Raise the error of Arrow for a damaged array."""
    if not pa.types.is_dictionary(chunk.type) or chunk.type.index_type != pa.int32():
        chunk.validate(full=True)
        return
    chunk.validate()
    indices, values = chunk.indices, chunk.dictionary
    indices.validate(full=True)
    values.validate(full=True)
    # NumPy finds the largest index in a fiftieth of the time that Arrow takes to look at each; as a number without a
    # sign, a negative one is large. A gap may have any index: Arrow tells which are of gaps.
    if len(indices) and int(buffer_view(indices, np.uint32).max()) >= len(values):
        chunk.validate(full=True)


def check_records(num_rows: int, label: str) -> int:
    """Return the number of records that a file announces, if this machine has memory for one column.

    Raises
    ------
    FileError
        If it has not.
    """
    if not 0 <= num_rows * BYTES_PER_VALUE <= installed_memory():
        raise FileError(
            f"{label}: says that it holds {num_rows} records, which this machine has no memory for; if that cannot be, "
            "the file is damaged: write it again"
        )
    return num_rows


def of_pandas(metadata: Mapping[bytes, bytes] | None, label: str) -> dict[str, Any]:
    """Return the metadata of pandas on types and row labels; empty if there are none.

    Raises
    ------
    FileError
        If they are damaged.
    """
    stored = (metadata or {}).get(b"pandas")
    return {} if stored is None else _stored(stored, f"{label}, metadata of pandas", _PANDAS)


def own_entries(metadata: Mapping[bytes, bytes] | None, label: str) -> list[dict[str, Any]]:
    """Return the declarations of columns that this package stored; empty if there are none.

    Raises
    ------
    FileError
        If they are damaged.
    """
    stored = (metadata or {}).get(OWN_KEY)
    entries: list[dict[str, Any]] = [] if stored is None else _stored(stored, f"{label}, declarations", _OWN)
    if any(len(pair) != 2 or not isinstance(pair[1], str) for entry in entries for pair in entry["labels"]):
        raise FileError(f"{label}, declarations: labels are not pairs of code and text; write the file again")
    return entries


def _stored(stored: bytes, label: str, shape: Any) -> Any:
    content = parse_json(stored, label, "JSON")
    try:
        check_shape(content, shape, "the content")
    except DataError as error:
        raise FileError(f"{label}: {error}; write the file again") from None
    return content
