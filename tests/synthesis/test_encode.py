"""Columns to parts and back."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from unveil import CallError, read
from unveil.synthesis.encoding import encode
from unveil.synthesis.variable import Levels
from unveil.trees import Column


def one(values, **options):
    (variable,) = encode(read(pa.table({"x": values})), **options)
    return variable


def test_numbers_are_coded_by_rank():
    variable = one([3.5, 1.0, 3.5, 2.0])
    (part,) = variable.parts
    assert part.column.kind == "numeric"
    assert part.column.codes.tolist() == [2, 0, 2, 1]
    assert part.column.values.tolist() == [1.0, 2.0, 3.5]
    assert variable.decimals == 1


def test_special_values_are_set_apart_and_the_number_is_fitted_on_the_others():
    variable = one([900.0, -8.0, None, 700.0, float("inf")], special_codes={"x": [-8]})
    which, number = variable.parts
    assert which.name == "x_part"
    assert which.column.codes.tolist() == [3, 0, 2, 3, 1]
    assert number.rows.tolist() == [0, 3]
    assert number.column.values.tolist() == [0.0, 700.0, 900.0]
    assert number.column.codes.tolist() == [2, 0, 0, 1, 0]


def test_a_number_that_equals_the_filler_is_still_a_number():
    variable = one([0, 5, None])
    columns = variable.columns(Levels(variable.codes))
    assert variable.levels(columns).codes.tolist() == variable.codes.tolist()


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b"],
        [True, False, None],
        [1, None, -8, 4],
        [2**62, 2**62 + 1, None],
        [datetime.date(2020, 1, 1), None, datetime.date(1960, 5, 1)],
        [datetime.datetime(2020, 1, 1, 12, 30, 0, 7), datetime.datetime(2020, 1, 1, 12, 30, 0, 8)],
        [None, None],
        [0.5, float("inf"), None],
    ],
)
def test_parts_and_levels_are_each_others_opposite(values):
    variable = one(values, special_codes={"x": [-8]})
    columns = variable.columns(Levels(variable.codes))
    assert variable.levels(columns).codes.tolist() == variable.codes.tolist()
    found, unknown = variable.read(read(pa.table({"x": values})))
    assert found.codes.tolist() == variable.codes.tolist()
    assert not unknown.any()


def test_integers_beyond_the_exact_range_stay_apart():
    variable = one([-(2**63), 2**63 - 1, 2**63 - 2])
    assert variable.parts[0].column.codes.tolist() == [0, 2, 1]


def test_new_numbers_are_rounded_to_the_decimals_of_the_data():
    variable = one([0.5, 1.25, 3.0, None])
    which = Column(np.array([1, 1, 0], dtype=np.int32), "categorical", 2)
    levels = variable.levels((which, Column.from_values([1.2511, 2.001, 0.0])))
    assert [variable.python_values[code] for code in levels.codes.tolist()][::2] == [1.25, None]
    assert np.isnan(levels.new).tolist() == [True, False, True]
    assert levels.new[1] == 2.0


def test_new_dates_become_the_nearest_observed_one():
    days = [datetime.date(2020, 1, d) for d in (1, 5, 30)]
    variable = one(days)
    start = variable.parts[0].column.values[0]
    levels = variable.levels((Column.from_values([start + 1, start + 20, start + 400, start - 3]),))
    assert [variable.python_values[code].day for code in levels.codes.tolist()] == [1, 30, 30, 1]


def test_kinds_decide():
    assert one([1, 2, 1], kinds={"x": "categorical"}).parts[0].column.kind == "categorical"
    assert one(["3", "1"], kinds={"x": "numeric"}).parts[0].column.values.tolist() == [1.0, 3.0]
    grade = pa.DictionaryArray.from_arrays([0, 1, 2], ["low", "mid", "high"], ordered=True)
    assert one(grade).parts[0].column.kind == "ordered"
    assert one(grade).values.to_pylist() == ["low", "mid", "high"]


def test_the_order_of_declared_levels_does_not_change_the_codes_of_categories():
    first = one(pa.DictionaryArray.from_arrays([0, 1, 0], ["b", "a"]))
    second = one(pa.DictionaryArray.from_arrays([1, 0, 1], ["a", "b"]))
    assert first.codes.tolist() == second.codes.tolist() == [1, 0, 1]


def test_wrong_options_are_refused():
    with pytest.raises(CallError, match="no column 'y'"):
        one([1], kinds={"y": "numeric"})
    with pytest.raises(CallError, match=r"kind must be .* not 'number'"):
        one([1], kinds={"x": "number"})
    with pytest.raises(CallError, match="no value 7"):
        one([1, 2]).level(7)
