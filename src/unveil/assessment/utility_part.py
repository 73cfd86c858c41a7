"""The part on utility: how close results from the releases are to results from the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.assessment.figure import Figure
from unveil.assessment.part import Context, Section, Skipped
from unveil.assessment.published_text import Exact, public_note
from unveil.notes import Note
from unveil.stats import student_half

if TYPE_CHECKING:
    from unveil._utility.distributions import Distribution

NAMED = {
    "S_pMSE": "S_pMSE_cart",
    "pMSE": "pMSE_cart",
    "SPECKS": "SPECKS_cart",
    "mean TVD": "TVD_pairs_mean",
    "worst pair TVD": "TVD_pairs_max",
}
"""Figures that a policy or a map can refer to, by the names in the summary of a :class:`unveil.utility.Utility`."""

SAYS = {
    "S_pMSE": (
        "1 is what a release from the true model would have; the larger, the easier the files are told apart. It grows "
        "with the number of records, so releases of different sizes are compared by pMSE or SPECKS."
    ),
    "pMSE": "0: a model cannot tell the release from the original; with few records it is larger by chance alone.",
    "SPECKS": "0 %: a model cannot tell the release from the original; 100 %: it always can.",
    "mean TVD": "0 %: every table of two variables is as in the original; 100 %: they have nothing in common.",
    "worst pair TVD": "The same for the pair of variables that fares worst.",
}


def utility_part(context: Context) -> Section:
    """Propensity scores, single variables, pairs, models that were named, and prediction of the targets."""
    return _section(context, ("propensity", "marginals", "pairs", "models", "prediction"))


def marginals_part(context: Context) -> Section:
    """Single variables alone."""
    return _section(context, ("marginals",))


PART_OF = {"mean TVD": "pairs", "worst pair TVD": "pairs"} | dict.fromkeys(("S_pMSE", "pMSE", "SPECKS"), "propensity")
"""The part of a utility report that a figure comes from."""


def utility_figures(context: Context, names: Sequence[str]) -> list[dict[str, Any]]:
    """Some of the figures of utility, and nothing that they do not take."""
    section = _section(context, tuple(dict.fromkeys(PART_OF[name] for name in names)))
    figures: list[dict[str, Any]] = section.entries["utility"]["figures"]
    return figures


def _section(context: Context, measures: Sequence[str]) -> Section:
    from unveil._utility import utility
    from unveil._utility.run import distributions_of

    if context.clock.left == 0:
        raise Skipped(Note("the budget was used up before utility was measured; raise it, or leave other measures out"))
    scenario = context.scenario
    found = utility(
        context.pair, measures=measures, targets=scenario.targets, models=scenario.models, level=scenario.level,
        seed=scenario.seed,
    )  # fmt: skip
    plain = found.to_dict()
    figures = [
        _figure(name, [release[own] for release in found.releases], scenario.level).to_dict()
        for name, own in NAMED.items()
        if own in found.mean
    ]
    alone = "marginals" in measures
    shown = distributions_of(context.pair, found.columns, scenario.minimum_count) if alone else ()
    return Section(
        entries={
            "utility": {
                "summary": plain["mean"],
                "figures": figures,
                "variables": [_flat(one, ("variable",)) for one in plain["variables"]],
                "distributions": [_drawn(one) for one in shown],
                "pairs": [_flat(one, ("first", "second")) for one in plain["pairs"]],
                "models": [_model(one) for one in plain["models"]],
                "prediction": [_prediction(one) for one in plain["prediction"]],
                "sentence": _sentence(context, found.mean),
            }
        },
        warnings=found.warnings,
    )


def _figure(name: str, values: Sequence[float], level: float) -> Figure:
    """A figure whose interval is that of the releases' mean; a single release has none."""
    n = len(values)
    mean = math.fsum(values) / n
    half = student_half(np.array(values), level) if n > 1 else math.nan
    return Figure(
        measure=name,
        intruder="",
        target=None,
        unit="distance",
        per_release=list(values),
        low=mean - half,
        high=mean + half,
        over="releases of this original",
        sentence=Note(SAYS[name]),
        does_not_show="Whether the analysis that a user has in mind comes out the same; name it as a model.",
        contradicted_by="worst pair TVD",
    )


def _drawn(one: Distribution) -> dict[str, Any]:
    """A variable in all files; its levels are those that enough original records have."""
    bars = [
        {"level": bar.level, "persons": bar.records, "original": bar.original, "releases": list(bar.releases)}
        for bar in one.bars
    ]
    return {"variable": one.variable, "kind": one.kind, "bars": bars}


def _flat(one: Mapping[str, Any], subject: Sequence[str]) -> dict[str, Any]:
    return {name: one[name] for name in subject} | dict(one["mean"])


def _model(one: Mapping[str, Any]) -> dict[str, Any]:
    mean = one["mean"]
    own = {name: value for name, value in one.items() if name not in ("releases", "mean", "sd", "undefined")}
    return own | {
        "original": mean["estimate_original"],
        "synthetic": mean["estimate"],
        "overlap": mean["overlap"],
        "difference": mean["std_difference"],
    }


def _prediction(one: Mapping[str, Any]) -> dict[str, Any]:
    mean = one["mean"]
    return {
        "target": one["target"],
        "metric": one["score"],
        "trained_on_original": mean["TRTR"],
        "trained_on_synthetic": mean["TSTR"],
        "difference": mean["difference"],
        "learner": one["learner"],
    }


def _sentence(context: Context, mean: Mapping[str, float]) -> Note:
    pairs, worst, score = (mean.get(NAMED[name], math.nan) for name in ("mean TVD", "worst pair TVD", "S_pMSE"))
    alone = [mean.get(name, math.nan) for name in ("TVD_mean", "TVD_max")]

    def words(say: Exact) -> str:
        if math.isnan(pairs):
            return (
                f"Single variables are {say.percent(100 * alone[0])} % away from the original on average and "
                f"{say.percent(100 * alone[1])} % in the worst case (total variation distance)."
            )
        text = (
            f"The tables of two variables are {say.percent(100 * pairs)} % away from the original on average and "
            f"{say.percent(100 * worst)} % in the worst case (total variation distance)"
        )
        if math.isnan(score):
            return f"{text}."
        return (
            f"{text}; a tree tells the files apart {say.ratio(score)} times as well as it would if the release came "
            "from the true model."
        )

    return public_note(words, context.rounding)
