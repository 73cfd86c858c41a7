"""Prior: what an intruder believes before seeing the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._posterior.checked_options import CheckedOptions, Prior, PriorChoice
from unveil._posterior.possible_values import number_of
from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError
from unveil.trees import Column, Settings, grow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDS = 5
SHARE_OF_MARGINAL = 0.05
"""Part of the marginal in a conditional prior, so that nothing is ruled out beforehand."""
MOST_CLASSES = 50
PRIOR_BUCKET = 20
LARGEST = 100_000_000
"""Most shares by leaf and value that are held."""


def prior_table(
    options: CheckedOptions,
    sequence: TreeSequence,
    levels: Sequence[NDArray[np.int32]],
    value_by_cell: Ints | None,
    n_values: int,
    truth_cell: Ints,
) -> Callable[[Ints], Floats]:
    """Prior probabilities by record and cell, a cell being a combination of levels of the targets.

    Marginal and conditional priors are over all values of the files, also if only some are in question.

    Parameters
    ----------
    options, sequence
        Options of the call, and codes of the files.
    levels : sequence of (q,) int32
        Levels in question by target; the cells are their combinations, the last target running fastest.
    value_by_cell : (c,) int64 or None
        Value that each cell is reported as; None if each cell is a value.
    n_values
        Number of values.
    truth_cell : (n,) int64
        Cell of every original record; -1: not in question.

    Returns
    -------
    callable
        From records to (r, c) float64.

    Raises
    ------
    CallError
        If the prior does not fit the values, or is conditioned on less or more than is known.
    """
    choice = options.prior
    n_cells = math.prod(one.size for one in levels)
    if not isinstance(choice, str):
        return _spread(_given(_probabilities(choice, options.known), sequence.n, n_values), value_by_cell, n_values)
    if choice == "uniform":
        even = np.full((1, n_values), 1.0 / n_values)
        return _spread(lambda members: np.repeat(even, members.size, axis=0), value_by_cell, n_values)
    marginal = _marginal(sequence, options.targets, n_cells, truth_cell)
    if choice == "marginal":
        return marginal
    if choice == "conditional":
        conditional = _Conditional(sequence, options, levels)
        return lambda members: (1 - SHARE_OF_MARGINAL) * conditional(members) + SHARE_OF_MARGINAL * marginal(members)
    raise CallError(f"unknown prior {choice!r}; choose from uniform, marginal, conditional, or give probabilities")


def _marginal(
    sequence: TreeSequence, targets: Sequence[str], n_cells: int, truth_cell: Ints
) -> Callable[[Ints], Floats]:
    asked = truth_cell >= 0
    counts = np.bincount(truth_cell[asked], minlength=n_cells).astype(np.float64)
    n_everything = math.prod(sequence.variables[name].n_levels for name in targets)

    def marginal(members: Ints) -> Floats:
        # The record itself is unknown; what nobody else has stays possible.
        others = np.tile(counts, (members.size, 1))
        others[np.arange(members.size), truth_cell[members]] -= 1
        return (others + 1.0 / n_everything) / sequence.n

    return marginal


def _spread(table: Callable[[Ints], Floats], value_by_cell: Ints | None, n_values: int) -> Callable[[Ints], Floats]:
    """From probabilities of values to those of their cells, which are alike within a value."""
    if value_by_cell is None:
        return table
    size = np.bincount(value_by_cell, minlength=n_values)
    return lambda members: (table(members) / size)[:, value_by_cell]


def _probabilities(choice: Prior | ArrayLike, known: Sequence[str]) -> Floats:
    """Return the numbers of a prior given by the user, after a check of what it is conditioned on."""
    if isinstance(choice, Prior):
        given = None if choice.given is None else set(choice.given)
        if given is not None and given != set(known):
            less, more = sorted(set(known) - given), sorted(given - set(known))
            parts = [f"lacks {', '.join(less)}"] if less else []
            parts += [f"uses {', '.join(more)}, which the intruder does not know"] if more else []
            raise CallError(f"the prior has to be conditioned on exactly what is known: it {' and '.join(parts)}")
        choice = choice.probabilities
    try:
        return np.asarray(choice, dtype=np.float64)
    except (TypeError, ValueError):
        raise CallError("prior probabilities must be numbers, one per value of the target, or rows of them") from None


def _given(table: Floats, n: int, n_values: int) -> Callable[[Ints], Floats]:
    if table.shape not in ((n_values,), (n, n_values)):
        raise CallError(
            f"the prior has shape {table.shape}; give {n_values} probabilities, one per value of the target, or "
            f"{n} rows of them. Values in question are the candidates in their order, and then the true values of "
            "records looked at that are none"
        )
    if not np.isfinite(table).all() or (table < 0).any() or (table.sum(axis=-1) <= 0).any():
        raise CallError("prior probabilities must be numbers from 0 that do not sum to 0")
    table = table / table.sum(axis=-1, keepdims=True)
    return lambda members: np.tile(table, (members.size, 1)) if table.ndim == 1 else table[members]


class _Conditional:
    """Share of each cell in the leaf of a tree that was fitted to other records.

    Parameters
    ----------
    sequence
        Codes of the files.
    options
        Options of the call.
    levels : sequence of (q,) int32
        Levels in question by target.
    """

    def __init__(self, sequence: TreeSequence, options: CheckedOptions, levels: Sequence[NDArray[np.int32]]):
        known = [sequence.columns[p] for name in options.known for p in sequence.positions[name]]
        sizes = [sequence.variables[name].n_levels for name in options.targets]
        if math.prod(sizes) >= 2**62:
            raise CallError("the targets have too many combinations of values for a conditional prior; use 'marginal'")
        everything = number_of((sequence.original[name] for name in options.targets), sizes)
        held, code = np.unique(everything, return_inverse=True)
        # Only values that records have count: candidates that nobody has do not change the prior.
        present = math.prod(np.unique(sequence.original[name]).size for name in options.targets)
        response = (
            Column(code.astype(np.int32), "categorical", held.size)
            if present <= MOST_CLASSES
            else Column.from_values(code.astype(np.float64))
        )
        cells = np.zeros(1, dtype=np.int64)
        for size, own in zip(sizes, levels, strict=True):
            cells = (cells[:, None] * size + own[None, :]).reshape(-1)
        place = np.searchsorted(held, cells).clip(max=held.size - 1)
        # A cell that no record has takes the last column, which stays 0.
        self.column = np.where(held[place] == cells, place, held.size)
        self.fold = _folds(everything, known)
        self.leaf = np.zeros(sequence.n, dtype=np.int64)
        self.shares = [self._fit(response, known, code, fold, held.size) for fold in range(FOLDS)]

    def _fit(self, response: Column, known: Sequence[Column], code: Ints, fold: int, n_held: int) -> Floats:
        """(l, h + 1) shares by leaf of a tree without a fold, whose records it sends to their leaves."""
        inside, outside = np.flatnonzero(self.fold != fold), np.flatnonzero(self.fold == fold)
        if inside.size == 0 or outside.size == 0:
            return np.append(np.bincount(code, minlength=n_held) / code.size, 0.0)[None, :]
        tree = grow(response, known, Settings(minbucket=PRIOR_BUCKET, collapse=False), rows=inside)
        if tree.n_leaves * n_held > LARGEST:
            raise CallError(
                f"a conditional prior of {code.size} records and {n_held} values does not fit in memory; use "
                "'marginal', or a target with fewer values"
            )
        counts = np.zeros((tree.n_leaves, n_held + 1))
        leaf_of_donor = np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start))
        np.add.at(counts, (leaf_of_donor, code[tree.donors]), 1.0)
        if known:
            self.leaf[outside] = tree.apply([column.codes[outside] for column in known])
        return np.asarray(counts / counts.sum(axis=1)[:, None])

    def __call__(self, members: Ints) -> Floats:
        """(r, c) shares for some records."""
        shares = np.empty((members.size, self.column.size))
        for fold, one in enumerate(self.shares):
            own = np.flatnonzero(self.fold[members] == fold)
            shares[own] = one[self.leaf[members[own]]][:, self.column]
        return shares


def _folds(truth: Ints, known: Sequence[Column]) -> Ints:
    """Fold by place among the sorted records: the same for any order of the file, but for equal records."""
    order = np.lexsort(np.stack([truth, *(column.codes for column in known)]))
    fold = np.empty(truth.size, dtype=np.int64)
    fold[order] = np.arange(truth.size) % FOLDS
    return fold


def reordered(choice: PriorChoice, order: NDArray[np.int64]) -> PriorChoice:
    """The same prior for the original's records in another order."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, Prior):
        return replace(choice, probabilities=reordered(choice.probabilities, order))  # type: ignore[arg-type]
    rows = np.asarray(choice, dtype=np.float64)
    return rows[order] if rows.ndim == 2 and rows.shape[0] == order.size else rows
