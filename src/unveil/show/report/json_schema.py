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
