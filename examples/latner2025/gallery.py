"""Figures and page of Latner, Neunhoeffer & Drechsler (2025), from the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examples import drawing
from examples.paper import Row, compared_tables, count, made, markdown, read_compared, read_rows

UNIQUE = "1111"
TEXTS = {
    "cells": ["cell"], "measures": ["release"], "settings": ["setting", "cell"], "worlds": ["setting", "world"],
    "sweeps": ["sweep", "value"], "trees": ["setting", "condition"], "survey": ["releases"],
}  # fmt: skip
"""Results, with their columns of texts."""
WORLDS = {
    "figure_3": "numbers", "worlds_minbucket_75": "minbucket 75", "worlds_cp_0_05": "cp 0.05",
    "worlds_network": "network, epsilon 1",
}  # fmt: skip
CELLS = ("numbers", "minbucket 75", "cp 0.05", "factors", "ctree", "network, epsilon 1")
SWEEPS = {
    "minbucket": "minbucket", "cp": "cp", "methods": "coding and method", "noise": "histogram with noise, epsilon",
}  # fmt: skip


def figures(results: Path) -> dict[str, Any]:
    """All figures by name."""
    rows = _rows(results)
    drawn = {
        "figure_1a": _variables(rows["cells"]),
        "figure_1b": _cells(rows["cells"]),
        "figure_2": _releases(rows["cells"]),
        "posterior": _posteriors(rows["measures"]),
        "cells": _settings(rows["cells"], rows["settings"]),
    }
    for name, setting in WORLDS.items():
        drawn[name] = _worlds([row for row in rows["worlds"] if row["setting"] == setting])
    for name, sweep in SWEEPS.items():
        drawn[name] = _sweep([row for row in rows["sweeps"] if row["sweep"] == sweep])
    return drawn | {"trees": _trees(rows["trees"])}


def _rows(results: Path) -> dict[str, list[dict[str, Any]]]:
    """The results that are there, by name."""
    return {name: read_rows(path, texts) for name, texts in TEXTS.items() if (path := results / f"{name}.csv").exists()}


def _variables(cells: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(6, 3.4))
    shares = {}
    for file, label in (("original", "original"), ("S1", "release S1")):
        total = sum(row[file] for row in cells)
        shares[label] = [sum(row[file] for row in cells if row["cell"][i] == "1") / total for i in range(4)]
    drawing.bars(ax, [f"var{i}" for i in range(1, 5)], shares)
    ax.set(ylabel="records with the value 1", ylim=(0, 1))
    drawing.percent(ax.yaxis)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _cells(cells: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(8, 3.4))
    values = {"original": [row["original"] for row in cells], "release S1": [row["S1"] for row in cells]}
    drawing.bars(ax, [row["cell"] for row in cells], values)
    _named(ax)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _named(ax: Any) -> None:
    ax.tick_params(axis="x", rotation=90)
    ax.set(xlabel="var1 var2 var3 var4", ylabel="records")


def _releases(cells: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(8, 3.4))
    names = [row["cell"] for row in cells]
    colours = [drawing.ORANGE if name == UNIQUE else drawing.PALE for name in names]
    ax.bar(names, [row["original"] for row in cells], color=colours, label="original")
    for k in range(1, 11):
        at = [x + (k - 5.5) * 0.06 for x in range(16)]
        ax.scatter(at, [row[f"S{k}"] for row in cells], s=8, color=drawing.BLACK, zorder=3,
                   label=None if k > 1 else "10 releases")  # fmt: skip
    _named(ax)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _posteriors(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(8, 3.6))
    names = [name[1:] for name in rows[0] if name[1:].isdecimal()]
    shown = ax.imshow(
        [[row[f"p{name}"] for name in names] for row in rows], cmap="Blues", vmin=0, vmax=1, aspect="auto"
    )
    ax.set_xticks(range(16), names, rotation=90)
    ax.set_yticks(range(len(rows)), [row["release"] for row in rows])
    ax.set(xlabel="cell of the last record", ylabel="release")
    drawing.percent(figure.colorbar(shown, ax=ax, label="posterior").ax.yaxis)
    return figure


def _settings(cells: Sequence[Row], rows: Sequence[Row]) -> Any:
    figure, axes = drawing.subplots(2, 3, size=(10, 5), sharex=True, sharey=True)
    for ax, setting in zip(axes.flat, CELLS, strict=True):
        own = [row for row in rows if row["setting"] == setting]
        names = [row["cell"] for row in own]
        colours = [drawing.ORANGE if name == UNIQUE else drawing.PALE for name in names]
        ax.bar(names, [row["original"] for row in cells], color=colours, label="original")
        ax.vlines(names, [row["low"] for row in own], [row["high"] for row in own], color=drawing.BLACK,
                  label="100 releases, 5 to 95 %")  # fmt: skip
        ax.scatter(names, [row["mean"] for row in own], s=10, color=drawing.BLACK, zorder=3, label="their mean")
        ax.set_title(setting, fontsize="medium")
        ax.tick_params(axis="x", rotation=90)
    figure.supylabel("records", fontsize="medium")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    drawing.plain(axes.flat)
    return figure


def _worlds(rows: Sequence[Row]) -> Any:
    figure, axes = drawing.subplots(4, 4, size=(9, 6.5), sharex=True, sharey=True)
    most = int(max(row["records"] for row in rows))
    width = max(1, math.ceil((most + 1) / 20))
    for ax, world in zip(axes.flat, dict.fromkeys(row["world"] for row in rows), strict=True):
        found = [0.0] * (most // width + 1)
        for row in rows:
            if row["world"] == world:
                found[int(row["records"]) // width] += row["releases"]
        at = [(i + 0.5) * width - 0.5 for i in range(len(found))]
        ax.bar(at, found, 0.85 * width, color=drawing.ORANGE if world == UNIQUE else drawing.BLUE)
        ax.set_title(f"last record {world}", fontsize="small")
        ax.set_ylim(0, 100 if width == 1 else None)
        drawing.percent(ax.yaxis)
    figure.supxlabel("records 1111 in a release", fontsize="medium")
    figure.supylabel("releases", fontsize="medium")
    drawing.plain(axes.flat)
    return figure


def _sweep(rows: Sequence[Row]) -> Any:
    figure, (left, right) = drawing.subplots(1, 2, size=(9, 3.6))
    values = list(dict.fromkeys(row["value"] for row in rows))
    for ax, name in ((left, "posterior"), (right, "records")):
        for x, value in enumerate(values):
            found = [row[name] for row in rows if row["value"] == value]
            at = [x - 0.25 + 0.5 * i / (len(found) - 1) for i in range(len(found))]
            ax.scatter(at, found, s=10, color=drawing.BLUE, alpha=0.6, label=None if x else "a release")
            mean = sum(found) / len(found)
            ax.plot([x - 0.3, x + 0.3], [mean, mean], color=drawing.ORANGE, label=None if x else "mean")
        ax.set_xticks(range(len(values)), values, rotation=25 if max(map(len, values)) > 8 else 0)
        ax.set_xlabel(rows[0]["sweep"])
    bounds = [next(row["bound"] for row in rows if row["value"] == value) for value in values]
    if not math.isnan(bounds[0]):
        left.plot(range(len(bounds)), bounds, color=drawing.BLACK, marker="_", linestyle="none", markersize=22,
                  label="bound")  # fmt: skip
    left.axhline(1 / 16, color=drawing.GREY, linewidth=0.8, linestyle="--", label="prior")
    left.set(ylabel="posterior of 1111", ylim=(-0.03, 1.05))
    drawing.percent(left.yaxis)
    right.set_ylabel("records 1111 in a release")
    drawing.legend(left, loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    drawing.plain((left, right))
    return figure


# ----------------------------------------------------------------------------------------------------------- trees
def _trees(rows: Sequence[Row]) -> Any:
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    figure, axes = drawing.subplots(len(settings), 1, size=(10, 12))
    for ax, setting in zip(axes, settings, strict=True):
        own = [row for row in rows if row["setting"] == setting]
        leaves = sum(row["leaf"] for row in own)
        _tree(ax, own)
        ax.set_title(f"{setting}: {leaves:.0f} {'leaf' if leaves == 1 else 'leaves'}", fontsize="medium", loc="left")
    return figure


def _tree(ax: Any, nodes: Sequence[Row]) -> None:
    """Draw a tree whose nodes stand in the order of visit: a box for each node, from the root downwards."""
    places = _places(nodes)
    for i, node in enumerate(nodes):
        x, y = places[i], -node["depth"]
        parent = next((j for j in range(i - 1, -1, -1) if nodes[j]["depth"] == node["depth"] - 1), None)
        if parent is not None:
            ax.plot([places[parent], x], [y + 1, y], color=drawing.GREY, linewidth=0.8, zorder=1)
        alone = node["leaf"] and node["ones"] * node["records"] < 1.5 and node["ones"] > 0
        colour = drawing.ORANGE if alone else drawing.PALE if node["leaf"] else "white"
        text = f"{node['condition']}\n{node['records']:.0f} records, {100 * node['ones']:.1f} % 1"
        ax.text(x, y, text, ha="center", va="center", fontsize=7, zorder=2,
                bbox={"boxstyle": "round", "facecolor": colour, "edgecolor": drawing.GREY})  # fmt: skip
    ax.set(xlim=(-0.6, 7.6), ylim=(-3.5, 0.5))
    ax.axis("off")


def _places(nodes: Sequence[Row]) -> dict[int, float]:
    """Horizontal place of each node: leaves side by side over the width, parents in the middle of their children."""
    leaves = [i for i, node in enumerate(nodes) if node["leaf"]]
    step = 7 / max(len(leaves) - 1, 1)
    places = {i: k * step if len(leaves) > 1 else 3.5 for k, i in enumerate(leaves)}
    for i in range(len(nodes) - 1, -1, -1):
        if i not in places:
            depth = nodes[i]["depth"]
            end = next((j for j in range(i + 1, len(nodes)) if nodes[j]["depth"] <= depth), len(nodes))
            children = [places[j] for j in range(i + 1, end) if nodes[j]["depth"] == depth + 1]
            places[i] = sum(children) / len(children)
    return places


# ----------------------------------------------------------------------------------------------------------- page
def page(results: Path) -> str:
    """The page of the gallery."""
    rows = _rows(results)
    parts = [
        "# Latner, Neunhoeffer & Drechsler (2025): tables and figures",
        f"{made(results)} [How to run it](README.md).",
        "Four binary variables, 1000 records; 1111 occurs once, in the last record. An intruder knows the other 999 "
        "and the synthesizer. Replicated uniques and DiSCO do not see what the mere presence of 1111 in a release "
        "says. The posterior does, exactly and in milliseconds, where the paper simulates each of the sixteen worlds.",
        "## Figure 1: the original against a release",
        "![share of ones by variable](figure_1a.svg)\n\n![records by cell](figure_1b.svg)",
        "## Figure 2: records by cell in ten releases",
        "![records by cell in ten releases](figure_2.svg)",
        "## Tables 1 and A.2: three measures",
        _measures(rows["measures"]),
        "![posterior of all cells](posterior.svg)",
        "## Figure 3: the sixteen worlds, 100 releases each",
        "![records 1111 in the worlds](figure_3.svg)",
        "Only the world in which the last record is 1111 ever releases 1111.",
        "## The slides: other settings",
        "![records by cell under six settings](cells.svg)",
        "*numbers* is the paper's setting: the four variables as numbers, minbucket 5, cp 1e-8. The network has noise "
        "for differential privacy, drawn anew for each release. Where a leaf holds the record apart, 1111 is rare in "
        "the releases; where leaves, cp or noise mix it with others, it is common, and its presence says little:",
        _counts(rows["settings"]),
        *_said_of_worlds(),
        "## The fitted trees side by side",
        "![trees of var4](trees.svg)",
        "Orange: the leaf of 67 records of which one has the value 1; only from it can 1111 be drawn. As factors, the "
        "collapse joins it with its neighbour, because the split does not lower the number of misclassified records. "
        "With minbucket 75 the leaf would be too small, and cp 0.05 leaves no split. The conditional inference tree "
        "finds the leaf again.",
        "## Settings and the exact posterior",
        *(_swept(rows["sweeps"], name, sweep) for name, sweep in SWEEPS.items()),
        "Where donor counts alone say little and the posterior is 1 all the same, the shape of the trees depends on "
        "the record: near the cp that removes a tree altogether, one world removes it and the others keep it.",
    ]  # fmt: skip
    if "survey" in rows:
        parts += ["## Table A.3: Social Diagnosis 2011, target depress", _survey(rows["survey"])]
    if (results / "compared.csv").exists():
        compared = read_compared(results)
        parts += ["## Printed against computed", count(compared), compared_tables(compared)]
    return "\n\n".join(parts) + "\n"


def _measures(rows: Sequence[Row]) -> str:
    lines = [
        [
            row["release"],
            f"{row['repU']:.2f}",
            f"{row['DiSCO']:.2f}",
            f"{row['records']:.0f}",
            f"{row[f'p{UNIQUE}']:.4f}",
        ]
        for row in rows
    ]
    names = ("repU", "DiSCO", f"p{UNIQUE}")
    repu, disco, posterior = (sum(row[name] for row in rows) / len(rows) for name in names)
    lines.append(["mean", f"{repu:.2f}", f"{disco:.2f}", "", f"{posterior:.4f}"])
    return markdown(["release", "repU", "DiSCO (var4)", "records 1111", "posterior of 1111"], lines)


def _counts(rows: Sequence[Row]) -> str:
    unique = [row for row in rows if row["cell"] == UNIQUE]
    lines = [
        [row["setting"], f"{row['mean']:.2f}", f"{row['low']:.0f} to {row['high']:.0f}",
         *(f"{row[name]:.0f} %" for name in ("without", "once", "twice", "thrice"))]
        for row in unique
    ]  # fmt: skip
    header = ["setting", "mean records 1111", "5 to 95 %", "releases with 0", "1", "2", "3"]
    return markdown(header, lines)


def _said_of_worlds() -> list[str]:
    said = {
        "worlds_minbucket_75": "minbucket 75: every world releases 1111, and the true one cannot be told by it.",
        "worlds_cp_0_05": "cp 0.05: the same.",
        "worlds_network": "A Bayesian network with epsilon 1: noise and the missing interaction hide the record.",
    }
    return [f"![{WORLDS[name]}]({name}.svg)\n\n{text}" for name, text in said.items()]


def _swept(rows: Sequence[Row], name: str, sweep: str) -> str:
    by_value: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["sweep"] == sweep:
            by_value.setdefault(row["value"], []).append(row)
    lines = []
    for value, own in by_value.items():
        posterior = [row["posterior"] for row in own]
        fixed = sum(row["fixed"] for row in own) / len(own)
        line = [value, f"{sum(row['records'] for row in own) / len(own):.2f}", f"{sum(posterior) / len(own):.3f}",
                f"{max(posterior):.3f}", "" if math.isnan(fixed) else f"{fixed:.3f}"]  # fmt: skip
        lines.append([*line, f"{own[0]['bound']:.3f}"] if "epsilon" in sweep else line)
    header = [sweep, "mean records 1111", "mean posterior", "largest", "mean, donor counts alone"]
    table = markdown([*header, "bound"] if "epsilon" in sweep else header, lines)
    return f"### {sweep}\n\n![{sweep}]({name}.svg)\n\n{table}"


def _survey(rows: Sequence[Row]) -> str:
    lines = [
        [
            row["releases"],
            *(f"{row[name]:.2f}" for name in ("UiO", "Dorig", "repU", "DiSCO")),
            f"{row['posterior']:.3f}",
        ]
        for row in rows
    ]
    table = markdown(["five releases, percent", "UiO", "Dorig", "repU", "DiSCO", "posterior (fixed)"], lines)
    return (
        "A release in which depress is 0 for everybody says nothing about anybody: its DiSCO rises, its posterior "
        f"falls to the prior, 1/23 = .043.\n\n{table}"
    )
