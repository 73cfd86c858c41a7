"""Redo Raab, Nowok & Dibben (2026): ``python -m examples.raab2026 [DATA]``, about two minutes.

DATA holds sd2011_9.csv, sd2011_9_s1.csv, sd2011_9_k1000.csv, sd2011_9_s5_1..5.csv, sd2011_9_s5c_1..5.csv and, for
Table 3, adult.csv or adult.csv.gz. Without it a survey is simulated, there is nothing to compare with, and Adult is
left out.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from examples.paper import ROOT, arguments, compare, found, write_gallery, write_made, write_rows
from examples.raab2026 import compute

from unveil.errors import UnveilWarning

HERE = Path(__file__).parent
FILES = ["sd2011_9", "sd2011_9_s1", "sd2011_9_k1000"]
FILES += [f"sd2011_9_{name}_{i}" for name in ("s5", "s5c") for i in range(1, 6)]


def main() -> None:
    """Write the results, and from them the page and its figures."""
    warnings.simplefilter("ignore", UnveilWarning)
    given = arguments(__doc__)
    data = given.data if found(given.data, *FILES) else None
    results = given.results or (HERE / "results" if data else ROOT / "build" / "examples" / "raab2026" / "results")
    survey = compute.Survey(data)
    means = compute.table_2(survey)
    write_rows(compute.table_1(survey), results / "table_1.csv")
    table_2 = [
        {"target": risk.target} | {name: risk.mean[name] for name in ("DiSCO", *compute.DENOMINATORS)} for risk in means
    ]
    write_rows(table_2, results / "table_2.csv")
    write_rows(compute.targets(survey), results / "targets.csv")
    write_rows(compute.size_sweep(survey), results / "sizes.csv")
    adult = compute.table_3(data) if data and found(data, "adult") else []
    if adult:
        write_rows(adult, results / "adult.csv")
    if data:
        computed = dict([*compute.numbers(survey, means), *compute.adult_numbers(adult)])
        write_rows(compare(HERE / "printed.csv", computed), results / "compared.csv")
    write_made("raab2026", results, data)
    write_gallery("raab2026", results)


if __name__ == "__main__":
    main()
