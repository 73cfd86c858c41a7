"""The keys of a study: checked, grouped where asked for, and folded once for all targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Members, count_cells, count_chosen_pairs
from unveil.checks import check_flags, check_whole_numbers
from unveil.columns.column import CodedColumn
from unveil.columns.combinations import KeyCombinations, SharedCombinations
from unveil.columns.grouping import checked_breaks
from unveil.columns.pair import Pair
from unveil.errors import CallError
from unveil.files.counts import blocks_of
from unveil.files.nearest import near_matches
from unveil.notes import Note

S = TypeVar("S")
Groups = int | Mapping[str, int | Sequence[float] | None] | None
"""Number of groups for every numeric column, or by column; by column the breaks between groups, too."""


@dataclass(frozen=True)
class KeyedPair:
    """An original and its releases seen through a set of keys.

    Parameters
    ----------
    pair
        The files.
    keys
        Names of the key variables.
    columns
        The key variables as codes, grouped where asked for.
    use_keys_na
        Per key, whether combinations in which it is missing count.
    ungrouped
        What is to be said of keys that were to be grouped and could not be.
    """

    pair: Pair
    keys: tuple[str, ...]
    columns: tuple[CodedColumn, ...]
    use_keys_na: Mapping[str, bool]
    ungrouped: tuple[str, ...] = ()
    _of_several: dict[int, SharedCombinations | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls, pair: Pair, keys: str | Sequence[str], *, ngroups_keys: Groups = None,
        use_keys_na: bool | Mapping[str, bool] = True,
    ) -> KeyedPair:  # fmt: skip
        """Check the keys and code them.

        Raises
        ------
        CallError
            If no key is given, one is given twice or unknown, or an option names a column that is not a key.
        DataError
            If a release lacks a key.
        """
        names = as_names(keys, "key")
        pair.require(names)
        only_known(ngroups_keys, names, "ngroups_keys", "key")
        only_known(use_keys_na, names, "use_keys_na", "key")
        given = use_keys_na if isinstance(use_keys_na, Mapping) else dict.fromkeys(names, use_keys_na)
        for flag in given.values():
            check_flags(use_keys_na=flag)
        flags = {name: bool(given.get(name, True)) for name in names}
        columns = tuple(coded(pair, name, ngroups_keys) for name in names)
        return cls(pair, names, columns, flags, tuple(ungrouped(pair, names, ngroups_keys, "ngroups_keys").values()))

    def total(
        self, targets: Sequence[CodedColumn | None], measures: Sequence[Callable[[KeyedPair], S]], *,
        by: CodedColumn | None = None,
    ) -> list[S]:  # fmt: skip
        """For each target what its measure finds in these keys: a measure is a sum over disjoint sets of them.

        Parameters
        ----------
        targets
            The targets that measures look at; None for the keys alone.
        measures
            A function for each.
        by
            A column whose :meth:`members` the measures look at.
        """
        return [measure(self) for measure in measures]

    def over(self, part: Pair) -> KeyedPair:
        """The same keys of some of the records and releases (:meth:`unveil.Pair.part`), cut as they were."""
        columns = tuple(part.as_cut(column) for column in self.columns)
        return KeyedPair(part, self.keys, columns, self.use_keys_na)

    def notes(self, *more: CodedColumn) -> tuple[str, ...]:
        """What deserves a look in figures that rest on the keys, and on more columns."""
        return (*self.pair.notes((*self.columns, *more)), *self.ungrouped)

    def unmatched(self, *more: CodedColumn) -> dict[str, dict[str, Any]]:
        """What share of the records of each file hold values that the other lacks, of the keys and of more columns."""
        return self.pair.unmatched((*self.columns, *more))

    @cached_property
    def combinations(self) -> KeyCombinations:
        """The composite key of every record."""
        return self.pair.combinations(self.columns)

    @cached_property
    def excluded(self) -> NDArray[np.bool_] | None:
        """Key combinations (size,) left out because a key is missing, or None where none are."""
        gaps = [c for c in self.columns if c.without_value and not self.use_keys_na[c.name]]
        if not gaps:
            return None
        flags: NDArray[np.bool_] = np.any([self.holding(c, c.without_value) for c in gaps], axis=0)
        return flags

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Key combinations (size,) that count."""
        return np.ones(self.combinations.size, dtype=bool) if self.excluded is None else ~self.excluded

    def levels_of(
        self, q: NDArray[np.integer], columns: Sequence[CodedColumn] | None = None
    ) -> tuple[NDArray[np.int32], ...]:
        """The code of each key in some combinations (k,); or of columns that the keys decide."""
        file, record = self._examples
        wanted, files = record[q], file[q]
        found = []
        for column in self.columns if columns is None else columns:
            levels = column.original[np.where(files == 0, wanted, 0)]
            for number, codes in enumerate(column.releases, start=1):
                mine = files == number
                levels[mine] = codes[wanted[mine]]
            found.append(levels)
        return tuple(found)

    @cached_property
    def _examples(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """Per key combination (size,) a file and a record of it that has the combination."""
        size = self.combinations.size
        file, record = np.zeros(size, dtype=np.uint16), np.zeros(size, dtype=np.int64)
        # The original is written last, so that its records are taken where there are any.
        for number, q in reversed(list(enumerate((self.combinations.original, *self.combinations.releases)))):
            for block in blocks_of(len(q)):
                record[q[block]] = np.arange(block.start, block.stop)
            file[q] = number
        return file, record

    def members(self, target: CodedColumn | None, by: CodedColumn) -> Members:
        """The original records by their cell and the level of a column."""
        q, each = self.combinations.original, np.broadcast_to(np.int64(1), self.pair.n_original)
        t = np.broadcast_to(np.int64(0), len(q)) if target is None else target.original
        return Members(q, t, by.original, each)

    def original_by_level(self, target: CodedColumn) -> NDArray[np.int64]:
        """Number of original records (n_levels,) of each level of the target."""
        return target.counts[0][: target.n_levels]

    def original_pairs(self, target: CodedColumn) -> tuple[NDArray[np.int64] | None, ...]:
        """Per key the number of original records (key levels * n_levels,) of all pairs of its level and the target's.

        None for each key where records are at hand: :meth:`original_by_pair` then counts the few that matter.
        """
        return (None,) * len(self.columns)

    def original_by_pair(self, key: int, target: CodedColumn, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of original records (k,) of some pairs (key level, target level), which ascend.

        Parameters
        ----------
        key
            Position of the key.
        target
            The target.
        pairs : (k,) int64
            ``key level * n_levels + target level``.
        """
        return count_chosen_pairs(self.columns[key].original, target.original, target.n_levels, pairs)

    def flags(self, release: int) -> dict[str, NDArray[Any]]:
        """Per key combination (size,) its number of records in both files, and in which way its record is unique."""
        d_q, by_release = self.combinations.counts()
        s_q = by_release[release]
        unique = (d_q == 1) & self.counted
        return {
            "d_q": d_q,
            "s_q": s_q,
            "unique": unique,
            "unique_in_synthetic": unique & (s_q > 0),
            "replicated_unique": unique & (s_q == 1),
        }

    def holding(self, column: CodedColumn, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Key combinations (size,) in which the key has one of some levels."""
        flags, wanted = np.zeros(self.combinations.size, dtype=bool), np.zeros(column.n_levels, dtype=bool)
        wanted[list(levels)] = True
        q = self.combinations
        for folded, codes in zip((q.original, *q.releases), (column.original, *column.releases), strict=True):
            flags[folded[wanted[codes]]] = True
        return flags

    def blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """Counts per key combination and target level, of the original and one release."""
        q = self.combinations
        return count_cells(
            q.original,
            target.original,
            q.releases[release],
            target.releases[release],
            q.size,
            target.n_levels,
        )

    def shared_blocks(self, target: CodedColumn, release: int) -> Iterator[Cells]:
        """The same of combinations that several records of both files have together."""
        shared = self._shared(release)
        if shared is None:
            yield from self.blocks(target, release)
            return
        one, other = shared.records
        t = target.original[one], target.releases[release][other]
        for cells in count_cells(shared.q[0], t[0], shared.q[1], t[1], shared.size, target.n_levels):
            yield replace(cells, q=shared.numbers[cells.q])

    def alone(self, release: int) -> tuple[int, int]:
        """Number of original and of synthetic records that :meth:`shared_blocks` leaves out."""
        shared = self._shared(release)
        return (0, 0) if shared is None else shared.left_out

    def _shared(self, release: int) -> SharedCombinations | None:
        """Combinations of several records; None where records alone with theirs are too few to be left out."""
        if release not in self._of_several:
            self._of_several[release] = SharedCombinations.of(self.combinations, release)
        return self._of_several[release]

    def release(self, position: int) -> int:
        """The position of a release, checked.

        Raises
        ------
        CallError
            If there is no such release.
        """
        check_whole_numbers(0, self.pair.n_releases - 1, release=position)
        return position

    def groupings(self, *more: CodedColumn) -> dict[str, dict[str, object]]:
        """How the keys and more columns were cut into groups, by column."""
        return {c.name: c.grouping.to_dict() for c in (*self.columns, *more) if c.grouping is not None}


def as_names(names: str | Sequence[str], role: str) -> tuple[str, ...]:
    """A single name or a sequence of names as a tuple of different names.

    Raises
    ------
    CallError
        If there are none, or one is repeated.
    """
    if names is None or not isinstance(names, Iterable):
        raise CallError(f"{role}s are given by their names, not as {names!r}")
    # A frame whose columns are numbered is read with these numbers as names.
    listed = (names,) if isinstance(names, str) else tuple(str(n) if isinstance(n, int) else n for n in names)
    if not listed:
        raise CallError(f"no {role} given: name at least one column")
    for name in listed:
        if not isinstance(name, str):
            raise CallError(f"a {role} is named by a text, not by {name!r}")
        if listed.count(name) > 1:
            raise CallError(f"{role} {name!r} is given more than once")
    return listed


def targets_of(
    pair: Pair, keys: Sequence[str], target: str | None, targets: str | Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """The targets, by default all common columns that are no keys, and notes on the columns that are left out.

    Raises
    ------
    CallError
        If a column is unknown or a key, or no column is left.
    """
    said: tuple[Note, ...] = ()
    if target is not None and targets is not None:
        raise CallError("give either target or targets, not both")
    if target is not None:
        names = as_names([target], "target")
    elif targets is not None:
        names = as_names(targets, "target")
    else:
        names, said = pair.roles.default_columns(keys)
        if not names:
            raise CallError("; ".join(["no column is left to be a target: every common column is a key", *said]))
    for name in names:
        if name in keys:
            raise CallError(f"{name!r} is a key and cannot be the target too")
    pair.require(names)
    return names, said


def coded(pair: Pair, name: str, groups: Groups) -> CodedColumn:
    """A column as codes, cut into groups where asked for."""
    return pair.compared(name, n_groups=_groups_for(pair, name, groups))


def _groups_for(pair: Pair, name: str, groups: Groups) -> int | tuple[float, ...] | None:
    """A number for all concerns the numeric columns only; a number for one column is meant for it; 0 is for none.

    A column that no option concerns is cut where the pair or a schema says.
    """
    asked = groups.get(name) if isinstance(groups, Mapping) else groups
    if asked is None:
        return pair.breaks_of(name)
    if isinstance(asked, Sequence) and not isinstance(asked, str):
        return checked_breaks(name, asked)
    if asked == 0 and not isinstance(asked, bool):
        return None
    return asked if isinstance(groups, Mapping) or pair.kind_of(name) == "numeric" else None


def ungrouped(pair: Pair, names: Sequence[str], groups: Groups, option: str) -> dict[str, str]:
    """What is to be said, by column, where a number of groups leaves columns of many levels as they are, or all.

    Parameters
    ----------
    pair
        The files.
    names
        The columns that the option concerns.
    groups, option
        What was asked for, and the name of the option.
    """
    if groups is None or isinstance(groups, Mapping) or not groups:
        return {}
    others = [pair.compared(name) for name in names if pair.kind_of(name) != "numeric"]
    if len(others) < len(names):
        others = [column for column in others if column.n_levels > groups]
    return {
        c.name: f"{option}: {c.name!r} is {c.kind} and was not grouped; if it holds amounts, state its kind"
        for c in others
    }


def only_known(option: object, names: Sequence[str], what: str, role: str) -> None:
    """Check that an option, if it is by column, concerns no other columns.

    Raises
    ------
    CallError
        If it names a column that is none of ``names``.
    """
    for name in option if isinstance(option, Mapping) else ():
        if name not in names:
            raise CallError(f"{what} names {name!r}, which is not a {role}{near_matches(str(name), names)}")
