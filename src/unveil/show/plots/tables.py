"""Drawings of the table measures. Each function draws one result on matplotlib axes and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unveil._tables.anonymity import Anonymity
from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.curve import CapCurve
from unveil._tables.identity import IdentityRisk
from unveil._tables.key_sets import KeySets
from unveil._tables.ladder import Ladder
from unveil._tables.structure import Structure
from unveil.checks import check_choice
from unveil.show.plots import axes
from unveil.stats import called

_SIZES = (axes.SKY, axes.BLUE, axes.GREEN, axes.VERMILION, axes.PINK, axes.ORANGE, axes.BLACK)


def plot_targets(risks: Sequence[AttributeRisk], *, ax: Any = None) -> Any:
    """Per target a dot for the original (Dorig), one for the releases' mean (DiSCO), and the releases' interval."""
    ordered = sorted(risks, key=lambda risk: risk.mean["DiSCO"])
    ax = axes.axes_for(ax, height=1.4 + 0.35 * len(ordered))
    released = "release (DiSCO)" if len(ordered[0].labels) == 1 else "releases' mean (DiSCO)"
    for y, risk in enumerate(ordered):
        original, release = risk.mean["Dorig"], risk.mean["DiSCO"]
        lows, highs = zip(*(interval["DiSCO"] for interval in risk.intervals()), strict=True)
        axes.link(ax, y, release, original)
        axes.span(
            ax, y, (min(lows), max(highs)), axes.RELEASE, linewidth=5, alpha=0.35, zorder=2, label=called("release")
        )
        axes.circle(ax, y, original, 3, "original (Dorig)")
        axes.dots(ax, y, [release], axes.RELEASE, marker="D", zorder=4, s=22, label=released)
    axes.rows(ax, [_marked(risk) for risk in ordered])
    ax.set_xlim(*axes.PERCENT)
    ax.set_ylim(-0.6, len(ordered) + 0.2)
    axes.legend_above(ax)
    return axes.finished(ax, "percent of original records disclosed", title=_keys(ordered[0].keys))


def _marked(risk: AttributeRisk) -> str:
    checks = [name for name, found in (("1-way", any(risk.check_1way)), ("2-way", any(risk.check_2way))) if found]
    return f"{risk.target} ({', '.join(checks)} check)" if checks else risk.target


def plot_anonymity(found: Anonymity, *, ax: Any = None) -> Any:
    """Percent of records in classes of at most k records, against k; a line per file."""
    ax = axes.axes_for(ax)
    largest = max((k for sizes in found.sizes for k in sizes), default=1)
    for number, (label, sizes, one) in enumerate(zip(found.labels, found.sizes, found.files, strict=True)):
        ks = list(sizes)
        inside, total = 0, []
        for k in ks:
            inside += k * sizes[k]
            total.append(100 * inside / one["records"])
        color = axes.BLACK if number == 0 else _SIZES[(number - 1) % len(_SIZES)]
        ax.step([1, *ks], [0, *total], where="post", color=color, label=axes.as_written(label))
    ax.set_xscale("log")
    ax.set_xticks([tick for power in range(9) for tick in (10**power, 2 * 10**power, 5 * 10**power) if tick <= largest])
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.xaxis.set_minor_formatter("")
    ax.set_ylim(0, 104)
    axes.legend_above(ax)
    return axes.finished(
        ax, "k: records of one file with the same keys", "percent of records in classes of at most k",
        title=_keys(found.keys),
    )  # fmt: skip


def plot_cap_curve(curve: CapCurve, *, ax: Any = None) -> Any:
    """CAP(tau) against tau, a line per release."""
    ax = axes.axes_for(ax)
    many = len(curve.releases) > 1
    for label, values in zip(curve.labels, curve.releases, strict=True):
        name = None if many else axes.as_written(label)
        ax.step(curve.taus, values, where="pre", color=axes.RELEASE, alpha=0.6 if many else 1, label=name)
    ax.set_xlim(0, 1)
    highest = max(values[0] for values in curve.releases)
    ax.set_ylim(0, 1.15 * highest if highest else 1)
    for name, x, at, side in (("DCAPd", 0, 0, "left"), ("DiSCO", 1, -1, "right")):
        top = max(values[at] for values in curve.releases)
        ax.annotate(name, (x, top), xytext=(0, 4), textcoords="offset points", ha=side)
    across = "tau: least share of the guessed level among synthetic records with the same keys"
    title = f"{curve.target}; {_keys(curve.keys)}" + (f"; {len(curve.releases)} releases" if many else "")
    return axes.finished(ax, across, "CAP(tau), percent of original records", title)


def plot_key_sets(sets: KeySets, *, ax: Any = None, measure: str = "repU") -> Any:
    """A measure of each key set against its number of combinations in the original, coloured by number of keys."""
    check_choice("measure", measure, sets.sets[0].measures)
    ax = axes.axes_for(ax)
    for size in sorted({len(s.keys) for s in sets.sets}):
        chosen = [s for s in sets.sets if len(s.keys) == size]
        x, y = [s.combinations for s in chosen], [s.measures[measure] for s in chosen]
        label = f"{size} key{'s' if size > 1 else ''}"
        ax.scatter(x, y, color=_SIZES[(size - 1) % len(_SIZES)], label=label, s=18, clip_on=False)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    across, up = "number of key combinations in the original (log scale)", f"{measure}, percent of original records"
    title = f"sets of {', '.join(sets.keys)}" + (f"; target {sets.target}" if sets.target else "")
    return axes.finished(ax, across, up, title, legend={})


def plot_identity(risk: IdentityRisk, *, ax: Any = None) -> Any:
    """A dot per measure and release."""
    ax = axes.axes_for(ax, height=2.6)
    names = {
        "repU": "unique in both", "UiOiS": "unique, and found", "UiS": "unique in release",
        "UiO": "unique in original",
    }  # fmt: skip
    for y, name in enumerate(names):
        axes.dots(ax, y, [r[name] for r in risk.releases], axes.RELEASE if name == "repU" else axes.OTHER, zorder=2)
    axes.rows(ax, [f"{name}: {words}" for name, words in names.items()])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlim(*axes.PERCENT)
    across = "percent (UiS of synthetic records, the others of original records)"
    return axes.finished(ax, across, title=_keys(risk.keys))


def plot_structure(structure: Structure, *, ax: Any = None) -> Any:
    """Per release, percent of original combinations kept and percent of synthetic ones that are novel."""
    ax = axes.axes_for(ax, height=1.6 + 0.4 * len(structure.labels))
    for y, release in enumerate(structure.releases):
        ax.barh(y - 0.2, release["combinations_preserved"], height=0.36, color=axes.ORIGINAL, label="original kept")
        ax.barh(y + 0.2, release["percent_novel"], height=0.36, color=axes.RELEASE, label="synthetic novel")
    axes.rows(ax, structure.labels)
    ax.set_ylim(len(structure.labels) - 0.4, -1.2)
    ax.set_xlim(*axes.PERCENT)
    axes.legend_above(ax)
    return axes.finished(ax, "percent of key combinations", title=_keys(structure.keys))


def plot_ladder(ladder: Ladder, *, ax: Any = None) -> Any:
    """Per measure the mean of the releases with its interval, and a mark for each baseline."""
    ax = axes.axes_for(ax, height=3.0)
    names = ("repU", "DCAPd", "DiSCO")
    # From above: the legend follows the uppermost row, which has all marks.
    for y, name in reversed(list(enumerate(names))):
        rung = ladder.mean[name]
        sampled = {"solid_capstyle": "butt", "linewidth": 6, "alpha": 0.35, "label": called("release", ladder.level)}
        axes.span(ax, y, rung.interval, axes.RELEASE, **sampled)
        shuffled = {"solid_capstyle": "butt", "linewidth": 5, "label": "shuffled (mean to 95 %)"}
        axes.span(ax, y - 0.18, (rung.null_mean, rung.null_95), axes.OTHER, **shuffled)
        for value, marker, colour, label in (
            (rung.value, "D", axes.RELEASE, "release"), (rung.margin, "v", axes.OTHER, "margin"),
            (rung.held_out, "s", axes.GREEN, "held out"), (rung.ceiling, "o", axes.ORIGINAL, "original itself"),
        ):  # fmt: skip
            if value == value:
                axes.dots(ax, y, [value], colour, marker=marker, s=30, label=label)
    axes.rows(ax, names)
    ax.set_xlim(*axes.PERCENT)
    ax.set_ylim(-0.6, len(names) + 0.4)
    axes.legend_above(ax)
    return axes.finished(ax, "percent of records", title=f"{ladder.target}; {_keys(ladder.keys)}")


def _keys(keys: Sequence[str]) -> str:
    return f"keys: {', '.join(keys)}"
