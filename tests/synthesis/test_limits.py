"""Rules of a synthesis: columns that are calculated, and conditions that no record breaks."""

from __future__ import annotations

import math
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import unveil
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.synthesis import CartSynthesizer


def wages(n: int = 600, seed: int = 1) -> pa.Table:
    """Employees with gross pay, tax and net pay; some do not say what they earn."""
    rng = np.random.default_rng(seed)
    gross = (rng.integers(800, 4000, n) + rng.integers(0, 100, n) / 100).round(2)
    tax = (gross * rng.choice([0.1, 0.2], n)).round(2)
    missing = rng.random(n) < 0.1
    return pa.table(
        {
            "net": pa.array([Decimal(f"{a:.2f}") - Decimal(f"{b:.2f}") for a, b in zip(gross, tax, strict=True)],
                            pa.decimal128(12, 2), mask=missing),
            "gross": pa.array(gross, mask=missing),
            "tax": pa.array(tax),
            "works": rng.choice(["yes", "no"], n),
        }
    )  # fmt: skip


def test_a_calculated_column_follows_exactly_in_the_type_of_the_original() -> None:
    original = wages()
    fitted = CartSynthesizer(rules="net = gross - tax", smoothing={"gross": "density"}).fit(original)
    release = fitted.sample(1000, seed=1)
    assert release.schema == original.schema
    new = 0
    seen = set(original["net"].to_pylist())
    for net, gross, tax in zip(*(release[name].to_pylist() for name in ("net", "gross", "tax")), strict=True):
        if gross is None:
            assert net is None
        else:
            assert net == Decimal(f"{gross:.2f}") - Decimal(f"{tax:.2f}")
        new += net not in seen
    assert new > 500  # numbers that nobody has


def test_floats_that_differ_by_a_rounding_error_are_the_number_that_is_written() -> None:
    original = pa.table({"a": [0.3, 0.7, 7.7] * 10, "b": [0.1, 0.1, 1.1] * 10})
    original = original.append_column("c", pc.subtract(original["a"], original["b"]))
    assert original["c"][0].as_py() != 0.2  # a rounding error away
    fitted = CartSynthesizer(rules=["c = a - b"]).fit(original)
    assert fitted.log_prob(original).variables["c"] == 0
    assert fitted.log_prob(fitted.sample(seed=1)).n_impossible == 0


def test_numbers_are_rounded_to_the_decimals_of_the_column_halves_to_even() -> None:
    original = pa.table({"a": [1, 3, 5, 4] * 5, "half": [0, 2, 2, 2] * 5})
    release = CartSynthesizer(rules="half = a / 2").fit(original).sample(200, seed=1)
    assert {tuple(row.values()) for row in release.to_pylist()} == {(1, 0), (3, 2), (5, 2), (4, 2)}


def test_a_number_beyond_the_type_is_refused() -> None:
    original = pa.table({"a": pa.array([1, 100] * 10, pa.int64()), "b": pa.array([1, 100] * 10, pa.int8())})
    frames = [original]
    for library in ("pandas", "polars"):
        if find_spec(library):
            frames.append(original.to_pandas() if library == "pandas" else import_module(library).from_arrow(original))
    for frame in frames:
        with pytest.warns(UnveilWarning, match="20 of 20 records"):
            fitted = CartSynthesizer(rules="b = a * 2").fit(frame)
        with pytest.raises(DataError, match=r"(?i)column 'b': 200 is no number of its type, int8"):
            fitted.sample(seed=1)


def test_original_records_that_break_a_rule_are_counted() -> None:
    original = pa.table({"b": [1, 2, 4, 9] * 10, "a": [1, 2, 3, None] * 10, "c": ["x", "y"] * 20})
    with pytest.warns(UnveilWarning) as caught:
        CartSynthesizer(rules=["a = b", "not (c == 'x' and b > 2)", "b > a or c == 'x'"]).fit(original)
    texts = [str(one.message) for one in caught]
    calculated = "20 of 40 records where it is defined have another value of 'a' than the formula 'b' gives"
    assert any(calculated in text for text in texts)
    assert any("10 of 40 records break the rule \"not (c == 'x' and b > 2)\"" in text for text in texts)
    assert any("10 of 40 records break the rule \"b > a or c == 'x'\"" in text for text in texts)


def people(n: int = 400, seed: int = 3) -> pa.Table:
    """Sex, pregnancy and the number of births, with a gap or two."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["M", "F"], n)
    pregnant = np.where(sex == "M", "no", rng.choice(["yes", "no"], n, p=[0.3, 0.7]))
    age = rng.integers(15, 50, n)
    return pa.table({"age": age, "sex": sex, "region": rng.choice(list("abc"), n), "pregnant": pregnant,
                     "births": np.where(sex == "M", 0, rng.integers(0, 4, n))})  # fmt: skip


RULES = ["not (sex == 'M' and pregnant == 'yes')", "births == 0 or sex == 'F'"]


@pytest.mark.parametrize(
    "options",
    [{}, {"methods": "sample"}, {"methods": "rf"}, {"methods": {"births": "norm"}}, {"proper": True}, {"mix": 0.3},
     {"by": "region"}, {"visit_order": ["births", "pregnant", "region", "age", "sex"], "methods": "sample"}],
    ids=str,
)  # fmt: skip
def test_combinations_that_cannot_be_are_never_drawn(options: dict[str, Any]) -> None:
    original = people()
    release = CartSynthesizer(rules=RULES, **options).fit(original, seed=1).sample(2000, seed=1)
    males = pc.equal(release["sex"], "M")
    assert 0.2 < pc.mean(males.cast(pa.float64())).as_py() < 0.7
    assert pc.sum(pc.and_(males, pc.equal(release["pregnant"], "yes"))).as_py() == 0
    assert pc.sum(pc.and_(males, pc.not_equal(release["births"], 0))).as_py() == 0


def test_a_limited_value_is_drawn_from_the_permitted_donors_and_has_their_probability() -> None:
    original = pa.table({"a": ["x"] * 8 + ["y"] * 8, "b": [1, 1, 1, 1, 2, 2, 3, 3] * 2})
    options = {"methods": "sample", "rules": "a == 'y' or b < 3"}
    with pytest.warns(UnveilWarning, match="2 of 16 records break"):
        fitted = CartSynthesizer(**options).fit(original)
    n = 40_000
    drawn = fitted.sample(n, seed=1)
    counts = {(r["a"], r["b"]): 0 for r in drawn.to_pylist()}
    for row in drawn.to_pylist():
        counts[row["a"], row["b"]] += 1
    # given x, 3 cannot be: of the six donors left four have 1
    expected = {("x", 1): 4 / 12, ("x", 2): 2 / 12, ("y", 1): 4 / 16, ("y", 2): 2 / 16, ("y", 3): 2 / 16}
    assert set(counts) == set(expected)
    for cell, share in expected.items():
        assert counts[cell] / n == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / n))
        one = pa.table({"a": [cell[0]], "b": [cell[1]]})
        assert math.exp(fitted.log_prob(one).total) == pytest.approx(share)
    impossible = fitted.log_prob(pa.table({"a": ["x"], "b": [3]}))
    assert impossible.n_impossible == 1


@pytest.mark.parametrize("special", [None, {"d": [-8]}])
@pytest.mark.parametrize("mix", [0.0, 0.2])
def test_probabilities_of_all_possible_records_add_up_to_one(special: dict[str, Any] | None, mix: float) -> None:
    rng = np.random.default_rng(7)
    n = 120
    a, c = rng.integers(0, 3, n), rng.choice(["u", "v"], n)
    d = np.where(rng.random(n) < 0.3, -8, rng.integers(0, 3, n))
    original = pa.table({"a": a, "c": pa.array(c, mask=rng.random(n) < 0.1), "d": d})
    rules = ["c != 'u' or d != 1", "a <= d or d == -8 or c == 'v' or c is None"]
    with pytest.warns(UnveilWarning, match="break the rule"):
        fitted = CartSynthesizer(minbucket=3, rules=rules, special_codes=special, mix=mix).fit(original)
    cells = [(x, y, z) for x in range(3) for y in ("u", "v", None) for z in (-8, 0, 1, 2)]
    every = pa.table({"a": [r[0] for r in cells], "c": [r[1] for r in cells], "d": [r[2] for r in cells]})
    share = np.exp(fitted.log_prob(every).records)
    assert share.sum() == pytest.approx(1)
    drawn = [tuple(row.values()) for row in fitted.sample(30_000, seed=1).to_pylist()]
    found = np.array([drawn.count(cell) for cell in cells]) / 30_000
    assert np.abs(found - share).max() < 5 * math.sqrt(0.25 / 30_000)
    assert (found[share == 0] == 0).all()


def test_what_was_drawn_and_cannot_be_completed_is_drawn_anew() -> None:
    # a = 2 and b = 2 each occur, never together; with both no c is permitted
    original = pa.table({"a": [1, 2, 1] * 20, "b": [1, 1, 2] * 20, "c": [1, 2, 2] * 20})
    fitted = CartSynthesizer(rules="a + b + c <= 5 and a * b < 4 or c > 5", methods="sample").fit(original)
    release = fitted.sample(3000, seed=1)
    assert set(zip(*release.to_pydict().values(), strict=True)) == {
        (1, 1, 1), (1, 1, 2), (2, 1, 1), (2, 1, 2), (1, 2, 1), (1, 2, 2)
    }  # fmt: skip
    with pytest.raises(CallError, match="some values of other columns leave no value of 'c'"):
        fitted.log_prob(release)


def test_a_rule_that_no_record_can_keep() -> None:
    original = pa.table({"a": [1, 2] * 10, "b": [1, 2] * 10})
    with pytest.warns(UnveilWarning, match="20 of 20 records break"):
        fitted = CartSynthesizer(rules="a + b > 9").fit(original)
    with pytest.raises(DataError, match=r"some records cannot keep the rules 'a \+ b > 9'"):
        fitted.sample(seed=1)


def test_a_condition_about_a_calculated_column_limits_what_it_is_calculated_from() -> None:
    rng = np.random.default_rng(5)
    gross, tax = rng.integers(5, 30, 300), rng.integers(0, 20, 300)
    keep = gross >= tax
    original = pa.table({"gross": gross[keep], "tax": tax[keep], "net": (gross - tax)[keep]})
    fitted = CartSynthesizer(rules=["net = gross - tax", "net >= 0"], methods="sample").fit(original)
    release = fitted.sample(2000, seed=1)
    assert pc.min(release["net"]).as_py() >= 0
    assert release["net"].to_pylist() == pc.subtract(release["gross"], release["tax"]).to_pylist()


def test_the_same_seed_gives_the_same_records_on_any_number_of_threads() -> None:
    one, two = (CartSynthesizer(rules=RULES, n_jobs=n).fit(people()).sample(500, seed=4, m=2) for n in (1, 2))
    assert [a.equals(b) for a, b in zip(one, two, strict=True)] == [True, True]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("sex = births + 1", "'sex' is no column of numbers"),
        (["births = age - 1", "age = births + 1"], "the formula of 'births' needs, directly or not, the column itself"),
        ("births = births + 1", "the formula of 'births' needs, directly or not, the column itself"),
        ("height = births + 1", "there is no column 'height'"),
        ("births = hight + 1", "there is no column 'hight'"),
        ("age > sex", "have no order"),
        ("not pregnant", "only comparisons"),
    ],
)
def test_rules_that_the_file_does_not_fit(rules: Any, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        unveil.synthesize(people(), rules=rules, m=1)
    assert "\n" not in str(caught.value)
