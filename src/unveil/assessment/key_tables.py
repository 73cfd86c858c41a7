"""The weakest intruder, who looks persons up in the release: identity, attributes, key combinations, key sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables import key_sets, structure
from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.ladder import Ladder
from unveil.assessment.exclusions import exclusions, without_them
from unveil.assessment.figure import Figure, mean_of, process_of
from unveil.assessment.groups import group_rows
from unveil.assessment.part import Context, Section
from unveil.assessment.published_text import public_note
from unveil.assessment.repetitions import Halves
from unveil.assessment.suppressed_values import as_wildcards, higher_as_wildcards, mean_reading
from unveil.assessment.wording import listed
from unveil.limits import exceeds
from unveil.notes import Note
from unveil.printable import how_many
from unveil.stats import Interval

MOST_SETS = 250
"""Sets of keys that are tried at most for a target; more are too many to be read, and take long."""
LARGEST_SET = 4
NOT_YET = Note("the synthesizer is fitted again after the first page")


def identity_part(context: Context, *, repeated: bool = True) -> Section:
    """Replicated uniques, and who they are; without intervals of the process where nothing is to be repeated."""
    risk, level = context.identity, context.scenario.level
    span = risk.interval(level=level, seed=context.scenario.seed)
    process = risk.interval("process", halves=context.halves if repeated else None, level=level)
    value, unique, in_population = risk.repU, risk.UiO, _share_in_population(context)
    figure = Figure(
        measure="repU",
        intruder="release",
        target=None,
        unit="percent",
        per_release=[release["repU"] for release in risk.releases],
        low=span.low,
        high=span.high,
        ceiling=unique,
        sentence=public_note(
            lambda say: (
                f"Of 100 original records, {say.percent(unique)} have a combination of keys that no other original "
                f"record has; {say.percent(value)} of the 100 also meet exactly one synthetic record with it"
                + (
                    "."
                    if in_population is None
                    else f", of whom {say.expected(in_population)} are expected to be unique in the population."
                )
                + as_wildcards(context, risk.as_wildcards, "repU", say)
            ),
            context.rounding,
        ),
        does_not_show="Whether the record that is met has anything to do with the person, and what it tells.",
        contradicted_by="posterior certain",
        **process_of(process, reason=context.not_again if repeated else NOT_YET),
    )
    flags = _mean_over(context, lambda r: risk.records(r, flavour="arrow").column("replicated_unique").to_numpy())
    groups = [
        row
        for key in context.scenario.keys
        for row in group_rows(context.pair, key, {"repU": flags}, least=context.scenario.minimum_count, level=level)
    ]
    said = () if context.population is None else context.population.warnings
    return Section(
        figures=(figure,),
        entries={"key_groups": groups, "identity_as_wildcards": mean_reading(risk.as_wildcards)},
        warnings=tuple(
            dict.fromkeys((*risk.warnings, *said, *higher_as_wildcards(risk.as_wildcards, {"repU": value})))
        ),
    )


def _share_in_population(context: Context) -> float | None:
    """Share of the records that are replicated uniques and expected to be unique in the population.

    A mean over the releases; None where the original is not said to be a sample.
    """
    risk = context.population
    if risk is None:
        return None
    return mean_of([risk.headline(label)["population_uniques"] for label in risk.labels]) / risk.n_original


def attribute_part(context: Context, *, repeated: bool = True) -> Section:
    """DiSCO and DCAP of every target, each on its ladder of baselines; see :func:`identity_part`."""
    _refuse_if_none(context)
    figures: list[Figure] = []
    targets: dict[str, dict[str, Any]] = {}
    for target, risk in context.attribute.items():
        ladder = _ladder(context, risk, context.halves if repeated else None)
        reason = context.not_again if repeated else NOT_YET
        figures += [_disco(context, risk, ladder, reason), _dcap(context, risk, ladder, reason)]
        targets[target] = {
            "grouped_into": _groups(risk),
            "groups": _attribute_groups(context, risk),
            "checks": _checks(context, risk),
            "exclusions": exclusions(context, target),
            "as_wildcards": mean_reading(risk.as_wildcards),
            "notes": list(risk.notes),
        }
    if repeated and context.again is not None:
        # No later part needs them.
        context.again.forget_halves()
    return Section(
        figures=tuple(figures),
        targets=targets,
        partial=_left_out(context),
        warnings=(
            *(Note(f"{target} is left out: {error}", f"{target} is left out: it cannot be measured")
              for target, error in context.unmeasured.items()),
            *(text for risk in context.attribute.values() for text in risk.notes),
            *(said["sentence"] for target in context.attribute if (said := exclusions(context, target)) is not None),
            *_rises(context),
            *(text for risk in context.attribute.values()
              for text in higher_as_wildcards(risk.as_wildcards, risk.mean, risk.target)),
        ),
    )  # fmt: skip


def _refuse_if_none(context: Context) -> None:
    """Fail where no target can be measured, for the reason of the first."""
    if not context.attribute:
        raise next(iter(context.unmeasured.values()))


def _left_out(context: Context) -> str | None:
    """Which targets cannot be measured, and why."""
    if not context.unmeasured:
        return None
    reasons = "; ".join(str(error) for error in context.unmeasured.values())
    return Note(reasons, f"{listed(list(context.unmeasured))} cannot be measured")


def _ladder(context: Context, risk: AttributeRisk, halves: Halves | None) -> Ladder:
    """The baselines, those of held-out records where there are any."""
    holdout = False if context.unseen is None else None
    return risk.ladder(holdout=holdout, halves=halves, level=context.scenario.level, seed=context.scenario.seed)


def _rises(context: Context) -> tuple[str, ...]:
    """Where DiSCO would be higher if the release told less (Latner, Neunhoeffer & Drechsler 2026)."""
    values = {target: (risk.mean["DiSCO"], mean_of(risk.mode_DiSCO)) for target, risk in context.attribute.items()}
    rising = {target: (value, mode) for target, (value, mode) in values.items() if exceeds(mode, value)}
    if not rising:
        return ()

    begin = "DiSCO would rise if the release carried only the most frequent value, which tells less"
    end = "Do not read it as the protection that was reached."
    exact = "; ".join(f"{target} from {value:.1f} to {mode:.1f} %" for target, (value, mode) in rising.items())
    return (Note(f"{begin}: {exact}. {end}", f"{begin}: {listed(list(rising))}. {end}"),)


def _groups(risk: AttributeRisk) -> int | None:
    """Number of groups that the amounts of the target are cut into, if they are."""
    cut: Mapping[str, Any] | None = risk.grouping.get(risk.target)
    # without amounts, as where all are special codes, there is nothing to cut
    return len(cut["breaks"]) - 1 if cut is not None and cut["breaks"] else None


def _disco(context: Context, risk: AttributeRisk, ladder: Ladder, not_again: Note | None) -> Figure:
    value, original, target = ladder.mean["DiSCO"].value, risk.mean["Dorig"], risk.target
    n = _groups(risk)
    one = f"one value of {target}" if n is None else f"one group of {target} (of {n})"
    return Figure(
        measure="DiSCO",
        target=target,
        sentence=public_note(
            lambda say: (
                f"Of 100 original records, {say.percent(value)} have keys that in the release go with {one} only, and "
                f"it is their own; in the original itself the keys of {say.percent(original)} do."
                + without_them(context, target, say)
                + as_wildcards(context, risk.as_wildcards, "DiSCO", say)
            ),
            context.rounding,
        ),
        does_not_show="Who is not matched exactly, or meets several values, may be inferred all the same.",
        contradicted_by="RAPID",
        **_rung(ladder, "DiSCO", not_again),
    )


def _dcap(context: Context, risk: AttributeRisk, ladder: Ladder, not_again: Note | None) -> Figure:
    value, guess, target = ladder.mean["DCAPd"].value, risk.mean["baseCAPd"], risk.target
    n = _groups(risk)
    guessed = target if n is None else f"the group of {target} (of {n})"
    return Figure(
        measure="DCAP",
        target=target,
        sentence=public_note(
            lambda say: (
                f"An intruder who guesses {guessed} in proportion to the release's records with the same keys is right "
                f"for {say.percent(value)} of 100 original records; without the release, guessing is right for "
                f"{say.percent(guess)}."
                + without_them(context, target, say)
                + as_wildcards(context, risk.as_wildcards, "DCAPd", say)
            ),
            context.rounding,
        ),
        does_not_show="Records whose keys are not in the release count as safe, whatever a model would infer of them.",
        contradicted_by="RAPID",
        **_rung(ladder, "DCAPd", not_again),
    )


def _rung(ladder: Ladder, measure: str, not_again: str | None) -> dict[str, Any]:
    """The figures of one measure by the names of a :class:`Figure`; excesses are shares."""
    rung = ladder.mean[measure]
    reasons = {name: why for name, why in ladder.undefined.items() if name.split(".")[0] == measure}
    no_process = reasons.pop(f"{measure}.process_interval", None)
    process = Interval("process", rung.value, *rung.process_interval, ladder.level, no_process)
    return {
        "intruder": "release",
        "unit": "percent",
        "per_release": [release[measure].value for release in ladder.releases],
        "low": rung.interval[0],
        "high": rung.interval[1],
        **{name: getattr(rung, name) for name in ("margin", "null_mean", "null_95", "p_value", "ceiling", "held_out")},
        "excess": rung.excess / 100,
        "excess_low": rung.excess_interval[0] / 100,
        "excess_high": rung.excess_interval[1] / 100,
        **process_of(process, reason=not_again),
        "undefined": Note("; ".join(f"{name}: {why}" for name, why in reasons.items()), _NO_RUNG) if reasons else None,
    }


_NO_RUNG = "some baselines are not defined"


def _attribute_groups(context: Context, risk: AttributeRisk) -> list[dict[str, Any]]:
    flags = {
        name: _mean_over(context, lambda r, c=column: risk.records(r, flavour="arrow").column(c).to_numpy())
        for name, column in (("DiSCO", "disco"), ("DCAP", "ps"))
    }
    return [
        row
        for key in context.scenario.keys
        for row in group_rows(
            context.pair, key, flags, least=context.scenario.minimum_count, level=context.scenario.level
        )
    ]


def structure_part(context: Context) -> Section:
    """How far the release keeps the original's key combinations."""
    found = structure(context.pair, context.scenario.keys, ngroups_keys=context.scenario.ngroups_keys)
    mean = dict(found.mean)
    novel = mean["percent_novel"] > 0
    sentence = public_note(
        lambda say: (
            f"Of 100 key combinations in a release, {say.percent(mean['percent_novel'])} do not occur in the original"
            + ("; records with them match nobody, which may by itself make repU and DiSCO low." if novel else ".")
        ),
        context.rounding,
    )
    return Section(entries={"structure": mean | {"sentence": sentence}}, warnings=found.warnings)


def key_sets_part(context: Context) -> Section:
    """Which keys carry the risk: every set of up to four keys, and all keys but one."""
    _refuse_if_none(context)
    scenario = context.scenario
    sets: list[dict[str, Any]] = []
    without: list[dict[str, Any]] = []
    said: list[str] = []
    if context.attribute_of_all:
        said.append(Note("Key sets are measured on all records, those that do not count elsewhere among them."))
    largest = _largest_set(len(scenario.keys))
    for target in context.attribute:
        found = key_sets(
            context.pair, scenario.keys, target=target, max_size=largest, ngroups_keys=scenario.ngroups_keys,
            ngroups_target=context.groups_of([target]),
        )  # fmt: skip
        said += found.warnings
        everything, *one_less = found.leave_one_out
        sets.extend(_set(target, one) for one in found.sets)
        without.extend(
            {
                "target": target,
                "key": next(iter(set(scenario.keys) - set(one.keys))),
                "combinations": one.combinations,
                **{f"{m}_without": one.measures[m] for m in ("repU", "DiSCO")},
                **{f"{m}_change": one.measures[m] - everything.measures[m] for m in ("repU", "DiSCO")},
            }
            for one in one_less
        )
    return Section(
        entries={"key_sets": sets, "leave_one_out": without, "largest_set": largest},
        warnings=tuple(said),
        partial=_left_out(context),
    )


def _largest_set(n_keys: int) -> int:
    """Most keys of a set: up to four, fewer where there would be too many sets."""
    sets = np.cumsum([math.comb(n_keys, size) for size in range(1, LARGEST_SET + 1)])
    return max(1, int((sets <= MOST_SETS).sum()))


def _set(target: str, one: Any) -> dict[str, Any]:
    return {
        "target": target,
        "keys": list(one.keys),
        "size": len(one.keys),
        "figures": {name: one.measures[name] for name in ("repU", "DiSCO", "Dorig")}
        | {"combinations": one.combinations},
    }


def _mean_over(context: Context, of_release: Any) -> NDArray[np.float64]:
    """Return the contribution of each person, as a mean over the releases."""
    n = context.pair.n_releases
    found: NDArray[np.float64] = np.mean([np.asarray(of_release(r), dtype=float) for r in range(n)], axis=0)
    return found


def _checks(context: Context, risk: AttributeRisk) -> list[str]:
    """Return the shares of DiSCO that are known without a release; no counts, which would point at single persons."""
    lines: list[str] = []
    for number, (label, one, two) in enumerate(zip(risk.labels, risk.check_1way, risk.check_2way, strict=True), 1):
        if one:
            text = (
                f"of the DiSCO records have the same level, which {one['share']:.0f} % of all records have; consider "
                "leaving it out (not_target_levels)."
            )
            lines.append(
                Note(
                    f"{label}: {one['percent']:.0f} % {text}",
                    f"Release {number}: most of the DiSCO records have the same level; consider leaving it out.",
                )
            )
        if two:
            told = (
                f"together in more than {risk.options['check_2way'][1]:g} % of the original records with that key level"
            )
            advised = "consider leaving them out (exclude_pairs)."
            found = f"{how_many(len(two), 'pair')} of target and key level {'goes' if len(two) == 1 else 'go'}"
            lines.append(
                Note(
                    f"{label}: {found} {told}; {advised}",
                    f"Release {number}: pairs of target and key level go {told}; {advised}",
                )
            )
    return lines
