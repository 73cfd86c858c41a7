"""Attackers that are trained on a sample of the release: what is drawn, what stays, and what intervals then cover."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._rapid import rapid
from unveil._rapid.attack import null_rates
from unveil._rapid.attribution import attribute_flags
from unveil._rapid.sample import MOST_RECORDS, sampling_half
from unveil.models.learners import ATTACKERS

KEYS = ["x", "k"]


def people(n: int, rng: np.random.Generator) -> pa.Table:
    x, k = rng.integers(0, 12, n), rng.choice(list("abc"), n)
    t = np.digitize(x / 4 - 1.5 + (k == "a") + rng.normal(size=n), [-0.4, 0.4])
    return pa.table({"x": x, "k": k, "t": np.array(["low", "middle", "high"])[t], "y": np.round(50 + x + 9.0 * t)})


@pytest.fixture(scope="module")
def files() -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(1)
    return people(700, rng), people(1500, rng)


@pytest.fixture(scope="module")
def pair(files: tuple[pa.Table, pa.Table]) -> unveil.Pair:
    return unveil.Pair(*files)


def attacked(pair: unveil.Pair, **options: Any) -> Any:
    return rapid(pair, KEYS, **{"target": "t", "attacker": "cart", "permutations": 4, "n_jobs": 1} | options)


def test_files_that_are_no_larger_are_used_whole(pair: unveil.Pair) -> None:
    whole, exact = attacked(pair), attacked(pair, most_records=1500)
    assert whole.sample is None
    assert whole.to_dict() == exact.to_dict()
    assert not any("were trained on" in note for note in exact.notes)
    # the file that most papers use stays whole
    assert MOST_RECORDS > 48_842


@pytest.mark.parametrize("target", ["t", "y"])
def test_all_persons_are_attacked_by_a_model_of_some_records(pair: unveil.Pair, target: str) -> None:
    found = attacked(pair, target=target, most_records=200, metric="sd", epsilon=0.5)
    assert (found.sample.records, found.sample.of) == ((200,), (1500,))
    assert found.n_counted == 700 == found.attacks[0]["n"]
    assert found.n_synthetic == (1500,)
    assert any("200 of 1500 records of a release, drawn with seed 0" in note for note in found.notes)
    assert "200 of 1500" in str(found)
    assert found.to_dict()["sample"] == {"records": [200], "of": [1500]}
    assert len(found.run().samples) == 5
    # a release that is the sample gives the same figures
    runner = found.runner
    alone = replace(
        runner, problem=replace(runner.problem, releases=(runner._drawn(runner.problem.releases[0], 4, 0, 0),))
    )
    assert len(alone.problem.releases[0]) == 200
    again = alone.attack(ATTACKERS["cart"], 0, 0, permutations=4, ceiling=None, tick=lambda _: None)
    assert again.rate == found.rate
    assert (again.score == found.run().score).all()
    assert null_rates([again], [0.3], runner.rule).tolist() == null_rates(found.runs, [0.3], runner.rule).tolist()


def test_the_ceiling_is_that_of_a_sample(pair: unveil.Pair) -> None:
    assert attacked(pair, most_records=200).run().ceiling.counts.sum() == 200
    assert attacked(pair, most_records=700).run().ceiling.counts.sum() == 700


def test_neither_the_order_of_records_nor_threads_matter(files: tuple[pa.Table, pa.Table], pair: unveil.Pair) -> None:
    rng = np.random.default_rng(2)
    turned = unveil.Pair(*(one.take(rng.permutation(one.num_rows)) for one in files))
    first = attacked(pair, most_records=300, attacker=["cart", "rf"])
    second = attacked(turned, most_records=300, attacker=["cart", "rf"], n_jobs=2)
    assert first.attacks == second.attacks
    assert first.intervals() == second.intervals()
    assert attacked(pair, most_records=300, seed=1).rate != first.each["cart"]["mean"]


def test_a_sample_costs_length(pair: unveil.Pair) -> None:
    """Intervals of a model of few records are longer by what its samples differ, in quadrature."""
    found = attacked(pair, most_records=150, ceiling=False)
    rates = [one.rates((found.threshold,), found.runner.rule)[0] for one in found.run().samples]
    assert rates[0] == found.rate
    half = 2.7764451 * np.std(rates, ddof=1)
    assert sampling_half(found.runs, [found.threshold], found.runner.rule, 0.95)[0] == pytest.approx(half)
    low, high = found.intervals()[0]["bootstrap"]
    assert half > 0.01
    assert high - found.rate > half
    assert found.rate - low > half
    assert found.interval().low == pytest.approx(low)
    curve = found.curve([found.threshold]).lines[0]
    assert (curve.low[0], curve.high[0]) == pytest.approx((low, high))
    # persons alone
    wilson = found.intervals()[0]["wilson"]
    assert wilson[1] - wilson[0] < high - low


def test_keys_are_permuted_among_some_persons(pair: unveil.Pair) -> None:
    """What permuting a key takes is a mean over persons, so some of them tell it; the model is the same."""
    found = attacked(pair, most_records=500, attacker="rf", permutations=0, ceiling=False)
    runner, run = found.runner, found.run()
    some = {one["key"]: one for one in found.attribution(repeats=8).importance}
    everybody = replace(runner, most_records=700)
    assert len(runner.persons()) == len(set(runner.persons().tolist())) == 500
    assert len(everybody.persons()) == 700
    for one in attribute_flags(run, everybody, repeats=8).importance:
        assert some[one["key"]]["rate"] == pytest.approx(one["rate"], abs=0.05)
        assert some[one["key"]]["score"] == pytest.approx(one["score"], abs=0.05)
        assert some[one["key"]] != one
    assert some["x"]["rate"] > 0.05


def test_progress_counts_every_model(pair: unveil.Pair) -> None:
    heard: list[tuple[int, int]] = []
    attacked(pair, most_records=150, progress=lambda done, total, _: heard.append((done, total)))
    assert heard[-1] == (len(heard), len(heard)) == (5 + 4 + 5, 14)


def test_the_interval_covers_what_samples_of_this_size_give_on_average() -> None:
    """Persons are few enough, and samples too, for both to matter; persons alone would be covered too rarely."""
    rng = np.random.default_rng(3)
    population, release = people(20_000, rng), people(4000, rng)
    truth = np.mean([
        attacked(unveil.Pair(population, release), most_records=120, seed=s, permutations=0, ceiling=False).rate
        for s in range(60)
    ])  # fmt: skip
    covered, alone = [], []
    for seed in range(100):
        persons = population.take(rng.integers(0, 20_000, 1000))
        found = attacked(unveil.Pair(persons, release), most_records=120, seed=100 + seed, permutations=0,
                         ceiling=False)  # fmt: skip
        ends = found.intervals(n=100)[0]
        covered.append(ends["bootstrap"][0] <= truth <= ends["bootstrap"][1])
        alone.append(ends["wilson"][0] <= truth <= ends["wilson"][1])
    assert np.mean(covered) >= 0.88
    assert np.mean(alone) < 0.8


def test_wrong_numbers_are_refused(pair: unveil.Pair) -> None:
    with pytest.raises(unveil.CallError, match="most_records"):
        attacked(pair, most_records=0)
