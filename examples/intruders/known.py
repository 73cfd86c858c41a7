"""How fast the strongest intruder weakens: ``python examples/intruders/known.py FOLDER``.

The folder holds latner_original.csv, latner_syn01.csv, latner_syn02.csv, latner_syn04.csv and sd2011_9.csv. Three
parts, of which ``--only`` makes one:

``latner``: all states of 1 to 67 unknown persons are enumerated (known_latner.csv);
``splits``: Social Diagnosis 2011, all persons, splits disclosed (known_splits.csv);
``exact``: the same with 1 to 20 unknown persons, trees fitted again for every state (known_exact_*.csv).

Where the rows of all parts are there, known.md and known.svg are made of them.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from pages import FOLDER, Row, markdown, read_csv, shown, survey, write_csv

import unveil

UNKNOWN = (1, 2, 4, 8, 18, 34, 67)
REFERENCE: Mapping[int, Sequence[float]] = {
    1: (1, 0.643, 0.463, 0.371, 0.313, 0.281, 0.244),
    2: (0.265, 0.264, 0.262, 0.259, 0.251, 0.238, 0.214),
    4: (1, 0.800, 0.609, 0.469, 0.361, 0.303, 0.250),
}
"""By release, posterior of the truth of the record 1111 with so many unknown persons: 68 fits by another program."""
SHARES = (1.0, 0.99, 0.95, 0.9, 0.5, 0.0)
PRIORS = {"depress": ("uniform",), "marital": ("uniform", "conditional")}
TENS = (1, 5, 10, 20)
PERSONS = 20
"""Persons asked about where trees follow."""
SWEEPS = 100
BUDGET = 3600.0
ROWS = ("known_latner.csv", "known_splits.csv",
        *(f"known_exact_{target}.csv" for target in PRIORS))  # fmt: skip
COLOURS, PALE = ("#0072B2", "#D55E00", "#009E73"), "#BBBBBB"


def latner(folder: Path) -> list[Row]:
    """Posterior of var4 = 1 of the record 1111, by the package and by one plain fit for each number of ones."""
    original = pyarrow.csv.read_csv(folder / "latner_original.csv")
    alike = [i for i, row in enumerate(original.to_pylist()) if row["var1"] == row["var2"] == row["var3"] == 1]
    person = next(i for i in alike if original["var4"][i].as_py() == 1)
    others = [i for i in alike if i != person]
    rows = []
    for k, reference in REFERENCE.items():
        release = pyarrow.csv.read_csv(folder / f"latner_syn{k:02d}.csv")
        for size, expected in zip(UNKNOWN, reference, strict=True):
            unknown = [person, *others[: size - 1]]
            known = original.take([i for i in range(original.num_rows) if i not in unknown])
            point = unveil.partial_knowledge(
                unveil.Pair(original, release), unveil.CartSynthesizer(), target="var4", records_known=known,
                structure="exact", persons=[person],
            ).points[0]  # fmt: skip
            rows.append({
                "release": k, "unknown": size, "method": point.method, "posterior": point.mean_posterior,
                "by_plain_fits": by_plain_fits(original, release, unknown), "reference": expected,
            })  # fmt: skip
    return rows


def by_plain_fits(original: pa.Table, release: pa.Table, unknown: Sequence[int]) -> float:
    """The same by definition: the unknown persons have the same keys, so that only their number of ones counts."""
    values, size, logs = original.column("var4").to_pylist(), len(unknown), []
    for ones in range(size + 1):
        for place, record in enumerate(unknown):
            values[record] = int(place < ones)
        fitted = unveil.CartSynthesizer().fit(original.set_column(3, "var4", pa.array(values)))
        logs.append(fitted.log_prob(release).variables["var4"] + math.log(math.comb(size, ones)))
    weights = [math.exp(log - max(logs)) for log in logs]
    return sum(ones * weight for ones, weight in enumerate(weights)) / (size * sum(weights))


def splits(folder: Path) -> list[Row]:
    """All persons of the survey, splits disclosed."""
    pair, maker = survey(folder)
    rows = []
    for target, priors in PRIORS.items():
        for prior in priors:
            # Where nobody is known there is no record to take a conditional prior from.
            shares = [share for share in SHARES if share > 0 or prior == "uniform"]
            found = unveil.partial_knowledge(
                pair, maker, target=target, records_known=shares, prior=prior, sets=1, budget=BUDGET
            )
            rows += [_row(point, target, prior, found.n_persons) for point in found.points]
            print(found, flush=True)
    return rows


def exact(folder: Path, target: str) -> Iterator[Row]:
    """The same twenty persons of the survey, in sets of tens of unknown persons, trees following."""
    pair, maker = survey(folder)
    order = np.random.default_rng(1).permutation(pair.n_original)
    for size in TENS:
        asked = order[: max(size, PERSONS)]
        points = []
        for start in range(0, PERSONS, size):
            unknown = np.sort(asked[start : start + size])
            known = pair.original.part(np.setdiff1d(np.arange(pair.n_original), unknown))
            found = unveil.partial_knowledge(
                pair, maker, target=target, records_known=known, structure="exact",
                persons=np.intersect1d(unknown, order[:PERSONS]), sweeps=SWEEPS, most_sweeps=4 * SWEEPS,
                budget=BUDGET, seed=1,
            )  # fmt: skip
            print(found, flush=True)
            points.append((found.points[0], found.n_persons))
        yield together(points, target)


def together(points: Sequence[tuple[Any, int]], target: str) -> Row:
    """One row of several sets of unknown persons; there is no figure where a set has none."""
    rows = [_row(point, target, "uniform", persons) for point, persons in points]
    persons = sum(row["persons"] for row in rows)

    def mean(name: str) -> float:
        return sum(row[name] * row["persons"] for row in rows) / persons

    error = math.sqrt(sum((row["monte_carlo_error"] * row["persons"]) ** 2 for row in rows)) / persons
    return rows[0] | {
        "persons": persons, "monte_carlo_error": error, "sets": len(rows),
        **{name: mean(name) for name in ("mean_prior", "mean_posterior", "share_above_90", "share_not_mixed")},
        **{name: sum(row[name] for row in rows) for name in ("sweeps", "kept")},
    }  # fmt: skip


def _row(point: Any, target: str, prior: str, persons: int) -> Row:
    names = ("mean_prior", "mean_posterior", "monte_carlo_error", "share_above_90", "share_not_mixed", "sweeps", "kept")
    return {
        "target": target, "prior": prior, "percent_known": 100 * point.share_known, "unknown": point.n_unknown,
        "persons": persons, "method": point.method, **{name: getattr(point, name) for name in names},
    }  # fmt: skip


def table_of_latner(rows: Sequence[Row]) -> str:
    """Each posterior beside that of the reference."""
    by_place = {(row["release"], row["unknown"]): row for row in rows}
    lines = []
    for unknown in UNKNOWN:
        own = [by_place[k, unknown] for k in REFERENCE]
        cells = [(shown(row["posterior"]), shown(row["by_plain_fits"]), shown(row["reference"])) for row in own]
        lines.append([str(unknown), *(cell for three in cells for cell in three)])
    header = ["unknown persons"]
    for k in REFERENCE:
        header += [f"release {k}", f"{k}, plain fits", f"{k}, reference"]
    return markdown(header, lines)


def table_of_survey(rows: Sequence[Row]) -> str:
    """A row per target, prior and share known."""
    header = ["target", "prior", "% of others known", "unknown", "persons asked about", "mean prior", "mean posterior",
              "Monte-Carlo error", "above .9", "% not mixed", "sweeps", "how"]  # fmt: skip
    lines = []
    for row in rows:
        lines.append([
            row["target"], row["prior"], f"{row['percent_known']:g}", f"{row['unknown']:.0f}", f"{row['persons']:.0f}",
            shown(row["mean_prior"]), shown(row["mean_posterior"]) or "none", shown(row["monte_carlo_error"], 4),
            shown(row["share_above_90"]), shown(100 * row["share_not_mixed"], 1), f"{row['sweeps']:.0f}", row["method"],
        ])  # fmt: skip
    return markdown(header, lines)


def page(folder: Path) -> str:
    """All tables, from the rows that were written."""
    parts = [
        "# Risk against the share of other records that is known\n\nWritten by `known.py`.\n",
        "## One unique record, all states enumerated\n\nPosterior of the truth of the record 1111, given one release "
        f"alone.\n\n{table_of_latner(read_csv(folder / 'known_latner.csv'))}",
        "## Social Diagnosis 2011, splits disclosed\n\n" + table_of_survey(read_csv(folder / "known_splits.csv")),
    ]
    exact_rows = [row for target in PRIORS for row in read_csv(folder / f"known_exact_{target}.csv")]
    parts.append("## Social Diagnosis 2011, trees follow\n\n" + table_of_survey(exact_rows))
    return "\n".join(parts)


def drawn(folder: Path) -> None:
    """Three panels: the unique record, the survey with splits disclosed, and with trees that follow."""
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 3.9), sharey=True, layout="constrained")
    rows = read_csv(folder / "known_latner.csv")
    for colour, mark, k in zip(COLOURS, "os^", REFERENCE, strict=True):
        own = [row for row in rows if row["release"] == k]
        left.plot([row["unknown"] for row in own], [row["posterior"] for row in own], mark + "-", color=colour,
                  label=f"release {k}")  # fmt: skip
    left.axhline(0.5, color=PALE, linestyle="--", label="prior")
    left.set_xscale("log", base=2)
    left.set_xticks(UNKNOWN, [str(size) for size in UNKNOWN])
    left.set_title("Unique record, all states")
    left.set_xlabel("unknown persons (log scale)")
    left.set_ylabel("mean posterior of the truth")
    _lines(middle, read_csv(folder / "known_splits.csv"), "percent_known")
    middle.set_xlim(102, -2)
    middle.set_title("SD2011, splits disclosed")
    middle.set_xlabel("percent of others known")
    exact_rows = [row for target in PRIORS for row in read_csv(folder / f"known_exact_{target}.csv")]
    _lines(right, [row for row in exact_rows if not math.isnan(row["mean_posterior"])], "unknown")
    right.set_title("SD2011, trees follow")
    right.set_xlabel("unknown persons of 5000")
    for axes in (left, middle, right):
        axes.set_ylim(0, 1.02)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize="small")
    figure.savefig(folder / "known.svg", bbox_inches="tight")
    plt.close(figure)


def _lines(axes: Any, rows: Sequence[Row], across: str) -> None:
    """Posterior and, dashed, prior of each target and prior."""
    for colour, (target, prior) in zip(COLOURS, [(t, p) for t, priors in PRIORS.items() for p in priors], strict=True):
        own = [row for row in rows if (row["target"], row["prior"]) == (target, prior)]
        if own:
            places = [row[across] for row in own]
            axes.plot(
                places, [row["mean_posterior"] for row in own], "o-", color=colour, label=f"{target}, {prior} prior"
            )
            axes.plot(places, [row["mean_prior"] for row in own], "--", color=colour, linewidth=1)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--only", choices=("latner", "splits", "exact"))
    options.add_argument("--target", choices=list(PRIORS), help="of exact")
    options.add_argument("--output", type=Path, default=FOLDER)
    chosen = options.parse_args()
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    if chosen.only in (None, "latner"):
        write_csv(latner(chosen.folder), chosen.output / "known_latner.csv")
    if chosen.only in (None, "splits"):
        write_csv(splits(chosen.folder), chosen.output / "known_splits.csv")
    if chosen.only in (None, "exact"):
        for target in PRIORS if chosen.target is None else (chosen.target,):
            rows = []
            for row in exact(chosen.folder, target):
                rows.append(row)
                write_csv(rows, chosen.output / f"known_exact_{target}.csv")
    if all((chosen.output / name).exists() for name in ROWS):
        (chosen.output / "known.md").write_text(page(chosen.output), encoding="utf-8")
        if importlib.util.find_spec("matplotlib"):
            drawn(chosen.output)


if __name__ == "__main__":
    main()
