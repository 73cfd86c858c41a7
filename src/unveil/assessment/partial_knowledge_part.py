"""How fast the strongest intruder weakens: the Bayesian risk against the share of the other records that is known."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from unveil.assessment.part import MOST_SECONDS, Context, Section, Skipped, need_strongest
from unveil.assessment.published_text import Exact, public_note
from unveil.assessment.wording import listed
from unveil.errors import CallError, UnveilWarning
from unveil.limits import exceeds
from unveil.notes import Note

MOST_PERSONS = 200
"""Persons drawn at random at most."""
BUDGET_SHARE = 0.25
"""Share of the budget that the curves of all targets should take."""
VALUE_SECONDS = 6e-5
"""Seconds that an unknown person takes, for each possible value and column."""
STRUCTURE: Literal["splits"] = "splits"
FIGURES = ("mean_prior", "mean_posterior", "monte_carlo_error", "share_above_90", "share_not_mixed")
_QUESTION = (
    "The curve answers the objection that nobody has all other records. It is not a calibrated posterior: the intruder "
    "was told the splits that were fitted to the true records (splits disclosed), and these tell of the records beyond "
    "the counts of donors. What the shape of the trees tells an intruder who has all other records (exact) is not in "
    "it."
)
_RISE = (
    "Where the curve rises, the release of unknown persons teaches how columns go together: this is inference about "
    "the population, and not disclosure of a person."
)
_RISEN = (
    "; that it rises is inference about the population, from the release of unknown persons, and no disclosure of a "
    "person."
)


@dataclass(frozen=True)
class PlannedCurve:
    """Points of the curve, by the sizes of the files and the budget, not by a clock.

    Parameters
    ----------
    shares
        Shares of the other records that are known, the largest first.
    left_out
        Shares that there is no time for.
    persons
        Persons drawn at random.
    """

    shares: tuple[float, ...]
    left_out: tuple[float, ...]
    persons: int


def planned_curve(context: Context, target: str) -> PlannedCurve:
    """Return the shares that there is time for: from the strongest intruder on, as sets of unknown persons grow."""
    from unveil._intruders.partial_knowledge import KNOWN_SHARES

    scenario, pair = context.scenario, context.pair
    persons = min(MOST_PERSONS, pair.n_original)
    each = VALUE_SECONDS * pair.column(target).n_levels * len(pair.original.names)
    seconds = min(BUDGET_SHARE * scenario.budget / len(scenario.targets), MOST_SECONDS)
    shares: list[float] = []
    for share in KNOWN_SHARES:
        unknown = round((1 - share) * pair.n_original)
        # One unknown person is the intruder who knows all others.
        if unknown < 2 and shares:
            continue
        seconds -= each * unknown * math.ceil(persons / max(unknown, 1))
        if seconds < 0:
            break
        shares.append(share)
    return PlannedCurve(tuple(shares), tuple(one for one in KNOWN_SHARES if one < shares[-1]), persons)


def partial_knowledge_part(target: str) -> Callable[[Context], Section]:
    """The part of one target."""

    def compute(context: Context) -> Section:
        need_strongest(context)
        if context.clock.left == 0:
            raise Skipped(Note("the budget was used up before intruders with fewer records were looked at"))
        plan = planned_curve(context, target)
        if plan.persons < context.scenario.minimum_count:
            raise Skipped(Note("the records are fewer than a figure is given of"))
        if len(plan.shares) < 2:
            raise Skipped(Note(f"there is no time for it in this budget: {target} has many values; {_MORE}"))
        points, seconds = _points(context, target, plan)
        left = tuple(share for share in plan.shares if share not in {one["share_known"] for one in points})
        return Section(
            targets={target: {"partial_knowledge": curve_entry(context, target, points, (*left, *plan.left_out))}},
            partial=Note(f"{_known(left)} there was no time within {seconds:.0f} seconds") if left else None,
        )

    return compute


_MORE = "a larger budget, or unveil partial-knowledge, goes on"


def _known(shares: Sequence[float]) -> str:
    return f"Where {listed([f'{100 * share:g}' for share in shares])} % of the other records are known"


def _points(context: Context, target: str, plan: PlannedCurve) -> tuple[list[dict[str, Any]], float]:
    """Figures by share known, and the seconds that they may take; where time runs out the others are left out."""
    from unveil._intruders import partial_knowledge

    # What is planned is short: only a slow or busy machine ends it, so that the parts after it have half of the time.
    seconds = min(context.clock.left / 2, MOST_SECONDS)
    end = time.monotonic() + seconds
    points: list[dict[str, Any]] = []
    for share in plan.shares:
        try:
            with warnings.catch_warnings():
                # What is said of the files is said with the posterior; points without a figure are told of below.
                warnings.simplefilter("ignore", UnveilWarning)
                found = partial_knowledge(
                    context.pair, context.synthesizer, target=target, records_known=share, structure=STRUCTURE,
                    sample=plan.persons, sets=1, budget=max(end - time.monotonic(), 1.0), check_settings=False,
                    seed=context.scenario.seed,
                ).points[0]  # fmt: skip
        except CallError as error:
            # Where all others are known nothing takes long: what is refused there is the synthesizer, or a column.
            if not points:
                raise Skipped(Note(str(error), "it is not known for this synthesizer and these columns")) from error
            break
        figures = {name: getattr(found, name) for name in FIGURES}
        points.append({"share_known": share, "unknown": found.n_unknown} | figures)
    return points, seconds


def curve_entry(
    context: Context, target: str, points: Sequence[dict[str, Any]], left_out: Sequence[float]
) -> dict[str, Any]:
    """What is told of a curve.

    Parameters
    ----------
    context, target
        What is assessed.
    points
        Figures by share known, the largest share first; where chains have not mixed the posterior is NaN.
    left_out
        Shares that there was no time for.
    """
    persons = min(MOST_PERSONS, context.pair.n_original)
    defined = [one for one in points if not math.isnan(one["mean_posterior"])]
    refused = [one["share_known"] for one in points if one not in defined]

    def words(say: Exact) -> str:
        text = (
            f"An intruder who was told the splits of the trees and knows {_percentages(defined)} % of the other "
            f"records gives the true value of {target} a probability of "
            f"{listed([say.probability(one['mean_posterior']) for one in defined])} on average, "
            f"{say.prior(points[0]['mean_prior'])} before the release was seen ({say.count(persons)} records "
            "drawn at random)."
        )
        if refused:
            text += f" {_known(refused)}, more than 1 % of the persons have not mixed, and there is no figure."
        return text

    def in_short(say: Exact) -> str:
        first, last = defined[0], defined[-1]
        risen = exceeds(last["mean_posterior"], first["mean_posterior"], unit=1.0)
        return (
            f"An intruder who was told the splits alone gives the true value of {target} a probability of "
            f"{say.probability(first['mean_posterior'])} on average with {_percentages([first])} % of the other "
            f"records known, and of {say.probability(last['mean_posterior'])} with {_percentages([last])} %"
            f"{_RISEN if risen else '.'}"
        )

    told = [_QUESTION]
    if any(exceeds(later["mean_posterior"], one["mean_posterior"], unit=1.0) for one, later in pairwise(defined)):
        told.append(_RISE)
    if left_out:
        told.append(f"{_known(left_out)}, it was not computed: {_MORE}.")
    return {
        "sentence": public_note(words, context.rounding_of(persons)),
        "in_short": public_note(in_short, context.rounding_of(persons)) if len(defined) > 1 else Note(""),
        "contrast": Note(" ".join(told)),
        "structure": STRUCTURE,
        "persons": persons,
        "points": list(points),
    }


def _percentages(points: Sequence[dict[str, Any]]) -> str:
    return listed([f"{100 * one['share_known']:g}" for one in points])
