"""Assessments, and maps of risk and utility, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unveil.assessment.figure import OF_PROCESS, PERCENT, SHARES, digits_of, printed, printed_statistic
from unveil.assessment.result import Assessment
from unveil.assessment.risk_utility_map import RiskUtilityMap
from unveil.assessment.wording import words_and_options
from unveil.printable import how_many
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.stats import NAMES, called

_SHOWN = ("margin", "null_mean", "ceiling")
_STAYS = (
    "These figures are as they are and stay in the building. In documents they are rounded, and names and counts of "
    "few records are left out, unless release_safe is off (--no-release-safe)."
)


def assessment(found: Assessment) -> str:
    """A row per figure of risk, the policy, warnings, and parts that were not computed."""
    content = found._content
    lines = [content["title"], "", *(paragraph(sentence) for sentence in content["summary"]), ""]
    rows: list[Row] = [
        [
            figure["measure"], figure["target"] or "", "percent" if _is_percent(figure) else figure["unit"],
            _shown(figure, "value"), _span(figure, "low", "high"), _span(figure, "process_low", "process_high"),
            *(_shown(figure, name) for name in _SHOWN),
            number(None if figure["excess"] is None else 100 * figure["excess"]),
        ]
        for figure in content["figures"]
    ]  # fmt: skip
    level = f"{100 * content['scenario']['level']:g} %"
    header = ["measure", "target", "unit", "value", *(f"{level}, {over}" for over in NAMES.values()), "margin",
              "null", "ceiling", "% excess"]  # fmt: skip
    lines.append(text_table(header, rows))
    lines += ["", paragraph(*_kinds(content["figures"], content["scenario"]["level"]))]
    if found._document is not content:
        lines += ["", paragraph(_STAYS)]
    if content["policy"] is not None:
        lines += ["", f"Policy {content['policy']['label']}:", "", _policy_table(content["policy"]["rows"])]
    if content["advice"]:
        lines += ["", *(line for one in content["advice"] for line in _advice(one))]
    lines += ["", *(paragraph(f"Warning ({w['part']}): {w['text']}") for w in content["warnings"])]
    for part in content["parts"]:
        if part["status"] != "done":
            lines.append(paragraph(f"{part['name']}: {part['status']}, {part['reason']}."))
    return "\n".join(lines).rstrip()


def news(before: Assessment | None, found: Assessment) -> list[str]:
    """What an assessment has that it had not before, a line for each part: figures, and what got better in them."""
    known = {} if before is None else {_subject(figure): figure for figure in before._content["figures"]}
    lines: dict[str, list[str]] = {}
    for figure in found._content["figures"]:
        said = _new(known.get(_subject(figure)), figure)
        if said:
            about = f"{figure['measure']} of {figure['target']}" if figure["target"] else figure["measure"]
            lines.setdefault(about, []).append(said)
    return [f"{about}: {'; '.join(said)}" for about, said in lines.items()]


def _subject(figure: Mapping[str, Any]) -> tuple[Any, ...]:
    return figure["measure"], figure["target"], figure["intruder"]


def _new(before: Mapping[str, Any] | None, figure: Mapping[str, Any]) -> str:
    """What is new in a figure; empty where nothing is."""
    value, span = _shown(figure, "value"), _span(figure, "low", "high")
    if before is None or before["value"] is None:
        unit = " %" if _is_percent(figure) else ""
        return f"{value}{unit} ({span})" if figure["value"] is not None else ""
    if _shown(before, "value") != value:
        return f"{value} ({span}), before {_shown(before, 'value')} ({_span(before, 'low', 'high')})"
    if before["process_low"] is None and figure["process_low"] is not None:
        return f"over the process {_span(figure, 'process_low', 'process_high')}"
    return "" if _span(before, "low", "high") == span else f"{value} ({span}), before ({_span(before, 'low', 'high')})"


def _kinds(figures: Sequence[Mapping[str, Any]], level: float) -> list[str]:
    """The kinds of the intervals, exceptions, and why some figures have no process interval."""
    kept = NAMES["release"]
    other = {f["over"]: f["measure"] for f in figures if f["over"] != kept and f["low"] is not None}
    why: dict[str, list[str]] = {}
    for figure in figures:
        if figure["process_undefined"] is not None and figure["measure"] in OF_PROCESS:
            names = why.setdefault(figure["process_undefined"], [])
            names += [] if figure["measure"] in names else [figure["measure"]]
    return [
        f"{called('release', level)}: over other records of the same population, with the release kept.",
        *(f"In its column that of {measure} is over {over} instead." for over, measure in other.items()),
        f"{called('process', level)}: over other records and a release made from each.",
        *(f"Not defined for {', '.join(names)}: {reason}." for reason, names in why.items()),
    ]


def _shown(figure: Mapping[str, Any], name: str) -> str:
    return number(printed(figure["measure"], figure[name]), digits_of(figure["measure"]))


def _is_percent(figure: Mapping[str, Any]) -> bool:
    return figure["measure"] in (*PERCENT, *SHARES)


def _span(figure: Mapping[str, Any], low: str, high: str) -> str:
    return "-" if figure[low] is None or figure[high] is None else f"{_shown(figure, low)} to {_shown(figure, high)}"


def _advice(one: Mapping[str, Any]) -> list[str]:
    """An advice and what it changes; options to paste stand in a line of their own, which is not broken."""
    words, options = words_and_options(one["action"])
    effects = [
        f"{e['measure']}{' of ' + e['target'] if e['target'] else ''} {_shown(e, 'before')} to {_shown(e, 'after')}"
        for e in one["effects"]
        if e["before"] != e["after"]
    ]
    changed = f": {', '.join(effects)}" if effects else ""
    said = paragraph(f"Advice: {words.rstrip('.')}{changed}{'.' if options is None else '; options:'}")
    return [said] if options is None else [said, f"  {options}"]


def _policy_table(rows: list[dict[str, Any]]) -> str:
    cells = [
        [r["measure"], r["target"] or "", r["statistic"],
         f"{r['direction']} {printed_statistic(r['measure'], r['statistic'], r['limit'])}",
         "-" if r["value"] is None else printed_statistic(r["measure"], r["statistic"], r["value"]), r["verdict"]]
        for r in rows
    ]  # fmt: skip
    return text_table(["measure", "target", "statistic", "limit", "value", "verdict"], cells)


def risk_utility_map(found: RiskUtilityMap) -> str:
    """A row per point, the one with the smallest risk first."""
    rows: list[Row] = []
    # A risk that needs the synthesizer is measured of some points alone.
    names = [name for name in dict.fromkeys(n for point in found.points for n in point.risks) if name != found.risk]
    for point in sorted(found.points, key=lambda p: (p.risks.get(found.risk, (math.inf,))[0], p.label)):
        risk, useful = (
            found.get(name, (math.nan,) * 3)
            for found, name in ((point.risks, found.risk), (point.utilities, found.utility))
        )
        others = [number(printed(name, point.risks.get(name, (math.nan,))[0]), digits_of(name)) for name in names]
        rows.append(
            [f"{point.label}{' *' if point.pareto else ''}", point.releases,
             *_with_ends(found.risk, risk), *_with_ends(found.utility, useful), *others]
        )  # fmt: skip
    kept, drawn = f"interval, {NAMES['release']}", "interval, releases"
    header = ["", "releases", found.risk, kept, found.utility, drawn, *names]
    return "\n".join(
        [
            f"Risk and utility: keys {', '.join(found.keys)}; targets {', '.join(found.targets)}",
            "",
            text_table(header, rows),
            "",
            paragraph(
                "* no other has less risk and more utility at once. Risks are means over the targets, in",
                f"percent of original records{_but_areas([found.risk, *names])}; smaller is safer.",
                f"{found.utility} is a distance from the original{', in percent' if found.utility in SHARES else ''};",
                "smaller is more useful. Intervals of",
                "risk are over other records of the same population, with the releases kept; of utility, over",
                "releases of this original. Where they overlap the order is not settled.",
                *_best_of_all(found),
                "Not shown: what an intruder with other keys learns.",
            ),
            *warnings_in_words(found.warnings),
        ]
    )


def _best_of_all(found: RiskUtilityMap) -> list[str]:
    """Which points no other betters in all measures at once, where there are more than the two of the map."""
    risks, utilities = found.measures
    if len(risks) + len(utilities) <= 2:
        return []
    best = [point.label for point, is_best in zip(found.points, found.pareto_of_all, strict=True) if is_best]
    named = f"{how_many(len(risks), 'risk')} and {how_many(len(utilities), 'distance')} ({', '.join(utilities)})"
    return [f"In {named} at once none is better than {', '.join(best) or 'any other, as some lack a measure'}."]


def _but_areas(measures: Sequence[str]) -> str:
    others = [name for name in measures if name not in (*PERCENT, *SHARES)]
    return f" ({' and '.join(others)}: from 0 to 1)" if others else ""


def _with_ends(measure: str, found: Sequence[float]) -> list[str]:
    """A figure and its interval."""
    value, low, high = (math.nan if one is None else one for one in (printed(measure, one) for one in found))
    return [number(value, digits_of(measure)), ends((low, high), digits_of(measure))]
