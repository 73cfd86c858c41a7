"""What an assessment has to look like before anything is drawn from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.errors import DataError
from unveil.shown import printable

__all__ = ["MAJOR", "SCHEMA", "checked"]

SCHEMA, MAJOR = "unveil.assessment", 2


@dataclass(frozen=True)
class Maybe:
    """The shape, or nothing at all."""

    shape: Any


TEXT, FLAG, COUNT, REAL, ANY = (str,), (bool,), (int,), (int, float), (object,)
NUMBER = (int, float, type(None))
NOTE = (str, type(None))
NAMES = [TEXT]
LABELLED = {"label": TEXT, "records": COUNT}
LEVEL = (str, int, float, bool, type(None))
GROUP = {"by": TEXT, "level": LEVEL, "persons": NUMBER, "measure": TEXT, "value": NUMBER, "unit?": TEXT,
         "low?": NUMBER, "high?": NUMBER}  # fmt: skip
OF_SET = dict.fromkeys(("repU?", "DiSCO?", "Dorig?", "combinations?"), NUMBER)
POINT = {"threshold": REAL} | dict.fromkeys(("rate", "low", "high", "null_mean", "null_95", "ceiling"), NUMBER)
HISTOGRAM = {"edges": [REAL], "counts": [NUMBER]}
POSTERIOR = {"labels?": NAMES, "releases?": [{}], "rows?": [{}], "cross?": [[{}]], "gain_histogram?": Maybe(HISTOGRAM)}
FIGURE = (
    {"measure": TEXT, "intruder": TEXT, "target": NOTE, "unit": TEXT, "undefined": NOTE, "per_release": [NUMBER]}
    | dict.fromkeys(("value", "low", "high", "margin", "null_mean", "null_95", "p_value", "ceiling"), NUMBER)
    | dict.fromkeys(("held_out", "excess", "excess_low", "excess_high"), NUMBER)
    | {"sentence": NOTE, "does_not_show": NOTE, "contradicted_by": NOTE}
)
ENDS = ("risk", "risk_low", "risk_high", "utility", "utility_low", "utility_high")

# A name with a question mark may be left out.
ASSESSMENT: dict[str, Any] = {
    "release_safe": FLAG,
    "title": TEXT,
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
            "target": TEXT, "kind": TEXT, "sentences": NAMES,
            "curve": Maybe({"threshold": TEXT, "chosen?": NUMBER, "points": [POINT]}),
            "attribution": Maybe([{"term": TEXT, "log_odds": NUMBER, "low": NUMBER, "high": NUMBER}]),
            "groups": [GROUP | {"low": NUMBER, "high": NUMBER}],
            "notes?": NAMES, "posterior": Maybe(POSTERIOR), "checks": NAMES,
        }
    ],
    "keys": Maybe(
        {"sets": [{"keys": NAMES, "size": COUNT, "figures": OF_SET}], "leave_one_out": [{"key": TEXT}],
         "groups": [GROUP]}
    ),
    "structure": Maybe({"sentence": NOTE}),
    "membership": Maybe({"sentence": NOTE, "attacks?": [{"attack": TEXT}]}),
    "utility": Maybe(
        {
            "summary": {}, "variables": [{"variable": TEXT}], "pairs": [{"first": TEXT, "second": TEXT}],
            "models": [{"model": TEXT, "term": TEXT, "original": ANY, "synthetic": ANY}],
            "prediction": [{"target": TEXT, "metric": TEXT}], "sentence": NOTE,
            "figures?": [FIGURE | {"intruder": NOTE}],
        }
    ),
    "map": Maybe(
        {"risk": TEXT, "utility": TEXT,
         "points": [{"label": TEXT, "pareto": FLAG} | dict.fromkeys(ENDS, NUMBER)]}
    ),
    "advice": [
        {
            "action": TEXT, "because": TEXT, "target": NOTE, "computed": FLAG,
            "effects": [{"measure": TEXT, "target": NOTE, "before": NUMBER, "after": NUMBER, "how": NOTE,
                         "unit?": TEXT}],
        }
    ],
    "policy": Maybe(
        {
            "label": TEXT, "text": TEXT,
            "rows": [{"measure": TEXT, "target": NOTE, "statistic": TEXT, "limit": NUMBER, "value": NUMBER,
                      "verdict": TEXT}],
        }
    ),
    "warnings": [{"part": TEXT, "text": TEXT}],
    "parts": [{"name": TEXT, "status": TEXT, "seconds": NUMBER, "reason": NOTE}],
    "provenance": {
        "unveil": TEXT, "python": TEXT, "packages": {}, "created": TEXT, "wall_seconds": NUMBER,
        "inputs": [{"role": TEXT, "label": TEXT, "sha256": NOTE, "bytes": NUMBER}],
    },
}  # fmt: skip


def checked(assessment: Mapping[str, Any]) -> dict[str, Any]:
    """The assessment with NaN as None and texts that can be shown, if it is one that can be drawn.

    Raises
    ------
    DataError
        If it is something else, of another major version, or lacks a part; the message names the part.
    """
    if not isinstance(assessment, Mapping) or assessment.get("schema") != SCHEMA:
        found = assessment.get("schema") if isinstance(assessment, Mapping) else type(assessment).__name__
        raise DataError(f"not an assessment: schema is {found!r}, expected {SCHEMA!r}; unveil assess --json makes one")
    version = str(assessment.get("schema_version"))
    if version.split(".")[0] != str(MAJOR):
        raise DataError(f"assessment of version {version}, this program draws version {MAJOR}; "
                        "use the unveil that made it")  # fmt: skip
    plain: dict[str, Any] = _without_public(_without_nan(assessment))
    _compare(plain, ASSESSMENT, "assessment")
    return plain


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _without_nan(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(one) for one in value]
    return value


def _without_public(value: Any) -> Any:
    """The assessment without what a document for publication would say in place of its texts."""
    if isinstance(value, dict):
        return {key: _without_public(one) for key, one in value.items() if not key.endswith("_public")}
    return [_without_public(one) for one in value] if isinstance(value, list) else value


def _compare(value: Any, shape: Any, path: str) -> None:
    """Compare a value with its shape, level by level."""
    if isinstance(shape, Maybe):
        if value is not None:
            _compare(value, shape.shape, path)
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            raise DataError(f"{path} is {_named(value)}, expected names with values")
        for name, inner in shape.items():
            key = name.removesuffix("?")
            if name.endswith("?") and key not in value:
                continue
            if key not in value:
                raise DataError(f"{path} has no {key!r}; the assessment is cut short or was made by another program")
            _compare(value[key], inner, f"{path}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise DataError(f"{path} is {_named(value)}, expected a list")
        for number, one in enumerate(value):
            _compare(one, shape[0], f"{path}[{number}]")
    elif not isinstance(value, shape) or (isinstance(value, bool) and bool not in shape and object not in shape):
        expected = " or ".join(_TYPES[kind] for kind in shape)
        raise DataError(f"{path} is {_named(value)}, expected {expected}")


_TYPES = {str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "null"}


def _named(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return f"{value!r:.40}"
