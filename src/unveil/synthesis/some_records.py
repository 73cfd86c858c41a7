"""Some records of a source as a source, and an order of records by their values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.files.arrays import buffer_view
from unveil.files.distinct import distinct_values
from unveil.files.source import Source


def rows_of(source: Source, rows: NDArray[np.intp], label: str) -> Source:
    """Return some records of a source as another source."""
    indices = pa.array(rows)
    written = source.written
    return replace(
        source,
        label=label,
        path=None,
        num_rows=len(rows),
        fetch=lambda name: source.column(name).take(indices),
        written=None if written is None else lambda name: written(name).take(indices),
    )


def value_order(source: Source) -> NDArray[np.intp]:
    """Return the positions (n,) of the records sorted by their values, which do not depend on the order of the file.

    Examples
    --------
    >>> from unveil.files import read
    >>> value_order(read(pa.table({"ill": ["yes", "no", "yes"], "age": [40, None, 30]}))).tolist()
    [1, 2, 0]
    """
    ranks = []
    for name in source.names:
        found = distinct_values(source.column(name), label=source.label, name=name)
        rank = np.full(len(found.values) + 1, len(found.values))
        rank[buffer_view(pc.sort_indices(found.values), np.uint64)] = np.arange(len(found.values))
        ranks.append(rank[found.codes])
    return np.lexsort(ranks[::-1])
