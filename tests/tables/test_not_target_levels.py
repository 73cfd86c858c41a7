"""Levels of a target that are left out, and those that it does not have."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from unveil.cli import main
from unveil.errors import CallError

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")

PAIR = {"sex": ["f", "m", "f", "m"], "work": ["NONE", "FULL", "NONE", "FULL"], "ill": ["no", "yes", "no", "no"]}


def test_a_level_that_is_mistyped_is_an_error_with_a_suggestion():
    pair = unveil.Pair(pa.table(PAIR), pa.table(PAIR).slice(1))
    for given in (["NOONE"], "NOONE", {"work": ["NOONE"]}):
        with pytest.raises(CallError, match="column 'work' has no level 'NOONE'; did you mean 'NONE'"):
            unveil.attribute(pair, ["sex"], target="work", not_target_levels=given)
    with pytest.raises(CallError, match="has no level 'NONE'"):
        unveil.attribute(pair, ["sex"], targets=["work", "ill"], not_target_levels={"ill": ["NONE"]})
    with pytest.raises(CallError, match="has no level 'NOONE'"):
        unveil.attribute(pair, ["sex"], targets=["work", "ill"], not_target_levels=["NOONE"])
    # Given for all targets, a level is left out where a target has it.
    both = unveil.attribute(pair, ["sex"], targets=["work", "ill"], not_target_levels=["NONE"])
    assert [one.to_dict()["exclusions"][0]["original"]["not_target_levels"] for one in both] == [2, 0]


def test_so_it_is_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "o.csv"
    path.write_text("sex,ill\nf,no\nm,yes\nf,no\n")
    words = ["attribute", str(path), str(path), "--keys", "sex", "--target", "ill", "--not-target-levels", "n0"]
    monkeypatch.setattr(sys, "argv", ["unveil", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.splitlines()[-1].startswith("unveil: not_target_levels: column 'ill' has no level 'n0'")


def test_a_level_that_is_declared_and_nobody_has_may_be_left_out():
    schema = {"work": {"kind": "categorical", "levels": ["NONE", "FULL", "RETIRED"]}}
    pair = unveil.Pair(pa.table(PAIR), pa.table(PAIR).slice(1), schema=schema)
    risk = unveil.attribute(pair, ["sex"], target="work", not_target_levels=["RETIRED"])
    assert risk.to_dict()["exclusions"][0]["original"]["not_target_levels"] == 0


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_a_gap_may_be_left_out_where_nobody_has_one(gap: float | None):
    pair = unveil.Pair(pa.table(PAIR), pa.table(PAIR).slice(1))
    risk = unveil.attribute(pair, ["sex"], target="work", not_target_levels=[gap])
    assert risk.to_dict()["exclusions"][0]["original"]["not_target_levels"] == 0
