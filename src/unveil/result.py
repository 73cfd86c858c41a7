"""What all results share: plain values, frames, and the way to their words and drawings; tables of text."""

from __future__ import annotations

import importlib.util
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar, overload

import pyarrow as pa

from unveil.checks import check_choice
from unveil.errors import MissingPackageError
from unveil.files.source import Flavour
from unveil.notebook import as_html, paragraph_as_html, table_as_html
from unveil.plain import Plain
from unveil.printable import one_line, printable

_FLAVOURS = ("pandas", "polars", "arrow")
Row = Sequence[float | str | None]
"""A row of a printed table."""
_unit: ContextVar[tuple[str, ...]] = ContextVar("unit", default=())
_RECORD = re.compile(r"(?<![\w'])record(?=s?(?![\w']))")


class Result(Plain):
    """Base of the results: a frozen data class, or a sequence of results.

    The room ``unveil.show`` puts results into words and draws them. It imports the results; a result knows two names of
    functions there.
    """

    _words: ClassVar[str]
    """Name of the function in ``unveil.show`` that returns the result as text; see :func:`drawer`."""
    _drawing: ClassVar[str]
    """Name of the function in ``unveil.show`` that draws the result."""
    flavour: Flavour
    """Kind of frame of the original, and of the frames that the result gives."""
    unit: tuple[str, ...] = ()
    """The columns that name the units that figures count; none where they count records."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values: every attribute by its name, measures as in the documentation."""
        left_out = ("flavour",) if self.unit else ("flavour", "unit")
        return {name: value for name, value in super().to_dict().items() if name not in left_out}

    def to_frame(self, flavour: Flavour | None = None) -> Any:
        """The figures as a frame, by default of the same kind as the original."""
        return self._frame(self._columns(), flavour)

    def _columns(self) -> Mapping[str, Any]:
        """Columns of equal length for :meth:`to_frame`."""
        raise NotImplementedError

    def _frame(self, columns: Mapping[str, Any], flavour: Flavour | None) -> Any:
        return frame(columns, flavour or self.flavour)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result on matplotlib axes, by default on new ones; needs matplotlib."""
        return drawer(self._drawing)(self, ax=ax)

    def __str__(self) -> str:
        return printable(self._in_words())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._in_words)

    def _in_words(self) -> str:
        with counting(self.unit):
            return str(drawer(self._words)(self))


R = TypeVar("R", bound=Result)


class Results(Result, Sequence[R]):
    """Results of several targets that were measured with the same keys; a sequence.

    Parameters
    ----------
    results
        One result per target.
    said
        Warnings that concern no single target.
    """

    def __init__(self, results: Sequence[R], said: Sequence[str] = ()):
        self._results: tuple[Any, ...] = tuple(results)
        self._said = tuple(said)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Results[R]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return type(self)(self._results[index], self._said) if isinstance(index, slice) else self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def unit(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns that name the units that figures count."""
        found: tuple[str, ...] = self._results[0].unit
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of all targets, each once."""
        return self._said_by_all("warnings")

    def _said_by_all(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._said, *(text for one in self._results for text in getattr(one, name))]))

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """The results as plain values: ``keys``, ``targets`` and ``warnings``; options are those of one target."""
        targets = [one.to_dict(**options) for one in self._results]
        return {"keys": list(self._results[0].keys), "targets": targets, "warnings": list(self.warnings)}

    def _columns(self) -> Mapping[str, Any]:
        tables = [one._columns() for one in self._results]
        sizes = [len(next(iter(table.values()))) for table in tables]
        names = dict.fromkeys(name for table in tables for name in table)
        return {
            name: [value for table, size in zip(tables, sizes, strict=True) for value in table.get(name, [None] * size)]
            for name in names
        }

    def _frame(self, columns: Mapping[str, Any], flavour: Flavour | None) -> Any:
        return self._results[0]._frame(columns, flavour)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; None where a row has no value.

    Examples
    --------
    >>> columns_of([{"release": "s1", "repU": 1.5}, {"release": "s2", "DiSCO": 2.0}])
    {'release': ['s1', 's2'], 'repU': [1.5, None], 'DiSCO': [None, 2.0]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def drawer(name: str) -> Callable[..., Any]:
    """The function that draws a result or puts it into words, by its path in the room ``unveil.show``.

    It is loaded when it is first asked for: measuring loads nothing that draws, and no result imports what shows it.

    Examples
    --------
    >>> drawer("plots.axes.as_written")("cost in $")
    'cost in \\\\$'
    """
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"unveil.show.{module}"), function)
    return found


def frame(columns: Mapping[str, Any], flavour: Flavour) -> Any:
    """Build a frame of the given flavour from columns of equal length.

    Raises
    ------
    CallError
        If the flavour is unknown.
    MissingPackageError
        If the flavour's package is not installed.

    Examples
    --------
    >>> frame({"key": ["age"], "repU": [14.9]}, "arrow").to_pydict()
    {'key': ['age'], 'repU': [14.9]}
    """
    check_choice("flavour", flavour, _FLAVOURS)
    return as_frame(pa.table({name: pa.array(values) for name, values in columns.items()}), flavour)


def as_frame(table: pa.Table, flavour: Flavour) -> Any:
    """The same as a frame of the given flavour; see :func:`frame`."""
    check_choice("flavour", flavour, _FLAVOURS)
    if flavour == "arrow":
        return table
    if importlib.util.find_spec(flavour) is None:
        raise MissingPackageError(f"a {flavour} frame was asked for and {flavour} is not installed; ask for 'arrow'")
    import narwhals as nw

    return nw.from_arrow(table, backend=flavour).to_native()


def number(value: float | str | None, digits: int = 2) -> str:
    """A figure as it is printed: fixed digits, and a dash where it is not defined.

    Examples
    --------
    >>> number(14.86), number(float("nan")), number(3), number("age")
    ('14.86', '-', '3', 'age')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return str(value)


def ends(interval: tuple[float, float], digits: int = 2) -> str:
    """An interval as it is printed, and a dash where it is not defined.

    Examples
    --------
    >>> ends((1.5, 2.25)), ends((float("nan"), float("nan")))
    ('1.50 to 2.25', '-')
    """
    low, high = interval
    return "-" if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


@contextmanager
def counting(unit: Sequence[str]) -> Iterator[None]:
    """Say what is counted where words are put together: units that some columns name, or records.

    Examples
    --------
    >>> with counting(["person_id"]):
    ...     print(paragraph("Of 100 records 3 are unique."), counted())
    Of 100 units 3 are unique. units (person_id)
    """
    token = _unit.set(tuple(unit))
    try:
        yield
    finally:
        _unit.reset(token)


def counted() -> str:
    """What is counted: "records", or "units" with the columns that name them."""
    return f"units ({', '.join(_unit.get())})" if _unit.get() else "records"


def in_units(text: str) -> str:
    """A text on records, with the word "unit" where units are counted; names in quotes stay."""
    return _RECORD.sub("unit", text) if _unit.get() else text


def paragraph(*sentences: str, width: int = 100) -> str:
    """Sentences, without empty ones, as lines no longer than the width; a number stays with its percent sign.

    Examples
    --------
    >>> print(paragraph("Of the records 95 % are safe.", width=18))
    Of the records
    95 % are safe.
    """
    return _filled(in_units(" ".join(filter(None, sentences))), width)


def _filled(sentences: str, width: int = 100) -> str:
    text = printable(sentences)
    tied = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    return paragraph_as_html(text) or textwrap.fill(
        tied, width, break_long_words=False, break_on_hyphens=False
    ).replace("\N{NO-BREAK SPACE}%", " %")


def warnings_in_words(texts: Iterable[str]) -> list[str]:
    """A paragraph per warning.

    Examples
    --------
    >>> warnings_in_words(["few records"])
    ['Warning: few records.']
    """
    return [_filled(f"Warning: {text}" + "." * (not text.endswith("."))) for text in texts]


def text_table(header: Sequence[str], rows: Iterable[Row], digits: int = 2) -> str:
    """Lay out rows under a header: the first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["release", "repU"], [["s1", 14.86], ["s2", 3.5]]))
    release   repU
    s1       14.86
    s2        3.50
    """
    cells = [[one_line(number(v, digits)) for v in row] for row in (map(in_units, header), *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return table_as_html(cells) or "\n".join(
        "  ".join(
            v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
