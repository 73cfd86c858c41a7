"""Columns of an R data frame as Arrow columns, from the values and attributes that R stores.

The package rdata parses the objects; nothing of it is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import DataError, FileError
from unveil.files.arrays import declare_an_order, normalise, text_array, whole_numbers
from unveil.files.impossible_dates import say_impossible
from unveil.files.source import Variable
from unveil.files.statistical import code_order, labelled_column, letter_code, letter_of, plain_code

Floats = NDArray[np.float64]

_SECONDS = {"secs": 1.0, "mins": 60.0, "hours": 3600.0, "days": 86400.0, "weeks": 604800.0}
_LATIN1, _UTF8 = 4, 8
_NA_WORD = 1954
_DAYS_OF_A_DATE = 2**31 - 1
_SECONDS_OF_A_TIME = 2**63 // 10**6 - 1
_NOT_ONE_NUMBER = ("Period", "Interval")


@dataclass(frozen=True)
class RReading:
    """How the values of one file are read.

    Parameters
    ----------
    label
        Name of the file in messages.
    encoding
        Encoding of the texts that do not state theirs.
    """

    label: str
    encoding: str


def check_objects(root: Any, reading: RReading) -> None:
    """Raise FileError for objects that R does not write, and for attributes and names of a wrong type.

    Texts of a vector are checked when they are read.

    Raises
    ------
    FileError
        If there is an object that R does not write.
    """
    waiting, seen = [(root, "data")], set()
    while waiting:
        one, role = waiting.pop()
        if one is None or (id(one), role) in seen:
            continue
        seen.add((id(one), role))
        kind, value = one.info.type.name, one.value
        sound = kind in _ATTRIBUTES if role == "attributes" else kind != "NIL"
        if kind == "CHAR" and value is not None:
            sound = sound and b"\0" not in value and (value.isascii() or not one.info.gp & _ASCII)
        if not sound:
            raise FileError(f"{reading.label}: holds an object that R does not write; the file is damaged")
        waiting += [(one.attributes, "attributes"), (one.tag, "data"), (one.referenced_object, "data")]
        if isinstance(value, tuple):
            waiting += [
                (value[0], "attribute" if role == "attributes" else "data"),
                *((part, role) for part in value[1:]),
            ]
        elif isinstance(value, list) and (kind != "STR" or role == "attribute"):
            waiting += [(part, "data") for part in value]
        elif hasattr(value, "info"):
            waiting.append((value, "data"))


def tagged(pairs: Any, encoding: str = "utf-8") -> dict[str, Any]:
    """Return the entries of an R pair list that have a tag, by the tag; of anything else an empty dict."""
    found: dict[str, Any] = {}
    while pairs is not None and isinstance(pairs.value, tuple):
        tag = pairs.tag
        while tag is not None and tag.referenced_object is not None:
            tag = tag.referenced_object
        if tag is not None and tag.value is not None:
            found[(tag.value.value or b"").decode(encoding, "replace")] = pairs.value[0]
        pairs = pairs.value[1]
    return found


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an R object by name."""
    return tagged(value.attributes)


def classes_of(value: Any) -> tuple[str, ...]:
    """Return the class attribute."""
    held = attributes_of(value).get("class")
    named = held.value if held is not None and isinstance(held.value, list) else ()
    return tuple((one.value or b"").decode("utf-8", "replace") for one in named)


def names_of(value: Any, reading: RReading) -> list[str | None]:
    """Return the names attribute; empty if there is none."""
    held = attributes_of(value).get("names")
    return [] if held is None or not isinstance(held.value, list) else texts_of(held, reading, "the names")


def texts_of(value: Any, reading: RReading, what: str) -> list[str | None]:
    """Return a character vector; None for NA.

    Raises
    ------
    DataError
        If a text is not in its encoding; the message names ``what`` and the place of the text.
    FileError
        If a value is not text.
    """
    known: dict[tuple[bytes, int], str] = {}
    texts: list[str | None] = []
    for place, one in enumerate(value.value, start=1):
        if one.value is None:
            texts.append(None)
            continue
        key = (one.value, one.info.gp)
        if key not in known:
            # R has no text with a zero byte, and no other object in a vector of texts.
            if one.info.type.name != "CHAR" or b"\0" in one.value or (one.info.gp & _ASCII and not one.value.isascii()):
                raise FileError(f"{reading.label}: {what}, number {place}: not a text of R; the file is damaged")
            try:
                known[key] = one.value.decode(_encoding(one.info.gp, reading))
            except (UnicodeDecodeError, LookupError):
                raise DataError(
                    f"{reading.label}: {what}, number {place}: the text is not {_encoding(one.info.gp, reading)}; "
                    "give encoding=, or save the file in UTF-8"
                ) from None
        texts.append(known[key])
    return texts


def plain_value(value: Any, reading: RReading) -> Any:
    """Return a named vector as a dict, one of a single value as that value, others as a list; else None."""
    if isinstance(value.value, list):
        is_text = value.info.type.name == "STR"
        values = list(
            texts_of(value, reading, "a setting") if is_text else (plain_value(one, reading) for one in value.value)
        )
    elif isinstance(value.value, np.ndarray):
        values = [None if one is np.ma.masked else _scalar(one.item()) for one in value.value]
    else:
        return None
    names = names_of(value, reading)
    if names and len(names) == len(values):
        return {str(name): one for name, one in zip(names, values, strict=True)}
    return values[0] if len(values) == 1 else values


def column_of(
    value: Any, name: str, reading: RReading
) -> tuple[pa.ChunkedArray | Callable[[], pa.ChunkedArray], Variable | None]:
    """Return one column and what R declares of it.

    Parameters
    ----------
    value
        The R object.
    name
        Name of the column.
    reading
        Label and encoding of the file.

    Returns
    -------
    pyarrow.ChunkedArray or callable
        The values; a function that raises DataError if the column does not hold one value per record.
    Variable or None
        Kind, levels, labels and special codes, if R declares them.
    """
    classes, held = classes_of(value), attributes_of(value)
    kind = value.info.type.name
    where = f"column {name!r}"
    if _is_wide(held):
        return _refusal(name, "several values for each record (a matrix)", reading), None
    if "POSIXlt" in classes:
        return _broken_down(value, name, reading), None
    if kind not in ("LGL", "INT", "REAL", "STR") or set(classes) & set(_NOT_ONE_NUMBER):
        return _refusal(name, _spoken(kind, classes), reading), None
    if "factor" in classes:
        if "levels" not in held:
            raise FileError(f"{reading.label}: {where}: a factor without levels; the file is damaged")
        return _factor(value, held["levels"], name, "ordered" in classes, reading)
    if kind == "STR":
        column = _chunk(pa.array(texts_of(value, reading, where), pa.string()))
        return _with_labels(column, held, name, reading)
    if kind == "LGL":
        return _chunk(_numbers(value.value, pa.bool_())), None
    if "Date" in classes:
        return _dates(_as_floats(value), name, reading), None
    if "POSIXct" in classes:
        return _moments(_as_floats(value), held.get("tzone"), name, reading), None
    if "difftime" in classes:
        units = texts_of(held["units"], reading, where)[0] if "units" in held else "secs"
        micros = _micros(_as_floats(value) * _SECONDS.get(str(units), 1.0), "duration", name, reading)
        return _chunk(micros.cast(pa.duration("us"))), None
    if "integer64" in classes:
        whole = value.value.view(np.int64)
        return _chunk(pa.array(whole, pa.int64(), mask=whole == np.iinfo(np.int64).min)), None
    if kind == "INT":
        return _with_labels(_chunk(_numbers(value.value.astype(np.int64), pa.int64())), held, name, reading)
    return _doubles(value.value, held, name, reading)


def _scalar(value: Any) -> Any:
    """Return a whole number, which R stores as a double, as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_ASCII = 64
_ATTRIBUTES = ("LIST", "NILVALUE")


def _encoding(flags: int, reading: RReading) -> str:
    if flags & _UTF8:
        return "utf-8"
    # What R calls latin1 is the Windows code page on Windows, where the two differ.
    return "cp1252" if flags & _LATIN1 else reading.encoding


def _is_wide(held: dict[str, Any]) -> bool:
    dim = held.get("dim")
    return dim is not None and isinstance(dim.value, np.ndarray) and bool((dim.value[1:] != 1).any())


def _spoken(kind: str, classes: Sequence[str]) -> str:
    named = {"VEC": "lists", "CPLX": "complex numbers", "RAW": "raw bytes"}.get(kind, f"values of R's type {kind}")
    return f"{classes[0]} values" if classes else named


def _refusal(name: str, held: str, reading: RReading) -> Callable[[], pa.ChunkedArray]:
    def refuse() -> pa.ChunkedArray:
        raise DataError(
            f"{reading.label}: column {name!r} holds {held}, not one value per record; leave it out or convert it in R"
        )

    return refuse


def _chunk(values: pa.Array) -> pa.ChunkedArray:
    return normalise(pa.chunked_array([values]), "", "")


def _numbers(values: Any, kind: pa.DataType) -> pa.Array:
    mask = np.ma.getmaskarray(values)
    return pa.array(np.ma.getdata(values), kind, mask=mask)


def _as_floats(value: Any) -> Floats:
    """Return amounts as doubles; NaN for a gap (sums with R's NA raise warnings)."""
    amounts = np.ma.getdata(value.value).astype(np.float64)
    return np.where(np.ma.getmaskarray(value.value) | np.isnan(amounts), np.nan, amounts)


def _factor(
    value: Any, levels: Any, name: str, ordered: bool, reading: RReading
) -> tuple[pa.ChunkedArray, Variable | None]:
    texts = texts_of(levels, reading, f"a level of column {name!r}")
    absent = np.ma.getmaskarray(value.value)
    codes = np.where(absent, 0, np.ma.getdata(value.value).astype(np.int64))
    # Levels are numbered from 1; 0 is not a gap, which R stores as another number.
    outside = np.flatnonzero(~absent & ((codes < 1) | (codes > len(texts))))
    if len(outside):
        raise FileError(
            f"{reading.label}: column {name!r}, record {outside[0] + 1}: the factor has no level of number "
            f"{codes[outside[0]]}; the file is damaged"
        )
    # A level may be NA: its records have a gap.
    is_gap = (codes == 0) | np.array([True, *(text is None for text in texts)])[codes]
    kept = [text for text in texts if text is not None]
    place = np.cumsum([0, *(text is not None for text in texts)]) - 1
    indices = pa.array(place[codes].astype(np.int32), pa.int32(), mask=is_gap)
    column = normalise(
        pa.chunked_array([pa.DictionaryArray.from_arrays(indices, text_array(kept))]), name, reading.label
    )
    declared = ordered or declare_an_order(kept, np.where(is_gap, -1, place[codes]))
    kind = "ordered" if ordered else "categorical"
    return column, Variable(name, kind=kind, levels=tuple(kept) if declared else None)  # type: ignore[arg-type]


def _dates(days: Floats, name: str, reading: RReading) -> pa.ChunkedArray:
    possible = _possible(days, _DAYS_OF_A_DATE, "date", name, reading)
    whole = np.floor(np.where(possible, days, 0)).astype(np.int32)
    return _chunk(pa.array(whole, pa.int32(), mask=~possible).cast(pa.date32()))


def _micros(seconds: Floats, what: str, name: str, reading: RReading) -> pa.Array:
    possible = _possible(seconds, _SECONDS_OF_A_TIME, what, name, reading)
    return pa.array(np.round(np.where(possible, seconds, 0) * 1e6).astype(np.int64), pa.int64(), mask=~possible)


def _moments(seconds: Floats, zone: Any, name: str, reading: RReading) -> pa.ChunkedArray:
    micros = _micros(seconds, "time", name, reading)
    named = texts_of(zone, reading, f"the time zone of column {name!r}")[:1] if zone is not None else []
    # Without a zone R shows the local time of its machine, which the file does not state.
    kept = _known_zone(named[0]) if named and named[0] else None
    return _chunk(micros.cast(pa.timestamp("us", kept)))


def _known_zone(name: str | None) -> str:
    """Return the name of the time zone; UTC if it is unknown here (the moment is the same in any zone)."""
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(str(name)).key
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


def _possible(amounts: Floats, limit: int, what: str, name: str, reading: RReading) -> NDArray[np.bool_]:
    """Return which records (n,) have a value; impossible values become gaps, with a warning."""
    possible = np.isfinite(amounts) & (np.abs(amounts) < limit)
    say_impossible(reading.label, name, what, np.flatnonzero(~possible & ~np.isnan(amounts)).tolist())
    return np.asarray(possible)


def _broken_down(value: Any, name: str, reading: RReading) -> pa.ChunkedArray:
    """Return times that are stored as year, month, day, hour, minute and second."""
    parts = dict(zip(names_of(value, reading), value.value, strict=False))
    wanted = ("year", "mon", "mday", "hour", "min", "sec")
    if not all(part in parts for part in wanted):
        raise FileError(f"{reading.label}: column {name!r}: a POSIXlt lacks one of {', '.join(wanted)}; save it again")
    columns = [_as_floats(parts[part]) for part in wanted]
    n = max(len(column) for column in columns)
    together = np.stack([np.resize(column, n) for column in columns])
    known = np.isfinite(together).all(axis=0)
    year, month, day, hour, minute, second = np.where(known, together, 0)
    months = ((year - 70) * 12 + month).astype(np.int64)
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    seconds = (days + day - 1) * 86400.0 + hour * 3600 + minute * 60 + second
    offset = _as_floats(parts["gmtoff"]) if "gmtoff" in parts else np.zeros(1)
    zone = attributes_of(value).get("tzone")
    if len(offset) == n and np.isfinite(offset[known]).all():
        seconds = seconds - np.where(known, offset, 0)
    elif zone is not None and texts_of(zone, reading, "the time zone")[0] not in ("", "UTC", "GMT", None):
        zone = None
    return _moments(np.where(known, seconds, np.nan), zone, name, reading)


def _doubles(
    values: Floats, held: dict[str, Any], name: str, reading: RReading
) -> tuple[pa.ChunkedArray, Variable | None]:
    letters = _letters(values)
    special = {letter: _letter(letter, name, reading) for letter in np.unique(letters[letters > 0]).tolist()}
    if not special and not held.keys() & {"labels", "na_values", "na_range"}:
        return _chunk(pa.array(values, pa.float64(), mask=np.isnan(values))), None
    amounts = values.copy()
    for letter, code in special.items():
        amounts[letters == letter] = code
    column = whole_numbers(pa.chunked_array([pa.array(amounts, pa.float64(), mask=np.isnan(amounts))]))
    return _with_labels(column, held, name, reading, letters=tuple(special.values()))


def _letters(values: Floats) -> NDArray[np.uint64]:
    """Return (n,) the letters of Stata or SAS (``.a``), which haven keeps in the bits of NA; 0 where there is none."""
    bits = values.view(np.uint64)
    return np.where(np.isnan(values) & ((bits & 0xFFFFFFFF) == _NA_WORD), (bits >> 32) & 0xFF, 0)


def _letter(letter: int, name: str, reading: RReading) -> int:
    try:
        return letter_code(chr(letter))
    except ValueError:
        raise DataError(
            f"{reading.label}: column {name!r} has gaps tagged {chr(letter)!r}; only letters can be kept apart"
        ) from None


def _with_labels(
    column: pa.ChunkedArray, held: dict[str, Any], name: str, reading: RReading, letters: tuple[int, ...] = ()
) -> tuple[pa.ChunkedArray, Variable | None]:
    """Return the column with value labels and user missing values, as haven and labelled store them."""
    labels: dict[Any, str] = {code: f".{letter_of(code)}" for code in letters}
    if "labels" in held:
        labels |= _labels(held["labels"], name, reading)
    special = {*letters, *_declared_missing(column, held)}
    if not labels and not special:
        return column, None
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
    return labelled_column(name, column, labels, sorted(special, key=code_order), False, reading.label)


def _labels(labels: Any, name: str, reading: RReading) -> dict[Any, str]:
    texts = [str(text or "") for text in names_of(labels, reading)]
    if isinstance(labels.value, list):
        codes: list[Any] = texts_of(labels, reading, f"a labelled value of column {name!r}")
    elif isinstance(labels.value, np.ndarray):
        codes = _codes(labels.value, name, reading)
    else:
        return {}
    return {code: text for code, text in zip(codes, texts, strict=False) if code is not None}


def _codes(values: Any, name: str, reading: RReading) -> list[Any]:
    if values.dtype != np.float64:
        return [None if one is np.ma.masked else int(one) for one in values]
    codes: list[Any] = []
    for number, letter in zip(values.tolist(), _letters(values).tolist(), strict=True):
        if np.isnan(number):
            codes.append(_letter(letter, name, reading) if letter else None)
        else:
            codes.append(plain_code(number) if np.isfinite(number) else number)
    return codes


def _declared_missing(column: pa.ChunkedArray, held: dict[str, Any]) -> set[Any]:
    """Return the user missing values of SPSS: single values, and values of the file in a declared range."""
    found: set[Any] = set()
    if "na_values" in held and isinstance(held["na_values"].value, np.ndarray):
        found |= {plain_code(one) for one in np.ma.getdata(held["na_values"].value).tolist() if np.isfinite(one)}
    ends = held.get("na_range")
    if ends is not None and isinstance(ends.value, np.ndarray) and len(ends.value) == 2:
        low, high = np.ma.getdata(ends.value).tolist()
        occurring = [one for one in column.unique().to_pylist() if isinstance(one, int | float)]
        found |= {plain_code(one) for one in occurring if low <= one <= high and not letter_of(one)}
    return found
