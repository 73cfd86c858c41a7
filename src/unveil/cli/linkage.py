"""The verb `unveil linkage`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from unveil.cli.groups import ASKED
from unveil.cli.options import Hierarchies, Listed, Original, Records, Synthetic, Whole
from unveil.cli.output import Output, record_files, save_records
from unveil.cli.parsing import names_of
from unveil.cli.reading import Reading, checked_pair


def linkage(
    original: Original, *synthetic: Synthetic, keys: Annotated[Listed, Parameter(group=ASKED)] = None,
    linked_by: str = "rows", distance: Literal["gower", "rank"] = "gower", scale: Literal["range", "iqr"] = "range",
    hierarchies: Hierarchies = None, most_records: Whole | None = None, permutations: Whole = 199, level: float = 0.95,
    seed: Whole = 0, n_jobs: Whole | None = None, records: Records = None, reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Measure how many persons are found by the nearest record of an anonymised release.

    Parameters
    ----------
    keys
        Columns that an intruder knows, separated by commas; default: all that every file has.
    linked_by
        Which record is whose: rows, the one at the same place; or a column that names the persons in every file.
    distance
        gower: amounts differ by size, other levels by equal or not; rank: amounts and ordered levels by their ranks.
    scale
        Divisor of differences of amounts: the original's range, or interquartile range (iqr).
    most_records
        Largest number of persons who are looked for; default: all, fewer in files of more than 140000 records.
    permutations
        Number of times that records are dealt to persons at random, for the null.
    level
        Coverage of the intervals.
    seed
        The same seed gives the same figures.
    n_jobs
        Number of threads; default: all.
    """
    from unveil._membership.linkage import linkage as measure

    tables = record_files(records, len(synthetic))
    pair = checked_pair(original, synthetic, reading, output, tables=tables, hierarchies=hierarchies)
    found = measure(
        pair, None if keys is None else names_of(keys, pair.names), linked_by=linked_by, distance=distance, scale=scale,
        most_records=most_records, permutations=permutations, level=level, seed=seed, n_jobs=n_jobs,
    )  # fmt: skip
    save_records(found, records, output.overwrite)
    return output.give(found)
