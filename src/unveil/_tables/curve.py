"""CAP(tau): correct attribution by guesses that the release makes with a share of at least tau."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np

from unveil._tables.cells import Cells
from unveil._tables.exclusions import Tables
from unveil._tables.sums import cap_at
from unveil.errors import CallError
from unveil.files.source import Flavour
from unveil.limits import exceeds
from unveil.result import Result

_RISES = "The limit on the size of cells takes more from guesses that are not certain: DiSCO stands above them."


@dataclass(frozen=True, repr=False)
class CapCurve(Result):
    """CAP(tau) in percent of original records: ``100 sum ps_tq d_tq [ps_tq >= tau] / N_d``.

    It falls from DCAPd at tau = 0 to DiSCO at tau = 1. Under exclusions too: whether ps_tq reaches tau is settled on
    all records, and what is excluded then counts 0. A ``denom_limit`` that leaves cells out takes large synthetic cells
    from DCAPd and not from DiSCO; the curve may then rise at tau = 1, and says so.

    Attributes
    ----------
    keys, target
        The key variables and the target variable.
    taus : (k,)
        Thresholds, ascending, between 0 and 1.
    releases : tuple of (k,)
        The values, per release.
    labels
        What the releases are called.
    warnings
        Those of the measures.
    """

    _words = "words.tables.cap_curve"
    _drawing = "plots.tables.plot_cap_curve"

    keys: tuple[str, ...]
    target: str
    taus: tuple[float, ...]
    releases: tuple[tuple[float, ...], ...]
    labels: tuple[str, ...]
    flavour: Flavour
    unit: tuple[str, ...] = field(default=(), kw_only=True)
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain values."""
        return {"tau" if name == "taus" else name: values for name, values in super().to_dict().items()}

    def _columns(self) -> dict[str, Any]:
        """A row per release and threshold."""
        return {
            "release": np.repeat(self.labels, len(self.taus)).tolist(),
            "tau": list(self.taus) * len(self.labels),
            "CAP": [value for values in self.releases for value in values],
        }


def cap_curve(
    blocks: Sequence[tuple[Cells, Tables]], taus: Sequence[float] | None, keys: tuple[str, ...], target: str,
    labels: tuple[str, ...], n_original: int, flavour: Flavour, warnings: tuple[str, ...] = (),
) -> CapCurve:  # fmt: skip
    """Evaluate CAP(tau) of each release.

    Parameters
    ----------
    blocks
        Cells and tables of each release.
    taus
        Thresholds between 0 and 1; by default 0, 0.05, ..., 1.
    keys, target, labels, n_original, flavour, warnings
        Carried over to the result.

    Raises
    ------
    CallError
        If a threshold lies outside 0 to 1.
    """
    if taus is None:
        grid = tuple(np.round(np.arange(21) / 20, 2).tolist())
    else:
        given = list(taus) if isinstance(taus, Iterable) else []
        if not given or any(isinstance(tau, bool | str) or not isinstance(tau, SupportsFloat) for tau in given):
            raise CallError(f"taus are a sequence of numbers between 0 and 1, not {taus!r}")
        grid = tuple(sorted({float(tau) for tau in given}))
    if not all(0 <= tau <= 1 for tau in grid):
        raise CallError(f"taus lie between 0 and 1, not at {list(grid)!r}")
    values = tuple(tuple(100 * total / n_original for total in cap_at(cells, tables, grid)) for cells, tables in blocks)
    rises = any(exceeds(after, before) for line in values for before, after in pairwise(line))
    said = (*warnings, _RISES) if rises else warnings
    return CapCurve(keys, target, grid, values, labels, flavour, said)
