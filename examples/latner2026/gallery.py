"""Figures and page of Latner, Neunhoeffer & Drechsler (2026 draft), from the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples import drawing
from examples.latner2026.compute import THEIRS
from examples.paper import Row, compared_tables, count, made, markdown, read_compared, read_rows

DESIDERATA = ("D1", "D2", "D3", "D4", "D5")
VERDICTS = {"pass": drawing.SKY, "undecided": "#EEEEEE", "fail": drawing.ORANGE}
PUBLISHED = {
    "repU": "fail, open, open, fail, fail", "DiSCO": "fail, fail, open, fail, fail",
    "DCAP": "partial, pass, partial, fail, partial", "membership": "pass, pass, pass, partial, partial",
    "Bayesian": "pass, pass, pass, pass, pass",
}  # fmt: skip
"""The draft's table, D1 to D5."""


def figures(results: Path) -> dict[str, Any]:
    """All figures by name."""
    return {
        "key_sets": _key_sets(read_rows(results / "key_sets.csv", ["keys"])),
        "minbucket": _minbuckets(read_rows(results / "minbuckets.csv", ["measure"])),
        "desiderata": _desiderata(read_rows(results / "desiderata.csv", ["measure", *DESIDERATA])),
    }


def _key_sets(rows: Sequence[Row]) -> Any:
    figure, axes = drawing.subplots(1, 2, size=(9, 3.8), sharex=True)
    for ax, name in zip(axes, ("repU", "DiSCO"), strict=True):
        for size in range(1, 5):
            own = [row for row in rows if row["size"] == size]
            label = f"{size} key{'s' if size > 1 else ''} ({len(own)} sets)"
            ax.scatter([row["combinations"] for row in own], [row[name] for row in own], s=18,
                       color=drawing.COLOURS[size - 1], alpha=0.8, label=label)  # fmt: skip
        ax.set(xlabel="combinations of keys in the original", ylabel=f"{name}, original records")
        drawing.percent(ax.yaxis)
    drawing.legend(axes[1])
    drawing.plain(axes)
    return figure


def _minbuckets(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(7, 3.8))
    for name, colour in (("percent novel", drawing.GREY), ("repU", drawing.BLUE), ("DiSCO", drawing.ORANGE)):
        own = [row for row in rows if row["measure"] == name]
        label = "novel combinations" if name == "percent novel" else name
        ax.errorbar([row["minbucket"] for row in own], [row["mean"] for row in own], [row["sd"] for row in own],
                    color=colour, marker="o", markersize=4, capsize=2, label=label)  # fmt: skip
    ax.set_xscale("log")
    ticks = sorted({row["minbucket"] for row in rows})
    ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="minbucket: records of the smallest leaf", ylabel="percent", ylim=(0, 65))
    drawing.percent(ax.yaxis)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _desiderata(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(6, 3.4))
    for y, row in enumerate(rows):
        for x, name in enumerate(DESIDERATA):
            ax.add_patch(_square(x, y, VERDICTS[row[name]]))
            ax.text(x, y, row[name], ha="center", va="center", fontsize="small")
    ax.set_xticks(range(5), DESIDERATA)
    ax.set_yticks(range(len(rows)), [row["measure"] for row in rows])
    ax.set(xlim=(-0.5, 4.5), ylim=(len(rows) - 0.5, -0.5))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def _square(x: float, y: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=colour, linewidth=0)


# ----------------------------------------------------------------------------------------------------------- page
def page(results: Path) -> str:
    """The page of the gallery."""
    costs = read_rows(results / "costs.csv", ["variables", "structure"])
    desiderata = read_rows(results / "desiderata.csv", ["measure", *DESIDERATA])
    parts = [
        "# Latner, Neunhoeffer & Drechsler (2026 draft): tables and figures",
        f"{made(results)} [How to run it](README.md). The draft's releases are not distributed: all releases are "
        "drawn here.",
        "## The key sets",
        "![repU and DiSCO of the key sets](key_sets.svg)",
        "Sets of one to four of the keys, target depress, means of five releases. What a set discloses follows from "
        "how many combinations it has.",
        "## The minbucket table",
        "![measures against minbucket](minbucket.svg)",
        "Means of five releases for each minbucket, and their standard deviation. Larger leaves make more novel "
        "combinations; repU hardly moves.",
        "## The cost table",
        _costs(costs),
        "Theirs simulates each world; here the posterior is computed, all variables of one record of 1000 being "
        "unknown. *exact*: the trees follow the record; *fixed*: they are held as fitted.",
        "## D1 to D5",
        "![verdicts](desiderata.svg)",
        "Decided by trials in which it is known what an intruder learns ([conformance](../../docs/conformance.md)); "
        "the draft argues:",
        markdown(["as published", *DESIDERATA], [[name, *text.split(", ")] for name, text in PUBLISHED.items()]),
        _beside(desiderata),
    ]  # fmt: skip
    if (results / "compared.csv").exists():
        compared = read_compared(results)
        parts += ["## Printed against computed", count(compared), compared_tables(compared)]
    return "\n\n".join(parts) + "\n"


def _costs(rows: Sequence[Row]) -> str:
    lines = [
        [row["variables"], f"{row['worlds']:,.0f}".replace(",", " "), THEIRS[row["variables"]],
         f"{row['seconds']:.2f} s ({row['structure']})"]
        for row in rows
    ]  # fmt: skip
    return markdown(["what is unknown", "worlds", "by simulation, as printed", "here, CPU time"], lines)


def _beside(rows: Sequence[Row]) -> str:
    ours = {row["measure"]: row for row in rows}
    other = [
        f"{name} {one} ({published} there, {ours[name][one]} here)"
        for name, text in PUBLISHED.items()
        for one, published in zip(DESIDERATA, text.split(", "), strict=True)
        if published in ("pass", "fail") and published != ours[name][one]
    ]
    if not other:
        return "Every pass and every fail that they state is found here."
    return (
        f"Where they state a pass or a fail, the trials disagree in: {'; '.join(other)}. Why: "
        "[conformance](../../docs/conformance.md#the-table)."
    )
