"""Values of the targets that the worlds are grouped into, and their prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.possible_values import PossibleValues, number_of, place_of_level, places_of
from unveil._posterior.priors import prior_table
from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError
from unveil.limits import as_written

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TargetValues:
    """Levels of one target that are in question, and the values that these are reported as.

    Parameters
    ----------
    name
        The variable.
    levels : (q,) int32
        Levels in question.
    value_of : (q,) int64
        Value that each level is reported as: itself, or an interval.
    values
        Names of the values.
    named : (q,) bool
        Levels that are in question for every record; others are in question only for records that have them.
    """

    name: str
    levels: NDArray[np.int32]
    value_of: Ints
    values: list[object]
    named: Flags


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Values of the targets by world, and the prior of the worlds.

    A *cell* is a combination of levels of the targets. The prior is computed by cell over all values, and then
    restricted to what is in question for a record: the candidates and its true value.

    Parameters
    ----------
    options, sequence, worlds
        Options of the call, codes of the files, and the worlds.
    targets
        The targets in the order in which they were named.
    value_by_cell : (c,) int64 or None
        Value of every cell; None where each cell is a value.
    named : (c,) bool or None
        Cells that are in question for every record; None for all.
    truth_cell, truth : (n,) int64
        Cell and value of every original record; -1: not in question.
    table
        Prior probabilities by record and cell; see :func:`unveil._posterior.priors.prior_table`.
    """

    options: CheckedOptions
    sequence: TreeSequence
    worlds: PossibleValues
    targets: tuple[TargetValues, ...]
    value_by_cell: Ints | None
    named: Flags | None
    truth_cell: Ints
    truth: Ints
    table: Callable[[Ints], Floats]

    @property
    def n_values(self) -> int:
        """Number of values."""
        return math.prod(len(one.values) for one in self.targets)

    @property
    def uniform(self) -> bool:
        """Whether the prior is uniform."""
        return isinstance(self.options.prior, str) and self.options.prior == "uniform"

    @property
    def log_wrong(self) -> float:
        """Logarithm of the factor for an impossible value; more than minus infinity if the intruder makes errors."""
        if not self.options.intruder_errors:
            return -math.inf
        return -math.log(2.0 * self.sequence.n * max(self.n_values, 2))

    def cell_of(self, world: Ints) -> Ints:
        """Cell of every world."""
        if self.worlds.unknown == self.options.targets:
            return world
        places = dict(zip(self.worlds.unknown, places_of(world, self.worlds.sizes), strict=True))
        return number_of((places[one.name] for one in self.targets), (one.levels.size for one in self.targets))

    def value_of(self, world: Ints) -> Ints:
        """Value of every world."""
        cell = self.cell_of(world)
        return cell if self.value_by_cell is None else self.value_by_cell[cell]

    def label_of(self, value: int) -> object:
        """Name of a value; a tuple for several targets."""
        places = places_of(np.int64(value), [len(one.values) for one in self.targets])  # type: ignore[arg-type]
        labels = tuple(one.values[place] for one, place in zip(self.targets, places, strict=True))
        return labels[0] if len(labels) == 1 else labels

    def log_cells(self, members: Ints) -> Floats | None:
        """(r, c) logarithms of the prior of some records by cell; None if all worlds have the same prior."""
        if self.uniform and self.named is None and self.value_by_cell is None:
            return None
        share = self.table(members)
        if self.named is not None:
            true = np.zeros(share.shape, dtype=np.bool_)
            true[np.arange(members.size), self.truth_cell[members]] = True
            share = np.where(true | self.named, share, 0.0)
        total = share.sum(axis=1, keepdims=True)
        if not (total > 0).all():
            record = int(members[np.flatnonzero(total[:, 0] <= 0)[0]])
            raise CallError(f"the prior rules out every value that is in question for record {record}")
        with np.errstate(divide="ignore"):
            log: Floats = np.log(share / total)
        return log

    def log_prior(self, members: Ints, cells: Floats | None, start: int, stop: int) -> Floats:
        """(r, stop - start) logarithms of the prior of some worlds, up to a constant.

        Parameters
        ----------
        members : (r,) int64
            The records.
        cells : (r, c) float64 or None
            Their :meth:`log_cells`.
        start, stop
            First world, and the one after the last.
        """
        if cells is None:
            return np.full((members.size, stop - start), -math.log(self.worlds.size))
        world = np.arange(start, stop)
        log = cells[:, self.cell_of(world)]
        if self.worlds.unknown != self.options.targets:
            for name, levels in self.worlds.levels_between(start, stop).items():
                if name not in self.options.targets:
                    log = log + self._log_of_other(name, levels, members)
        return log

    def _log_of_other(self, name: str, levels: NDArray[np.int32], members: Ints) -> Floats:
        """Prior of an unknown variable that is no target."""
        codes, n_levels = self.sequence.original[name], self.sequence.variables[name].n_levels
        if self.uniform:
            return np.full((1, levels.size), -math.log(n_levels))
        others = np.bincount(codes, minlength=n_levels)[levels][None, :] - (codes[members][:, None] == levels[None, :])
        log: Floats = np.log((others + 1.0 / n_levels) / self.sequence.n)
        return log


def make_outcomes(options: CheckedOptions, sequence: TreeSequence, worlds: PossibleValues) -> Outcomes:
    """Group the worlds into values of the targets, and give these a prior."""
    targets = tuple(_target(options, sequence, worlds, name) for name in options.targets)
    value_by_cell = _crossed([one.value_of for one in targets], [len(one.values) for one in targets])
    n_values = math.prod(len(one.values) for one in targets)
    places = [
        place_of_level(one.levels, sequence.variables[one.name].n_levels)[sequence.original[one.name]]
        for one in targets
    ]
    cell = number_of(places, [one.levels.size for one in targets])
    truth = cell if value_by_cell is None else np.where(cell >= 0, value_by_cell[cell], -1)
    named = None if all(one.named.all() for one in targets) else _all_of([one.named for one in targets])
    table = prior_table(options, sequence, [one.levels for one in targets], value_by_cell, n_values, cell)
    return Outcomes(options, sequence, worlds, targets, value_by_cell, named, cell, truth, table)


def _crossed(digits: list[Ints], sizes: list[int]) -> Ints | None:
    """Mixed-radix numbers of all combinations, the last digit running fastest; None where they are 0, 1, 2, ..."""
    if all(size == one.size and (one == np.arange(size)).all() for one, size in zip(digits, sizes, strict=True)):
        return None
    number = np.zeros(1, dtype=np.int64)
    for one, size in zip(digits, sizes, strict=True):
        number = (number[:, None] * size + one[None, :]).reshape(-1)
    return number


def _all_of(flags: list[Flags]) -> Flags:
    """Whether all parts of a combination are flagged, for all combinations."""
    result = np.ones(1, dtype=np.bool_)
    for one in flags:
        result = (result[:, None] & one[None, :]).reshape(-1)
    return result


def _target(options: CheckedOptions, sequence: TreeSequence, worlds: PossibleValues, name: str) -> TargetValues:
    levels = worlds.choices[worlds.unknown.index(name)]
    labels = sequence.level_labels(name)
    if not options.intervals:
        named = np.ones(levels.size, dtype=np.bool_)
        if name in options.candidates:
            named = np.isin(levels, sequence.further[name])
        return TargetValues(name, levels, np.arange(levels.size), [labels[level] for level in levels], named)
    value_of = np.full(levels.size, -1, dtype=np.int64)
    values: list[object] = []
    interval = _interval_of(options, sequence, name)[levels]
    for i, (low, high) in enumerate(options.intervals):
        if (interval == i).any():
            value_of[interval == i] = len(values)
            values.append(interval_label(low, high))
    named = value_of >= 0
    for at in np.flatnonzero(~named):
        value_of[at] = len(values)
        values.append(labels[levels[at]])
    return TargetValues(name, levels, value_of, values, named)


def interval_label(low: float, high: float) -> str:
    """Name of an interval."""
    return f"{low:.15g} to {high:.15g}"


def empty_intervals(options: CheckedOptions, sequence: TreeSequence) -> list[str]:
    """Names of the intervals that hold no value of the files."""
    if not options.intervals:
        return []
    held = set(_interval_of(options, sequence, options.targets[0]).tolist())
    return [interval_label(*ends) for i, ends in enumerate(options.intervals) if i not in held]


def levels_in_intervals(options: CheckedOptions, sequence: TreeSequence, name: str) -> NDArray[np.int32]:
    """Levels that lie in one of the intervals in question."""
    return np.flatnonzero(_interval_of(options, sequence, name) >= 0).astype(np.int32)


def _interval_of(options: CheckedOptions, sequence: TreeSequence, name: str) -> Ints:
    """(l,) number of the interval that each level lies in; -1: none."""
    result = np.full(sequence.variables[name].n_levels, -1, dtype=np.int64)
    for level, amount in enumerate(_amounts(sequence, name)):
        for i, (low, high) in enumerate(options.intervals):
            if amount is not None and low <= as_written(amount) <= high:
                result[level] = i
    return result


def _amounts(sequence: TreeSequence, name: str) -> list[Any]:
    """Number of every level; None for gaps and special codes, which lie in no interval."""
    variable = sequence.variables[name]
    values: list[Any] = list(sequence.level_labels(name))
    if any(isinstance(value, bool) or not isinstance(value, int | float | None) for value in values):
        raise CallError(f"candidates: column {name!r} is not numeric; name values instead of intervals")
    if len(variable.parts) > 1:
        which = variable.parts[0]
        for level in np.flatnonzero(which.of_level != which.level_of.size - 1):
            values[level] = None
    return values
