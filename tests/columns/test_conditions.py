"""Conditions and formulas: what is true, false and unknown, and what numbers come to, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from unveil.columns.conditions import FALSE, TRUE, UNKNOWN, read_condition
from unveil.columns.formulas import by_combination, read_formula
from unveil.columns.known_columns import KnownColumn
from unveil.errors import CallError


@dataclass
class Coded:
    """What records have in a column."""

    codes: NDArray[np.int32]
    new: NDArray[np.float64] | None = None


def coded(**columns: list[Any]) -> tuple[dict[str, KnownColumn], dict[str, Coded]]:
    """Columns with a level for each record."""
    known = {name: KnownColumn(name, values) for name, values in columns.items()}
    return known, {name: Coded(np.arange(len(values), dtype=np.int32)) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a < b", [TRUE, FALSE, UNKNOWN, UNKNOWN]),
        ("a == b", [FALSE, TRUE, UNKNOWN, UNKNOWN]),
        ("a != b", [TRUE, FALSE, UNKNOWN, UNKNOWN]),
        ("not a < b", [FALSE, TRUE, UNKNOWN, UNKNOWN]),
        ("a < 2", [TRUE, FALSE, UNKNOWN, UNKNOWN]),
        ("not a < 2", [FALSE, TRUE, UNKNOWN, UNKNOWN]),
        ("a == 1", [TRUE, FALSE, FALSE, FALSE]),
        ("a != 1", [FALSE, TRUE, TRUE, TRUE]),
        ("a is None", [FALSE, FALSE, TRUE, TRUE]),
        ("a in [1, None]", [TRUE, FALSE, TRUE, TRUE]),
        ("a < 2 or b == 5", [TRUE, FALSE, TRUE, UNKNOWN]),
        ("a < 2 and b == 5", [FALSE, FALSE, UNKNOWN, FALSE]),
        ("a + b - 1 == 2 * 1", [TRUE, FALSE, UNKNOWN, UNKNOWN]),
        ("1 < a + a <= 6", [TRUE, TRUE, UNKNOWN, UNKNOWN]),
        ("b / (a - 1) >= 0", [UNKNOWN, TRUE, UNKNOWN, UNKNOWN]),
        ("-a < 0", [TRUE, TRUE, UNKNOWN, UNKNOWN]),
        ("2 < b - a", [FALSE, FALSE, UNKNOWN, UNKNOWN]),
    ],
)
def test_true_false_and_unknown(condition: str, expected: list[int]) -> None:
    known, records = coded(a=[1, 3, None, None], b=[2, 3, 5, None])
    found = read_condition(condition, known)
    assert found.truth(records).tolist() == expected
    assert found.holds(records).tolist() == [one == TRUE for one in expected]
    assert found.broken(records).tolist() == [one == FALSE for one in expected]


def test_a_special_code_is_a_value_and_no_size() -> None:
    known = {"a": KnownColumn("a", [-8, 5], {0}), "b": KnownColumn("b", [1, 2])}
    records = {"a": Coded(np.array([0, 1])), "b": Coded(np.array([0, 1]))}
    assert read_condition("a == -8", known).truth(records).tolist() == [TRUE, FALSE]
    assert read_condition("a > b", known).truth(records).tolist() == [UNKNOWN, TRUE]
    assert read_condition("a + b > 0", known).truth(records).tolist() == [UNKNOWN, TRUE]


def test_numbers_that_are_no_level_are_compared_too() -> None:
    known = {"a": KnownColumn("a", [1, 2]), "b": KnownColumn("b", [1.5])}
    records = {"a": Coded(np.array([0, 1, 1]), np.array([np.nan, np.nan, 1.25])), "b": Coded(np.zeros(3, np.int32))}
    assert read_condition("a < b", known).truth(records).tolist() == [TRUE, FALSE, TRUE]
    assert read_condition("a < 1.25", known).truth(records).tolist() == [TRUE, FALSE, FALSE]


def test_other_values_of_one_kind_are_compared() -> None:
    known, records = coded(born=[date(2000, 1, 1), None], moved=[date(1999, 1, 1), date(2001, 1, 1)], name=["a", "b"])
    assert read_condition("born <= moved", known).truth(records).tolist() == [FALSE, UNKNOWN]
    assert read_condition("name != name", known).truth(records).tolist() == [FALSE, FALSE]
    for condition in ("moved < name", "moved - born > 3", "moved + 1 > 2"):
        with pytest.raises(CallError, match=r"have no order|is no number"):
            read_condition(condition, known).truth(records)
    with pytest.raises(CallError, match="'born < 1960': '2000-01-01' and 1960 have no order"):
        read_condition("born < 1960", known).truth(records)


@pytest.mark.filterwarnings("error")
def test_a_text_that_python_would_warn_of_is_refused_in_silence() -> None:
    with pytest.raises(CallError, match="cannot be read"):
        read_condition("a < 5if a == 3", coded(a=[1])[0])


def test_decimals_are_exact() -> None:
    known, records = coded(x=[0.1 + 0.2, 80.05, 0.7], gross=[Decimal("0.3"), Decimal("100.10"), Decimal("0.1")],
                           tax=[0.0, 20.05, -0.6])  # fmt: skip
    assert read_condition("x == gross - tax", known).truth(records).tolist() == [TRUE, TRUE, TRUE]
    value = read_formula("gross * 3 - tax / 4", known).value
    assert by_combination(value, records)[0] == [
        Fraction(9, 10), Fraction("300.30") - Fraction("20.05") / 4, Fraction("0.3") + Fraction("0.15")
    ]  # fmt: skip


@given(
    st.lists(st.tuples(*[st.one_of(st.none(), st.integers(-3, 3))] * 3), min_size=1, max_size=20),
    st.sampled_from(["a + b * c", "a - (b - c)", "-a / b", "(a + b) / (b - c)", "a * a - 1.5"]),
)
def test_formulas_are_those_of_each_record(rows: list[tuple[int | None, ...]], text: str) -> None:
    levels = [None, *range(-3, 4)]
    known = {name: KnownColumn(name, levels) for name in "abc"}
    records = {
        name: Coded(np.array([levels.index(row[place]) for row in rows], dtype=np.int32))
        for place, name in enumerate("abc")
    }
    results, place = by_combination(read_formula(text, known).value, records)
    for row, at in zip(rows, place.tolist(), strict=True):
        a, b, c = (None if value is None else Fraction(value) for value in row)
        try:
            expected = eval(text.replace("1.5", "Fraction(3, 2)"), {"a": a, "b": b, "c": c, "Fraction": Fraction})
        except (TypeError, ZeroDivisionError):
            expected = None
        assert results[at] == expected


def test_kleene() -> None:
    sides = {TRUE: "a == 1", FALSE: "a == 2", UNKNOWN: "b > 0"}
    known, records = coded(a=[1], b=[None])
    for one, two in product(sides, repeat=2):
        both = read_condition(f"{sides[one]} and {sides[two]}", known).truth(records)[0]
        either = read_condition(f"{sides[one]} or {sides[two]}", known).truth(records)[0]
        assert (both, either) == (min(one, two), max(one, two))


def test_the_formula_of_a_column_stands_in_its_place() -> None:
    known, records = coded(net=[0, 0, 0], gross=[5, 3, None], tax=[2, 4, 1])
    value = read_formula("gross - tax", known).value
    found = read_condition("net >= 0", known, {"net": value})
    assert found.variables == {"gross", "tax"}
    assert found.truth(records).tolist() == [TRUE, FALSE, UNKNOWN]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("1 + 2", "formula '1 \\+ 2' names no column"),
        ("a +", "formula 'a \\+' cannot be read"),
        ("a < 1", "only columns, values"),
        ("d - a", "there is no column 'd'"),
        ("a.real", "there is no column 'a.real'"),
        ("a if a else a", "only columns, values"),
        ("(lambda: 1)()", "only columns, values"),
        ("-" * 9000 + "a", "nested too deeply|cannot be read"),
        ("a + 0x" + "f" * 9000, "cannot be read"),
    ],
)
def test_what_no_formula_is(formula: str, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        read_formula(formula, coded(a=[1])[0])
    assert "\n" not in str(caught.value)
