"""Ranks against those of scipy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from unveil.stats import mean_ranks, ranks_of_levels


@given(st.lists(st.sampled_from([-0.1, 0.0, 1e-300, 0.3, 0.1 + 0.2, 7e12]) | st.floats(-1, 1), max_size=30))
def test_ranks_are_those_of_scipy(values: list[float]) -> None:
    assert mean_ranks(np.array(values)).tolist() == rankdata(values).tolist()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_ranks_of_levels_are_those_of_their_records(counts: list[int]) -> None:
    codes = np.repeat(np.arange(len(counts)), counts)
    assert ranks_of_levels(np.array(counts))[codes].tolist() == rankdata(codes).tolist()
