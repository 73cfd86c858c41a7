"""Whom the nearest record finds: only where the releases have one record of each person."""

from __future__ import annotations

from unveil.assessment.figure import Figure, mean_of
from unveil.assessment.part import Context, Section
from unveil.assessment.published_text import public_note

PERMUTATIONS = 199


def linkage_part(context: Context) -> Section:
    """Record linkage by the keys, beside chance and the original itself."""
    from unveil._membership import linkage

    scenario = context.scenario
    assert scenario.one_to_one is not None
    found = linkage(
        context.pair, scenario.keys, linked_by=scenario.one_to_one, permutations=PERMUTATIONS, level=scenario.level,
        seed=scenario.seed,
    )  # fmt: skip
    rows = found.releases
    share, chance = found.share, found.null_mean
    figure = Figure(
        measure="linkage",
        intruder="release",
        target=None,
        unit="percent",
        per_release=[row["share"] for row in rows],
        low=mean_of([row["low"] for row in rows]),
        high=mean_of([row["high"] for row in rows]),
        null_mean=chance,
        null_95=mean_of([row["null_95"] for row in rows]),
        p_value=min(1.0, len(rows) * min(row["p_value"] for row in rows)),
        ceiling=found.ceiling,
        excess=mean_of([row["excess"] for row in rows]),
        sentence=public_note(
            lambda say: (
                f"Of 100 persons, {say.percent(share)} are found by an intruder who knows their keys and takes the "
                f"nearest record of the release for theirs; in the original itself {say.percent(found.ceiling)} are."
            ),
            context.rounding,
        ),
        does_not_show="What is learnt about persons who are not found, and what a better linkage finds.",
        contradicted_by="DiSCO",
    )
    return Section(figures=(figure,), warnings=found.warnings)
