"""Likelihood of a tree that is held as fitted to all records: donor counts alone.

Moving a record from cell ``(l0, v0)`` to ``(l1, v1)`` of a tree changes the log-likelihood by

``S[l0,v0] log((N[l0,v0] - 1) / N[l0,v0]) + S[l1,v1] log((N[l1,v1] + 1) / N[l1,v1])``

and, if ``l0`` and ``l1`` differ, by ``- S[l0] log((M[l0] - 1) / M[l0]) - S[l1] log((M[l1] + 1) / M[l1])``, where N
counts donors by leaf and value, M donors by leaf, S synthetic records likewise. ``N[l0,v0] = 1`` with ``S[l0,v0] > 0``
is a cell that only this record can have filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil._posterior.walk import Worlds
from unveil.core import STRUCTS, Struct, loop
from unveil.threads import in_threads, n_threads
from unveil.trees import Column, Tree, grow

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


Routing = STRUCTS["Routing"]
"""Where a tree sends a record; as in :class:`unveil.trees.Tree`."""
_Counts = STRUCTS["LeafCells"]
_INTEGERS = (np.int32, np.int64, int, np.int32, np.int32)
_add_fixed = loop("add_fixed", Routing, _Counts, Worlds, *_INTEGERS, np.float64, np.int64, np.float64)

PAIRS = 30_000
"""Record-world pairs that a thread takes at a time."""


class LeafCells(NamedTuple):
    """Donors and released records by leaf and value; ``q`` cells that have donors, ``l`` leaves.

    Parameters
    ----------
    start : (l + 1,) int64
        First cell of each leaf.
    code : (q,) int32
        Value, ascending within a leaf.
    donors, released : (q,) int64
        Donors and released records.
    leaf_donors, leaf_released : (l,) int64
        The same by leaf; released records that cannot come from the leaf are left out.
    """

    start: Ints
    code: Codes
    donors: Ints
    released: Ints
    leaf_donors: Ints
    leaf_released: Ints


@dataclass(frozen=True, eq=False)
class FixedTree:
    """One fitted tree and the released records that it has drawn.

    Parameters
    ----------
    definition
        What is fitted.
    tree
        The tree; None where nothing is fitted.
    routing, cells
        Where the tree sends records, and the counts of its leaves; empty if nothing is fitted.
    response : (n,) int32
        Response of the original.
    leaf : (n,) int32
        Leaf of every original record, fitted or not.
    logs : (n + 2,) float64
        Logarithms of the whole numbers; 0 at 0.
    drawn_from : tuple of (n_r,) int64
        Per release, the cell that each value was drawn from; -1 where the tree has drawn none, or cannot produce it.
    possible : tuple of (n_r,) bool
        Per release, the records whose value the tree can produce; others are left out.
    log : float
        Log-likelihood of the possible ones.
    """

    definition: SequenceTree
    tree: Tree | None
    routing: Struct
    cells: LeafCells
    response: Codes
    leaf: Codes
    logs: Floats
    drawn_from: tuple[Ints, ...]
    possible: tuple[Flags, ...]
    log: float

    @property
    def n_impossible(self) -> int:
        """Number of released values that the tree cannot produce."""
        return sum(int((drawn & ~ok).sum()) for drawn, ok in zip(self.definition.released, self.possible, strict=True))

    def must_fill(self, members: Ints) -> Flags:
        """(r,) whether some released value can have come from the record alone."""
        if self.cells.start.size <= 1:
            return np.zeros(members.size, dtype=np.bool_)
        cell = self.cell_of(self.leaf[members], self.response[members])
        alone: Flags = (
            (self.cells.donors[cell] == 1) & (self.cells.released[cell] > 0) & self.definition.fitted[members]
        )
        return alone & (cell >= 0)

    def cell_of(self, leaf: Codes, code: Codes) -> Ints:
        """(r,) cell of a leaf and a value; -1 where the leaf has no such donor."""
        return _cells_of(self.cells, leaf, code)


def _cells_of(cells: LeafCells, leaf: Codes, code: Codes) -> Ints:
    width = np.int64(max(int(cells.code.max(initial=0)), int(code.max(initial=0))) + 1)
    owner = np.repeat(np.arange(cells.start.size - 1), np.diff(cells.start))
    keys = owner * width + cells.code
    wanted = leaf.astype(np.int64) * width + code
    place = np.searchsorted(keys, wanted).clip(max=max(keys.size - 1, 0))
    if keys.size == 0:
        return np.full(leaf.size, -1, dtype=np.int64)
    return np.where(keys[place] == wanted, place, -1).astype(np.int64)


def fit_fixed(sequence: TreeSequence, definition: SequenceTree, releases: Sequence[int]) -> FixedTree:
    """Fit one tree, and count donors and released records.

    Parameters
    ----------
    sequence
        Original and releases.
    definition
        The tree to fit.
    releases
        The releases that are pooled.

    Returns
    -------
    FixedTree
        The tree.
    """
    if not definition.fitted.any():
        return _counted(sequence, definition, releases, None)
    return _counted(
        sequence, definition, releases, _grown(sequence, definition) if definition.grown is None else definition.grown
    )


def before_collapse(tree: FixedTree, sequence: TreeSequence, releases: Sequence[int]) -> FixedTree:
    """The same tree with all of its splits."""
    if tree.tree is None:
        return tree
    ends = tree.tree.right < 0
    leaf = np.where(ends, np.cumsum(ends) - 1, -1).astype(np.int32)
    full = replace(tree.tree, leaf=leaf, leaf_node=np.flatnonzero(ends).astype(np.int32))
    return _counted(sequence, tree.definition, releases, full)


def _counted(sequence: TreeSequence, definition: SequenceTree, releases: Sequence[int], tree: Tree | None) -> FixedTree:
    """Count donors and released records in the leaves of a tree."""
    predictors = [sequence.columns[p] for p in definition.predictors]
    response = sequence.columns[definition.position]
    n = sequence.n
    logs = np.zeros(n + 2)
    logs[1:] = np.log(np.arange(1, n + 2))
    cell_of = [np.full(definition.released[r].size, -1, dtype=np.int64) for r in range(len(sequence.z))]
    leaf, log = np.zeros(n, dtype=np.int32), 0.0
    routing, cells = Routing(), _no_cells()
    if tree is not None:
        # Leaves hold their donors one after the other; only records that were not fitted have to be sent down the tree.
        sizes = tree.stop[tree.leaf_node] - tree.start[tree.leaf_node]
        leaf[tree.order] = np.repeat(np.arange(sizes.size), sizes)
        others = np.flatnonzero(~definition.fitted)
        if others.size:
            leaf[others] = _leaves(tree, [replace(c, codes=c.codes[others]) for c in predictors], others.size)
        cells = _count(leaf[definition.fitted], response.codes[definition.fitted], tree.n_leaves)
        routing = Routing(
            feature=tree.feature, right=tree.right, cut=tree.cut, side_start=tree.side_start, sides=tree.sides,
            leaf=tree.leaf,
        )  # fmt: skip
        for r in releases:
            rows = np.flatnonzero(definition.released[r])
            z = [Column(sequence.z[r][p][rows], c.kind, c.n_levels, c.values) for p, c in
                 zip(definition.predictors, predictors, strict=True)]  # fmt: skip
            cell_of[r][rows] = _cells_of(cells, _leaves(tree, z, rows.size), sequence.z[r][definition.position][rows])
            cells.released[:] += np.bincount(cell_of[r][cell_of[r] >= 0], minlength=cells.code.size)
        owner = np.repeat(np.arange(tree.n_leaves), np.diff(cells.start))
        cells.leaf_released[:] = np.bincount(owner, weights=cells.released, minlength=tree.n_leaves)
        log = float((cells.released * logs[cells.donors]).sum() - (cells.leaf_released * logs[cells.leaf_donors]).sum())
    possible = tuple(cell >= 0 for cell in cell_of)
    return FixedTree(
        definition, tree, routing, cells, response.codes, leaf, logs, tuple(cell_of), possible, log
    )  # fmt: skip


def _grown(sequence: TreeSequence, definition: SequenceTree) -> Tree:
    rows = None if definition.fitted.all() else np.flatnonzero(definition.fitted)
    response, predictors = sequence.columns[definition.position], [sequence.columns[p] for p in definition.predictors]
    return grow(response, predictors, definition.settings, rows=rows)


def _leaves(tree: Tree, columns: Sequence[Column], n: int) -> Codes:
    return tree.apply([column.codes for column in columns]) if columns else np.zeros(n, dtype=np.int32)


def _no_cells() -> LeafCells:
    none = np.zeros(0, dtype=np.int64)
    return LeafCells(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none, none, none, none)


def _count(leaf: Codes, code: Codes, n_leaves: int) -> LeafCells:
    width = np.int64(int(code.max()) + 1)
    keys, donors = np.unique(leaf.astype(np.int64) * width + code, return_counts=True)
    owner = keys // width
    return LeafCells(
        np.searchsorted(owner, np.arange(n_leaves + 1)).astype(np.int64),
        (keys - owner * width).astype(np.int32),
        donors.astype(np.int64),
        np.zeros(keys.size, dtype=np.int64),
        np.bincount(leaf, minlength=n_leaves).astype(np.int64),
        np.zeros(n_leaves, dtype=np.int64),
    )


def fixed_changes(tree: FixedTree, sequence: TreeSequence, members: Ints, moved: MovedRecord) -> tuple[Ints, Floats]:
    """Change of the likelihood by record and world.

    Parameters
    ----------
    tree
        The tree.
    sequence
        Original and releases.
    members : (r,) int64
        The records.
    moved
        What the tree sees of a record by world.

    Returns
    -------
    impossible : (r, c) int64
        Released values that become impossible.
    change : (r, c) float64
        Change of the log-likelihood of those that stay possible.
    """
    definition = tree.definition
    impossible = np.zeros((members.size, moved.n_worlds), dtype=np.int64)
    change = np.zeros((members.size, moved.n_worlds))
    if tree.cells.start.size <= 1:
        return impossible, change
    known = [sequence.columns[p].codes for p in definition.predictors]
    codes = np.array(known, dtype=np.int32).reshape(len(known), sequence.n)
    counts = _Counts(**tree.cells._asdict())
    place = np.full(len(known), -1, dtype=np.int64)
    place[moved.features] = np.arange(moved.features.size)
    places = (codes, place, sequence.n, tree.response, tree.leaf, tree.logs)

    def work(rows: slice) -> None:
        worlds = moved.of_records(members[rows], definition.fitted)
        _add_fixed(tree.routing, counts, worlds, *places, impossible[rows], change[rows])

    size = max(1, PAIRS // moved.n_worlds)
    in_threads(work, [slice(at, at + size) for at in range(0, members.size, size)], n_threads(None))
    return impossible, change
