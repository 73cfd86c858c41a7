"""The assessment in the order of the page: the place of each figure, and the reasons for missing parts."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.assessment.figure import SHARES_OF_RECORDS
from unveil.errors import DataError
from unveil.show.report import figures as numbers
from unveil.show.report.figures import count
from unveil.show.report.row_plots import round_top

MEMBERSHIP_WITH = "release and synthesizer"
"""The intruder who asks whose records were used."""
MOST_ROWS = {"pairs": 300, "sets": 150, "groups": 30, "heat": 40, "terms": 60, "variables": 300, "distributions": 60}
MOST_DETAILED = 16
"""Targets that are shown with their curve, groups and plots, so that a page of many stays small."""


# Table measures are percentages wherever they stand.
PERCENT_MEASURES = dict.fromkeys(
    ("UiO", "UiS", "UiOiS", "repU", "Dorig", "DiS", "DiSCO", "DCAP", "TCAP", "linkage", "match risk"), "percent"
)


@dataclass(frozen=True)
class TargetPage:
    """A target with its figures, weakest intruder first, and whether it is shown in detail."""

    slug: str
    content: dict[str, Any]
    figures: list[dict[str, Any]]
    detailed: bool


@dataclass(frozen=True)
class Page:
    """The content of the page, as the templates take it.

    Attributes
    ----------
    a
        The assessment.
    intruders
        Each intruder with the figures read as its risk.
    membership_with
        Name of the intruder with whom the membership attacks stand: the last one where the one who makes them is not
        looked at.
    targets
        Each target with its figures.
    general
        Figures that belong to no target.
    sections
        Anchor and heading of every section that is drawn.
    """

    a: dict[str, Any]
    intruders: list[tuple[dict[str, Any], list[dict[str, Any]]]]
    membership_with: str | None
    targets: list[TargetPage]
    general: list[dict[str, Any]]
    sections: list[tuple[str, str]]


SECTIONS = (
    ("summary", "Summary"),
    ("care", "Before you use the figures"),
    ("intruders", "Intruders, from weak to strong"),
    ("targets", "Target by target"),
    ("keys", "Which keys, which groups"),
    ("utility", "Utility"),
    ("plausibility", "Rules that records break"),
    ("map", "Risk and utility together"),
    ("advice", "What to change"),
    ("policy", "The institution's policy"),
    ("methods", "Methods and sources"),
    ("provenance", "Provenance"),
)
OF_NEW_COMBINATIONS = (
    "Combinations are those of the columns of the rule. One that no original record has need not be impossible: a "
    "sample has not everything that can be."
)
ON_REQUEST = ("plausibility", "policy")
"""Sections of what is only there if it was asked for."""


def arrange(assessment: dict[str, Any]) -> Page:
    """Sort the figures into their places."""
    order = {one["name"]: number for number, one in enumerate(assessment["intruders"])}
    for number, figure in enumerate(assessment["figures"]):
        if figure["intruder"] not in order:
            raise DataError(
                f"assessment.figures[{number}].intruder is {figure['intruder']!r}, which is none of intruders"
            )
    figures = sorted(assessment["figures"], key=lambda f: order[f["intruder"]])
    names = [one["target"] for one in assessment["targets"]]
    detailed = _standing_out(names, figures)
    return Page(
        a=assessment,
        intruders=[(one, [f for f in figures if f["intruder"] == one["name"]]) for one in assessment["intruders"]],
        membership_with=MEMBERSHIP_WITH if MEMBERSHIP_WITH in order else next(reversed(order), None),
        targets=[
            TargetPage(slug, one, [f for f in figures if f["target"] == one["target"]], one["target"] in detailed)
            for slug, one in zip(_slugs(names), assessment["targets"], strict=True)
        ],
        general=[f for f in figures if f["target"] not in set(names)],
        sections=[s for s in SECTIONS if s[0] not in ON_REQUEST or assessment.get(s[0]) is not None],
    )


def _standing_out(names: Sequence[str], figures: Sequence[dict[str, Any]]) -> set[str]:
    """The targets with the highest excess over chance, on average over their figures; of equal targets the first."""

    def excess(name: str) -> float:
        known = [f["excess"] for f in figures if f["target"] == name and f["excess"] is not None]
        return math.fsum(known) / len(known) if known else -math.inf

    return set(sorted(names, key=excess, reverse=True)[:MOST_DETAILED])


def _slugs(names: Iterable[str]) -> list[str]:
    """Anchors: readable where the name allows it, and never the same twice."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        found.append(f"target-{number}-{plain}" if plain else f"target-{number}")
    return found


def records(a: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    """Number of records of a file in words; of units, where an assessment counts these."""
    what = "units" if a["scenario"].get("unit") else "records"
    return f"number of {what} not told" if file["records"] is None else f"{count(file['records'])} {what}"


def policy_rows(assessment: dict[str, Any], figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the institution's policy that concern a figure."""
    policy = assessment["policy"]
    if policy is None:
        return []
    return [r for r in policy["rows"] if r["measure"] == figure["measure"] and r["target"] == figure["target"]]


def unit_of(assessment: dict[str, Any], row: dict[str, Any]) -> str:
    """The unit in which a measure is shown that is named outside the list of figures."""
    if row["measure"] in SHARES_OF_RECORDS:
        return "share"
    if row.get("unit"):
        return str(row["unit"])
    utility = (assessment["utility"] or {}).get("figures", [])
    found = [f["unit"] for f in (*assessment["figures"], *utility) if f["measure"] == row["measure"]]
    return str(found[0]) if found else PERCENT_MEASURES.get(row["measure"], "")


def unit_shown(figure: Mapping[str, Any]) -> str:
    """The unit in which a figure is shown."""
    return "share" if figure["measure"] in SHARES_OF_RECORDS else str(figure["unit"])


def map_units(found: Mapping[str, Any]) -> tuple[str, str]:
    """The units of risk and utility on the map, by their names."""
    risk = "percent" if "percent of records" in found["risk"] else ""
    return risk, "share" if "total variation distance" in found["utility"] else ""


def why_missing(assessment: dict[str, Any], *names: str) -> str:
    """Why a part of the assessment is not there, in the words of the assessment.

    The first name counts under which there is a part; parts have a name, and a measure for all targets.
    """
    for name in names:
        found = [p for p in assessment["parts"] if name in (p["name"], p.get("measure"))]
        if found:
            words = dict.fromkeys(f"{p['status']}: {p['reason']}" if p["reason"] else p["status"] for p in found)
            return "; ".join(words)
    return "not part of this assessment"


def intervals(figure: Mapping[str, Any], level: float) -> list[str]:
    """The intervals of a figure with their kinds; an older document has only those of this release."""
    found = [(figure.get("over", "this release"), numbers.interval(figure["low"], figure["high"], figure["unit"]))]
    process = numbers.interval(figure.get("process_low"), figure.get("process_high"), figure["unit"])
    if not process and figure.get("process_undefined"):
        process = f"not defined, {figure['process_undefined']}"
    found.append(("the process", process))
    return [f"{round(100 * level)} % interval, {over}: {ends}" for over, ends in found if ends]


def limit_unit(statistic: str, unit: str) -> str:
    """The unit of a limit: an excess is a share and a p-value a number, whatever the figure is measured in."""
    if statistic.startswith("excess"):
        return "share"
    return "" if statistic == "p_value" else unit


def first_columns(rows: Sequence[dict[str, Any]], *leading: str) -> list[str]:
    """Names of all columns of a list of rows, the leading ones first; nested values stand in the JSON only."""
    names = dict.fromkeys(leading)
    for row in rows:
        names |= dict.fromkeys(k for k, v in row.items() if not isinstance(v, list))
    return list(names)


def command(assessment: dict[str, Any]) -> str:
    """The command that repeats the assessment; labels stand for paths."""
    given = assessment["provenance"].get("command")
    if given:
        return str(given)
    data, scenario = assessment["data"], assessment["scenario"]
    words = ["unveil", "assess", data["original"]["label"], *(one["label"] for one in data["releases"])]
    words += ["--keys", ",".join(scenario["keys"]), "--targets", ",".join(scenario["targets"])]
    for pair in scenario.get("exclude_pairs") or ():
        words += ["--exclude-pairs", str(pair)]
    for rule in scenario.get("rules") or ():
        words += ["--rules", str(rule)]
    levels = scenario.get("not_target_levels")
    for target, one in levels.items() if isinstance(levels, dict) else ():
        words += [word for level in one for word in ("--not-target-levels", f"{target}={level}")]
    words += _of_files(scenario)
    if scenario.get("seed") is not None:
        words += ["--seed", str(scenario["seed"])]
    return shlex.join(words)


def _of_files(scenario: dict[str, Any]) -> list[str]:
    """Options that say what the files hold; of what publication leaves out, the settings below name the variables."""
    words = []
    breaks = scenario.get("breaks")
    for name, ends in breaks.items() if isinstance(breaks, dict) else ():
        words += ["--breaks", f"{name}={':'.join(f'{end:g}' for end in ends)}"]
    if scenario.get("hierarchies"):
        words += ["--hierarchies", "hierarchies.toml"]
    if scenario.get("unit"):
        words += ["--unit", ",".join(scenario["unit"])]
    for option in ("time", "suppressed", "one_to_one", "weights"):
        if scenario.get(option):
            words += [f"--{option.replace('_', '-')}", str(scenario[option])]
    return words


def command_note(assessment: dict[str, Any]) -> str:
    """A note on the settings that the command leaves out."""
    note = "Labels stand for paths. The settings below complete the command where it leaves something out."
    if assessment["scenario"].get("synthesizer"):
        note += " The synthesizer comes back by --provenance with the file that was written beside the releases."
    return note


def drawn(utility: Mapping[str, Any]) -> list[tuple[dict[str, Any], float]]:
    """The variables whose distributions can be drawn, with the end of their axis in percent."""
    found = [one for one in utility.get("distributions", []) if len(one["bars"]) > 1]
    return [
        (one, round_top((share for bar in one["bars"] for share in (bar["original"], *bar["releases"])), "share"))
        for one in found[: MOST_ROWS["distributions"]]
    ]


def mean_share(shares: Sequence[float | None]) -> float | None:
    """The mean of the shares that are told; None if there is none."""
    told = [share for share in shares if share is not None]
    return math.fsum(told) / len(told) if told else None


def heat_map(pairs: Sequence[dict[str, Any]], measure: str) -> tuple[list[str], dict[tuple[str, str], float | None]]:
    """Names along both sides of the map, and the values both ways; not more names than can be read."""
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["first"], pair["second"])))[: MOST_ROWS["heat"]]
    values = {}
    for pair in pairs:
        values[pair["first"], pair["second"]] = values[pair["second"], pair["first"]] = pair.get(measure)
    return names, values


def pair_measures(pairs: Sequence[dict[str, Any]]) -> list[str]:
    """Names of the numbers that were computed for pairs."""
    return [name for name in first_columns(pairs) if name not in ("first", "second")
            and any(isinstance(p.get(name), (int, float)) for p in pairs)]  # fmt: skip


def posterior_rows(posterior: dict[str, Any]) -> list[dict[str, Any]]:
    """A row per group of records and structure, with the figures of the posterior."""
    if "rows" in posterior:
        return list(posterior["rows"])
    pairs = zip(posterior.get("labels", []), posterior.get("releases", []), strict=False)
    return [{"who": label, "structure": name} | one for label, release in pairs for name, one in release.items()]


def on_mixed_donors(assessment: dict[str, Any]) -> str:
    """What donor counts alone do not tell where the synthesizer mixes donors; nothing where it does not."""
    mix = (assessment["scenario"].get("synthesizer") or {}).get("mix")
    if not mix:
        return ""
    return (
        f"Donors are mixed (mix {numbers.value_text(mix)}): donor counts then tell little and nearly no value is "
        "certain by them (fixed), but the shape of the trees still tells, which mix does not hide. Read the figures of "
        "exact."
    )


def exact_posterior(posterior: dict[str, Any]) -> float | None:
    """The mean posterior of records drawn at random, where it is exact."""
    found = (r for r in posterior_rows(posterior) if r["structure"] == "exact" and r["who"] == "random sample")
    return next((row.get("mean_posterior") for row in found), None)


def posterior_cross(posterior: dict[str, Any]) -> list[dict[str, Any]]:
    """Persons at risk beside those that another measure flags."""
    return [row for rows in posterior.get("cross", []) for row in rows]


def by_measure(groups: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Groups by measure, so that figures of different baselines are not ranked together; of many the highest.

    Examples
    --------
    >>> rows = [{"measure": m, "value": v} for m, v in (("DiSCO", 4.0), ("DCAP", 9.0), ("DiSCO", 5.0))]
    >>> [(measure, [one["value"] for one in found]) for measure, found in by_measure(rows)]
    [('DiSCO', [4.0, 5.0]), ('DCAP', [9.0])]
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for one in groups:
        found.setdefault(one["measure"], []).append(one)
    if len(groups) <= MOST_ROWS["groups"]:
        return list(found.items())
    most = max(MOST_ROWS["groups"] // len(found), 1)
    return [(measure, sorted(rows, key=_highest_first)[:most]) for measure, rows in found.items()]


def _highest_first(group: dict[str, Any]) -> tuple[bool, float]:
    return group["value"] is None, -(group["value"] or 0.0)


def sorted_sets(sets: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sets of keys by target, and of each target those with the highest figure first."""
    order = {name: number for number, name in enumerate(dict.fromkeys(one.get("target") for one in sets))}

    def place(one: dict[str, Any]) -> tuple[int, bool, float]:
        first = next(iter(one["figures"].values()), None)
        return order[one.get("target")], first is None, -(first or 0.0)

    return sorted(sets, key=place)
