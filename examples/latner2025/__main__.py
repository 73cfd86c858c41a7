"""Redo Latner, Neunhoeffer & Drechsler (2025): ``python -m examples.latner2025 [DATA]``, some minutes.

DATA holds latner_original.csv, latner_syn01..10.csv and, for Table A.3, sd2011_9.csv, sd2011_5_latner_1..5.csv and
sd2011_5_latner_modified_1..5.csv. Without it the original is simulated, its releases are drawn here, and there is
nothing to compare with.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from examples.latner2025 import compute
from examples.paper import ROOT, arguments, compare, found, write_gallery, write_made, write_rows

from unveil.errors import UnveilWarning

HERE = Path(__file__).parent
FILES = ["latner_original", *(f"latner_syn{k:02d}" for k in range(1, 11))]
SURVEY = ["sd2011_9", *(f"sd2011_5_latner_{name}{k}" for name in ("", "modified_") for k in range(1, 6))]


def main() -> None:
    """Write the results, and from them the page and its figures."""
    warnings.simplefilter("ignore", UnveilWarning)
    given = arguments(__doc__)
    data = given.data if found(given.data, *FILES) else None
    results = given.results or (HERE / "results" if data else ROOT / "build" / "examples" / "latner2025" / "results")
    original, releases = compute.files(data)
    rows = {
        "cells": compute.records_by_cell(original, releases),
        "measures": compute.measures(original, releases),
        "settings": compute.settings(original),
        "worlds": compute.worlds(original),
        "sweeps": compute.sweeps(original),
        "trees": compute.trees(original),
    }
    if data and found(data, *SURVEY):
        rows["survey"] = compute.survey(data)
    for name, table in rows.items():
        write_rows(table, results / f"{name}.csv")
    if data:
        write_rows(compare(HERE / "printed.csv", dict(compute.numbers(rows))), results / "compared.csv")
    write_made("latner2025", results, data)
    write_gallery("latner2025", results)


if __name__ == "__main__":
    main()
