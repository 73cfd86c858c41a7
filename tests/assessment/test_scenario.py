"""What is asked: names, ranges, and scenario files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.assessment import Scenario, read_scenario
from unveil.assessment.scenario import Options
from unveil.errors import CallError, FileError


@pytest.fixture
def pair():
    age, pay = np.random.default_rng(1).integers([[18], [1000]], [[98], [9000]], (2, 120))
    table = pa.table({"sex": ["f", "m"] * 60, "age": age, "ill": ["y", "n", "n"] * 40, "pay": pay})
    return unveil.Pair(table, table.slice(0, 60))


def test_targets_are_the_other_columns_and_amounts_are_grouped(pair):
    scenario = Scenario.of(pair, Options("sex"))
    assert scenario.keys == ("sex",)
    assert scenario.targets == ("age", "ill", "pay")
    assert scenario.ngroups_target == {"age": 20, "pay": 20}
    assert Scenario.of(pair, Options("sex", targets="pay", ngroups_target=5)).ngroups_target == {"pay": 5}
    assert Scenario.of(pair, Options("sex", targets=["ill", "pay"], ngroups_target={"pay": 7})).ngroups_target == {
        "pay": 7
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keys": "sxe"}, "did you mean 'sex'?"),
        ({"targets": "sex"}, "'sex' is a key and cannot be the target too"),
        ({"intruders": "neighbour"}, "intruders must be 'release', "),
        ({"measures": ["identity", "dcr"]}, "not 'dcr'"),
        ({"level": 1.0}, "level must lie between 0 and 1, not 1.0"),
        ({"budget": 0}, "budget must be a number above 0"),
        ({"permutations": -1}, "permutations must be a whole number from 0, not -1"),
        ({"minimum_count": 0}, "minimum_count must be a whole number from 1"),
        ({"ngroups_target": {"ill2": 3}}, "'ill2', which is not a target"),
        ({"ngroups_target": "5"}, "ngroups_target takes a whole number of at least 2 groups, or 0 for none, not '5'"),
        ({"ngroups_target": 1}, "ngroups_target takes a whole number of at least 2 groups, or 0 for none, not 1"),
        ({"ngroups_target": {"ill": 3}}, "'ill' is categorical and cannot be grouped"),
        ({"keys": ["sex", "age"], "ngroups_keys": {"aeg": 3}}, "did you mean 'age'?"),
        ({"keys": ["sex", "age"], "ngroups_keys": {"age": 2.5}}, "ngroups_keys: 'age' takes a whole number"),
        ({"keys": ["sex", "age"], "ngroups_keys": {"sex": 3}}, "'sex' is categorical and cannot be grouped"),
        ({"keys": ["sex", "age"], "ngroups_keys": [3]}, "ngroups_keys takes a whole number"),
        ({"measures": 5}, "measures takes a text or a list of texts, not 5"),
        ({"measures": []}, "measures: none is named; choose from identity"),
        ({"intruders": [1]}, "intruders takes a text or a list of texts, not [1]"),
        ({"models": 5}, "models takes a text or a list of texts, not 5"),
        ({"attacker": "forest"}, "attacker must be 'rf', "),
        ({"tau": "high"}, "tau must be a number, not 'high'"),
        ({"epsilon": float("nan")}, "epsilon must be a number above 0, not nan"),
        ({"epsilon": -1}, "epsilon must be a number above 0, not -1"),
    ],
)
def test_wrong_calls(pair, options, said):
    keys, targets = options.pop("keys", "sex"), options.pop("targets", ["ill"])
    with pytest.raises(CallError) as caught:
        Scenario.of(pair, Options(keys, targets=targets, **options))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_scenario_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        'original = "o.csv"\nsynthetic = ["s1.csv", "s2.csv"]\nkeys = ["sex"]\nbudget = 60\n'
        "[special_codes]\nincome = -8\n",
        encoding="utf-8",
    )
    assert read_scenario(path, ["keys", "budget"]) == {
        "original": tmp_path / "o.csv",
        "synthetic": [tmp_path / "s1.csv", tmp_path / "s2.csv"],
        "keys": ["sex"],
        "budget": 60,
        "special_codes": {"income": -8},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'kyes = ["sex"]', "unknown option 'kyes'; did you mean 'keys'?"),
        (b"original = 3", "original takes a file name, not 3"),
        (b'policy = ["p.toml"]', "policy takes a file name, not ['p.toml']"),
        (b"synthetic = [3]", "synthetic takes a file name, or a list of them, not [3]"),
        (b"keys = 5", "keys takes a text or a list of texts, not 5"),
        (b"missing = 5", "missing takes a text or a list of texts, not 5"),
        (b"encoding = 5", "encoding takes a text, not 5"),
        (b"delimiter = []", "delimiter takes a text, not []"),
        (b"kinds = ['age']", "kinds takes a table by column, not ['age']"),
        (b"kinds = {age = {a = 1}}", "kinds takes a table by column"),
        (b"special_codes = -8", "special_codes takes a table by column, not -8"),
        (b"ngroups_keys = 5", "ngroups_keys takes a table by column, not 5"),
        (b'holdout_unseen = "no"', "holdout_unseen takes true or false, not 'no'"),
        (b"keys = [", "is not TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_scenario_file_that_is_not_understood(tmp_path, content, said):
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_scenario(path, ["keys", "ngroups_keys", "holdout_unseen"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
