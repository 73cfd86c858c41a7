"""The oracle itself: against counts made by hand, and against figures computed by others.

What the other tests of this folder expect is only as good as the brute force they compare with.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import oracle
from reference import (
    Case,
    as_list,
    assert_same,
    comparable_checks,
    disclosure_cases,
    parameters,
    read_columns,
)

HAND = {
    "sex": list("FFFFMMMM"),
    "age": [20, 20, 30, 40, 20, 20, 30, 40],
    "ill": ["no", "no", "yes", "no", "no", "yes", "yes", "no"],
}
HAND_RELEASE = {
    "sex": list("FFFFMMMMMF"),
    "age": [20, 20, 20, 30, 20, 20, 30, 30, 50, 40],
    "ill": ["no", "no", "yes", "yes", "yes", "yes", "no", "no", "yes", "yes"],
}
KEYS = ["sex", "age"]


def test_identity_counted_by_hand():
    # F30 and F40 are alone in both files; M30 and M40 are alone in the original, M30 is found twice.
    expected = {"UiO": 50, "UiS": 30, "UiOiS": 37.5, "repU": 25}
    assert oracle.identity(HAND, HAND_RELEASE, KEYS) == expected


def test_attribute_counted_by_hand():
    # DiSCO: F30 yes 1, M20 yes 1. DiS: F30, F40, M20 twice, M30. DCAP numerator: 4/3 + 1 + 1.
    # Released records with keys of the original: 9 of 10 (not M50).
    result = oracle.attribute(HAND, HAND_RELEASE, KEYS, "ill").measures
    expected = {
        "Dorig": 75,
        "Dsyn": 70,
        "iS": 87.5,
        "DiS": 62.5,
        "DiSCO": 25,
        "DiSDiO": 12.5,
        "max_denom": 1,
        "mean_denom": 1,
        "baseCAPd": 53.125,
        "CAPd": 87.5,
        "CAPs": 100 * (26 / 3) / 10,
        "DCAPd": 100 * (10 / 3) / 8,
        "DCAPs": 100 * (10 / 3) / 10,
        "DCAPb": 100 * (10 / 3) / 9,
        "TCAPs": 20,
        "TCAPb": 100 * 2 / 9,
        "TCAP": 40,
    }
    assert set(expected) == set(oracle.ATTRIBUTE)
    assert_same(result, expected)


def test_cap_curve_counted_by_hand():
    # Shares of the true target: F20 no 2/3 for two records, F30 1, F40 0, M20 0 and 1, M30 0, M40 not found.
    at = {0: 10 / 3, 0.5: 10 / 3, 2 / 3: 10 / 3, 0.7: 2, 1: 2}
    for tau, numerator in at.items():
        assert math.isclose(oracle.cap(HAND, HAND_RELEASE, KEYS, "ill", tau), 100 * numerator / 8)


def test_cap_curve_under_exclusions_counted_by_hand():
    # Without "no" two records are left that the release has a share for: F30 and one of M20, both certain.
    options = oracle.Options(not_target_levels=["no"])
    for tau, numerator in {0: 2, 0.5: 2, 0.7: 2, 1: 2}.items():
        assert math.isclose(oracle.cap(HAND, HAND_RELEASE, KEYS, "ill", tau, options), 100 * numerator / 8)
    # The release says yes in one record of three; when "no" is out that record is all there is, and was settled before.
    d = {"k": ["x", "x"], "t": ["yes", "no"]}
    s = {"k": ["x"] * 3, "t": ["yes", "no", "no"]}
    for tau, expected in {0: 50, 0.3: 50, 0.4: 0, 1: 0}.items():
        assert oracle.cap(d, s, ["k"], "t", tau, options) == expected


def test_records_counted_by_hand():
    flags = oracle.records(HAND, HAND_RELEASE, KEYS, "ill")
    assert [f["d_q"] for f in flags] == [2, 2, 1, 1, 2, 2, 1, 1]
    assert [f["s_q"] for f in flags] == [3, 3, 1, 1, 2, 2, 2, 0]
    assert [f["ps"] for f in flags] == [2 / 3, 2 / 3, 1, 0, 0, 1, 0, 0]
    assert [f["replicated_unique"] for f in flags] == [False, False, True, True, *[False] * 4]
    assert [f["in_synthetic"] for f in flags] == [True] * 7 + [False]
    assert [f["disclosive"] for f in flags] == [False, False, True, True, True, True, True, False]
    assert [f["disco"] for f in flags] == [False, False, True, False, False, True, False, False]


def test_structure_counted_by_hand():
    assert oracle.structure(HAND, [HAND_RELEASE], KEYS) == {
        "combinations_original": 6,
        "combinations_synthetic": 6,
        "combinations_novel": 1,
        "percent_novel": 100 / 6,
        "records_novel": 10,
        "records_in_original": 90,
        "combinations_preserved": 100 * 5 / 6,
    }
    twice = oracle.structure(HAND, [HAND_RELEASE, {"sex": ["M"], "age": [40]}], KEYS)
    assert twice["combinations_preserved"] == 100
    assert twice["records_novel"] == 100 / 11


def test_mode_counted_by_hand():
    # The mode of the release is "yes" (6 of 10): of the 7 originals found there, 3 have it.
    assert oracle.mode_disco(HAND, HAND_RELEASE, KEYS, "ill") == {37.5}


def test_exclusions_counted_by_hand():
    # Left without "no": original F30, M20, M30; release F20, F30, F40, M50 and twice M20.
    result = oracle.attribute(HAND, HAND_RELEASE, KEYS, "ill", oracle.Options(not_target_levels=["no"]))
    assert result.exclusions["original"] == {
        **dict.fromkeys(oracle.RULES, 0),
        "not_target_levels": 5,
        "remaining": 3,
    }
    assert result.exclusions["DiS"]["not_target_levels"] == 2
    assert result.measures["DiS"] == 37.5
    assert result.measures["DiSCO"] == 25
    assert result.measures["baseCAPd"] == 53.125
    # F20 is disclosive in neither file, although only "yes" is left of it in the release.
    assert result.measures["Dsyn"] == 50
    assert result.identity_after_exclusions == {"UiO": 37.5, "UiS": 40, "UiOiS": 37.5, "repU": 12.5}


def test_count_limit_is_each_tables_own():
    original = {"k": list("aab"), "t": list("xxy")}
    release = {"k": list("abb"), "t": list("xyy")}
    limit = oracle.Options(denom_limit=1, exclude_over_denom_limit=True)
    result = oracle.attribute(original, release, ["k"], "t", limit)
    assert result.exclusions["original"]["denom_limit"] == 2
    assert result.exclusions["synthetic"]["denom_limit"] == 2
    assert result.exclusions["DiSCO"] == {**dict.fromkeys(oracle.RULES, 0), "denom_limit": 2, "remaining": 1}


def test_a_small_release_can_give_more_than_all():
    # DCAPs, DCAPb, TCAPs and TCAPb divide original records by released ones, so 100 is no bound for them.
    result = oracle.attribute({"k": list("aaaa"), "t": list("yyyy")}, {"k": ["a"], "t": ["y"]}, ["k"], "t")
    assert [result.measures[m] for m in ("DCAPs", "DCAPb", "TCAPs", "TCAPb")] == [400] * 4


def test_levels_are_values():
    original = {"k": [1, 0.0, None, math.nan, "Missing", 0.1 + 0.2], "t": ["y"] * 6}
    release = {"k": [1.0, -0.0, math.nan, "Missing", 0.3, "1"], "t": ["y"] * 6}
    assert oracle.identity(original, release, ["k"])["UiOiS"] == pytest.approx(100 * 4 / 6)
    assert oracle.attribute(original, release, ["k"], "t").measures["iS"] == 100


def test_groups_counted_by_hand():
    assert oracle.find_groups([1, 2, 3, 4, 5, None], 4).breaks == (1, 2, 3, 4, 5)
    few = oracle.find_groups([0, 0, 0, 0, 10, -8], 5, special_codes=[-8])
    assert (few.style, few.breaks) == ("equal-width", (0, 2, 4, 6, 8, 10))
    files, groups = oracle.group_column([{"x": [1, 2, 3, -8]}, {"x": [4, 5, None]}], "x", 4, [-8])
    assert groups.labels == ["[1,2)", "[2,3)", "[3,4)", "[4,5]"]
    assert [f["x"] for f in files] == [["[1,2)", "[2,3)", "[3,4)", -8], ["[4,5]", "[4,5]", None]]


# ------------------------------------------------------------------------------------ figures by others
def first_releases() -> list[Case]:
    """One release of each case; of the large file only cases that add something of their own."""
    large = ("adult_capgain_ng5", "adult_country_not_us")
    return [case for case in disclosure_cases() if case.original != "adult" or case.name in large]


@pytest.mark.parametrize("case", parameters(first_releases, lambda case: case.name))
def test_oracle_meets_the_reference(case: Case, shared: Path):
    files = [read_columns(case.original), read_columns(case.releases[0])]
    if case.groups:
        # Breaks are taken from all releases together.
        files.extend(read_columns(name) for name in case.releases[1:])
    for name, n in case.groups.items():
        files, groups = oracle.group_column(files, name, n, case.special_codes.get(name, ()))
        reference = case.raw["grouping"][name]
        assert groups.style.startswith(reference["style"])
        assert_same(groups.breaks, reference["breaks"])
        assert [*groups.labels, *map(str, as_list(case.special_codes.get(name)))] == reference["levels"]
    options = {name: value for name, value in case.options.items() if not name.startswith("ngroups")}
    result = oracle.attribute(files[0], files[1], case.keys, case.target, oracle.Options(**options))
    check_1way, check_2way = comparable_checks(result.check_1way, result.check_2way)
    actual = {
        "measures": result.measures,
        "identity_after_exclusions": result.identity_after_exclusions,
        "exclusions": result.exclusions,
        "check_1way": check_1way,
        "check_2way": check_2way,
    }
    assert_same(actual, case.expected[0])
