"""A search for settings in words: the winner with its fresh figures, or what is in the way, and the frontier."""

from __future__ import annotations

import math

from unveil.assessment.figure import printed_statistic
from unveil.printable import how_many
from unveil.result import Row, number, paragraph, text_table, warnings_in_words
from unveil.tuning import HeldRule, InTheWay, Tried, Tuning

_DIGITS = 4
"""Significant digits of figures."""


def tuning(found: Tuning) -> str:
    """The winner, the frontier, and how they were found."""
    names = _varied(found)
    lines = [
        f"Settings for policy {found.policy}: keys {', '.join(found.keys)}; targets {', '.join(found.targets)}",
        "",
        *(_winner(found, found.winner, names) if found.winner else _none(found, names)),
        "",
        f"The frontier: {how_many(len(found.frontier), 'setting')} of {len(found.tried)} tried",
        "",
        text_table(
            [*names, "sets", found.utility, "interval", "limit used", *(_called(one) for one in _rules(found))],
            [_row(found, one, names) for one in found.frontier],
            _DIGITS,
        ),
        "",
        paragraph(
            f"No other setting that was tried uses less of the limits and has a smaller {found.utility}. Limit used:",
            "the largest share of a limit that a figure takes, with the unfavourable end of its interval in the worst",
            "set of releases; at most 1 if every rule holds. Figures of rules are means over sets, with the worst end.",
            f"{how_many(found.n_sets, 'set')} of releases were drawn and measured ({found.n_releases} releases);",
            f"{len(found.tried)} of {found.n_possible} combinations were tried.",
            "The figures of the frontier took part in the choice, and look better than they are.",
        ),
        *warnings_in_words(found.warnings),
    ]
    return "\n".join(lines)


def _winner(found: Tuning, winner: Tried, names: list[str]) -> list[str]:
    rows: list[Row] = [
        [_called(one), _limit(one), _shown(one, one.value), _shown(one, one.end), one.verdict] for one in winner.rules
    ]
    value, interval = _useful(found, winner)
    said = [
        f"The most useful setting: {winner.setting.in_words(names)}. It was chosen among {len(found.tried)} settings.",
        f"These figures are of {how_many(winner.sets, 'fresh set')} of releases, which took no part in the choice;",
        f"{found.utility} {value} ({interval}).",
    ]
    if found.not_confirmed:
        said.append(
            f"Before it, {how_many(len(found.not_confirmed), 'setting')} had been chosen whose fresh releases did "
            "not keep the policy."
        )
    table = text_table(["rule", "limit", "mean", "worst end", "verdict"], rows, _DIGITS)
    return [paragraph(*said), "", table]


def _none(found: Tuning, names: list[str]) -> list[str]:
    said = ["No setting in reach satisfies the policy."]
    if found.interrupted or any(one.holds for one in found.tried):
        said = ["The search ended before a setting was found whose fresh releases satisfy the policy."]
    if found.not_confirmed:
        n = len(found.not_confirmed)
        said.append(f"{how_many(n, 'setting')} seemed to, and fresh releases did not confirm it.")
    if not found.in_the_way:
        return [paragraph(*said)]
    blocks = [paragraph(_blocks(one, len(found.tried), names)) for one in found.in_the_way]
    return [paragraph(*said, "In the way:"), *blocks]


def _blocks(one: InTheWay, n: int, names: list[str]) -> str:
    rule = one.rule
    what = f"rule {rule.rule}, {_called(rule).partition(' ')[2]} ({_limit(rule)})"
    where = f"with {one.setting.in_words(names)}"
    if rule.verdict == "not measured":
        return f"- {what}: it was not measured {where}."
    met = "No setting meets it" if one.n_within == 0 else f"{one.n_within} of {n} settings meet it, but not with others"
    return f"- {what}: {met}; the nearest reaches {_shown(rule, rule.end)} {where}."


def _row(found: Tuning, one: Tried, names: list[str]) -> Row:
    settings = [one.setting.in_words([name]).partition(" ")[2] for name in names]
    rules = [f"{_shown(r, r.value)} ({_shown(r, r.end)})" for r in one.rules]
    return [*settings, one.sets, *_useful(found, one), number(one.limit_used, 2), *rules]


def _rules(found: Tuning) -> tuple[HeldRule, ...]:
    return found.tried[0].rules if found.tried else ()


def _called(rule: HeldRule) -> str:
    return " ".join(filter(None, [f"{rule.rule}:", rule.measure, rule.target,
                                  "" if rule.statistic == "value" else rule.statistic]))  # fmt: skip


def _limit(rule: HeldRule) -> str:
    return f"{rule.direction} {printed_statistic(rule.measure, rule.statistic, rule.limit)}"


def _shown(rule: HeldRule, value: float) -> str:
    return "-" if math.isnan(value) else printed_statistic(rule.measure, rule.statistic, value, _DIGITS)


def _useful(found: Tuning, one: Tried) -> tuple[str, str]:
    """The utility of a setting and its interval."""
    value, *span = (
        "-" if math.isnan(end) else printed_statistic(found.utility, "value", end, _DIGITS)
        for end in (one.utility, one.utility_low, one.utility_high)
    )
    return value, "-" if "-" in span else " to ".join(span)


def _varied(found: Tuning) -> list[str]:
    """Settings of which more than one value was offered; all where there is one of each."""
    return [name for name, values in found.space.items() if len(values) > 1] or list(found.space)
