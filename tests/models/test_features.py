"""Keys of records as models see them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.models.features import stacked


@pytest.mark.parametrize("levels", [3, 300, 70_000])
@pytest.mark.parametrize("classes", [True, False])
def test_records_in_ascending_order_of_keys_and_target(levels: int, classes: bool) -> None:
    rng = np.random.default_rng(levels)
    n = 75_000 if levels > 300 else 900
    original = pa.table({"a": rng.integers(3, size=n), "b": rng.integers(levels, size=n)})
    pair = unveil.Pair(original, original.slice(0, 100))
    columns = [pair.column(name) for name in ("a", "b")]
    y = rng.integers(300, size=n) if classes else rng.integers(-5, 5, size=n) / 4
    table = stacked(columns, [column.original for column in columns])
    order = table.ordering(y)
    a, b = (column.original.tolist() for column in columns)
    # records that are equal stay in the order in which they came
    assert order.tolist() == sorted(range(n), key=lambda i: (a[i], b[i], y[i]))
