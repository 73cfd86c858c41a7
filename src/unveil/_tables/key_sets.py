"""Which key does it: the measures over all small sets of keys, and without each key in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cell_sums import sum_cells
from unveil._tables.cells import Cells, join_cells, merge_cells
from unveil._tables.exclusions import CellRules
from unveil._tables.keyed_pair import Groups, KeyedPair, coded, only_known
from unveil._tables.study import study_of
from unveil._tables.sums import identity_measures, mean_over, measures
from unveil.checks import check_whole_numbers
from unveil.columns.column import CodedColumn
from unveil.columns.combinations import fold
from unveil.columns.pair import Pair
from unveil.columns.pair_first import pair_first
from unveil.columns.units import jointly
from unveil.errors import CallError, enough_memory
from unveil.files.arrays import text_array
from unveil.files.source import Flavour
from unveil.limits import falls_below
from unveil.plain import plain
from unveil.result import Result, columns_of, drawer

_ATTRIBUTE = ("Dorig", "iS", "DiS", "DiSCO", "DCAPd", "TCAP")


@dataclass(frozen=True)
class KeySet:
    """One set of keys and its measures, averaged over the releases.

    Attributes
    ----------
    keys
        The keys of the set.
    combinations
        Number of their combinations in the original.
    measures
        Measure by name, in percent.
    """

    keys: tuple[str, ...]
    combinations: int
    measures: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Keys, number of combinations and measures side by side."""
        return {"keys": list(self.keys), "combinations": self.combinations, **self.measures}


@dataclass(frozen=True, repr=False)
class KeySets(Result):
    """The measures over sets of keys.

    Attributes
    ----------
    keys, target
        All keys that sets were drawn from, and the target, if any.
    sets
        One entry per set, smaller sets first.
    leave_one_out
        All keys together, and all but each.
    n_original, n_synthetic
        Number of records of the original, and of each release.
    grouping
        How numeric keys and the target were cut, by column.
    unmatched
        By column, what share of the records of each file hold values that the other lacks; see
        :meth:`unveil.Pair.unmatched`.
    warnings
        What deserves a look in the files, and what makes the figures unreliable.
    """

    _words = "words.tables.key_sets"
    _drawing = "plots.tables.plot_key_sets"

    keys: tuple[str, ...]
    target: str | None
    sets: tuple[KeySet, ...]
    leave_one_out: tuple[KeySet, ...]
    n_original: int
    n_synthetic: tuple[int, ...]
    grouping: Mapping[str, Mapping[str, object]]
    unmatched: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def headline(self) -> tuple[str, ...]:
        """The measures that are compared between sets."""
        return ("repU",) if self.target is None else ("repU", "DiSCO")

    @property
    def by_size(self) -> dict[int, dict[str, tuple[float, float]]]:
        """Per number of keys, smallest and largest value of each headline measure."""
        sizes = sorted({len(s.keys) for s in self.sets})
        return {
            size: {
                name: (
                    min(s.measures[name] for s in self.sets if len(s.keys) == size),
                    max(s.measures[name] for s in self.sets if len(s.keys) == size),
                )
                for name in self.headline
            }
            for size in sizes
        }

    @property
    def correlation(self) -> dict[str, float]:
        """Pearson correlation over the sets between the number of combinations and each headline measure."""
        counts = np.array([s.combinations for s in self.sets], dtype=float)
        return {name: _pearson(counts, np.array([s.measures[name] for s in self.sets])) for name in self.headline}

    def _without(self, one: KeySet) -> str:
        return f"without {next(key for key in self.keys if key not in one.keys)}"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        by_size = {str(size): plain(ends) for size, ends in self.by_size.items()}
        return super().to_dict() | {"by_size": by_size, "correlation": self.correlation}

    def _columns(self) -> dict[str, Any]:
        """A row per set: its keys, size, number of combinations and measures."""
        return columns_of(
            [{"keys": s.keys, "size": len(s.keys), "combinations": s.combinations, **s.measures} for s in self.sets]
        )

    def _carrying(self, without: Sequence[KeySet]) -> list[str]:
        """Which key carries most of a figure, where leaving one out lowers it."""
        found = []
        for name in self.headline:
            whole = self.leave_one_out[0].measures[name]
            lowest = min(without, key=lambda one: one.measures[name], default=None)
            if lowest is not None and falls_below(lowest.measures[name], whole):
                found.append(f"{name} falls most without {self._without(lowest).removeprefix('without ')}.")
        return found

    def plot(self, ax: Any = None, measure: str | None = None) -> Any:
        """Risk of each set against its number of combinations; needs matplotlib."""
        return drawer(self._drawing)(self, ax=ax, measure=measure or self.headline[-1])


@enough_memory()
@pair_first
def key_sets(
    pair: Pair,
    keys: Sequence[str],
    *,
    target: str | None = None,
    max_size: int = 4,
    ngroups_keys: Groups = None,
    ngroups_target: Groups = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> KeySets:
    """Measure every set of up to ``max_size`` keys, and all keys without each in turn.

    Parameters
    ----------
    pair
        The original and its releases.
    keys
        The key variables that sets are drawn from.
    target
        A target variable; without one only the identity measures are computed.
    max_size
        Largest number of keys in a set.
    ngroups_keys, ngroups_target
        Number of groups into which numeric keys or the target are cut: for all of them, or by column.
    progress
        Called with the number of sets done, their total, and the keys of the one just done.

    Returns
    -------
    KeySets
        Measures per set, averaged over the releases.

    Raises
    ------
    CallError
        If a column is unknown, the target is among the keys, or ``max_size`` is below 1.
    DataError
        If a release lacks a column, or its values cannot be compared.

    References
    ----------
    Latner, Neunhoeffer & Drechsler (2026), When privacy measures fail, uses the 98 sets of 1 to 4 keys out of 7.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import unveil
    >>> original = pa.table({"sex": ["f", "f", "m"], "age": [30, 40, 40], "ill": ["yes", "no", "no"]})
    >>> sets = unveil.key_sets(unveil.Pair(original, original), ["sex", "age"], target="ill")
    >>> [(s.keys, round(s.measures["DiSCO"], 1)) for s in sets.sets]
    [(('sex',), 33.3), (('age',), 100.0), (('sex', 'age'), 100.0)]
    """
    study = study_of(pair, keys, () if target is None else [target], ngroups_keys=ngroups_keys)
    pair = study.pair
    check_whole_numbers(1, max_size=max_size)
    if target is not None and target in study.keys:
        raise CallError(f"{target!r} is a key and cannot be the target too")
    only_known(ngroups_target, [target] if target is not None else [], "ngroups_target", "target")
    column = coded(pair, target, ngroups_target) if target is not None else _no_target(study)
    finest = [_finest(study, column, release) for release in range(pair.n_releases)]
    every = range(len(study.keys))

    small = [chosen for size in range(1, min(max_size, len(every)) + 1) for chosen in combinations(every, size)]
    large = [tuple(every), *([k for k in every if k != left_out] for left_out in every if len(every) > 1)]
    measured: list[KeySet] = []
    for chosen in (*small, *large):
        measured.append(_measure(study, column, finest, chosen, target is not None))
        if progress is not None:
            progress(len(measured), len(small) + len(large), ", ".join(measured[-1].keys))

    return KeySets(
        keys=study.keys,
        target=target,
        sets=tuple(measured[: len(small)]),
        leave_one_out=tuple(measured[len(small) :]),
        n_original=pair.n_original,
        n_synthetic=pair.n_synthetic,
        grouping=study.groupings(column),
        unmatched=study.unmatched(*([] if target is None else [column])),
        warnings=study.notes(*([] if target is None else [column])),
        flavour=pair.flavour,
        unit=pair.unit,
    )


def _no_target(study: KeyedPair) -> CodedColumn:
    """A target that everybody shares: the cells are then the key combinations."""
    first = study.columns[0]
    return CodedColumn(
        "",
        "categorical",
        text_array([""]),
        False,
        np.zeros_like(first.original),
        tuple(map(np.zeros_like, first.releases)),
    )


@dataclass(frozen=True)
class _Finest:
    """Cells of all keys together, with the level of each key; coarser sets only merge them."""

    cells: Cells
    levels: tuple[NDArray[np.int32], ...]


def _finest(study: KeyedPair, target: CodedColumn, release: int) -> _Finest:
    cells = join_cells(study.blocks(target, release))
    return _Finest(cells, study.levels_of(cells.q))


def _measure(
    study: KeyedPair, target: CodedColumn, finest: Sequence[_Finest], chosen: Sequence[int], with_target: bool
) -> KeySet:
    pair = study.pair
    d_t = target.counts[0][: target.n_levels]
    keys = [study.columns[k] for k in chosen]
    seen = jointly(keys)
    releases = []
    n_combinations = 0
    for one, n_synthetic in zip(finest, pair.n_synthetic, strict=True):
        levels = [one.levels[k] for k in chosen] if seen is keys else study.levels_of(one.cells.q, seen)
        size, q = fold(levels, [column.n_levels for column in seen])
        cells = merge_cells(one.cells, q, size, target.n_levels)
        sums = sum_cells(cells, CellRules(), target.n_levels).sums
        values = identity_measures(sums, pair.n_original, n_synthetic)
        if with_target:
            attributes = measures(sums, d_t, pair.n_original, n_synthetic)
            values |= {name: attributes[name] for name in _ATTRIBUTE}
        releases.append(values)
        n_combinations = len(np.unique(cells.q[cells.d > 0]))
    return KeySet(tuple(study.keys[k] for k in chosen), n_combinations, mean_over(releases))


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else float("nan")
