"""Who was used? Exact membership beside attacks by distance: ``python examples/intruders/games.py FOLDER``.

The folder holds sd2011_9.csv. Of the records without gaps in six columns 1000 are drawn at random and synthesised; all
others were not used. 150 of the 1000 are asked about. One draw of persons and one release say little where leaves are
large, so all is done for sixteen draws. Writes games.csv, games.md and, with matplotlib, games.svg.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from pages import FOLDER, Row, markdown, read_csv, shown, write_csv

import unveil

NAMES = ["sex", "age", "region", "placesize", "marital", "ls"]
MINBUCKETS = (5, 50)
SIZE, GAMES, DRAWS = 1000, 150, 16
REFERENCE = {(5, "swap", "share_right"): "1", (5, "swap", "share_certain"): "1", (50, "swap", "share_right"): ".89",
             (50, "swap", "share_certain"): ".50"}  # fmt: skip
"""150 games of another program, with one draw."""
WORDS = {
    ("swap", "share_right"): "swap: right", ("swap", "share_certain"): "swap: certain", ("swap", "auc"): "swap: AUC",
    ("in_out", "share_right"): "in/out: right", ("in_out", "share_certain"): "in/out: certain",
    ("in_out", "auc"): "in/out: AUC", ("in_out", "tpr_0.01"): "in/out: found at 1 % false alarms",
    ("in_out", "tpr_0.1"): "in/out: found at 10 % false alarms", ("dcr", "auc"): "distance: AUC",
    ("density", "auc"): "density: AUC", ("classifier", "auc"): "classifier: AUC",
    ("dcr", "tpr_0.01"): "distance: found at 1 % false alarms",
    ("dcr", "tpr_0.1"): "distance: found at 10 % false alarms",
}  # fmt: skip
"""Names of the figures that are shown."""


def survey(folder: Path) -> pa.Table:
    """The records without gaps."""
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    return pyarrow.csv.read_csv(folder / "sd2011_9.csv", convert_options=options).select(NAMES).drop_null()


def played(everybody: pa.Table, draw: int, size: int = SIZE, games: int = GAMES) -> Iterator[Row]:
    """Figures of one draw of persons, with their intervals."""
    order = np.random.default_rng(draw).permutation(everybody.num_rows)
    original, others = everybody.take(order[:size]), everybody.take(order[size:])
    for minbucket in MINBUCKETS:
        maker = unveil.CartSynthesizer(minbucket=minbucket).fit(original)
        pair = unveil.Pair(original, maker.sample(seed=draw), holdout=others)
        place = {"draw": draw, "minbucket": minbucket}
        for game in ("swap", "in_out"):
            found = unveil.exact_membership(pair, maker, game=game, sample=games, seed=draw)
            for row in found.to_frame(flavour="arrow").to_pylist():
                yield place | {"who": game} | {name: row[name] for name in ("figure", "value", "low", "high")}
        attacks = unveil.membership(pair, holdout_unseen=True, seed=draw)
        for name, one in attacks.together.items():
            figures = [("auc", one.auc, one.auc_interval)]
            figures += [
                (f"tpr_{fpr:g}", value, ends)
                for fpr, value, ends in zip((0.001, 0.01, 0.1), one.tpr, one.tpr_interval, strict=True)
            ]
            for figure, value, (low, high) in figures:
                yield place | {"who": name, "figure": figure, "value": value, "low": low, "high": high}


def page(rows: Sequence[Row]) -> str:
    """First draw with its intervals, then mean and standard deviation over all draws."""
    header = ["figure"]
    for minbucket in MINBUCKETS:
        header += [f"minbucket {minbucket}, one draw", "mean of all draws", "standard deviation", "reference"]
    lines = []
    for (who, figure), words in WORDS.items():
        line = [words]
        for minbucket in MINBUCKETS:
            own = [row for row in rows if (row["minbucket"], row["who"], row["figure"]) == (minbucket, who, figure)]
            values = [row["value"] for row in own]
            line += [
                shown(own[0]["value"], ends=(own[0]["low"], own[0]["high"])), shown(float(np.mean(values))),
                shown(float(np.std(values, ddof=1))) if len(values) > 1 else "",
                REFERENCE.get((minbucket, who, figure), ""),
            ]  # fmt: skip
        lines.append(line)
    return "# Who was used?\n\nWritten by `games.py`.\n\n" + markdown(header, lines)


def drawn(rows: Sequence[Row], path: Path) -> None:
    """Areas under the curve of every draw, small, and their mean, large."""
    import matplotlib.pyplot as plt

    names = [("swap", "swap"), ("in_out", "in/out"), ("density", "density ratio"), ("classifier", "classifier"),
             ("dcr", "distance")]  # fmt: skip
    _, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    for colour, mark, shift, minbucket in (("#0072B2", "o", -0.15, 5), ("#D55E00", "s", 0.15, 50)):
        for y, (who, _) in enumerate(names):
            values = [
                row["value"] for row in rows
                if (row["minbucket"], row["who"], row["figure"]) == (minbucket, who, "auc")
            ]  # fmt: skip
            axes.plot(values, [y + shift] * len(values), mark, color=colour, markersize=4, alpha=0.35, mew=0)
            axes.plot(np.mean(values), y + shift, mark, color=colour, markersize=9,
                      label=f"minbucket {minbucket}: mean, and every draw" if y == 0 else None)  # fmt: skip
    axes.axvline(0.5, color="#999999", linestyle="--", label="guess at random")
    axes.set_yticks(range(len(names)), [name for _, name in names])
    axes.invert_yaxis()
    axes.set_xlabel("area under the ROC curve")
    axes.grid(axis="x", alpha=0.3)
    axes.figure.legend(loc="outside upper center", ncols=3, frameon=False)
    axes.figure.savefig(path, bbox_inches="tight")
    plt.close(axes.figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--draws", type=int, default=DRAWS)
    options.add_argument("--output", type=Path, default=FOLDER)
    chosen: Any = options.parse_args()
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    everybody = survey(chosen.folder)
    rows = [row for draw in range(chosen.draws) for row in played(everybody, draw)]
    write_csv(rows, chosen.output / "games.csv")
    rows = read_csv(chosen.output / "games.csv")
    (chosen.output / "games.md").write_text(page(rows), encoding="utf-8")
    if importlib.util.find_spec("matplotlib"):
        drawn(rows, chosen.output / "games.svg")


if __name__ == "__main__":
    main()
