"""RAPID of several targets at once, in words and a table."""

from __future__ import annotations

from unveil._rapid.joint import JointRapid
from unveil.result import Row, counted, ends, number, paragraph, text_table, warnings_in_words


def all_targets(found: JointRapid) -> str:
    """A row per attack, and what the figures mean."""
    shown = ("correct", "margin", "independent", "null_mean", "null_95")
    rows: list[Row] = [
        [row["release"], row["attacker"], f"{row['n_at_risk']}/{found.n}", number(row["rate"], 4),
         ends((row["low"], row["high"]), 4), *(number(row[name], 4) for name in shown), number(row["p_value"], 3)]
        for row in found.rows
    ]  # fmt: skip
    header = ["release", "attacker", "at risk", "rate", f"{100 * found.level:g} % interval", "correct", "margin",
              "product", "null", "null 95 %", "p"]  # fmt: skip
    return "\n".join(
        [
            f"RAPID, all of {', '.join(found.targets)}: {found.n} of {found.n_original} original {counted()}, keys "
            f"{', '.join(found.keys)}",
            "",
            text_table(header, rows),
            "",
            paragraph(
                "rate: share of original records at risk for every one of the targets. correct: of all records, those",
                "of whom the most probable class is the true one besides. margin: the rate of a guess without release",
                "and keys. product: of the rates of the targets; a rate above it says that the same persons are at",
                "risk for all. null: each target shuffled by itself in the release."
                if found.permutations
                else "risk for all. No null was run (permutations=0): without it the rate cannot be read.",
            ),
            *warnings_in_words(found.warnings),
        ]
    )
