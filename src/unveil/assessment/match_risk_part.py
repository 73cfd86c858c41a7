"""Who is matched with the own record: only where the releases have one record of each person."""

from __future__ import annotations

import numpy as np

from unveil.assessment.figure import Figure
from unveil.assessment.part import Context, Section
from unveil.assessment.published_text import public_note
from unveil.stats.moments import Moments
from unveil.stats.shares import score_interval


def match_risk_part(context: Context) -> Section:
    """The expected match risk of an intruder who has all releases, beside chance and the original itself."""
    from unveil._membership.partial_matches import match_risk

    scenario = context.scenario
    assert scenario.one_to_one is not None
    found = match_risk(
        context.pair, scenario.keys, linked_by=scenario.one_to_one, ngroups_keys=scenario.ngroups_keys
    )  # fmt: skip
    n = found.n_original
    persons = found.records(flavour="arrow")
    matched = persons["own_is_likeliest"].to_numpy() / np.maximum(persons["ties"].to_numpy(), 1)
    moments = Moments.of(matched, np.ones(n, dtype=np.int64))
    share, chance = found.expected / n, found.pooled["expected_by_chance"] / n
    low, high = score_interval(share, moments.variance(n) / n, n, scenario.level)
    ceiling = 100 * found.original["expected"] / n
    figure = Figure(
        measure="match risk",
        intruder="release",
        target=None,
        unit="percent",
        per_release=[100 * share],
        low=100 * low,
        high=100 * high,
        null_mean=100 * chance,
        ceiling=ceiling,
        excess=(share - chance) / (1 - chance) if chance < 1 else np.nan,
        sentence=public_note(
            lambda say: (
                f"Of 100 persons, {say.percent(100 * share)} are expected to be matched with their own record by an "
                "intruder who knows their keys and draws among the records that are likeliest to be theirs in all "
                f"releases together; in the original itself {say.percent(ceiling)} are."
            ),
            context.rounding,
        ),
        does_not_show="What is learnt from a match, and how many matches are unique and wrong.",
        contradicted_by="linkage",
    )
    return Section(figures=(figure,), warnings=found.warnings)
