"""Plausibility of a release in words and a table."""

from __future__ import annotations

from unveil._tables.plausibility import Plausibility
from unveil.result import Row, number, paragraph, text_table, warnings_in_words


def plausible(found: Plausibility) -> str:
    """A row per rule and file, and per set of columns and release."""
    lines = []
    if found.rules:
        rows: list[Row] = [
            [rule if file == 0 else "", label, number(one["broken"], 0), one["share"], number(one["unknown"], 0)]
            for rule, files in found.rules.items()
            for file, (label, one) in enumerate(zip(found.files, files, strict=True))
        ]
        lines += [text_table(["rule", "file", "broken by", "percent", "unknown"], rows), ""]
        means = [f"{number(share)} % of {label}" for label, share in zip(found.files, found.implausible, strict=True)]
        lines += [paragraph(f"Records that break any rule: {'; '.join(means)}."), ""]
    if found.combinations:
        rows = [
            [names if file == 0 else "", label, number(one["records"], 0), one["share"], number(one["combinations"], 0)]
            for names, files in found.combinations.items()
            for file, (label, one) in enumerate(zip(found.labels, files, strict=True))
        ]
        lines += [text_table(["columns", "file", "records", "percent", "combinations"], rows), ""]
        lines += [paragraph("Combinations that no original record has; they need not be impossible."), ""]
    return "\n".join([*lines[:-1], *warnings_in_words(found.warnings)])
