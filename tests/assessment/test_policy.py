"""The institution's thresholds: what is understood, what is refused, and how figures are held against them."""

from __future__ import annotations

import math

import pytest

import unveil
from unveil.assessment import read_policy
from unveil.assessment.policy import Threshold
from unveil.errors import CallError, FileError


def figure(measure="DiSCO", target="ill", value=9.0, **more):
    names = ("low", "high", "excess", "excess_low", "excess_high", "p_value")
    return {"measure": measure, "target": target, "value": value, "per_release": [value], **dict.fromkeys(names)} | more


def policy(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_every_target_and_one_target(tmp_path):
    rules = policy(
        tmp_path,
        """
        [[rule]]
        measure = "DiSCO"
        limit = 9

        [[rule]]
        measure = "DiSCO"
        target = "pay"
        statistic = "high"
        limit = 10
        note = "guideline 7"
        """,
    )
    rows = rules.rows([figure(value=9.0), figure(target="pay", value=9.5, high=10.5), figure("repU", None, 50.0)])
    assert [(r["target"], r["statistic"], r["verdict"]) for r in rows] == [
        ("ill", "value", "within"),
        ("pay", "value", "above"),
        ("pay", "high", "above"),
    ]
    assert rows[2]["note"] == "guideline 7"
    assert rows[2]["value"] == 10.5


def test_what_is_not_measured_or_not_defined_is_never_within(tmp_path):
    rules = policy(tmp_path, '[[rule]]\nmeasure = "RAPID"\nlimit = 1\n[[rule]]\nmeasure = "DiSCO"\nlimit = 100\n')
    rows = rules.rows([figure(value=math.nan)])
    assert [r["verdict"] for r in rows] == ["not measured", "not measured"]
    (worst,) = policy(tmp_path, '[[rule]]\nmeasure = "DiSCO"\nlimit = 100\nstatistic = "worst_release"\n').rows(
        [figure(per_release=[3.0, None])]
    )
    assert worst["verdict"] == "not measured"


def test_at_least(tmp_path):
    rules = policy(tmp_path, '[[rule]]\nmeasure = "DiSCO"\nlimit = 5\nleast = true\n')
    assert [r["verdict"] for r in rules.rows([figure(value=5.0), figure(value=4.9)])] == ["within", "below"]


def test_the_worst_release_is_the_one_furthest_on_the_wrong_side(tmp_path):
    rule = '[[rule]]\nmeasure = "DiSCO"\nlimit = 5\nstatistic = "worst_release"\n'
    releases = [figure(per_release=[3.0, 8.0])]
    (most,) = policy(tmp_path, rule).rows(releases)
    assert (most["value"], most["verdict"]) == (8.0, "above")
    (least,) = policy(tmp_path, rule + "least = true\n").rows(releases)
    assert (least["value"], least["verdict"]) == (3.0, "below")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[rules]]\nmeasure = "repU"\nlimit = 1', "did you mean 'rule'?"),
        ('[[rule]]\nmeasure = "repu"\nlimit = 1', "not 'repu'"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 1\ntagret = "x"', "did you mean 'target'?"),
        ('[[rule]]\nmeasure = "repU"', "rule 1: limit is missing"),
        ('[[rule]]\nmeasure = "repU"\nlimit = true', "limit must be a number from 0, not True"),
        ('[[rule]]\nmeasure = "repU"\nlimit = nan', "limit must be a number from 0"),
        ('[[rule]]\nmeasure = "repU"\nlimit = inf', "limit must be a number from 0, not inf"),
        ('[[rule]]\nmeasure = "repU"\nlimit = "5"', "limit must be a number from 0, not '5'"),
        ('[[rule]]\nmeasure = "repU"\nlimit = [5]', "limit must be a number from 0"),
        ('[[rule]]\nmeasure = "repU"\nlimit = -1', "limit must be a number from 0, not -1"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 101', "repU is in percent, so 101 is above all that it can be"),
        (
            '[[rule]]\nmeasure = "RAPID"\nlimit = 5',
            "RAPID is at most 1, and 5 would allow everything: write 0.05 for 5 %",
        ),
        ('[[rule]]\nmeasure = "posterior certain"\nlimit = 20', "write 0.2 for 20 %"),
        ('[[rule]]\nmeasure = "membership AUC"\nlimit = 60', "write 0.6 for 60 %"),
        ('[[rule]]\nmeasure = "mean TVD"\nlimit = 2', "write 0.02 for 2 %"),
        ('[[rule]]\nmeasure = "DiSCO"\nstatistic = "excess_high"\nlimit = 5', "the excess_high of DiSCO is at most 1"),
        ('[[rule]]\nmeasure = "DCAP"\nstatistic = "p_value"\nlimit = 1000', "the p_value of DCAP is at most 1"),
        (
            '[[rule]]\nmeasure = "repU"\nstatistic = "excess"\nlimit = 0.1',
            "repU has no excess; choose from value, low, high",
        ),
        ('[[rule]]\nmeasure = "S_pMSE"\nstatistic = "p_value"\nlimit = 0.1', "S_pMSE has no p_value"),
        (
            '[[rule]]\nmeasure = "posterior certain"\nstatistic = "excess_high"\nlimit = 0.1',
            "posterior certain has no excess_high; choose from value, low, high",
        ),
        ('[[rule]]\nmeasure = "repU"\ntarget = "ill"\nlimit = 1', "repU concerns no target; leave 'ill' out"),
        ('[[rule]]\nmeasure = "RAPID"\ntarget = ["ill"]\nlimit = 1', "target is a text, not ['ill']"),
        ('[[rule]]\nmeasure = "RAPID"\nlimit = 1\nrelease = "s1"', "unknown key 'release'; a rule has measure, target"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 1\nstatistic = "mean"', "not 'mean'"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 1\nleast = "yes"', "least is true or false"),
        ("", "holds no [[rule]]"),
        ("rule = 3", "holds no [[rule]]"),
        ("[[rule", "is not TOML"),
    ],
)
def test_what_is_not_understood_is_said_in_one_line(tmp_path, text, said):
    with pytest.raises(FileError) as caught:
        policy(tmp_path, text)
    assert said in str(caught.value)
    assert "policy.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"none\.toml: no such file in"):
        read_policy(tmp_path / "none.toml")


def test_a_limit_is_met_by_what_equals_it_on_paper(tmp_path):
    """Means over releases are rounded: 0.1 + 0.2 is within 0.3, and 0.9 - 0.2 reaches 0.7."""
    most = policy(tmp_path, '[[rule]]\nmeasure = "RAPID"\nlimit = 0.3\n')
    (row,) = most.rows([figure("RAPID", value=0.1 + 0.2)])
    assert row["verdict"] == "within"
    (row,) = most.rows([figure("RAPID", value=0.3001)])
    assert row["verdict"] == "above"
    least = policy(tmp_path, '[[rule]]\nmeasure = "RAPID"\nlimit = 0.7\nleast = true\n')
    (row,) = least.rows([figure("RAPID", value=0.9 - 0.2)])
    assert row["verdict"] == "within"
    (row,) = least.rows([figure("RAPID", value=0.6999)])
    assert row["verdict"] == "below"


@pytest.mark.parametrize(
    ("measure", "statistic", "limit"),
    [
        ("repU", "value", 0), ("repU", "worst_release", 100), ("RAPID", "value", 1), ("RAPID", "excess", 0.1),
        ("DiSCO", "p_value", 1), ("membership AUC", "value", 0.6), ("S_pMSE", "value", 40), ("pMSE", "high", 0.25),
        ("posterior", "excess_high", 0.2),
    ],
)  # fmt: skip
def test_limits_that_a_figure_can_meet_or_miss(measure, statistic, limit):
    assert Threshold(measure, limit, statistic=statistic).limit == limit


@pytest.mark.parametrize(
    "options", [{"limit": 5}, {"limit": True}, {"limit": math.nan}, {"statistic": "mean"}], ids=str
)
def test_rules_made_in_python_are_checked_too(options):
    with pytest.raises(CallError):
        Threshold(**({"measure": "RAPID", "limit": 0.5} | options))


def test_rules_are_of_targets_that_are_assessed(tmp_path):
    people = unveil.simulate.demo_population(120, seed=1)
    pair = unveil.Pair(people, people.slice(0, 100))
    path = tmp_path / "policy.toml"
    options = {"targets": ["depress"], "measures": ["identity", "attribute"], "policy": path}
    path.write_text('[[rule]]\nmeasure = "DiSCO"\ntarget = "depres"\nlimit = 5\n', encoding="utf-8")
    with pytest.raises(
        CallError, match=r"policy\.toml: rule 1: target 'depres' is not assessed.*did you mean 'depress'"
    ):
        unveil.assess(pair, ["sex", "age"], **options)
    path.write_text('[[rule]]\nmeasure = "DiSCO"\ntarget = "depress"\nlimit = 100\n', encoding="utf-8")
    found = unveil.assess(pair, ["sex", "age"], **options)
    assert found.within_policy
    assert unveil.assess(pair, ["sex", "age"], **(options | {"policy": None})).within_policy is None
    path.write_text('[[rule]]\nmeasure = "RAPID"\nlimit = 1\n', encoding="utf-8")
    assert not unveil.assess(pair, ["sex", "age"], **options).within_policy, "what was not measured is not within"
