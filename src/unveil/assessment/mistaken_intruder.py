"""The strongest intruder with some records wrong: how fast the exact Bayesian risk falls with mistakes."""

from __future__ import annotations

from typing import Any

from unveil.assessment.part import Context
from unveil.assessment.published_text import Exact, public_note
from unveil.assessment.wording import listed
from unveil.errors import CallError
from unveil.notes import Note

MISTAKES = (0, 1, 5, 50)
"""Numbers of the intruder's other records that are wrong."""
MOST_RECORDS = 200
"""Records drawn at random at most."""
_NOT = "What an intruder learns if some of the other records are wrong was not computed"


def mistaken_intruder(context: Context, target: str, affordable: int, seconds: float) -> dict[str, Any]:
    """Exact risk of a target for an intruder with 0, 1, 5 and 50 wrong records, over the same persons.

    Parameters
    ----------
    context, target
        What is assessed.
    affordable
        Records that there is time for; the numbers of mistakes share them.
    seconds
        Time that is left for it.

    Returns
    -------
    dict
        ``sentence``, one line; ``records`` and ``rows`` (``wrong``, ``mean_posterior``, ``share_certain``), which are
        None and empty where nothing was computed.
    """
    n = min(affordable // len(MISTAKES), MOST_RECORDS, context.pair.n_original)
    numbers = [wrong for wrong in MISTAKES if 2 * wrong <= context.pair.n_original]
    if n < context.scenario.minimum_count or seconds <= 0:
        return _without("there was no time for it")
    rows: list[dict[str, Any]] = []
    for wrong in numbers:
        try:
            found = _risk(context, target, n, wrong, seconds / len(numbers))
        except CallError as error:
            return _without(Note(str(error), "the likelihood is not known for it"))
        if found is None:
            return _without("there was no time for it")
        rows.append({"wrong": wrong} | found)

    def words(say: Exact) -> str:
        means = listed([say.probability(row["mean_posterior"]) for row in rows])
        certain = listed([say.hundred(row["share_certain"], digits=0) for row in rows])
        return (
            f"With {listed([str(wrong) for wrong in numbers])} wrong records among the others, that intruder gives the "
            f"true value of {target} a probability of {means} on average, and is certain of it for {certain} of 100 "
            f"records ({say.count(n)} records drawn at random)."
        )

    return {"sentence": public_note(words, context.rounding_of(n)), "records": n, "rows": rows}


def _risk(context: Context, target: str, n: int, wrong: int, seconds: float) -> dict[str, float] | None:
    """Two figures over n records; None where time ran out."""
    from unveil._posterior import posterior

    risk = posterior(
        context.pair, context.synthesizer, target=target, structure="exact", sample=n, intruder_errors=wrong,
        check_settings=False, seed=context.scenario.seed, time_limit=max(seconds, 1.0),
    )  # fmt: skip
    found = risk.to_dict()["releases"][0]["exact"]
    if found["n_records"] < n:
        return None
    return {name: found[name] for name in ("mean_posterior", "share_certain")}


def _without(reason: str) -> dict[str, Any]:
    public = getattr(reason, "public", reason)
    return {"sentence": Note(f"{_NOT}: {reason}.", f"{_NOT}: {public}."), "records": None, "rows": []}
