"""R files: the optional package rdata parses them, and this file interprets the objects."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from unveil.errors import DataError, FileError, MissingPackageError
from unveil.files.arrays import check_names, quoted_list
from unveil.files.path_checks import reason_of
from unveil.files.r_objects import (
    RReading,
    attributes_of,
    check_objects,
    classes_of,
    column_of,
    names_of,
    plain_value,
    tagged,
    texts_of,
)
from unveil.files.source import Source, Variable
from unveil.notes import Note, warn

_TOLD_BY_SYNTHPOP = ("method", "visit.sequence", "smoothing", "proper", "rules", "rvalues", "cont.na", "seed", "m", "k")


def read_r(path: Path, label: str, *, encoding: str | None = None) -> tuple[Source, ...]:
    """Read the data frames of an R file (.rds, .rda, .RData).

    A file holds one data frame (also a tibble or data.table), a list of data frames, or a ``synds`` object of synthpop,
    whose copies are ``$syn``. The method, seed and settings in a ``synds`` object become the ``origin`` of each copy.
    Factors keep their levels and the order of these; value labels, user missing values and letters of ``haven`` are
    read like those of SPSS and Stata files.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    encoding
        Encoding of the texts that do not state theirs; by default that of the file.

    Returns
    -------
    tuple of Source
        The data frames in their order; at least one.

    Raises
    ------
    MissingPackageError
        If rdata is not installed.
    FileError
        If the file cannot be read, is damaged or holds no data frame.
    DataError
        If names of columns are repeated or blank.
    """
    parsed = _parsed(path, label)
    reading = RReading(label, encoding or _python_encoding(parsed.extra.encoding))
    try:
        check_objects(parsed.object, reading)
        return _sources(parsed.object, path, reading)
    except (FileError, DataError):
        raise
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, OverflowError, RecursionError) as error:
        raise FileError(
            f"{label}: the R file is damaged ({type(error).__name__} in its objects); save it again"
        ) from None


def _parsed(path: Path, label: str) -> Any:
    try:
        parser = importlib.import_module("rdata.parser")
    except ImportError:
        raise MissingPackageError(f"{label}: R files need rdata; pip install 'unveil[files]'") from None
    try:
        # The parser warns of tags of byte code, which do not concern the data.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse_file(path, extension=".rds" if path.suffix.lower() == ".rds" else ".rda")
    except MemoryError:
        raise FileError(f"{label}: there is not enough memory to read the file") from None
    except Exception as error:
        raise FileError(
            f"{label}: not a readable R file ({reason_of(error):.200}); save it again with saveRDS()"
        ) from None


def _python_encoding(name: str | None) -> str:
    if not name:
        return "utf-8"
    try:
        return "".encode(name).decode() or name
    except LookupError:
        return "utf-8"


def _sources(value: Any, path: Path, reading: RReading) -> tuple[Source, ...]:
    objects = {"": value} if path.suffix.lower() == ".rds" else tagged(value, reading.encoding)
    found = {name: frames for name, one in objects.items() if (frames := _frames(one, reading))}
    if not found:
        held = quoted_list(objects) if "" not in objects else _spoken(value)
        raise FileError(
            f"{reading.label}: holds no data frame but {held or 'nothing'}; save one data frame, or a list of them, "
            "for instance with saveRDS()"
        )
    if len(found) > 1:
        raise FileError(
            f"{reading.label}: holds {quoted_list(found)}; save exactly one of them, for instance with saveRDS()"
        )
    [(name, frames)] = found.items()
    others = [other for other in objects if other != name]
    if others:
        note = Note(f"{reading.label}: only the data frame {name!r} was read, not {quoted_list(others)}")
        warn(note)
    origin = _origin(objects[name], reading)
    if len(frames) == 1:
        return (_source(next(iter(frames.values())), path, reading, origin),)
    return tuple(
        _source(frame, path, RReading(f"{reading.label} ({title})", reading.encoding), origin)
        for title, frame in frames.items()
    )


def _frames(value: Any, reading: RReading) -> dict[str, Any]:
    """Return the data frames of an object by title: itself, those of a list, or the copies of a synds object."""
    classes = classes_of(value)
    if "data.frame" in classes:
        return {"": value}
    if value.info.type.name != "VEC":
        return {}
    if "synds" in classes:
        syn = dict(zip(names_of(value, reading), value.value, strict=False)).get("syn")
        found = {} if syn is None or syn.value is None else _frames(syn, reading)
        if not found:
            raise FileError(f"{reading.label}: the synds object holds no data (m = 0); run syn() with m >= 1")
        return found if len(found) == 1 else {f"copy {i}": one for i, one in enumerate(found.values(), start=1)}
    if not value.value or not all("data.frame" in classes_of(one) for one in value.value):
        return {}
    names = names_of(value, reading) or [None] * len(value.value)
    titles = [name or str(i) for i, name in enumerate(names, start=1)]
    if len(set(titles)) < len(titles):
        titles = [str(i) for i in range(1, len(titles) + 1)]
    return dict(zip(titles, value.value, strict=True))


def _spoken(value: Any) -> str:
    classes = classes_of(value)
    return f"a {classes[0]}" if classes else f"an object of R's type {value.info.type.name}"


def _origin(value: Any, reading: RReading) -> Mapping[str, Any]:
    """Return how a synds object says that its copies were made; the seed in it is confidential."""
    if "synds" not in classes_of(value):
        return MappingProxyType({})
    held = dict(zip(names_of(value, reading), value.value, strict=False))
    told = {name: plain_value(held[name], reading) for name in _TOLD_BY_SYNTHPOP if name in held}
    told = {name: one for name, one in told.items() if one is not None}
    return MappingProxyType({"made by": "synthpop"} | told | {"call": _arguments(held.get("call"), reading)})


def _arguments(call: Any, reading: RReading) -> dict[str, Any]:
    """Return the named arguments of a call that are plain values (``cart.minbucket = 7``)."""
    given = tagged(call.value[1], reading.encoding) if call is not None and isinstance(call.value, tuple) else {}
    plain = {name: plain_value(argument, reading) for name, argument in given.items()}
    return {name: argument for name, argument in plain.items() if argument is not None}


def _source(value: Any, path: Path, reading: RReading, origin: Mapping[str, Any]) -> Source:
    held = attributes_of(value)
    given = texts_of(held["names"], reading, "the names of the columns") if "names" in held else []
    if len(given) != len(value.value):
        raise FileError(f"{reading.label}: {len(value.value)} columns have {len(given)} names; the file is damaged")
    names = check_names([name or "" for name in given], reading.label)
    num_rows = _number_of_records(held.get("row.names"), reading)
    columns: dict[str, pa.ChunkedArray | Callable[[], pa.ChunkedArray]] = {}
    variables: dict[str, Variable] = {}
    for name, one in zip(names, value.value, strict=True):
        columns[name], variable = column_of(one, name, reading)
        if variable is not None:
            variables[name] = variable
        column = columns[name]
        if isinstance(column, pa.ChunkedArray) and len(column) != num_rows:
            raise FileError(
                f"{reading.label}: column {name!r} has {len(column)} values for {num_rows} records; the file is damaged"
            )

    def fetch(name: str) -> pa.ChunkedArray:
        column = columns[name]
        return column if isinstance(column, pa.ChunkedArray) else column()

    return Source(reading.label, names, num_rows, fetch, variables, path=str(path), origin=origin)


def _number_of_records(row_names: Any, reading: RReading) -> int:
    """Return the number of records by the row names, which R shortens to (NA, -n)."""
    if row_names is None or row_names.value is None:
        raise FileError(f"{reading.label}: the data frame has no row names; the file is damaged")
    names = row_names.value
    if not isinstance(names, list) and len(names) == 2 and plain_value(row_names, reading)[0] is None:
        return abs(int(names[1]))
    return len(names)
