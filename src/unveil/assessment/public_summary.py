"""A summary for publication to everybody: at most ten figures, rounded at random to the share of the minimum count.

An intruder who has all records but one can work out every figure of an assessment anew for each value that the last
record might have, and keeps the values that give the figure that was published. Rounded to the nearest multiple, a
figure still tells of that record when it lies at the edge between two multiples, and then of everybody who contributes
to it. So each figure is rounded up or down by a draw, up with the probability of the share of a step that it lies above
the lower multiple: next to an edge nearly every draw is the same for every value of the record. The draws come from the
operating system, are made once for an assessment and all its pages, as their mean over pages would be the figure, and
are written nowhere: a seed would let the intruder repeat them.

References
----------
Random rounding of counts is used by statistical offices for tables: Hundepool et al. (2012), Statistical Disclosure
Control, section 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from random import SystemRandom
from typing import Any

from unveil.assessment.published_text import rounding_of
from unveil.assessment.rounding import Rounding

MOST_FIGURES = 10

TOLD = {"persons": 300, "public summary": 0.02, "release-safe report": 1.0, "full report": 1.0}
"""Share of persons of whom an intruder with all records but one is told the missing answer, in the simulated survey of
tests/assessment/test_intruder.py, rounded up."""


def told_of_hundred(document: str) -> str:
    """Of how many persons an intruder with all other records is told by a document, in words.

    Examples
    --------
    >>> told_of_hundred("public summary"), told_of_hundred("full report")
    ('at most 2 of 100 records', 'all records')
    """
    return "all records" if TOLD[document] == 1 else f"at most {100 * TOLD[document]:g} of 100 records"


Draw = Callable[[], float]
Drawn = MutableMapping[tuple[str, str | None, str], float]
"""Numbers that were drawn, by measure, target and name of the figure."""

_NO_RELATION = "if the release did not say how keys and answers go together"
_RISKS = (
    (
        "repU", "ceiling",
        "Of 100 original records, those that are alone in the original with what the intruder knows, and meet exactly "
        "one released record with the same",
        "alone in the original",
    ),
    (
        "DiSCO", "null_mean",
        "Of 100 original records, those that meet released records with what the intruder knows, all of which give the "
        "true answer",
        _NO_RELATION,
    ),
    (
        "DCAP", "null_mean",
        "Of 100 guesses, one for each original record, drawn from the released records that agree in what the intruder "
        "knows, those that are right",
        _NO_RELATION,
    ),
)  # fmt: skip
"""Measure, what stands beside it, and both in words.

Only measures that one record moves by hardly more than itself. RAPID holds scores against the shares of classes, so
that one record can move everybody in a leaf. What an intruder learns who has all other records is worked out from
every single record, and where a record does not fit the release there is no such figure, which tells of it; the same
holds for attacks on a synthesizer that is fitted anew."""
_NOT_ALL = "; some records were left out of the count"
_USES = {
    "mean TVD": "Percent by which tables of two variables differ from those of the original, on average",
    "worst pair TVD": "The same for the pair of variables that fares worst",
}


def public_summary(
    assessment: Mapping[str, Any], draw: Draw | None = None, drawn: Drawn | None = None
) -> dict[str, Any]:
    """The few figures of an assessment that everybody may know.

    Of several targets the one is taken for which a figure is highest.

    Parameters
    ----------
    assessment
        The whole assessment as plain values, figures as they are.
    draw
        Gives random numbers from 0 to 1; by default the operating system.
    drawn
        Numbers of the pages before, which stay; what is drawn is added.

    Returns
    -------
    dict
        ``figures``, each with ``measure``, ``what`` and ``value`` (of 100), ``beside_what`` and ``beside`` (or None),
        and ``step``, of which both are multiples; ``minimum_count``; ``told``, the share of persons that an intruder
        with all other records was told of in a test, by document, and the number of ``persons`` in it.
    """
    draw, drawn = draw or SystemRandom().random, {} if drawn is None else drawn
    rounding = Rounding(assessment["data"]["original"]["records"], assessment["scenario"]["minimum_count"])
    utility = (assessment.get("utility") or {}).get("figures") or ()
    partly = {one["target"] for one in assessment.get("targets", ()) if one.get("exclusions") is not None}
    rows = [*_risks(assessment["figures"], partly, rounding, draw, drawn), *_use(utility, rounding, draw, drawn)]
    return {"figures": rows, "minimum_count": rounding.minimum_count, "told": dict(TOLD)}


def _risks(
    figures: Sequence[Mapping[str, Any]], partly: Collection[str], rounding: Rounding, draw: Draw, drawn: Drawn
) -> Iterator[dict[str, Any]]:
    for measure, beside, what, beside_what in _RISKS:
        same = [one for one in figures if one["measure"] == measure and _of_hundred(one, "value") is not None]
        if same:
            highest = max(same, key=lambda one: one["value"])
            said = what + _NOT_ALL if highest["target"] in partly else what
            yield from _row(highest, said, beside, beside_what, rounding_of(highest, rounding), draw, drawn)


def _use(
    figures: Sequence[Mapping[str, Any]], rounding: Rounding, draw: Draw, drawn: Drawn
) -> Iterator[dict[str, Any]]:
    for one in figures:
        if one["measure"] in _USES and _of_hundred(one, "value") is not None:
            yield from _row(one, _USES[one["measure"]], None, "", rounding, draw, drawn)


def _row(
    figure: Mapping[str, Any], what: str, beside: str | None, beside_what: str, rounding: Rounding, draw: Draw,
    drawn: Drawn,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The row of a figure; none where the persons behind it are too few."""
    if rounding.step is None:
        return
    value, other = _of_hundred(figure, "value"), None if beside is None else _of_hundred(figure, beside)
    assert value is not None

    def kept(name: str) -> Draw:
        key = (figure["measure"], figure["target"], name)
        if key not in drawn:
            drawn[key] = draw()
        return lambda: drawn[key]

    yield {
        "measure": figure["measure"],
        "what": what,
        "value": rounding.at_random(value, kept("value")),
        "beside_what": beside_what if other is not None else "",
        "beside": None if other is None else rounding.at_random(other, kept("beside")),
        "step": rounding.step,
    }


def _of_hundred(figure: Mapping[str, Any], name: str) -> float | None:
    """A number of a figure on a scale to 100; None where it is not defined."""
    value = figure[name]
    if value is None or not math.isfinite(value):
        return None
    return float(value) * (1 if figure["unit"] == "percent" else 100)
