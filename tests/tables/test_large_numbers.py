"""Counts beyond 2^53 and key spaces beyond 2^62: no bit is lost and no two combinations meet."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from unveil._tables.sums import Shares
from unveil.columns.combinations import fold


@pytest.mark.parametrize("denominators", [[3, 3, 5, 3], [3, 3, 10**6, 3]], ids=["dense", "sparse"])
@pytest.mark.parametrize("large", [2**50, 2**53, 2**60], ids=str)
def test_numerators_are_added_to_the_last_bit(denominators: list[int], large: int) -> None:
    """Floats hold every whole number up to 2^53 only: each of these sums would lose its last bits."""
    numerators = [large + 1, large + 1, 2 * large + 3, 1]
    found = Shares.of(np.array(numerators), np.array(denominators))
    wanted: dict[int, int] = {}
    for n, d in zip(numerators, denominators, strict=True):
        wanted[d] = wanted.get(d, 0) + n
    assert dict(zip(found.denominators.tolist(), found.numerators.tolist(), strict=True)) == wanted
    exact = sum((Fraction(n, d) for d, n in wanted.items()), Fraction())
    assert found.total() == pytest.approx(float(exact), rel=1e-15)
    twice = found + found
    assert twice.numerators.tolist() == [2 * wanted[d] for d in sorted(wanted)]
    assert twice.denominators.tolist() == sorted(wanted)


def test_shares_of_nothing_are_left_out() -> None:
    for last in (0, 10**6):
        found = Shares.of(np.array([0, 2, 0]), np.array([0, 4, last]))
        assert (found.numerators.tolist(), found.denominators.tolist()) == ([2], [4])
    nothing = Shares.of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert nothing.total() == 0
    assert (nothing + nothing).total() == 0


@pytest.mark.parametrize(
    "n_levels",
    [[3, 4, 5], [1, 2, 1], [2**20, 2**20, 2**20], [2**31, 2**31], [2**30, 2**31, 2], [2**31] * 5, [10, 2**61, 3]],
    ids=str,
)
@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_equal_exactly_where_all_codes_are(n_levels: list[int], n: int) -> None:
    rng = np.random.default_rng(6)
    pool = [[0, levels - 1, *rng.integers(0, levels, 3).tolist()] for levels in n_levels]
    codes = [np.array([values[i] for i in rng.integers(0, 5, n)]) for values in pool]
    size, folded = fold(codes, n_levels)
    assert len(folded) == n
    assert folded.min() >= 0
    assert folded.max() < size
    assert size <= max(4 * n, 1 << 16)
    rows = list(zip(*(one.tolist() for one in codes), strict=True))
    by_code: dict[int, set[tuple[int, ...]]] = {}
    for code, row in zip(folded.tolist(), rows, strict=True):
        by_code.setdefault(code, set()).add(row)
    assert all(len(one) == 1 for one in by_code.values())
    assert len(by_code) == len(set(rows))


def test_nobody_has_no_combination() -> None:
    for n_levels in ([3, 4], [2**31] * 3):
        size, folded = fold([np.zeros(0, dtype=np.int64) for _ in n_levels], n_levels)
        assert len(folded) == 0
        assert size >= 0
