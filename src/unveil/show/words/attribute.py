"""Attribute disclosure in words and tables."""

from __future__ import annotations

from collections.abc import Iterable

from unveil._tables.attribute_risk import RISE, AttributeRisk, AttributeRisks
from unveil._tables.exclusion_texts import level_option, pair_option
from unveil._tables.exclusions import RULES
from unveil.printable import how_many
from unveil.result import Row, ends, number, paragraph, text_table, warnings_in_words
from unveil.show.words.tables import grouping_in_words, heading, left_out_in_words, wildcards_in_words
from unveil.stats import called, kinds_in_words

_PRINTED = ("iS", "DiS", "DiSCO", "DiSDiO", "DCAPd", "TCAP")


def one_target(risk: AttributeRisk) -> str:
    """A row per release, and what the figures mean."""
    first = risk.releases[0]
    rows: list[Row] = []
    for label, release, n, interval in zip(risk.labels, risk.releases, risk.n_synthetic, risk.intervals(), strict=True):
        rows.append([label, n, *(release[m] for m in _PRINTED), ends(interval["DiSCO"])])
    if len(rows) > 1:
        rows.append(["mean", "", *(risk.mean[m] for m in _PRINTED), ""])
    lines = [
        heading(f"Attribute disclosure of {risk.target!r}", risk.n_original, risk.keys),
        *grouping_in_words(risk.grouping),
        *_left_out(risk),
        "",
        text_table(["release", "records", *_PRINTED, f"DiSCO {called('release')}"], rows),
        "",
        paragraph(
            f"Beside it: the original itself discloses {number(first['Dorig'])} (Dorig) and attributes",
            f"{number(first['CAPd'])} correctly (CAPd); guessing from the margin of {risk.target!r} alone is right",
            f"for {number(first['baseCAPd'])} (baseCAPd, whatever is left out).",
            f"Of 100 original records, {number(risk.mean['DiSCO'])} have keys that in the release go with one value of",
            f"{risk.target!r} only, and it is their own (DiSCO).",
            "All are percent of original records; TCAP is percent of the DiS records.",
            *_kinds([risk]),
        ),
    ]
    lines.extend(paragraph(f"{name} is not defined: {reason}.") for name, reason in risk.undefined.items())
    lines.extend(wildcards_in_words(risk.labels, risk.as_wildcards))
    lines.extend(_checks_in_words(risk))
    lines.extend(warnings_in_words(risk.warnings))
    return "\n".join(lines)


def several_targets(risks: AttributeRisks) -> str:
    """A row per target, and what the figures mean."""
    shown = ("Dorig", "DiSCO", "baseCAPd", "DCAPd", "CAPd", "iS")
    rows: list[Row] = []
    for risk in sorted(risks, key=lambda r: -r.mean["DiSCO"]):
        lows, highs = zip(*(interval["DiSCO"] for interval in risk.intervals()), strict=True)
        marks = "1-way " * any(risk.check_1way) + "2-way " * any(risk.check_2way) + "warning" * bool(risk.warnings)
        rows.append([risk.target, *(risk.mean[m] for m in shown), ends((min(lows), max(highs))), marks.strip()])
    first = risks[0]
    m = len(first.labels)
    grouping = {name: cut for risk in risks for name, cut in risk.grouping.items()}
    rising = [risk.target for risk in risks if risk.rise]
    return "\n".join(
        [
            heading(
                "Attribute disclosure",
                first.n_original,
                first.keys,
                f"mean of {m} releases" if m > 1 else f"{first.labels[0]}: {first.n_synthetic[0]} records",
            ),
            *grouping_in_words(grouping),
            *(line for risk in risks for line in _left_out(risk, f"{risk.target}: ")),
            "",
            text_table(["target", *shown, f"DiSCO {called('release')}", "look at"], rows),
            "",
            paragraph(
                "Percent of original records. Dorig: disclosed by the original itself. DiSCO: disclosed by the",
                "release, and correct. baseCAPd: right by guessing from the margin alone; DCAPd: right by guessing",
                "from the release; CAPd: right by guessing from the original.",
                *(["The interval in the table spans those of the releases."] if m > 1 else []),
                *_kinds(risks),
            ),
            *(
                line
                for risk in risks
                for line in wildcards_in_words(risk.labels, risk.as_wildcards, f"{risk.target}: ")
            ),
            *(line for risk in risks for line in _checks_in_words(risk, f"{risk.target}: ")),
            *warnings_in_words(risks.notes),
            *([paragraph(f"{', '.join(rising)}: {RISE}.")] if rising else []),
        ]
    )


def _kinds(risks: Iterable[AttributeRisk]) -> list[str]:
    """The kinds of the intervals, and the process intervals; with several targets, with their names."""
    found = {risk.target: risk.interval("process") for risk in risks}
    names = {(target, measure): measure if len(found) == 1 else f"{measure} of {target!r}"
             for target in found for measure in ("DiSCO", "DCAPd")}  # fmt: skip
    words = [found[target][measure].in_words(name) for (target, measure), name in names.items()]
    reasons = [one.undefined for spans in found.values() for one in spans.values()]
    return kinds_in_words(", ".join(filter(None, words)), reasons[0])


def _checks_in_words(risk: AttributeRisk, prefix: str = "") -> list[str]:
    """What the checks found; options to paste stand in lines of their own, which are not broken."""
    lines = []
    excluded = any(removed["original"]["remaining"] < risk.n_original for removed in risk.exclusions)
    left = " that the exclusions leave" if excluded else ""
    for label, one, two in zip(risk.labels, risk.check_1way, risk.check_2way, strict=True):
        if one:
            lines += [
                paragraph(
                    f"{prefix}Check ({label}): {one['of_level']} of the {one['disclosive']} DiSCO records have the "
                    f"level {one['level']}, which {one['share']:.1f} % of all{left} have; consider leaving it out "
                    "(not_target_levels):"
                ),
                f"  {level_option(risk.target, one['level'])}",
            ]
        if two:
            top = two[0]
            lines += [
                paragraph(
                    f"{prefix}Check ({label}): {how_many(len(two), 'pair')} of target and key level "
                    f"{'goes' if len(two) == 1 else 'go'} together in more than "
                    f"{risk.options['check_2way'][1]:g} % of the original records with that key level, first "
                    f"{top['target_level']} with {top['key']} {top['key_level']} ({top['original_with_pair']} of "
                    f"{top['original_with_key']}); consider leaving such pairs out (exclude_pairs):"
                ),
                f"  {' '.join(map(pair_option, two))}",
            ]
    return lines


def _left_out(risk: AttributeRisk, prefix: str = "") -> list[str]:
    named = [
        rule
        for rule in RULES
        if any(removed[table][rule] for removed in risk.exclusions for table in ("original", "synthetic"))
    ]
    left_out = [
        (label, risk.n_original - removed["original"]["remaining"], n - removed["synthetic"]["remaining"])
        for label, removed, n in zip(risk.labels, risk.exclusions, risk.n_synthetic, strict=True)
    ]
    return left_out_in_words(left_out, risk.n_original, risk.n_synthetic, prefix + ", ".join(named))
