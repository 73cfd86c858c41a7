"""Open any file or frame as a source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unveil.errors import CallError, FileError
from unveil.files import columnar, delimited, frames, spark_frames, statistical
from unveil.files.arrays import is_broken
from unveil.files.folders import label_of, stands_for_several
from unveil.files.joined import open_parts
from unveil.files.path_checks import check_readable
from unveil.files.schema import Schema, as_list, as_schema
from unveil.files.source import UNNAMED, Kind, Scalar, Source, Variable
from unveil.notes import overheard

DELIMITED = {".csv": None, ".txt": None, ".tsv": "\t", ".tab": "\t"}
ARROW = (".feather", ".arrow", ".ipc")
R = (".rds", ".rda", ".rdata")
ENDINGS: tuple[str, ...] = (*DELIMITED, ".parquet", *ARROW, *statistical.FORMATS, *R)


def read(
    data: Any,
    *,
    label: str | None = None,
    missing: str | Sequence[str] = ("",),
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    schema: object = None,
    kinds: Mapping[str, Kind] | None = None,
    special_codes: Mapping[str, Scalar | Iterable[Scalar]] | None = None,
) -> Source:
    """Open a file or a data frame.

    Parameters
    ----------
    data
        A file name, a folder of Parquet files or a pattern of their names, a data frame (pandas, polars, pyarrow, a
        DuckDB relation, or any other with the Arrow C stream), a Spark DataFrame, or a :class:`Source`, to which the
        schema is applied.
    label
        Name in messages; the file's name by default.
    missing
        Delimited text: texts that stand for a gap if they are not in quotes. By default only the empty field.
    encoding
        Delimited text and files of statistical packages: the character encoding. By default it is detected.
    delimiter, decimal
        Delimited text: the character between fields, and the decimal sign. By default they are detected.
    schema
        Declarations by column: a schema file, a :class:`Schema`, or a mapping.
    kinds
        Kind by column, where the schema does not state it: "numeric", "categorical", "ordered", "logical", "date" or
        "datetime".
    special_codes
        By numeric column, values that are not amounts, such as ``{"income": [-8]}``.

    Returns
    -------
    Source
        Named columns and their declarations. ``source[:100]`` is a part of it, ``source.to_frame()`` a data frame.

    Raises
    ------
    CallError
        If the object is neither a file nor a table, or an option is out of its range.
    FileError
        If the file does not exist, has an unknown ending or cannot be read.
    DataError
        If column names are repeated or blank, or a column does not hold one value per record.
    MissingPackageError
        If the format needs an optional package.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = read(pa.table({"sex": ["f", "m"], "age": [31, -8]}), label="original", special_codes={"age": -8})
    >>> source.names, source.num_rows, source.variable("age").special_codes
    (('sex', 'age'), 2, (-8,))
    >>> source[:1].to_frame("arrow").to_pydict()
    {'sex': ['f'], 'age': [31]}
    """
    declared = _declared(schema, kinds, special_codes)
    with overheard() as heard:
        source = _opened(data, label, _Options(missing, encoding, delimiter, decimal, declared))
    source.keep(heard)
    return source


open_source = read
"""The same function, by the name that this package uses."""


def _declared(
    schema: object, kinds: Mapping[str, Kind] | None, codes: Mapping[str, Scalar | Iterable[Scalar]] | None
) -> Schema | None:
    """What the schema and the options declare together; None if they declare nothing."""
    found = None if schema is None else as_schema(schema)
    further: dict[str, dict[str, Any]] = {}
    for option, key, given in (("kinds", "kind", kinds), ("special_codes", "special_codes", codes)):
        if given is not None and not isinstance(given, Mapping):
            raise CallError(f"{option} are given by column, as a mapping, not as {given!r}")
        for name, value in (given or {}).items():
            further.setdefault(name, {})[key] = value if key == "kind" else _listed(value)
    if not further:
        return found
    own = as_schema(further)
    known: Mapping[str, Variable] = found or {}
    for name, declared in own.items():
        stated = known.get(name, Variable(name))
        for key in further[name]:
            if (before := getattr(stated, key)) not in (None, ()) and before != getattr(declared, key):
                raise CallError(
                    f"column {name!r}: the schema declares {key} {before!r}, not {getattr(declared, key)!r}"
                )
    merged = {
        name: replace(known.get(name, Variable(name)), **{key: getattr(one, key) for key in further[name]})
        for name, one in own.items()
    }
    return Schema({**known, **merged}, *((found.label, found.public) if found else ()))


def _listed(codes: Any) -> list[Any]:
    """One special code, or several in whatever holds them, as a list."""
    plain = as_list(codes)
    return list(plain) if isinstance(plain, Iterable) and not isinstance(plain, str | Mapping) else [plain]


def _opened(data: Any, label: str | None, options: _Options) -> Source:
    declared = options.schema
    if isinstance(data, Source):
        source = data if label is None else replace(data, label=label)
    elif isinstance(data, str | os.PathLike):
        options.check()
        if declared is not None and is_delimited(data):
            declared = declared.for_text()
        source = _open_file(Path(data), label or label_of(Path(data)), options)
    elif spark_frames.is_spark_frame(data):
        source = spark_frames.open_spark_frame(data, label or UNNAMED)
    elif frames.is_frame(data):
        source = frames.open_frame(data, label or UNNAMED)
    else:
        raise CallError(
            f"{label or UNNAMED}: {type(data).__name__} is neither a file name nor a data frame; "
            "collect or convert it first"
        )
    return source if declared is None else declared.apply(source)


def open_releases(data: Any, *, encoding: str | None = None) -> tuple[Any, ...]:
    """Return the releases in one argument: an R file may hold a list of data frames or a synds object.

    Parameters
    ----------
    data
        A file name, a frame or a :class:`Source`.
    encoding
        Encoding of the texts of an R file that do not state theirs.

    Returns
    -------
    tuple
        The data frames of the R file; else the argument alone.
    """
    if not isinstance(data, str | os.PathLike) or _ending(Path(data)) not in R or not os.path.isfile(data):
        return (data,)
    from unveil.files import rdata

    with overheard() as heard:
        sources = rdata.read_r(Path(data), Path(data).name, encoding=encoding)
    for source in sources:
        source.keep(heard)
    return sources


def _only_one(sources: Sequence[Source], label: str) -> Source:
    if len(sources) > 1:
        raise FileError(
            f"{label}: holds {len(sources)} data frames, and one is wanted here; save one of them. "
            "As a release all are measured"
        )
    return sources[0]


@dataclass(frozen=True)
class _Options:
    """Options of files as :func:`open_source` takes them; most are for delimited text."""

    missing: str | Sequence[str]
    encoding: str | None
    delimiter: str | None
    decimal: str | None
    schema: Schema | None

    def check(self) -> None:
        """Raise CallError if an option is of another type or out of its range."""
        if self.decimal not in (None, ".", ","):
            raise CallError(f"decimal must be '.' or ',', not {self.decimal!r}")
        for name, value in (("encoding", self.encoding), ("delimiter", self.delimiter)):
            if value is not None and not isinstance(value, str):
                raise CallError(f"{name} must be text, not {value!r}")
        if not isinstance(self.missing, Iterable) or isinstance(self.missing, Mapping | bytes):
            raise CallError(f"missing must be a text, or a list of texts, not {self.missing!r}")


def _open_file(path: Path, label: str, options: _Options) -> Source:
    if is_broken(str(path)):
        raise FileError(f"{label!r}: the path is not text, it holds half a character; rename the file or folder")
    if stands_for_several(path):
        return open_parts(path, label)
    check_readable(path, label)
    ending = _ending(path)
    if ending == ".parquet":
        return columnar.open_parquet(path, label)
    if ending in ARROW:
        return columnar.open_arrow(path, label)
    if ending in statistical.FORMATS:
        return statistical.read_statistical(path, label, ending, encoding=options.encoding)
    if ending in R:
        from unveil.files import rdata

        return _only_one(rdata.read_r(path, label, encoding=options.encoding), label)
    if ending in DELIMITED:
        missing = options.missing
        declared: Mapping[str, Variable] = options.schema or {}
        return delimited.read_delimited(
            path,
            label,
            missing=(missing,) if isinstance(missing, str) else tuple(str(token) for token in missing),
            encoding=options.encoding,
            delimiter=options.delimiter or DELIMITED[ending],
            decimal=options.decimal,
            kinds={name: variable.kind for name, variable in declared.items() if variable.kind is not None},
            labels={name: variable.labels for name, variable in declared.items()},
        )
    raise FileError(f"{label}: unknown ending {ending!r}; known are {', '.join(ENDINGS)} and .csv.gz")


def is_delimited(data: Any) -> bool:
    """Whether the data are a file name with an ending of delimited text."""
    return isinstance(data, str | os.PathLike) and _ending(Path(data)) in DELIMITED


def _ending(path: Path) -> str:
    """Return the ending of the name in lower case, without .gz after an ending of delimited text."""
    endings = [suffix.lower() for suffix in path.suffixes[-2:]]
    if len(endings) == 2 and endings[1] == ".gz":
        return endings[0] if endings[0] in DELIMITED else ".gz"
    return endings[-1] if endings else ""
