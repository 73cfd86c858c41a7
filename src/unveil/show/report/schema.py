"""The schema of an assessment, checked before a page is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jinja2 import UndefinedError

from unveil.errors import DataError, UnveilError
from unveil.files.documents import Maybe, check_shape
from unveil.printable import printable

SCHEMA, MAJOR = "unveil.assessment", 2


LARGEST = 1e100
"""No figure is larger; beyond it the sums and shares that a page needs may not be numbers."""

TEXT, FLAG, COUNT, REAL = (str,), (bool,), (int,), (int, float)
NUMBER = (int, float, type(None))
VALUE = (str, int, float, bool, type(None))
NOTE = (str, type(None))
ANY = (object,)
NAMES = [TEXT]
LABELLED = {"label": TEXT, "records": COUNT}
GROUP = {"by": TEXT, "level": VALUE, "persons": NUMBER, "measure": TEXT, "value": NUMBER, "unit?": TEXT,
         "low?": NUMBER, "high?": NUMBER}  # fmt: skip
POINT = {"threshold": REAL} | dict.fromkeys(
    ("rate", "low", "high", "process_low?", "process_high?", "null_mean", "null_95", "ceiling"), NUMBER
)
HISTOGRAM = {"edges": [REAL], "counts": [NUMBER]}
ROW = {"*": VALUE}
POSTERIOR = {"labels?": NAMES, "releases?": [{"*": ROW}], "rows?": [ROW], "cross?": [[ROW]],
             "gain_histogram?": Maybe(HISTOGRAM),
             "mistakes?": {"sentence": NOTE, "*": VALUE, "rows?": [ROW]}, "prior?": VALUE,
             "n_values?": NUMBER, "settings_check?": Maybe(ROW), "subgroups?": Maybe({"*": [[ROW]]})}  # fmt: skip
PARTIAL_KNOWLEDGE = {
    "sentence": NOTE,
    "in_short?": NOTE,
    "contrast": NOTE,
    "structure": TEXT,
    "persons": NUMBER,
    "points": [
        {
            "share_known": REAL,
            "unknown": NUMBER,
            "mean_prior": NUMBER,
            "mean_posterior": NUMBER,
            "monte_carlo_error": NUMBER,
            "share_above_90": NUMBER,
            "share_not_mixed": NUMBER,
        }
    ],
}
FIGURE = (
    {"measure": TEXT, "intruder": TEXT, "target": NOTE, "unit": TEXT, "undefined": NOTE, "per_release": [NUMBER]}
    | dict.fromkeys(("value", "low", "high", "margin", "null_mean", "null_95", "p_value", "ceiling"), NUMBER)
    | dict.fromkeys(("held_out", "excess", "excess_low", "excess_high"), NUMBER)
    | {"over?": TEXT, "process_low?": NUMBER, "process_high?": NUMBER, "process_undefined?": NOTE}
    | {"sentence": NOTE, "does_not_show": NOTE, "contradicted_by": NOTE, "persons?": NUMBER}
)
ENDS = ("risk", "risk_low", "risk_high", "utility", "utility_low", "utility_high")

# A name with a question mark may be left out; * stands for every other name.
ASSESSMENT: dict[str, Any] = {
    "release_safe": FLAG,
    "title": TEXT,
    "masthead?": {"title?": TEXT, "organisation?": TEXT, "contact?": TEXT},
    "summary": NAMES,
    "confidential?": NAMES,
    "publication": Maybe(
        {"counts": COUNT, "percent": NUMBER, "rounded": TEXT, "protects": TEXT, "does_not_protect": TEXT}
    ),
    "public_summary": Maybe(
        {
            "figures": [{"measure": TEXT, "what": TEXT, "value": REAL, "beside_what": TEXT, "beside": NUMBER,
                         "step": REAL}],
            "minimum_count": COUNT,
            "told": {"persons": COUNT, "public summary": REAL, "release-safe report": REAL, "full report": REAL},
        }
    ),
    "scenario": {
        "keys": NAMES, "targets": NAMES, "intruders": NAMES, "level": REAL, "minimum_count": COUNT,
        "seed?": NUMBER, "tau?": NUMBER, "epsilon?": NUMBER, "attacker?": NOTE, "measures?": NAMES,
        "other_measures?": NAMES, "models?": NAMES,
        "permutations?": NUMBER, "precision?": NUMBER, "budget?": NUMBER, "holdout?": FLAG, "ngroups_keys?": ANY,
        "ngroups_target?": ANY, "breaks?": ANY, "special_codes?": ANY, "exclude_pairs?": ANY,
        "not_target_levels?": ANY, "weights?": NOTE, "population?": NUMBER, "unit?": NAMES, "time?": NOTE,
        "hierarchies?": ANY, "suppressed?": NOTE, "rules?": Maybe(NAMES), "one_to_one?": NOTE,
        "synthesizer?": Maybe({"class?": TEXT, "*": ANY}),
    },
    "data": {
        "original": LABELLED | {"records": NUMBER},
        "releases": [LABELLED],
        "columns": [{"name": TEXT, "kind": TEXT, "role": TEXT, "levels": NUMBER, "gaps": NUMBER,
                     "unmatched?": {"original": NUMBER, "original_by_release": [NUMBER], "releases": [NUMBER]}}],
    },
    "intruders": [{"name": TEXT, "title": TEXT, "knows": TEXT, "applies": FLAG, "reason": NOTE}],
    "figures": [FIGURE],
    "targets": [
        {
            "target": TEXT, "kind": TEXT, "sentences": NAMES, "grouped_into?": NUMBER,
            "curve": Maybe({"threshold": TEXT, "chosen?": NUMBER, "points": [POINT]}),
            "attribution": Maybe([{"term": TEXT, "log_odds": NUMBER, "low": NUMBER, "high": NUMBER, "key?": TEXT,
                                     "level?": VALUE, "reference?": VALUE, "n?": NUMBER}]),
            "groups": [GROUP | {"low": NUMBER, "high": NUMBER}],
            "notes?": NAMES, "posterior": Maybe(POSTERIOR), "partial_knowledge?": Maybe(PARTIAL_KNOWLEDGE),
            "checks": NAMES,
            "exclusions?": Maybe({"sentence": NOTE, "records": NUMBER, "DiSCO_of_all": NUMBER, "DCAP_of_all": NUMBER,
                                  "rows": [{"what": TEXT, "records": NUMBER}]}),
            "as_wildcards?": Maybe({"*": NUMBER}),
        }
    ],
    "keys": Maybe(
        {"sets": [{"keys": NAMES, "size": COUNT, "figures": {"*": NUMBER}, "target?": NOTE}],
         "leave_one_out": [{"key": TEXT, "target?": NOTE, "*": NUMBER}],
         "groups": [GROUP], "as_wildcards?": Maybe({"*": NUMBER})}
    ),
    "structure": Maybe({"sentence": NOTE, "*": NUMBER}),
    "membership": Maybe({"sentence": NOTE, "attacks?": [{"attack": TEXT, "*": NUMBER}], "*": VALUE}),
    "exact_membership?": Maybe({"sentence": NOTE, "contrast": NOTE, "*": VALUE}),
    "utility": Maybe(
        {
            "summary": {"*": NUMBER}, "variables": [{"variable": TEXT, "*": NUMBER}],
            "distributions?": [{"variable": TEXT, "kind": TEXT,
                                "bars": [{"level": VALUE, "persons": NUMBER, "original": NUMBER,
                                          "releases": [NUMBER]}]}],
            "pairs": [{"first": TEXT, "second": TEXT, "*": NUMBER}],
            "models": [{"model": TEXT, "term": TEXT, "original": NUMBER, "synthetic": NUMBER, "*": VALUE}],
            "prediction": [{"target": TEXT, "metric": TEXT, "learner?": NOTE, "*": NUMBER}], "sentence": NOTE,
            "figures?": [FIGURE | {"intruder": NOTE}],
        }
    ),
    "plausibility?": {
        "sentence": NOTE, "in_short": NOTE,
        "rules": [{"rule": TEXT, "columns": NAMES, "broken": [NUMBER], "share": [NUMBER], "broken_original": NUMBER,
                   "share_original": NUMBER, "new_combinations": [NUMBER], "share_new": [NUMBER]}],
    },
    "other_measures?": [
        {"measure": TEXT, "package": TEXT,
         "figures": [{"name": TEXT, "kind": TEXT, "value": NUMBER, "persons": NUMBER}]}
    ],
    "map": Maybe(
        {"risk": TEXT, "utility": TEXT, "utility_better?": TEXT,
         "points": [{"label": TEXT, "pareto": FLAG} | dict.fromkeys(ENDS, NUMBER)]}
    ),
    "advice": [
        {
            "action": TEXT, "because": TEXT, "target": NOTE, "computed": FLAG, "persons?": NUMBER,
            "effects": [{"measure": TEXT, "target": NOTE, "before": NUMBER, "after": NUMBER, "how": NOTE,
                         "unit?": TEXT}],
        }
    ],
    "policy": Maybe(
        {
            "label": TEXT, "text": TEXT,
            "rows": [{"measure": TEXT, "target": NOTE, "statistic": TEXT, "limit": NUMBER, "value": NUMBER,
                      "verdict": TEXT, "direction?": TEXT, "note?": NOTE}],
        }
    ),
    "warnings": [{"part": TEXT, "text": TEXT}],
    "parts": [{"name": TEXT, "measure?": TEXT, "status": TEXT, "seconds": NUMBER, "reason": NOTE}],
    "provenance": {
        "unveil": TEXT, "python": TEXT, "packages": ROW, "created": TEXT, "wall_seconds": NUMBER,
        "inputs": [{"role": TEXT, "label": TEXT, "sha256": NOTE, "bytes": NUMBER, "records?": NUMBER}],
    },
}  # fmt: skip


def checked(assessment: Mapping[str, Any]) -> dict[str, Any]:
    """The assessment with NaN as None and printable texts, if it fits the schema.

    Raises
    ------
    DataError
        If it is no assessment, is of another major version, or lacks a part; the message names the part.
    """
    if not isinstance(assessment, Mapping) or assessment.get("schema") != SCHEMA:
        found = assessment.get("schema") if isinstance(assessment, Mapping) else type(assessment).__name__
        raise DataError(f"not an assessment: schema is {found!r}, expected {SCHEMA!r}; unveil assess --json makes one")
    version = str(assessment.get("schema_version"))
    if version.split(".")[0] != str(MAJOR):
        raise DataError(f"assessment of version {version}, this program draws version {MAJOR}; "
                        "use the unveil that made it")  # fmt: skip
    plain: dict[str, Any] = _without_public(_without_nan(assessment))
    check_shape(plain, ASSESSMENT, "assessment")
    return plain


@contextmanager
def drawing() -> Iterator[None]:
    """Turn errors of drawing into a message of one line.

    Raises
    ------
    DataError
        If drawing fails.
    """
    try:
        yield
    except UnveilError:
        raise
    except UndefinedError as error:
        raise DataError(f"the assessment lacks something the report draws: {error.message}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise DataError(f"the assessment holds something the report cannot draw ({said}); give the file as it was "
                        "written") from error  # fmt: skip


def _without_nan(value: Any, path: str = "assessment") -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    # A setting may be larger than any figure, for instance a code of Stata for missing.
    if isinstance(value, (int, float)) and abs(value) > LARGEST and not path.startswith("assessment.scenario."):
        raise DataError(f"{path} is beyond {LARGEST:g}; no figure of an assessment is so large")
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _without_nan(one, f"{path}.{key}") for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(one, f"{path}[{number}]") for number, one in enumerate(value)]
    return value


def _without_public(value: Any) -> Any:
    """The assessment without the texts that stand in documents for publication only."""
    if isinstance(value, dict):
        return {key: _without_public(one) for key, one in value.items() if not key.endswith("_public")}
    return [_without_public(one) for one in value] if isinstance(value, list) else value
