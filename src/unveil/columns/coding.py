"""One column of several files in common codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unveil.columns.column import CodedColumn, are_numbers
from unveil.columns.harmonise import as_kind, codes_over, harmonise, ordered_levels
from unveil.columns.labels import by_labels
from unveil.errors import CallError
from unveil.files.distinct import KIND_OF_FAMILY, Distinct, level_text
from unveil.files.nearest import near_matches
from unveil.files.source import Kind, Scalar, Source
from unveil.notes import Note


def coded(
    name: str, values: Sequence[Distinct], sources: Sequence[Source], stated: Kind | None,
    special_codes: Sequence[Scalar] | None,
) -> CodedColumn:  # fmt: skip
    """Bring the values of all files to common codes.

    Parameters
    ----------
    name
        The column.
    values
        Its values in each file, the original first.
    sources
        The files.
    stated
        What the values are; by default what a file or schema declares, or what they look like.
    special_codes
        Values that are no amounts; by default those that a file or schema declares.

    Raises
    ------
    CallError
        If a special code of a numeric column is not a number.
    DataError
        If the values cannot be compared.
    """
    declared = [s.variable(name) for s in sources]
    kind = stated or next((v.kind for v in declared if v.kind), None)
    found = list(values)
    found, naming, notes = by_labels(found, declared, kind)
    found, more = harmonise([as_kind(one, kind) for one in found], kind)
    notes += more
    order = next((v.levels for v in declared if v.levels), ())
    levels = ordered_levels([f.values for f in found], [naming.of(level) or level_text(level) for level in order])
    codes = [codes_over(f, levels) for f in found]
    family = next((f.family for f in found if f.family != "empty"), "empty")
    column = CodedColumn(
        name=name,
        kind=kind or KIND_OF_FAMILY[family],
        levels=levels,
        has_gap=any((c == len(levels)).any() for c in codes),
        original=codes[0],
        releases=tuple(codes[1:]),
        naming=naming,
    )
    special = special_codes or ()
    if not special and are_numbers(levels):
        special = next((v.special_codes for v in declared if v.special_codes), ())
    column = replace(column, special=_special_levels(column, special))
    if special_codes is not None and len(column.special) < len(set(special)):
        held = ", ".join(column.label(code) for code in column.special) or "none"
        codes_given = ", ".join(map(str, special))
        start = f"column {name!r}: of the special codes {codes_given} the files hold"
        notes.append(Note(f"{start} {held}", f"column {name!r}: the files do not hold all special codes given"))
    return replace(column, notes=tuple(notes))


def _special_levels(column: CodedColumn, special: Iterable[Scalar]) -> tuple[int, ...]:
    wanted = [column.naming.of(value) or value for value in special]
    if not wanted:
        return ()
    if are_numbers(column.levels):
        codes = {_as_number(column, v) for v in wanted}
        return tuple(i for i, v in enumerate(column.levels.to_pylist()) if v in codes)
    texts = {level_text(v) for v in wanted}
    return tuple(code for code, label in enumerate(column.labels[: len(column.levels)]) if label in texts)


def _as_number(column: CodedColumn, code: Scalar) -> float:
    try:
        return int(code) if isinstance(code, int) or str(code).lstrip("-").isdecimal() else float(code)
    except (TypeError, ValueError):
        hint = near_matches(str(code), column.naming.by_label)
        raise CallError(f"special code {code!r} of the numeric column {column.name!r} is not a number{hint}") from None
