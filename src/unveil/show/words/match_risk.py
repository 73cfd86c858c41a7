"""Matches with partially synthetic files in words and a table."""

from __future__ import annotations

from unveil._membership.correspondence import ROWS
from unveil._membership.partial_matches import MatchRisk
from unveil.result import Row, number, paragraph, text_table, warnings_in_words


def matched(found: MatchRisk) -> str:
    """A row for all copies, each copy and the original, and what the figures mean."""
    header = ["file", "expected", "by chance", "true rate", "by chance", "unique matches", "false rate"]
    rows: list[Row] = [
        [name, one["expected"], number(one["expected_by_chance"], 2), one["true_rate"],
         number(one["true_rate_by_chance"], 3), number(one["unique"], 0), one["false_rate"]]
        for name, one in found.rows
    ]  # fmt: skip
    whose = "the record at the same place" if found.linked_by == ROWS else f"the record with the same {found.linked_by}"
    return "\n".join(
        [
            paragraph(
                f"Matches of {found.n_original} persons by {', '.join(found.keys)}; a person's own is {whose}.",
            ),
            "",
            text_table(header, rows),
            "",
            paragraph(
                f"An intruder who knows the keys of every person, and has {_copies(found)}, expects to match",
                f"{number(found.expected)} of {found.n_original} persons with their own records (expected), against",
                f"{number(found.pooled['expected_by_chance'], 2)} if records were dealt at random.",
                f"{number(found.true_rate)} of 100 persons have one record that is likeliest, and it is theirs (true",
                f"rate); {_false(found)}",
            ),
            paragraph("Not shown: what is learnt of persons from values that are synthetic, and from other columns."),
            *warnings_in_words(found.warnings),
        ]
    )


def _copies(found: MatchRisk) -> str:
    return "the copy" if len(found.labels) == 1 else f"all {len(found.labels)} copies"


def _false(found: MatchRisk) -> str:
    if not found.pooled["unique"]:
        return "nobody has a single likeliest record, so that the false rate is not defined."
    return f"of 100 persons with one likeliest record, {number(found.false_rate)} have another's (false rate)."
