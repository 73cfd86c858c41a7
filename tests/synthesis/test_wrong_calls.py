"""Wrong calls of the synthesizers: one clear line each, never an error of Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError, DataError, UnveilError, UnveilWarning
from unveil.synthesis import sdc

TABLE = pa.table({"sex": ["f", "m"] * 20, "age": list(range(20)) * 2, "day": pa.array([1] * 40, pa.date32())})
WHOLE = pa.table({"sex": ["f", "m"] * 20, "ill": ["no", "no", "yes", "no"] * 10})


@pytest.mark.parametrize("n", [10**10, 10**12, 10**18, 10**30])
@pytest.mark.parametrize("method", ["cart", "catall", "dp_bayesnet"])
def test_more_records_than_there_is_memory(n: int, method: str):
    options = {"epsilon": None} if method == "dp_bayesnet" else {}
    with pytest.raises(CallError, match=rf"{n} records of 2 variables are more than this machine has memory for"):
        unveil.synthesize(WHOLE, method=method, m=1, k=n, **options)


def test_many_copies_that_fit_one_by_one_but_not_together():
    with pytest.raises(CallError, match="more than this machine has memory for"):
        unveil.synthesize(WHOLE, m=10**9, k=1000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["cart", "norm"]}, "methods: give a name, an object with fit.., or a mapping by column"),
        ({"methods": {"age": ["norm"]}}, "methods: that of column 'age' is"),
        ({"methods": {"age": None}}, "methods: that of column 'age' is None"),
        ({"methods": 3}, "methods: give a name"),
        ({"smoothing": ["density"]}, "smoothing must be None or 'density'"),
        ({"smoothing": 3}, "smoothing must be None or 'density'"),
        ({"progress": 3}, "progress must be a function"),
        ({"special_codes": {"sex": ["f"]}}, "special_codes: column 'sex' is categorical"),
        ({"special_codes": {"day": [1]}}, "special_codes: column 'day' is date"),
        ({"special_codes": {"age": ["x"]}}, "special_codes: 'x' of the numeric column 'age' is not a number"),
        ({"special_codes": {"age": [None]}}, "special_codes: None of the numeric column 'age' is not a number"),
        ({"visit_order": 3}, "visit_order must be a list of columns"),
        ({"visit_order": "sex"}, "visit_order must be a list of columns"),
        ({"predictors": {"age": 3}}, "predictors of column 'age' must be a list of columns"),
        ({"rules": 3}, "rules are texts, or given by column as a mapping, not 3"),
        ({"rules": ["age < 3", 3]}, "rules are texts, or given by column"),
        ({"rules": {"age": 3}}, "rules of column 'age' must be a list of pairs"),
        ({"rules": {"age": ["sex"]}}, "rules of column 'age' must be a list of pairs"),
        ({"kinds": ["numeric"]}, "kinds are given by column"),
        ({"kinds": {"sex": ["numeric"]}}, "kind must be"),
    ],
)
def test_options_of_the_wrong_type(options: dict[str, Any], message: str):
    with pytest.raises(CallError, match=message) as caught:
        unveil.CartSynthesizer(**options).fit(TABLE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("minbucket", 0), ("minbucket", "5"), ("minsplit", 0), ("cp", -1), ("cp", "x"), ("max_depth", -1),
     ("surrogates", 2.5), ("collapse", "no")],
)  # fmt: skip
def test_settings_of_trees_are_checked_where_no_variable_needs_one(name: str, value: object):
    one = pa.table({"sex": ["f", "m"] * 20})
    with pytest.raises(CallError, match=rf"{name} must be .* not {value!r}"):
        unveil.synthesize(one, m=1, **{name: value})


@pytest.mark.parametrize("method", [None, ["cart"], {"sex": "cart"}])
def test_a_method_that_is_no_name(method: Any):
    with pytest.raises(CallError, match="method must be a name, such as 'cart'"):
        unveil.synthesize(TABLE, method=method)


def test_a_special_code_of_a_column_that_is_read_as_numbers_is_taken():
    text = pa.table({"income": ["100", "-8", "20", "30"] * 10, "sex": ["f", "m"] * 20})
    synthesizer = unveil.CartSynthesizer(kinds={"income": "numeric"}, special_codes={"income": -8}).fit(text)
    assert "income_part" in synthesizer.leaves()


# ------------------------------------------------------------------------------------------------ disclosure control
@pytest.mark.parametrize("function", [sdc.top_code, sdc.bottom_code])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": "x"}, "quantile must lie between 0 and 1, not 'x'"),
        ({"quantile": True}, "quantile must lie between 0 and 1, not True"),
        ({"quantile": float("nan")}, "quantile must lie between 0 and 1"),
        ({"quantile": 1.0}, "quantile must lie between 0 and 1"),
        ({"at": "x"}, "at must be a number that is finite, not 'x'"),
        ({"at": float("inf")}, "at must be a number that is finite, not inf"),
        ({"at": float("-inf")}, "at must be a number that is finite, not -inf"),
        ({"at": np.float64("inf")}, "at must be a number that is finite"),
        ({"at": float("nan")}, "at must be a number that is finite"),
        ({"at": 10**400}, "at must be a number that is finite|beyond"),
    ],
)
@pytest.mark.parametrize("values", [[1, 2, 3], [1.0, 2.5, 3.0], [1.0, float("inf"), 3.0]])
def test_thresholds_that_are_none(function: Any, options: dict[str, Any], message: str, values: list[float]):
    with pytest.raises(CallError, match=message):
        function(pa.table({"x": values}), "x", **options)


def test_a_quantile_that_is_infinite_is_no_threshold():
    table = pa.table({"x": [1.0, float("inf"), float("inf")]})
    with pytest.raises(DataError, match="the quantile is infinite"):
        sdc.top_code(table, "x", quantile=0.5)


# --------------------------------------------------------------------------------------------------- broken characters
def test_half_a_character_is_named_with_its_record():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"name": pd.Series(["a", "b\ud800", "c"], dtype=object), "x": [1, 2, 3]})
    for call in (unveil.synthesize, lambda data: unveil.Pair(data, data).column("name")):
        with pytest.raises(UnveilError, match=r"column 'name', record 2: 'b\\ud800' is not text"):
            call(frame)
    categories = pd.DataFrame(
        {"name": pd.Categorical.from_codes([0, 1, 2], pd.Index(["a", "b\ud800", "c"], dtype=object))}
    )
    with pytest.raises(UnveilError, match=r"column 'name'.*'b\\ud800' is not text"):
        unveil.synthesize(categories)
    mixed = pd.DataFrame({"name": pd.Series([1, "b\ud800", "c"], dtype=object)})
    with pytest.warns(UnveilWarning), pytest.raises(UnveilError, match=r"column 'name'.*'b\\ud800' is not text"):
        unveil.synthesize(mixed)
    with pytest.raises(UnveilError, match=r"column 1: its name 'a\\ud800' is not text"):
        unveil.synthesize(pd.DataFrame([[1], [2]], columns=pd.Index(["a\ud800"], dtype=object)))
