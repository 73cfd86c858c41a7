"""Verdicts on measures in words and tables."""

from __future__ import annotations

from unveil._conformance.desiderata import DESIDERATA
from unveil._conformance.result import Conformance
from unveil.result import paragraph, text_table


def conformance(found: Conformance) -> str:
    """A row per measure, a column per desideratum, and the readings that broke it."""
    rows = [[m.name, *(found.cell(m.name, name) for name in found.desiderata)] for m in found.measures]
    broken = [
        f"{m.name} {name}\n" + "\n".join(f"    {e}" for e in found.breaking(m.name, name))
        for m in found.measures
        for name in found.desiderata
        if found.breaking(m.name, name)
    ]
    words = [f"{name}, {DESIDERATA[name]}." for name in found.desiderata]
    return "\n\n".join(
        part
        for part in (
            f"{len(found.trials)} trials, every world drawn {found.replicates} times; fail 1/2: one of two trials "
            "failed",
            text_table(["measure", *found.desiderata], rows),
            "Broken by" if broken else "",
            "\n".join(broken),
            paragraph(*words, "Not shown: how measures do elsewhere. A world can break a measure; to hold in all "
                      "of these proves nothing of others."),
        )
        if part
    )  # fmt: skip
