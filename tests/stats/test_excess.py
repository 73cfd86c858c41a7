"""One rule for the excess over a null, whatever the measure is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.stats import excess, excess_interval, over_null


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 4, n)
    return pa.table(
        {"k": k, "l": rng.integers(0, 3, n), "t": np.array(["x", "y", "z"])[(k + rng.integers(0, 2, n)) % 3]}
    )


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    return unveil.Pair(people(120, 1), people(120, 2))


def same(found: tuple[float, float], wanted: tuple[float, float]) -> None:
    assert found == pytest.approx(wanted, nan_ok=True)


def test_tables_and_rapid_have_the_interval_of_the_one_rule(pair: unveil.Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each the shares of the shuffles are caught, and the interval is worked out of them again."""
    caught: list[Any] = []

    def kept(share: float, null: Any, sampling: tuple[float, float], level: float) -> Any:
        caught.append((share, np.array(null), sampling, level))
        return over_null(share, null, sampling, level)

    monkeypatch.setattr("unveil._tables.compared_measure.over_null", kept)
    ladder = unveil.attribute(pair, ["k", "l"], target="t").ladder(permutations=39, level=0.9)
    for name in ("DiSCO", "DCAPd"):
        rung = ladder.mean[name]
        share, null, sampling, level = next(one for one in reversed(caught) if one[0] == rung.value / 100)
        assert len(null) == 39
        assert sampling == pytest.approx((rung.interval[0] / 100, rung.interval[1] / 100))
        same(tuple(end / 100 for end in rung.excess_interval), excess_interval(share, null, sampling, level))

    attack = unveil.rapid(pair, ["k", "l"], target="t", attacker="cart", permutations=39, ceiling=False, n_jobs=1)
    run, rule = attack.runs[0], attack.runner.rule
    null = np.array([one.scores.rates((rule.threshold,), rule)[0] for one in run.null])
    ends = attack.intervals(level=0.9)[0]
    same(ends["excess"], excess_interval(attack.rate, null, ends["bootstrap"], 0.9))
    whole = attack.above_null(level=0.9)
    same(whole.interval, ends["excess"])
    assert whole.excess == pytest.approx(excess(attack.rate, float(null.mean())))


@pytest.mark.parametrize(("share", "covers"), [(0.25, True), (0.6, False)])
def test_it_covers_0_where_the_test_does_not_reject(share: float, covers: bool) -> None:
    null = np.linspace(0.15, 0.35, 39)
    low, high = over_null(share, null, (share - 0.01, share + 0.01), 0.95).interval
    assert (low <= 0 <= high) == covers
    assert low <= excess(share, float(null.mean())) <= high
