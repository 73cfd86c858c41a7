"""The numbers of docs/r_users.md are those of synthpop's output and of this package."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import unveil
from reference import data_file, kinds_of, load_json

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

PAGE = (Path(__file__).parents[2] / "docs" / "r_users.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (-|\w+) \| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| `(\w+)` \|$", re.M)
ROWS = ROW.findall(PAGE)
KEYS = ["sex", "age", "region", "placesize"]
FILE, RELEASE = "sd2011_9", "sd2011_9_s1"


def of_synthpop(target: str) -> dict[str, float]:
    """All figures of one call of disclosure() with the keys of the page and no other option."""
    cases = load_json("disclosure_cases.json.gz")["cases"]
    options = {"keys": KEYS, "target": target, "cont.na": {"income": -8}}
    (case,) = (one for one in cases if one["args"] == options and one["synthetic"] == [RELEASE] and not one["note"])
    told = case["synthpop"]
    return told["ident"][0] | told["attrib"][0] | told["allCAPs"][0]


@pytest.mark.usefixtures("shared")
def test_the_numbers_of_the_page_are_those_of_both_programs():
    pair = unveil.Pair(
        data_file(FILE), data_file(RELEASE), kinds=dict(kinds_of(FILE)), special_codes={"income": [-8]}
    )  # fmt: skip
    identity = unveil.identity(pair, KEYS).to_dict()["mean"]
    assert len(ROWS) == 17
    for target, theirs, printed, ours_printed, ours in ROWS:
        measured = identity if target == "-" else unveil.attribute(pair, KEYS, target=target).to_dict()["mean"]
        assert f"{of_synthpop('depress' if target == '-' else target)[theirs]:.2f}" == printed, theirs
        assert f"{measured[ours]:.2f}" == ours_printed, ours


def test_one_figure_differs_and_the_page_says_so():
    assert [theirs for _, theirs, there, here, _ in ROWS if there != here] == ["TCAP"]
    assert "`TCAP` is another figure there" in PAGE


def test_arguments_of_the_page_exist():
    named = set(re.findall(r"`(\w+)(?==|`)", PAGE.split("## disclosure()")[1].split("## sdc()")[0]))
    taken = {
        name
        for function in (unveil.attribute, unveil.synthesize, unveil.CartSynthesizer, unveil.utility, unveil.Pair)
        for name in inspect.signature(function).parameters
    }
    ours = {"denom_limit", "use_keys_na", "check_1way", "exclude_pairs", "visit_order", "by", "minbucket", "null"}
    assert ours <= named & taken
