"""A sweep over the number of released records in words and a table."""

from __future__ import annotations

import math

from unveil.assessment.sweep_result import SizeSweep
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import called, kinds_in_words


def sizes(found: SizeSweep) -> str:
    """A row per size and measure for the keys, and for each target."""
    header = ["records", "measure", "mean", "least to largest", called("release", found.level),
              called("process", found.level), "guess", "null", "original"]  # fmt: skip
    lines = [
        paragraph(
            f"Releases of {_listed(found)} records, {found.m} of each size, from {found.n_original} original records;",
            f"keys {', '.join(found.keys)}.",
        )
    ]
    for target in (None, *found.targets):
        rows: list[Row] = [
            [str(row["size"]), row["measure"], row["value"], ends((row["least"], row["largest"])),
             *(ends((row.get(f"{kind}low", math.nan), row.get(f"{kind}high", math.nan))) for kind in ("", "process_")),
             *(number(row.get(name)) for name in ("margin", "null_mean", "ceiling"))]
            for row in found.rows
            if row["target"] == target
        ]  # fmt: skip
        lines += ["", "Identity" if target is None else f"Target {target}", "", text_table(header, rows)]
    return "\n".join(
        [
            *lines,
            "",
            paragraph(
                "Means over the releases of a size; percent of original records (TCAP: of those that count in DiS).",
                "guess: without a release. null: the target shuffled over the records of the release. original: the",
                "original in the place of the release (UiO, Dorig).",
                *kinds_in_words("", "see the column", found.level)[:1],
                "A measure that stays high where few records are released does not take into account that most",
                "persons meet nothing: TCAP is a share of those who do.",
            ),
            *warnings_in_words(found.warnings),
        ]
    )


def _listed(found: SizeSweep) -> str:
    *first, last = map(str, found.sizes)
    return f"{', '.join(first)} and {last}" if first else last
