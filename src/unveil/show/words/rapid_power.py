"""How many persons a rate of RAPID needs, in words and a table."""

from __future__ import annotations

import math

from unveil._rapid.power import RapidPower
from unveil.result import Row, number, paragraph, text_table


def needed(found: RapidPower) -> str:
    """A row per attack, and what the figures mean."""
    rows: list[Row] = [
        [row["release"], row["attacker"], number(row["rate"], 4), number(row["null"], 4), str(row["n"]),
         number(row["power"], 3), "-" if math.isnan(row["n_needed"]) else f"{row['n_needed']:.0f}"]
        for row in found.rows
    ]  # fmt: skip
    reasons = dict.fromkeys(row["undefined"] for row in found.rows if row["undefined"])
    return "\n".join(
        [
            f"Power of RAPID of {found.target!r} at {found.symbol} {found.threshold:g}",
            "",
            text_table(["release", "attacker", "rate", "null", "records", "power", "records needed"], rows),
            "",
            paragraph(
                f"records needed: the smallest file of which a one-sided test at {100 * found.alpha:g} % tells the",
                f"rate from the null in {100 * found.power:g} of 100 samples. power: the same for the file as it is.",
                "Exact binomial test, for independent persons and a null that is known; a release made from another",
                "number of records has another rate and another null.",
            ),
            *(paragraph(f"Not defined: {reason}.") for reason in reasons),
        ]
    )
