"""Columns of pandas and polars whose memory holds no values but those of their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unveil.synthesis.arrow_values import only_drawn, taken


def own_polars(values: Any) -> Any:
    """Return a polars column that does not refer to the text of the original, as views and categories do."""
    if str(values.dtype).startswith("Categorical"):
        return values.cast(type(values)(["text"]).dtype).cast(values.dtype)
    if str(values.dtype) in ("String", "Utf8"):
        return type(values)(values.name, values.to_arrow().cast(pa.large_string()))
    return values


def own_pandas(values: Any, *, declared: bool) -> Any:
    """Return a pandas array with only the categories of its records, unless these are ordered or declared."""
    dtype = values.dtype
    if type(dtype).__name__ == "ArrowDtype":
        return type(values)(only_drawn(taken(values.__arrow_array__(), np.arange(len(values)))))
    if hasattr(dtype, "categories") and not dtype.ordered and not declared:
        return values.remove_unused_categories()
    return values
