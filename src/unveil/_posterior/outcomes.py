"""Values that the worlds are grouped into, and what is believed of them beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.posterior_of_records import RecordQuestion
from unveil._posterior.priors import prior_table
from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError
from unveil.limits import as_written

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Outcome:
    """One target: its levels in question, and the values that these are reported as.

    Parameters
    ----------
    name
        The variable.
    levels : (q,) int32
        Levels in question.
    place : (l,) int64
        Place of every level among them; -1 for the others.
    value_of : (q,) int64
        The value that each belongs to: its own, or an interval.
    values
        What the values are called.
    named : (q,) bool
        Those that are in question for every record; the others only for records whose truth they are.
    """

    name: str
    levels: NDArray[np.int32]
    place: Ints
    value_of: Ints
    values: list[object]
    named: Flags


def make_question(
    options: CheckedOptions, sequence: TreeSequence, worlds: PossibleValues
) -> tuple[RecordQuestion, Callable[[int], object]]:
    """Values that the worlds are grouped into, and their prior.

    A *cell* is a combination of levels of the targets. Probabilities beforehand are had by cell over all values, and
    then restricted to what is in question for a record: the candidates and its truth.
    """
    targets = [_target(options, sequence, worlds, name) for name in options.targets]
    sizes = {name: len(levels) for name, levels in zip(worlds.unknown, worlds.choices, strict=True)}
    others = [name for name in worlds.unknown if name not in options.targets]
    simple = worlds.unknown == options.targets

    def digits(world: Ints) -> dict[str, Ints]:
        found = {}
        for name in reversed(worlds.unknown):
            world, found[name] = np.divmod(world, sizes[name])
        return found

    def cell_of(world: Ints) -> Ints:
        if simple:
            return world
        found, cell = digits(world), np.zeros_like(world)
        for one in targets:
            cell = cell * one.levels.size + found[one.name]
        return cell

    value_by_cell = _crossed([one.value_of for one in targets], [len(one.values) for one in targets])
    truth_cell = np.zeros(sequence.n, dtype=np.int64)
    asked = np.ones(sequence.n, dtype=np.bool_)
    for one in targets:
        place = one.place[sequence.original[one.name]]
        truth_cell = truth_cell * one.levels.size + place
        asked &= place >= 0
    truth_cell = np.where(asked, truth_cell, -1)
    n_values = math.prod(len(one.values) for one in targets)

    def value_of(world: Ints) -> Ints:
        cell = cell_of(world)
        return cell if value_by_cell is None else value_by_cell[cell]

    def label_of(value: int) -> object:
        labels = []
        for one in reversed(targets):
            value, place = divmod(value, len(one.values))
            labels.append(one.values[place])
        return labels[0] if len(labels) == 1 else tuple(reversed(labels))

    prior = _Prior(options, sequence, targets, value_by_cell, n_values, truth_cell)
    counts = {
        name: np.bincount(sequence.original[name], minlength=sequence.variables[name].n_levels) for name in others
    }
    choices = dict(zip(worlds.unknown, worlds.choices, strict=True))

    def log_prior(members: Ints, start: int, stop: int) -> Floats:
        if prior.even:
            return np.full((members.size, stop - start), -math.log(worlds.size))
        world = np.arange(start, stop)
        log = prior.log(members)[:, cell_of(world)]
        found = digits(world) if others else {}
        for name in others:
            log = log + _log_of_other(options, sequence, name, choices[name][found[name]], counts[name], members)
        return log

    truth = np.where(asked, truth_cell if value_by_cell is None else value_by_cell[truth_cell], -1)
    wrong = -math.log(2.0 * sequence.n * max(n_values, 2)) if options.intruder_errors else -math.inf
    return RecordQuestion(worlds.size, n_values, value_of, worlds.truth, truth, log_prior, wrong), label_of


class _Prior:
    """Probability beforehand of the targets' cells.

    Parameters
    ----------
    options, sequence
        What is asked, and of which files.
    targets
        The targets in the order in which they were named.
    value_by_cell : (c,) int64 or None
        Value of every cell; None where each is its own.
    n_values
        Number of values.
    truth_cell : (n,) int64
        Cell of every original record; -1: not in question.
    """

    def __init__(
        self,
        options: CheckedOptions,
        sequence: TreeSequence,
        targets: list[_Outcome],
        value_by_cell: Ints | None,
        n_values: int,
        truth_cell: Ints,
    ):
        self.truth_cell = truth_cell
        named = [one.named for one in targets]
        self.named = None if all(flags.all() for flags in named) else _all_of(named)
        uniform = isinstance(options.prior, str) and options.prior == "uniform"
        # Every world alike: nothing has to be held by cell.
        self.even = uniform and self.named is None and value_by_cell is None
        self.table = prior_table(
            options, sequence, [one.levels for one in targets], value_by_cell, n_values, truth_cell
        )
        self._last: tuple[Ints, Floats] | None = None

    def log(self, members: Ints) -> Floats:
        """(r, c) logarithms for some records, over the cells that are in question for each."""
        if self._last is None or self._last[0] is not members:
            share = self.table(members)
            if self.named is not None:
                own = np.zeros(share.shape, dtype=np.bool_)
                own[np.arange(members.size), self.truth_cell[members]] = True
                share = np.where(own | self.named, share, 0.0)
            total = share.sum(axis=1, keepdims=True)
            if not (total > 0).all():
                record = int(members[np.flatnonzero(total[:, 0] <= 0)[0]])
                raise CallError(f"the prior rules out every value that is in question for record {record}")
            with np.errstate(divide="ignore"):
                self._last = members, np.log(share / total)
        return self._last[1]


def _log_of_other(
    options: CheckedOptions, sequence: TreeSequence, name: str, levels: NDArray[np.int32], counts: Ints, members: Ints
) -> Floats:
    """Prior of an unknown variable that is not asked for."""
    if isinstance(options.prior, str) and options.prior == "uniform":
        return np.full((1, levels.size), -math.log(counts.size))
    held = counts[levels][None, :] - (sequence.original[name][members][:, None] == levels[None, :])
    log: Floats = np.log((held + 1.0 / counts.size) / sequence.n)
    return log


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
    found = np.ones(1, dtype=np.bool_)
    for one in flags:
        found = (found[:, None] & one[None, :]).reshape(-1)
    return found


def _target(options: CheckedOptions, sequence: TreeSequence, worlds: PossibleValues, name: str) -> _Outcome:
    levels = worlds.choices[worlds.unknown.index(name)]
    place = worlds.places(name, sequence.variables[name].n_levels)
    known = sequence.level_labels(name)
    named = np.ones(levels.size, dtype=np.bool_)
    if name in options.candidates:
        named = np.isin(levels, sequence.further[name])
    if not options.intervals:
        return _Outcome(name, levels, place, np.arange(levels.size), [known[level] for level in levels], named)
    value_of = np.full(levels.size, -1, dtype=np.int64)
    values: list[object] = []
    interval = _interval_of(options, sequence, name)[levels]
    for i, (low, high) in enumerate(options.intervals):
        if (interval == i).any():
            value_of[interval == i] = len(values)
            values.append(f"{low:.15g} to {high:.15g}")
    named = value_of >= 0
    for at in np.flatnonzero(~named):
        value_of[at] = len(values)
        values.append(known[levels[at]])
    return _Outcome(name, levels, place, value_of, values, named)


def levels_in_intervals(options: CheckedOptions, sequence: TreeSequence, name: str) -> NDArray[np.int32]:
    """Levels that lie in one of the intervals in question."""
    return np.flatnonzero(_interval_of(options, sequence, name) >= 0).astype(np.int32)


def _interval_of(options: CheckedOptions, sequence: TreeSequence, name: str) -> Ints:
    """(l,) number of the interval that each level lies in; -1: none."""
    found = np.full(sequence.variables[name].n_levels, -1, dtype=np.int64)
    for level, amount in enumerate(_amounts(sequence, name)):
        for i, (low, high) in enumerate(options.intervals):
            if amount is not None and low <= as_written(amount) <= high:
                found[level] = i
    return found


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
