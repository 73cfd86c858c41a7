"""Plausibility: rules that released records break, and combinations that nobody has, by hand and by brute force."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import unveil
from command_line import called
from unveil.errors import CallError, DataError
from unveil.notes import Note

ORIGINAL = pa.table({"age": [15, 40, 30, None], "marital": ["S", "M", "S", "M"], "net": [7, 8, 9, 1],
                     "gross": [9, 9, 9, 3], "tax": [2, 1, 1, 2]})  # fmt: skip
RELEASE = pa.table({"age": [15, 15, None, 99], "marital": ["M", "S", "M", "S"], "net": [7, 6, None, 5],
                    "gross": [9, 9, 9, None], "tax": [2, 1, 1, 2]})  # fmt: skip
RULES = ["age >= 16 or marital == 'S'", "net = gross - tax", "marital=S if age < 16"]


def test_by_hand() -> None:
    found = unveil.plausibility(unveil.Pair(ORIGINAL, RELEASE), RULES, combinations=[["age", "marital"], "marital,tax"])
    broken = {rule: [(one["broken"], one["unknown"]) for one in files] for rule, files in found.rules.items()}
    assert broken == {
        RULES[0]: [(0, 1), (1, 1)],
        RULES[1]: [(1, 0), (2, 1)],  # a gap where the formula is defined is another value
        RULES[2]: [(0, 1), (1, 1)],  # the first rule in other words
    }
    assert found.implausible == (25.0, 75.0)
    # 15 M and 99 S are new, and M with tax 2 is not: the last original record has it
    assert found.combinations["age, marital"] == ({"records": 2, "share": 50.0, "combinations": 2},)
    assert found.combinations["marital, tax"] == ({"records": 0, "share": 0.0, "combinations": 0},)
    assert found.records().to_pylist()[0] == {
        "record": 0, f"breaks {RULES[0]}": True, f"breaks {RULES[1]}": False, f"breaks {RULES[2]}": True,
        "new age, marital": True, "new marital, tax": False,
    }  # fmt: skip
    assert "Records that break any rule: 25.00 % of the original; 75.00 % of" in " ".join(str(found).split())
    assert found.to_frame().num_rows == 3 * 2 + 2


def test_brute_force() -> None:
    rng = np.random.default_rng(1)
    files = [pa.table({"a": rng.integers(0, 6, n), "b": rng.integers(0, 6, n)}) for n in (200, 300, 100)]
    found = unveil.plausibility(unveil.Pair(files[0], files[1:]), "a + b <= 8 and not a == b", combinations=["a,b"])
    rows = [[tuple(row.values()) for row in file.to_pylist()] for file in files]
    (counted,) = found.rules.values()
    assert [one["broken"] for one in counted] == [sum(not (a + b <= 8 and a != b) for a, b in each) for each in rows]
    for one, each in zip(found.combinations["a, b"], rows[1:], strict=True):
        assert one["records"] == sum(row not in rows[0] for row in each)
        assert one["combinations"] == len(set(each) - set(rows[0]))


def test_a_synthesis_under_rules_is_plausible() -> None:
    rng = np.random.default_rng(2)
    gross, tax = rng.integers(10, 60, 300), rng.integers(0, 10, 300)
    original = pa.table({"gross": gross, "tax": tax, "net": gross - tax, "ill": rng.choice(["y", "n"], 300)})
    rules = ["net = gross - tax", "ill == 'n' or gross < 50"]
    with pytest.warns(unveil.UnveilWarning, match="break the rule"):
        release = unveil.synthesize(original, rules=rules, m=1, seed=1)
    found = unveil.plausibility(unveil.Pair(original, release), rules)
    assert found.implausible[0] > 0
    assert found.implausible[1] == 0


def test_a_formula_is_rounded_to_the_decimals_of_the_original() -> None:
    original = pa.table({"a": [1.0, 2.0, 4.0], "third": [0.33, 0.67, 1.33]})
    release = pa.table({"a": [1.0, 2.0, 5.0], "third": [0.33, 0.6667, 1.67]})
    (counted,) = unveil.plausibility(unveil.Pair(original, release), "third = a / 3").rules.values()
    assert [one["broken"] for one in counted] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, CallError, "there is nothing to check"),
        ({"rules": "ages > 3"}, CallError, "no column 'ages'; did you mean 'age'"),
        ({"rules": "heigth = age"}, CallError, "no column 'heigth'"),
        ({"rules": 5}, CallError, "rules are texts"),
        ({"rules": "age >"}, CallError, "cannot be read"),
        ({"combinations": "age,tax"}, CallError, "combinations is a list of sets of columns"),
        ({"combinations": ["age,taxes"]}, CallError, "'taxes'"),
    ],
)
def test_wrong_calls(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        unveil.plausibility(unveil.Pair(ORIGINAL, RELEASE), **arguments)
    assert "\n" not in str(caught.value)


def test_a_release_without_the_column() -> None:
    with pytest.raises((DataError, CallError), match="'tax'"):
        unveil.plausibility(unveil.Pair(ORIGINAL, RELEASE.drop(["tax"])), "net = gross - tax")


@pytest.mark.parametrize("column", [pa.array(["x", "y"]), pa.array(["2020-01-01", "2020-01-02"]).cast(pa.date32())])
def test_a_formula_gives_numbers_to_no_other_column(column: pa.Array) -> None:
    table = pa.table({"a": [1, 2], "b": column})
    with pytest.raises(CallError, match="'b' is no column of numbers, which the formula 'a \\+ 1' gives"):
        unveil.plausibility(unveil.Pair(table, table), "b = a + 1")


def test_a_text_that_no_file_has_is_noted() -> None:
    table = pa.table({"sex": ["MALE", "FEMALE"], "ill": ["y", "n"], "born": [datetime.date(1950, 1, 1)] * 2})
    rules = ["not (sex == 'MALEE' and ill == 'y')", "ill in ['y', 'n'] or born < '1960-01-01'", "ill=zzz if sex == 'X'"]
    found = unveil.plausibility(unveil.Pair(table, table), rules)
    assert sorted(note for note in found.warnings if note.startswith("rules")) == [
        "rules: no file has 'MALEE' in column 'sex'; did you mean 'MALE' or 'FEMALE'?",
        "rules: no file has 'X' in column 'sex'; check how it is spelt",
        "rules: no file has 'zzz' in column 'ill'; check how it is spelt",
    ]
    assert not any("MALE" in note.public for note in found.warnings if isinstance(note, Note) and "rules" in note)


def test_the_command_line_reads_rules_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in (("o.csv", ORIGINAL), ("s.csv", RELEASE)):
        pyarrow.csv.write_csv(table, name)
    Path("rules.toml").write_text('rules = ["net = gross - tax", "age >= 16 or marital == \'S\'"]')
    words = [
        "plausibility",
        "o.csv",
        "s.csv",
        "--rules",
        "rules.toml",
        "--combinations",
        "age,marital",
        "--records",
        "r.csv",
    ]
    status, said, complaint = called(words, monkeypatch, capsys)
    assert status == 0, complaint
    assert "net = gross - tax" in said
    assert pyarrow.csv.read_csv("r.csv").num_rows == RELEASE.num_rows
    Path("wrong.toml").write_text("rule = 3")
    for words in (["--rules", "wrong.toml"], ["--rules", "missing.toml"], ["--rules", "age >"]):
        status, _, complaint = called(["plausibility", "o.csv", "s.csv", *words], monkeypatch, capsys)
        assert status != 0
        assert complaint.count("\n") == 1
