"""The keys of a study where an engine counts: ranges of key combinations, and all of them where they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Members
from unveil._tables.keyed_pair import KeyedPair
from unveil.columns.column import CodedColumn
from unveil.columns.combinations import KeyCombinations
from unveil.columns.counted import by_raw_code
from unveil.core import loop
from unveil.engines.engine import Engine
from unveil.engines.key_range import CodedValues, KeyRange
from unveil.errors import CallError

S = TypeVar("S")
_MOST_PAIRS = 1 << 20
"""Most pairs of levels that are counted for all ranges of keys, before it is known which of them matter."""
_MOST = 1 << 25
"""Most cells that are held at once for a measure that needs all of them."""
_tally_pairs = loop("tally_pairs", int, np.int64, np.int64, np.int64, np.int32, int, np.int64)


@dataclass(frozen=True)
class RangeOfKeys(KeyedPair):
    """Some key combinations of a study, with the cells of one target; see :class:`KeyedPair`.

    Parameters
    ----------
    range
        What was counted.
    by_level
        The original records by the level of one more column, if there is one.
    """

    range: KeyRange = field(kw_only=True)
    by_level: Members | None = None

    @cached_property
    def combinations(self) -> KeyCombinations:
        """The combinations and their counts; no record is known."""
        none = np.zeros(0, np.int64)
        tallies = self.range.tallies
        return KeyCombinations(self.range.size, none, (none,) * (len(tallies) - 1), tallies)

    def levels_of(
        self, q: NDArray[np.integer], columns: Sequence[CodedColumn] | None = None
    ) -> tuple[NDArray[np.int32], ...]:
        """The code of each key in some combinations."""
        assert columns is None, "of other columns no record is known"
        return tuple(levels[q] for levels in self.range.levels)

    def holding(self, column: CodedColumn, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Key combinations (size,) in which the key has one of some levels."""
        held: NDArray[np.bool_] = np.isin(self.range.levels[self.keys.index(column.name)], levels)
        return held

    def members(self, target: CodedColumn | None, by: CodedColumn) -> Members:
        """The original records by their cell and the level of the column that they were counted by."""
        assert self.by_level is not None
        return self.by_level

    def blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """Counts per key combination and target level, of the original and one release."""
        one = self.range
        d, s = one.counts[0], one.counts[1 + release]
        if len(one.counts) == 2:
            # A cell that is here has records in one of the two.
            yield Cells(one.q, one.t, d, s)
            return
        held = np.flatnonzero(d + s)
        yield Cells(one.q[held], one.t[held], d[held], s[held])

    def shared_blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """All of them: to leave records out that are alone with their keys would take longer than to count them."""
        yield from self.blocks(target, release)

    def alone(self, release: int) -> tuple[int, int]:
        """Number of original and of synthetic records that :meth:`shared_blocks` leaves out."""
        return 0, 0

    def original_by_level(self, target: CodedColumn) -> NDArray[np.int64]:
        """Number of original records (n_levels,) of each level of the target, in these combinations."""
        return np.bincount(self.range.t, self.range.counts[0], target.n_levels).astype(np.int64)

    def original_pairs(self, target: CodedColumn) -> tuple[NDArray[np.int64] | None, ...]:
        """Per key the number of original records of all pairs of levels; None where there are too many pairs."""
        one, found = self.range, []
        for column, levels in zip(self.columns, one.levels, strict=True):
            n_pairs = column.n_levels * target.n_levels
            counts = None if n_pairs > _MOST_PAIRS else np.zeros(n_pairs, np.int64)
            if counts is not None:
                _tally_pairs(
                    len(one.q), *map(np.ascontiguousarray, (one.q, one.t, one.counts[0], levels)), target.n_levels,
                    counts,
                )  # fmt: skip
            found.append(counts)
        return tuple(found)

    def original_by_pair(self, key: int, target: CodedColumn, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of original records (k,) of some pairs (key level, target level) in these combinations."""
        codes = self.range.levels[key][self.range.q].astype(np.int64) * target.n_levels + self.range.t
        at = np.minimum(np.searchsorted(pairs, codes), len(pairs) - 1)
        found = pairs[at] == codes
        return np.bincount(at[found], self.range.counts[0][found], len(pairs)).astype(np.int64)


@dataclass(frozen=True)
class CountedKeys(KeyedPair):
    """All keys of a study whose records an engine counts; see :class:`KeyedPair`.

    Parameters
    ----------
    engine
        What counts.
    """

    engine: Engine = field(kw_only=True)
    _kept: dict[str | None, RangeOfKeys] = field(default_factory=dict, repr=False, compare=False)

    def total(
        self, targets: Sequence[CodedColumn | None], measures: Sequence[Callable[[KeyedPair], S]], *,
        by: CodedColumn | None = None,
    ) -> list[S]:  # fmt: skip
        """For each target what its measure finds, added up over all ranges of keys."""
        levels = None if by is None else by.n_levels
        return self.engine.total(
            by_raw_code(self.columns),
            [by_raw_code([one for one in (target, by) if one is not None]) for target in targets],
            [self._on_range(one, levels) for one in measures],
        )

    def told(self, target: CodedColumn | None, flags: Callable[[KeyedPair], Mapping[str, Any]]) -> pa.Table:
        """What is said of each original record, with its number.

        Parameters
        ----------
        target
            The target; None for the keys alone.
        flags
            Function from keys to what is said of the records of each cell that the original has.
        """
        return pa.concat_tables(self.engine.flags(*self._of_cells(target), self._on_range(flags)))

    def write_told(
        self, target: CodedColumn | None, flags: Callable[[KeyedPair], Mapping[str, Any]], path: str, *, overwrite: bool
    ) -> None:  # fmt: skip
        """Write the same as Parquet, without having all of it here."""
        self.engine.write_flags(*self._of_cells(target), self._on_range(flags), path, overwrite=overwrite)

    def _on_range(self, measure: Callable[[KeyedPair], Any], by_levels: int | None = None) -> OnRange:
        return OnRange(self.columns, self.keys, self.use_keys_na, measure, by_levels)

    def _of_cells(self, target: CodedColumn | None) -> tuple[list[CodedValues], list[CodedValues]]:
        return by_raw_code(self.columns), by_raw_code([] if target is None else [target])

    def whole(self, target: CodedColumn | None) -> RangeOfKeys:
        """All combinations at once, with the cells of a target.

        Raises
        ------
        CallError
            If there are too many cells.
        """
        # A target without a name is one that everybody shares.
        name = target.name if target is not None and target.name else None
        if name not in self._kept:
            (found,) = self.total([None if name is None else target], [_gather])
            self._kept[name] = RangeOfKeys(
                self.pair, self.keys, self.columns, self.use_keys_na, self.ungrouped, range=found.joined()
            )
        return self._kept[name]

    @cached_property
    def combinations(self) -> KeyCombinations:
        """The combinations and their counts; no record is known."""
        return self.whole(None).combinations

    def levels_of(
        self, q: NDArray[np.integer], columns: Sequence[CodedColumn] | None = None
    ) -> tuple[NDArray[np.int32], ...]:
        """The code of each key in some combinations."""
        return self.whole(None).levels_of(q, columns)

    def holding(self, column: CodedColumn, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Key combinations (size,) in which the key has one of some levels."""
        return self.whole(None).holding(column, levels)

    def blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """Counts per key combination and target level, of the original and one release."""
        yield from self.whole(target).blocks(target, release)

    def shared_blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """The same of combinations that several records of both files have together."""
        yield from self.whole(target).shared_blocks(target, release)

    def alone(self, release: int) -> tuple[int, int]:
        """Number of original and of synthetic records that :meth:`shared_blocks` leaves out."""
        return self.whole(None).alone(release)

    def original_by_pair(self, key: int, target: CodedColumn, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of original records (k,) of some pairs (key level, target level), which ascend."""
        column = self.columns[key]
        # The other keys would only make more combinations to count.
        alone = OnRange((column,), (column.name,), self.use_keys_na, _OriginalPairs(0, target, pairs))
        found: list[NDArray[np.int64]] = self.engine.total(by_raw_code([column]), [by_raw_code([target])], [alone])
        return found[0]


@dataclass(frozen=True)
class OnRange:
    """A measure of keys, as a measure of a range that an engine has counted.

    Parameters
    ----------
    columns, keys, use_keys_na
        The keys of the study; see :class:`KeyedPair`.
    measure
        Function from the keys to what adds up.
    by_levels
        Number of levels of the last column beside the keys, by which records are grouped; None without one.
    """

    columns: tuple[CodedColumn, ...]
    keys: tuple[str, ...]
    use_keys_na: Any
    measure: Callable[[KeyedPair], Any]
    by_levels: int | None = None

    def __call__(self, found: KeyRange) -> Any:
        """Measure the range."""
        nowhere: Any = None
        members = None
        if self.by_levels is not None:
            every = found
            found, level = every.split(self.by_levels)
            held = np.flatnonzero(every.counts[0])
            members = Members(every.q[held], every.t[held] // self.by_levels, level[held], every.counts[0][held])
        return self.measure(
            RangeOfKeys(nowhere, self.keys, self.columns, self.use_keys_na, range=found, by_level=members)
        )


@dataclass(frozen=True)
class _OriginalPairs:
    """:meth:`KeyedPair.original_by_pair` as a measure."""

    key: int
    target: CodedColumn
    pairs: NDArray[np.int64]

    def __call__(self, part: KeyedPair) -> NDArray[np.int64]:
        return part.original_by_pair(self.key, self.target, self.pairs)


@dataclass(frozen=True)
class _Ranges:
    """Ranges of keys, to be joined."""

    parts: tuple[KeyRange, ...]

    def __add__(self, other: _Ranges) -> _Ranges:
        both = _Ranges((*self.parts, *other.parts))
        if sum(len(part.q) for part in both.parts) > _MOST:
            raise CallError(
                f"this needs all cells of keys and target at once, and there are more than {_MOST}; name fewer keys, "
                "or cut numeric ones into groups (ngroups_keys, ngroups_target)"
            )
        return both

    def joined(self) -> KeyRange:
        """All of them as one, in the order of the codes of the keys, whatever the order of the ranges."""
        first = np.cumsum([0, *(part.size for part in self.parts)])
        levels = tuple(map(np.concatenate, zip(*(part.levels for part in self.parts), strict=True)))
        order = np.lexsort(levels[::-1])
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        q = place[np.concatenate([part.q + start for part, start in zip(self.parts, first[:-1], strict=True)])]
        cells = np.argsort(q, kind="stable")
        counts = map(np.concatenate, zip(*(part.counts for part in self.parts), strict=True))
        return KeyRange(
            tuple(one[order] for one in levels), q[cells], np.concatenate([part.t for part in self.parts])[cells],
            tuple(one[cells] for one in counts),
        )  # fmt: skip


def _gather(part: KeyedPair) -> _Ranges:
    assert isinstance(part, RangeOfKeys)
    return _Ranges((part.range,))
