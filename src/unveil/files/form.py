"""How a file stores its columns, beside their values; releases are written in the form of the original."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from unveil.files.notation import AmountNotation, DayNotation

_MARKS_OF_TYPES = (b"_PL_", b"ARROW:extension:")
_KEPT_OF_PANDAS = ("index_columns", "column_indexes", "columns", "creator", "pandas_version")


@dataclass(frozen=True)
class Spelling:
    """How the values of one column of delimited text are written.

    Parameters
    ----------
    decimals
        Least number of decimals of a number.
    truths
        Texts for true and for false.
    moment
        A time as it is written: it shows the sign between date and time, and the number of characters.
    gap
        Text for a gap.
    amounts
        Signs of decimals and thousands, if they differ from those of the file.
    plus
        Whether a plus sign stands before numbers above 0.
    days
        How days are written, if not as ISO 8601 has it.
    """

    decimals: int = 0
    truths: tuple[str, str] = ("true", "false")
    moment: str | None = None
    gap: str = ""
    amounts: AmountNotation | None = None
    plus: bool = False
    days: DayNotation | None = None


@dataclass(frozen=True)
class TextForm:
    """Delimited text.

    Parameters
    ----------
    delimiter, decimal
        Character between the fields, and decimal sign.
    encoding
        Python name of the character encoding.
    columns
        Spelling by column.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    columns: Mapping[str, Spelling] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class ArrowForm:
    """Parquet or Arrow: types by column, and what pandas and polars add to them.

    Parameters
    ----------
    schema
        Schema of the columns; :func:`carried` removes its notes.
    """

    schema: pa.Schema

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", carried(self.schema))


def carried(schema: pa.Schema) -> pa.Schema:
    """Return a schema with what is needed for the same types, and without notes.

    Notes on the original, its columns or its frame (``df.attrs``) describe the original; a release must not hold them.

    Examples
    --------
    >>> field = pa.field("age", pa.int64(), metadata={"checked by": "N. N."})
    >>> carried(pa.schema([field], metadata={"source": "register 7"})).metadata is None
    True
    """
    fields = []
    for column in schema:
        marks = {key: value for key, value in (column.metadata or {}).items() if key.startswith(_MARKS_OF_TYPES)}
        fields.append(column.remove_metadata().with_metadata(marks) if marks else column.remove_metadata())
    stored = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    kept = {key: value for key, value in stored.items() if key in _KEPT_OF_PANDAS}
    return pa.schema(fields, {b"pandas": json.dumps(kept).encode()} if kept else None)


@dataclass(frozen=True)
class PackageColumn:
    """Properties of one column in a file of a statistical package.

    Parameters
    ----------
    title
        Label of the variable.
    storage
        "string", "int8", "int16", "int32", "float" or "double".
    format
        Display format, in the notation of the package.
    measure, width
        Level of measurement and width of display (SPSS).
    labels
        Label by code, as in the file.
    missing
        Values and ranges that are declared missing (SPSS).
    """

    title: str | None = None
    storage: str | None = None
    format: str | None = None
    measure: str | None = None
    width: int | None = None
    labels: Mapping[Any, str] = field(default_factory=lambda: MappingProxyType({}))
    missing: Sequence[Any] = ()


@dataclass(frozen=True)
class PackageForm:
    """Form of a file of a statistical package, without the title of the file.

    Parameters
    ----------
    package
        "SPSS", "Stata" or "SAS".
    version
        Version of the file format, as pyreadstat counts it; None if there is only one.
    columns
        Properties by column.
    """

    package: str
    version: int | None = None
    columns: Mapping[str, PackageColumn] = field(default_factory=lambda: MappingProxyType({}))


Form = TextForm | ArrowForm | PackageForm
