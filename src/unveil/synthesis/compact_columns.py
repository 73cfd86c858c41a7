"""Columns of pandas and polars in memory that holds the values of their own records, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unveil.synthesis.arrow_values import only_drawn, taken


def own_polars(values: Any) -> Any:
    """A polars column without the text that its records were picked from: views and categories keep all of it."""
    if str(values.dtype).startswith("Categorical"):
        return values.cast(type(values)(["text"]).dtype).cast(values.dtype)
    if str(values.dtype) in ("String", "Utf8"):
        return type(values)(values.name, values.to_arrow().cast(pa.large_string()))
    return values


def own_pandas(values: Any, *, declared: bool) -> Any:
    """A pandas array with the categories that its records have, unless these are ordered or declared."""
    dtype = values.dtype
    if type(dtype).__name__ == "ArrowDtype":
        return type(values)(only_drawn(taken(values.__arrow_array__(), np.arange(len(values)))))
    if hasattr(dtype, "categories") and not dtype.ordered and not declared:
        return values.remove_unused_categories()
    return values
