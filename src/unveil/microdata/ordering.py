"""An order of records that does not depend on how they came, for whatever is drawn from them."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.microdata.coding import distinct_values
from unveil.microdata.source import Source

__all__ = ["value_order"]


def value_order(source: Source) -> NDArray[np.intp]:
    """The records in the order of their values, first column first; gaps come last.

    Only records that are equal in all columns keep the order in which they came.

    Parameters
    ----------
    source
        The file.

    Returns
    -------
    (n,) intp
        Numbers of the records.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unveil.microdata import read
    >>> value_order(read(pa.table({"sex": ["m", "f", "m"], "age": [30, None, 20]}))).tolist()
    [1, 2, 0]
    """
    ranks = []
    for name in source.names:
        found = distinct_values(source.column(name), label=source.label, name=name)
        rank = np.full(len(found.values) + 1, len(found.values))
        rank[pc.sort_indices(found.values).to_numpy()] = np.arange(len(found.values))
        ranks.append(rank[found.codes])
    return np.lexsort(ranks[::-1])
