"""One pass over cells gives what the formulas give, table by table and sum by sum."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil._tables.cell_sums import sum_cells
from unveil._tables.cells import Cells
from unveil._tables.exclusions import RULES, TABLES, CellRules, tabulate
from unveil._tables.sums import Shares

LEVELS = 4


@st.composite
def some_cells(draw, most=6):
    """Cells of a few combinations, some of them without a record."""
    places = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, LEVELS - 1)), unique=True, max_size=20))
    counts = st.integers(0, most)
    rows = np.array([(q, t, draw(counts), draw(counts)) for q, t in sorted(places)], np.int64).reshape(-1, 4)
    return Cells(*(np.ascontiguousarray(column) for column in rows.T))


@st.composite
def some_rules(draw):
    """Exclusions of every kind, or none."""
    flags = st.lists(st.booleans(), min_size=6, max_size=6).map(np.array)
    return CellRules(
        target_levels=draw(st.none() | flags.map(lambda found: found[:LEVELS])),
        target_gap=draw(st.none() | st.just(LEVELS - 1)),
        keys=draw(st.none() | flags),
        pairs=tuple(draw(st.lists(st.tuples(flags, st.integers(0, LEVELS - 1)), max_size=2))),
        denom_limit=draw(st.none() | st.integers(1, 4)),
    )


def by_combination(cells, counts):
    """Per cell the sum of the counts over its combination."""
    return np.array([counts[cells.q == q].sum() for q in cells.q], np.int64)


def as_fractions(shares):
    """Numerators by denominator."""
    return dict(zip(shares.denominators.tolist(), shares.numerators.tolist(), strict=True))


def expected_shares(numerators, denominators):
    """The same, added up one by one."""
    found = {}
    for a, b in zip(numerators.tolist(), denominators.tolist(), strict=True):
        if a:
            found[b] = found.get(b, 0) + a
    return dict(sorted(found.items()))


def expected_moments(shares, weights):
    """Sum and sum of squares of shares, each rounded to units of 2^-26."""
    units = [round(Fraction(share) * 2**26) for share in shares]
    pairs = list(zip(units, weights.tolist(), strict=True))
    return sum(u * w for u, w in pairs), sum(u * u * w for u, w in pairs)


@settings(max_examples=150, deadline=None)
@given(some_cells(), some_rules(), st.integers(0, LEVELS - 1), st.integers(0, 3))
def test_sums_are_those_of_the_tables(cells, rules, mode, n_large):
    tables = tabulate(cells, rules)
    d, s, disco = (tables.counts[name] for name in ("original", "synthetic", "DiSCO"))
    d_q, s_q, s_all = by_combination(cells, d), by_combination(cells, s), by_combination(cells, cells.s)
    found = sum_cells(cells, rules, LEVELS, mode=mode, n_large=n_large)
    sums = found.sums
    assert found.removed == {name: dict(removed) for name, removed in tables.removed.items()}
    assert [getattr(sums, name) for name in TABLES[2:]] == [int(tables.counts[name].sum()) for name in TABLES[2:]]
    assert (sums.disco_cells, sums.max_denom) == (int((disco > 0).sum()), int(disco.max(initial=0)))
    assert sums.in_both == int(s[d_q > 0].sum())
    alone = (d_q == 1) & (d == 1)
    assert sums.unique_original == int(alone.sum())
    assert sums.unique_synthetic == int(((s_q == 1) & (s == 1)).sum())
    assert sums.unique_found == int((alone & (s_all > 0)).sum())
    assert sums.unique_both == int((alone & (s_q == 1)).sum())
    assert as_fractions(sums.CAPd) == expected_shares(d * d, d_q)
    assert as_fractions(sums.CAPs) == expected_shares(s * s, s_q)
    assert as_fractions(sums.DCAP) == expected_shares(s * d, s_q)
    pd, ps = (np.divide(one, of, out=np.zeros(len(one)), where=of > 0) for one, of in ((d, d_q), (s, s_q)))
    assert (sums.of_CAPd.total, sums.of_CAPd.squares) == expected_moments(pd, d)
    assert (sums.of_DCAPd.total, sums.of_DCAPd.squares) == expected_moments(ps, d)
    assert found.disco.tolist() == [int(disco[cells.t == t].sum()) for t in range(LEVELS)]
    assert found.original.tolist() == [int(d[cells.t == t].sum()) for t in range(LEVELS)]
    assert found.mode_records == int(d[(cells.t == mode) & (s_all > 0)].sum())
    assert found.large.tolist() == np.flatnonzero(disco > n_large).tolist()
    assert found.large_records.tolist() == disco[disco > n_large].tolist()


def test_denominators_of_any_size_and_counts_beyond_doubles():
    # By hand: one combination of 3 + 1 and 1 + 0 records, one of 2^31 and 2^31 + 1.
    big = 2**31
    cells = Cells(*map(np.array, ([0, 0, 1], [0, 1, 0], [3, 1, big], [1, 0, big + 1])))
    sums = sum_cells(cells, CellRules(), LEVELS).sums
    assert as_fractions(sums.CAPd) == {4: 10, big: big**2}
    assert as_fractions(sums.CAPs) == {1: 1, big + 1: (big + 1) ** 2}
    assert as_fractions(sums.DCAP) == {1: 3, big + 1: big * (big + 1)}
    assert sums.max_denom == big


def test_denominators_next_to_the_size_of_the_table():
    for n in (254, 255, 256, 257):
        cells = Cells(*map(np.array, ([0, 0], [0, 1], [n - 1, 1], [0, n])))
        sums = sum_cells(cells, CellRules(), LEVELS).sums
        assert as_fractions(sums.CAPd) == {n: (n - 1) ** 2 + 1}
        assert as_fractions(sums.CAPs) == {n: n * n}
        assert as_fractions(sums.DCAP) == {n: n}


@settings(max_examples=30, deadline=None)
@given(some_cells(most=300))
def test_sums_add_up_over_combinations(cells):
    whole = sum_cells(cells, CellRules(), LEVELS, n_large=2)
    cut = [
        sum_cells(Cells(*(getattr(cells, name)[at] for name in "qtds")), CellRules(), LEVELS)
        for at in (cells.q < 3, cells.q >= 3)
    ]
    added = cut[0].sums + cut[1].sums
    for name in whole.sums.__dataclass_fields__:
        one, other = getattr(added, name), getattr(whole.sums, name)
        same = as_fractions(one) == as_fractions(other) if isinstance(one, Shares) else one == other
        assert same, name


@pytest.mark.parametrize("rule", RULES[:4])
def test_the_first_rule_that_names_a_cell_takes_it_out(rule):
    flags = {
        "not_target_levels": {"target_levels": np.array([True])},
        "use_target_na": {"target_gap": 0},
        "use_keys_na": {"keys": np.array([True])},
        "exclude_pairs": {"pairs": ((np.array([True]), 0),)},
    }
    later = {}
    for name in RULES[RULES.index(rule) : 4]:
        later |= flags[name]
    cells = Cells(*map(np.array, ([0], [0], [5], [7])))
    removed = sum_cells(cells, CellRules(**later, denom_limit=1), 1).removed
    assert removed["original"] == dict.fromkeys(RULES, 0) | {rule: 5, "remaining": 0}
    assert removed["synthetic"] == dict.fromkeys(RULES, 0) | {rule: 7, "remaining": 0}


def test_nothing():
    none = np.zeros(0, np.int64)
    found = sum_cells(Cells(none, none, none, none), CellRules(), LEVELS)
    assert found.sums.CAPd.total() == 0
    assert found.sums.DCAP.total() == 0
    assert not found.disco.any()
