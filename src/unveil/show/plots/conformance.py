"""Drawings of the readings of measures along the worlds of a trial."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from unveil._conformance.result import Conformance
from unveil.errors import CallError
from unveil.show.plots.axes import BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, YELLOW, finished, pyplot

_COLOURS = (BLUE, VERMILION, GREEN, PINK, SKY, ORANGE, YELLOW)
_MARKERS = "osD^vP*"
_GREY = "#555555"
_ACROSS = 3


def plot_trials(found: Conformance, trial: str | None, axes: Any) -> Any:
    """Mean readings with their standard errors, and what is learnt in grey; failing measures drawn with full lines."""
    names = [one.name for one in found.trials]
    if trial is not None and trial not in names:
        raise CallError(f"trial {trial!r} was not run; there are {'; '.join(names)}")
    chosen = names if trial is None else [trial]
    if axes is None:
        axes = _grid(len(chosen))
    places = list(np.ravel(axes))
    if len(places) < len(chosen):
        raise CallError(f"{len(chosen)} trials need as many axes, not {len(places)}")
    for name, ax in zip(chosen, places, strict=False):
        _draw(found, name, ax)
    for ax in places[len(chosen) :]:
        ax.set_axis_off()
    places[0].legend(frameon=False, fontsize="x-small")
    return places[0] if trial is not None else axes


def _grid(n: int) -> Any:
    across = min(n, _ACROSS)
    down = -(-n // across)
    return pyplot().subplots(down, across, figsize=(4.2 * across, 3.4 * down), layout="constrained", squeeze=False)[1]


def _draw(found: Conformance, trial: str, ax: Any) -> None:
    rows = [e for e in found.evidence if e.trial == trial]
    x = np.arange(len(rows[0].worlds))
    ax.plot(x, rows[0].gains, color=_GREY, linewidth=3, alpha=0.4, marker="_", label="what is learnt")
    for i, row in enumerate(rows):
        failed = row.verdict == "fail"
        ax.errorbar(
            x, row.means, yerr=row.standard_errors, color=_COLOURS[i % len(_COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)], markersize=4, linewidth=1.4 if failed else 0.9,
            linestyle="-" if failed else ":", label=row.measure,
        )  # fmt: skip
    ax.set_xticks(x, [textwrap.fill(label, 14) for label in rows[0].worlds], fontsize="x-small")
    ax.margins(x=0.15)
    finished(ax, "", "reading")
    ax.set_title(textwrap.fill(f"{rows[0].desideratum}: {trial} ({rows[0].requirement})", 42), fontsize="small")
