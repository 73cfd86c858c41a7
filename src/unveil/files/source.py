"""One file of microdata as the rest of the package sees it: named Arrow columns and their declarations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.checks import check_choice
from unveil.errors import CallError, DataError, MissingPackageError, UnveilWarning
from unveil.files.form import Form
from unveil.files.made_frames import Flavour as Flavour
from unveil.files.made_frames import installed_flavour, make_frame
from unveil.files.nearest import near_matches
from unveil.notes import overheard
from unveil.printable import commands_shown

Kind = Literal["numeric", "categorical", "ordered", "logical", "date", "datetime"]
KINDS: tuple[Kind, ...] = ("numeric", "categorical", "ordered", "logical", "date", "datetime")
Scalar = bool | int | float | str
Fetch = Callable[[str], pa.ChunkedArray]
Batches = Callable[[Sequence[str]], Iterator[dict[str, pa.Array]]]
UNNAMED = "data"
"""What a frame is called that has no name."""
BATCH = 1 << 18
"""Number of records that are read at a time where a file is read in batches."""


@dataclass(frozen=True)
class Variable:
    """What a file, a schema file or the user declares of one column.

    Parameters
    ----------
    name
        The column's name.
    kind
        One of :data:`KINDS`; None if no kind is declared, so that the values decide.
    levels
        The declared levels in their declared order, as labels. Measures ignore levels that no record has.
    special_codes
        Values of a numeric variable that are not amounts (``-8`` for "not applicable"); they stay separate levels when
        the variable is grouped or synthesised.
    labels
        Label by stored code, as in files of SPSS, Stata and SAS.
    labelled
        Whether the column holds these labels in the place of their codes.
    bounds
        Smallest and largest possible amount, dates as text; declared as known to everybody.
    bins
        Number of parts of equal width between the bounds, or the ends of all parts in ascending order.
    gaps
        Whether records without a value are possible; declared as known to everybody.
    breaks
        Amounts, ascending, at which the measures from tables cut the column into groups; each group begins at a break.
    weight
        Whether the column holds the design weights of a sample.
    unit, time
        Whether the column names the unit of a row, and whether it orders the rows of a unit.
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
    breaks: tuple[float, ...] = ()
    weight: bool = False
    unit: bool = False
    time: bool = False


class Remark(NamedTuple):
    """A warning while a file was read, and the columns that it concerns; none if it concerns the whole file."""

    text: str
    columns: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Source:
    """One file or frame; each column is read when it is first needed.

    Parameters
    ----------
    label
        Name in messages: the file's name, or "original", "release 2" for a frame.
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
        Kind of frame for results.
    path
        Path of the file, or the folder or pattern of several; None for a frame.
    form
        How the file stores its columns.
    native
        Function from a column name to its Arrow column in the type of the file; None if files have no types.
    written
        Function from a column name to its text in the file; None unless the file is delimited text.
    origin
        How the file says that it was made: method, settings and seed of a ``synds`` object of synthpop. The seed is
        confidential.
    remarks
        Warnings while the file was read; the list grows as columns are read.
    like
        The frame without its records (for Arrow its schema), which shows the types of its columns.
    declared
        Declarations of the user's schema, without those of the file.
    batches
        Function from the names of some columns to their values batch by batch, in the types of the file; None where a
        column is read as a whole.
    parts
        Paths of the files that a folder or pattern stands for.
    distributed
        The Spark DataFrame whose records these are; None where this process reads them.
    coded
        Columns of ``fetch`` that were coded, by name; see :func:`unveil.files.distinct.distinct_of`.
    """

    label: str
    names: tuple[str, ...]
    num_rows: int
    fetch: Fetch
    variables: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    flavour: Flavour = "arrow"
    path: str | None = None
    form: Form | None = None
    native: Fetch | None = None
    written: Fetch | None = None
    origin: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    remarks: list[Remark] = field(default_factory=list, repr=False, compare=False)
    like: Any = None
    declared: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    batches: Batches | None = None
    parts: tuple[str, ...] = ()
    distributed: Any = None
    coded: tuple[Fetch | None, dict[str, Any]] = field(default=(None, {}), repr=False, compare=False)

    def __post_init__(self) -> None:
        # Files that differ in their labels and declarations share what was coded; other columns are coded anew.
        if self.coded[0] is not self.fetch:
            object.__setattr__(self, "coded", (self.fetch, {}))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    __iter__ = None
    """Records come as a slice, columns by their names; a loop over a file would be either."""

    def __getitem__(self, records: slice) -> Source:
        """Some records, as in ``source[:100]``."""
        if not isinstance(records, slice):
            raise CallError(
                f"{self.label}: records are taken by a slice, such as [:100], not by {records!r}; a column by "
                "column(name)"
            )
        return self.part(np.arange(self.num_rows)[records])

    @property
    def frame_flavour(self) -> Flavour:
        """Kind of frame of :meth:`to_frame`: the user's, or for a file that of an installed library."""
        return installed_flavour() if self.like is None else self.flavour

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """The records as a frame.

        Parameters
        ----------
        flavour : {"pandas", "polars", "arrow"}, optional
            Kind of frame; by default that of the user. For a file it is pandas if it is installed, else polars, else
            pyarrow.

        Returns
        -------
        frame
            Column names and types are those of the user's frame. For a file, text is text (no categories), dates and
            times are dates and times, and numbers have the types of ``pandas.read_csv``.

        Raises
        ------
        CallError
            If the flavour is unknown.
        MissingPackageError
            If its library is not installed.
        """
        flavour = flavour or self.frame_flavour
        check_choice("flavour", flavour, get_args(Flavour))
        if flavour != "arrow" and find_spec(flavour) is None:
            raise MissingPackageError(
                f"a {flavour} frame was asked for and {flavour} is not installed; ask for 'arrow'"
            )
        like = self.like if self.flavour == flavour else None
        return make_frame({name: self.column(name) for name in self.names}, like, flavour)

    @commands_shown
    def __repr__(self) -> str:
        return f"Source: {self.label} ({self.num_rows} records), columns {', '.join(self.names)}"

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def require(self, name: str) -> None:
        """Check that a column exists.

        Raises
        ------
        CallError
            If it does not; similar names are listed.
        """
        if name not in self._known:
            raise CallError(f"{self.label} has no column {name!r}{near_matches(str(name), self.names)}")

    def column(self, name: str) -> pa.ChunkedArray:
        """Return the column's values, one per record."""
        self.require(name)
        with overheard() as heard:
            values = self.fetch(name)
        self.keep(heard, [name])
        return values

    def is_file_of(self, other: Source) -> bool:
        """Whether both are the same file, perhaps by two names."""
        if self.fetch is other.fetch or not (self.path and other.path):
            return self.fetch is other.fetch
        one, two = ([os.stat(path) for path in source.parts or (str(source.path),)] for source in (self, other))
        return {(file.st_dev, file.st_ino) for file in one} == {(file.st_dev, file.st_ino) for file in two}

    def part(self, records: NDArray[np.intp], label: str | None = None) -> Source:
        """Some records, as a file of its own; what of it is coded is taken from the whole.

        Parameters
        ----------
        records
            Their positions; one may occur more than once.
        label
            What messages call the part; by default what they call the whole.
        """

        def of_part(whole: Fetch | None) -> Fetch | None:
            return None if whole is None else lambda name: whole(name).take(pa.array(records))

        read: dict[str, Any] = {name: of_part(getattr(self, name)) for name in ("native", "written")}
        read |= {"batches": None, "parts": (), "distributed": None}
        fetch = DerivedColumns(self, records)
        return replace(self, label=label or self.label, path=None, num_rows=len(records), fetch=fetch, **read)

    def drawn(self, n: int) -> Source:
        """So many of the records, whose columns are known elsewhere and cannot be read."""

        def fetch(name: str) -> pa.ChunkedArray:
            raise DataError(
                f"{self.label}: of the records that were drawn for a model only the keys and the target are here, not "
                f"{name!r}; write a sample of the records to a Parquet file and measure that"
            )

        read: dict[str, Any] = dict.fromkeys(("path", "native", "written", "batches", "distributed"))
        return replace(self, num_rows=n, fetch=fetch, parts=(), **read)

    def keep(self, heard: Iterable[UnveilWarning], columns: Iterable[str] = ()) -> None:
        """Remember warnings while the file, or some of its columns, was read."""
        for one in heard:
            remark = Remark(one.text, one.columns or tuple(columns))
            if remark not in self.remarks:
                self.remarks.append(remark)

    def remarks_on(self, columns: Iterable[str]) -> list[str]:
        """Return the warnings about the file as a whole and about some columns."""
        chosen = set(columns)
        return [one.text for one in self.remarks if not one.columns or chosen.intersection(one.columns)]

    def variable(self, name: str) -> Variable:
        """Return the declaration of the column; an empty declaration if there is none."""
        return self.variables.get(name, Variable(name))


@dataclass(frozen=True, eq=False)
class DerivedColumns:
    """Function from a column name to the column of a file that is made from another one.

    Parameters
    ----------
    source
        The other file.
    records
        Positions of its records; None for all as they are.
    columns
        Columns in the place of its own, by name.
    """

    source: Source
    records: NDArray[np.intp] | None = None
    columns: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)

    def __call__(self, name: str) -> pa.ChunkedArray:
        if name in self.columns:
            return self.columns[name]
        column = self.source.column(name)
        return column if self.records is None else column.take(pa.array(self.records))
