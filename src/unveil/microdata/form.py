"""How a file keeps its columns, beside their values: what another file needs to be like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pyarrow as pa

__all__ = ["ArrowForm", "Form", "PackageColumn", "PackageForm", "Spelling", "TextForm"]


@dataclass(frozen=True)
class Spelling:
    """How the values of one column of delimited text are written.

    Parameters
    ----------
    decimals
        Decimals that every number has at least.
    truths
        What is written for true and for false.
    moment
        A time as it is written; it tells the sign between date and time, and the number of characters.
    gap
        What is written for a gap.
    """

    decimals: int = 0
    truths: tuple[str, str] = ("true", "false")
    moment: str | None = None
    gap: str = ""


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
        The schema of the columns.
    """

    schema: pa.Schema


@dataclass(frozen=True)
class PackageColumn:
    """What a statistical package keeps of one column.

    Parameters
    ----------
    title
        Label of the variable.
    storage
        "string", "int8", "int16", "int32", "float" or "double".
    format
        Display format, in the package's own words.
    measure, width
        Level of measurement and width of display (SPSS).
    labels
        Label by code, as they stand in the file.
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
    """A file of a statistical package.

    Parameters
    ----------
    package
        "SPSS", "Stata" or "SAS".
    title
        Label of the file.
    table
        Name of the table within the file (SAS).
    version
        Of the file format, as pyreadstat counts it; None where there is one only.
    columns
        By column.
    """

    package: str
    title: str | None = None
    table: str | None = None
    version: int | None = None
    columns: Mapping[str, PackageColumn] = field(default_factory=lambda: MappingProxyType({}))


Form = TextForm | ArrowForm | PackageForm
