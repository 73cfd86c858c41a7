"""The columns of a file batch by batch, in the types of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from unveil.files.source import BATCH, Source


def batches_of(source: Source, names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
    """Some columns batch by batch; where the file cannot be read so, whole columns in parts.

    Parameters
    ----------
    source
        The file.
    names
        The columns.

    Yields
    ------
    dict
        By name the values of some records, in the type of the file.
    """
    if source.batches is not None:
        yield from source.batches(names)
        return
    columns = {name: source.column(name) for name in names}
    for start in range(0, source.num_rows, BATCH):
        part = {name: column.slice(start, BATCH) for name, column in columns.items()}
        yield {name: one.chunk(0) if one.num_chunks == 1 else _joined(one) for name, one in part.items()}


def _joined(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
