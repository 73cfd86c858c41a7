"""How much likelier a release is with a record than without it: the record replaced, taken out, or put in.

The trees are walked along the path of the record (see :mod:`unveil._posterior.walk`): a record that leaves and does not
come back is one record fewer, a record that comes from nowhere is one more. All figures are those of plain fits to the
other original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_NOWHERE = MovedRecord(
    np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int32), True, np.zeros(1, dtype=np.int32),
    np.zeros(1, dtype=np.bool_),
)  # fmt: skip
"""One world, in which no tree is fitted to the record."""


class WholeRecords(Protocol):
    """Logarithms of likelihood ratios, record by record; an infinite one rules one of the two originals out."""

    def replaced(self, members: Ints, rows: Levels) -> Floats:
        """(q,) the original against the original with each of q records replaced by its row.

        Parameters
        ----------
        members : (q,) int64
            The records.
        rows : mapping of str to (q,) int32
            Levels of the rows by column.
        """
        ...

    def removed(self, members: Ints) -> Floats:
        """(q,) the original against the original without each of q records."""
        ...

    def added(self, rows: Levels) -> Floats:
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
        releases = range(len(sequence.z))
        self.sequence = _with_room(sequence)
        self.trees = [fit_exact(self.sequence, _roomy(tree.definition), releases, tree.possible) for tree in trees]
        self.recoded = [Recoded(sequence, one, releases, exact=False) for one in sequence.recodings]
        for one in self.recoded:
            one.trees = [fit_exact(self.sequence, _roomy(d), releases, d.released) for d in one.recoding.trees]

    def replaced(self, members: Ints, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        log, alive = np.zeros(members.size), np.ones(members.size, dtype=np.bool_)
        for tree in self.trees:
            moved = MovedRecord.of(self.sequence, tree.definition, rows)
            impossible, changed = exact_likelihood(tree, members, moved, np.diag(alive))
            log += tree.as_fitted[1] - np.diagonal(changed)
            alive &= np.diagonal(impossible) == 0
        for one in self.recoded:
            impossible, changed = one.likelihood(members, rows, np.diag(alive))
            log -= np.diagonal(changed)
            alive &= np.diagonal(impossible) == 0
        return np.where(alive, log, np.inf)

    def removed(self, members: Ints) -> Floats:
        """See :class:`WholeRecords`."""
        log, alive = np.zeros(members.size), np.ones(members.size, dtype=np.bool_)
        for tree in self.trees:
            impossible, changed = exact_likelihood(tree, members, _NOWHERE, alive[:, None])
            log += tree.as_fitted[1] - changed[:, 0]
            alive &= impossible[:, 0] == 0
        for one in self.recoded:
            # Without one of its records a recoding still holds; a value that only this record had cannot be drawn.
            own = one.own[members]
            alive &= (one.count[own] > 1) | (one.drawn[own] == 0)
        return np.where(alive, log, np.inf)

    def added(self, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        size = next(iter(rows.values())).size
        log, alive = np.zeros(size), np.ones(size, dtype=np.bool_)
        for tree in self.trees:
            impossible, changed = self._with_one_more(tree, rows, alive)
            log += changed - tree.as_fitted[1]
            alive &= impossible == 0
        for one in self.recoded:
            broken = alive & ~_holds_with(one, rows)
            for tree in one.trees:
                impossible, changed = self._with_one_more(tree, rows, broken)
                log += np.where(broken, changed, 0.0)
                alive &= ~broken | (impossible == 0)
        return np.where(alive, log, -np.inf)

    def _with_one_more(self, tree: ExactTree, rows: Levels, wanted: Flags) -> tuple[Ints, Floats]:
        """Impossible values and log-likelihood of a tree that is fitted to one more record, by row."""
        moved = MovedRecord.of(self.sequence, tree.definition, rows)
        impossible, log = exact_likelihood(tree, np.array([self.sequence.n - 1]), moved, wanted[None, :])
        return impossible[0], log[0]


def taken(rows: Levels, chosen: Ints) -> Levels:
    """Levels of some of the rows."""
    return {name: levels[chosen] for name, levels in rows.items()}


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
