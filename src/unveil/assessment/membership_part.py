"""Whether a person's record was used: membership attacks, only where there is a true holdout."""

from __future__ import annotations

from unveil.assessment.part import Context, Section, Skipped

__all__ = ["membership_part"]


def membership_part(context: Context) -> Section:
    """Attacks on records that were used and records that were not."""
    raise Skipped("not yet")
