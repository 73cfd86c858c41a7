"""The verbs of the table measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from unveil.cli.options import (
    Breaks,
    By,
    GroupsOfKeys,
    GroupsOfTargets,
    Hierarchies,
    Keys,
    Listed,
    Original,
    Records,
    Suppressed,
    Synthetic,
    Target,
    Targets,
    UseKeysNa,
    Whole,
)
from unveil.cli.output import Output, print_frame, progress_bar, record_files, save_confidential, save_where_counted
from unveil.cli.parsing import as_lists, breaks_of, groups_of, names_of
from unveil.cli.reading import Counting, Reading, Sampling, Units, checked_pair
from unveil.cli.screen import say
from unveil.errors import CallError
from unveil.stats import OVER


def identity(
    original: Original, *synthetic: Synthetic, keys: Keys, use_keys_na: UseKeysNa = True,
    ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None,
    hierarchies: Hierarchies = None, suppressed: Suppressed = None, by: By = None, records: Records = None,
    units: Units = Units(), reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure identity disclosure: records that are unique on the keys, also in the release."""
    from unveil import _tables

    tables = record_files(records, len(synthetic))
    pair = checked_pair(
        original,
        synthetic,
        reading,
        output,
        tables=tables,
        counting=counting,
        breaks=breaks,
        units=units,
        hierarchies=hierarchies,
    )
    risk = _tables.identity(
        pair,
        names_of(keys, pair.names),
        use_keys_na=use_keys_na,
        ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"),
        suppressed=suppressed,
    )
    groups = _by(risk, by)
    save_where_counted(risk, records, output.overwrite)
    output.give(risk, groups if output.json is None else _intervals_of_identity(risk) | groups)
    _print_groups(groups, silent=output.json == "-")
    return output.status(risk)


def attribute(
    original: Original, *synthetic: Synthetic, keys: Keys, target: Target = None, targets: Targets = None,
    ngroups_target: GroupsOfTargets = None, ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None,
    hierarchies: Hierarchies = None, suppressed: Suppressed = None,
    not_target_levels: Listed = None,
    use_target_na: bool = True, use_keys_na: UseKeysNa = True, exclude_pairs: Listed = None,
    denom_limit: Whole | None = None, exclude_over_denom_limit: Annotated[bool, Parameter(negative=())] = False,
    check_1way: tuple[float, float] = (50, 90), check_2way: tuple[float, float] = (4, 80),
    cap_curve: Annotated[bool, Parameter(negative=())] = False, by: By = None,
    records: Records = None, sampling: Sampling = Sampling(), units: Units = Units(), reading: Reading = Reading(),
    counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure attribute disclosure: what the keys give away about a target through the release.

    Parameters
    ----------
    not_target_levels
        Target levels that do not count, separated by commas; with several targets as workab=NO.
    use_target_na
        Whether a missing target counts.
    exclude_pairs
        Key level and target level that do not count together: age=19:SINGLE, or "age<20:SINGLE" (repeat).
    denom_limit
        Size above which cells do not count, with --exclude-over-denom-limit.
    exclude_over_denom_limit
        Leave out the cells above denom_limit.
    check_1way
        Thresholds of the 1-way check: records and percent.
    check_2way
        Thresholds of the 2-way check: records and percent.
    cap_curve
        Show CAP(tau), from DCAPd at 0 to DiSCO at 1; needs one target.
    """
    from unveil import _tables

    if cap_curve and (by is not None or records is not None):
        raise CallError("--cap-curve shows the curve alone; ask for --by and --records in a call of their own")
    if target is None and (cap_curve or by is not None or records is not None):
        raise CallError("--cap-curve, --by and --records need one target: name it with --target")
    tables = record_files(records, len(synthetic))
    pair = checked_pair(original, synthetic, reading, output, tables=tables, counting=counting, breaks=breaks,
                        sampling=sampling, units=units,
                        hierarchies=hierarchies)  # fmt: skip
    risk = _tables.attribute(
        pair, names_of(keys, pair.names), target=target,
        targets=None if targets is None else names_of(targets, pair.names),
        ngroups_target=groups_of(ngroups_target, "ngroups_target"),
        ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"),
        not_target_levels=_levels(not_target_levels, pair.names), use_target_na=use_target_na, use_keys_na=use_keys_na,
        exclude_pairs=exclude_pairs or (), denom_limit=denom_limit,
        exclude_over_denom_limit=exclude_over_denom_limit, check_1way=check_1way, check_2way=check_2way,
        suppressed=suppressed,
    )  # fmt: skip
    if cap_curve:
        output.give(risk.cap_curve())
        return output.status(risk)
    each = [risk] if target is not None else list(risk)
    groups = _by(risk, by)
    save_where_counted(risk, records, output.overwrite)
    output.give(risk, groups if output.json is None else _intervals_of_targets(each) | groups)
    _print_groups(groups, silent=output.json == "-")
    return output.status(risk)


def _intervals_of_identity(risk: Any) -> dict[str, Any]:
    both = {kind: {"repU": risk.interval(kind).to_dict()} for kind in OVER}
    return {"intervals": as_lists(risk.intervals()), "intervals_of_mean": both}


def _intervals_of_targets(risks: list[Any]) -> dict[str, Any]:
    return {
        "intervals": {risk.target: as_lists(risk.intervals()) for risk in risks},
        "intervals_of_mean": {risk.target: _both_kinds(risk) for risk in risks},
    }


def _both_kinds(risk: Any) -> dict[str, Any]:
    return {kind: {name: found.to_dict() for name, found in risk.interval(kind).items()} for kind in OVER}


def structure(
    original: Original, *synthetic: Synthetic, keys: Keys, ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None,
    hierarchies: Hierarchies = None,
    units: Units = Units(), reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Count the key combinations of the original that the release has, and those that are new."""
    from unveil import _tables

    pair = checked_pair(
        original, synthetic, reading, output, counting=counting, breaks=breaks, units=units, hierarchies=hierarchies
    )
    found = _tables.structure(pair, names_of(keys, pair.names), ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"))
    return output.give(found)


def anonymity(
    original: Original, *synthetic: Synthetic, keys: Keys, targets: Targets = None,
    ngroups_target: GroupsOfTargets = None, ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None,
    hierarchies: Hierarchies = None,
    units: Units = Units(), reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure k-anonymity, l-diversity and t-closeness of each file."""
    from unveil import _tables

    groups: Any = groups_of(ngroups_keys, "ngroups_keys")
    if synthetic:
        files = checked_pair(original, synthetic, reading, output, counting=counting, breaks=breaks, units=units,
                             hierarchies=hierarchies)  # fmt: skip
    else:
        _need_release(units, hierarchies)
        output.check((original, *reading.files))
        files = reading.source(original)
        groups = _with_breaks(groups, breaks, names_of(keys, files.names))
    found = _tables.anonymity(
        files,
        names_of(keys, files.names),
        targets=() if targets is None else names_of(targets, files.names),
        ngroups_keys=groups,
        ngroups_target=groups_of(ngroups_target, "ngroups_target"),
    )
    return output.give(found)


def population(
    original: Original, *synthetic: Synthetic, keys: Keys, level: float = 0.95,
    interactions: Literal["selected", "none", "all"] = "selected", use_keys_na: UseKeysNa = True,
    ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None, hierarchies: Hierarchies = None, by: By = None,
    records: Records = None, sampling: Sampling = Sampling(), units: Units = Units(), reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Measure how many persons who are unique in a sample are unique in the population.

    Parameters
    ----------
    interactions
        Of the log-linear model: selected, those of two keys that its error asks for; none; all.
    level
        Coverage of the intervals.
    """
    from unveil import _tables

    groups: Any = groups_of(ngroups_keys, "ngroups_keys")
    tables = record_files(records, max(1, len(synthetic)))
    if synthetic:
        files = checked_pair(original, synthetic, reading, output, tables=tables, breaks=breaks, sampling=sampling,
                             units=units, hierarchies=hierarchies)  # fmt: skip
    else:
        _need_release(units, hierarchies)
        output.check((original, *reading.files), tables=tables)
        files = reading.source(original)
        groups = _with_breaks(groups, breaks, names_of(keys, files.names))
    risk = _tables.population_risk(
        files, names_of(keys, files.names), interactions=interactions, level=level, use_keys_na=use_keys_na,
        ngroups_keys=groups, **({} if synthetic else sampling.options),
    )  # fmt: skip
    rows = {} if by is None else {"by": risk.by(by, flavour="arrow").to_pylist()}
    for number, path in enumerate(tables):
        save_confidential(risk.records(number, flavour="arrow"), path, output.overwrite)
    output.give(risk, rows)
    if by is not None and output.json != "-":
        print_frame(f"by {by}, {risk.model} model", risk.by(by, flavour="arrow"))
    return output.status(risk)


def _need_release(units: Units, hierarchies: Path | None) -> None:
    """Refuse what a file by itself has no use for.

    Raises
    ------
    CallError
        If units or hierarchies are given.
    """
    if units != Units():
        raise CallError("--unit and --time need a release too: one file alone is measured row by row")
    if hierarchies is not None:
        raise CallError("--hierarchies needs a release too: its coarseness is what the original is measured at")


def _with_breaks(groups: Any, breaks: list[str] | None, keys: Sequence[str]) -> Any:
    """Numbers of groups of a file by itself, with the breaks that a pair would hold."""
    cuts = breaks_of(breaks)
    return {**(groups if isinstance(groups, dict) else dict.fromkeys(keys, groups)), **cuts} if cuts else groups


def keysets(
    original: Original, *synthetic: Synthetic, keys: Keys, target: Target = None, max_size: Whole = 4,
    ngroups_target: GroupsOfTargets = None, ngroups_keys: GroupsOfKeys = None, breaks: Breaks = None,
    hierarchies: Hierarchies = None,
    units: Units = Units(), reading: Reading = Reading(), counting: Counting = Counting(), output: Output = Output(),
) -> int:  # fmt: skip
    """Compute the measures for all small sets of keys, and without each key in turn.

    Parameters
    ----------
    target
        A target variable; without one only identity disclosure is measured.
    max_size
        Largest number of keys in a set.
    """
    from unveil import _tables

    pair = checked_pair(
        original, synthetic, reading, output, counting=counting, breaks=breaks, units=units, hierarchies=hierarchies
    )
    with progress_bar("key sets") as progress:
        sets = _tables.key_sets(
            pair, names_of(keys, pair.names), target=target, max_size=max_size,
            ngroups_target=groups_of(ngroups_target, "ngroups_target"),
            ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"), progress=progress,
        )  # fmt: skip
    return output.give(sets)


def _levels(given: list[str] | None, names: Sequence[str]) -> list[str] | dict[str, list[str]]:
    from unveil._tables.exclusion_texts import levels_by_target

    if any("=" in text for text in given or ()):
        return levels_by_target(given or (), names)
    return [part for text in given or () for part in text.split(",")]


def _by(risk: Any, by: str | None) -> dict[str, Any]:
    """The measures by level of a column, per release, as rows."""
    if by is None:
        return {}
    return {"by": {label: risk.by(by, i, flavour="arrow").to_pylist() for i, label in enumerate(risk.labels)}}


def _print_groups(groups: dict[str, Any], *, silent: bool) -> None:
    from unveil.result import text_table

    for label, rows in groups.get("by", {}).items():
        if not silent:
            say(f"\n{label}, percent of the original records of each level\n")
            say(text_table(list(rows[0]), [list(row.values()) for row in rows]))
