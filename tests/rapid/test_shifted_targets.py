"""Numbers far from 0 are inferred as well as numbers near 0."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil


def people(seed: int, shift: float) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, 300)
    return pa.table({"age": age, "region": rng.choice(list("abcd"), 300), "registered": age // 10 * 10.0 + shift})


@pytest.mark.parametrize("attacker", ["rf", "cart", "lm"])
def test_a_shift_of_the_target_changes_no_rate_by_much(attacker: str) -> None:
    near, far = (
        unveil.rapid(
            unveil.Pair(people(1, shift), people(2, shift)), ["age", "region"], target="registered", attacker=attacker,
            metric="sd", epsilon=0.1, permutations=0, ceiling=False,
        ).rate
        for shift in (0.0, 1.7e9)
    )  # fmt: skip
    assert near > 0.1
    assert far == pytest.approx(near, abs=0.03)
