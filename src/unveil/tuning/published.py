"""What of a search for settings a document for publication holds: by the rules of the gate of assessments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unveil.assessment import gate_rules as by
from unveil.assessment.gate import STILL_TOLD, Row, let_out, publication
from unveil.assessment.gate_rules import Rule
from unveil.assessment.published_text import with_public
from unveil.assessment.rounding import Rounding
from unveil.tuning.setting import NAMES


def _named(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


def _of_utility(rule: Rule) -> Rule:
    """The rule of a figure, for the utility that was sought: its name stands once, at the top."""
    return lambda value, at: rule(value, replace(at, row={"measure": at.whole["utility"], "unit": "distance"}))


SETTING = Row(_named(by.as_it_is, *NAMES))
HELD = {
    **_named(by.as_it_is, "rule", "measure", "target", "unit", "statistic", "direction", "limit", "verdict"),
    "value": by.figure, "end": by.high, "persons": by.count,
    # A share of a limit would tell the figure with all its digits.
    "limit_used": by.nothing,
}  # fmt: skip
TRIED = Row(
    {
        "setting": SETTING,
        **_named(by.as_it_is, "stage", "sets", "holds", "frontier"),
        "rules": [Row(HELD, persons="persons")],
        "limit_used": by.nothing,
        "utility": _of_utility(by.figure),
        "utility_low": _of_utility(by.low),
        "utility_high": _of_utility(by.high),
    }
)
LEAVES = Row(
    {
        **_named(by.as_it_is, "schema", "schema_version", "keys", "targets", "utility", "n_possible", "n_sets",
                 "n_releases", "complete", "interrupted", "minimum_count"),
        "policy": Row({"label": by.instead("policy of the institution"), "text": by.as_it_is}),
        "space": SETTING,
        "tried": [TRIED],
        "winner": TRIED,
        "not_confirmed": [SETTING],
        "in_the_way": [Row({"setting": SETTING, "n_within": by.as_it_is, **HELD}, persons="persons")],
        "n_original": by.count,
        "warnings": by.sentences,
    }
)  # fmt: skip
"""Names of the entries that may be published, each with its rule."""


def published(document: Mapping[str, Any], warnings: Sequence[str]) -> dict[str, Any]:
    """The document for publication of a search.

    Parameters
    ----------
    document
        All of it as plain values.
    warnings
        Its warnings, with what may be published of them.
    """
    rounding = Rounding(document["n_original"], document["minimum_count"])
    passed = let_out({**document, **with_public({"warnings": list(warnings)})}, LEAVES, rounding)
    return passed | {
        "release_safe": True,
        "confidential": list(STILL_TOLD),
        "publication": publication(rounding),
    }
