"""Additive sums over cells, and the measures as ratios of them.

Sums hold whole numbers only (for the CAP family: numerators by denominator), so they add up to the same bits
whatever the number of blocks or their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cells import Cells, Counts
from unveil._tables.exclusions import Tables
from unveil.limits import as_typed
from unveil.stats import Moments

MEASURES = (
    "Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO", "max_denom", "mean_denom", "baseCAPd", "CAPd", "CAPs",
    "DCAPd", "DCAPs", "DCAPb", "TCAPs", "TCAPb", "TCAP",
)  # fmt: skip
"""The attribute measures, in the order they are listed."""


@dataclass(frozen=True)
class Shares:
    """A sum of shares a / b as whole numerators by denominator.

    Parameters
    ----------
    denominators : (k,) int64
        Ascending and different.
    numerators : (k,) int64
        Sum of the numerators that stand over each denominator.
    """

    denominators: Counts
    numerators: Counts

    @classmethod
    def of(cls, numerators: Counts, denominators: Counts) -> Shares:
        """Collect numerators by their denominators; shares of nothing (0 / 0) are left out."""
        if not len(denominators):
            return cls(denominators, numerators)
        largest = int(denominators.max())
        if largest <= 4 * len(denominators):
            totals = _exact_totals(denominators, numerators, largest + 1)
            found = np.flatnonzero(totals)
            return cls(found, totals[found])
        found, positions = np.unique(denominators, return_inverse=True)
        totals = _exact_totals(positions, numerators, len(found))
        return cls(found[totals > 0], totals[totals > 0])

    def __add__(self, other: Shares) -> Shares:
        return Shares.of(
            np.concatenate([self.numerators, other.numerators]),
            np.concatenate([self.denominators, other.denominators]),
        )

    def times(self, n: int) -> Shares:
        """The sum over n equal blocks."""
        return Shares(self.denominators, n * self.numerators)

    def total(self) -> float:
        """The sum, correctly rounded once per denominator."""
        return math.fsum((self.numerators / self.denominators).tolist())


def _exact_totals(positions: NDArray[np.intp], values: Counts, n: int) -> Counts:
    # Float weights are exact below 2^53; beyond it each half of the bits is summed for itself.
    if len(values) * float(values.max()) < 2**53:
        return np.bincount(positions, weights=values, minlength=n).astype(np.int64)
    low, high = values & 0xFFFFFF, values >> 24
    return (np.bincount(positions, weights=high, minlength=n).astype(np.int64) << 24) + np.bincount(
        positions, weights=low, minlength=n
    ).astype(np.int64)


@dataclass(frozen=True)
class AttributeSums:
    """What the attribute measures of one release are made of; adds up over disjoint sets of key combinations.

    Parameters
    ----------
    Dorig, Dsyn, iS, DiS, DiSCO, DiSDiO
        Records in the table of that name.
    disco_cells, max_denom
        Number of non-empty cells of the DiSCO table, and the largest.
    in_both
        Synthetic records whose key combination is in the original: N_b.
    CAPd, CAPs, DCAP
        Sums of shares over the cells: pd d, ps s, ps d.
    of_CAPd, of_DCAPd
        What original records contribute to CAPd and DCAPd: pd and ps of their cell, and the squares of these.
    unique_original, unique_synthetic, unique_found, unique_both
        Records of combinations with d_q = 1, with s_q = 1, with d_q = 1 and s_q > 0, and with both 1; d_q and s_q after
        exclusions, except that a combination is in the release whatever is excluded there.
    """

    Dorig: int
    Dsyn: int
    iS: int
    DiS: int
    DiSCO: int
    DiSDiO: int
    disco_cells: int
    max_denom: int
    in_both: int
    CAPd: Shares
    CAPs: Shares
    DCAP: Shares
    of_CAPd: Moments
    of_DCAPd: Moments
    unique_original: int
    unique_synthetic: int
    unique_found: int
    unique_both: int

    def __add__(self, other: AttributeSums) -> AttributeSums:
        added = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        added["max_denom"] = max(self.max_denom, other.max_denom)
        return AttributeSums(**added)

    def times(self, n: int) -> AttributeSums:
        """The sums over n equal blocks, of different key combinations."""
        found: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            found[name] = n * value if isinstance(value, int) else value.times(n)
        return AttributeSums(**found | {"max_denom": self.max_denom})


def measures(sums: AttributeSums, d_t: Counts, n_original: int, n_synthetic: int) -> dict[str, float]:
    """The attribute measures in percent; NaN where the denominator is 0.

    Parameters
    ----------
    sums
        Sums over all key combinations.
    d_t : (n_levels,) int64
        Number of original records per target level, before exclusions.
    n_original, n_synthetic
        Number of records of each file.
    """
    dcap = sums.DCAP.total()
    return {
        "Dorig": percent(sums.Dorig, n_original),
        "Dsyn": percent(sums.Dsyn, n_synthetic),
        "iS": percent(sums.iS, n_original),
        "DiS": percent(sums.DiS, n_original),
        "DiSCO": percent(sums.DiSCO, n_original),
        "DiSDiO": percent(sums.DiSDiO, n_original),
        "max_denom": float(sums.max_denom),
        "mean_denom": sums.DiSCO / sums.disco_cells if sums.disco_cells else math.nan,
        "baseCAPd": percent(int((d_t.astype(object) ** 2).sum()), n_original**2),
        "CAPd": percent(sums.CAPd.total(), n_original),
        "CAPs": percent(sums.CAPs.total(), n_synthetic),
        "DCAPd": percent(dcap, n_original),
        "DCAPs": percent(dcap, n_synthetic),
        "DCAPb": percent(dcap, sums.in_both),
        "TCAPs": percent(sums.DiSCO, n_synthetic),
        "TCAPb": percent(sums.DiSCO, sums.in_both),
        "TCAP": percent(sums.DiSCO, sums.DiS),
    }


def percent(numerator: float, denominator: int) -> float:
    """100 times the ratio, or NaN where the denominator is 0."""
    return 100 * numerator / denominator if denominator else math.nan


def identity_measures(sums: AttributeSums, n_original: int, n_synthetic: int) -> dict[str, float]:
    """The identity measures of the cells that the exclusions left."""
    return {
        "UiO": percent(sums.unique_original, n_original),
        "UiS": percent(sums.unique_synthetic, n_synthetic),
        "UiOiS": percent(sums.unique_found, n_original),
        "repU": percent(sums.unique_both, n_original),
    }


def cap_at(cells: Cells, tables: Tables, taus: Iterable[float]) -> list[int | float]:
    """Sum of ps d over the cells that reach tau, for each tau.

    Whether ps reaches tau is settled on all records, like what is disclosive; ps and d themselves are those that the
    exclusions leave. Certain guesses are those of the DiSCO table, from which a limit on the size of cells takes cells
    by their original records alone.
    """
    d, s = tables.counts["original"], tables.counts["synthetic"]
    s_q = cells.over_keys(s)
    kept = (d > 0) & (s > 0)
    settled, settled_q = cells.s[kept], cells.s_q[kept]
    d, s, s_q = d[kept], s[kept], s_q[kept]
    sums: list[int | float] = []
    for tau in taus:
        exact = as_typed(tau)
        if exact == 1:
            sums.append(int(tables.counts["DiSCO"].sum()))
            continue
        reached = settled * exact.denominator >= exact.numerator * settled_q
        sums.append(Shares.of((s * d)[reached], s_q[reached]).total())
    return sums


def mean_over(releases: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each measure averaged over the releases in which it is defined."""
    means = {}
    for name in releases[0]:
        defined = [r[name] for r in releases if not np.isnan(r[name])]
        means[name] = sum(defined) / len(defined) if defined else float("nan")
    return means
