"""How much likelier a release is with a record than without it: the record replaced, taken out, or put in.

The trees are walked along the path of the record (see :mod:`unveil._posterior.walk`): a record that leaves and does not
come back is one record fewer, a record that comes from nowhere is one more. All figures are those of plain fits to the
other original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.exact import ExactTree, exact_likelihood, fit_exact
from unveil._posterior.fixed import FixedTree
from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.recoded import Recoded
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil.trees import Column

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Levels = Mapping[str, Codes]
Told = Callable[[int], None]
"""Called with how many games' worth of work is done."""

BLOCK = 128
"""Records that are walked together."""
_NOWHERE = MovedRecord(
    np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int32), True, np.zeros(1, dtype=np.int32),
    np.zeros(1, dtype=np.bool_),
)  # fmt: skip
"""One world, in which no tree is fitted to the record."""


class WholeRecords(Protocol):
    """Logarithms of likelihood ratios, record by record; an infinite one rules one of the two originals out."""

    def replaced(self, members: Ints, rows: Levels, told: Told) -> Floats:
        """(q,) the original against the original with each of q records replaced by its row.

        Parameters
        ----------
        members : (q,) int64
            The records.
        rows : mapping of str to (q,) int32
            Levels of the rows by column.
        told
            Called now and then.
        """
        ...

    def removed(self, members: Ints, told: Told) -> Floats:
        """(q,) the original against the original without each of q records."""
        ...

    def added(self, rows: Levels, told: Told) -> Floats:
        """(q,) the original with each of q further records against the original."""
        ...


class WalkedRecords(WholeRecords):
    """Ratios by walks through the trees of a sequence.

    Parameters
    ----------
    sequence
        Codes of the files.
    trees
        All its trees, with the released values that count.
    """

    def __init__(self, sequence: TreeSequence, trees: Sequence[FixedTree]):
        self.releases = range(len(sequence.z))
        self.sequence, self.trees = _with_room(sequence), trees
        self.recoded = [Recoded(sequence, one, self.releases, exact=False) for one in sequence.recodings]
        for one in self.recoded:
            one.trees = [self._fitted(d, d.released) for d in one.recoding.trees]

    def replaced(self, members: Ints, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        log, alive = np.zeros(members.size), np.ones(members.size, dtype=np.bool_)

        def walk(tree: ExactTree) -> None:
            for at in _blocks(members.size):
                moved = MovedRecord.of(self.sequence, tree.definition, _part(rows, at))
                impossible, changed = exact_likelihood(tree, members[at], moved, np.diag(alive[at]))
                log[at] += tree.as_fitted[1] - np.diagonal(changed)
                alive[at] &= np.diagonal(impossible) == 0

        self._tree_by_tree(walk, members.size, told)
        for one in self.recoded:
            for at in _blocks(members.size):
                impossible, changed = one.likelihood(members[at], _part(rows, at), np.diag(alive[at]))
                log[at] -= np.diagonal(changed)
                alive[at] &= np.diagonal(impossible) == 0
        return np.where(alive, log, np.inf)

    def removed(self, members: Ints, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        log, alive = np.zeros(members.size), np.ones(members.size, dtype=np.bool_)

        def walk(tree: ExactTree) -> None:
            for at in _blocks(members.size):
                impossible, changed = exact_likelihood(tree, members[at], _NOWHERE, alive[at, None])
                log[at] += tree.as_fitted[1] - changed[:, 0]
                alive[at] &= impossible[:, 0] == 0

        self._tree_by_tree(walk, members.size, told)
        for one in self.recoded:
            # Without one of its records a recoding still holds; a value that only this record had cannot be drawn.
            own = one.own[members]
            alive &= (one.count[own] > 1) | (one.drawn[own] == 0)
        return np.where(alive, log, np.inf)

    def added(self, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        size = next(iter(rows.values())).size
        log, alive = np.zeros(size), np.ones(size, dtype=np.bool_)

        def walk(tree: ExactTree) -> None:
            for at in _blocks(size):
                impossible, changed = self._with_one_more(tree, _part(rows, at), alive[at])
                log[at] += changed - tree.as_fitted[1]
                alive[at] &= impossible == 0

        self._tree_by_tree(walk, size, told)
        for one in self.recoded:
            broken = alive & ~_holds_with(one, rows)
            for tree in one.trees:
                for at in _blocks(size):
                    impossible, changed = self._with_one_more(tree, _part(rows, at), broken[at])
                    log[at] += np.where(broken[at], changed, 0.0)
                    alive[at] &= ~broken[at] | (impossible == 0)
        return np.where(alive, log, -np.inf)

    def _tree_by_tree(self, walk: Callable[[ExactTree], None], size: int, told: Told) -> None:
        """Walk through one tree after the other: what is kept of one for its walks is large."""
        for number, tree in enumerate(self.trees, 1):
            walk(self._fitted(tree.definition, tree.possible))
            told(size * number // len(self.trees))

    def _fitted(self, definition: SequenceTree, possible: Sequence[Flags]) -> ExactTree:
        return fit_exact(self.sequence, _roomy(definition), self.releases, possible)

    def _with_one_more(self, tree: ExactTree, rows: Levels, wanted: Flags) -> tuple[Ints, Floats]:
        """Impossible values and log-likelihood of a tree that is fitted to one more record, by row."""
        moved = MovedRecord.of(self.sequence, tree.definition, rows)
        impossible, log = exact_likelihood(tree, np.array([self.sequence.n - 1]), moved, wanted[None, :])
        return impossible[0], log[0]


def taken(rows: Levels, chosen: Ints) -> Levels:
    """Levels of some of the rows."""
    return {name: levels[chosen] for name, levels in rows.items()}


def _part(rows: Levels, at: slice) -> Levels:
    return {name: levels[at] for name, levels in rows.items()}


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, BLOCK):
        yield slice(start, min(start + BLOCK, size))


def _with_room(sequence: TreeSequence) -> TreeSequence:
    """The sequence with one more record at the end, which no tree is fitted to."""
    columns = {
        position: Column(np.append(one.codes, np.int32(0)), one.kind, one.n_levels, one.values, one.name)
        for position, one in sequence.columns.items()
    }
    return replace(sequence, columns=columns, n=sequence.n + 1)


def _roomy(definition: SequenceTree) -> SequenceTree:
    return replace(definition, fitted=np.append(definition.fitted, False), grown=None)


def _holds_with(one: Recoded, rows: Levels) -> Flags:
    """(q,) whether a recoding holds with one more record."""
    b = rows[one.recoding.variable]
    holds = np.zeros(b.size, dtype=np.bool_)
    for pairs in one.pairs:
        a = rows[pairs.source]
        holds |= np.where(pairs.count[a] == 0, one.count[b] == 0, pairs.follows[a] == b)
    return holds
