"""The institution's thresholds: what is understood, what is refused, and how figures are held against them."""

from __future__ import annotations

import math

import pytest

from unveil.assessment import read_policy
from unveil.errors import FileError


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
        ('[[rule]]\nmeasure = "repu"\nlimit = 1', "there is no 'repu'"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 1\ntagret = "x"', "did you mean 'target'?"),
        ('[[rule]]\nmeasure = "repU"', "rule 1: limit is missing"),
        ('[[rule]]\nmeasure = "repU"\nlimit = true', "limit is a number, not True"),
        ('[[rule]]\nmeasure = "repU"\nlimit = nan', "limit is a number"),
        ('[[rule]]\nmeasure = "repU"\nlimit = 1\nstatistic = "mean"', "there is no 'mean'"),
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
    with pytest.raises(FileError, match=r"none\.toml: cannot be read"):
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
