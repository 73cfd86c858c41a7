"""Whose record was used, for the strongest intruder: the synthesizer and all records but one are known."""

from __future__ import annotations

import math
from typing import Any

from unveil.assessment.figure import Figure
from unveil.assessment.part import Context, Section, Skipped, need_strongest
from unveil.assessment.published_text import public_note
from unveil.assessment.scenario import INTRUDERS
from unveil.errors import CallError
from unveil.notes import Note

MOST_GAMES = 1000
"""Persons who are drawn at random where trees can be walked."""
MOST_FITS = 100
"""Persons where the synthesizer has to be fitted for each."""
LOT = 0.5
"""What a guess at random achieves."""
_OTHERS = {
    "holdout": "records that the synthesizer never saw",
    "halves": "the half of the records that a further fit did not use",
}


def exact_membership_part(context: Context) -> Section:
    """Who of two persons was used: held-out records, or halves that the synthesizer is fitted to anew."""
    from unveil._intruders import exact_membership
    from unveil._intruders.result import CONTRAST
    from unveil._posterior.choice import check_maker

    scenario, pair = context.scenario, context.pair
    need_strongest(context)
    if context.clock.left == 0:
        raise Skipped(Note("the budget was used up before exact membership was measured"))
    held_out = context.unseen is not None
    if not held_out:
        # What follows is about the synthesizer alone: of releases that it did not make it says nothing.
        check_maker(pair, context.synthesizer, scenario.targets[0])
    try:
        found = exact_membership(
            pair, context.synthesizer, candidates=None if held_out else "halves", sample=_most_games(context),
            level=scenario.level, seed=scenario.seed,
        )  # fmt: skip
    except CallError as error:
        raise Skipped(Note(str(error), "the likelihood of whole records is not known for this synthesizer")) from error
    figure = _figure(context, found)
    entry = {
        "sentence": figure.sentence,
        "contrast": Note(CONTRAST),
        "game": found.game,
        "others": found.others,
        "persons": found.n_games[0],
        "level": found.level,
        "share_right": _known(context, found, found.share_right),
        "share_certain": _known(context, found, found.share_certain),
        "share_certain_low": _known(context, found, found.share_certain_interval[0]),
        "share_certain_high": _known(context, found, found.share_certain_interval[1]),
    }
    return Section(figures=(figure,), entries={"exact_membership": entry}, warnings=found.warnings)


def _most_games(context: Context) -> int:
    """How many persons are drawn: by the kind of synthesizer, not by a clock."""
    from unveil._posterior.refit import quietly
    from unveil._posterior.tree_methods import refusal
    from unveil.synthesis import CartSynthesizer
    from unveil.synthesis.any_synthesizer import as_synthesizer

    fitted = quietly(as_synthesizer(context.synthesizer), context.pair.original)
    walked = isinstance(fitted, CartSynthesizer) and not fitted.proper
    return MOST_GAMES if walked and refusal(fitted, context.pair.original.names) is None else MOST_FITS


def _known(context: Context, found: Any, value: float) -> float | None:
    """A figure of enough persons."""
    return value if found.n_games[0] >= context.scenario.minimum_count else None


def _figure(context: Context, found: Any) -> Figure:
    n, least = found.n_games[0], context.scenario.minimum_count
    few = n < least
    rounding = context.rounding_of(n)
    low, high = (math.nan, math.nan) if few else found.share_right_interval
    if few:
        reason = f"persons were asked about, fewer than the {least} that a figure is given of"
        sentence = Note(f"{n} {reason}.", f"Some {reason}.")
        undefined = Note(f"{n} {reason}", f"some {reason}")
    else:
        undefined = None
        sentence = public_note(
            lambda say: (
                "Of two persons, one of whom was used, an intruder who has the synthesizer and all other records names "
                f"the right one in {say.hundred(found.share_right, digits=0)} of 100 cases, and is certain in "
                f"{say.hundred(found.share_certain, digits=0)}; a guess at random is right in 50 "
                f"({say.count(n)} persons drawn at random, each against one of {_OTHERS[found.others]})."
            ),
            rounding,
        )
    return Figure(
        measure="exact membership",
        intruder=INTRUDERS[2],
        target=None,
        unit="share",
        per_release=[math.nan if few else found.share_right],
        low=low,
        high=high,
        margin=LOT,
        ceiling=1.0,
        sentence=sentence,
        does_not_show="What intruders find who know fewer records, or not how the release was made: it is the upper "
        "end.",
        contradicted_by="posterior certain",
        undefined=undefined,
        persons=n,
    )
