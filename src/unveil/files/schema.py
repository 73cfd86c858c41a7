"""Schema files: the user's declarations of columns, in TOML beside the data.

.. code-block:: toml

   [columns.income]
   kind = "numeric"
   special_codes = [-8]
   bounds = [0, 100000]
   bins = 20
   gaps = true

   [columns."marital status"]
   kind = "categorical"
   levels = ["single", "married"]

   [columns.sex]
   labels = { 1 = "male", 2 = "female" }
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import CallError, DataError
from unveil.files.arrays import dictionary_levels, is_broken, quoted_list, with_levels
from unveil.files.atomic import replacing
from unveil.files.documents import read_json, read_toml
from unveil.files.nearest import near_matches
from unveil.files.source import KINDS, Kind, Scalar, Source, Variable
from unveil.files.texts_among_numbers import texts_among_numbers
from unveil.files.toml_text import key_text, quoted, value_text
from unveil.files.value_labels import code_of
from unveil.printable import one_line

FEW_LEVELS = 50
CUSTOMARY_NEGATIVE = frozenset({-1, -2, -3, -4, -5, -6, -7, -8, -9, -66, -77, -88, -99, -666, -777, -888, -999, -9999})
CUSTOMARY_HIGH = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999})
FAR = 3.0


@dataclass(frozen=True)
class Schema(Mapping[str, Variable]):
    """Declarations by column name.

    Examples
    --------
    >>> schema = Schema({"income": Variable("income", kind="numeric", special_codes=(-8,))})
    >>> schema["income"].special_codes
    (-8,)
    """

    variables: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    label: str = "schema"
    public: bool = True
    """Whether its levels and bounds are known to everybody; False for a schema that was written from records."""

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def apply(self, source: Source) -> Source:
        """Return the source with these declarations in place of its declarations, field by field.

        Raises
        ------
        CallError
            If a declared column is not in the source.
        """
        self.check(source.names, source.label)
        merged = dict(source.variables)
        renamed = {}
        for name, declared in self.items():
            own = source.variable(name)
            if own.labelled and (names := _renamed(own, declared)):
                own = replace(own, labels={code: names.get(text, text) for code, text in own.labels.items()})
                own = replace(own, levels=own.levels and tuple(names.get(str(level), level) for level in own.levels))
                renamed[name] = names
            merged[name] = _merged(own, declared)
        fetch = source.fetch

        def relabelled(name: str) -> pa.ChunkedArray:
            return with_levels(fetch(name), renamed[name]) if name in renamed else fetch(name)

        said = Schema(
            {**source.declared, **self.variables}, self.label, self.public and getattr(source.declared, "public", True)
        )
        return replace(
            source, variables=MappingProxyType(merged), fetch=relabelled if renamed else fetch, declared=said
        )

    def for_text(self) -> Schema:
        """Return the schema for delimited text, where levels of categorical columns are text (``1`` is "1")."""
        return replace(self, variables={name: _textual(declared) for name, declared in self.items()})

    def check(self, names: tuple[str, ...], label: str) -> None:
        """Raise CallError if a declared column is not among the names."""
        known = set(names)
        # A release need not have the weights of the sample.
        unknown = [name for name in self if name not in known and not self[name].weight]
        if unknown:
            hint = near_matches(unknown[0], names)
            raise CallError(f"{self.label}: {label} has no column {quoted_list(unknown)}{hint}")


def _textual(declared: Variable) -> Variable:
    if declared.kind not in ("categorical", "ordered"):
        return declared
    return replace(
        declared,
        levels=None if declared.levels is None else tuple(str(level) for level in declared.levels),
        labels={str(code): text for code, text in declared.labels.items()},
    )


def _renamed(own: Variable, declared: Variable) -> dict[str, str]:
    """Return the declared label by the label that the column holds, where the two differ."""
    wanted = {code_of(code): text for code, text in declared.labels.items()}
    texts = {code: wanted.get(code_of(code), text).strip() for code, text in own.labels.items()}
    held = list(texts.values())
    # Two codes stay two levels, also where they have one label.
    new = {code: f"{text} ({code})" if held.count(text) > 1 else text for code, text in texts.items()}
    return {own.labels[code]: text for code, text in new.items() if text != own.labels[code]}


def _merged(own: Variable, declared: Variable) -> Variable:
    return Variable(
        own.name,
        kind=declared.kind or own.kind,
        levels=own.levels if declared.levels is None else declared.levels,
        special_codes=declared.special_codes or own.special_codes,
        labels=own.labels if own.labelled else declared.labels or own.labels,
        labelled=own.labelled or declared.labelled,
        bounds=own.bounds if declared.bounds is None else declared.bounds,
        bins=own.bins if declared.bins is None else declared.bins,
        gaps=own.gaps if declared.gaps is None else declared.gaps,
        breaks=declared.breaks or own.breaks,
        weight=declared.weight or own.weight,
        unit=declared.unit or own.unit,
        time=declared.time or own.time,
    )


# Reading


def as_schema(schema: object) -> Schema:
    """Return a schema from a file name, a mapping (of Variables, or of dicts as in the file), or a Schema.

    Raises
    ------
    CallError
        If it is anything else, or a declaration has an unknown field, kind or type.
    FileError
        If the file cannot be read.
    """
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, Mapping):
        return Schema({name: _variable(name, given, "schema") for name, given in schema.items()})
    if isinstance(schema, str | Path):
        return read_schema(schema)
    raise CallError(f"schema must be a file name, a Schema or a mapping, not {type(schema).__name__}")


def read_schema(path: str | Path) -> Schema:
    """Read a schema file: TOML, or JSON of the same content if its ending is .json.

    Raises
    ------
    FileError
        If there is no such file or it is not TOML; the message names the line.
    CallError
        If a declaration has an unknown field, kind or type.
    """
    label = Path(path).name
    content = read_json(path, label) if _is_json(Path(path)) else read_toml(path, label, "not a TOML file: {}")[1]
    unknown = [key for key in content if key not in ("columns", "public")]
    columns, public = content.get("columns", {}), content.get("public", True)
    if unknown or not isinstance(columns, dict):
        raise CallError(f"{label}: {quoted_list(unknown)} is not known; tables are called [columns.NAME]")
    if not isinstance(public, bool):
        raise CallError(f"{label}: public must be true or false, not {public!r}")
    return Schema({name: _variable(name, given, label) for name, given in columns.items()}, label, public)


def _is_json(path: Path) -> bool:
    """Whether a file has the ending .json and begins with an object, as TOML cannot."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1000).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _variable(name: str, given: Any, label: str) -> Variable:
    where = f"{label}: column {name!r}"
    if isinstance(given, Variable):
        return _with_breaks(given, where)
    if not isinstance(given, Mapping):
        raise CallError(f"{where} must be a table with {', '.join(FIELDS)}")
    unknown = [key for key in given if key not in FIELDS]
    if unknown:
        raise CallError(f"{where} has an unknown field {unknown[0]!r}; known: {', '.join(FIELDS)}")
    said = {field: value for field, value in given.items() if value is not None}
    if isinstance(said.get("levels"), list | tuple) and None in said["levels"]:
        if said.setdefault("gaps", True) is False:
            raise CallError(f"{where}: a gap is among its levels, and gaps is false")
        said["levels"] = [level for level in said["levels"] if level is not None]
    try:
        return Variable(name, **{field: FIELDS[field](said[field]) for field in FIELDS if field in said})
    except _WrongValue as error:
        raise CallError(f"{where}{error}") from None


def _with_breaks(given: Variable, where: str) -> Variable:
    """The variable with its breaks as numbers; they tell groups apart, so they must not be an array."""
    listed = as_list(given.breaks)
    try:
        return given if listed in ([], ()) else replace(given, breaks=_breaks(listed))
    except _WrongValue as error:
        raise CallError(f"{where}{error}") from None


def as_list(values: Any) -> Any:
    """An array, of numpy or Arrow, as a list of plain values; anything else as it is."""
    return values.tolist() if hasattr(values, "tolist") else values


class _WrongValue(Exception):
    """The value of a field is wrong: the end of a sentence that begins with the column."""


def _kind(given: Any) -> Kind:
    if given not in KINDS:
        raise _WrongValue(f" has an unknown kind {given!r}; known: {', '.join(KINDS)}")
    return given  # type: ignore[no-any-return]


def _scalars(key: str, values: Any) -> tuple[Scalar, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(v, bool | int | float | str) for v in values):
        raise _WrongValue(f": {key} must be a list of numbers or text")
    if len(set(map(repr, values))) < len(values):
        raise _WrongValue(f": {key} holds a value twice")
    return tuple(values)


def _labels(given: Any) -> dict[Scalar, str]:
    """Return labels by code, of a table, whose keys are text in TOML, or of pairs of code and text."""
    if isinstance(given, Mapping):
        pairs: list[tuple[Any, Any]] = [(_code(code), text) for code, text in given.items()]
    elif isinstance(given, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in given):
        pairs = [(code, text) for code, text in given]
    else:
        pairs = [(None, None)]
    if not all(isinstance(code, bool | int | float | str) and isinstance(text, str) for code, text in pairs):
        raise _WrongValue(": labels must be a table from code to text, or pairs of code and text")
    labels = dict(pairs)
    if len(labels) < len(pairs):
        raise _WrongValue(": labels holds a code twice")
    return labels


def _bounds(given: Any) -> tuple[Scalar, ...]:
    ends = _ends(given)
    if len(ends) != 2:
        raise _WrongValue(": bounds must be the smallest and the largest amount, such as [0, 100], or dates")
    return ends


def _bins(given: Any) -> int | tuple[Scalar, ...]:
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return given
    ends = _ends(given)
    if len(ends) < 2:
        raise _WrongValue(
            ": bins must be a whole number from 1, or the ends of all parts in ascending order, such as "
            "[0, 10, 50, 100]"
        )
    return ends


def _ends(given: Any) -> tuple[Any, ...]:
    """Return ascending numbers, or dates as text; nothing for anything else."""
    if not isinstance(given, list | tuple):
        return ()
    values = tuple(value.isoformat() if isinstance(value, date) else value for value in given)
    are_numbers = all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in values)
    if not are_numbers and not all(isinstance(value, str) for value in values):
        return ()
    return values if all(low < high for low, high in pairwise(values)) else ()


def _flag(key: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise _WrongValue(f": {key} must be true or false, not {given!r}")
    return given


def _breaks(given: Any) -> tuple[float, ...]:
    ends = _ends(given)
    if not ends or isinstance(ends[0], str):
        raise _WrongValue(": breaks must be numbers in ascending order, such as [18, 30, 65]")
    return ends


FIELDS: dict[str, Callable[[Any], Any]] = {
    "kind": _kind,
    "levels": partial(_scalars, "levels"),
    "special_codes": partial(_scalars, "special_codes"),
    "labels": _labels,
    "bounds": _bounds,
    "bins": _bins,
    "gaps": partial(_flag, "gaps"),
    "breaks": _breaks,
    "weight": partial(_flag, "weight"),
    "unit": partial(_flag, "unit"),
    "time": partial(_flag, "time"),
}
"""Fields of a declaration, each with the function that checks its value."""


def _code(code: Any) -> Scalar:
    """Return a key of a table of labels, which is text in TOML, as the number that it writes."""
    if not isinstance(code, str):
        return code  # type: ignore[no-any-return]
    for number in (int, float):
        try:
            value = number(code)
        except ValueError:
            continue
        # "01" and "1_0" stay text: they are not written as the number would be.
        return value if repr(value) == code else code
    return code


# Writing


def write_schema(source: Source, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a first schema file for a source; the user completes it.

    Raises
    ------
    FileError
        If the file exists and ``overwrite`` is not set, or cannot be written.
    """
    text = schema_text(source)
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def schema_text(source: Source) -> str:
    """Return a first schema: kinds, levels if they are few, suspected special codes as comments."""
    head = (
        f"# Schema of {_comment(source.label)}. Correct what is wrong; what is left out the values decide.\n"
        "# Levels are those that records have: set public to true once all levels and bounds are known to everybody.\n"
        "public = false\n"
    )
    return head + "".join(f"\n{_column_text(source, name)}" for name in source.names)


def _column_text(source: Source, name: str) -> str:
    declared = source.variable(name)
    column = source.column(name)
    kind = declared.kind or _guessed_kind(column.type)
    levels = declared.levels or (_few_levels(column) if kind == "categorical" else None)
    said = {
        "kind": kind,
        "levels": levels or None,
        "special_codes": declared.special_codes or None,
        "# special_codes": (not declared.special_codes and suspected_special_codes(column)) or None,
        "labels": declared.labels or None,
        "bounds": declared.bounds,
        "bins": declared.bins,
        "gaps": declared.gaps,
        "breaks": declared.breaks or None,
        "weight": declared.weight or None,
        "unit": declared.unit or None,
        "time": declared.time or None,
    }
    lines = [f"[columns.{key_text(name)}]"]
    for key, value in said.items():
        if value is not None:
            doubt = "  # these look like codes, not amounts: confirm" if key.startswith("#") else ""
            lines.append(f"{key} = {_value(value)}{doubt}")
    if declared.kind is None and (texts := texts_among_numbers(column)):
        lines.append(
            f"# all values but {_comment(quoted_list(texts))} are numbers; if this stands for a gap, read the file"
        )
        lines.append('# with the option missing (--missing TEXT), and write kind = "numeric" here')
    text = "\n".join(lines) + "\n"
    if is_broken(text):
        half = next(t for t in (*(levels or ()), *declared.labels, *declared.labels.values(), name) if is_broken(t))
        raise DataError(f"{source.label}: column {name!r}: {half!r} is not text, it holds half a character; correct it")
    return text


def _labels_text(labels: Mapping[Scalar, str]) -> str:
    """Return a table of labels, or pairs of code and label if keys, which are text in TOML, would change a code."""
    if all(repr(_code(str(code))) == repr(code) for code in labels):
        return "{ " + ", ".join(f"{key_text(str(code))} = {quoted(text)}" for code, text in labels.items()) + " }"
    return "[" + ", ".join(f"[{value_text(code)}, {quoted(text)}]" for code, text in labels.items()) + "]"


def _guessed_kind(kind: pa.DataType) -> Kind | None:
    if pa.types.is_dictionary(kind):
        return "categorical"
    if pa.types.is_boolean(kind):
        return "logical"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "datetime"
    return "numeric" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else None


def _few_levels(column: pa.ChunkedArray) -> tuple[Scalar, ...] | None:
    levels = sorted(dictionary_levels(column)) if pa.types.is_dictionary(column.type) else ()
    is_scalar = all(isinstance(level, str | int | float) for level in levels)
    return tuple(levels) if is_scalar and len(levels) <= FEW_LEVELS else None


def suspected_special_codes(column: pa.ChunkedArray) -> tuple[int | float, ...]:
    """Return numbers that look like codes among amounts, for the user to confirm.

    These are usual negative codes (-1 to -9, -99, ...) in a column whose other values are not negative, and usual high
    codes (99, 999, ...) at the end of the range, far above the next lower value.
    """
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return ()
    values = sorted(v for v in pc.unique(column).to_pylist() if v is not None and v == v)
    negative = [v for v in values if v < 0]
    codes = negative if negative and set(negative) <= CUSTOMARY_NEGATIVE and negative != values else []
    amounts = [v for v in values if v >= 0 and v not in CUSTOMARY_HIGH]
    if amounts:
        # A code is far from the amounts: several times as far as these are from each other.
        limit = amounts[-1] + max(FAR, FAR * (amounts[-1] - amounts[0]) / len(amounts))
        codes = codes + [v for v in values if v in CUSTOMARY_HIGH and v > limit]
    return tuple(int(v) if v == int(v) else v for v in codes)


def _comment(text: str) -> str:
    return one_line(" ".join(text.split()))


def _value(value: Any) -> str:
    """Return a value as TOML writes it; a table is one of labels."""
    return _labels_text(value) if isinstance(value, Mapping) else value_text(value)
