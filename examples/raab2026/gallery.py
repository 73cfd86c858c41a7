"""Figures and page of Raab, Nowok & Dibben (2026), from the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples import drawing
from examples.paper import Row, compared_tables, count, made, markdown, read_compared, read_rows

FORMULAS = {"DCAP": "Σ ps_tq d_tq", "TCAP": "Σ d_tq [ps_tq = 1]"}
BELOW = {
    "N_d": "N_d, original records",
    "N_s": "N_s, released records",
    "N_b": "N_b, released records whose keys are in the original",
    "DiS": "N_bp, original records whose keys are disclosive in the release",
}
SHOWN = {
    "DiSCO": drawing.ORANGE, "DCAPd": drawing.BLUE, "TCAP": drawing.GREEN, "DCAPb": drawing.SKY, "TCAPb": drawing.PINK,
    "DCAPs": drawing.BLACK, "TCAPs": drawing.GREY,
}  # fmt: skip
ADJUSTED = ("DiSCO", "DCAPd")
"""Measures over original records, which fewer released records cannot inflate."""


def figures(results: Path) -> dict[str, Any]:
    """Figures 1 to 3 by name."""
    rows = read_rows(results / "targets.csv", ["target", "one_way"])
    sizes = read_rows(results / "sizes.csv", ["target"])
    drawn = {"figure_1": _targets(rows), "figure_2": _sizes(sizes), "figure_3": _checks(rows)}
    if (results / "adult.csv").exists():
        drawn["table_3"] = _adult(read_rows(results / "adult.csv", ["target", "column"]))
    return drawn


def _targets(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(7, 3.6))
    for y, row in enumerate(rows):
        ax.plot([row["low"], row["high"]], [y, y], color=drawing.ORANGE, linewidth=6, alpha=0.3, solid_capstyle="butt")
        ax.plot([row["DiSCO"], row["Dorig"]], [y, y], color="#DDDDDD", linewidth=2, zorder=0)
    at = range(len(rows))
    ax.scatter([row["Dorig"] for row in rows], at, facecolor="white", edgecolor=drawing.BLUE, s=60, linewidth=1.8,
               label="original (Dorig)", zorder=3)  # fmt: skip
    ax.scatter([row["DiSCO"] for row in rows], at, color=drawing.ORANGE, marker="D", s=30, zorder=3,
               label="release (DiSCO), 95 % interval")  # fmt: skip
    ax.set_yticks(at, [row["target"] for row in rows])
    ax.set(xlim=(0, 100), xlabel="original records disclosed")
    drawing.percent(ax.xaxis)
    drawing.legend(ax, loc="lower right", bbox_to_anchor=None)
    drawing.plain(ax)
    return figure


def _sizes(rows: Sequence[Row]) -> Any:
    targets = list(dict.fromkeys(row["target"] for row in rows))
    figure, axes = drawing.subplots(1, len(targets), size=(10, 4), sharey=True)
    for ax, target in zip(axes, targets, strict=True):
        own = [row for row in rows if row["target"] == target]
        for name, colour in SHOWN.items():
            style = "-" if name in ADJUSTED else "--" if name == "TCAP" else ":"
            ax.plot([row["k"] for row in own], [row[name] for row in own], style, color=colour, label=name, marker="o",
                    markersize=3)  # fmt: skip
        ax.set_title(target, fontsize="medium")
        ax.set_xlabel("released records k")
        ax.set_xlim(0, 5200)
    axes[0].set_yscale("log")
    axes[0].set_yticks([1, 2, 5, 10, 20, 50, 100])
    axes[0].set_ylim(1, 100)
    axes[0].minorticks_off()
    axes[0].set_ylabel("measure, logarithmic axis")
    drawing.percent(axes[0].yaxis)
    drawing.legend(axes[-1])
    drawing.plain(axes)
    return figure


def _checks(rows: Sequence[Row]) -> Any:
    figure, axes = drawing.subplots(1, 2, size=(9, 3.4), sharey=True)
    for ax, name, title in zip(axes, ("Dorig", "DiSCO"), ("original (Dorig)", "release (DiSCO)"), strict=True):
        for y, row in enumerate(rows):
            flagged = row["one_way"] or row["pairs"]
            before, after = row[name], row[f"{name}_after"]
            ax.barh(y, before, color="#DDDDDD", label=None if y else "all records")
            ax.barh(y, after, color=drawing.ORANGE if flagged else drawing.PALE, height=0.5)
            changed = f"{before:.1f} → {after:.1f} %" if flagged else f"{before:.1f} %"
            ax.text(before + 1, y, changed, va="center", fontsize="small")
        ax.set_title(title, fontsize="medium")
        ax.set(xlim=(0, 125), xlabel="original records disclosed", xticks=range(0, 101, 20))
        drawing.percent(ax.xaxis)
    axes[0].set_yticks(range(len(rows)), [_flagged(row) for row in rows])
    drawing.plain(axes)
    return figure


def _flagged(row: Row) -> str:
    checks = [f"1-way: {row['one_way']}"] if row["one_way"] else []
    checks += [f"2-way: {row['pairs']:.0f} pairs"] if row["pairs"] else []
    return f"{row['target']}\n({', '.join(checks)})" if checks else row["target"]


def _adult(rows: Sequence[Row]) -> Any:
    columns = list(dict.fromkeys(row["column"] for row in rows))
    targets = list(dict.fromkeys(row["target"] for row in rows))
    figure, axes = drawing.subplots(1, 2, size=(10, 4.5), sharey=True)
    for ax, name in zip(axes, ("Dorig", "DiSCO"), strict=True):
        for column, colour in zip(columns, drawing.COLOURS, strict=False):
            values = [row[name] for row in rows if row["column"] == column]
            ax.scatter(values, range(len(targets)), color=colour, s=26, alpha=0.8, label=column)
        ax.set(xlabel=f"{name}, original records", xlim=(-1, 32))
        drawing.percent(ax.xaxis)
        ax.grid(axis="y", color="#EEEEEE")
        ax.set_axisbelow(True)
    axes[0].set_yticks(range(len(targets)), targets)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False,
                  fontsize="small")  # fmt: skip
    drawing.plain(axes)
    return figure


# ----------------------------------------------------------------------------------------------------------- page
def page(results: Path) -> str:
    """The page of the gallery."""
    parts = [
        "# Raab, Nowok & Dibben (2026): tables and figures",
        f"{made(results)} [How to run it](README.md).",
        "## Table 1: what the CAP measures divide",
        "Target depress, keys sex, age, region and size of place, a release of 1000 records: all denominators differ. "
        "Numerators and denominators are counted by the example; the last column is what `unveil.attribute` gives.",
        _table_1(read_rows(results / "table_1.csv", ["measure", "denominator"])),
        "## Table 2: three targets, means of five releases",
        _table_2(read_rows(results / "table_2.csv", ["target"])),
        "Income in 20 groups, with -8 as a special code. Each number beside the printed one: "
        "[below](#table-2-means-of-five-releases)."
        if _compared(results)
        else "Income in 20 groups.",
        "## Figure 1: every target of the first release",
        "![Dorig and DiSCO of each target](figure_1.svg)",
        "The interval is over other records of the same population, with the release kept.",
        "## Figure 2: the measures against the number of released records",
        "![measures against k](figure_2.svg)",
        _sizes_said(read_rows(results / "sizes.csv", ["target"])),
        "For a file of your own: `unveil.size_sweep`.",
        "## Figure 3: what the checks flag, and what exclusions change",
        "![targets before and after exclusions](figure_3.svg)",
        "Orange targets are flagged. Left out is the level that the one-way check names, else all pairs that the "
        "two-way check lists. Grey: before.",
    ]
    if (results / "adult.csv").exists():
        rows = read_rows(results / "adult.csv", ["target", "column"])
        parts += ["## Table 3: Adult under exclusions", "![Dorig and DiSCO of Adult](table_3.svg)", _table_3(rows)]
    if _compared(results):
        rows = read_compared(results)
        parts += ["## Printed against computed", count(rows), compared_tables(rows)]
    return "\n\n".join(parts) + "\n"


def _compared(results: Path) -> bool:
    return (results / "compared.csv").exists()


def _table_1(rows: Sequence[Row]) -> str:
    lines = [
        [row["measure"], FORMULAS[row["measure"][:4]], f"{row['numerator']:.1f}", BELOW[row["denominator"]],
         f"{row['records']:.0f}", f"{row['percent']:.2f}", f"{row['package']:.2f}"]
        for row in rows
    ]  # fmt: skip
    return markdown(
        ["measure", "numerator", "counted", "denominator", "counted", "ratio, percent", "`unveil.attribute`"], lines
    )


def _table_2(rows: Sequence[Row]) -> str:
    names = list(SHOWN)
    return markdown(["target, percent", *names], [[r["target"], *(f"{r[name]:.2f}" for name in names)] for r in rows])


def _sizes_said(rows: Sequence[Row]) -> str:
    ends = {
        end: [row for row in rows if row["k"] == end] for end in (min(r["k"] for r in rows), max(r["k"] for r in rows))
    }
    small, large = ends
    changed = markdown(
        ["measure", *(f"{row['target']}, k = {k:.0f}" for row in ends[small] for k in (small, large))],
        [
            [name, *(f"{row[name]:.2f}" for pair in zip(*ends.values(), strict=True) for row in pair)]
            for name in SHOWN
        ],
    )  # fmt: skip
    return (
        "Means of five releases of each size, drawn here: the paper's own are not distributed, and it prints no "
        "numbers of this figure. Solid: measures over all original records, which fewer released records lower. "
        "TCAP hardly depends on k; dotted measures divide original by released records and rise as these become fewer, "
        f"though the intruder learns less.\n\n{changed}"
    )


def _table_3(rows: Sequence[Row]) -> str:
    columns = list(dict.fromkeys(row["column"] for row in rows))
    cells = {(row["target"], row["column"]): row for row in rows}
    lines = [
        [
            target,
            *(
                f"{one['DiSCO']:.2f} ({one['least']:.2f} to {one['most']:.2f})"
                for c in columns
                if (one := cells[target, c])
            ),
        ]
        for target in dict.fromkeys(row["target"] for row in rows)
    ]
    return (
        "The paper's releases of Adult are not distributed. DiSCO is of five releases drawn here (mean, least and "
        "most), without a printed number beside it; Dorig depends on the original alone and stands "
        "[beside the printed numbers](#table-3-adult-dorig-under-exclusions).\n\n"
        f"{markdown(['DiSCO, percent', *columns], lines)}"
    )
