"""Make the values of one column comparable across files, or say why they are not.

The files are one original and its releases. What is changed is named in a note; what would have to be guessed
is refused. Values are compared as values: 1, 1.0 and an integer column's 1 are one level, a text that reads
"1" is another kind of thing and is only matched with a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.columns.labels import in_codes
from unveil.columns.texts import as_days, as_numbers, as_truths, compared_as_text, in_one_notation, months_unalike
from unveil.errors import DataError
from unveil.files.arrays import buffer_view, from_numpy, text_array
from unveil.files.distinct import Distinct, distinct_of, level_text, level_texts, python_values
from unveil.files.numbers import exact_number, plain_text
from unveil.files.source import Kind, Scalar, Source
from unveil.notes import Note

_EXACT_IN_FLOAT = 2**53
_FEW = 64
_LEADING_ZERO = re.compile(r"[+-]?0\d+")


def harmonise(
    found: Sequence[Distinct],
    kind: Kind | None = None,
) -> tuple[list[Distinct], list[str]]:
    """Bring the distinct values of one column in several files to one Arrow type.

    Parameters
    ----------
    found
        The column in each file, the original first.
    kind
        The kind that is stated, if any: numbers of a categorical column are compared with text as they are written.

    Returns
    -------
    list of Distinct
        The same records with values of one Arrow type. Two values of a file may have become equal.
    list of str
        What was changed, or deserves a look; each names the column and the files.

    Raises
    ------
    DataError
        If the values cannot be compared without a guess.
    """
    notes: list[str] = []
    present = [f for f in found if f.family != "empty"]
    families = {f.family for f in present}
    if len(families) > 1:
        if kind in ("categorical", "ordered") and families == {"number", "text"}:
            present = [_as_text(f) for f in present]
        else:
            present = _one_family(present, notes)
    if not present:
        return list(found), notes
    if present[0].family == "text":
        present = in_one_notation(present, notes)
        if len({f.family for f in present}) > 1:
            present = _one_family(present, notes)
    present = _as_one_type(present, notes)
    changed = iter(present)
    values_type = present[0].values.type
    result = [replace(f, values=pa.nulls(0, values_type)) if f.family == "empty" else next(changed) for f in found]
    return result, notes


def _as_one_type(found: list[Distinct], notes: list[str]) -> list[Distinct]:
    family = found[0].family
    if family == "number":
        notes += [*_durations_beside_numbers(found), *_digits_lost(found)]
        return _as_one_number_type(found)
    if family == "text":
        return _as_one_spelling(found, notes)
    return _as_one_clock(found) if family == "datetime" else found


def as_kind(found: Distinct, kind: Kind | None) -> Distinct:
    """Read the values as the kind that the user or a schema states.

    Raises
    ------
    DataError
        If a value is not of that kind; it is named.
    """
    if kind is None or found.family == "empty":
        return found
    if kind == "numeric" and found.family == "text":
        return as_numbers(found) or _parsed(found, "number", exact_number, "is not a number")
    if kind == "logical" and found.family in ("text", "number"):
        return _truths(found)
    if kind in ("date", "datetime") and found.family == "text":
        return _days(found)
    stated = {"numeric": "number", "logical": "logical", "date": "date", "datetime": "datetime"}.get(kind)
    families = (stated,) if stated not in ("date", "datetime") else ("date", "datetime")
    if stated is not None and found.family not in families:
        raise DataError(
            f"{found.label}: column {found.column!r} is declared {kind} but holds values such as "
            f"{_first(found)!r}; change its kind or the file"
        )
    return found


def levels_of(source: Source, name: str, kind: Kind | None = None) -> Distinct:
    """The levels of a column of one file by itself, read as what is stated or declared.

    Parameters
    ----------
    source
        The file.
    name
        The column.
    kind
        What its values are; by default what the file or its schema declares.

    Raises
    ------
    DataError
        If a value is not of that kind.
    """
    declared = source.variable(name)
    kind = kind or declared.kind
    return own_levels(as_kind(in_codes(distinct_of(source, name), declared, kind), kind))


def own_levels(found: Distinct) -> Distinct:
    """The levels of a column of one file, as :func:`harmonise` tells them apart; each is listed once.

    Numbers equal to 15 digits are one level, and so are the two zeros; texts by their spelling. Which values are one
    does not depend on what other files hold, so that levels found here are those of a comparison.

    Examples
    --------
    >>> from unveil.files.distinct import distinct_values
    >>> column = pa.chunked_array([[0.9, 0.8999999999999999, 0.5]])
    >>> found = own_levels(distinct_values(column, label="data", name="x"))
    >>> found.values.to_pylist(), found.codes.tolist()
    ([0.5, 0.9], [1, 1, 0])
    """
    if found.family == "number" and pt.is_floating(found.values.type):
        plain = np.array(buffer_view(found.values.cast(pa.float64()), np.float64)) + 0.0
        ordered = np.unique(plain)
        shared = _equal_to_15_digits(ordered)[np.searchsorted(ordered, plain)]
        unique, table = np.unique(shared, return_inverse=True)
        return found.recoded(found.family, from_numpy(unique), np.append(table, unique.size))
    if found.family != "text" or _are_few_plain(found.values):
        return found
    (same,) = _as_one_spelling([found], [])
    unique = same.values.unique()
    if len(unique) == len(same.values):
        return same
    return same.recoded(
        found.family, unique, np.append(buffer_view(pc.index_in(same.values, unique), np.int32), len(unique))
    )


def _one_family(found: list[Distinct], notes: list[str]) -> list[Distinct]:
    families = {f.family for f in found}
    where = ", ".join(f"{f.family} in {f.label}" for f in found)
    column = found[0].column
    if families == {"date", "datetime"}:
        return [
            replace(f, family="datetime", values=f.values.cast(pa.timestamp("s"))) if f.family == "date" else f
            for f in found
        ]
    if families == {"number", "text"}:
        return _numbers_and_text(found, where, notes)
    if "logical" in families and families <= {"logical", "number", "text"}:
        return _truths_and_others(found, where, notes)
    if families in ({"date", "text"}, {"datetime", "text"}, {"date", "datetime", "text"}):
        return _days_and_text(found, where, notes)
    raise DataError(
        f"column {column!r} holds {where}: these cannot be compared; convert one of the files or state the kind"
    )


def _truths_and_others(found: list[Distinct], where: str, notes: list[str]) -> list[Distinct]:
    column = found[0].column
    if "number" not in {f.family for f in found} and not all(as_truths(f) for f in _only(found, "text")):
        texts = compared_as_text(found)
        if texts is not None:
            notes.append(Note(f"column {column!r} holds {where}: true and false were compared as text"))
            return texts
    read = [f if f.family == "logical" else _truths(f) for f in found]
    notes.append(Note(f"column {column!r} holds {where}: compared as true and false"))
    return read


def _days_and_text(found: list[Distinct], where: str, notes: list[str]) -> list[Distinct]:
    column = found[0].column
    read = [as_days(f, found) if f.family == "text" else f for f in found]
    if None in read and (texts := compared_as_text(found)) is not None:
        notes.append(Note(f"column {column!r} holds {where}: the dates were compared as text"))
        return texts
    days = [_days(f, found) if f.family == "text" else f for f in found]
    notes.append(Note(f"column {column!r} holds {where}: the text was read as dates"))
    return days if len({f.family for f in days}) == 1 else _one_family(days, notes)


def _numbers_and_text(found: list[Distinct], where: str, notes: list[str]) -> list[Distinct]:
    column = found[0].column
    for f in _only(found, "text"):
        zeros = [v for v in f.values.to_pylist() if _LEADING_ZERO.fullmatch(v.strip())]
        if zeros:
            raise DataError(
                f"column {column!r} holds {where}, and {f.label} has codes with leading zeros such as "
                f"{zeros[0]!r}, which the numbers have lost; read both as text (kind 'categorical')"
            )
    read = [as_numbers(f, found) if f.family == "text" else f for f in found]
    numbers = [f for f in read if f is not None]
    if len(numbers) == len(found):
        notes.append(Note(f"column {column!r} holds {where}: the text was read as numbers"))
        return numbers
    numbers_of_truths = all(v in (0, 1) for f in _only(found, "number") for v in f.values.to_pylist())
    if numbers_of_truths and all(as_truths(f, both=True) for f in _only(found, "text")):
        notes.append(Note(f"column {column!r} holds {where}: compared as true and false"))
        return [_truths(f) for f in found]
    notes.append(Note(f"column {column!r} holds {where}: the numbers were compared as text"))
    return compared_as_text(found) or [_as_text(f) for f in found]


def _as_text(found: Distinct) -> Distinct:
    return found if found.family == "text" else _relabelled(found, level_texts(found.values))


def _only(found: Sequence[Distinct], family: str) -> list[Distinct]:
    return [f for f in found if f.family == family]


def _relabelled(found: Distinct, labels: list[str]) -> Distinct:
    return replace(found, family="text", values=text_array(labels))


def _truths(found: Distinct) -> Distinct:
    """Text or numbers as true and false."""
    read = as_truths(found) if found.family == "text" else None
    return read or _parsed(found, "logical", _logical, "is neither true nor false")


def _logical(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return bool(value) if value in (0, 1) else None


def _parsed(found: Distinct, family: str, parse: Callable[[Any], Any], complaint: str) -> Distinct:
    values = [parse(v) for v in found.values.to_pylist()]
    if None in values:
        bad = found.values[values.index(None)].as_py()
        raise DataError(
            f"{found.label}: {found.where(values.index(None))}: {bad!r} {complaint}; "
            f"correct the file or state another kind"
        )
    return replace(found, family=family, values=from_numpy(np.array(values, np.bool_)))


def _days(found: Distinct, others: Sequence[Distinct] = ()) -> Distinct:
    """Text as dates or times."""
    days = as_days(found, others)
    if days is not None:
        return days
    raise DataError(
        f"{found.label}: column {found.column!r} holds text such as {_first(found)!r} beside dates; "
        "write the dates as YYYY-MM-DD, or state the kind 'categorical' for text in both files"
    )


def _durations_beside_numbers(found: list[Distinct]) -> list[str]:
    if len({f.was_duration for f in found}) < 2:
        return []
    where = ", ".join(f"{'durations' if f.was_duration else 'numbers'} in {f.label}" for f in found)
    return [Note(f"column {found[0].column!r} holds {where}: the durations were compared as seconds")]


def _digits_lost(found: list[Distinct]) -> list[Note]:
    """Whole numbers kept as floating point, beyond what it tells apart, beside whole numbers kept as they are."""
    floating = [f for f in found if pt.is_floating(f.values.type)]
    if len(floating) == len(found):
        return []
    return [
        Note(
            f"column {one.column!r}: {one.label} holds numbers beyond 2^53 as floating point, which does not keep "
            "the last digits: write them as whole numbers or as text"
        )
        for one in floating
        if bool((np.abs(np.array(one.values, dtype=np.float64)) > _EXACT_IN_FLOAT).any())
    ]


def _as_one_number_type(found: list[Distinct]) -> list[Distinct]:
    """int64 where every value is whole, else float64 with values equal to 15 digits made equal."""
    arrays = [_whole_if_exact(f) for f in found]
    if all(pt.is_int64(a.type) for a in arrays) or all(pt.is_uint64(a.type) for a in arrays):
        return [replace(f, values=a) for f, a in zip(found, arrays, strict=True)]
    floats = [_as_floats(f, a) for f, a in zip(found, arrays, strict=True)]
    ordered = np.unique(np.concatenate(floats))
    shared = _equal_to_15_digits(ordered)
    return [
        replace(f, values=from_numpy(shared[np.searchsorted(ordered, x)])) for f, x in zip(found, floats, strict=True)
    ]


def _as_floats(found: Distinct, values: pa.Array) -> NDArray[np.float64]:
    floats = buffer_view(values.cast(pa.float64(), safe=False), np.float64)
    if pt.is_integer(values.type):
        whole = buffer_view(values, np.uint64 if pt.is_uint64(values.type) else np.int64)
        if bool(((whole > _EXACT_IN_FLOAT) | (whole < -_EXACT_IN_FLOAT)).any()):
            raise DataError(
                f"column {found.column!r}: {found.label} holds integers beyond 2^53 and another file holds fractions; "
                "they cannot be compared exactly; state the kind 'categorical' and read both as text"
            )
    return floats


def _whole_if_exact(found: Distinct) -> pa.Array:
    values = found.values
    if pt.is_decimal(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            values = values.cast(pa.float64())
        if len(values.unique()) < len(found.values):
            raise DataError(
                f"{found.label}: column {found.column!r} holds decimals of more digits than a number keeps; "
                "state the kind 'categorical' and read them as text"
            )
    if pt.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return values.cast(pa.uint64())
    if pt.is_float32(values.type):
        # The shortest decimal that names the float32: 0.1 stored in 4 bytes is meant to be 0.1.
        floats = buffer_view(values, np.float32).astype(str).astype(np.float64)
    else:
        floats = np.array(buffer_view(values, np.float64)) + 0.0
    whole = np.isfinite(floats) & (np.abs(floats) < 2.0**63)
    whole &= np.where(whole, floats, 0.5) % 1 == 0
    return from_numpy(floats.astype(np.int64) if whole.all() else floats)


def _equal_to_15_digits(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each of the ascending values, the value that stands for all that agree to 15 significant digits.

    Whole numbers are exact and stand for themselves.
    """
    shared = ordered.copy()
    with np.errstate(invalid="ignore"):
        close = ordered[1:] - ordered[:-1] <= 1e-14 * np.abs(ordered[1:])
        fractions = ordered % 1 != 0
    near = np.zeros(len(ordered), dtype=bool)
    near[1:] |= close
    near[:-1] |= close
    for i in np.flatnonzero(near & fractions):
        shared[i] = float(f"{ordered[i]:.15g}")
    return shared


def _as_one_spelling(found: list[Distinct], notes: list[str]) -> list[Distinct]:
    """Merge texts that differ only in outer blanks or Unicode form; name those that differ only in case."""
    every = pa.concat_arrays([f.values for f in found]).unique()
    plain = _plain(every)
    column = found[0].column
    if len(plain.unique()) < len(every):
        text = f"column {column!r}: levels that differ only in outer blanks or Unicode form were taken as one"
        notes.append(Note(f"{text}: {_twins(every, plain, found)}", text))
        found = [replace(f, values=_plain(f.values)) for f in found]
        every = plain.unique()
    notes += months_unalike(found) if len(found) > 1 else []
    folded = pc.utf8_lower(every)
    if len(folded.unique()) < len(every):
        text = f"column {column!r}: levels that differ only in letter case were kept apart"
        notes.append(Note(f"{text}: {_twins(every, folded, found)}", text))
    return found


def _are_few_plain(values: pa.Array) -> bool:
    """Whether a few texts differ in more than blanks and letter case; Python tells sooner than Arrow."""
    if len(values) > _FEW:
        return False
    texts = values.to_pylist()
    return all(text.isascii() and text.isprintable() and text == text.strip() for text in texts) and len(
        {text.lower() for text in texts}
    ) == len(values)


def _plain(values: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    if pc.all(pc.string_is_ascii(trimmed)).as_py():
        return trimmed
    # Older versions of Arrow take one form of normalisation for another.
    return text_array([plain_text(text) for text in trimmed.to_pylist()])


def _twins(every: pa.Array, same: pa.Array, found: list[Distinct]) -> str:
    """The levels by name where a release has one of them; those that only the original has may be one person's."""
    released = {text for release in found[1:] for text in release.values.to_pylist()}
    groups: dict[str, list[str]] = {}
    for original, common in zip(every.to_pylist(), same.to_pylist(), strict=True):
        groups.setdefault(common, []).append(original)
    twins = sorted(sorted(g) for g in groups.values() if len(g) > 1)
    named = [" and ".join(repr(v) for v in g) for g in twins if released.intersection(g)][:3]
    if not named:
        return f"{len(twins)} of {found[0].label}, which no release has"
    return "; ".join(named) + (f"; and {len(twins) - len(named)} more" if len(twins) > len(named) else "")


def _as_one_clock(found: list[Distinct]) -> list[Distinct]:
    """One unit and time zone for all; midnights only means that the values are dates."""
    zones = {f.values.type.tz is None for f in found}
    if len(zones) > 1:
        zoned = next(f for f in found if f.values.type.tz is not None)
        raise DataError(
            f"column {found[0].column!r}: {zoned.label} holds times with a zone, another file times without; "
            "give both files a time zone or none"
        )
    zone = None if zones == {True} else "UTC"
    units = {f.values.type.unit for f in found}
    unit = next(u for u in ("ns", "us", "ms", "s") if u in units)
    try:
        cast = [f.values.cast(pa.timestamp(unit, zone)) for f in found]
    except pa.ArrowInvalid:
        raise DataError(
            f"column {found[0].column!r} holds times too far apart to be compared in one unit ({unit}); "
            "store both files with the same unit"
        ) from None
    if zone is None and all(pc.all(pc.equal(pc.floor_temporal(a, unit="day"), a)).as_py() for a in cast):
        return [replace(f, family="date", values=a.cast(pa.date32())) for f, a in zip(found, cast, strict=True)]
    return [replace(f, values=a) for f, a in zip(found, cast, strict=True)]


def _first(found: Distinct) -> str:
    """The first level in order, so that a message does not depend on the order of records."""
    return level_texts(found.values.take(pc.sort_indices(found.values).slice(0, 1)))[0]


def ordered_levels(values: Sequence[pa.Array], declared: Sequence[Scalar]) -> pa.Array:
    """The union of the values: declared levels first in their order, the others ascending behind them."""
    union = _ascending(values)
    if not declared:
        return union
    rank = {level_text(level): i for i, level in enumerate(declared)}
    ranks = np.array([rank.get(level_text(v), len(rank)) for v in python_values(union)], dtype=np.int64)
    return union.take(from_numpy(np.argsort(ranks, kind="stable")))


def _ascending(values: Sequence[pa.Array]) -> pa.Array:
    """The values of some arrays of one type in ascending order; no array holds a value twice."""
    if pt.is_int64(values[0].type):
        # A plain sort takes a tenth of the time of hashing, which numpy.unique does too.
        ordered = np.sort(np.concatenate([buffer_view(one, np.int64) for one in values]))
        return from_numpy(ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0])
    union = values[0] if len(values) == 1 else pa.concat_arrays(list(values)).unique()
    return union.take(pc.sort_indices(union))


def codes_over(found: Distinct, levels: pa.Array) -> NDArray[np.int32]:
    """Level of each record among levels that include its own; the gap is the last."""
    if len(found.values) == len(levels) and found.values.equals(levels):
        return found.codes
    table = np.append(_positions(found.values, levels), len(levels)).astype(np.int32)
    return table.take(found.codes)


def _positions(values: pa.Array, levels: pa.Array) -> NDArray[np.integer]:
    """Where each value stands among levels that include it."""
    if pt.is_int64(levels.type):
        wanted, among = buffer_view(values, np.int64), buffer_view(levels, np.int64)
        positions = np.searchsorted(among, wanted)
        # Declared levels need not ascend.
        if bool((among[np.minimum(positions, len(among) - 1)] == wanted).all()):
            return positions
    return buffer_view(pc.index_in(values, levels), np.int32)
