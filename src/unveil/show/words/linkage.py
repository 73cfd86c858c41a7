"""Record linkage in words and a table."""

from __future__ import annotations

from unveil._membership.correspondence import ROWS
from unveil._membership.linkage_result import Linkage
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import called


def linked(found: Linkage) -> str:
    """A row per release, and what the figures mean."""
    header = ["release", "found", "alone", "persons", "by chance", "95th percentile", "p-value",
              f"found, {called('release', found.level)}"]  # fmt: skip
    releases = found.releases
    rows: list[Row] = [
        [label, one["share"], one["alone"], number(one["expected"], 1), one["null_mean"], one["null_95"],
         number(one["p_value"], 3), ends((one["low"], one["high"]))]
        for label, one in zip(found.labels, releases, strict=True)
    ]  # fmt: skip
    if len(rows) > 1:
        rows.append(["mean", found.share, *[None] * (len(header) - 2)])
    whose = "the record at the same place" if found.linked_by == ROWS else f"the record with the same {found.linked_by}"
    drawn = found.n_searched < found.n_original
    first = releases[0]
    return "\n".join(
        [
            paragraph(
                f"Record linkage: {found.n_original} original records, keys {', '.join(found.keys)};",
                f"a person's own is {whose}; {_DISTANCES[found.distance]}.",
                f"Drawn at random: {found.n_searched} persons." if drawn else "",
            ),
            "",
            text_table(header, rows),
            "",
            paragraph(
                f"Of 100 persons, {number(found.share)} are found by an intruder who takes the record that is nearest",
                "in the keys for theirs, and draws where several are as near (found).",
                f"For {number(first['alone'])} of 100 the own record of {found.labels[0]} is nearest and no other is",
                "as near (alone).",
                "persons: how many of all are found.",
                f"Records that are dealt to persons at random find one of all, {number(found.null_mean, 3)} %;",
                f"in the original itself {number(found.ceiling)} % are found, where only persons with the same keys",
                "tie.",
            ),
            *([_PERHAPS_SHUFFLED] if found.linked_by == ROWS and _some_are_chance(found) else []),
            paragraph("Not shown: what is learnt of persons who are not found, and of targets."),
            *warnings_in_words(found.warnings),
        ]
    )


def _some_are_chance(found: Linkage) -> bool:
    return any(one["share"] <= one["null_95"] for one in found.releases)


_PERHAPS_SHUFFLED = paragraph(
    "A share that chance reaches also comes of rows in another order: then name the column that says whose record is",
    "whose (linked_by, --linked-by).",
)
_DISTANCES = {
    "gower": "amounts differ by size, other levels by equal or not",
    "rank": "amounts and ordered levels differ by rank, other levels by equal or not",
}
