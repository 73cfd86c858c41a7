"""The same ratios where some variables of a sequence are walked, and the others fitted to every other original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.refitted import added_originals, removed_originals, replaced_originals
from unveil._intruders.whole_records import Levels, Told, WalkedRecords, WholeRecords
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

    def replaced(self, members: Ints, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return -self._against(replaced_originals(members, rows), -self.walked.replaced(members, rows, _nobody), told)

    def removed(self, members: Ints, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return -self._against(removed_originals(members), -self.walked.removed(members, _nobody), told)

    def added(self, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return self._against(added_originals(rows), self.walked.added(rows, _nobody), told)

    def _against(self, others: Sequence[OtherOriginal], walked: Floats, told: Told) -> Floats:
        """Other originals against the original, given the same of the walked variables; those that they rule out."""
        found = walked.copy()
        for i, other in enumerate(others):
            if np.isfinite(walked[i]):
                logs = [self.refitted.log(name, other) for name in self.refitted.names]
                possible = not any(impossible.any() for impossible, _ in logs)
                found[i] += sum(float(log.sum()) for _, log in logs) - self.log if possible else -np.inf
            told(i + 1)
        return found


def _nobody(done: int) -> None:
    """The fits take the time, and not the walks."""
