"""The same ratios where some variables of a sequence are walked, and the others fitted to every other original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.refitted import row_of
from unveil._intruders.whole_records import Levels, WalkedRecords, WholeRecords
from unveil._posterior.fixed import FixedTree
from unveil._posterior.refitted_variables import AS_IT_IS, OtherOriginal, RefittedVariables
from unveil._posterior.tree_sequence import TreeSequence

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class MixedRecords(WholeRecords):
    """Ratios of a sequence, some variables of which are walked and the others fitted.

    Parameters
    ----------
    sequence
        Codes of the files.
    trees
        The trees that are walked.
    refitted
        The other variables.
    """

    def __init__(self, sequence: TreeSequence, trees: Sequence[FixedTree], refitted: RefittedVariables):
        recodings = tuple(one for one in sequence.recodings if one.variable not in refitted.names)
        self.walked, self.refitted = WalkedRecords(replace(sequence, recodings=recodings), trees), refitted
        self.log = sum(float(refitted.log(name, AS_IT_IS)[1].sum()) for name in refitted.names)

    def replaced(self, members: Ints, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        others = [OtherOriginal(r, row_of(rows, i)) for i, r in enumerate(members.tolist())]
        return -self._against(others, -self.walked.replaced(members, rows))

    def removed(self, members: Ints) -> Floats:
        """See :class:`WholeRecords`."""
        return -self._against([OtherOriginal(r) for r in members.tolist()], -self.walked.removed(members))

    def added(self, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        size = next(iter(rows.values())).size
        return self._against([OtherOriginal(None, row_of(rows, i)) for i in range(size)], self.walked.added(rows))

    def _against(self, others: Sequence[OtherOriginal], walked: Floats) -> Floats:
        """Other originals against the original, given the same of the walked variables; those that they rule out."""
        found = walked.copy()
        for i in np.flatnonzero(np.isfinite(walked)).tolist():
            logs = [self.refitted.log(name, others[i]) for name in self.refitted.names]
            possible = not any(impossible.any() for impossible, _ in logs)
            found[i] += sum(float(log.sum()) for _, log in logs) - self.log if possible else -np.inf
        return found
