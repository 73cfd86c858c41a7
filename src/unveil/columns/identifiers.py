"""Identifiers: columns that only number or name the records, or the units that records belong to.

The values show an identifier: (nearly) all are different although they are not amounts, or their counts are more equal
than those of random draws.
"""

from __future__ import annotations

import math
import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.counted import held_values
from unveil.engines.engine import CountedValues
from unveil.engines.raw_values import GAP
from unveil.files.arrays import from_numpy
from unveil.files.distinct import distinct_of
from unveil.files.source import Source

FEWEST = 20
"""Least number of records, or values, to recognise an identifier by its values."""
NEARLY_ALL = 0.95
MOST_EACH = 20
"""Largest average number of records of a value that may be the number of a person or household."""
_EXPECTED_TWINS = 10
_TWINS = 0.1
_TOO_EVEN = -5
"""Standard deviations below the expectation of independent draws from which on values count as assigned in turn."""
_ANYWHERE = {
    "id", "ids", "uid", "uuid", "guid", "pid", "hid", "hhid", "pnr", "personid", "persnr", "householdid", "caseid",
    "recordid", "rowid", "lfdnr", "ssn", "pesel", "iban", "identifier",
}  # fmt: skip
_OF_UNITS = {
    "person", "persons", "respondent", "individual", "household", "family", "case", "patient", "client", "customer",
    "user", "student", "pupil", "subject", "employee", "worker", "citizen", "resident", "member",
}  # fmt: skip
_AT_THE_END = _OF_UNITS | {
    "nr", "no", "num", "number", "nummer", "serial", "lfd", "index", "idx", "key", "record", "row", "account", "phone",
    "telephone", "email", "kennung",
}  # fmt: skip


@dataclass(frozen=True)
class Identifier:
    """A column that looks like an identifier.

    Parameters
    ----------
    of
        "record" if the values of (nearly) all records differ, "unit" if several records share a value.
    values, records
        Number of values, and of records with a value.
    """

    of: Literal["record", "unit"]
    values: int
    records: int

    @property
    def reason(self) -> str:
        """Why the column looks like an identifier, in words without numbers."""
        if self.of == "record":
            return "its values are no amounts, and differ from record to record"
        return "its values repeat as numbers of persons or households do"


def identifier_of(column: CodedColumn) -> Identifier | None:
    """Return the identifier that a column looks like by its values in the original; else None."""
    if column.kind == "ordered":
        return None
    counts = column.counts[0][: len(column.levels)].copy()
    counts[list(column.special)] = 0
    values = column.levels.filter(from_numpy(counts > 0))
    return identifier_in(column.name, values, counts[counts > 0], is_number=column.kind == "numeric")


def identifier_in_file(
    source: Source, name: str, counted: CountedValues | None = None, *, only_text: bool = False
) -> Identifier | None:
    """Return the identifier that a column of one file looks like; else None.

    Parameters
    ----------
    source
        The file.
    name
        The column.
    counted
        What an engine knows of the column, which is not read then.
    only_text
        Whether to return None for a column that is no text.

    Raises
    ------
    DataError
        If the column cannot be read.
    """
    if counted is None:
        found, weights = distinct_of(source, name), None
    elif source.batches is not None and _are_repeated_numbers(counted):
        return None
    else:
        found, held = held_values(counted, source, name)
        weights = counted.records[held]
    if only_text and found.family != "text":
        return None
    counts = np.bincount(found.codes, weights, len(found.values) + 1)[:-1].astype(np.int64)
    return identifier_in(name, found.values, counts, is_number=source.variable(name).kind in (None, "numeric"))


def _are_repeated_numbers(counted: CountedValues) -> bool:
    """Whether the values are whole numbers, and more records have each than may have the number of a unit."""
    records = counted.records[GAP + 1 :]
    return pt.is_integer(counted.values.type) and int(records.sum()) > MOST_EACH * int(np.count_nonzero(records))


def identifier_in(
    name: str, values: pa.Array, counts: NDArray[np.integer], *, is_number: bool = True
) -> Identifier | None:
    """Return the identifier that a column looks like; else None.

    Whole numbers without (many) equal values, in a range so narrow that independent numbers would have equal values,
    are assigned in turn: with p records in a range of R whole numbers at least ``p^2 / 2R`` equal pairs are expected.
    In a wide range they may be amounts, and the column's name decides. Texts, and times with fractions of a second, are
    not amounts. Numbers of persons or households with several records each repeat more evenly than independent draws,
    or have a name that shows it.

    Parameters
    ----------
    name
        The column's name.
    values
        Distinct values, without gaps and special codes.
    counts
        Number of records with each value.
    is_number
        Whether numbers may be amounts, and not codes.

    Examples
    --------
    >>> identifier_in("x", pa.array([f"{i:04}" for i in range(40)]), np.ones(40, dtype=int)).of
    'record'
    >>> identifier_in("age", pa.array(range(20, 60)), np.arange(1, 41)) is None
    True
    """
    n, d = int(counts.sum()), len(values)
    if n < FEWEST or d < FEWEST:
        return None
    values = _whole_if_all_are(values)
    kind = values.type
    whole, is_text = bool(pt.is_integer(kind)), bool(pt.is_string(kind) or pt.is_large_string(kind))
    different = d >= NEARLY_ALL * n
    if pt.is_timestamp(kind):
        found = different and _has_fractions(values)
    elif whole and is_number:
        found = (different and is_named_like_one(name)) or _without_twins(values, n, d)
    else:
        found = different and (whole or is_text)
    if found:
        return Identifier("record", d, n)
    if not (whole or is_text) or n > MOST_EACH * d:
        return None
    repeated = is_named_like_one(name, _OF_UNITS) or _dealt_evenly(values, counts, whole)
    return Identifier("unit", d, n) if repeated else None


def is_named_like_one(name: str, at_the_end: Set[str] = frozenset(_AT_THE_END)) -> bool:
    """Whether a column has the name of a number of persons or records.

    Parameters
    ----------
    name
        The column's name.
    at_the_end
        Words that show it at the end of a name, but not before another word ("household income").

    Examples
    --------
    >>> [is_named_like_one(name) for name in ("person_id", "PersonId", "serial no", "id_2020")]
    [True, True, True, True]
    >>> [is_named_like_one(name) for name in ("paid", "household income", "income per person", "number of rooms")]
    [False, False, False, False]
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = [word for word in re.split(r"[\W_\d]+", apart.lower()) if word]
    return bool(_ANYWHERE.intersection(words)) or bool(words and words[-1] in at_the_end and "per" not in words)


def _whole_if_all_are(values: pa.Array) -> pa.Array:
    """Return floating-point numbers as integers if all are whole."""
    if not pt.is_floating(values.type):
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        return values


def _has_fractions(moments: pa.Array) -> bool:
    """Whether most times have fractions of a second."""
    whole = pc.equal(pc.floor_temporal(moments, unit="second"), moments)
    return bool(pc.sum(pc.invert(whole)).as_py() > len(moments) / 2)


def _span(values: pa.Array) -> int:
    ends = pc.min_max(values).as_py()
    return int(ends["max"]) - int(ends["min"]) + 1


def _without_twins(values: pa.Array, n: int, d: int) -> bool:
    if n - d > (1 - NEARLY_ALL) * n:
        return False
    expected = n * n / (2 * _span(values))
    return expected >= _EXPECTED_TWINS and n - d <= _TWINS * expected


def _dealt_evenly(values: pa.Array, counts: NDArray[np.integer], whole: bool) -> bool:
    """Whether the numbers of records per value vary less than those of independent draws, which vary least if uniform.

    If whole numbers fill their range, numbers without a record count too; else only numbers that occur. The sum of
    squares is compared with its chi-square distribution, by the cube root (Wilson & Hilferty 1931).
    """
    n, d = int(counts.sum()), len(counts)
    span = _span(values) if whole else 0
    size = span if d <= span <= 2 * d else d
    mean = n / size
    if n < 1.5 * d:
        return False
    variance = mean if size == span else _variance_of_occurring(mean)
    squares = float(((counts - mean) ** 2).sum()) + (size - d) * mean**2
    freedom = size - 1
    spread = 2 / (9 * freedom)
    return bool(((squares / variance / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < _TOO_EVEN)


def _variance_of_occurring(mean: float) -> float:
    """Return the variance of a Poisson count that is at least 1, by its mean."""
    rate, before = mean, 0.0
    for _ in range(200):
        if rate == before:
            break
        rate, before = mean * -math.expm1(-rate), rate
    return mean * (1 + rate) - mean**2
