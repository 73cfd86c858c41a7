"""Mark a file as synthetic."""

from __future__ import annotations

from typing import Any

from unveil.errors import CallError
from unveil.synthesis.sdc.records import GivenFile
from unveil.synthesis.sdc.report import SdcReport


def label(data: Any, text: str, *, column: str = "synthetic_label") -> tuple[Any, SdcReport]:
    """Add a column with the same text in every record.

    Parameters
    ----------
    data
        A frame or file.
    text
        The text, such as "synthetic, not real persons".
    column
        Name of the new column, which comes last.

    Returns
    -------
    frame
        The data in the same kind of frame and types.
    SdcReport
        Report of the changes.

    Raises
    ------
    CallError
        If the text is blank, or the column exists.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labelled, _ = label(pa.table({"age": [40, 18]}), "synthetic")
    >>> labelled.column("synthetic_label").to_pylist()
    ['synthetic', 'synthetic']
    """
    records = GivenFile.of(data)
    source = records.source
    if not isinstance(text, str) or not text.strip():
        raise CallError(f"{source.label}: the label must be a text, not {text!r}")
    if not isinstance(column, str) or not column.strip():
        raise CallError(f"{source.label}: the label's column needs a name, not {column!r}")
    if column in source:
        raise CallError(f"{source.label} has a column {column!r} already; give column= another name")
    said = f"Column {column!r} says {text!r} in each of {source.num_rows} records."
    report = records.report("label", (column,), source.num_rows, {"text": text}, said)
    return records.with_text(column, text), report
