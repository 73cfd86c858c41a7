"""Drawings of the table measures. Each function draws one result on matplotlib axes and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.curve import CapCurve
from unveil._tables.identity import IdentityRisk
from unveil._tables.key_sets import KeySets
from unveil._tables.ladder import Ladder
from unveil._tables.structure import Structure
from unveil.errors import CallError
from unveil.show.plots.axes import as_written, axes_for, without_frame
from unveil.stats import called

# Okabe & Ito 2008: told apart by readers with any colour vision, and in grey.
_ORIGINAL, _RELEASE, _OTHER = "#0072B2", "#D55E00", "#999999"
_SIZES = ("#56B4E9", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#000000")


_PERCENT = (-2, 102)
"""Limits that leave room for marks at 0 and 100."""


def plot_targets(risks: Sequence[AttributeRisk], *, ax: Any = None) -> Any:
    """Per target a dot for the original (Dorig), one for the releases' mean (DiSCO), and the releases' interval."""
    ordered = sorted(risks, key=lambda risk: risk.mean["DiSCO"])
    ax = axes_for(ax, height=1.4 + 0.35 * len(ordered))
    released = "release (DiSCO)" if len(ordered[0].labels) == 1 else "releases' mean (DiSCO)"
    for y, risk in enumerate(ordered):
        original, release = risk.mean["Dorig"], risk.mean["DiSCO"]
        spans = [interval["DiSCO"] for interval in risk.intervals()]
        ax.plot([release, original], [y, y], color="#DDDDDD", linewidth=2, zorder=1)
        ax.plot(
            [min(s[0] for s in spans), max(s[1] for s in spans)],
            [y, y],
            color=_RELEASE,
            linewidth=5,
            alpha=0.35,
            zorder=2,
            label=called("release") if y == 0 else None,
        )
        ax.scatter(
            [original],
            [y],
            facecolors="white",
            edgecolors=_ORIGINAL,
            linewidths=1.8,
            s=60,
            zorder=3,
            label="original (Dorig)" if y == 0 else None,
        )
        ax.scatter([release], [y], color=_RELEASE, marker="D", zorder=4, s=22, label=released if y == 0 else None)
    ax.set_yticks(range(len(ordered)), [_marked(risk) for risk in ordered])
    ax.set_xlim(*_PERCENT)
    ax.set_ylim(-0.6, len(ordered) + 0.2)
    ax.set_xlabel("percent of original records disclosed")
    ax.set_title(f"keys: {_keys(ordered[0].keys)}", fontsize="medium")
    _legend_above(ax)
    return without_frame(ax)


def _marked(risk: AttributeRisk) -> str:
    checks = [name for name, found in (("1-way", any(risk.check_1way)), ("2-way", any(risk.check_2way))) if found]
    name = as_written(risk.target)
    return f"{name} ({', '.join(checks)} check)" if checks else name


def plot_cap_curve(curve: CapCurve, *, ax: Any = None) -> Any:
    """CAP(tau) against tau, a line per release."""
    ax = axes_for(ax)
    many = len(curve.releases) > 1
    for label, values in zip(curve.labels, curve.releases, strict=True):
        ax.step(
            curve.taus,
            values,
            where="pre",
            color=_RELEASE,
            alpha=0.6 if many else 1,
            label=None if many else as_written(label),
        )
    ax.set_xlim(0, 1)
    highest = max(values[0] for values in curve.releases)
    ax.set_ylim(0, 1.15 * highest if highest else 1)
    ax.set_xlabel("tau: least share of the guessed level among synthetic records with the same keys")
    ax.set_ylabel("CAP(tau), percent of original records")
    ax.set_title(
        f"{as_written(curve.target)}; keys: {_keys(curve.keys)}"
        + (f"; {len(curve.releases)} releases" if many else ""),
        fontsize="medium",
    )
    for name, x, at, side in (("DCAPd", 0, 0, "left"), ("DiSCO", 1, -1, "right")):
        top = max(values[at] for values in curve.releases)
        ax.annotate(name, (x, top), xytext=(0, 4), textcoords="offset points", ha=side)
    return without_frame(ax)


def plot_key_sets(sets: KeySets, *, ax: Any = None, measure: str = "repU") -> Any:
    """A measure of each key set against its number of combinations in the original, coloured by number of keys."""
    if measure not in sets.sets[0].measures:
        raise CallError(f"key sets have no measure {measure!r}; choose from {', '.join(sets.sets[0].measures)}")
    ax = axes_for(ax)
    for size in sorted({len(s.keys) for s in sets.sets}):
        chosen = [s for s in sets.sets if len(s.keys) == size]
        ax.scatter(
            [s.combinations for s in chosen],
            [s.measures[measure] for s in chosen],
            color=_SIZES[(size - 1) % len(_SIZES)],
            label=f"{size} key{'s' if size > 1 else ''}",
            s=18,
            clip_on=False,
        )
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("number of key combinations in the original (log scale)")
    ax.set_ylabel(f"{measure}, percent of original records")
    ax.set_title(
        f"sets of {_keys(sets.keys)}" + (f"; target {as_written(sets.target)}" if sets.target else ""),
        fontsize="medium",
    )
    ax.legend(frameon=False)
    return without_frame(ax)


def plot_identity(risk: IdentityRisk, *, ax: Any = None) -> Any:
    """A dot per measure and release."""
    ax = axes_for(ax, height=2.6)
    names = ("repU", "UiOiS", "UiS", "UiO")
    for y, name in enumerate(names):
        values = [r[name] for r in risk.releases]
        ax.scatter(values, [y] * len(values), color=_RELEASE if name == "repU" else _OTHER, zorder=2)
    words = ("repU: unique in both", "UiOiS: unique, and found", "UiS: unique in release", "UiO: unique in original")
    ax.set_yticks(range(len(names)), words)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlim(*_PERCENT)
    ax.set_xlabel("percent (UiS of synthetic records, the others of original records)")
    ax.set_title(f"keys: {_keys(risk.keys)}", fontsize="medium")
    return without_frame(ax)


def plot_structure(structure: Structure, *, ax: Any = None) -> Any:
    """Per release, percent of original combinations kept and percent of synthetic ones that are novel."""
    ax = axes_for(ax, height=1.6 + 0.4 * len(structure.labels))
    for y, release in enumerate(structure.releases):
        ax.barh(
            y - 0.2,
            release["combinations_preserved"],
            height=0.36,
            color=_ORIGINAL,
            label="original kept" if y == 0 else None,
        )
        ax.barh(
            y + 0.2,
            release["percent_novel"],
            height=0.36,
            color=_RELEASE,
            label="synthetic novel" if y == 0 else None,
        )
    ax.set_yticks(range(len(structure.labels)), [as_written(label) for label in structure.labels])
    ax.set_ylim(len(structure.labels) - 0.4, -1.2)
    ax.set_xlim(*_PERCENT)
    ax.set_xlabel("percent of key combinations")
    ax.set_title(f"keys: {_keys(structure.keys)}", fontsize="medium")
    _legend_above(ax)
    return without_frame(ax)


def plot_ladder(ladder: Ladder, *, ax: Any = None) -> Any:
    """Per measure the mean of the releases with its interval, and a mark for each baseline."""
    ax = axes_for(ax, height=3.0)
    names = ("repU", "DCAPd", "DiSCO")
    for y, name in enumerate(names):
        rung = ladder.mean[name]
        first = name == "DiSCO"
        ax.plot(rung.interval, [y, y], color=_RELEASE, linewidth=6, alpha=0.35, solid_capstyle="butt",
                label=called("release", ladder.level) if first else None)  # fmt: skip
        ax.plot([rung.null_mean, rung.null_95], [y - 0.18] * 2, color=_OTHER, linewidth=5, solid_capstyle="butt",
                label="shuffled (mean to 95 %)" if first else None)  # fmt: skip
        for value, marker, colour, label in (
            (rung.value, "D", _RELEASE, "release"), (rung.margin, "v", _OTHER, "margin"),
            (rung.held_out, "s", "#009E73", "held out"), (rung.ceiling, "o", _ORIGINAL, "original itself"),
        ):  # fmt: skip
            if value == value:
                ax.scatter([value], [y], marker=marker, color=colour, zorder=3, s=30, label=label if first else None)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlim(*_PERCENT)
    ax.set_ylim(-0.6, len(names) + 0.4)
    ax.set_xlabel("percent of records")
    ax.set_title(f"{as_written(ladder.target)}; keys: {_keys(ladder.keys)}", fontsize="medium")
    _legend_above(ax)
    return without_frame(ax)


def _legend_above(ax: Any) -> None:
    """A legend in the strip above the uppermost row, where it covers nothing.

    Long names of rows leave little room for the axes: where they are alone in the figure, the legend has its width.
    """
    from matplotlib.transforms import blended_transform_factory

    across = ax.figure.transFigure if ax.figure.axes == [ax] else ax.transAxes
    legend = ax.legend(
        loc="upper center", ncols=3, fontsize="small", columnspacing=1.2, borderpad=0, bbox_to_anchor=(0.5, 1.0),
        bbox_transform=blended_transform_factory(across, ax.transAxes), facecolor=ax.get_facecolor(), edgecolor="none",
        framealpha=1,
    )  # fmt: skip
    legend.set_in_layout(False)


def _keys(keys: Sequence[str]) -> str:
    return as_written(", ".join(keys))
