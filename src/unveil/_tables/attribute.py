"""Attribute disclosure: what the keys give away about a target, through the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.attribute_risk import AttributeRisk, AttributeRisks
from unveil._tables.checks import one_way, two_way
from unveil._tables.exclusion_rules import ExcludedPair, check_levels, checked_pairs
from unveil._tables.keyed_pair import Groups, KeyedPair, coded, only_known, targets_of, ungrouped
from unveil._tables.study import study_of
from unveil._tables.sums import MEASURES, identity_measures, mean_over, measures
from unveil._tables.target_cells import MeasuredTarget, SumsOfReleases, TargetCells
from unveil._tables.wildcards import attribute_as_wildcards
from unveil.checks import check_flags, check_whole_numbers, is_number
from unveil.columns.column import CodedColumn
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.errors import CallError, enough_memory
from unveil.notes import Note


@enough_memory()
@pair_first
def attribute(
    pair: Pair,
    keys: str | Sequence[str],
    *,
    target: str | None = None,
    targets: Sequence[str] | None = None,
    ngroups_target: Groups = None,
    ngroups_keys: Groups = None,
    not_target_levels: Sequence[object] | Mapping[str, Sequence[object]] = (),
    use_target_na: bool = True,
    use_keys_na: bool | Mapping[str, bool] = True,
    exclude_pairs: str | Sequence[ExcludedPair] = (),
    denom_limit: int | None = None,
    exclude_over_denom_limit: bool = False,
    check_1way: tuple[float, float] = (50, 90),
    check_2way: tuple[float, float] = (4, 80),
    suppressed: str | None = None,
) -> Any:
    """Measure what the keys give away about one or several targets.

    With d_tq, s_tq the number of original and synthetic records with keys q and target level t, d_q, s_q those
    with keys q, and ps_tq = s_tq / s_q,

    - ``iS    = 100 sum_q d_q [s_q > 0] / N_d``: the keys are in the release;
    - ``DiS   = 100 sum_q d_q [some ps_tq = 1] / N_d``: and go with one target level there;
    - ``DiSCO = 100 sum d_tq [ps_tq = 1] / N_d``: and it is the right one;
    - ``DCAPd = 100 sum ps_tq d_tq / N_d``: a guess from the release is right.

    All measures and their formulas are listed in the documentation.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables: what an intruder knows of a person.
    target
        One target variable.
    targets
        Several target variables. Without either, every other column that all files have.
    ngroups_target, ngroups_keys
        Number of groups into which numeric targets or keys are cut: for all of them, or by column.
    not_target_levels
        Target levels that do not count as disclosed; by target where there are several.
    use_target_na
        Whether a missing target counts as a level that can be disclosed.
    use_keys_na
        Whether combinations in which a key is missing count; one flag, or one per key.
    exclude_pairs
        Triples (key, key level, target level) that do not count, or texts such as ``"age=19:SINGLE"``. The level of a
        numeric key may be a comparison: ``("age", "<20", "SINGLE")`` or ``"age<20:SINGLE"``. A pair concerns every
        target that has its level.
    denom_limit, exclude_over_denom_limit
        With both, cells of more than ``denom_limit`` records do not count.
    check_1way, check_2way
        Thresholds (records, percent) of the checks.
    suppressed
        The sign that stands for a suppressed value in the releases, such as ``"*"``: iS, DiS, DiSCO and DCAPd then also
        come with such a value of a key matching every value. Of all records: not with exclusions of target levels,
        pairs or large cells.

    Returns
    -------
    AttributeRisk or AttributeRisks
        One result for ``target``, a sequence of them otherwise.

    Raises
    ------
    CallError
        If a column or level is unknown, a target is among the keys, or an option is out of its range.
    DataError
        If a release lacks a column, or its values cannot be compared.

    References
    ----------
    Raab, Nowok & Dibben (2026), Practical privacy metrics for synthetic data, section 3. Taub et al. (2018),
    Differential Correct Attribution Probability for synthetic data, eq. 4 to 6.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m"], "ill": ["yes", "no", "no"]})
    >>> release = pa.table({"sex": ["f", "f", "m"], "ill": ["yes", "yes", "no"]})
    >>> risk = unveil.attribute(unveil.Pair(original, release), ["sex"], target="ill")
    >>> round(risk.Dorig, 2), round(risk.DiSCO, 2)
    (33.33, 66.67)
    """
    asked = targets if target is None else [target]
    study = study_of(pair, keys, asked, ngroups_keys=ngroups_keys, use_keys_na=use_keys_na)
    pair = study.pair
    names, said = targets_of(pair, study.keys, target, targets)
    only_known(ngroups_target, names, "ngroups_target", "target")
    check_flags(use_target_na=use_target_na, exclude_over_denom_limit=exclude_over_denom_limit)
    _check_limit(denom_limit, exclude_over_denom_limit)
    levels = _levels_by_target(names, not_target_levels)
    shared = {
        "use_target_na": bool(use_target_na),
        "use_keys_na": dict(study.use_keys_na),
        "denom_limit": denom_limit,
        "exclude_over_denom_limit": bool(exclude_over_denom_limit),
        "check_1way": list(_thresholds(check_1way, "check_1way")),
        "check_2way": list(_thresholds(check_2way, "check_2way")),
    }
    untouched = ungrouped(pair, names, ngroups_target, "ngroups_target")
    columns = {name: coded(pair, name, ngroups_target) for name in names}
    check_levels(pair, columns, levels, each=isinstance(not_target_levels, Mapping))
    pairs = checked_pairs(study, list(columns.values()), exclude_pairs)
    shared["exclude_pairs"] = [list(triple) for triple in pairs]
    options = {name: shared | {"not_target_levels": list(levels.get(name, ()))} for name in names}
    found = study.total(list(columns.values()), [MeasuredTarget(columns[name], options[name]) for name in names])
    risks = [
        _risk(TargetCells(study, columns[name], options[name]), sums, [untouched[name]] if name in untouched else [])
        for name, sums in zip(names, found, strict=True)
    ]
    if suppressed is not None:
        _check_all_count(options)
        risks = [
            replace(risk, as_wildcards=attribute_as_wildcards(study, columns[risk.target], suppressed))
            for risk in risks
        ]
    return risks[0] if target is not None else AttributeRisks(risks, said)


def _check_all_count(options: Mapping[str, Mapping[str, Any]]) -> None:
    for one in options.values():
        excluding = [one[rule] for rule in ("not_target_levels", "exclude_pairs", "exclude_over_denom_limit")]
        if any(excluding) or not one["use_target_na"]:
            raise CallError("suppressed values are matched for all records: leave out the exclusions")


def _levels_by_target(
    names: Sequence[str], given: Sequence[object] | Mapping[str, Sequence[object]]
) -> Mapping[str, Sequence[object]]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, (given,) if isinstance(given, str) else tuple(given))
    only_known(given, names, "not_target_levels", "target")
    return {name: (levels,) if isinstance(levels, str) else tuple(levels) for name, levels in given.items()}


def _check_limit(denom_limit: int | None, exclude: bool) -> None:
    if denom_limit is None:
        if exclude:
            raise CallError("exclude_over_denom_limit needs a denom_limit")
    else:
        check_whole_numbers(1, denom_limit=denom_limit)


def _thresholds(pair: tuple[float, float], what: str) -> tuple[float, float]:
    try:
        n, pct = pair
    except (TypeError, ValueError):
        raise CallError(f"{what} takes two numbers (records, percent), not {pair!r}") from None
    if not (is_number(n) and is_number(pct)):
        raise CallError(f"{what} takes two numbers (records, percent), not {pair!r}")
    if not 0 <= n < math.inf or not 0 <= pct <= 100:
        raise CallError(f"{what}: records must be at least 0 and percent between 0 and 100, not {pair!r}")
    return n, pct


def _risk(source: TargetCells, counted: SumsOfReleases, also: Sequence[str]) -> AttributeRisk:
    study, target, options = source.study, source.target, source.options
    pair = study.pair
    d_t = target.counts[0][: target.n_levels]
    n, found = pair.n_original, counted.releases
    sizes = list(zip([one.sums for one in found], pair.n_synthetic, strict=True))
    releases = [measures(sums, d_t, n, n_synthetic) for sums, n_synthetic in sizes]
    has_records = [bool(records.any()) for records in target.counts[1:]]
    return AttributeRisk(
        keys=study.keys,
        target=target.name,
        releases=tuple(releases),
        mean=mean_over(releases),
        undefined=_undefined(releases, pair.labels),
        n_original=pair.n_original,
        n_synthetic=pair.n_synthetic,
        labels=pair.labels,
        identity_after_exclusions=tuple(identity_measures(sums, n, n_synthetic) for sums, n_synthetic in sizes),
        exclusions=tuple(one.removed for one in found),
        check_1way=tuple(one_way(one.disco, one.original_t, target, *options["check_1way"]) for one in found),
        check_2way=tuple(
            tuple(two_way(study, one.disco, target, options["check_2way"][1], counted.pairs)) for one in found
        ),
        grouping=study.groupings(target),
        mode_DiSCO=tuple(
            100 * one.mode_records / n if any_records else math.nan
            for one, any_records in zip(found, has_records, strict=True)
        ),
        options=options,
        unmatched=study.unmatched(target),
        notes=(*_notes(study, target, d_t, options), *also),
        flavour=study.pair.flavour,
        unit=study.pair.unit,
        _source=source,
        _sums=tuple(one.sums for one in found),
    )


_REASONS = {
    "TCAP": "no original record's keys are disclosive in the release",
    "DCAPb": "no synthetic record's keys are in the original",
    "TCAPb": "no synthetic record's keys are in the original",
    "mean_denom": "no cell is disclosive and correct",
}


def _undefined(releases: Sequence[Mapping[str, float]], labels: Sequence[str]) -> dict[str, str]:
    undefined: dict[str, str] = {}
    for measure in MEASURES:
        where = [label for label, r in zip(labels, releases, strict=True) if math.isnan(r[measure])]
        if where:
            undefined[measure] = f"{_REASONS.get(measure, 'the release has no records')} ({', '.join(where)})"
    return undefined


def _notes(study: KeyedPair, target: CodedColumn, d_t: NDArray[np.intp], options: Mapping[str, Any]) -> list[str]:
    found = list(study.notes(target))
    n = int(d_t.sum())
    if np.count_nonzero(d_t) == 1:
        nothing = "there is nothing to learn, whatever the figures say"
        found.append(Note(f"{target.name!r} has one value only in the original: {nothing}"))
    elif n > 1 and d_t.max() == 1 and study.pair.roles.identifier(target.name) is None:
        found.append(Note(f"{target.name!r} is different in every record: it looks like an identifier"))
    if options["denom_limit"] is not None and not options["exclude_over_denom_limit"]:
        found.append(Note("denom_limit leaves nothing out without exclude_over_denom_limit"))
    return found
