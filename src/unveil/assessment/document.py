"""All parts of an assessment put together as the dict that is documented."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from unveil.assessment.advice_part import tuning_advice
from unveil.assessment.contradictions import contradictions
from unveil.assessment.masthead import Masthead
from unveil.assessment.pareto import pareto
from unveil.assessment.part import Context
from unveil.assessment.policy import Policy
from unveil.assessment.public_summary import public_summary, told_of_hundred
from unveil.assessment.published_text import HELD_BACK, SUFFIX, with_public
from unveil.assessment.scenario import INTRUDERS
from unveil.assessment.summary import summary
from unveil.columns import Pair
from unveil.notes import Note
from unveil.printable import how_many
from unveil.result import counting
from unveil.synthesis.settings import settings_of

SCHEMA_VERSION = "2.4"
PACKAGES = ("numpy", "scipy", "pyarrow", "scikit-learn", "narwhals", "jinja2")
KNOWS = {
    "release": "The released files, and the keys of some persons.",
    "release and synthesizer": "Also the method that made the release, its settings, and data like the original.",
    "all but one record": "Also every original record but one, and all of that one except the target.",
}


def document(
    context: Context, parts: Sequence[Mapping[str, Any]], policy: Policy | None, masthead: Masthead
) -> dict[str, Any]:  # fmt: skip
    """Put the parts together: all that was found, for use inside the building.

    Parameters
    ----------
    context
        Files and scenario.
    parts
        What :func:`unveil.assessment.part.run` gave, with the measure of each.
    policy
        The institution's rules.
    masthead
        The head of the report.

    Returns
    -------
    dict
        The assessment.
    """
    pair, scenario = context.pair, context.scenario
    sections = [part["section"] for part in parts if part["section"] is not None]
    figures = [figure for section in sections for figure in section["figures"]]
    entries = _joined(section["entries"] for section in sections)
    utility = entries.get("utility")
    rules = [] if policy is None else policy.rows([*figures, *(utility or {}).get("figures", [])])
    # What several parts have in common is said once.
    said = {str(text): {"part": "targets", "text": str(text), "text" + SUFFIX: text.public} for text in context.said}
    for part in parts:
        section = part["section"] or {"warnings": [], "warnings" + SUFFIX: []}
        for text, public in zip(section["warnings"], section["warnings" + SUFFIX], strict=True):
            said.setdefault(text, {"part": part["measure"], "text": text, "text" + SUFFIX: public})
    found = {
        "schema": "unveil.assessment",
        "schema_version": SCHEMA_VERSION,
        "release_safe": False,
        "title": _title(pair),
        **({"masthead": masthead.to_dict()} if masthead.to_dict() else {}),
        "summary": [],
        "confidential": list(CONFIDENTIAL),
        "scenario": scenario.to_dict()
        | {
            "special_codes": {name: _codes(pair, name) for name in pair.names if pair.column(name).special},
            "breaks": {name: list(breaks) for name in pair.names if (breaks := pair.breaks_of(name))},
            "hierarchies": {name: list(levels) for name, levels in pair.coarsened.items()},
            "weights": None if pair.weights is None else pair.weights.column,
            "population": None if pair.weights is None else pair.weights.population,
            "unit": list(pair.unit),
            "time": pair.time,
            "synthesizer": None if context.synthesizer is None else settings_of(context.synthesizer),
            "holdout": context.pair.holdout is not None,
        },
        "data": _data(pair, scenario.keys, scenario.targets),
        "intruders": [_intruder(name, context, figures) for name in scenario.intruders],
        "figures": figures,
        "targets": [_target(pair, target, sections) for target in scenario.targets],
        "keys": {
            "sets": entries.get("key_sets", []),
            "leave_one_out": entries.get("leave_one_out", []),
            "groups": entries.get("key_groups", []),
            "as_wildcards": entries.get("identity_as_wildcards"),
        },
        "structure": entries.get("structure"),
        "membership": entries.get("membership"),
        "exact_membership": entries.get("exact_membership"),
        "utility": utility,
        **({"plausibility": entries["plausibility"]} if entries.get("plausibility") else {}),
        **({"other_measures": entries["other_measures"]} if entries.get("other_measures") else {}),
        "map": _map(pair, figures, utility),
        "advice": [*entries.get("advice", []), *tuning_advice(rules, context.synthesizer)],
        "policy": None
        if policy is None
        else {
            "label": policy.label,
            "text": policy.text,
            "rows": rules,
        },
        "warnings": [
            *contradictions(figures, entries.get("structure"), context.rounding, _curves(sections)),
            *said.values(),
        ],
        "parts": [{name: value for name, value in part.items() if name != "section"} for part in parts],
        "provenance": _provenance(context, parts),
    }
    with counting(pair.unit):
        found["summary"] = summary(found, context.rounding)
    found["publication"] = None
    found["public_summary"] = public_summary(found, drawn=context.drawn)
    whole: dict[str, Any] = with_public(found)
    return whole


def _joined(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Entries of all parts; a list that several parts add to is one list."""
    found: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = found[name] + value if isinstance(found.get(name), list) else value
    return found


def _title(pair: Pair) -> str:
    m = pair.n_releases
    return f"{pair.original.label}: {m} releases" if m > 1 else f"{pair.original.label} and {pair.labels[0]}"


def _codes(pair: Pair, name: str) -> list[str]:
    column = pair.column(name)
    return [column.label(code) for code in column.special]


CONFIDENTIAL = (
    "Whoever has all records but one can try out that one with any exact figure, and with the size or the SHA-256 of "
    f"the original; in a test that told the missing answer of {told_of_hundred('full report')}.",
    "The seed: whoever has all records but one and knows it can repeat what was drawn.",
    "Levels, groups and counts of few records, and the reasons and warnings that name them.",
    "Thresholds, keys and targets tell an intruder what was looked at, and what was not.",
)
"""Entries that a keeper should check before the document is passed on."""


def _data(pair: Pair, keys: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    columns = []
    for name in pair.names:
        column = pair.column(name)
        columns.append(
            {
                "name": name,
                "kind": column.kind,
                "role": "key" if name in keys else "target" if name in targets else "other",
                "levels": column.n_levels - column.has_gap,
                "gaps": 0.0 if column.gap is None else float((column.original == column.gap).mean()),
                "unmatched": pair.unmatched([column])[name],
            }
        )
    return {
        "original": {"label": pair.original.label, "records": pair.n_original},
        "releases": [{"label": one, "records": n} for one, n in zip(pair.labels, pair.n_synthetic, strict=True)],
        "columns": columns,
    }


def _intruder(name: str, context: Context, figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    applies = any(figure["intruder"] == name for figure in figures)
    reason = None
    if not applies:
        reason = Note(
            "the synthesizer and its settings were not given"
            if name != INTRUDERS[0] and context.synthesizer is None and context.pair.holdout is None
            else "no measure of this intruder was taken; see the list of parts"
        )
    title = {
        "release": "Has the release",
        "release and synthesizer": "Has the release and the synthesizer",
        "all but one record": "Has all records but one",
    }[name]
    return {"name": name, "title": title, "knows": KNOWS[name], "applies": applies, "reason": reason}


def _target(pair: Pair, target: str, sections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The entries of one target from all parts; lists are joined."""
    found: dict[str, Any] = {
        "target": target,
        "kind": "continuous" if pair.column(target).kind in ("numeric", "date", "datetime") else "categorical",
        "sentences": [
            Note(figure["sentence"], figure.get("sentence" + SUFFIX, HELD_BACK))
            for section in sections
            for figure in section["figures"]
            if figure["target"] == target
        ],
        "exclusions": None,
        "as_wildcards": None,
        "curve": None,
        "attribution": None,
        "notes": [],
        "notes" + SUFFIX: [],
        "groups": [],
        "posterior": None,
        "partial_knowledge": None,
        "checks": [],
        "checks" + SUFFIX: [],
    }
    return _joined([found, *(section["targets"].get(target, {}) for section in sections)])


def _curves(sections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Curves of the strongest intruder who knows fewer records, by target."""
    return {
        target: entries["partial_knowledge"]
        for section in sections
        for target, entries in section["targets"].items()
        if entries.get("partial_knowledge")
    }


RISK_OF_MAP, UTILITY_OF_MAP = "DiSCO", "mean TVD"


def _map(pair: Pair, figures: Sequence[Mapping[str, Any]], utility: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The releases as points: mean DiSCO over the targets against the distance of the pairwise distributions."""
    risks = [f for f in figures if f["measure"] == RISK_OF_MAP]
    useful = next((f for f in (utility or {}).get("figures", ()) if f["measure"] == UTILITY_OF_MAP), None)
    if not risks or useful is None:
        return None
    points: list[dict[str, Any]] = []
    half = sum((_number(f["high"]) - _number(f["low"])) / 2 for f in risks) / len(risks)
    for r, label in enumerate(pair.labels):
        risk = sum(_number(f["per_release"][r]) for f in risks) / len(risks)
        points.append(
            {
                "label": label,
                "risk": risk,
                "risk_low": max(risk - half, 0.0),
                "risk_high": min(risk + half, 100.0),
                "utility": _number(useful["per_release"][r]),
                "utility_low": None,
                "utility_high": None,
            }
        )
    marked = pareto([(point["risk"], point["utility"]) for point in points])
    return {
        "risk": f"{RISK_OF_MAP}, mean of {how_many(len(risks), 'target')}, percent of records",
        "utility": "mean total variation distance of all pairs of variables (0: as useful as the original)",
        "utility_better": "low",
        "points": [point | {"pareto": best} for point, best in zip(points, marked, strict=True)],
    }


def _number(value: float | None) -> float:
    """Return NaN as None: a figure that is not defined is None in a part from a checkpoint, NaN in a new part."""
    return math.nan if value is None else value


def _provenance(context: Context, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "unveil": metadata.version("unveil"),
        "python": platform.python_version(),
        "packages": packages,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_seconds": sum(part["seconds"] for part in parts),
        "inputs": context.inputs,
    }
