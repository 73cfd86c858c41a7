"""One file of microdata as the rest of the package sees it: named Arrow columns and their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from unveil.errors import CallError, UnveilWarning
from unveil.files.form import Form
from unveil.files.nearest import near_matches
from unveil.notes import overheard

Kind = Literal["numeric", "categorical", "ordered", "logical", "date", "datetime"]
KINDS: tuple[Kind, ...] = ("numeric", "categorical", "ordered", "logical", "date", "datetime")
Flavour = Literal["pandas", "polars", "arrow"]
Scalar = bool | int | float | str


@dataclass(frozen=True)
class Variable:
    """What a file, a schema file or the user declares of one column.

    Parameters
    ----------
    name
        The column's name.
    kind
        One of :data:`KINDS`, or None where nothing is declared and the values decide.
    levels
        The declared levels in their declared order, as labels. Levels that no record has count for nothing.
    special_codes
        Values of a numeric variable that are not amounts (``-8`` for "not applicable"); they stay levels of
        their own when the variable is grouped or synthesised.
    labels
        Label by stored code, as SPSS, Stata and SAS keep them.
    labelled
        Whether the column holds these labels in the place of their codes.
    bounds
        The smallest and the largest amount that there can be, dates as text; stated as known to everybody.
    bins
        How many parts of equal width lie between the bounds, or the ends of all parts in ascending order.
    gaps
        Whether there may be records without a value; stated as known to everybody.
    """

    name: str
    kind: Kind | None = None
    levels: tuple[Scalar, ...] | None = None
    special_codes: tuple[Scalar, ...] = ()
    labels: Mapping[Scalar, str] = field(default_factory=lambda: MappingProxyType({}))
    labelled: bool = False
    bounds: tuple[Scalar, Scalar] | None = None
    bins: int | tuple[Scalar, ...] | None = None
    gaps: bool | None = None


class Remark(NamedTuple):
    """What was said while a file was read, and the columns that it concerns; none where it is the whole file."""

    text: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """One file or frame: its columns are fetched by name, and only those that are asked for.

    Parameters
    ----------
    label
        How messages call it: the file's name, or "original", "release 2" for a frame.
    names
        Column names in their order; unique.
    num_rows
        Number of records.
    fetch
        Function from a column name to its Arrow column. Columns that this package reads are of type null,
        bool, int64, double, date32, timestamp, time or duration, or a dictionary in
        one chunk with int32 indices.
    variables
        Declarations by column name; a column without one may be absent.
    flavour
        Kind of frame that results are given back in.
    path
        The file, if it came from one.
    form
        How the file keeps its columns.
    native
        Function from a column name to its Arrow column in the file's own type, where files have types.
    written
        Function from a column name to its text as it stands in the file, where the file is one of text.
    origin
        What the file says of how it was made: of a ``synds`` object of synthpop its method, settings and seed. The
        seed is confidential.
    remarks
        What was said while the file was read; grows as columns are read.
    like
        The frame that it came from, without its records (of Arrow the schema): the types that one like it has.
    declared
        What a schema of the user declares, apart from what the file says by itself.
    """

    label: str
    names: tuple[str, ...]
    num_rows: int
    fetch: Callable[[str], pa.ChunkedArray]
    variables: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    flavour: Flavour = "arrow"
    path: str | None = None
    form: Form | None = None
    native: Callable[[str], pa.ChunkedArray] | None = None
    written: Callable[[str], pa.ChunkedArray] | None = None
    origin: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    remarks: list[Remark] = field(default_factory=list, repr=False, compare=False)
    like: Any = None
    declared: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def column(self, name: str) -> pa.ChunkedArray:
        """The column's values, one per record."""
        if name not in self._known:
            raise CallError(f"{self.label} has no column {name!r}{near_matches(str(name), self.names)}")
        with overheard() as heard:
            values = self.fetch(name)
        self.keep(heard, [name])
        return values

    def keep(self, heard: Iterable[UnveilWarning], columns: Iterable[str] = ()) -> None:
        """Remember what was said while the file, or some of its columns, was read."""
        for one in heard:
            remark = Remark(one.text, one.columns or tuple(columns))
            if remark not in self.remarks:
                self.remarks.append(remark)

    def remarks_on(self, columns: Iterable[str]) -> list[str]:
        """What was said of the file as a whole, and of some columns."""
        chosen = set(columns)
        return [one.text for one in self.remarks if not one.columns or chosen.intersection(one.columns)]

    def variable(self, name: str) -> Variable:
        """What is declared of the column; an empty declaration where nothing is."""
        return self.variables.get(name, Variable(name))
