"""Which parts an assessment has, in which order, and what of each is on the first page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from unveil.assessment.advice_part import key_advice_part, settings_advice_part
from unveil.assessment.exact_membership_part import exact_membership_part
from unveil.assessment.key_tables import attribute_part, identity_part, key_sets_part, structure_part
from unveil.assessment.linkage_part import linkage_part
from unveil.assessment.match_risk_part import match_risk_part
from unveil.assessment.membership_part import membership_part
from unveil.assessment.other_measures_part import other_measure_part
from unveil.assessment.part import AssessmentPart, Context, Section
from unveil.assessment.partial_knowledge_part import partial_knowledge_part
from unveil.assessment.plausibility_part import plausibility_part
from unveil.assessment.posterior_part import posterior_part
from unveil.assessment.rapid_part import inference_part
from unveil.assessment.scenario import Scenario
from unveil.assessment.utility_part import marginals_part, utility_part

_PROCESS = "intervals over the process, from releases made of halves of the original"
_FIRST_FIGURES = ("identity", "attribute")
"""Parts whose figures are shown as soon as they are there."""
_FOREST = "a random forest, which learns more than one tree"
_ATTACKERS = {"auto": _FOREST, "rf": _FOREST, "cart": "the attack on resampled originals"}
"""What the first page, where one tree attacks, has not yet, by the attacker that was asked for."""
Compute = Callable[[Context], Section]


def plan(scenario: Scenario, *, repeated: bool) -> list[AssessmentPart]:
    """Return the parts in the order of their cost; one part for each target where a single target takes long.

    Parameters
    ----------
    scenario
        What is asked.
    repeated
        Whether the synthesizer can be fitted again, for intervals over the process.
    """
    first = partial(identity_part, repeated=False), partial(attribute_part, repeated=False)
    identity, attribute = first if repeated else (identity_part, attribute_part)
    whole: dict[str, tuple[Compute, Compute | None, str]] = {
        "identity": (identity_part, identity, _PROCESS),
        "attribute": (attribute_part, attribute, _PROCESS),
        "structure": (structure_part, structure_part, ""),
        "key sets": (key_sets_part, None, ""),
        "utility": (
            utility_part,
            marginals_part,
            "pairs of variables, propensity scores, and prediction of the targets",
        ),
        "membership": (membership_part, None, ""),
    }
    parts = []
    for measure in scenario.measures:
        if measure in whole:
            rows = measure == "membership"
            parts.append(AssessmentPart(measure, measure, *whole[measure], needs_rows=rows))
            if measure == "identity" and scenario.one_to_one is not None:
                parts.append(AssessmentPart("linkage", measure, linkage_part, needs_rows=True))
                parts.append(AssessmentPart("match risk", measure, match_risk_part, needs_rows=True))
            if rows:
                name = "membership: all but one record"
                parts.append(AssessmentPart(name, measure, exact_membership_part, needs_rows=rows))
        elif measure == "advice":
            parts.append(AssessmentPart("advice: keys", measure, key_advice_part))
            parts.append(AssessmentPart("advice: synthesizer", measure, settings_advice_part, needs_rows=True))
        else:
            parts.extend(_of_target(measure, target, scenario, repeated=repeated) for target in scenario.targets)
    if scenario.rules:
        parts.append(AssessmentPart("plausibility", "plausibility", plausibility_part, plausibility_part))
    for name in scenario.other_measures:
        part = other_measure_part(name)
        parts.append(AssessmentPart(f"other measures: {name}", "other measures", part, part, needs_rows=True))
    return parts


def _of_target(measure: str, target: str, scenario: Scenario, *, repeated: bool) -> AssessmentPart:
    name = f"{measure}: {target}"
    if measure == "partial knowledge":
        return AssessmentPart(name, measure, partial_knowledge_part(target), needs_rows=True)
    if measure == "posterior":
        better = "the shape of the trees, for records drawn at random and those that were flagged"
        parts = posterior_part(target), posterior_part(target, first=True)
        return AssessmentPart(name, measure, *parts, better, needs_rows=True)
    better = _ATTACKERS.get(scenario.attacker, f"the attacker {scenario.attacker}")
    whole, first = inference_part(target), inference_part(target, first=True)
    if scenario.attacker == "cart" and not repeated:
        first = whole
    return AssessmentPart(name, measure, whole, first, better)


def shown(steps: Sequence[tuple[AssessmentPart, bool]], number: int) -> bool:
    """Whether a page is to be drawn after a step: of the first page after the first figures, and when it is complete.

    Parameters
    ----------
    steps
        Parts in the order in which they are worked out, and whether it is for the first page.
    number
        The step that was taken.
    """
    part, first = steps[number]
    if not first:
        return True
    following = [other for other, is_first in steps[number + 1 :] if is_first]
    return not following or (
        part.measure in _FIRST_FIGURES and all(other.measure not in _FIRST_FIGURES for other in following)
    )
