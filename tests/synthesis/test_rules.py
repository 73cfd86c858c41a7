"""Rules: what a condition may say, and what is said of one that cannot be read."""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa
import pytest

from unveil.columns.stated_rules import stated_rules
from unveil.errors import CallError
from unveil.files import read
from unveil.synthesis.encoding import encode
from unveil.synthesis.rules import parse_rules
from unveil.synthesis.variable import Levels

TABLE = pa.table(
    {
        "age": [15, 40, 17, None],
        "marital status": ["single", "married", "single", "married"],
        "b.income": [None, 10, None, 5],
        "work": ["no", "yes", "no", "yes"],
    }
)
FILE = {variable.name: variable for variable in encode(read(TABLE))}
RECORDS = {name: Levels(variable.codes) for name, variable in FILE.items()}


def holds(condition: Any) -> list[bool]:
    (rule,) = parse_rules({"work": [(condition, "no")]}, FILE).by_variable["work"]
    mask: list[bool] = rule.decided(RECORDS)[0].tolist()
    return mask


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("age in [15, 17]", [True, False, True, False]),
        ("age not in (15,)", [False, True, True, True]),
        ("`marital status` == 'single'", [True, False, True, False]),
        ("`marital status` == 'a `b` c' or age == 40", [False, True, False, False]),
        ("b.income is None and age < 18", [True, False, True, False]),
        ("`b.income` > 5", [False, True, False, False]),
        ("15 <= age", [True, True, True, False]),
        ("15 < age <= 17", [False, False, True, False]),
        ("age == -1 or age == 40", [False, True, False, False]),
        ({"age": {15, 40}}, [True, True, False, False]),
    ],
)
def test_what_a_condition_means(condition: Any, expected: list[bool]):
    assert holds(condition) == expected


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("age in 5", r"'age in 5': in takes a list, such as \[5\]"),
        ("work in 'no'", r"\"work in 'no'\": in takes a list, such as \['no'\]"),
        ("age == [15, 17]", r"'age == \[15, 17\]': == takes one value; for several write in"),
        ("age != [15]", "takes one value; for several write not in"),
        ("age < [1]", "have no order"),
        ("not " * 3000 + "age < 5", "is nested too deeply"),
        ("(" * 3000 + "age < 5" + ")" * 3000, "cannot be read|is nested too deeply"),
        ("age <", "cannot be read"),
        ("age < 5\0", "cannot be read"),
        ("`marital status == 'x'", "cannot be read"),
        ("`marital state` == 'x'", "no column 'marital state'; did you mean 'marital status'"),
        ("age", "only comparisons of columns, values and formulas"),
        ("age < work", "15 and 'no' have no order"),
        ("age == 1 + 'x'", "'x' is no number"),
        ("1 < 2", "a comparison names no column"),
        ("age in work", "in and is take a column on their left"),
        ("[1] < age + 1", "only columns, values"),
        ("age ** 2 > 3", "only columns, values"),
        ("__import__('os').system('true') == age", "only columns, values"),
        ("len(work) == 2", "only columns, values"),
        ("age + work > 3", "'no' is no number"),
        (5, "cannot be read"),
    ],
)
def test_what_a_condition_cannot_be(condition: Any, message: str):
    with pytest.raises(CallError, match=message) as caught:
        holds(condition)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("marital=SINGLE if age < 16", ("marital", "age < 16", "SINGLE")),
        ("a=b = c if x == 'if y'", ("a", "x == 'if y'", "b = c")),
        ("income= if age < 16", ("income", "age < 16", None)),
        ("marital status = not yet if age < 16", ("marital status", "age < 16", "not yet")),
        ("`a=b`=x if age < 16", ("a=b", "age < 16", "x")),
        ("a=x\nif age < 16\nor age > 90", ("a", "age < 16\nor age > 90", "x")),
    ],
)
def test_a_value_by_a_condition_in_one_text(text: str, expected: tuple[str, str, str | None]):
    found = stated_rules(text)
    assert found.forced == {expected[0]: [expected[1:]]}
    assert (found.formulas, found.limits) == ({}, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net = gross - tax", ("net", "gross - tax")),
        ("`net pay`=a-`b c`", ("net pay", "a-`b c`")),
        ("a=b", ("a", "b")),
        ("a=`b if c` + 1", ("a", "`b if c` + 1")),
    ],
)
def test_a_formula_in_one_text(text: str, expected: tuple[str, str]):
    found = stated_rules([text])
    assert (found.forced, found.formulas, found.limits) == ({}, dict([expected]), ())


@pytest.mark.parametrize("text", ["age >= 16", "x == 'a=b'", "a != b", "not (sex == 'm' and ill == 'y')", "'a=b' == x"])
def test_a_condition_in_one_text(text: str):
    found = stated_rules(text)
    assert (found.forced, found.formulas, found.limits) == ({}, {}, (text,))


@pytest.mark.parametrize("text", ["", "=x if age < 16", "a=b if ", "a=", "=b", " = "])
def test_what_is_no_rule(text: str):
    with pytest.raises(CallError, match="a rule is written column=value if condition"):
        stated_rules(text)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["a=b", "a=c"], "column 'a' has two formulas, 'b' and 'c'"),
        (["a=b", "a=1 if b > 1"], "column 'a' has a formula, and values by conditions"),
    ],
)
def test_rules_that_contradict_each_other(rules: list[str], message: str):
    with pytest.raises(CallError, match=message):
        stated_rules(rules)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x > 0.3", [False, False, True, False]),
        ("x >= 0.3", [True, True, True, False]),
        ("x < 0.3", [False, False, False, True]),
        ("x <= 0.3", [True, True, False, True]),
        ("0.3 < x", [False, False, True, False]),
    ],
)
def test_a_number_is_compared_as_it_is_written(condition: str, expected: list[bool]):
    # 0.1 + 0.2 is one level with 0.3 in every table and is written 0.3: so it is not above it either
    table = pa.table({"x": [0.1 + 0.2, 0.3, 0.31, 0.2], "y": ["a", "a", "b", "b"]})
    file = {variable.name: variable for variable in encode(read(table))}
    (rule,) = parse_rules({"y": [(condition, "a")]}, file).by_variable["y"]
    assert rule.decided({name: Levels(variable.codes) for name, variable in file.items()})[0].tolist() == expected


@pytest.mark.parametrize(
    "condition",
    [
        "'" * 60_001,
        '"' * 60_001,
        "`" * 60_001,
        "a == 'x " * 10_001,
        "`a " * 20_001,
        "'\\" * 30_001,
        "a < 1 and " * 9000,
    ],
    ids=["single", "double", "backticks", "texts", "names", "escapes", "long"],
)
def test_conditions_are_read_in_a_time_that_grows_with_their_length(condition: str):
    started = time.process_time()
    with pytest.raises(CallError):
        parse_rules({"work": [(condition, "no")]}, FILE)
    assert time.process_time() - started < 3
