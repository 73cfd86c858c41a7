"""What all drawings share: axes of one width, without a frame, and names as they are written."""

from __future__ import annotations

import importlib
from typing import Any

from unveil.errors import MissingPackageError
from unveil.printable import one_line


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
    """What makes figures: the module ``matplotlib.pyplot``.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingPackageError("plots need matplotlib: pip install 'unveil[plot]'") from None


def without_frame(ax: Any) -> Any:
    """The axes without the lines above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def as_written(name: str) -> str:
    """A name as it is written: matplotlib would set what stands between two dollar signs as mathematics.

    Examples
    --------
    >>> as_written("cost in $")
    'cost in \\\\$'
    """
    return one_line(name).replace("$", r"\$")
