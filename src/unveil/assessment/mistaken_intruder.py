"""The strongest intruder with some records wrong: how fast the exact Bayesian risk falls with mistakes."""

from __future__ import annotations

import math
from typing import Any

from unveil.assessment.part import Context
from unveil.assessment.published_text import Exact, public_note
from unveil.assessment.rounding import FEWEST_STEPS
from unveil.assessment.wording import listed
from unveil.errors import CallError
from unveil.notes import Note

MISTAKES = (0, 1, 5, 50)
"""Numbers of the intruder's other records that are wrong."""
MOST_RECORDS = 200
"""Records drawn at random at most."""
DRAWS = 5
"""Draws of the mistakes: one draw and another give other figures."""
FIGURES = ("mean_posterior", "share_certain", "share_certain_wrong")
_NOT = "What an intruder learns if some of the other records are wrong was not computed"


def mistaken_intruder(context: Context, target: str, affordable: int, seconds: float) -> dict[str, Any]:
    """Exact risk of a target for an intruder with 0, 1, 5 and 50 wrong records, over the same persons.

    Parameters
    ----------
    context, target
        What is assessed.
    affordable
        Records that there is time for; the numbers of mistakes and their draws share them.
    seconds
        Time that is left for it.

    Returns
    -------
    dict
        ``sentence``, one line; ``records``, ``draws`` and ``rows`` (``wrong`` and :data:`FIGURES`, means over the
        draws), which are None and empty where nothing was computed.
    """
    numbers = [wrong for wrong in MISTAKES if 2 * wrong <= context.pair.n_original]
    n, draws = _planned(context, affordable, len(numbers) - 1)
    if n < context.scenario.minimum_count or seconds <= 0:
        return _without("there was no time for it")
    seconds /= 1 + draws * (len(numbers) - 1)
    rows: list[dict[str, Any]] = []
    records: Any = "all"
    for wrong in numbers:
        found = []
        for draw in range(draws if wrong else 1):
            try:
                risk = _risk(context, target, wrong, draw, seconds, records=records, sample=n)
            except CallError as error:
                return _without(Note(str(error), "the likelihood is not known for it"))
            found.append(risk.to_dict()["releases"][0]["exact"])
            if found[-1]["n_records"] < n:
                return _without("there was no time for it")
            # The same persons for all mistakes.
            records = risk.posteriors().members
        rows.append({"wrong": wrong} | {name: math.fsum(one[name] for one in found) / len(found) for name in FIGURES})

    def words(say: Exact) -> str:
        means = listed([say.probability(row["mean_posterior"]) for row in rows])
        certain, misled = (listed([say.hundred(row[name], digits=0) for row in rows]) for name in FIGURES[1:])
        return (
            f"With {listed([str(wrong) for wrong in numbers])} wrong records among the others, that intruder gives the "
            f"true value of {target} a probability of {means} on average, is certain of it for {certain} of 100 "
            f"records, and is certain of a wrong value for {misled} ({say.count(n)} records drawn at random; "
            f"{f'means over {draws} draws' if draws > 1 else 'one draw'} of the mistakes)."
        )

    return {"sentence": public_note(words, context.rounding_of(n)), "records": n, "draws": draws, "rows": rows}


def _planned(context: Context, affordable: int, n_mistaken: int) -> tuple[int, int]:
    """Records, and draws of the mistakes: several, unless so few records were left that nothing could be published."""
    n_original = context.pair.n_original
    enough = min(FEWEST_STEPS * context.scenario.minimum_count, n_original)
    planned = [(min(affordable // (1 + draws * n_mistaken), MOST_RECORDS, n_original), draws) for draws in (DRAWS, 1)]
    return next((one for one in planned if one[0] >= enough), planned[-1])


def _risk(context: Context, target: str, wrong: int, draw: int, seconds: float, **which: Any) -> Any:
    """The exact risk with one draw of the mistakes."""
    from unveil._posterior import posterior

    return posterior(
        context.pair, context.synthesizer, target=target, structure="exact", intruder_errors=wrong,
        check_settings=False, seed=context.scenario.seed + draw, time_limit=max(seconds, 1.0), **which,
    )  # fmt: skip


def _without(reason: str) -> dict[str, Any]:
    public = getattr(reason, "public", reason)
    sentence = Note(f"{_NOT}: {reason}.", f"{_NOT}: {public}.")
    return {"sentence": sentence, "records": None, "draws": None, "rows": []}
