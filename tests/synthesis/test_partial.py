"""Partially synthetic files: what is kept, what is replaced, and how probable that is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

import unveil
from command_line import called
from unveil.errors import CallError, DataError
from unveil.synthesis import CartSynthesizer


def people(n: int = 300, seed: int = 1) -> pa.Table:
    """Persons with an income that depends on their region."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["n", "s", "w"], n)
    income = rng.integers(1, 9, n) * 100 + 1000 * (region == "n")
    return pa.table({"income": pa.array(income, mask=rng.random(n) < 0.1), "age": rng.integers(18, 90, n),
                     "region": region})  # fmt: skip


def test_kept_columns_are_those_of_the_original_record_by_record() -> None:
    original = people()
    fitted = CartSynthesizer(keep=["region", "age"]).fit(original)
    one, two = fitted.sample(m=2, seed=1)
    for copy in (one, two):
        assert copy.schema == original.schema
        assert copy.drop(["income"]).equals(original.drop(["income"]))
        assert not copy["income"].equals(original["income"])
    assert not one["income"].equals(two["income"])
    in_north = one.filter(pc.equal(one["region"], "n"))["income"]
    assert pc.min(in_north).as_py() > 1000  # drawn given what is kept


def test_only_the_records_of_which_a_condition_is_true_are_replaced() -> None:
    original = people()
    copy = CartSynthesizer(replace_rows="income > 1200 and age < 80", keep="region").fit(original).sample(seed=1)
    rich = pc.and_(pc.greater(original["income"], 1200), pc.less(original["age"], 80)).fill_null(False)
    assert copy.filter(pc.invert(rich)).equals(original.filter(pc.invert(rich)))
    assert not copy.filter(rich)["age"].equals(original.filter(rich)["age"])
    assert copy.filter(rich)["region"].equals(original.filter(rich)["region"])


def test_replaced_values_have_the_distribution_of_the_replaced() -> None:
    # Who is replaced follows from a drawn value: of all records a model would draw incomes that few of the rich have.
    rng = np.random.default_rng(1)
    region = rng.choice(["n", "s"], 2000)
    income = np.where(rng.random(2000) < 0.1, np.where(region == "n", 9000, 5000), 100) + rng.integers(0, 1000, 2000)
    original = pa.table({"region": region, "income": income})
    copies = CartSynthesizer(replace_rows="income > 4000").fit(original).sample(m=3, seed=1)
    rich = income > 4000
    for copy in copies:
        drawn = copy["income"].to_numpy()
        assert np.array_equal(drawn > 4000, rich)
        assert not np.array_equal(drawn, income)
        assert set(drawn[rich]) <= set(income[rich])
        north = copy["region"].to_numpy() == "n"
        assert drawn[rich & north].min() >= 9000 > 6000 > drawn[rich & ~north].max()


def test_a_value_that_no_replaced_record_has_is_not_drawn() -> None:
    original = pa.table({"age": list(range(20, 60)) * 2, "income": [-8, 100, 200, 300] * 20})
    fitted = CartSynthesizer(replace_rows="income == -8", special_codes={"income": [-8]}).fit(original)
    assert fitted.sample(seed=1)["income"].equals(original["income"])
    assert np.isfinite(fitted.log_prob(fitted.sample(seed=1)).total)


def test_few_replaced_records_are_donors_of_each_other_which_is_said() -> None:
    with pytest.warns(unveil.UnveilWarning, match="'age > 88' is true of only [0-9]+ records, .* donors of each other"):
        CartSynthesizer(replace_rows="age > 88").fit(people())


def test_the_likelihood_is_that_of_what_is_drawn() -> None:
    original = pa.table({"a": ["x", "x", "y", "y", "y"], "b": [1, 2, 1, 1, 1]})
    fitted = CartSynthesizer(keep="a", methods="sample").fit(original)
    release = pa.table({"a": original["a"], "b": [1, 1, 2, 1, 1]})
    assert np.exp(fitted.log_prob(release).records).tolist() == pytest.approx([0.8, 0.8, 0.2, 0.8, 0.8])
    moved = fitted.log_prob(pa.table({"a": ["y", "x", "x", "y", "y"], "b": [1, 1, 1, 1, 1]}))
    assert (moved.n_impossible, moved.first_impossible.record) == (2, 0)
    with pytest.warns(unveil.UnveilWarning, match="only 2 records"):
        some = CartSynthesizer(replace_rows="a == 'x'", methods="sample").fit(original)
    # Fitted to the two records that are replaced: x is certain, 1 and 2 are as frequent there.
    assert np.exp(some.log_prob(original).records).tolist() == pytest.approx([0.5, 0.5, 1, 1, 1])
    with pytest.raises(DataError, match="3 records, not the 5 of the original"):
        fitted.log_prob(release.slice(0, 3))


def test_rules_hold_in_what_is_drawn() -> None:
    original = pa.table({"sex": ["m", "f"] * 100, "pregnant": ["no", "yes", "no", "no"] * 50,
                         "gross": list(range(50)) * 4, "tax": [5] * 200, "net": list(range(-5, 45)) * 4})  # fmt: skip
    rules = ["not (sex == 'm' and pregnant == 'yes')", "net = gross - tax"]
    fitted = CartSynthesizer(keep=["sex", "tax"], rules=rules, methods={"pregnant": "sample"}).fit(original)
    copy = fitted.sample(seed=1)
    assert copy["sex"].equals(original["sex"])
    assert copy.filter(pc.equal(copy["sex"], "m"))["pregnant"].unique().to_pylist() == ["no"]
    assert copy["net"].to_pylist() == [g - 5 for g in copy["gross"].to_pylist()]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep": ["regoin"]}, CallError, "keep: there is no column 'regoin'.*'region'"),
        ({"keep": []}, CallError, "keep: name one column or several"),
        ({"keep": 3}, CallError, "keep: name one column or several, not 3"),
        ({"keep": ["age", "region", "income"]}, CallError, "keep names every column"),
        ({"keep": "age", "visit_order": ["income", "age", "region"]}, CallError, "columns that are kept come first"),
        ({"keep": "age", "rules": "age=18 if region == 'n'"}, CallError, "column 'age' is kept as it is"),
        ({"keep": "age", "by": "region"}, CallError, "strata of partially synthetic files are not drawn"),
        ({"replace_rows": "income >"}, CallError, "cannot be read"),
        ({"replace_rows": "incom > 3"}, CallError, "there is no column 'incom'"),
        ({"replace_rows": "income > 99999"}, DataError, "is true of no record"),
    ],
)
def test_what_cannot_be_kept(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        CartSynthesizer(**options).fit(people())
    assert "\n" not in str(caught.value)


def test_what_needs_synthetic_records_is_refused_in_one_line() -> None:
    original = people()
    fitted = CartSynthesizer(keep="region").fit(original)
    pair = unveil.Pair(original, fitted.sample(seed=1))
    calls = [
        lambda: unveil.posterior(pair, fitted, target="income", records=[0]),
        lambda: unveil.exact_membership(pair, fitted, candidates="halves"),
        lambda: fitted.sample(10),
        lambda: fitted.sample_blocks(10),
        lambda: unveil.synthesize(original, keep="region", k=10),
    ]
    for call in calls:
        with pytest.raises(CallError, match="partially synthetic file") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_the_command_line_keeps_columns_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = people()
    pyarrow.csv.write_csv(original, tmp_path / "o.csv")
    monkeypatch.chdir(tmp_path)
    words = ["synthesize", "o.csv", "-o", "copies", "-m", "2", "--keep", "region,age", "--seed", "1", "--replace-rows"]
    status, said, complaint = called([*words, "age > 30"], monkeypatch, capsys)
    assert status == 0, complaint
    assert "Partially synthetic" in said
    facts = json.loads(next((tmp_path / "copies").glob("*.json")).read_text())
    assert facts["settings"]["keep"] == ["region", "age"]
    assert facts["settings"]["replace_rows"] == "age > 30"
    assert {one["name"]: one["method"] for one in facts["variables"]}["region"] == "kept"
    copies = sorted(str(one) for one in (tmp_path / "copies").glob("*.csv"))
    words = ["match-risk", "o.csv", *copies, "--keys", "region,income", "--records", "r.csv"]
    status, said, complaint = called(words, monkeypatch, capsys)
    assert status == 0, complaint
    assert "true rate" in said
    assert pyarrow.csv.read_csv(tmp_path / "r.csv").num_rows == original.num_rows
