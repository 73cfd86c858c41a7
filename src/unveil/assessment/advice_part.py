"""The part on advice: what to change, with the effect computed and not guessed."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unveil._tables import attribute, identity
from unveil.assessment.exclusions import AdvisedExclusion, advised_exclusions
from unveil.assessment.groups import MOST_LEVELS, PARTS
from unveil.assessment.part import MOST_SECONDS, Context, Section, Skipped, need_whole
from unveil.columns import Pair
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.limits import reaches, within
from unveil.notes import Note
from unveil.printable import how_many

if TYPE_CHECKING:
    from unveil._posterior.advice import AdviceRow

MINBUCKETS = (20, 50)
MIXES = (0.05,)
"""Shares of values that are drawn from donors of the whole column."""
MERGED = (100, 500)
"""Records of a level below which it is merged with others, where the original has two levels of so many."""
MOST_RECORDS = 100
"""Records at risk whose posterior is worked out anew for each setting."""

_MIXED = "Draw values from donors of the whole column with probability {} (mix)."
_RISE = 0.1
"""Percentage points: what is less is not seen in the figures."""


def key_advice_part(context: Context) -> Section:
    """Coarser keys, keys left out, and what is known without the release left uncounted, each with its effect."""
    before = _before(context)
    cannot: list[str] = []
    tried = [
        *_coarser_keys(context, before, cannot), *_keys_left_out(context, before), *_known_without(context, before),
    ]  # fmt: skip
    if not tried:
        raise Skipped(Note("there is one key only, and nothing to change it to"))
    rows = [row for row in tried if _helps(row)]
    if not rows:
        raise Skipped(Note("no change of the keys that was tried lowers repU or the DiSCO of a target"))
    return Section(entries={"advice": rows}, partial=_unfinished(cannot))


def settings_advice_part(context: Context) -> Section:
    """Other settings of the synthesizer and fewer releases, each with its effect."""
    if context.synthesizer is None:
        raise Skipped(Note("the synthesizer was not given"))
    need_whole(context)
    if context.clock.left == 0:
        raise Skipped(Note("the budget was used up before other settings were tried"))
    before = _before(context)
    cannot: list[str] = []
    tried = [*_other_settings(context, before, cannot), *_posterior_rows(context, cannot)]
    rows = [row for row in tried if _helps(row)]
    if tried and not rows and not cannot:
        raise Skipped(Note("no setting that was tried lowers a figure"))
    if context.clock.left == 0:
        cannot.append("the budget was used up before all settings were tried")
    return Section(entries={"advice": rows}, partial=_unfinished(cannot))


def tuning_advice(rules: Sequence[Mapping[str, Any]], synthesizer: Any) -> list[dict[str, Any]]:
    """Where a rule of the policy does not hold, that settings are sought for which all of them do.

    Parameters
    ----------
    rules
        Rows of the policy, with their verdicts.
    synthesizer
        What made the releases; None if it was not given.
    """
    from unveil.synthesis import CartSynthesizer

    broken = sum(rule["verdict"] in ("above", "below") for rule in rules)
    if not broken or not isinstance(synthesizer, CartSynthesizer):
        return []
    because = f"{broken} of {len(rules)} rules of the policy {'does' if broken == 1 else 'do'} not hold."
    action = "Look for the most useful settings for which every rule of the policy holds: unveil tune."
    return [{"action": Note(action), "because": Note(because, because), "target": None, "persons": None,
             "effects": [], "computed": False}]  # fmt: skip


def _helps(row: Mapping[str, Any]) -> bool:
    """Whether a change lowers anything: what lowers nothing is no advice."""
    step = {"percent": _RISE, "share": _RISE / 100}
    return any(within(one["after"], one["before"] - step[one["unit"]]) for one in row["effects"])


def _unfinished(cannot: Sequence[str]) -> Note | None:
    return Note("; ".join(cannot), "not all changes could be tried") if cannot else None


def _before(context: Context) -> dict[tuple[str, str | None], float]:
    """repU, and DiSCO of every target, as they are."""
    found: dict[tuple[str, str | None], float] = {("repU", None): context.identity.repU}
    return found | {("DiSCO", target): risk.mean["DiSCO"] for target, risk in context.attribute.items()}


def _measured(
    pair: Pair, context: Context, keys: Sequence[str], ngroups_keys: Mapping[str, int] | None,
    more: AdvisedExclusion | None = None,
) -> dict[tuple[str, str | None], float]:  # fmt: skip
    """repU, and DiSCO of every target; without what the scenario leaves out, and more."""
    targets = list(context.attribute)
    excluded = context.exclusions_of(targets, keys)
    if more is not None:
        levels = excluded["not_target_levels"]
        excluded["exclude_pairs"] = [*excluded["exclude_pairs"], *more.pairs]
        excluded["not_target_levels"] = levels | {
            name: [*levels.get(name, ()), *added] for name, added in more.levels.items()
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risks = attribute(
            pair, keys, targets=targets, ngroups_keys=ngroups_keys, ngroups_target=context.groups_of(targets),
            **excluded,
        )  # fmt: skip
        found: dict[tuple[str, str | None], float] = {
            ("repU", None): identity(pair, keys, ngroups_keys=ngroups_keys).repU
        }
    return found | {("DiSCO", risk.target): risk.mean["DiSCO"] for risk in risks}


def _row(
    action: Note, because: Note, before: Mapping[tuple[str, str | None], float],
    after: Mapping[tuple[str, str | None], float], how: str,
) -> dict[str, Any]:  # fmt: skip
    effects = [
        {"measure": m, "target": t, "unit": "percent", "before": value, "after": after[m, t], "how": Note(how)}
        for (m, t), value in before.items()
    ]
    risen = [
        m if t is None else f"{m} of {t}" for (m, t), value in before.items() if reaches(after[m, t], value + _RISE)
    ]
    if risen:
        but = f" But {' and '.join(risen)} {'rises' if len(risen) == 1 else 'rise'}."
        because = Note(because + but, because.public + but)
    return {"action": action, "because": because, "target": None, "persons": None, "effects": effects,
            "computed": True}  # fmt: skip


def _known_without(context: Context, before: Mapping[tuple[str, str | None], float]) -> Iterator[dict[str, Any]]:
    """What is known without the release, not counted."""
    scenario = context.scenario
    for advised in advised_exclusions(context):
        after = _measured(context.pair, context, scenario.keys, scenario.ngroups_keys, advised)
        yield _row(advised.action, advised.because, before, after, advised.how)


def _coarser_keys(
    context: Context, before: Mapping[tuple[str, str | None], float], cannot: list[str]
) -> Iterator[dict[str, Any]]:
    """Numeric keys released in fifths rather than as they are; ``cannot`` receives why one cannot be."""
    given = context.scenario.ngroups_keys or {}
    for key in context.scenario.keys:
        column = context.pair.column(key)
        if key in given or column.kind != "numeric" or column.n_levels <= MOST_LEVELS:
            continue
        try:
            after = _measured(context.pair, context, context.scenario.keys, {**given, key: PARTS})
        except CallError as error:
            cannot.append(f"{key} in {PARTS} groups: a pair that does not count cannot be told in groups ({error})")
            continue
        except DataError as error:
            cannot.append(str(error))
            continue
        yield _row(
            Note(f"Release {key} in {PARTS} groups."),
            Note(
                f"{key} has {column.n_levels} values; the more it has, the rarer are combinations of keys.",
                f"{key} has many values; the more it has, the rarer are combinations of keys.",
            ),
            before,
            after,
            f"the same releases, with {key} cut into {PARTS} groups of records",
        )


def _keys_left_out(context: Context, before: Mapping[tuple[str, str | None], float]) -> Iterator[dict[str, Any]]:
    keys, given = context.scenario.keys, context.scenario.ngroups_keys
    for key in keys if len(keys) > 1 else ():
        rest = [name for name in keys if name != key]
        groups = {name: n for name, n in (given or {}).items() if name != key} or None
        after = _measured(context.pair, context, rest, groups)
        yield _row(
            Note(f"Leave {key} out of the release."),
            Note("A key that is not released cannot be matched."),
            before,
            after,
            f"the same releases without {key}",
        )


def _other_settings(
    context: Context, before: Mapping[tuple[str, str | None], float], cannot: list[str]
) -> Iterator[dict[str, Any]]:
    """Larger leaves, and donors of the whole column: fitted anew, as many releases drawn, and measured.

    ``cannot`` receives what a variable's method does not allow.
    """
    from unveil.synthesis import CartSynthesizer

    synthesizer = context.synthesizer
    if not isinstance(synthesizer, CartSynthesizer):
        return
    now = synthesizer.cart
    leaves = Note(f"A leaf may hold as few as {now.minbucket} records, from which values are drawn.")
    mixed = Note("A value that one record of a leaf has can only be its own, unless it can come from other leaves.")
    wanted: list[tuple[str, Note, dict[str, Any]]] = [
        (f"Raise minbucket to {size}.", leaves, {"minbucket": size}) for size in MINBUCKETS if size > now.minbucket
    ]
    wanted += [(_MIXED.format(f"{share:g}"), mixed, {"mix": share}) for share in MIXES if share > now.mix]
    for action, because, changed in wanted:
        if context.clock.left == 0:
            return
        other = copy.copy(synthesizer)
        other.cart = replace(now, **changed)
        try:
            again = _released(context, other)
            after = _measured(again, context, context.scenario.keys, context.scenario.ngroups_keys)
        except CallError as error:
            cannot.append(str(error))
            continue
        set_to = ", ".join(f"{name} {value:g}" for name, value in changed.items())
        how = (
            f"fitted with {set_to}, {how_many(context.pair.n_releases, 'new release')} drawn; what it costs in utility:"
        )
        yield _row(Note(action), because, before, after, f"{how} unveil compare")


def _released(context: Context, synthesizer: Any) -> Pair:
    """The original with releases of another synthesizer in the place of its own."""
    from unveil.synthesis.record_order import value_order

    pair, seed = context.pair, context.scenario.seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        # In the order of their values, so that what is drawn does not depend on how the records came.
        synthesizer.fit(pair.original.part(value_order(pair.original)), seed=seed)
        releases = [synthesizer.sample(n, seed=seed + 1 + r) for r, n in enumerate(pair.n_synthetic)]
        return Pair(pair.original, releases, special_codes=pair.special_codes, kinds=pair.kinds, breaks=pair.breaks)


def _posterior_rows(context: Context, cannot: list[str]) -> Iterator[dict[str, Any]]:
    """Return, by target, the effect of other settings and fewer releases on the records with the highest gain.

    ``cannot`` receives what was not worked out.
    """
    if "posterior" not in context.scenario.measures:
        return
    from unveil._posterior import posterior

    for target in context.scenario.targets:
        if context.clock.left == 0:
            return
        limit = max(1.0, min(context.clock.left, MOST_SECONDS) / 8)
        risk = posterior(
            context.pair, context.synthesizer, target=target, sample=min(MOST_RECORDS * 5, context.pair.n_original),
            structure="fixed", seed=context.scenario.seed, time_limit=limit,
        )  # fmt: skip
        if not risk.walked:
            cannot.append(f"posterior of {target}: every setting would take a fit for each record and value")
            continue
        try:
            merge = [size for size in MERGED if 2 * size <= context.pair.n_original]
            advice = risk.advice(most_records=MOST_RECORDS, minbucket=MINBUCKETS, cp=(1e-3,), mix=MIXES, merge=merge)
        except CallError:
            # Nobody is at risk: there is nothing to advise on.
            continue
        cannot.extend(f"posterior of {target}, not worked out: {text}" for text in advice.left_out)
        by_setting = {row.setting: row for row in advice.rows}
        looked, whole = risk.posteriors().members.size, ("m", str(context.pair.n_releases))
        because = Note(
            f"Of {looked} records looked at, {advice.n_at_risk} are at risk (gain above {advice.threshold:g}).",
            f"There are records at risk (gain above {advice.threshold:g}).",
        )
        for row in advice.rows:
            if row.setting in ("as released", "drawn anew") or (row.setting, row.value) == whole:
                continue
            before = by_setting.get("as released" if row.setting == "m" else "drawn anew")
            if before is not None:
                yield _posterior_row(target, because, before, row, advice.n_looked_at)


_FIXED = "by donor counts alone (fixed), so below the posterior by the shape of the trees too (exact)"


def _posterior_row(target: str, because: Note, before: AdviceRow, after: AdviceRow, n: int) -> dict[str, Any]:
    """Other settings beside files drawn anew with those at hand, fewer files beside all of them."""
    name = next(iter(after.mean_posterior))
    which = "the first of the files at hand" if after.setting == "m" else "now and then: files drawn anew"
    if after.setting == "mix":
        which += "; the shape of the trees still tells, which mix does not hide (structure exact)"
    how = Note(f"{_FIXED}, of {how_many(n, 'record')} at risk; {which}", f"{_FIXED}, of records at risk; {which}")
    figures = {
        "posterior": (before.mean_posterior[name], after.mean_posterior[name]),
        "posterior certain": (before.share_certain, after.share_certain),
    }
    return {
        "action": Note(_action(target, after)),
        "because": because,
        "target": target,
        "persons": n,
        "effects": [
            {"measure": measure, "target": target, "unit": "share", "before": now, "after": then, "how": how}
            for measure, (now, then) in figures.items()
        ],
        "computed": True,
    }


def _action(target: str, row: AdviceRow) -> str:
    if row.setting == "m":
        return f"Release {how_many(int(row.value), 'file')} instead of all."
    actions = {
        "mix": _MIXED.format(row.value),
        "merged levels": f"Merge the levels of {target} into levels {row.value} at least, before synthesis.",
        "top coding": f"Top-code {row.value} of {target} before synthesis.",
        "noise": f"Replace {row.value.removesuffix(' replaced')} of the values of {target} at random before synthesis.",
    }
    return actions.get(row.setting, f"Set {row.setting} to {row.value}.")
