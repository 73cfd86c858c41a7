"""Plausibility of the releases: which declared rules their records break, and the original beside them."""

from __future__ import annotations

from typing import Any

from unveil._tables.plausibility import PairColumns, Plausibility, plausibility
from unveil.assessment.exclusions import is_inside
from unveil.assessment.figure import mean_of
from unveil.assessment.part import Context, Section
from unveil.assessment.published_text import Exact, public_note
from unveil.assessment.wording import listed, of_hundred
from unveil.columns.conditions import Condition
from unveil.columns.stated_rules import checked_by
from unveil.errors import CallError
from unveil.notes import Note
from unveil.printable import how_many


def plausibility_part(context: Context) -> Section:
    """Per rule, who breaks it, and how many combinations of its columns no original record has."""
    pair, rules = context.pair.rows, context.scenario.rules
    conditions = {one.text: one for one in checked_by(rules, PairColumns(pair))}
    sets = {text: sorted(one.variables) for text, one in conditions.items()}
    found = plausibility(pair, rules, combinations=list({", ".join(one): one for one in sets.values()}.values()))
    rows = [_row(context, found, condition, sets[text]) for text, condition in conditions.items()]
    entry = {"sentence": _sentence(context, found), "in_short": _only_in_the_releases(rows, sum(found.n_synthetic)),
             "rules": rows}  # fmt: skip
    return Section(entries={"plausibility": entry}, warnings=found.warnings)


def _row(context: Context, found: Plausibility, condition: Condition, columns: list[str]) -> dict[str, Any]:
    original, *releases = found.rules[condition.text]
    new = found.combinations[", ".join(columns)]
    return {
        "rule": _named(context, condition),
        "columns": columns,
        "broken": [one["broken"] for one in releases],
        "share": [one["share"] / 100 for one in releases],
        "broken_original": original["broken"],
        "share_original": original["share"] / 100,
        "new_combinations": [one["combinations"] for one in new],
        "share_new": [one["share"] / 100 for one in new],
    }


def _named(context: Context, condition: Condition) -> Note:
    """The rule; for publication its columns alone, if it names a value that may not be told."""
    may_be_told = "#" not in condition.text and all(_may_be_told(context, *one) for one in condition.constants)
    return Note(condition.text, condition.text if may_be_told else f"a rule of {listed(sorted(condition.variables))}")


def _may_be_told(context: Context, name: str | None, value: object) -> bool:
    """Whether enough original records have a value in a column, and it is no end of a number's range."""
    if name is None or callable(value):
        return False
    if value is None:
        return True
    column = context.pair.rows.column(name)
    try:
        code = column.code_of(value)
    except CallError:
        return False
    return (column.original == code).sum() >= context.scenario.minimum_count and is_inside(context, name, value)


def _sentence(context: Context, found: Plausibility) -> Note:
    """How many records break any rule: of the releases as it is, because whoever has a release can count them."""
    original, *releases = found.implausible
    asked = "the rule" if len(found.rules) == 1 else f"at least one of the {len(found.rules)} rules"

    def words(say: Exact) -> str:
        return (
            f"Of 100 released records, {of_hundred(mean_of(releases) / 100)} break {asked}; of 100 original records, "
            f"{say.hundred(original / 100)}."
        )

    return public_note(words, context.rounding)


def _only_in_the_releases(rows: list[dict[str, Any]], released: int) -> Note | None:
    """What is said of rules that the original keeps and a release breaks; None where there are none."""
    broken = [row for row in rows if row["broken_original"] == 0 and any(row["broken"])]
    if not broken:
        return None
    worst = max(broken, key=lambda row: sum(row["broken"]))
    what, which = ("a rule", "it is") if len(broken) == 1 else (how_many(len(broken), "rule"), "most often")

    def said(rule: str) -> str:
        return (
            f"Released records break {what} that every original record keeps; {which} {rule}, broken by "
            f"{sum(worst['broken'])} of {released}."
        )

    rule = worst["rule"]
    quoted = f"'{rule}'"
    return Note(said(quoted), said(quoted if rule.public == str(rule) else rule.public))
