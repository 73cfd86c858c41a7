"""Values that the other file lacks: their share of the records, and whether it is larger than usual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.units import UnitColumn
from unveil.notes import Note

Counts = NDArray[np.intp]

NOTED = 0.05
"""A share gives a note only if it is larger than usual by more than this share of the records."""
_DEVIATIONS = 4
_BY_CHANCE = math.log(1 / 2000)
_LOG_OF_ZERO = -746.0
"""The exponential of a smaller number is 0."""


@dataclass(frozen=True)
class Share:
    """A share of records whose value the other file lacks.

    Parameters
    ----------
    found
        The share.
    usual, variance
        Mean and variance of the share between random parts of the original.
    n, n_base
        Number of records of the share, and number of records from which ``usual`` is computed.
    """

    found: float
    usual: float
    variance: float
    n: int
    n_base: int

    @property
    def noted(self) -> bool:
        """Whether the share is so much larger than usual that it gives a note.

        The usual share is known only from ``n_base`` records: it is taken as beta with half a record added to either
        side, and the number of records as beta-binomial; ``variance`` is added, because all records of a value come and
        go together. The limit is the mean, four standard deviations and a twentieth of the records.
        """
        if not self.n:
            return False
        mean = (self.n_base * self.usual + 0.5) / (self.n_base + 1)
        spread = mean * (1 - mean) / (self.n_base + 2) * (1 + (self.n_base + 1) / self.n)
        sd = math.sqrt(spread + self.variance)
        return self.found > mean + _DEVIATIONS * sd + NOTED


@dataclass(frozen=True, eq=False)
class Unmatched:
    """The values of one column that one release and the original do not share.

    Parameters
    ----------
    column
        The column, as it is compared.
    number
        Number of the release.
    """

    column: CodedColumn
    number: int

    @property
    def _counts(self) -> tuple[Counts, Counts]:
        return self.column.counts[0], self.column.counts[self.number + 1]

    @cached_property
    def levels(self) -> tuple[Counts, Counts]:
        """Codes that only the original has, and codes that only the release has; a gap counts as a value."""
        d, s = self._counts
        return np.flatnonzero((d > 0) & (s == 0)), np.flatnonzero((s > 0) & (d == 0))

    @cached_property
    def original(self) -> Share:
        """Share of the original's records."""
        d, s = self._counts
        n, m = int(d.sum()), int(s.sum())
        return Share(_part(d[self.levels[0]], n), *expected_share(d, min(m, n // 2)), n, n)

    @cached_property
    def release(self) -> Share:
        """Share of the release's records."""
        d, s = self._counts
        n, m = int(d.sum()), int(s.sum())
        return Share(_part(s[self.levels[1]], m), *expected_share(d, n // 2), m, n)

    @cached_property
    def masks(self) -> tuple[float, float]:
        """Shares of the original's and the release's records with a value that stands for others; 0 without it.

        This is the most frequent of the values that the other file lacks, if chance does not explain it
        (:func:`stands_for_others`): a value with many records is hardly ever in one file only.
        """
        (alone, new), (d, s) = self.levels, self._counts
        n, m = int(d.sum()), int(s.sum())
        of_original, of_release = int(d[alone].max(initial=0)), int(s[new].max(initial=0))
        return (
            of_original / n if stands_for_others(of_original, n, m) else 0.0,
            of_release / m if stands_for_others(of_release, m, n) else 0.0,
        )

    @property
    def noted(self) -> bool:
        """Whether one of the shares gives a note."""
        return self.original.noted or self.release.noted or any(self.masks)

    @property
    def nothing_in_common(self) -> bool:
        """Whether both files have values, and not one of them in common."""
        d, s = (counts[:-1] for counts in self._counts)
        return bool(d.any() and s.any() and not ((d > 0) & (s > 0)).any())

    @cached_property
    def beyond(self) -> Share | None:
        """Share of the release's amounts beyond the range of the original's; None without amounts to compare."""
        column = self.column
        amounts = column.amounts
        d, s = (counts[: column.n_levels] * column.is_amount for counts in self._counts)
        if not d.any() or not s.any():
            return None
        low, high = amounts[d > 0].min(), amounts[d > 0].max()
        n, m = int(d.sum()), int(s.sum())
        # Probability that a new amount is the smallest or largest of all.
        return Share(_part(s[(amounts < low) | (amounts > high)], m), 2 / (n + 1), 0.0, m, n)


def _part(counts: Counts, n: int) -> float:
    return int(counts.sum()) / n if n else math.nan


def shares_of(column: CodedColumn, n_releases: int) -> dict[str, Any]:
    """Return the shares of a column as plain values, for the original and each release.

    ``original`` is the share of the original's records whose value no release has, ``original_by_release`` the share
    whose value this release lacks, ``releases`` the share of each release's records whose value the original lacks.
    """
    d, *releases = column.counts[: n_releases + 1]
    each = [Unmatched(column, r) for r in range(n_releases)]
    held = np.any([s > 0 for s in releases], axis=0)
    return {
        "original": _part(d[~held], int(d.sum())),
        "original_by_release": [one.original.found for one in each],
        "releases": [one.release.found for one in each],
    }


def apart_of(column: CodedColumn, labels: Sequence[str], *, by_amount: bool = False) -> list[Note]:
    """Return notes on releases without a value in common with the original; see :func:`notes_of`."""
    amounts = column.of_rows if isinstance(column, UnitColumn) else column
    if by_amount and amounts.has_amounts:
        return []
    original, *releases = labels
    each = [(Unmatched(column, number), label) for number, label in enumerate(releases)]
    return [_nothing(one, original, label) for one, label in each if one.nothing_in_common]


def notes_of(column: CodedColumn, labels: Sequence[str], *, by_amount: bool = False) -> list[Note]:
    """Return notes on values that the files do not share.

    Parameters
    ----------
    column
        The coded column.
    labels
        Names of the original and the releases.
    by_amount
        Whether amounts are compared by their distance, so that they need not be equal.
    """
    original, *releases = labels
    found = []
    for number, label in enumerate(releases):
        one = Unmatched(column, number)
        if by_amount and column.has_amounts:
            found += _beyond(one, original, label)
        elif one.nothing_in_common:
            found.append(_nothing(one, original, label))
        elif one.noted:
            found.append(_noted(one, original, label))
    return found


def _nothing(one: Unmatched, original: str, label: str) -> Note:
    name = one.column.name
    # The note quotes no value of the original, and the smallest of the release, which does not show the records' order.
    first = one.column.label(int(one.levels[1][0]))
    text = f"column {name!r}: no value of {original} occurs in {label}"
    hint = _unit(one) or ""
    return Note(
        f"{text} (which holds {first!r}, for example); nothing can match{hint}", f"{text}; nothing can match{hint}"
    )


def _noted(one: Unmatched, original: str, label: str) -> Note:
    name = one.column.name
    parts: list[str] = []
    of_original, of_release = one.masks
    sides = (one.release, of_release, label, original), (one.original, of_original, original, label)
    for share, mask, own, other in sides:
        if share.noted:
            parts.append(f"{_percent(share.found)} of the records of {own} hold values that no record of {other} has")
        elif mask:
            held = f"{_percent(mask)} of the records of {own} hold one and the same value, or a gap,"
            parts.append(f"{held} that no record of {other} has")
    public = f"column {name!r}: many records hold values that are in one of {original} and {label} only"
    hint = _hint(one, original, label)
    return Note(f"column {name!r}: {', and '.join(parts)}{hint}", public)


def _beyond(one: Unmatched, original: str, label: str) -> list[Note]:
    share = one.beyond
    if share is None or not share.noted:
        return []
    name = one.column.name
    beyond = f"hold amounts beyond the range of {original}{_UNIT}"
    return [
        Note(
            f"column {name!r}: {_percent(share.found)} of the records of {label} that have an amount {beyond}",
            f"column {name!r}: many records of {label} {beyond}",
        )
    ]


_UNIT = "; look whether both are in the same unit"
_ALIKE = (
    "if it was masked, rounded, coarsened or written in another way, treat the original alike before it is measured"
)


def _unit(one: Unmatched) -> str | None:
    """Return a hint at units if most of the amounts that the original lacks are beyond its range."""
    share = one.beyond
    return _UNIT if share is not None and share.noted and share.found > one.release.found / 2 else None


def _hint(one: Unmatched, original: str, label: str) -> str:
    """Return a possible reason for different values."""
    column = one.column
    alone, new = one.levels
    gap = len(column.levels)
    for codes, other in ((new, original), (alone, label)):
        if list(codes) == [gap]:
            return (
                f"; these are gaps, and every record of {other} has a value: if a code stands for the gap there, name "
                "it (missing, or the schema); where values were left out, nothing matches"
            )
        if len(codes) and set(codes) <= set(column.special):
            return f"; these are special codes: if the gaps of {other} mean the same, write them alike"
    if unit := _unit(one):
        return unit
    if _same_numbers(column, alone, new):
        return "; some read like the same numbers written in another way: write them alike"
    groups = "" if column.kind != "numeric" else ", or compare groups of values (ngroups)"
    return f"; {_ALIKE}{groups}"


def _same_numbers(column: CodedColumn, alone: Counts, new: Counts) -> bool:
    """Whether a file lacks texts because it has the same numbers in another spelling."""
    if not pt.is_string(column.levels.type):
        return False
    one, other = ({_number(column.label(int(code))) for code in codes if code < len(column.levels)}
                  for codes in (alone, new))  # fmt: skip
    return bool((one & other) - {None})


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _percent(share: float) -> str:
    """Return a share in percent that reads 100 only for all records."""
    shown = round(100 * share)
    return "more than 99 %" if shown == 100 and share < 1 else f"{shown} %"


def stands_for_others(count: int, n: int, n_other: int) -> bool:
    """Whether chance cannot explain that ``count`` of n records share a value that none of the others has.

    If all records came from one population, all ``count`` records of a value would be among the n by the probability
    ``C(n, count) / C(N, count)``, with ``N = n + n_other``, and at most ``N / count`` values have so many records. True
    if the product is below 1 in 2000 and the count is above a twentieth of n.

    Examples
    --------
    >>> stands_for_others(20, 40, 40), stands_for_others(5, 40, 40)
    (True, False)
    """
    if count <= NOTED * n or not n_other:
        return False
    total = n + n_other
    log = math.lgamma(n + 1) - math.lgamma(n - count + 1) - math.lgamma(total + 1) + math.lgamma(total - count + 1)
    return log + math.log(total / count) < _BY_CHANCE


def expected_share(counts: Counts, m: int) -> tuple[float, float]:
    """Return mean and variance of the share of records whose value none of m other records of the file has.

    With c of the n records that have the value and ``q = C(n - c, m) / C(n - 1, m)``, the mean is ``sum c / n q`` over
    the values, and the variance about ``sum (c / n)^2 q (1 - q)``. With ``m = n / 2`` it is the share of a random
    half's records whose value the other half lacks.

    Examples
    --------
    >>> mean, variance = expected_share(np.array([1, 1, 2]), 2)
    >>> round(mean, 4), round(variance, 4)
    (0.6667, 0.0556)
    """
    # Values with equally many records are alike.
    largest = int(counts.max(initial=0))
    if largest <= len(counts):
        n_values = np.bincount(counts)
        counts = np.flatnonzero(n_values[1:]) + 1
        n_values = n_values[counts]
    else:
        counts, n_values = np.unique(counts[counts > 0], return_counts=True)
    n = int(counts @ n_values)
    if n == 0:
        return 0.0, 0.0
    with np.errstate(divide="ignore"):
        # The probability falls at least as fast as with the first step: beyond this place it is 0 in floating point.
        first = np.log(max(n - 1 - m, 0)) - np.log(max(n - 1, 1))
        reach = min(largest - 1, int(_LOG_OF_ZERO / first) + 1 if first < 0 else largest)
        i = np.arange(reach)
        # probability that the i-th record with the same value is not among the m, given those before it
        steps = np.log(np.maximum(n - 1 - m - i, 0)) - np.log(n - 1 - i)
    alone = np.exp(np.concatenate([[0.0], np.cumsum(steps), [-np.inf]]))
    share, missed = counts / n, alone[np.minimum(counts - 1, reach + 1)]
    return float(n_values @ (share * missed)), float(n_values @ (share**2 * missed * (1 - missed)))
