"""Anybody's synthesizer, called in one way: functions of a frame, and objects with ``fit`` and ``sample``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.microdata.arrays import buffer_view
from unveil.microdata.coding import distinct_values
from unveil.microdata.source import Source

__all__ = ["as_frame", "rows_of", "sampler", "value_order"]


def rows_of(source: Source, rows: NDArray[np.intp], label: str) -> Source:
    """Some records of a source, as a source of its own."""
    indices = pa.array(rows)
    return replace(
        source, label=label, path=None, num_rows=len(rows), fetch=lambda name: source.column(name).take(indices)
    )


def value_order(source: Source) -> NDArray[np.intp]:
    """The records sorted by their values, column by column: an order that does not depend on how they came.

    Examples
    --------
    >>> from unveil.microdata import read
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


def as_frame(source: Source) -> Any:
    """The source as a frame of its flavour."""
    table = pa.table({name: source.column(name) for name in source.names})
    if source.flavour == "arrow":
        return table
    import narwhals as nw

    return nw.from_arrow(table, backend=source.flavour).to_native()


def sampler(synthesizer: Any) -> Callable[[Any, int, int], Any]:
    """One way of calling functions and objects: (frame, number of records, seed) -> release."""
    if callable(getattr(synthesizer, "fit", None)) and callable(getattr(synthesizer, "sample", None)):

        def fit_and_sample(data: Any, n: int, seed: int) -> Any:
            fitted = synthesizer.fit(data)
            fitted = synthesizer if fitted is None else fitted
            return _call(fitted.sample, (), {"n": n, "seed": seed})

        return fit_and_sample
    if not callable(synthesizer):
        raise CallError(
            "a synthesizer is a function of a frame, or an object with fit and sample, "
            f"not {type(synthesizer).__name__}"
        )
    return lambda data, n, seed: _call(synthesizer, (data,), {"n": n, "seed": seed})


def _call(function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, int]) -> Any:
    """Call with those of the options that the function takes."""
    import inspect

    try:
        known = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        known = set()
    made = function(*given, **{name: value for name, value in options.items() if name in known})
    if isinstance(made, list | tuple):
        if not made:
            raise DataError("the synthesizer returned an empty list")
        made = made[0]
    return made
