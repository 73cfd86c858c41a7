"""Text beside values of another type: read as that type where all of it can be, else compared as text.

What is written in a file is compared where the file says it; where it only holds values, these are written as the
text of the other files writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.files.arrays import flags, from_numpy, text_array
from unveil.files.distinct import Distinct, level_text, level_texts
from unveil.files.notation import (
    DAYS_SHAPE,
    AmountNotation,
    DayNotation,
    amount_notation,
    day_notation,
    iso_days,
    plain_amounts,
)
from unveil.files.numbers import exact_number, plain_text
from unveil.files.text_types import TRUTHS
from unveil.notes import Note

_SIGNED = "[0-9][-+.,/' eE\u00a0\u2009\u2019\u202f]|^[+]"
_MOST_TRUTHS = 50
"""Most levels of a column of two words, in any letter case and with any blanks."""
_MOMENT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?$"
_TYPES = (
    ("date", pa.date32()),
    ("datetime", pa.timestamp("us")),
    ("datetime", pa.timestamp("ns")),
    ("datetime", pa.timestamp("us", "UTC")),
    ("datetime", pa.timestamp("ns", "UTC")),
)


# All of the text as another type


def as_numbers(found: Distinct, others: Iterable[Distinct] = ()) -> Distinct | None:
    """Return text as numbers if every value is a number, as programs write it or in one notation; else None.

    Parameters
    ----------
    found
        Text.
    others
        The column in other files, whose notation decides if the text fits several.
    """
    texts = found.values.to_pylist()
    numbers = [exact_number(text) for text in texts]
    for notation in _amount_notations(found, others) if None in numbers else ():
        numbers = [exact_number(text) for text in plain_amounts(pa.chunked_array([found.values]), notation).to_pylist()]
        if None not in numbers:
            break
    if None in numbers:
        return None
    whole = all(isinstance(number, int) for number in numbers)
    return replace(found, family="number", values=from_numpy(np.array(numbers, np.int64 if whole else np.float64)))


def _amount_notations(found: Distinct, others: Iterable[Distinct]) -> list[AmountNotation]:
    own = amount_notation(pa.chunked_array([found.values]))
    if own == "unsure":
        return [other.notation for other in others if isinstance(other.notation, AmountNotation)]
    return [own] if isinstance(own, AmountNotation) else []


def as_days(found: Distinct, others: Iterable[Distinct] = ()) -> Distinct | None:
    """Return text as dates or times if every value is one, in the order of ISO 8601 or another; else None."""
    trimmed = pc.utf8_trim_whitespace(found.values)
    if (iso := _cast(found, trimmed)) is not None:
        return iso
    for notation in _day_notations(trimmed, others):
        days = _cast(found, iso_days(pa.chunked_array([trimmed]), notation).combine_chunks())
        if days is not None:
            return days
    return None


def _cast(found: Distinct, texts: pa.Array) -> Distinct | None:
    for family, kind in _TYPES:
        try:
            return replace(found, family=family, values=texts.cast(kind))
        except pa.ArrowInvalid:
            continue
    return None


def _day_notations(texts: pa.Array, others: Iterable[Distinct]) -> list[DayNotation]:
    own = day_notation(pa.chunked_array([texts]))
    if own == "unsure":
        return [other.notation for other in others if isinstance(other.notation, DayNotation)]
    return [own] if isinstance(own, DayNotation) else []


def as_truths(found: Distinct, others: Iterable[Distinct] = (), *, both: bool = False) -> Distinct | None:
    """Return text as true and false if all values are of one pair of words for them; else None.

    Parameters
    ----------
    found
        Text.
    others
        Not used.
    both
        Whether both words of the pair must occur: alone, "f" may mean anything.
    """
    if len(found.values) > _MOST_TRUTHS:
        return None
    words = [text.strip().lower() for text in found.values.to_pylist()]
    pair = next((pair for pair in (("true", "false"), *TRUTHS) if set(words) <= set(pair)), None)
    if pair is None or (both and set(words) != set(pair)):
        return None
    return replace(found, family="logical", values=from_numpy(np.array([word == pair[0] for word in words], np.bool_)))


# Text that holds more than another type could


def compared_as_text(found: Sequence[Distinct]) -> list[Distinct] | None:
    """Return all files as text; None if no value of the files with another type occurs in the text of the others.

    Of the ways to write these values the one is taken by which most of them are found: as values are written where
    levels are listed, or as they stand in their file. Of equals, numbers are written as levels are.
    """
    ways = [way for way in (_evenly(found), _as_written(found)) if way is not None]
    if not any(f.family == "number" for f in found):
        ways.reverse()
    best = max(ways, key=lambda way: _met(found, way))
    return best if _met(found, best) else None


def _met(found: Sequence[Distinct], texts: Sequence[Distinct]) -> int:
    """Return how many values of other types occur in the text of another file."""
    known: set[str] = set()
    others: set[str] = set()
    for f, as_text in zip(found, texts, strict=True):
        (known if f.family == "text" else others).update(map(plain_text, as_text.values.to_pylist()))
    return len(known & others)


def _evenly(found: Sequence[Distinct]) -> list[Distinct] | None:
    """Return all files with numbers, days and truth values written alike; None if that would merge two texts."""
    words = [word for f in found if f.family == "text" for word in f.values.to_pylist()]
    even = []
    for f in found:
        if f.family != "text":
            texts = _spelled(words) if f.family == "logical" else {}
            even.append(_text(f, [texts.get(text, text) for text in level_texts(f.values)]))
            continue
        texts_now = evened(f, found)
        if len(set(texts_now)) < len({plain_text(text) for text in f.values.to_pylist()}):
            return None
        even.append(_text(f, texts_now))
    return even


def _as_written(found: Sequence[Distinct]) -> list[Distinct]:
    texts = [f if f.family == "text" else f.written() if f.written else _text(f, level_texts(f.values)) for f in found]
    # A file may have another label now than when it was read.
    return [replace(text, label=f.label) for text, f in zip(texts, found, strict=True)]


def evened(found: Distinct, others: Iterable[Distinct]) -> list[str]:
    """Return the text with numbers and times written as levels, and days in the order of ISO 8601."""
    others = list(others)
    texts: list[str] = found.values.to_pylist()
    numbers = [exact_number(text) for text in texts]
    texts = [text if number is None else level_text(number) for text, number in zip(texts, numbers, strict=True)]
    places = np.flatnonzero(flags(pc.match_substring_regex(text_array(texts), DAYS_SHAPE)))
    days = text_array([texts[i] for i in places])
    for notation in _day_notations(days, others) if len(places) else ():
        turned = iso_days(pa.chunked_array([days]), notation).to_pylist()
        for i, text in zip(places, turned, strict=True):
            texts[i] = text
        break
    places = np.flatnonzero(flags(pc.match_substring_regex(text_array(texts), _MOMENT)))
    for i, text in zip(places, _moments([texts[i] for i in places]), strict=True):
        texts[i] = text
    return texts


def _moments(texts: list[str]) -> list[str]:
    """Return times written as levels; text with an impossible month or hour does not change."""
    try:
        return level_texts(text_array(texts).cast(pa.timestamp("us")))
    except pa.ArrowInvalid:
        return texts if len(texts) == 1 else [_moments([text])[0] for text in texts]


def _spelled(words: Sequence[str]) -> dict[str, str]:
    """Return the words for "TRUE" and "FALSE": those of the first pair of which one occurs."""
    for pair in (("true", "false"), *TRUTHS):
        known = {word.strip() for word in words if word.strip().lower() in pair}
        if known:
            found = [sorted(word for word in known if word.lower() == name) for name in pair]
            alike = next(c for c in (str.upper, str.title, str.lower) if c(min(known)) == min(known) or c is str.lower)
            yes, no = (
                name.upper() if name.upper() in one else one[0] if one else alike(name)
                for name, one in zip(pair, found, strict=True)
            )
            return {"TRUE": yes, "FALSE": no}
    return {}


def _text(found: Distinct, texts: Sequence[str]) -> Distinct:
    return replace(found, family="text", values=text_array(list(texts)))


# Text in all files


_WITH_MONTH = re.compile(r"(?=.*\d)[\d ./,:'-]*(?P<month>[^\W\d_]{3,})[\d ./,:'-]*")
_MONTHS = {
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *("mär", "mrz", "mai", "okt", "dez", "jän", "fév", "fev", "avr", "jui", "aoû", "aou", "déc", "ene", "abr", "ago"),
    *("dic", "gen", "mag", "giu", "lug", "set", "ott", "mrt", "mei", "maj"),
}
"""First letters of the months in several languages."""


def in_one_notation(found: list[Distinct], notes: list[str]) -> list[Distinct]:
    """Return text of files that write the same amounts or days differently in one notation, and add a note."""
    if len(found) < 2 or (not any(_may_be_value(f) for f in found) and not all(as_truths(f) for f in found)):
        return found
    column = found[0].column
    for read, what in ((as_numbers, "numbers"), (as_days, "dates"), (partial(as_truths, both=True), "true and false")):
        typed = [read(f, found) for f in found]
        if all(one is not None for one in typed) and len({_notation_of(f, what) for f in found}) > 1:
            notes.append(Note(f"column {column!r} holds {what} as text in different notations: compared as {what}"))
            return [one for one in typed if one is not None]
    even = _evenly(found)
    if even is None or _shared(even) <= _shared(found):
        return found
    pairs = [
        (old, new)
        for f, e in zip(found, even, strict=True)
        for old, new in zip(f.values.to_pylist(), e.values.to_pylist(), strict=True)
        if old != new
    ]
    old, new = min(pairs)
    notes.append(
        Note(
            f"column {column!r}: values that are written differently were taken as one: {old!r} and {new!r}"
            + (f"; and {len(pairs) - 1} more" if len(pairs) > 1 else ""),
            f"column {column!r}: numbers or dates that are written differently were taken as one",
        )
    )
    return even


def months_unalike(found: Sequence[Distinct]) -> list[Note]:
    """A note where files name months in different ways ("1 Apr 2020", "01 April 2020"): only some of them meet.

    Such days are compared as text. Where none is met that is told as of any text; days in May are met in either way.
    """
    words: list[set[str]] = []
    digits: list[set[str]] = []
    for f in found:
        words.append(set())
        digits.append(set())
        for text in f.values.to_pylist():
            one = _WITH_MONTH.fullmatch(text)
            if one is None or one["month"][:3].casefold() not in _MONTHS:
                return []
            words[-1].add(one["month"].casefold())
            digits[-1].update(re.findall(r"\d+", text))
    every = set[str]().union(*words)
    shortened = any(a != b and a.startswith(b) for a in every for b in every)
    # Of the days before the tenth; a year of two digits may have a zero in front, too.
    zeros = {
        (any(re.fullmatch("0.", number) for number in numbers), any(len(number) == 1 for number in numbers))
        for numbers in digits
    }
    if len(every) <= 12 and not shortened and not {(True, False), (False, True)} <= zeros:
        return []
    text = f"column {found[0].column!r} holds days with names of months, which are written in more than one way"
    shown = " and ".join(f"{f.values.to_pylist()[0]!r} in {f.label}" for f in found[1:])
    end = "; they are compared as text: write them as YYYY-MM-DD"
    return [Note(f"{text} ({shown}, for example){end}", text + end)]


def _may_be_value(found: Distinct) -> bool:
    """Whether a text has a digit and could be written in another way."""
    return bool(pc.any(pc.match_substring_regex(found.values, _SIGNED)).as_py())


def _notation_of(found: Distinct, what: str) -> object:
    texts = pa.chunked_array([found.values])
    if what == "true and false":
        return tuple(sorted({text.strip().lower() for text in found.values.to_pylist()}))
    if what == "dates":
        return day_notation(texts)
    return None if all(exact_number(text) is not None for text in found.values.to_pylist()) else amount_notation(texts)


def _shared(found: Sequence[Distinct]) -> int:
    """Return how many values of the other files occur in the first file."""
    first = {plain_text(value) for value in found[0].values.to_pylist()}
    return len(first & {plain_text(value) for f in found[1:] for value in f.values.to_pylist()})
