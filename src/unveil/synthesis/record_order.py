"""An order of records by their values."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.files.arrays import buffer_view
from unveil.files.distinct import distinct_of
from unveil.files.source import Source


def value_order(source: Source) -> NDArray[np.intp]:
    """Return the positions (n,) of the records sorted by their values, which do not depend on the order of the file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.files import read
    >>> value_order(read(pa.table({"ill": ["yes", "no", "yes"], "age": [40, None, 30]}))).tolist()
    [1, 2, 0]
    """
    ranks = []
    for name in source.names:
        found = distinct_of(source, name)
        rank = np.full(len(found.values) + 1, len(found.values))
        rank[buffer_view(pc.sort_indices(found.values), np.uint64)] = np.arange(len(found.values))
        ranks.append(rank[found.codes])
    return np.lexsort(ranks[::-1])
