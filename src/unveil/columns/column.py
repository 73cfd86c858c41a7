"""One variable of an original and its releases, coded jointly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.arrays import buffer_view
from unveil.files.counts import count_codes
from unveil.files.distinct import level_text, level_texts
from unveil.files.nearest import near_or_all
from unveil.files.source import Kind
from unveil.files.value_labels import Naming

MISSING = "Missing"
"""How a gap is called where levels are listed."""
_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Grouping:
    """How a numeric column was cut.

    Parameters
    ----------
    style
        "quantile"; "equal-width" where the quantiles gave fewer than three groups; "breaks", as they were given.
    breaks : (n_groups + 1,)
        Where the groups meet, with the digits by which these values are exact.
    levels
        A label per group, then one per special code.
    cuts : (n_groups + 1,)
        The breaks as they decide the group, a rounding error away, as the reference program computes them: group ``i``
        holds ``cuts[i] <= value < cuts[i + 1]``, the last its upper end too. Of breaks that were given the first and
        last are infinite.
    """

    style: Literal["quantile", "equal-width", "breaks"]
    breaks: tuple[float, ...]
    levels: tuple[str, ...]
    cuts: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Style, breaks and labels as plain values."""
        return {"style": self.style, "breaks": list(self.breaks), "levels": list(self.levels)}


@dataclass(frozen=True)
class CodedColumn:
    """One variable of an original and its releases as integer codes over the union of their levels.

    Parameters
    ----------
    name
        The column's name.
    kind
        What the values are; see :data:`unveil.files.source.KINDS`.
    levels
        The distinct values of all files in ascending, or declared, order; without the gap.
    has_gap
        Whether a record of any file has no value; its code is ``len(levels)``.
    original : (n,) int32
        Code of each original record.
    releases : tuple of (n_r,) int32
        Codes of the records of each release.
    special
        Codes of levels that are special codes, ascending.
    notes
        What was harmonised, and what deserves a look.
    naming
        Codes by which labels may be called, or labels by which codes may be.
    grouping
        How its amounts were cut into groups; None where its levels are those of the files.
    """

    name: str
    kind: Kind
    levels: pa.Array
    has_gap: bool
    original: NDArray[np.int32]
    releases: tuple[NDArray[np.int32], ...]
    special: tuple[int, ...] = ()
    notes: tuple[str, ...] = field(default=())
    naming: Naming = field(default=Naming())
    grouping: Grouping | None = None

    @property
    def n_levels(self) -> int:
        """Number of levels, the gap included."""
        return len(self.levels) + self.has_gap

    @property
    def gap(self) -> int | None:
        """Code of the gap, or None where no record has one."""
        return len(self.levels) if self.has_gap else None

    @property
    def without_value(self) -> tuple[int, ...]:
        """Codes of the levels that are a gap."""
        return () if self.gap is None else (self.gap,)

    def part(self, records: NDArray[np.intp], releases: Sequence[int]) -> CodedColumn:
        """The column of some original records and some releases."""
        return replace(self, original=self.original[records], releases=tuple(self.releases[i] for i in releases))

    def last_as_original(self) -> CodedColumn:
        """The same column with the records of its last file in the place of the original ones."""
        return replace(self, original=self.releases[-1], releases=self.releases[:-1])

    @cached_property
    def is_special(self) -> NDArray[np.bool_]:
        """Per level, the gap included, whether it is a special code."""
        special = np.zeros(self.n_levels, dtype=bool)
        special[list(self.special)] = True
        return special

    @cached_property
    def amounts(self) -> NDArray[np.float64]:
        """The amount that each level is, the gap included: NaN where it is none.

        Numbers are amounts as they are, dates and times in days since 1970. A gap, a special code and an infinite
        value are no amounts, nor is any level of a column that is neither numeric nor of dates or times.
        """
        amounts = np.full(self.n_levels, np.nan)
        if self.kind in ("numeric", "date", "datetime") and (numbers := numbers_of(self.levels)) is not None:
            amounts[: len(numbers)] = np.where(np.isfinite(numbers), numbers, np.nan)
            amounts[self.is_special] = np.nan
        return amounts

    @cached_property
    def is_amount(self) -> NDArray[np.bool_]:
        """Per level, the gap included, whether it is an amount."""
        return ~np.isnan(self.amounts)

    @property
    def has_amounts(self) -> bool:
        """Whether any level is an amount."""
        return bool(self.is_amount.any())

    @cached_property
    def infinite(self) -> tuple[int, ...]:
        """Codes of infinite numbers that are no special codes, ascending."""
        numbers = numbers_of(self.levels)
        if numbers is None:
            return ()
        return tuple(np.flatnonzero(np.isinf(numbers) & ~self.is_special[: len(numbers)]).tolist())

    @cached_property
    def counts(self) -> tuple[NDArray[np.intp], ...]:
        """Number of records per level, those without a value last: of the original, then of each release."""
        files = (self.original, *self.releases)
        return tuple(count_codes(codes, len(self.levels) + 1) for codes in files)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A text per level; the gap is the last and reads :data:`MISSING`."""
        texts = tuple(level_texts(self.levels))
        if not self.has_gap:
            return texts
        gap = MISSING
        while gap in texts:
            gap += " (no value)"
        return (*texts, gap)

    def label(self, code: int) -> str:
        """The text of one level."""
        if code == len(self.levels):
            return self.labels[code]
        return level_texts(self.levels[code : code + 1])[0]

    def code_of(self, level: object) -> int:
        """Code of a level given as a value, as its text, as its code or label, or as None for the gap.

        A text that is a level as it is printed is that level, also where it reads like the code of another.

        Raises
        ------
        CallError
            If neither file has the level; near matches are listed.
        """
        if level is None or (isinstance(level, float) and np.isnan(level)):
            if self.has_gap:
                return len(self.levels)
            raise CallError(f"column {self.name!r} has no missing values")
        found = next((self._codes[text] for text in self._spellings(level) if text in self._codes), None)
        if found is None:
            known = dict.fromkeys([*self.labels, *self.naming.by_label])
            raise CallError(
                f"column {self.name!r} has no level {level!r}{near_or_all(str(level), known, 'its levels are')}"
            )
        return found

    def _spellings(self, level: object) -> Iterator[str]:
        named = self.naming.of(level)
        if named is not None and not isinstance(level, str):
            yield named
        text = level if isinstance(level, str) else level_text(level)
        midnight = " 00:00:00"
        yield from (text, text + midnight, text.removesuffix(midnight))
        if named is not None:
            yield named

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}


def are_numbers(levels: pa.Array) -> bool:
    """Whether the levels are numbers."""
    return bool(pt.is_integer(levels.type) or pt.is_floating(levels.type))


def numbers_of(levels: pa.Array) -> NDArray[np.float64] | None:
    """The levels as numbers: numbers as they are, dates and times in days since 1970, None for anything else.

    Examples
    --------
    >>> import datetime
    >>> numbers_of(pa.array([datetime.date(1970, 1, 3)])), numbers_of(pa.array(["a"])) is None
    (array([2.]), True)
    """
    if are_numbers(levels):
        return buffer_view(levels.cast(pa.float64(), safe=False), np.float64)
    if pt.is_date(levels.type):
        return buffer_view(levels.cast(pa.int32()), np.int32).astype(np.float64)
    if pt.is_timestamp(levels.type):
        microseconds = levels.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return buffer_view(microseconds, np.int64).astype(np.float64) / 1e6 / _SECONDS_PER_DAY
    return None
