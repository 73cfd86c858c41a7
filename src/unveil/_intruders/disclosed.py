"""States of many unknown persons where the intruder was told the splits of all trees: only donor counts follow them.

The loops are in ``core/gibbs.c``. With N donors of a value and M donors in all in a leaf, and S released values, the
log-likelihood is the sum of ``S log N`` over cells minus the sum of ``S log M`` over leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.states import States, UnknownPersons
from unveil._posterior.fixed import FixedTree
from unveil._posterior.tree_sequence import TreeSequence
from unveil.core import STRUCTS, loop
from unveil.errors import CallError

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Levels = Mapping[str, Codes]

MOST_PLACES = 60_000_000
"""Most places of a person, a value and a tree that are held."""

MOST_MATES = 64
"""Most persons who would fill the same cell and exchange their values."""

_Disclosed = STRUCTS["Disclosed"]
_weigh_cells = loop("weigh_cells", _Disclosed)
_put_persons = loop("put_persons", _Disclosed)
_log_of_state = loop("log_of_state", _Disclosed, result=float)
_draw_values = loop("draw_values", _Disclosed, np.float64, np.float64)
_swap_values = loop("swap_values", _Disclosed, int, np.int32, np.float64)
_give_shares = loop("give_shares", _Disclosed, np.float64)


@dataclass(frozen=True, eq=False)
class Places:
    """Where every record comes to in every tree, by world of its unknown columns.

    Parameters
    ----------
    cell, leaf : (n, t, c) int32
        Cell and leaf among those of all trees; the last of each stands for none.
    donors, released : (q,) int64
        Donors among all original records, and released records, by cell.
    leaf_donors, leaf_released : (l,) int64
        The same by leaf.
    """

    cell: Codes
    leaf: Codes
    donors: Ints
    released: Ints
    leaf_donors: Ints
    leaf_released: Ints


def places_of(sequence: TreeSequence, trees: Sequence[FixedTree], unknown: Sequence[str], levels: Levels) -> Places:
    """Send every record down every tree in every world.

    Parameters
    ----------
    sequence
        Codes of the files.
    trees
        The trees that the unknown columns concern, fitted to the original.
    unknown
        The unknown columns.
    levels : mapping of str to (c,) int32
        Their levels by world.

    Raises
    ------
    CallError
        If there are too many.
    """
    trees = [tree for tree in trees if tree.tree is not None and tree.cells.released.any()]
    n_worlds = next(iter(levels.values())).size
    if sequence.n * n_worlds * max(len(trees), 1) > MOST_PLACES:
        raise CallError(
            f"{n_worlds} combinations of values of {', '.join(unknown)} for {sequence.n} records and {len(trees)} "
            "trees do not fit in memory; name fewer unknown columns, or more that are known"
        )
    shape = (sequence.n, len(trees), n_worlds)
    cell, leaf = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    n_cells = sum(tree.cells.code.size for tree in trees)
    n_leaves = sum(tree.cells.leaf_donors.size for tree in trees)
    first_cell = first_leaf = 0
    for t, tree in enumerate(trees):
        _fill(sequence, tree, levels, cell[:, t], leaf[:, t], (first_cell, first_leaf, n_cells, n_leaves))
        first_cell += tree.cells.code.size
        first_leaf += tree.cells.leaf_donors.size
    return Places(
        cell, leaf, *(_joined([getattr(tree.cells, name) for tree in trees]) for name in
                      ("donors", "released", "leaf_donors", "leaf_released")),
    )  # fmt: skip


def _fill(
    sequence: TreeSequence,
    tree: FixedTree,
    levels: Levels,
    cell: Codes,
    leaf: Codes,
    numbers: tuple[int, int, int, int],
) -> None:
    """Cells and leaves of one tree by record and world."""
    first_cell, first_leaf, no_cell, no_leaf = numbers
    definition = tree.definition
    codes = {p: c for name, level in levels.items() for p, c in sequence.part_codes(name, level).items()}
    varies = any(position in codes for position in definition.predictors)
    assert tree.tree is not None
    reached = tree.leaf
    for world in range(cell.shape[1]):
        if varies:
            columns = [
                np.full(sequence.n, codes[p][world], dtype=np.int32) if p in codes else sequence.columns[p].codes
                for p in definition.predictors
            ]
            reached = tree.tree.apply(columns)
        response, fitted = tree.response, definition.fitted
        if definition.position in codes:
            response = np.full(sequence.n, codes[definition.position][world], dtype=np.int32)
            of_world = {name: level[world : world + 1] for name, level in levels.items()}[definition.variable]
            fitted = np.repeat(sequence.observed(definition.position, definition.variable, of_world), sequence.n)
        found = tree.cell_of(reached, response)
        cell[:, world] = np.where(fitted & (found >= 0), found + first_cell, no_cell)
        leaf[:, world] = np.where(fitted, reached + first_leaf, no_leaf)


def _joined(arrays: Sequence[Ints]) -> Ints:
    """Counts of all trees, and a place for none at the end."""
    return np.concatenate([*arrays, np.zeros(1, dtype=np.int64)])


class DisclosedSplits(States):
    """States of some unknown persons, the splits being held.

    Parameters
    ----------
    persons
        The persons.
    places
        Where all records come to.
    """

    most_states = 20_000

    def __init__(self, persons: UnknownPersons, places: Places):
        self.persons = persons
        cell, leaf = places.cell[persons.members], places.leaf[persons.members]
        u, t, c = cell.shape
        rows = np.arange(u)
        own_cell, own_leaf = cell[rows, :, persons.truth], leaf[rows, :, persons.truth]
        self._known = (
            places.donors - np.bincount(own_cell.reshape(-1), minlength=places.donors.size),
            places.leaf_donors - np.bincount(own_leaf.reshape(-1), minlength=places.leaf_donors.size),
        )
        q, size = places.donors.size, places.leaf_donors.size
        most = int(places.leaf_donors.max(initial=0)) + u + 2
        self.state = persons.truth.astype(np.int32)
        self._d = _Disclosed(
            cell=cell, leaf=leaf, state=self.state, log_prior=np.ascontiguousarray(persons.log_prior),
            donors=np.zeros(q, dtype=np.int64), released=places.released.copy(),
            leaf_donors=np.zeros(size, dtype=np.int64), leaf_released=places.leaf_released.copy(), gain=np.zeros(q),
            leaf_gain=np.zeros(size), logs=np.append(0.0, np.log(np.arange(1, most + 1))), u=u, c=c, t=t, q=q, l=size,
            empty=0, penalty=0.0,
        )  # fmt: skip
        self._room = np.empty(c)
        self._mates: dict[tuple[int, int], _Mates] = {}
        self.begin(self.state.copy())

    def begin(self, state: Codes) -> None:
        """See :class:`States`."""
        self.state[:] = state
        self._d.kept["donors"][:], self._d.kept["leaf_donors"][:] = self._known
        _put_persons(self._d)

    def set_penalty(self, penalty: float) -> None:
        """See :class:`States`."""
        self._d.penalty = penalty
        _weigh_cells(self._d)

    @property
    def impossible(self) -> int:
        """See :class:`States`."""
        return int(self._d.empty)

    def sweep(self, rng: np.random.Generator) -> None:
        """See :class:`States`."""
        u = self.persons.size
        _draw_values(self._d, rng.random(u), self._room)
        if u > 1:
            mates = [_Mates.all_of(u), *(self._same_cell(tree, rng) for tree in range(self._d.t))]
            one, first, size = (
                np.concatenate([getattr(own, name) for own in mates]) for name in ("one", "first", "size")
            )
            order = np.concatenate([own.order for own in mates])
            offset = np.repeat(np.cumsum([0, *(own.order.size for own in mates[:-1])]), [own.one.size for own in mates])
            two = order[offset + first + (rng.random(one.size) * size).astype(np.int64)]
            _swap_values(self._d, one.size, np.stack([one, two], axis=1), rng.random(one.size))

    def _same_cell(self, tree: int, rng: np.random.Generator) -> _Mates:
        """Persons who would fill the same released cell with some value.

        Which value is drawn at random: the proposal does not depend on the state. Where many persons would fill a cell,
        its donor is found without exchanges.
        """
        world = int(rng.integers(self.persons.n_worlds))
        if (tree, world) not in self._mates:
            cell = self._d.kept["cell"][:, tree, world]
            self._mates[tree, world] = _Mates.of(cell, self._d.kept["released"] > 0)
        return self._mates[tree, world]

    def shares(self) -> Floats:
        """See :class:`States`."""
        found = np.empty(self.persons.log_prior.shape)
        _give_shares(self._d, found)
        return found

    def log_likelihood(self) -> float:
        """See :class:`States`."""
        return -np.inf if self.impossible else float(_log_of_state(self._d))


class _Mates(NamedTuple):
    """Persons who may exchange their values, and with whom.

    Parameters
    ----------
    one : (m,) int32
        The persons.
    order : (o,) int32
        All persons, those of a group beside each other.
    first, size : (m,) int64
        Where the group of each person begins in ``order``, and its size.
    """

    one: Codes
    order: Codes
    first: Ints
    size: Ints

    @classmethod
    def all_of(cls, u: int) -> _Mates:
        """Everyone with everyone."""
        everybody = np.arange(u, dtype=np.int32)
        return cls(everybody, everybody, np.zeros(u, dtype=np.int64), np.full(u, u))

    @classmethod
    def of(cls, cell: Codes, released: NDArray[np.bool_]) -> _Mates:
        """Persons of the same cell, where it is released and few of them would fill it."""
        order = np.argsort(cell, kind="stable").astype(np.int32)
        begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
        size = np.diff(begins, append=cell.size)
        useful = (size > 1) & (size <= MOST_MATES) & released[cell[order[begins]]]
        one = order[np.repeat(useful, size)]
        begins, size = begins[useful], size[useful]
        first = np.cumsum(size) - size
        return cls(one, one, np.repeat(first, size), np.repeat(size, size))
