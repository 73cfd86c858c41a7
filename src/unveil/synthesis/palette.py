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

from unveil.microdata.arrays import from_numpy
from unveil.microdata.form import ArrowForm
from unveil.microdata.source import Flavour, Source, Variable
from unveil.synthesis.encode import EncodedVariable, Levels
from unveil.synthesis.memory import give_back

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
    declared
        Arrow columns whose dictionaries hold declared levels only.
    """

    library: Literal["pandas", "polars", "arrow"]
    frame: Any
    columns: Mapping[str, Any]
    flavour: Flavour = "arrow"
    declared: frozenset[str] = frozenset()

    def paint(self, levels: dict[str, Levels]) -> Any:
        """A frame of the records whose levels are given by column.

        The levels are used up, so that the records of a large file are not held twice.
        """
        column = {"pandas": _pandas_column, "polars": _polars_column, "arrow": _arrow_column}[self.library]
        columns = {}
        for name in list(levels):
            columns[name] = column(self, name, levels.pop(name))
            give_back(len(columns[name]))
        if self.library == "pandas":
            return _pandas_frame(self.frame, list(columns.values()))
        if self.library == "polars":
            return type(self.frame)(list(columns.values()))
        painted = pa.Table.from_arrays(list(columns.values()), schema=self.frame)
        if self.flavour == "arrow":
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
    columns, declared = {}, set()
    for variable in variables:
        name = variable.name
        column = table.column(name) if table is not None else (source.native or source.column)(name)
        values = _one_chunk(_taken(column, variable.examples))
        if table is None:
            levels = _declared(values, source.variable(name))
            declared |= {name} if levels is not None else set()
            plain = values if source.native or not pa.types.is_dictionary(values.type) else _plain(values)
            values = plain if levels is None else levels
        columns[name] = values if name in declared else _one_each(values, variable)
    schema = table.schema if table is not None else _schema(source, columns)
    return Palette(
        "arrow", schema, columns, source.flavour if isinstance(data, Source) else "arrow", frozenset(declared)
    )


def _schema(source: Source, columns: Mapping[str, pa.Array]) -> pa.Schema:
    """The types of a file that has types, with what polars adds to them; else those of the columns."""
    if isinstance(source.form, ArrowForm):
        return source.form.schema.remove_metadata()
    return pa.schema([(name, column.type) for name, column in columns.items()])


def _taken(column: pa.Array | pa.ChunkedArray, rows: Rows) -> pa.Array | pa.ChunkedArray:
    """Some records of a column; Arrow takes none of its newest text type."""
    if str(column.type) == "string_view":
        return column.cast(pa.string()).take(from_numpy(rows)).cast(column.type)
    return column.take(from_numpy(rows))


def _plain(values: pa.Array) -> pa.Array:
    """The values of a dictionary one by one."""
    return _plain_dictionary(values).take(values.indices)


def _plain_dictionary(values: pa.Array) -> pa.Array:
    """The dictionary, of a type that Arrow can look values up in."""
    text = pa.string() if str(values.type.value_type) == "string_view" else values.type.value_type
    return values.dictionary.cast(text)


def _declared(values: pa.Array, variable: Variable) -> pa.Array | None:
    """Declared levels as a dictionary of just these; None where none are declared, or a value is not among them.

    The dictionary that a file is read into lists all its values in the order of the records. It must not reach a
    release: it would hold values that no synthetic record has.
    """
    if not pa.types.is_dictionary(values.type) or not variable.levels:
        return None
    plain = _plain(values)
    try:
        levels = pa.array(variable.levels, plain.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    if not pc.all(pc.is_in(plain.drop_null(), levels)).as_py():
        return None
    return pa.DictionaryArray.from_arrays(
        pc.index_in(plain, levels).cast(values.type.index_type),
        levels.cast(values.type.value_type),
        ordered=values.type.ordered,
    )


def _one_each(values: pa.Array, variable: EncodedVariable) -> pa.Array:
    """The values of the levels with a dictionary of just these, in ascending order; see :func:`_only_drawn`."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    plain = _plain(values)
    if variable.kind == "ordered" or plain.type != variable.values.type:
        return _only_drawn(values)
    known = len(variable.values)  # levels of this type ascend already, and a gap is the last of them
    places = pa.concat_arrays([from_numpy(np.arange(known, dtype=np.int32)), pa.nulls(len(plain) - known, pa.int32())])
    levels = plain[:known].cast(values.type.value_type)
    return pa.DictionaryArray.from_arrays(places.cast(values.type.index_type), levels)


def _only_drawn(values: pa.Array) -> pa.Array:
    """A dictionary of the values that were drawn, in ascending order; one whose order is declared stays whole."""
    if not pa.types.is_dictionary(values.type) or values.type.ordered:
        return values
    dictionary = _plain_dictionary(values)
    drawn = dictionary.take(values.indices.unique().drop_null()).drop_null().unique()
    drawn = drawn.take(pc.sort_indices(drawn))
    place = pc.index_in(dictionary, drawn).cast(values.type.index_type)
    return pa.DictionaryArray.from_arrays(place.take(values.indices), drawn.cast(values.type.value_type))


def _all_drawn(values: pa.Array, chosen: Levels) -> bool:
    """Whether a dictionary need not be shortened, which is known without a look at the records' values."""
    if not pa.types.is_dictionary(values.type):
        return True
    return chosen.new is None and bool(np.bincount(chosen.codes, minlength=len(values)).all())


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


def _pandas_column(palette: Palette, name: str, chosen: Levels) -> Any:
    values = palette.columns[name]
    taken = values.take(chosen.codes)
    if chosen.new is not None:
        rows, numbers = _written(chosen)
        taken = taken.copy()
        taken[rows] = _fitting(numbers, values.dtype)
    return taken


def _pandas_frame(frame: Any, arrays: Sequence[Any]) -> Any:
    """Columns as a frame like the given one; by position, because pandas allows equal names."""
    series = type(frame.iloc[:, 0])
    columns, index = {}, None
    for i, values in enumerate(arrays):
        columns[i] = series(values, index=index, dtype=values.dtype, copy=False)
        index = columns[i].index
    made = type(frame)(columns, copy=False)
    made.columns = frame.columns
    return made


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Durations are modelled in seconds; by unit, how many make one."""


def _in_unit(seconds: NDArray[np.float64], unit: str) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = np.rint(seconds * PER_SECOND[unit]).astype(np.int64)
    return whole


def _fitting(numbers: NDArray[np.float64], dtype: Any) -> Any:
    """Numbers as a dtype holds them; whole ones are kept within its range."""
    kind = getattr(dtype, "numpy_dtype", dtype)
    if getattr(kind, "kind", "") == "m":
        unit = np.datetime_data(kind)[0]
        return _in_unit(numbers, unit).astype(f"timedelta64[{unit}]")
    if getattr(kind, "kind", "") in "iu":
        ends = np.iinfo(kind)
        return np.rint(numbers).clip(float(ends.min), float(ends.max)).astype(kind)
    return numbers


def _polars_column(palette: Palette, name: str, chosen: Levels) -> Any:
    values = palette.columns[name]
    taken = values.gather(chosen.codes)
    if chosen.new is not None:
        rows, numbers = _written(chosen)
        whole = values.dtype.is_integer()
        is_duration = str(values.dtype).startswith("Duration")
        amounts = _in_unit(numbers, values.dtype.time_unit) if is_duration else numbers
        new = type(values)(name, np.rint(amounts) if whole else amounts).cast(values.dtype, strict=False)
        taken = taken.scatter(rows, new)
    if str(values.dtype).startswith("Categorical"):
        # Through text, because the values that were not drawn would go along.
        taken = taken.cast(type(taken)(["text"]).dtype).cast(values.dtype)
    return taken


def _with_new(values: pa.Array, numbers: NDArray[np.float64]) -> pa.Array:
    """The values with new numbers of their type behind them."""
    if pa.types.is_dictionary(values.type):
        longer = _with_new(_plain(values), numbers).dictionary_encode()
        return pa.DictionaryArray.from_arrays(longer.indices.cast(values.type.index_type), longer.dictionary)
    if pa.types.is_duration(values.type):
        new = pa.array(_in_unit(numbers, values.type.unit))
    else:
        new = pa.array(np.rint(numbers) if pa.types.is_integer(values.type) else numbers)
    return pa.concat_arrays([values, new.cast(values.type, safe=False)])


def _arrow_column(palette: Palette, name: str, chosen: Levels) -> pa.Array:
    values, codes = palette.columns[name], chosen.codes
    if chosen.new is not None:
        rows, numbers = _written(chosen)
        values, codes = _with_new(values, numbers), codes.astype(np.int64)
        codes[rows] = len(values) - rows.size + np.arange(rows.size)
    taken = _taken(values, codes)
    return taken if name in palette.declared or _all_drawn(values, chosen) else _only_drawn(taken)
