"""Redo Latner, Neunhoeffer & Drechsler (2026 draft): ``python -m examples.latner2026 [DATA]``, some minutes.

DATA holds sd2011_21.csv. Without it a survey is simulated, and there is nothing to compare with.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from examples.latner2026 import compute
from examples.paper import ROOT, arguments, compare, found, write_gallery, write_made, write_rows

from unveil.errors import UnveilWarning

HERE = Path(__file__).parent


def main() -> None:
    """Write the results, and from them the page and its figures."""
    warnings.simplefilter("ignore", UnveilWarning)
    given = arguments(__doc__)
    data = given.data if found(given.data, "sd2011_21") else None
    results = given.results or (HERE / "results" if data else ROOT / "build" / "examples" / "latner2026" / "results")
    survey = compute.columns_of(data)
    rows = {
        "structure": compute.structure(survey),
        "key_sets": compute.key_sets(survey),
        "minbuckets": compute.minbuckets(survey),
        "costs": compute.costs(),
        "desiderata": compute.desiderata(),
    }
    for name, table in rows.items():
        write_rows(table, results / f"{name}.csv")
    if data:
        write_rows(compare(HERE / "printed.csv", dict(compute.numbers(rows))), results / "compared.csv")
    write_made("latner2026", results, data)
    write_gallery("latner2026", results)


if __name__ == "__main__":
    main()
