"""What all drawings share: axes, colours, marks of a row, titles and legends."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from unveil.errors import MissingPackageError
from unveil.printable import one_line

# Okabe & Ito 2008: readers with any colour vision tell them apart, also in grey.
BLUE, VERMILION, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, ORANGE, YELLOW, BLACK = "#56B4E9", "#E69F00", "#F0E442", "#000000"
ORIGINAL, RELEASE, OTHER = BLUE, VERMILION, "#999999"
PALE = "#BBBBBB"
NULL_MARK, MARGIN_MARK, CEILING_MARK = "^", "D", "s"
"""Marks that mean the same in the report: null, guess for everybody, ceiling."""
PERCENT = (-2, 102)
"""Limits that leave room for marks at 0 and 100."""


def axes_for(ax: Any, height: float = 4.0) -> Any:
    """The given matplotlib axes, or new ones of the usual width.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=(7.0, height), layout="constrained")[1]


def pyplot() -> Any:
    """The module ``matplotlib.pyplot``.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingPackageError("plots need matplotlib: pip install 'unveil[plot]'") from None


def span(ax: Any, y: float, ends: Sequence[float], colour: str, **style: Any) -> None:
    """Draw an interval, or a link between two marks, at the height of a row."""
    ax.plot(list(ends), [y, y], color=colour, **style)


def link(ax: Any, y: float, *ends: float) -> None:
    """Join the marks of a row by a pale line behind them."""
    span(ax, y, ends, "#DDDDDD", linewidth=2, zorder=1)


def dots(ax: Any, y: float, values: Sequence[float], colour: str, **style: Any) -> None:
    """Draw marks in a row."""
    ax.scatter(list(values), [y] * len(values), color=colour, **{"zorder": 3} | style)


def circle(ax: Any, y: float, value: float, zorder: int, label: str) -> None:
    """Draw the open circle of the original in a row."""
    ax.scatter([value], [y], facecolors="white", edgecolors=ORIGINAL, linewidths=1.8, s=60, zorder=zorder, label=label)


def rows(ax: Any, names: Sequence[str], **style: Any) -> None:
    """Write the names of rows, the lowest first."""
    ax.set_yticks(range(len(names)), [as_written(name) for name in names], **style)


def finished(ax: Any, x: str, y: str = "", title: str = "", legend: dict[str, Any] | None = None) -> Any:
    """The axes with their texts, without the lines above and to the right.

    Parameters
    ----------
    ax
        The axes.
    x, y, title
        Names of the axes, and what stands above them.
    legend
        Options of the legend; without them there is none. Marks of the same name stand in it once.
    """
    for write, text in ((ax.set_xlabel, x), (ax.set_ylabel, y)):
        if text:
            write(as_written(text))
    if title:
        ax.set_title(as_written(title), fontsize="medium")
    if legend is not None:
        legend_of(ax, **{"frameon": False} | legend)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def in_percent(axis: Any) -> None:
    """Write the shares of an axis as percent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g} %"))


def legend_of(ax: Any, **options: Any) -> Any:
    """A legend in which marks of the same name stand once."""
    marks: dict[str, Any] = {}
    for mark, name in zip(*ax.get_legend_handles_labels(), strict=True):
        marks.setdefault(name, mark)
    return ax.legend(marks.values(), marks.keys(), **options)


def legend_above(ax: Any) -> None:
    """A legend in the strip above the uppermost row, where it covers nothing.

    Long names of rows leave little room for the axes: where they are alone in the figure, the legend has its width.
    """
    from matplotlib.transforms import blended_transform_factory

    across = ax.figure.transFigure if ax.figure.axes == [ax] else ax.transAxes
    legend = legend_of(
        ax, loc="upper center", ncols=3, fontsize="small", columnspacing=1.2, borderpad=0, bbox_to_anchor=(0.5, 1.0),
        bbox_transform=blended_transform_factory(across, ax.transAxes), facecolor=ax.get_facecolor(), edgecolor="none",
        framealpha=1,
    )  # fmt: skip
    legend.set_in_layout(False)


def as_written(name: str) -> str:
    """A name with dollar signs escaped: matplotlib would set text between two of them as mathematics.

    Examples
    --------
    >>> as_written("cost in $")
    'cost in \\\\$'
    """
    return one_line(name).replace("$", r"\$")
