"""Synthesizers whose record i is made of record i of the original are refused, and no others."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._intruders.record_places import equal_places, ranks_in_place
from unveil.errors import CallError

N = 60


class OfOneRecordEach:
    """Changes some values of every record, or adds noise to it; in a random order where it is asked for."""

    def __init__(self, *, shuffled):
        self.shuffled = shuffled

    def fit(self, frame):
        self.rows = frame.to_pylist()
        return self

    def sample(self, n, seed):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n) if self.shuffled else np.arange(n)
        rows = [self.rows[i % len(self.rows)] for i in order]
        made = {"town": [row["town"] if rng.random() < 0.8 else "a" for row in rows]}
        if "pay" in self.rows[0]:
            made["pay"] = [row["pay"] + 0.1 * rng.normal() for row in rows]
        return pa.table(made)

    def log_prob(self, frame):
        return 0.0


class SortedShares:
    """Draws towns by their shares, and gives them in sorted order: as a histogram does."""

    def fit(self, frame):
        self.towns = frame.column("town").to_pylist()
        return self

    def sample(self, n, seed):
        return pa.table({"town": np.sort(np.random.default_rng(seed).choice(self.towns, n))})

    def log_prob(self, frame):
        shares = {town: self.towns.count(town) / len(self.towns) for town in self.towns}
        return float(np.log([shares[town] for town in frame.column("town").to_pylist()]).sum())


def people(*, amounts=False, constant=False):
    rng = np.random.default_rng(1)
    columns = {"town": ["a"] * N if constant else rng.choice(list("abcdefgh"), N)}
    return pa.table(columns | ({"pay": rng.normal(size=N)} if amounts else {}))


def asked(measure, synthesizer, original):
    pair = unveil.Pair(original, original.slice(1))
    others = pa.table({name: original.column(name).take([5, 9]) for name in original.column_names})
    if measure == "loss":
        return unveil.privacy_loss(pair, synthesizer, candidates=others, persons=2, curves=1, releases=3)
    return unveil.exact_membership(pair, synthesizer, candidates=others, sample=2)


@pytest.mark.parametrize("measure", ["loss", "membership"])
@pytest.mark.parametrize(("original", "column"), [(people(), "town"), (people(amounts=True, constant=True), "pay")])
def test_records_that_follow_by_place_are_refused(measure, original, column):
    with pytest.raises(CallError, match=rf"'OfOneRecordEach' makes each record .* place .*column '{column}'"):
        asked(measure, OfOneRecordEach(shuffled=False), original)


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
@pytest.mark.parametrize("synthesizer", [OfOneRecordEach(shuffled=True), SortedShares()])
@pytest.mark.parametrize("measure", ["loss", "membership"])
def test_records_in_any_other_order_are_taken(measure, synthesizer):
    assert asked(measure, synthesizer, people())


def test_mean_and_variance_over_all_orders():
    """By enumeration of the 720 orders of six values."""
    original, released = np.array([0, 0, 1, 2, 1, 0]), np.array([0, 1, 1, 2, 0, 2])
    orders = [released[list(order)] for order in itertools.permutations(range(6))]
    for statistic in (equal_places, ranks_in_place):
        figures = np.array([statistic(original, one) for one in orders])
        assert figures.mean() == pytest.approx(0, abs=1e-12)
        assert figures.var() == pytest.approx(1)


def test_nothing_is_said_of_columns_with_one_value():
    same = np.zeros(30, dtype=np.int32)
    assert equal_places(same, same) == ranks_in_place(same, same) == 0
