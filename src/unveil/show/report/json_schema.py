"""The JSON Schema of an assessment, for programs that read its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unveil.files.documents import Maybe
from unveil.show.report.json_meanings import MEANING, MEANING_BY_NAME
from unveil.show.report.schema import ASSESSMENT, MAJOR, SCHEMA

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_PUBLIC = {"_public$": {"type": ["string", "array", "null"]}}
MEANING = {
    "schema": "Says that this is an assessment.",
    "schema_version": "The second number rises when entries are added, the first when one changes its meaning.",
    "release_safe": "Whether the document has passed the gate: its figures are rounded and may be published.",
    "title": "Names of the files.",
    "masthead": "What the institution wants at the head of the report, as it gave it; left out without it.",
    "summary": "Sentences on what was found, without a verdict.",
    "confidential": "What the keeper should check before the document is passed on.",
    "publication": "How figures were rounded, against whom this protects and against whom not; null if they were not.",
    "public_summary": "The page for publication: at most ten figures, rounded at random.",
    "scenario": "Every option of the assessment by its name.",
    "scenario.keys": "Variables that an intruder knows about a person.",
    "scenario.targets": "Variables that an intruder wants to know.",
    "scenario.level": "Coverage of the intervals, between 0 and 1.",
    "scenario.minimum_count": "Smallest number of persons of a group that is shown.",
    "scenario.seed": "Seed of what was drawn; confidential.",
    "scenario.breaks": "Where numeric variables were cut, by variable; for publication the variables alone.",
    "scenario.hierarchies": "Levels that coarse releases hold, by variable; for publication the variables alone.",
    "scenario.suppressed": "The sign of suppressed values, read as a wildcard too; null if none was given.",
    "scenario.one_to_one": "Which record of a release is whose: rows, or a column; null if no release has one of each.",
    "scenario.special_codes": "Values that are no amounts, by variable; for publication the variables alone.",
    "scenario.exclude_pairs": "Levels of a key and of the target that together do not count as disclosure.",
    "scenario.not_target_levels": "Levels of targets that do not count, by target; for publication the targets alone.",
    "scenario.synthesizer": "Settings of the synthesizer, or null if it was not given.",
    "scenario.unit": "Columns that say which records belong to one unit; empty if records are counted.",
    "scenario.time": "Column of the order of the records of a unit, or null.",
    "data": "The files, and the columns that all of them have.",
    "data.columns[].role": "Key, target or other.",
    "data.columns[].gaps": "Share of records of the original that lack a value.",
    "data.columns[].unmatched": "Shares of records with values that the other file lacks.",
    "intruders": "Who was assumed, from weak to strong.",
    "intruders[].applies": "Whether a figure of this intruder was computed; if not, `reason` says why.",
    "figures": "Every figure of risk, with all that must stand beside it.",
    "figures[].measure": "Name of the measure; policies, maps and comparisons use it.",
    "figures[].intruder": "The weakest intruder who can do this.",
    "figures[].target": "The target, or null if the measure concerns none.",
    "figures[].unit": "percent (of records), share (0 to 1), auc, or distance.",
    "figures[].persons": "Original records behind the figure; null if these are all.",
    "figures[].value": "Mean over the releases.",
    "figures[].per_release": "Value of each release, or one value where all releases are used together.",
    "figures[].low": "Lower end of the interval of the value.",
    "figures[].high": "Upper end of the interval of the value.",
    "figures[].over": "What the interval is over: this release, releases of this original, or repeated fits.",
    "figures[].process_low": "Lower end of the interval over other records and a release made from each.",
    "figures[].process_high": "Upper end of the interval over other records and a release made from each.",
    "figures[].process_undefined": "Why there is no such interval, or null.",
    "figures[].margin": "The value without release and keys.",
    "figures[].null_mean": "Mean of the values if the release said nothing of how keys and target go together.",
    "figures[].null_95": "95th percentile of these values.",
    "figures[].p_value": "Share of these values that reach the value, counting the value itself.",
    "figures[].ceiling": "The value of the same attack on the original itself.",
    "figures[].held_out": "The value for real persons that the synthesizer never saw.",
    "figures[].excess": "(value - null) / (1 - null), a share.",
    "figures[].excess_low": "Lower end of the interval of the excess.",
    "figures[].excess_high": "Upper end of the interval of the excess.",
    "figures[].undefined": "Why there is no value, or null.",
    "figures[].sentence": "What the figure means.",
    "figures[].does_not_show": "What the figure does not say.",
    "figures[].contradicted_by": "The measure to look at before a low value is believed.",
    "targets": "What was found of each target: threshold curve, groups, and the posterior.",
    "targets[].curve": "Persons at risk by the threshold from which a person counts as at risk.",
    "targets[].attribution": "Which keys go with being at risk, as log odds.",
    "targets[].posterior": "What the intruder learns who has all records but one.",
    "targets[].partial_knowledge": "What an intruder learns who knows fewer records.",
    "keys": "Which keys cause the risk, and in which groups it is.",
    "keys.leave_one_out": "The measures without one key.",
    "structure": "Key combinations that the releases keep, and new ones; null if not computed.",
    "membership": "Whether a release shows whose records it was made from; null if not computed.",
    "exact_membership": "The same for an intruder who has the synthesizer and other records; null if not computed.",
    "utility": "How close results from the releases are to results from the original; null if not computed.",
    "utility.figures": "Figures of utility, in the form of those of risk; their intruder is null.",
    "map": "Risk and utility of each release as points.",
    "map.points[].pareto": "Whether no other release has less risk and more utility.",
    "advice": "What to change, and its effect if it was measured again.",
    "advice[].computed": "Whether the effects were measured.",
    "policy": "The institution's limits with its verdicts; null without a policy.",
    "warnings": "What is unreliable, contradicts itself, or should be checked in the files.",
    "parts": "What was run, and what became of it.",
    "parts[].status": "done, partial, failed, skipped; waiting in a page that is not the last.",
    "parts[].reason": "Why the part is not done, or null.",
    "provenance": "Versions, time and files.",
    "provenance.inputs[].sha256": "Digest of the file; null where it is held back.",
}
"""What an entry means, by its path; figures of utility are described as those of risk."""


def assessment_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the JSON of an assessment.

    A report checks what it draws by the same list of entries. Entries that it does not name are allowed: a later
    version may add some without a change of the first number of ``schema_version``.

    Returns
    -------
    dict
        The schema, as plain values; a new dict at every call.

    Examples
    --------
    >>> import unveil
    >>> schema = unveil.assessment_schema()
    >>> schema["properties"]["figures"]["items"]["properties"]["value"]["type"]
    ['number', 'null']
    >>> schema["properties"]["schema_version"]["pattern"]
    '^2\\\\.'
    """
    found = _schema_of(ASSESSMENT, "")
    head = {"schema": {"const": SCHEMA}, "schema_version": {"type": "string", "pattern": rf"^{MAJOR}\."}}
    for name, entry in head.items():
        entry["description"] = MEANING[name]
    found["properties"] = head | found["properties"]
    found["required"] = [*head, *found["required"]]
    return {"$schema": DIALECT, "title": "Assessment of unveil", **found}


def entries(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every entry that a schema names, with its path: ``figures[].value``.

    Parameters
    ----------
    schema
        The schema, or that of an entry.
    path
        The path of that entry.
    """
    inner = schema.get("anyOf", [schema])[0]
    for name, entry in inner.get("properties", {}).items():
        yield (below := f"{path}.{name}".lstrip(".")), entry
        yield from entries(entry, below)
    if "items" in inner:
        yield from entries(inner["items"], f"{path}[]")


def _schema_of(shape: Any, path: str) -> dict[str, Any]:
    """The schema of a shape (see :func:`unveil.files.documents.check_shape`)."""
    if isinstance(shape, Maybe):
        found: dict[str, Any] = {"anyOf": [_schema_of(shape.shape, path), {"type": "null"}]}
    elif isinstance(shape, dict):
        found = _object(shape, path)
    elif isinstance(shape, list):
        found = {"type": "array", "items": _schema_of(shape[0], f"{path}[]")}
    else:
        found = _values(shape)
    name = path.rpartition(".")[2]
    meaning = MEANING.get(path) or MEANING.get(path.removeprefix("utility.")) or MEANING_BY_NAME.get(name)
    return found | ({"description": meaning} if meaning else {})


def _object(shape: Mapping[str, Any], path: str) -> dict[str, Any]:
    named = {name: inner for name, inner in shape.items() if name != "*"}
    found: dict[str, Any] = {"type": "object"}
    if named:
        found["properties"] = {
            (plain := name.removesuffix("?")): _schema_of(inner, f"{path}.{plain}".lstrip("."))
            for name, inner in named.items()
        }
        found["required"] = [name for name in named if not name.endswith("?")]
    if "*" in shape:
        found |= {"patternProperties": _PUBLIC, "additionalProperties": _schema_of(shape["*"], f"{path}.*")}
    return found


def _values(kinds: tuple[type, ...]) -> dict[str, Any]:
    if object in kinds:
        return {}
    # A whole number is a number.
    names = [_NAMES[kind] for kind in kinds if kind is not int or float not in kinds]
    return {"type": names[0] if len(names) == 1 else names}
