"""The privacy loss in words."""

from __future__ import annotations

import math

from unveil._intruders.privacy_result import QUANTILES, PrivacyLoss, Spread
from unveil.result import Row, paragraph, text_table, warnings_in_words

_NEIGHBOURS = {
    "drawn": "persons drawn by trees of the original, every value given those before it",
    "candidates": "the candidates",
}


def privacy_loss(found: PrivacyLoss) -> str:
    """A row per figure, the groups that lose most, and what the figures mean."""
    lines = [paragraph(*_asked(found)), ""]
    header = ["figure", "persons", *(_name(q) for q in QUANTILES), f"worst, {100 * found.level:g} % interval"]
    lines += [text_table(header, [_row(one) for one in found.spreads]), "", paragraph(*_meaning(found))]
    if not math.isnan(found.stated_epsilon):
        lines.append(paragraph(_stated(found)))
    if found.worst_groups:
        lines += ["", *_groups(found)]
    lines += ["", paragraph(
        "Lower bounds: each person was set against one other person, in this one original. The epsilon of the "
        "synthesizer is at least that of its worst person, neighbour and original, and none of these need be here."
    )]  # fmt: skip
    return "\n".join([*lines, *warnings_in_words(found.warnings)])


def _asked(found: PrivacyLoss) -> list[str]:
    files = " + ".join(str(size) for size in found.sizes)
    return [
        f"Privacy loss: how much likelier a release is made with a person than with another one in that place. In "
        f"{found.label_original} are {found.n_original} records; {found.n_persons} persons, in whose place stand "
        f"{_NEIGHBOURS[found.neighbours]}.",
        f"For {found.n_curves} of them {found.n_releases} fresh releases ({files} records) were made from the "
        "original, and as many without the person."
        if found.n_curves
        else "No fresh releases were made.",
        *(
            [f"{found.n_twins} persons have the values of their candidate: the next one stood in."]
            * (found.n_twins > 0)
        ),
    ]


def _meaning(found: PrivacyLoss) -> list[str]:
    said = []
    if not math.isnan(found.share_ruled_out):
        said.append(
            f"Without {100 * found.share_ruled_out:.1f} % of the persons the releases at hand are impossible: their "
            "realised loss is infinite."
        )
    if found.n_curves:
        said.append(
            "delta(epsilon): probability that a release gives a person away beyond a factor of e^epsilon, in the worse "
            "of both directions. none: nothing finite is enough."
        )
    if found.n_curves and not found.exact:
        said.append(
            "The fit is random: its likelihood, a mean over other fits, chooses the releases that are counted. Losses "
            "larger than the releases can show are not seen, and the loss on given releases is not known."
        )
    return said


def _stated(found: PrivacyLoss) -> str:
    begin = f"The synthesizer guarantees an epsilon of {found.stated_epsilon:g} where one record is replaced."
    if not found.n_above_stated:
        return f"{begin} None of {found.n_curves} persons contradicts that."
    return (
        f"{begin} {found.n_above_stated} of {found.n_curves} persons contradict it: at that epsilon their delta is "
        "above 0, beyond Monte-Carlo error for all persons together."
    )


def _groups(found: PrivacyLoss) -> list[str]:
    names = {
        "n_persons": "persons", "share_ruled_out": "% ruled out", "median_realised": "median realised",
        "n_curves": "with curves", "median_epsilon": f"median epsilon at {found.delta:.3g}",
    }  # fmt: skip
    first = found.worst_groups[0]
    rows: list[Row] = [
        [
            _value(100 * one[name], 1) if name == "share_ruled_out"
            else _value(one[name], infinite="infinite" if name == "median_realised" else "none") if name in names
            else str(one[name])
            for name in first
        ]
        for one in found.worst_groups
    ]  # fmt: skip
    begin = paragraph(f"Groups by {', '.join(found.by)} that lose most (at least 3 persons):")
    return [begin, text_table([names.get(name, name) for name in first], rows)]


def _row(one: Spread) -> Row:
    low, high = one.interval
    ends = "-" if math.isnan(low) else f"{_value(low)} to {_value(high)}"
    infinite = "infinite" if one.figure == "realised loss" else "none"
    return [one.figure, str(one.n), *(_value(value, infinite=infinite) for value in one.quantiles), ends]


def _name(share: float) -> str:
    return {0.5: "median", 1.0: "worst"}.get(share, f"{100 * share:g} %")


def _value(value: float, digits: int = 2, infinite: str = "none") -> str:
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "-"
    return infinite if math.isinf(value) else f"{value:.{digits}f}"
