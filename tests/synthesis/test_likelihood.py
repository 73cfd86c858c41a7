"""The probability of a release: against counting by hand, and against the sum over all releases."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from reference import data_file
from unveil import CallError, DataError, read
from unveil.synthesis import CartSynthesizer
from unveil.trees import Column, grow


def latner(name):
    table = read(data_file(name))
    return {f"var{i}": table.column(f"var{i}").to_pylist() for i in range(1, 5)}


def test_equals_counting_one_by_one_on_the_papers_data(shared):
    original, release = latner("latner_original"), latner("latner_syn01")
    names = list(original)
    expected = {}
    for j, name in enumerate(names):
        before = [Column.from_values(original[other]) for other in names[:j]]
        leaf = [0] * 1000
        leaf_of_release = [0] * 1000
        if before:
            tree = grow(Column.from_values(original[name]), before)
            leaf = tree.apply([np.array(original[other], dtype=float) for other in names[:j]]).tolist()
            leaf_of_release = tree.apply([np.array(release[other], dtype=float) for other in names[:j]]).tolist()
        size = Counter(leaf)
        same = Counter(zip(leaf, original[name], strict=True))
        shares = [same[pair] / size[pair[0]] for pair in zip(leaf_of_release, release[name], strict=True)]
        expected[name] = math.fsum(math.log(share) if share else -math.inf for share in shares)
    found = CartSynthesizer().fit(pa.table(original)).log_prob(pa.table(release))
    for name in names:
        assert found.variables[name] == pytest.approx(expected[name], rel=1e-12)
    assert found.total == pytest.approx(math.fsum(expected.values()), rel=1e-12)
    assert found.records.sum() == pytest.approx(found.total, rel=1e-12)
    assert (found.n_impossible, found.first_impossible) == (0, None)


def example(n=60):
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, n)
    return pa.table(
        {
            "sex": [None if u < 0.1 else "fm"[s] for s, u in zip(sex, rng.random(n), strict=True)],
            "income": [
                None if u < 0.2 else (-8 if u < 0.4 else 100 * (1 + s + int(3 * u)))
                for s, u in zip(sex, rng.random(n), strict=True)
            ],
            "flag": [bool(s) if u < 0.8 else None for s, u in zip(sex, rng.random(n), strict=True)],
            "grade": [int(s + 2 * u) for s, u in zip(sex, rng.random(n), strict=True)],
        }
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"collapse": False, "minbucket": 2},
        {"visit_order": ["grade", "income", "flag", "sex"], "minbucket": 1},
        {"predictors": {"flag": ["sex"], "grade": []}},
        {"methods": "sample"},
        {"rules": {"flag": [("income is None", True)], "grade": [({"sex": "f"}, 0)]}},
    ],
    ids=["default", "not collapsed", "other order", "chosen predictors", "sample", "rules"],
)
@pytest.mark.filterwarnings("ignore:.*check the rule")
def test_one_record_releases_sum_to_one(options):
    original = example()
    values = [original[name].unique().to_pylist() for name in original.column_names]
    records = list(zip(*itertools.product(*values), strict=True))
    every = pa.table(
        {
            name: pa.array(column, original.schema.field(name).type)
            for name, column in zip(original.column_names, records, strict=True)
        }
    )
    fitted = CartSynthesizer(special_codes={"income": [-8]}, **options).fit(original)
    assert np.exp(fitted.log_prob(every).records).sum() == pytest.approx(1, rel=1e-12)


def test_own_releases_are_possible_and_as_likely_as_they_are_frequent():
    original = example()
    fitted = CartSynthesizer(special_codes={"income": [-8]}).fit(original)
    release = fitted.sample(20_000, seed=1)
    found = fitted.log_prob(release)
    assert found.n_impossible == 0
    keys = list(zip(*release.to_pydict().values(), strict=True))
    frequency = Counter(keys)
    probability = dict(zip(keys, np.exp(found.records).tolist(), strict=True))
    chi_square = sum((frequency[k] - 20_000 * p) ** 2 / (20_000 * p) for k, p in probability.items())
    cells = len(probability)
    assert abs(chi_square - cells) < 6 * math.sqrt(2 * cells)


def test_the_first_impossible_cell_is_named():
    fitted = CartSynthesizer(special_codes={"income": [-8]}).fit(example())
    release = example(6).to_pydict()
    release["income"][4] = 123_456
    release["grade"][2] = 77
    release["sex"][5] = "x"
    release["flag"][3] = None
    found = fitted.log_prob(pa.table(release))
    assert found.total == -math.inf
    assert math.isfinite(found.finite)
    assert found.n_impossible == 3
    assert (found.first_impossible.column, found.first_impossible.record, found.first_impossible.value) == (
        "sex",
        5,
        "x",
    )
    assert found.variables["income"] == -math.inf
    assert np.isneginf(found.records).tolist() == [False, False, True, False, True, True]
    assert "'x' in column" in str(found)


def test_a_gap_that_the_original_does_not_have_is_impossible():
    fitted = CartSynthesizer().fit(pa.table({"a": [1, 2, 3, 2], "b": ["x", "y", "x", "x"]}))
    found = fitted.log_prob(pa.table({"a": [1, None, 2], "b": ["x", "x", None]}))
    assert [found.first_impossible.column, found.first_impossible.record] == ["a", 1]
    assert found.n_impossible == 2


def test_equal_values_of_other_types_count_as_equal():
    fitted = CartSynthesizer().fit(pa.table({"a": [1, 2, 2, 4], "b": ["x", "y", "y", "x"]}))
    whole = fitted.log_prob(pa.table({"a": [2, 4], "b": ["y", "x"]})).total
    assert fitted.log_prob(pa.table({"a": [2.0, 4.0], "b": pa.array(["y", "x"]).dictionary_encode()})).total == whole


def test_what_has_no_probability_says_so():
    original = example()
    with pytest.raises(CallError, match="proper"):
        CartSynthesizer(proper=True).fit(original).log_prob(original)
    with pytest.raises(CallError, match=r"column 'grade'.*no probabilities"):
        CartSynthesizer(smoothing={"grade": "density"}).fit(original).log_prob(original)
    with pytest.raises(DataError, match="no column 'flag'"):
        CartSynthesizer().fit(original).log_prob(original.drop_columns(["flag"]))
    with pytest.raises(CallError, match="call fit"):
        CartSynthesizer().log_prob(original)


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.timestamp("us"), pa.time32("s"), pa.duration("s"), pa.int16()], ids=str
)
def test_a_release_without_records_is_certain(kind):
    d = pa.table({"a": [i % 5 for i in range(50)], "x": pa.array([i % 7 for i in range(50)], kind)})
    fitted = CartSynthesizer().fit(d)
    for release in (fitted.sample(0), d.slice(0, 0), d.schema.empty_table()):
        found = fitted.log_prob(release)
        assert (found.total, found.n_impossible, found.records.size) == (0.0, 0, 0)


def test_a_drawn_number_that_reads_like_a_special_code_counts_as_one():
    """One-record releases of a normal number with special codes and gaps sum to 1, and are as frequent as stated.

    What comes later depends on the code, not on a number that nobody could tell from it.
    """
    rng = np.random.default_rng(3)
    n = 80
    income = np.where(rng.random(n) < 0.2, -2, np.round(rng.normal(0, 2, n)))
    job = np.where(income == -2, rng.choice(["x", "y"], n, p=[0.9, 0.1]), rng.choice(["x", "y"], n, p=[0.1, 0.9]))
    sex = rng.choice(["f", "m"], n)
    table = pa.table({"sex": sex, "income": pa.array(income, mask=rng.random(n) < 0.1), "job": job})
    fitted = CartSynthesizer(methods={"income": "norm"}, special_codes={"income": [-2]}).fit(table)
    values = [*map(float, range(-25, 26)), None]
    pairs = [pair for pair in ("fx", "fy", "mx", "my") for _ in values]
    every = pa.table(
        {"sex": [s for s, _ in pairs], "income": pa.array(values * 4, pa.float64()), "job": [j for _, j in pairs]}
    )
    probability = np.exp(fitted.log_prob(every).records)
    assert probability.sum() == pytest.approx(1)
    drawn = Counter(zip(*fitted.sample(20_000, seed=1).to_pydict().values(), strict=True))
    counts = np.array([drawn[pair] for pair in zip(*every.to_pydict().values(), strict=True)])
    often = probability > 5 / 20_000
    assert counts.sum() == 20_000
    assert (np.abs(counts - 20_000 * probability) < 4.5 * np.sqrt(20_000 * probability) + 1)[often].all()


def test_numbers_of_dates_have_no_probability():
    """What is drawn between two observed days becomes the nearer one; a method for numbers does not know of that."""
    days = pa.array(np.arange(40, dtype=np.int32) // 2 * 7, pa.date32())
    table = pa.table({"x": np.arange(40) // 3, "day": days})
    with pytest.raises(CallError, match="column 'day': its method or smoothing gives no probabilities"):
        CartSynthesizer(methods={"day": "norm"}).fit(table).log_prob(table)
