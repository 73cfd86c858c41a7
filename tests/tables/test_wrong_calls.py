"""Calls that cannot be meant: an error says which option or column, and what would do."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError

FILE = pa.table({"sex": ["f", "f", "m"], "age": [20, 30, 30], "ill": ["yes", "no", "no"]})
KEYS = ["sex", "age"]


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    return unveil.Pair(FILE, FILE.slice(0, 2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"use_target_na": "no"}, "use_target_na must be True or False, not 'no'"),
        ({"use_target_na": 0}, "use_target_na must be True or False, not 0"),
        ({"use_keys_na": "no"}, "use_keys_na must be True or False, not 'no'"),
        ({"use_keys_na": {"sex": None}}, "use_keys_na must be True or False, not None"),
        ({"exclude_over_denom_limit": 1, "denom_limit": 3}, "exclude_over_denom_limit must be True or False, not 1"),
        ({"exclude_over_denom_limit": True}, "exclude_over_denom_limit needs a denom_limit"),
        ({"denom_limit": 0}, "denom_limit must be a whole number from 1, not 0"),
        ({"denom_limit": True}, "denom_limit must be a whole number from 1, not True"),
        ({"denom_limit": 1.5}, "denom_limit must be a whole number from 1, not 1.5"),
        ({"check_1way": 5}, "check_1way takes two numbers"),
        ({"check_1way": (1, 2, 3)}, "check_1way takes two numbers"),
        ({"check_2way": (True, 80)}, "check_2way takes two numbers"),
        ({"check_2way": ("4", 80)}, "check_2way takes two numbers"),
        ({"check_1way": (-1, 80)}, "check_1way: records must be at least 0"),
        ({"check_1way": (float("inf"), 80)}, "check_1way: records must be at least 0"),
        ({"check_2way": (4, -1)}, "percent between 0 and 100"),
        ({"check_2way": (4, 100.5)}, "percent between 0 and 100"),
        ({"ngroups_keys": {"agee": 3}}, "ngroups_keys names 'agee', which is not a key; did you mean 'age'"),
        ({"ngroups_keys": {"ill": 3}}, "ngroups_keys names 'ill', which is not a key"),
        ({"use_keys_na": {"ill": False}}, "use_keys_na names 'ill', which is not a key"),
        ({"ngroups_target": {"age": 3}}, "ngroups_target names 'age', which is not a target"),
        ({"not_target_levels": {"age": [1]}}, "not_target_levels names 'age', which is not a target"),
        ({"exclude_pairs": [("sex", "f")]}, "exclude_pairs takes triples"),
        ({"exclude_pairs": [()]}, "exclude_pairs takes triples"),
        ({"exclude_pairs": [("ill", "f", "no")]}, "of a key, not ('ill', 'f', 'no')"),
        ({"exclude_pairs": [("sexx", "f", "no")]}, "of a key, not ('sexx', 'f', 'no'); did you mean 'sex'"),
        ({"exclude_pairs": [("job", "f", "no")]}, "not ('job', 'f', 'no'); the keys are 'sex', 'age'"),
        ({"exclude_pairs": ["job=f:no"]}, "'job=f:no' begins with no key; the keys are 'sex', 'age'"),
        ({"exclude_pairs": ["sex=unknown:no"]}, "has no level 'unknown'; its levels are 'f', 'm'"),
        ({"exclude_pairs": ["sex=f:never"]}, "has no level 'never'; its levels are 'no', 'yes'"),
        ({"targets": ["ill"]}, "either target or targets, not both"),
    ],
    ids=str,
)
def test_options_of_attribute(pair: unveil.Pair, options: dict[str, Any], said: str) -> None:
    with pytest.raises(CallError) as caught:
        unveil.attribute(pair, KEYS, target="ill", **options)
    assert said in str(caught.value)


def test_limits_at_the_edge_are_taken(pair: unveil.Pair) -> None:
    """0 records, 0 and 100 percent, and a limit of one record can be meant."""
    for options in (
        {"check_1way": (0, 0), "check_2way": (0, 100)},
        {"denom_limit": 1, "exclude_over_denom_limit": True},
        {"use_keys_na": {"sex": False}, "ngroups_keys": {"age": None}},
    ):
        assert unveil.attribute(pair, KEYS, target="ill", **options).iS == pytest.approx(100 * 2 / 3)


def test_a_limit_that_leaves_nothing_out_is_told(pair: unveil.Pair) -> None:
    said = "denom_limit leaves nothing out without exclude_over_denom_limit"
    options: dict[str, Any] = {"denom_limit": 1}
    assert said in unveil.attribute(pair, KEYS, target="ill", **options).warnings
    assert said not in unveil.attribute(pair, KEYS, target="ill", **options, exclude_over_denom_limit=True).warnings
    assert said not in unveil.attribute(pair, KEYS, target="ill").warnings


@pytest.mark.parametrize(
    ("keys", "options", "said"),
    [
        (["sex"], {"target": "sex"}, "'sex' is a key and cannot be the target too"),
        (KEYS, {"targets": ["ill", "age"]}, "'age' is a key and cannot be the target too"),
        (["sex", "age", "ill"], {}, "no column is left to be a target"),
        ([], {"target": "ill"}, "key"),
        (["sex", "sex"], {"target": "ill"}, "sex"),
    ],
    ids=str,
)
def test_roles_of_columns(pair: unveil.Pair, keys: list[str], options: dict[str, Any], said: str) -> None:
    with pytest.raises(CallError) as caught:
        unveil.attribute(pair, keys, **options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "age"}, "'age' is a key and cannot be the target too"),
        ({"target": "ill", "ngroups_target": {"sex": 3}}, "ngroups_target names 'sex', which is not a target"),
        ({"ngroups_target": {"ill": 3}}, "ngroups_target names 'ill', which is not a target"),
        ({"ngroups_keys": {"ill": 3}}, "ngroups_keys names 'ill', which is not a key"),
    ],
    ids=str,
)
def test_options_of_key_sets(pair: unveil.Pair, options: dict[str, Any], said: str) -> None:
    with pytest.raises(CallError) as caught:
        unveil.key_sets(pair, KEYS, **options)
    assert said in str(caught.value)


def test_a_frame_is_no_pair() -> None:
    with pytest.raises(CallError, match="the first argument is a Pair of original and release, not Table"):
        unveil.identity(FILE, KEYS)


@pytest.mark.parametrize("value", [True, "1", 2.5, [0]], ids=repr)
def test_a_release_is_named_by_its_number(value: Any, pair: unveil.Pair) -> None:
    with pytest.raises(CallError, match="release must be a whole number from 0 to 0"):
        unveil.identity(pair, KEYS).records(value)


def test_subgroups_are_of_one_column(pair: unveil.Pair) -> None:
    with pytest.raises(CallError, match="one column is named to group by"):
        unveil.identity(pair, KEYS).by(["sex", "ill"])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"n": 1}, "n must be a whole number from 2, not 1"),
        ({"n": True}, "n must be a whole number from 2, not True"),
        ({"n": 2.0}, "n must be a whole number from 2, not 2.0"),
        ({"seed": -1}, "seed must be a whole number from 0, not -1"),
        ({"seed": True}, "seed must be a whole number from 0, not True"),
        ({"seed": 1.0}, "seed must be a whole number from 0, not 1.0"),
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"level": 1}, "level must lie between 0 and 1"),
    ],
    ids=str,
)
def test_options_of_intervals(pair: unveil.Pair, option: dict[str, Any], said: str) -> None:
    for found in (unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")):
        with pytest.raises(CallError) as caught:
            found.intervals(**option)
        assert said in str(caught.value)
        assert len(found.intervals(n=2, seed=0)) == 1


def test_what_is_not_said_is_as_documented(pair: unveil.Pair) -> None:
    """Thresholds of Raab, Nowok & Dibben (2026), the first release, sets of four keys, 95 % intervals, 199 shuffles."""
    risk = unveil.attribute(pair, KEYS, target="ill")
    assert (risk.options["check_1way"], risk.options["check_2way"]) == ([50, 90], [4, 80])
    assert (risk.options["use_target_na"], risk.options["exclude_over_denom_limit"]) == (True, False)
    assert risk.options["use_keys_na"] == {"sex": True, "age": True}
    assert risk.cap_curve().taus == tuple(i / 20 for i in range(21))
    ladder = risk.ladder()
    assert (ladder.permutations, ladder.level, ladder.seed) == (199, 0.95, 0)
    several = unveil.Pair(FILE, [FILE.slice(0, 2), FILE])
    # The first release lacks the man, the second does not.
    identity, attribute = unveil.identity(several, KEYS), unveil.attribute(several, KEYS, target="ill")
    for release, s_q in ((0, [1, 1, 0]), (1, [1, 1, 1])):
        for found in (identity, attribute):
            assert found.records(release, flavour="arrow")["s_q"].to_pylist() == s_q
            by = found.by("sex", release, flavour="arrow").to_pylist()
            assert next(row for row in by if row["sex"] == "m")["iS" if found is attribute else "repU"] == 100 * s_q[2]
    for found in (identity, attribute):
        assert found.records(flavour="arrow") == found.records(0, flavour="arrow")
        assert found.by("sex", flavour="arrow") == found.by("sex", 0, flavour="arrow")
        assert found.intervals() == found.intervals(n=500, seed=0, level=0.95)
    many = pa.table({name: [1, 2] for name in "abcde"})
    sets = unveil.key_sets(unveil.Pair(many, many.slice(0)), list("abcde"))
    assert [len(one.keys) for one in sets.sets] == [1] * 5 + [2] * 10 + [3] * 10 + [4] * 5
