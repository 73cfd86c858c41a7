"""Figures by group of records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Records by group, for sums and means over the groups that have a record.

    Sums are added in ascending order, so that their rounding does not depend on the order of the records.

    Parameters
    ----------
    codes : (n_records,)
        Group of each record, from 0.
    n_groups
        Number of groups, with those that no record has.

    Examples
    --------
    >>> groups = Groups(np.array([0, 2, 2]), 4)
    >>> groups.present.tolist(), groups.n.tolist(), groups.means(np.array([0.5, 1.0, 0.0])).tolist()
    ([0, 2], [1, 2], [0.5, 0.5])
    """

    codes: NDArray[np.integer]
    n_groups: int

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.bincount(self.codes, minlength=self.n_groups)

    @property
    def present(self) -> NDArray[np.intp]:
        """Groups that have a record, ascending."""
        return np.flatnonzero(self._sizes)

    @property
    def n(self) -> NDArray[np.intp]:
        """Number of records of each group that has one."""
        return self._sizes[self.present]

    def sums(self, values: NDArray[Any]) -> Floats:
        """Sum of the values (n_records,) in each group that has a record."""
        order = np.argsort(values, kind="stable")
        weights = np.asarray(values, dtype=np.float64)[order]
        sums: Any = np.bincount(self.codes[order], weights, self.n_groups)
        return np.asarray(sums, dtype=np.float64)[self.present]

    def means(self, values: NDArray[Any]) -> Floats:
        """Mean of the values (n_records,) in each group that has a record."""
        return self.sums(values) / self.n
