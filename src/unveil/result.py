"""What all results share: how they are shown, frames in the flavour that came in, and tables of text."""

from __future__ import annotations

import importlib.util
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from unveil.errors import CallError, MissingPackageError
from unveil.files.source import Flavour
from unveil.plain import Plain
from unveil.printable import one_line, printable

_FLAVOURS = ("pandas", "polars", "arrow")


class Result(Plain):
    """What all results share; each is a frozen dataclass, or a sequence of such.

    A result is put into words and drawn by the room ``unveil.show``, which knows the results; they know of it only the
    names of functions.
    """

    _words: ClassVar[str]
    """The function of ``unveil.show`` that says it all as text; see :func:`drawer`."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values: every attribute by its name, measures as in the documentation."""
        return {name: value for name, value in super().to_dict().items() if name != "flavour"}

    def __str__(self) -> str:
        return printable(drawer(self._words)(self))

    __repr__ = __str__


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
    if flavour not in _FLAVOURS:
        raise CallError(f"unknown flavour {flavour!r}; choose from {', '.join(_FLAVOURS)}")
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
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


def paragraph(*sentences: str, width: int = 100) -> str:
    """Sentences as one paragraph of lines no longer than the width."""
    return textwrap.fill(printable(" ".join(sentences)), width, break_long_words=False, break_on_hyphens=False)


def warnings_in_words(texts: Iterable[str]) -> list[str]:
    """A paragraph per warning.

    Examples
    --------
    >>> warnings_in_words(["few records"])
    ['Warning: few records.']
    """
    return [paragraph(f"Warning: {text}" + "." * (not text.endswith("."))) for text in texts]


def text_table(header: Sequence[str], rows: Sequence[Sequence[float | str | None]], digits: int = 2) -> str:
    """Lay out rows under a header: the first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["release", "repU"], [["s1", 14.86], ["s2", 3.5]]))
    release   repU
    s1       14.86
    s2        3.50
    """
    cells = [[one_line(number(v, digits)) for v in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def without_nan(value: Any) -> Any:
    """JSON has no NaN and no infinity: what is not defined is null.

    Examples
    --------
    >>> without_nan({"DiSCO": [9.5, float("nan")]})
    {'DiSCO': [9.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
