"""Synthetic records in the kind of frame, and with the exact types, of the original.

Of every column one original value per level is kept; a synthetic column is taken from these, so that type,
categories and spelling are those of the original without any conversion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.microdata.source import Flavour, Source
from unveil.synthesis.encode import EncodedVariable, Levels

__all__ = ["Palette", "make_palette"]

Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Palette:
    """One value per level of every column, in the original's kind of frame.

    Parameters
    ----------
    library
        Kind of frame.
    frame
        The original frame without its records.
    columns
        By name, the values of the levels.
    flavour
        Kind of frame to give back where it is not the library's own: of a frame that was opened before.
    """

    library: Literal["pandas", "polars", "arrow"]
    frame: Any
    columns: Mapping[str, Any]
    flavour: Flavour = "arrow"

    def paint(self, levels: Mapping[str, Levels]) -> Any:
        """A frame of the records whose levels are given by column."""
        paint = {"pandas": _pandas, "polars": _polars, "arrow": _arrow}[self.library]
        painted = paint(self, levels)
        if self.library != "arrow" or self.flavour == "arrow":
            return painted
        import narwhals as nw

        return nw.from_arrow(painted, backend=self.flavour).to_native()


def make_palette(data: Any, source: Source, variables: Sequence[EncodedVariable]) -> Palette:
    """Keep one value per level.

    Parameters
    ----------
    data
        What the user gave: a frame, a path or a source.
    source
        The same, opened.
    variables
        The same, encoded.

    Returns
    -------
    Palette
        Values by column.
    """
    native = data.to_native() if type(data).__module__.startswith("narwhals") else data
    root = type(native).__module__.split(".")[0]
    if root == "pandas" and hasattr(native, "iloc"):
        taken = {
            v.name: native[title].array.take(v.examples) for title, v in zip(native.columns, variables, strict=True)
        }
        return Palette("pandas", native.iloc[:0], taken)
    if root == "polars" and hasattr(native, "get_column"):
        return Palette(
            "polars", native.clear(), {v.name: native.get_column(v.name).gather(v.examples) for v in variables}
        )
    table = native if isinstance(native, pa.Table) else None
    if isinstance(native, pa.RecordBatch):
        table = pa.Table.from_batches([native])
    columns = {}
    for variable in variables:
        column = source.column(variable.name) if table is None else table.column(variable.name)
        columns[variable.name] = _one_chunk(column.take(_indices(variable.examples)))
    schema = table.schema if table is not None else pa.schema([(name, c.type) for name, c in columns.items()])
    return Palette("arrow", schema, columns, source.flavour if isinstance(data, Source) else "arrow")


def _indices(rows: Rows) -> pa.Array:
    """Row numbers as an Arrow array, without the detour over pandas."""
    return pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows.astype(np.int64))])


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return combined.chunk(0) if combined.num_chunks else pa.array([], column.type)
    return combined


def _written(levels: Levels) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Records with a new number, and the numbers."""
    assert levels.new is not None
    rows = np.flatnonzero(~np.isnan(levels.new))
    return rows, levels.new[rows]


def _pandas(palette: Palette, levels: Mapping[str, Levels]) -> Any:
    frame = palette.frame
    series = type(frame.iloc[:, 0])
    columns, index = {}, None
    for i, (name, chosen) in enumerate(levels.items()):
        values = palette.columns[name]
        taken = values.take(chosen.codes)
        if chosen.new is not None:
            rows, numbers = _written(chosen)
            taken = taken.copy()
            taken[rows] = _fitting(numbers, values.dtype)
        column = series(taken, index=index, dtype=values.dtype, copy=False)
        index = column.index
        columns[i] = column
    made = type(frame)(columns, copy=False)
    made.columns = frame.columns
    return made


def _fitting(numbers: NDArray[np.float64], dtype: Any) -> Any:
    """Numbers as a dtype holds them; whole ones are kept within its range."""
    kind = getattr(dtype, "numpy_dtype", dtype)
    if getattr(kind, "kind", "") in "iu":
        ends = np.iinfo(kind)
        return np.rint(numbers).clip(float(ends.min), float(ends.max)).astype(kind)
    return numbers


def _polars(palette: Palette, levels: Mapping[str, Levels]) -> Any:
    columns = []
    for name, chosen in levels.items():
        values = palette.columns[name]
        taken = values.gather(chosen.codes)
        if chosen.new is not None:
            rows, numbers = _written(chosen)
            whole = values.dtype.is_integer()
            new = type(values)(name, np.rint(numbers) if whole else numbers).cast(values.dtype, strict=False)
            taken = taken.scatter(rows, new)
        columns.append(taken)
    return type(palette.frame)(columns)


def _arrow(palette: Palette, levels: Mapping[str, Levels]) -> pa.Table:
    columns = []
    for name, chosen in levels.items():
        taken = palette.columns[name].take(_indices(chosen.codes))
        if chosen.new is not None:
            rows, numbers = _written(chosen)
            mask = np.zeros(chosen.codes.size, dtype=np.bool_)
            mask[rows] = True
            numbers = np.rint(numbers) if pa.types.is_integer(taken.type) else numbers
            taken = pc.replace_with_mask(taken, pa.array(mask), pa.array(numbers).cast(taken.type, safe=False))
        columns.append(taken)
    return pa.Table.from_arrays(columns, schema=palette.frame)
