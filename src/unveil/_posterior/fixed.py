"""Likelihood of a tree that is held as fitted to all records: donor counts alone.

Moving a record from cell ``(l0, v0)`` to ``(l1, v1)`` of a tree changes the log-likelihood by

``S[l0,v0] log((N[l0,v0] - 1) / N[l0,v0]) + S[l1,v1] log((N[l1,v1] + 1) / N[l1,v1])``

and, if ``l0`` and ``l1`` differ, by ``- S[l0] log((M[l0] - 1) / M[l0]) - S[l1] log((M[l1] + 1) / M[l1])``, where N
counts donors by leaf and value, M donors by leaf, S synthetic records likewise. ``N[l0,v0] = 1`` with ``S[l0,v0] > 0``
is a cell that only this record can have filled.

Where donors are mixed (``mix`` = w), the log-likelihood is ``sum S[l,v] log((1 - w) N[l,v] / M[l] + w N[v] / n)`` with
donors N[v] and n of the whole column. The record then changes every leaf through N[v0], N[v1] and n; what that makes in
all leaves together is kept by value, and the leaves l0 and l1 are added up anew (``core/fixed.c``).
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
MixedDonors = STRUCTS["MixedDonors"]
"""All donors of a column by value, where they are mixed."""
_INTEGERS = (np.int32, np.int64, int, np.int32, np.int32)
_add_fixed = loop("add_fixed", Routing, _Counts, Worlds, *_INTEGERS, np.float64, MixedDonors, np.int64, np.float64)

PAIRS = 30_000
"""Record-world pairs that a thread takes at a time."""


class LeafCells(NamedTuple):
    """Donors and released records by leaf and value; ``q`` cells that have donors, or released records, ``l`` leaves.

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
    mixed
        All donors of the column; its ``mix`` is 0 where donors come from the leaf alone.
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
    mixed: Struct

    @property
    def n_impossible(self) -> int:
        """Number of released values that the tree cannot produce."""
        return sum(int((drawn & ~ok).sum()) for drawn, ok in zip(self.definition.released, self.possible, strict=True))

    def must_fill(self, members: Ints) -> Flags:
        """(r,) whether some released value can have come from the record alone."""
        if self.cells.start.size <= 1:
            return np.zeros(members.size, dtype=np.bool_)
        fitted = self.definition.fitted[members]
        if self.definition.mix:
            own, all_donors = self.response[members], self.mixed.kept
            filled: Flags = (all_donors["donors"][own] == 1) & (all_donors["released"][own] > 0) & fitted
            return filled
        cell = self.cell_of(self.leaf[members], self.response[members])
        alone: Flags = (self.cells.donors[cell] == 1) & (self.cells.released[cell] > 0) & fitted
        return alone & (cell >= 0)

    def shares(self) -> Floats:
        """(q,) probability of each cell's value in its leaf."""
        cells, mix = self.cells, self.definition.mix
        owner = np.repeat(np.arange(cells.leaf_donors.size), np.diff(cells.start))
        own: Floats = cells.donors / cells.leaf_donors[owner]
        return (1 - mix) * own + mix * self.mixed.kept["donors"][cells.code] / self.mixed.n if mix else own

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
    routing, cells, mixed = Routing(), _no_cells(), MixedDonors()
    if tree is not None:
        # Leaves hold their donors one after the other; only records that were not fitted have to be sent down the tree.
        sizes = tree.stop[tree.leaf_node] - tree.start[tree.leaf_node]
        leaf[tree.order] = np.repeat(np.arange(sizes.size), sizes)
        others = np.flatnonzero(~definition.fitted)
        if others.size:
            leaf[others] = _leaves(tree, [replace(c, codes=c.codes[others]) for c in predictors], others.size)
        routing = Routing(
            feature=tree.feature, right=tree.right, cut=tree.cut, side_start=tree.side_start, sides=tree.sides,
            leaf=tree.leaf,
        )  # fmt: skip
        donors = _Placed(leaf[definition.fitted], response.codes[definition.fitted])
        drawn = {}
        for r in releases:
            rows = np.flatnonzero(definition.released[r])
            z = [Column(sequence.z[r][p][rows], c.kind, c.n_levels, c.values) for p, c in
                 zip(definition.predictors, predictors, strict=True)]  # fmt: skip
            drawn[r] = _Placed(_leaves(tree, z, rows.size), sequence.z[r][definition.position][rows])
        of_all = np.bincount(donors.code, minlength=response.n_levels)
        # Where donors are mixed, a value can be drawn in every leaf.
        further = [one.those(of_all[one.code] > 0) for one in drawn.values()] if definition.mix else []
        cells = _count(donors, further, tree.n_leaves)
        for r, one in drawn.items():
            found = _cells_of(cells, one.leaf, one.code)
            cell_of[r][definition.released[r]] = found
            cells.released[:] += np.bincount(found[found >= 0], minlength=cells.code.size)
        owner = np.repeat(np.arange(tree.n_leaves), np.diff(cells.start))
        cells.leaf_released[:] = np.bincount(owner, weights=cells.released, minlength=tree.n_leaves)
        log = float((cells.released * logs[cells.donors]).sum() - (cells.leaf_released * logs[cells.leaf_donors]).sum())
        if definition.mix:
            mixed, log = _mixed(cells, owner, of_all.astype(np.int64), definition.mix)
    possible = tuple(cell >= 0 for cell in cell_of)
    return FixedTree(
        definition, tree, routing, cells, response.codes, leaf, logs, tuple(cell_of), possible, log, mixed
    )  # fmt: skip


class _Placed(NamedTuple):
    """Leaves and values of some records."""

    leaf: Codes
    code: Codes

    def those(self, wanted: Flags) -> _Placed:
        return _Placed(self.leaf[wanted], self.code[wanted])


def _mixed(cells: LeafCells, owner: Ints, of_all: Ints, mix: float) -> tuple[Struct, float]:
    """All donors of a column, with what one less or more of them changes in all leaves; and the log-likelihood."""
    n, count = int(of_all.sum()), of_all[cells.code]
    own = (1 - mix) * cells.donors / cells.leaf_donors[owner]

    def log(less: int, fewer: int) -> Floats:
        """Log-likelihood by cell if the value has so many donors less, and the column so many in all."""
        left, all_left = np.maximum(count - less, 0), max(n - fewer, 1)
        share = np.where(left > 0, own + mix * left / all_left, 1.0)  # an impossible value has no logarithm
        return np.asarray(cells.released * np.log(share), dtype=np.float64)

    now, of_fewer, of_more = log(0, 0), log(0, 1), log(0, -1)
    by_cell = [log(1, 0) - now, log(-1, 0) - now, log(1, 1) - of_fewer, log(-1, -1) - of_more]
    change = [np.bincount(cells.code, weights=weights, minlength=of_all.size) for weights in by_cell]
    released = np.bincount(cells.code, weights=cells.released, minlength=of_all.size).astype(np.int64)
    sums = np.array([(of_fewer - now).sum(), (of_more - now).sum()])
    mixed = MixedDonors(
        donors=of_all, released=released, change=np.ascontiguousarray(np.stack(change, axis=1)), sums=sums, n=n, mix=mix
    )
    return mixed, float(now.sum())


def _grown(sequence: TreeSequence, definition: SequenceTree) -> Tree:
    rows = None if definition.fitted.all() else np.flatnonzero(definition.fitted)
    response, predictors = sequence.columns[definition.position], [sequence.columns[p] for p in definition.predictors]
    return grow(response, predictors, definition.settings, rows=rows)


def _leaves(tree: Tree, columns: Sequence[Column], n: int) -> Codes:
    return tree.apply([column.codes for column in columns]) if columns else np.zeros(n, dtype=np.int32)


def _no_cells() -> LeafCells:
    none = np.zeros(0, dtype=np.int64)
    return LeafCells(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none, none, none, none)


def _count(donors: _Placed, further: Sequence[_Placed], n_leaves: int) -> LeafCells:
    """Donors by cell; cells of further records are there too, without donors."""
    width = np.int64(max(int(one.code.max(initial=0)) for one in (donors, *further)) + 1)
    keys, number = np.unique(donors.leaf.astype(np.int64) * width + donors.code, return_counts=True)
    if further:
        wanted = np.concatenate([one.leaf.astype(np.int64) * width + one.code for one in further])
        more = np.setdiff1d(wanted, keys)
        place = np.searchsorted(keys, more)
        keys, number = np.insert(keys, place, more), np.insert(number, place, 0)
    owner = keys // width
    return LeafCells(
        np.searchsorted(owner, np.arange(n_leaves + 1)).astype(np.int64),
        (keys - owner * width).astype(np.int32),
        number.astype(np.int64),
        np.zeros(keys.size, dtype=np.int64),
        np.bincount(donors.leaf, minlength=n_leaves).astype(np.int64),
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
    places = (codes, place, sequence.n, tree.response, tree.leaf, tree.logs, tree.mixed)

    def work(rows: slice) -> None:
        worlds = moved.of_records(members[rows], definition.fitted)
        _add_fixed(tree.routing, counts, worlds, *places, impossible[rows], change[rows])

    size = max(1, PAIRS // moved.n_worlds)
    in_threads(work, [slice(at, at + size) for at in range(0, members.size, size)], n_threads(None))
    return impossible, change
