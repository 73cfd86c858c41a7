"""Redo Templ, Thees & Müller (2026): ``python -m examples.rapid2026 [DATA]``, half an hour of one core.

DATA holds adult.csv or adult.csv.gz; without it Figure 4 is left out. All else is simulated. Most of the time goes into
50 replications of the simulation studies; each is kept in the folder ``parts`` when done, so that a run that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from examples.paper import (
    Cell,
    Computed,
    arguments,
    compare,
    data_file,
    found,
    read_rows,
    write_gallery,
    write_made,
    write_rows,
)  # fmt: skip
from examples.rapid2026 import adult, income, studies

from unveil.errors import UnveilWarning

HERE = Path(__file__).parent
ITEM = "Table 1, kappa 10, tau 0.3, means of 50"
PRINTED_SD = {"cart": 0.013, "gbm": 0.011, "rf": 0.010}
OF_THE_PAPER = 10
"""Replications behind the paper's Figure 5."""


def main() -> None:
    """Write the results, and from them the page and its figures."""
    warnings.simplefilter("ignore", UnveilWarning)
    given = arguments(
        __doc__,
        ("--replications", {"type": int, "default": 50}),
        ("--jobs", {"type": int, "default": 1, "help": "processes for the replications"}),
        ("--parts", {"type": Path, "default": HERE / "parts", "help": "folder of what is done"}),
    )
    results = given.results or HERE / "results"
    given.parts.mkdir(parents=True, exist_ok=True)
    replications = studies.replicated(given.replications, given.jobs, given.parts)
    rows = {
        "kappas": studies.kappas(replications),
        "inclusion": studies.inclusion(replications),
        "thresholds": studies.thresholds(replications),
        "coefficients": studies.coefficients(replications),
        "importance": studies.importance(replications),
        "attackers": studies.attackers(replications),
        "income": income.predictions(),
    }
    if found(given.data, "adult"):
        columns = adult.keys_and_income(data_file(given.data, "adult"))
        rows["adult"] = adult.curves(columns, given.parts)
    for name, table in rows.items():
        write_rows(table, results / f"{name}.csv")
    write_rows(compare(HERE / "printed.csv", dict(numbers(rows, given.replications))), results / "compared.csv")
    write_made("rapid2026", results, given.data)
    write_gallery("rapid2026", results)


def kept(results: Path) -> Mapping[str, list[dict[str, Any]]]:
    """The results of the studies, as they were written."""
    texts = {"thresholds": ["curve"], "attackers": ["attacker"]}
    return {name: read_rows(results / f"{name}.csv", texts.get(name, [])) for name in ("kappas", *texts)}


def numbers(rows: Mapping[str, list[dict[str, Any]]], replications: int) -> Iterator[tuple[Cell, Computed]]:
    """Every number of the studies that is printed, with the error of its difference to the printed one."""
    for row in rows["attackers"]:
        error = math.hypot(row["sd"], PRINTED_SD[row["attacker"]]) / replications**0.5
        yield (ITEM, row["attacker"], "RAPID"), Computed(row["rate"], error)
        yield (ITEM, row["attacker"], "accuracy"), Computed(row["accuracy"])
    for row in rows["kappas"]:
        error = row["sd"] * (1 / replications + 1 / OF_THE_PAPER) ** 0.5
        yield ("Figure 5, tau 0.3", f"kappa {row['kappa']:g}", "RAPID"), Computed(row["rate"], error)
        yield ("Figure 5, tau 0.3", f"kappa {row['kappa']:g}", "accuracy"), Computed(row["accuracy"])
    for row in rows["thresholds"]:
        yield ("Thresholds", row["curve"], f"tau {row['tau']:.2f}"), Computed(row["rate"])


if __name__ == "__main__":
    main()
