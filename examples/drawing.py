"""How the figures of the examples look: light background, percent axes, colours that all readers tell apart."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

# Okabe & Ito 2008: told apart by readers with any colour vision, and in grey.
BLUE, ORANGE, GREEN, PINK, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
BLACK, GREY, PALE = "#000000", "#777777", "#9CC5DE"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, BLACK)


def subplots(rows: int = 1, columns: int = 1, size: tuple[float, float] = (7, 4), **options: Any) -> tuple[Any, Any]:
    """A new figure with its axes, on white, without a window."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    FigureCanvasSVG(figure)
    return figure, figure.subplots(rows, columns, **options)


def plain(axes: Any) -> None:
    """Take away the lines above and to the right."""
    for ax in axes if isinstance(axes, Iterable) else [axes]:
        ax.spines[["top", "right"]].set_visible(False)


def percent(axis: Any, decimals: int = 0) -> None:
    """Write the numbers of an axis as percent; they are shares or percent already."""
    from matplotlib.ticker import PercentFormatter

    largest = max(map(abs, axis.get_view_interval()))
    axis.set_major_formatter(PercentFormatter(1 if largest <= 1.2 else 100, decimals=decimals, symbol=" %"))


def legend(ax: Any, **options: Any) -> None:
    """A legend without a frame, beside the axes unless it is told to be elsewhere."""
    ax.legend(**{"frameon": False, "loc": "center left", "bbox_to_anchor": (1, 0.5), "fontsize": "small"} | options)


def svg(figure: Any, salt: str) -> bytes:
    """The figure as SVG, the same bytes each time."""
    import matplotlib as mpl

    written = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


def bars(ax: Any, names: Sequence[str], groups: dict[str, Sequence[float]], colours: Sequence[str] = COLOURS) -> None:
    """Bars beside each other, a colour for each group."""
    width = 0.8 / len(groups)
    for i, (label, values) in enumerate(groups.items()):
        at = [x + (i - (len(groups) - 1) / 2) * width for x in range(len(names))]
        ax.bar(at, values, width, color=colours[i], label=label)
    ax.set_xticks(range(len(names)), names)
