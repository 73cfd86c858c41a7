"""Two-way tables as sums over ranges of keys: their cells, and the correlations of the amounts in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.joint import JointTables
from unveil.columns.column import CodedColumn
from unveil.engines.key_range import KeyRange
from unveil.stats import ranks_of_levels
from unveil.stats.exact_sums import exact_mean, exact_sum

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
NAMES = ("pearson", "spearman")


@dataclass(frozen=True)
class TableCells:
    """The cells of a table that some file has.

    Parameters
    ----------
    first, second : (k,) int64
        Codes of the two variables.
    counts : (files, k) int64
        Records.
    """

    first: Counts
    second: Counts
    counts: Counts

    def __add__(self, other: TableCells) -> TableCells:
        # ranges have no combination of keys in common, here no code of the first variable
        return TableCells(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.second, other.second]),
            np.concatenate([self.counts, other.counts], axis=1),
        )

    def ordered(self) -> TableCells:
        """The cells in the order of their codes."""
        order = np.lexsort((self.second, self.first))
        return TableCells(self.first[order], self.second[order], self.counts[:, order])

    def joint(self, first: CodedColumn, second: CodedColumn, release: int) -> JointTables:
        """The table of the original and of one release."""
        d, s = self.counts[0], self.counts[release + 1]
        held = np.flatnonzero(d + s)
        return JointTables(
            first, [second], release, (d[held], s[held]), np.zeros(len(held), np.intp),
            self.first[held].astype(np.intp), self.second[held].astype(np.intp),
        )  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A measure that keeps the cells: one key, one variable beside it."""

    def __call__(self, keys: KeyRange) -> TableCells:
        """The cells of a range."""
        return TableCells(keys.levels[0][keys.q].astype(np.int64), keys.t, np.array(keys.counts))


@dataclass(frozen=True)
class BothMargins:
    """Records with both amounts, by the code of either.

    Parameters
    ----------
    first, second : (files, n_levels) int64
        Their numbers.
    """

    first: Counts
    second: Counts

    def __add__(self, other: BothMargins) -> BothMargins:
        return BothMargins(self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class Margins:
    """A measure of the records that have an amount in both variables.

    Parameters
    ----------
    first, second : (n_levels,) bool
        Whether each code is an amount.
    """

    first: NDArray[np.bool_]
    second: NDArray[np.bool_]

    def __call__(self, keys: KeyRange) -> BothMargins:
        """The numbers of a range."""
        a, b = keys.levels[0][keys.q], keys.t
        both = self.first[a] & self.second[b]
        return BothMargins(
            *(
                np.array([np.bincount(codes[both], one[both], size) for one in keys.counts]).astype(np.int64)
                for codes, size in ((a, len(self.first)), (b, len(self.second)))
            )
        )


@dataclass(frozen=True)
class ProductSums:
    """Exact sums of products.

    Parameters
    ----------
    totals
        Per file and correlation, in the unit of :func:`unveil.stats.exact_sums.exact_mean`.
    """

    totals: tuple[tuple[int, ...], ...]

    def __add__(self, other: ProductSums) -> ProductSums:
        return ProductSums(
            tuple(
                tuple(a + b for a, b in zip(one, two, strict=True))
                for one, two in zip(self.totals, other.totals, strict=True)
            )
        )


@dataclass(frozen=True)
class Products:
    """A measure that adds up products of what the codes of two variables are worth.

    Parameters
    ----------
    first, second : per file and correlation (n_levels,) float64
        What each code is worth, 0 where it is no amount.
    """

    first: Sequence[Sequence[Floats]]
    second: Sequence[Sequence[Floats]]

    def __call__(self, keys: KeyRange) -> ProductSums:
        """The sums of a range."""
        a, b = keys.levels[0][keys.q], keys.t
        totals = []
        for counts, of_first, of_second in zip(keys.counts, self.first, self.second, strict=True):
            held = np.flatnonzero(counts)
            totals.append(
                tuple(
                    exact_sum(x[a[held]] * y[b[held]], counts[held]) for x, y in zip(of_first, of_second, strict=True)
                )
            )
        return ProductSums(tuple(totals))


@dataclass(frozen=True)
class SpreadAmounts:
    """The amounts of two variables about their means, in the records of each file that have both, and their ranks.

    Parameters
    ----------
    first, second : per file and correlation (n_levels,) float64
        What each code is worth, scaled so that squares are in range.
    squares
        Per file and correlation the product of the roots of the sums of squares; NaN where one of the two is constant.
    n
        Per file the number of records.
    """

    first: list[list[Floats]]
    second: list[list[Floats]]
    squares: list[list[float]]
    n: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, first: Compared, second: Compared, margins: BothMargins) -> SpreadAmounts:
        """The two variables with their records by code."""
        made = cls([], [], [], [])
        for own in zip(margins.first, margins.second, strict=True):
            sides = [_spread(variable, counts) for variable, counts in zip((first, second), own, strict=True)]
            made.first.append([worth for worth, _ in sides[0]])
            made.second.append([worth for worth, _ in sides[1]])
            made.squares.append([a * b for (_, a), (_, b) in zip(*sides, strict=True)])
            made.n.append(int(own[0].sum()))
        return made

    def figures(self, sums: ProductSums) -> list[dict[str, float]]:
        """Per release the correlations of the original, of the release, and their difference."""
        found = [
            [_correlation(total, n, root) for total, root in zip(totals, roots, strict=True)]
            for totals, n, roots in zip(sums.totals, self.n, self.squares, strict=True)
        ]
        return [
            {
                f"{name}_{what}": value
                for name, before, after in zip(NAMES, found[0], of_release, strict=True)
                for what, value in (("original", before), ("release", after), ("difference", after - before))
            }
            for of_release in found[1:]
        ]


def _spread(variable: Compared, counts: Counts) -> list[tuple[Floats, float]]:
    """Amounts, and ranks, of each code about their mean, and the root of the sum of squares over the records."""
    held = np.flatnonzero(counts)
    places = variable.place_of_amount[held]
    by_place = np.bincount(places, counts[held]).astype(np.int64)
    spread = []
    for values in (variable.column.amounts[held], ranks_of_levels(by_place)[places] if len(held) else np.zeros(0)):
        worth = np.zeros(len(counts))
        if len(held) == 0 or values.min() == values.max():
            spread.append((worth, math.nan))
            continue
        scaled = values / np.abs(values).max()
        n = int(counts.sum())
        scaled = scaled - exact_mean(exact_sum(scaled, counts[held]), n)
        worth[held] = scaled
        spread.append((worth, math.sqrt(float(scaled**2 @ counts[held]))))
    return spread


def _correlation(total: int, n: int, root: float) -> float:
    if math.isnan(root) or not root > 0:
        return math.nan
    return max(-1.0, min(1.0, exact_mean(total, n) * n / root))
