"""Figures and page of Templ, Thees & Müller (2026), from the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples import drawing
from examples.paper import Row, compared_tables, count, made, markdown, read_compared, read_rows
from examples.rapid2026.adult import ATTACKERS
from examples.rapid2026.income import EPSILON

CLASSES = {"all": drawing.BLACK, "large": drawing.ORANGE, "small": drawing.BLUE, "Missing": drawing.GREEN}


def figures(results: Path) -> dict[str, Any]:
    """All figures by name."""
    drawn = {
        "figure_2": _income(read_rows(results / "income.csv")),
        "figure_5": _kappas(read_rows(results / "kappas.csv")),
        "thresholds": _thresholds(read_rows(results / "thresholds.csv", ["curve"])),
        "figure_6": _attribution(
            read_rows(results / "coefficients.csv", ["key", "level"]), read_rows(results / "importance.csv", ["key"])
        ),
    }
    if (results / "adult.csv").exists():
        drawn["figure_4"] = _adult(read_rows(results / "adult.csv", ["attacker", "class"]))
    return drawn


def _income(rows: Sequence[Row]) -> Any:
    figure, (left, right) = drawing.subplots(1, 2, size=(9, 3.8))
    for risk, colour, label in ((0, drawing.PALE, "not at risk"), (1, drawing.ORANGE, "at risk")):
        own = [row for row in rows if row["at_risk"] == risk]
        left.scatter([row["truth"] for row in own], [row["prediction"] for row in own], s=8, color=colour, label=label)
    most = max(row["truth"] for row in rows)
    left.plot([0, most], [0, most], color=drawing.GREY, linewidth=0.8)
    left.fill_between([0, most], [0, (1 - EPSILON) * most], [0, (1 + EPSILON) * most], color=drawing.GREY, alpha=0.15,
                      linewidth=0, label=f"error below {100 * EPSILON:.0f} %")  # fmt: skip
    left.set(xlabel="true income", ylabel="predicted income", xlim=(0, most), ylim=(0, most))
    drawing.legend(left, loc="upper left", bbox_to_anchor=None)
    errors = [min(row["error"], 2.0) for row in rows]
    edges = [i * EPSILON for i in range(21)]
    right.hist(errors, edges, color=drawing.PALE)
    right.hist([error for error in errors if error < EPSILON], edges, color=drawing.ORANGE)
    right.set(xlabel="relative error (the last bar: 190 % and more)", ylabel="persons", xlim=(0, 2))
    right.set_xticks([0, 0.5, 1, 1.5, 2], ["0 %", "50 %", "100 %", "150 %", "200 %"])
    drawing.plain((left, right))
    return figure


def _adult(rows: Sequence[Row]) -> Any:
    figure, axes = drawing.subplots(1, 3, size=(11, 3.8), sharey=True)
    for ax, (attacker, title) in zip(axes, ATTACKERS.items(), strict=True):
        for group, colour in CLASSES.items():
            own = [row for row in rows if (row["attacker"], row["class"]) == (attacker, group)]
            taus = [row["tau"] for row in own]
            ax.fill_between(taus, [row["low"] for row in own], [row["high"] for row in own], color=colour, alpha=0.2,
                            linewidth=0)  # fmt: skip
            ax.plot(taus, [row["rate"] for row in own], color=colour, label=group)
            if group == "all":
                for name, style in (("null", "--"), ("ceiling", ":")):
                    ax.plot(taus, [row[name] for row in own], style, color=drawing.GREY, label=f"{name} (all)")
        ax.set_title(title, fontsize="medium")
        ax.set(xlabel="tau", xlim=(0, 0.95), ylim=(0, 1))
    axes[0].set_ylabel("persons at risk")
    drawing.percent(axes[0].yaxis)
    drawing.legend(axes[-1])
    drawing.plain(axes)
    return figure


def _kappas(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(7, 3.8))
    kappas, rate = [row["kappa"] for row in rows], [row["rate"] for row in rows]
    low, high = ([row["rate"] + sign * row["sd"] for row in rows] for sign in (-1, 1))
    ax.fill_between(kappas, low, high, color=drawing.ORANGE, alpha=0.2, linewidth=0)
    ax.plot(kappas, rate, color=drawing.ORANGE, label="RAPID (± sd)")
    ax.plot(kappas, [row["accuracy"] for row in rows], "--", color=drawing.BLUE, label="accuracy of the attacker")
    ax.plot(kappas, [row["null"] for row in rows], color=drawing.GREY, label="null: target shuffled")
    ax.set_xscale("symlog", linthresh=0.5)
    marked = [0, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100]
    ax.set_xticks(marked, [f"{kappa:g}" for kappa in marked])
    ax.minorticks_off()
    ax.set(xlabel="kappa (strength of dependence)", ylabel="persons", ylim=(0, 1))
    drawing.percent(ax.yaxis)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _thresholds(rows: Sequence[Row]) -> Any:
    figure, ax = drawing.subplots(size=(7, 3.8))
    for curve, colour in zip(dict.fromkeys(row["curve"] for row in rows), drawing.COLOURS, strict=True):
        own = [row for row in rows if row["curve"] == curve]
        null = curve.startswith("null")
        ax.plot([row["tau"] for row in own], [row["rate"] for row in own], "--" if null else "-",
                color=drawing.GREY if null else colour, label=curve)  # fmt: skip
    ax.set(xlabel="tau", ylabel="persons at risk", xlim=(0, 1), ylim=(0, 1))
    drawing.percent(ax.yaxis)
    drawing.legend(ax)
    drawing.plain(ax)
    return figure


def _attribution(coefficients: Sequence[Row], importance: Sequence[Row]) -> Any:
    figure, (left, right) = drawing.subplots(1, 2, size=(10, 3.6))
    # Levels whose reference differs in a few populations stand in the table alone.
    shown = [row for row in coefficients if row["replications"] > 10][::-1]
    at = range(len(shown))
    left.hlines(at, [row["low"] for row in shown], [row["high"] for row in shown], color=drawing.BLUE)
    left.scatter([row["median"] for row in shown], at, color=drawing.BLUE, s=24)
    left.axvline(0, color=drawing.GREY, linewidth=0.8)
    left.set_yticks(at, [f"{row['key']}, {row['level']}" for row in shown])
    left.set_xlabel("log odds of being at risk: median, 10 to 90 %")
    ordered = importance[::-1]
    right.barh([row["key"] for row in ordered], [row["loss"] for row in ordered], xerr=[row["sd"] for row in ordered],
               color=drawing.PALE)  # fmt: skip
    right.set_xlabel("mean loss of r where the key is permuted (± sd)")
    drawing.plain((left, right))
    return figure


# ----------------------------------------------------------------------------------------------------------- page
def page(results: Path) -> str:
    """The page of the gallery."""
    risk = read_rows(results / "income.csv")
    share = 100 * sum(row["at_risk"] for row in risk) / len(risk)
    parts = [
        "# Templ, Thees & Müller (2026): tables and figures",
        f"{made(results)} The populations of the studies are simulated. [How to run it](README.md).",
        "## Figure 2: a target that is an amount",
        "![true and predicted income](figure_2.svg)",
        f"A simulated survey, because the paper's is not distributed; a random forest. Of {len(risk)} persons with an "
        f"income {share:.1f} % are at risk: the error is below {100 * EPSILON:.0f} % of their income.",
    ]
    if (results / "adult.csv").exists():
        rows = read_rows(results / "adult.csv", ["attacker", "class"])
        parts += [
            "## Figure 4: Adult, target income, three attackers",
            "![persons at risk against tau](figure_4.svg)",
            "48842 persons, five releases drawn here, keys age, education, marital status, occupation, race and sex. "
            "Mean over the releases; the bands reach from the lowest to the highest end of their 95 % intervals. "
            "Null: four shuffles of each release. Ceiling: trained on the original, every person predicted by a "
            "model fitted without them. A gap of income is a class of its own.",
            _adult_table(rows),
        ]
    parts += [
        "## Figure 5: strength of dependence",
        "![RAPID against kappa](figure_5.svg)",
        "50 populations of 1000 persons for each kappa, a random forest, tau 0.3. Who is inferred at kappa 0, where "
        "nothing can be learnt of people in general:",
        markdown(
            ["who is attacked", "RAPID", "standard error"],
            [[r["persons"], f"{r['rate']:.3f}", f"{r['error']:.3f}"] for r in read_rows(results / "inclusion.csv")],
        ),
        "## Thresholds",
        "![RAPID against tau](thresholds.svg)",
        "## Figure 6: attribution over 50 simulations",
        "![log odds and importance of keys](figure_6.svg)",
        "kappa 10. In a few populations another level is the reference of education; these levels are in "
        "`coefficients.csv` alone.",
        "## Table 1: attackers",
        markdown(
            ["attacker (kappa 10, tau 0.3)", "RAPID", "sd", "accuracy"],
            [
                [r["attacker"], f"{r['rate']:.3f}", f"{r['sd']:.3f}", f"{r['accuracy']:.3f}"]
                for r in read_rows(results / "attackers.csv")
            ],
        ),
        "## Printed against computed",
        count(compared := read_compared(results)),
        compared_tables(compared),
    ]
    return "\n\n".join(parts) + "\n"


def _adult_table(rows: Sequence[Row]) -> str:
    chosen = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    cells = {(row["attacker"], row["class"], row["tau"]): row for row in rows}
    lines = [
        [f"{title}, {group}", *(f"{100 * cells[attacker, group, tau]['rate']:.1f} %" for tau in chosen)]
        for attacker, title in ATTACKERS.items()
        for group in CLASSES
    ]
    return markdown(["attacker, class", *(f"tau {tau:g}" for tau in chosen)], lines)
