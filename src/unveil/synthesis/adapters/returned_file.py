"""Read the file that a program returned, in the types of the records that it was given."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from unveil.errors import DataError

GAPS = ("", "NA", "NaN", "nan", "None", "null", "<NA>", "NaT")
"""How R, pandas and others write a gap; text of a column that holds it in the original is no gap."""
TRUTH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def read_returned(path: Path, given: pa.Table) -> pa.Table:
    """Return the records of a file, in the column types of the table that its maker was given.

    Whole numbers stay whole where they are, columns that the table does not have are text.

    Parameters
    ----------
    path
        A CSV file (UTF-8, commas, a header), or a Parquet file.
    given
        The records that the program was given.

    Raises
    ------
    DataError
        If it cannot be read, or a column holds no values of its kind.
    """
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        columns = csv.read_csv(path, convert_options=_as_text(path))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"its output cannot be read: {str(error).partition(chr(10))[0]:.200}") from None
    made = [
        _typed(name, column, given.column(name)) if name in given.column_names else column
        for name, column in zip(columns.column_names, columns.columns, strict=True)
    ]
    return pa.table(made, names=columns.column_names)


def _as_text(path: Path) -> csv.ConvertOptions:
    """All columns as text: what a column holds is told by the original, not guessed from the release."""
    with csv.open_csv(path) as reader:
        names = reader.schema.names
    return csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )  # fmt: skip


def _typed(name: str, text: pa.ChunkedArray, given: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = given.type
    if pa.types.is_null(kind):
        return text
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    own = pc.is_in(pa.array(GAPS), value_set=given.unique().cast(pa.string())) if is_text else None
    gaps = [gap for i, gap in enumerate(GAPS) if own is None or not own[i].as_py()]
    text = pc.if_else(pc.is_in(text, value_set=pa.array(gaps)), pa.scalar(None, pa.string()), text)
    try:
        return _converted(text, kind)
    except (pa.ArrowException, KeyError) as error:
        raise DataError(
            f"column {name!r} of its output does not hold values like those that it was given ({kind}): "
            f"{str(error).partition(chr(10))[0]:.100}"
        ) from None


def _converted(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_boolean(kind):
        return pa.chunked_array([pa.array([None if v is None else TRUTH[v.lower()] for v in text.to_pylist()], kind)])
    if pa.types.is_integer(kind):
        return _whole(text)
    if pa.types.is_date(kind):
        # Also with the midnight that some libraries write.
        return text.cast(pa.timestamp("us")).cast(kind)
    return text.cast(kind)


def _whole(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers, also where they are written as 3.0; other numbers as they are."""
    for written_as in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            return text.cast(written_as).cast(pa.int64())
    return text.cast(pa.float64())
