"""The one gate: what of an assessment a document for publication holds.

The page, the Markdown and the JSON of a release-safe assessment are drawn from what comes out here, and no other code
decides what may be shown. The gate is a list of what may leave: an entry of the assessment that :data:`LEAVES` does not
name is held back.

To let a new entry out, name it in :data:`LEAVES` with the rule of its kind (:mod:`unveil.assessment.gate_rules`):
``as_it_is`` for words of the program, names of variables and settings; ``said`` and ``sentences`` for texts, which pass
as the public text of their :class:`unveil.notes.Note`; ``percent``, ``share``, ``figure`` and so on for figures;
``count`` for numbers of original records. Figures that concern fewer than all persons stand in a :class:`Row` that
says under which name their number is. ``tests/assessment/test_gate.py`` lists the entries that leave as they are.

The reader against whom this protects has no records of the original. One who has all but one can try out every value
of the last one against any figure that is as good as exact, however few digits it has; for that reader there is the
public summary, :mod:`unveil.assessment.public_summary`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unveil.assessment import gate_rules as by
from unveil.assessment.gate_rules import LOG_ODDS_STEP, GatePosition, Rule
from unveil.assessment.public_summary import TOLD, told_of_hundred
from unveil.assessment.published_text import SUFFIX, plain
from unveil.assessment.rounding import Rounding
from unveil.plain import without_nan


@dataclass(frozen=True)
class Row:
    """Entries of which some are let out.

    Parameters
    ----------
    entries
        By name a rule, a row, or a list with the rule or row of its members.
    persons
        Name of the number of original records behind the figures; where it is None, or stands for None, they concern
        all persons.
    may_leave
        Whether the row does, as a whole.
    """

    entries: Mapping[str, Any]
    persons: str | None = None
    may_leave: Callable[[GatePosition], bool] = lambda at: True


def _of_enough_persons(at: GatePosition) -> bool:
    """Whether a group has so many persons that a figure of it tells of no few, and a name that may be told."""
    return isinstance(at.row.get("persons"), int) and at.rounding.step is not None and f"level{SUFFIX}" in at.row


def _of_a_large_level(at: GatePosition) -> bool:
    """Whether a coefficient belongs to a level that enough persons have."""
    n = at.row.get("n")
    return isinstance(n, int) and n >= at.rounding.minimum_count and f"term{SUFFIX}" in at.row


def _of_named_levels(at: GatePosition) -> bool:
    """Whether enough records do not count for a reason that may be named."""
    n = at.row.get("records")
    return isinstance(n, int) and n >= at.rounding.minimum_count and f"what{SUFFIX}" in at.row


def _of_a_large_term(at: GatePosition) -> bool:
    """Whether enough records have what the coefficient of a user's model stands for."""
    persons = at.row.get("persons")
    return isinstance(persons, int) and persons >= at.rounding.minimum_count


def _named(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


FIGURE = Row(
    {
        **_named(by.as_it_is, "measure", "intruder", "target", "unit", "over", "does_not_show",
                 "contradicted_by"),
        **_named(by.figure, "value", "per_release", "null_mean", "null_95", "ceiling", "held_out"), "margin": by.guess,
        "low": by.low, "high": by.high, "process_low": by.low, "process_high": by.high, "process_undefined": by.said,
        "undefined": by.why_undefined, "persons": by.count, "p_value": by.p_value,
        "excess": by.share, "excess_low": by.share_low, "excess_high": by.share_high, "sentence": by.said,
    },
    persons="persons",
)  # fmt: skip
GROUP = Row(
    {
        **_named(by.as_it_is, "by", "measure", "unit"), "level": by.said, "persons": by.count, "value": by.figure,
        "low": by.low, "high": by.high,
    },
    persons="persons",
    may_leave=_of_enough_persons,
)  # fmt: skip
CURVE = Row(
    {
        **_named(by.as_it_is, "threshold", "chosen"),
        "points": [Row({"threshold": by.as_it_is, **_named(by.share, "rate", "null_mean", "null_95", "ceiling"),
                        **_named(by.share_low, "low", "process_low"),
                        **_named(by.share_high, "high", "process_high")})],
    }
)  # fmt: skip
POSTERIOR = Row(
    {
        "rows": [
            Row(
                {
                    **_named(by.as_it_is, "who", "structure"), "records": by.count,
                    "mean_prior": by.prior,
                    **_named(by.share, "mean_posterior", "mean_normalised_gain", "share_above_half",
                             "share_above_90", "share_certain"),
                },
                persons="records",
            )
        ],
        "mistakes": Row(
            {
                "sentence": by.said, "records": by.count, "draws": by.as_it_is,
                "rows": [Row({"wrong": by.as_it_is,
                              **_named(by.share, "mean_posterior", "share_certain", "share_certain_wrong")})],
            },
            persons="records",
        ),
        "n_values": by.two_digits,
        "prior": by.as_it_is,
        "gain_histogram": by.histogram,
        "cross": [
            [
                Row({**_named(by.as_it_is, "name", "threshold"),
                     **_named(by.count, "both", "only_posterior", "only_flag", "neither"), "missed": by.missed})
            ]
        ],
        "settings_check": Row({"verdict": by.as_it_is}),
    }
)  # fmt: skip
PARTIAL_KNOWLEDGE = Row(
    {
        **_named(by.said, "sentence", "in_short", "contrast"), "structure": by.as_it_is, "persons": by.count,
        "points": [
            Row({"share_known": by.as_it_is, "unknown": by.count, "monte_carlo_error": by.nothing,
                 "mean_prior": by.prior, **_named(by.share, "mean_posterior", "share_above_90", "share_not_mixed")})
        ],
    },
    persons="persons",
)  # fmt: skip
EXCLUSIONS = Row(
    {
        "sentence": by.said, "records": by.count, **_named(by.percent, "DiSCO_of_all", "DCAP_of_all"),
        "rows": [Row({"what": by.said, "records": by.count}, may_leave=_of_named_levels)],
    }
)  # fmt: skip
TARGET = Row(
    {
        **_named(by.as_it_is, "target", "kind", "grouped_into"),
        **_named(by.sentences, "sentences", "notes", "checks"),
        "exclusions": EXCLUSIONS,
        "as_wildcards": Row(_named(by.percent, "iS", "DiS", "DiSCO", "DCAPd")),
        "curve": CURVE,
        "attribution": [
            Row({"term": by.said, **_named(by.log_odds, "log_odds", "low", "high"), "n": by.count},
                may_leave=_of_a_large_level)
        ],
        "groups": [GROUP],
        "posterior": POSTERIOR,
        "partial_knowledge": PARTIAL_KNOWLEDGE,
    }
)  # fmt: skip
KEYS = Row(
    {
        "sets": [
            Row({**_named(by.as_it_is, "target", "keys", "size"),
                 "figures": Row({**_named(by.percent, "repU", "DiSCO", "Dorig"), "combinations": by.two_digits})})
        ],
        "leave_one_out": [
            Row({**_named(by.as_it_is, "target", "key"), "combinations": by.two_digits,
                 **_named(by.percent, "repU_without", "DiSCO_without"),
                 **_named(by.difference, "repU_change", "DiSCO_change")})
        ],
        "groups": [GROUP],
        "as_wildcards": Row(_named(by.percent, "UiOiS", "repU")),
    }
)  # fmt: skip
STRUCTURE = Row(
    {
        "sentence": by.said,
        **_named(by.two_digits, "combinations_original", "combinations_synthetic", "combinations_novel"),
        **_named(by.percent, "percent_novel", "combinations_preserved", "p_original_given_synthetic",
                 "records_in_original", "records_novel"),
    }
)  # fmt: skip
MEMBERSHIP = Row(
    {
        "sentence": by.said, **_named(by.as_it_is, "how", "level"), **_named(by.count, "members", "held_out"),
        "attacks": [
            Row({"attack": by.as_it_is, **_named(by.share, "auc", "tpr_0.001", "tpr_0.01", "tpr_0.1"),
                 "auc_low": by.share_low, "auc_high": by.share_high})
        ],
        **_named(by.percent, "copied_members", "copied_held_out"),
    },
    persons="members",
)  # fmt: skip
EXACT_MEMBERSHIP = Row(
    {
        **_named(by.said, "sentence", "contrast"), **_named(by.as_it_is, "game", "others", "level"),
        "persons": by.count, **_named(by.share, "share_right", "share_certain"),
        "share_certain_low": by.share_low, "share_certain_high": by.share_high,
    },
    persons="persons",
)  # fmt: skip
_CORRELATIONS = [
    f"{kind}_{of}" for kind in ("V", "pearson", "spearman") for of in ("original", "release", "difference")
]
_OF_CELLS = {
    **_named(by.share, "TVD", "TVD_weighted", "KS", "no_amount_original", "no_amount_release"),
    **_named(by.correlation, *_CORRELATIONS),
    **_named(by.two_digits, "pMSE", "S_pMSE", "wasserstein", "mean_difference", "mean_difference_weighted", "sd_ratio"),
}
UTILITY = Row(
    {
        "sentence": by.said,
        "figures": [FIGURE],
        "summary": Row(
            {
                **_named(by.two_digits, *(f"{name}_{of}" for name in ("pMSE", "S_pMSE") for of in ("logistic", "cart")),
                         "S_pMSE_mean", "S_pMSE_max", "S_pMSE_pairs_mean", "S_pMSE_pairs_max", "std_difference_max",
                         "R2_TRTR", "R2_TSTR"),
                **_named(by.share, "SPECKS_logistic", "SPECKS_cart", "accuracy_TRTR", "accuracy_TSTR", "overlap_mean",
                         "overlap_min", "TVD_mean", "TVD_max", "TVD_weighted_mean",
                         "TVD_weighted_max", "TVD_pairs_mean", "TVD_pairs_max"),
                **_named(by.correlation, *(f"{kind}_difference_{of}" for kind in ("V", "pearson", "spearman")
                                           for of in ("mean", "max"))),
                **_named(by.percent, "PO50_logistic", "PO50_cart"),
            }
        ),
        "variables": [Row({"variable": by.as_it_is, **_OF_CELLS})],
        "distributions": [
            Row({**_named(by.as_it_is, "variable", "kind"),
                 "bars": [Row({"level": by.said, "persons": by.count, **_named(by.share, "original", "releases")},
                              may_leave=_of_enough_persons)]})
        ],
        "pairs": [Row({**_named(by.as_it_is, "first", "second"), **_OF_CELLS})],
        "models": [
            Row({**_named(by.as_it_is, "model", "kind", "event", "term"), "overlap": by.share,
                 **_named(by.two_digits, "original", "synthetic", "difference")}, may_leave=_of_a_large_term)
        ],
        "prediction": [
            Row({**_named(by.as_it_is, "target", "metric", "learner"),
                 **_named(by.by_metric, "trained_on_original", "trained_on_synthetic", "difference")})
        ],
    }
)  # fmt: skip
PLAUSIBILITY = Row(
    {
        **_named(by.said, "sentence", "in_short"),
        "rules": [
            # Whoever has a release can count which of its records break a rule, if not which of them are new.
            Row({"rule": by.said, **_named(by.as_it_is, "columns", "broken", "share"), "broken_original": by.count,
                 "share_original": by.share, "new_combinations": by.two_digits, "share_new": by.share})
        ],
    }
)  # fmt: skip
OTHER_MEASURES = Row(
    {
        **_named(by.as_it_is, "measure", "package"),
        "figures": [Row({**_named(by.as_it_is, "name", "kind"), "value": by.of_kind, "persons": by.count},
                        persons="persons")],
    }
)  # fmt: skip
MAP = Row(
    {
        **_named(by.as_it_is, "risk", "utility", "utility_better"),
        "points": [
            Row({"label": by.numbered_release, "pareto": by.as_it_is, "risk": by.percent, "risk_low": by.percent_low,
                 "risk_high": by.percent_high, "utility": by.share, "utility_low": by.share_low,
                 "utility_high": by.share_high})
        ],
    }
)  # fmt: skip
ADVICE = Row(
    {
        "action": by.said, "because": by.said, **_named(by.as_it_is, "target", "computed"),
        "effects": [Row({**_named(by.as_it_is, "measure", "target", "unit"), **_named(by.figure, "before", "after"),
                         "how": by.said})],
    },
    persons="persons",
)  # fmt: skip
POLICY = Row(
    {
        "label": by.instead("policy of the institution"),
        "text": by.as_it_is,
        "rows": [Row({**_named(by.as_it_is, "measure", "target", "statistic", "direction", "limit", "verdict", "note"),
                      "value": by.of_policy})],
    }
)  # fmt: skip
SCENARIO = Row(
    {
        **_named(by.as_it_is, "keys", "targets", "intruders", "measures", "other_measures",
                 "attacker", "tau", "epsilon", "permutations",
                 "models", "level", "budget", "precision", "minimum_count", "holdout", "unit", "time", "suppressed",
                 "one_to_one"),
        "weights": by.as_it_is,
        # The sum of the weights is one of all records; of two digits it tells of none.
        "population": by.two_digits,
        **_named(by.settings, "ngroups_keys", "ngroups_target"),
        **_named(by.names_only, "special_codes", "breaks", "hierarchies", "not_target_levels"),
        # Pairs name levels: the exclusions of the targets hold those that may be named.
        "exclude_pairs": by.nothing,
        # Rules name levels too: the section of plausibility has those that may be told.
        "rules": by.nothing,
        # Settings that name levels (rules, methods, predictors) or hold a seed are not among these.
        "synthesizer": Row(_named(by.as_it_is, "class", "method", "minbucket", "minsplit", "mix", "cp", "collapse",
                                  "max_depth", "surrogates", "smoothing", "bandwidth", "proper", "epsilon")),
    }
)  # fmt: skip
DATA = Row(
    {
        "original": Row({"label": by.instead("the original"), "records": by.count}),
        "releases": [Row({"label": by.numbered_release, "records": by.as_it_is})],
        "columns": [
            Row(
                {
                    **_named(by.as_it_is, "name", "kind", "role"),
                    "levels": by.nothing,
                    "gaps": by.share,
                    "unmatched": Row(_named(by.share, "original", "original_by_release", "releases")),
                }
            )
        ],
    }
)
PROVENANCE = Row(
    {
        **_named(by.as_it_is, "unveil", "python", "created"), "packages": by.settings, "wall_seconds": by.nothing,
        "inputs": [
            Row({"role": by.as_it_is, "label": by.original_or_release, "records": by.of_release(by.count),
                 **_named(by.of_release(by.nothing), "bytes", "sha256")})
        ],
    }
)  # fmt: skip
LEAVES = Row(
    {
        **_named(by.as_it_is, "schema", "schema_version"),
        "title": by.title,
        "masthead": Row(_named(by.as_it_is, "title", "organisation", "contact")),
        "summary": by.sentences,
        "scenario": SCENARIO,
        "data": DATA,
        "intruders": [Row({**_named(by.as_it_is, "name", "title", "knows", "applies"), "reason": by.said})],
        "figures": [FIGURE],
        "targets": [TARGET],
        "keys": KEYS,
        "structure": STRUCTURE,
        "membership": MEMBERSHIP,
        "exact_membership": EXACT_MEMBERSHIP,
        "utility": UTILITY,
        "plausibility": PLAUSIBILITY,
        "other_measures": [OTHER_MEASURES],
        "map": MAP,
        "advice": [ADVICE],
        "policy": POLICY,
        "warnings": [Row({"part": by.as_it_is, "text": by.said})],
        "parts": [Row({**_named(by.as_it_is, "name", "measure", "status"), "seconds": by.nothing, "reason": by.said})],
        "provenance": PROVENANCE,
    }
)
"""Names of the entries that may be published, each with its rule."""


def release_safe(assessment: Mapping[str, Any]) -> dict[str, Any]:
    """The document for publication of an assessment.

    Parameters
    ----------
    assessment
        The whole assessment as plain values; see ``docs/assessment.md``. One that is release-safe already comes back
        as it is.

    Returns
    -------
    dict
        The same, with what :data:`LEAVES` lets out, ``publication`` that says how figures were rounded and against whom
        this protects, and ``release_safe`` true.
    """
    whole: dict[str, Any] = without_nan(dict(assessment))
    if whole["release_safe"]:
        return whole
    rounding = Rounding(whole["data"]["original"]["records"], whole["scenario"]["minimum_count"])
    passed: dict[str, Any] = _passed(whole, LEAVES, GatePosition(rounding, {}, "", 0, whole, by.called_instead(whole)))
    passed["warnings"] = [one for n, one in enumerate(passed["warnings"]) if one not in passed["warnings"][:n]]
    return passed | {
        "release_safe": True,
        "confidential": list(STILL_TOLD),
        "publication": publication(rounding),
        "public_summary": whole.get("public_summary"),
    }


def let_out(content: Mapping[str, Any], leaves: Row, rounding: Rounding) -> dict[str, Any]:
    """What a list of entries lets out of another document than an assessment, which names no files."""
    passed: dict[str, Any] = _passed(without_nan(dict(content)), leaves, GatePosition(rounding, {}, "", 0, content, {}))
    return passed


STILL_TOLD = (
    "It names variables, levels and groups that enough records have, and settings of the synthesizer.",
    "Thresholds, keys and targets tell an intruder what was looked at, and what was not.",
)


def publication(rounding: Rounding) -> dict[str, Any]:
    """Return what was changed in a document for publication, and against whom this protects.

    Returns
    -------
    dict
        ``counts`` and ``percent``, of which counts and percentages are multiples (``percent`` is None where no
        percentage can be given); ``rounded``, ``protects``, ``does_not_protect``: sentences.
    """
    least, step = rounding.minimum_count, rounding.step
    if step is None:
        percentages = "No percentage is given, as the records are too few."
    else:
        percentages = (
            f"Percentages are multiples of {plain(step)} %, the share of all records that {least} records are, rounded "
            "up; those of a part of the records are multiples of a larger step. Ends of intervals are rounded away "
            "from the middle. A figure above 0, or below 100 %, is not rounded to it, so that one below the first "
            "step, a mean probability too, is given as that step; a prior has one digit there."
        )
    return {
        "counts": least,
        "percent": step,
        "rounded": (
            f"Numbers of real records are multiples of {least}; below {least} none is given. {percentages} Log odds "
            f"are multiples of {LOG_ODDS_STEP:g}, and so are the ends of their intervals: where both are one number "
            "the interval is no wider than that. Other figures have two digits. Comparisons and verdicts are of the "
            "figures before rounding."
        ),
        "protects": (
            f"Against readers who hold no records of the original: nothing here tells of fewer than {least} records, "
            "by itself or by subtraction, or names a level that fewer have. Seeds, sizes and digests of real records, "
            "names of files, smallest and largest values, and figures of single records are left out."
        ),
        "does_not_protect": (
            "Against an intruder who has all records but one: any figure, rounded or not, lets them try out what the "
            f"last record might be. In a test with simulated surveys of {TOLD['persons']} records such an intruder was "
            f"told the missing answer of {told_of_hundred('release-safe report')} by a report like this, of "
            f"{told_of_hundred('public summary')} by the public summary, which is made for everybody "
            "(--public-summary)."
        ),
    }


def _passed(value: Any, rule: Any, at: GatePosition) -> Any:
    """Return the part of a value that the rule lets pass."""
    if isinstance(rule, Row):
        if not isinstance(value, Mapping):
            return None
        at = _inside(value, rule, at)
        return {
            name: _passed(value[name], inner, replace(at, name=name))
            for name, inner in rule.entries.items()
            if name in value
        }
    if isinstance(rule, list):
        (inner,) = rule
        members = enumerate(value) if isinstance(value, list) else ()
        return [_passed(one, inner, replace(at, place=n)) for n, one in members if _may_leave(one, inner, at)]
    return rule(value, at)


def _inside(row: Mapping[str, Any], rule: Row, at: GatePosition) -> GatePosition:
    """The place inside a row."""
    persons = None if rule.persons is None else row.get(rule.persons)
    rounding = replace(at.rounding, persons=persons) if isinstance(persons, int) else at.rounding
    return replace(at, row=row, rounding=rounding)


def _may_leave(value: Any, rule: Any, at: GatePosition) -> bool:
    if not isinstance(rule, Row):
        return True
    return isinstance(value, Mapping) and rule.may_leave(_inside(value, rule, at))
