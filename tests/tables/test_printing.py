"""What the texts of table measures say: figures counted by hand, and each remark exactly where it belongs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import unveil


def words(found: Any) -> str:
    return " ".join(str(found).split())


# 60 records of a, all x; 20 of b, all y; the release knows a alone.
COMMON = pa.table({"k": ["a"] * 60 + ["b"] * 20, "t": ["x"] * 60 + ["y"] * 20, "u": ["v", "w"] * 40})
ONLY_A = COMMON.slice(0, 60)


def test_checks_in_words() -> None:
    text = words(unveil.attribute(unveil.Pair(COMMON, ONLY_A), "k", target="t"))
    assert (
        "60 of the 60 DiSCO records have the level x, which 75.0 % of all have; consider leaving it out "
        "(not_target_levels): --not-target-levels t=x"
    ) in text
    assert (
        "1 pair of target and key level goes together in more than 80 % of the original records with that key level, "
        "first x with k a (60 of 60); consider leaving such pairs out (exclude_pairs): "
        "--exclude-pairs k=a:x"
    ) in text


def test_checks_in_words_say_of_which_records_the_share_is() -> None:
    options: dict[str, Any] = {"target": "t", "exclude_pairs": [("k", "b", "y")], "check_2way": (60, 80)}
    text = words(unveil.attribute(unveil.Pair(COMMON, ONLY_A), "k", **options))
    # Without the 20 of b every record left has the level; no cell has more than 60 records.
    assert "have the level x, which 100.0 % of all that the exclusions leave have;" in text
    assert "level goes together" not in text
    assert "Left out (exclude_pairs): 20 of 80 original records and 0 of 60 of" in text


def test_no_check_no_words() -> None:
    text = words(unveil.attribute(unveil.Pair(COMMON, ONLY_A), "k", target="u"))
    assert "Check" not in text
    assert "Left out" not in text


def test_identity_says_what_gaps_leave_out() -> None:
    """One of three records lacks its key, and both of the second release."""
    original = pa.table({"k": ["a", "b", None]})
    pair = unveil.Pair(original, [pa.table({"k": ["a"]}), pa.table({"k": pa.array([None, None], pa.string())})])
    everything, known = unveil.identity(pair, "k"), unveil.identity(pair, "k", use_keys_na=False)
    assert everything.left_out == ({"original": 0, "synthetic": 0},) * 2
    assert known.left_out == ({"original": 1, "synthetic": 0}, {"original": 1, "synthetic": 2})
    assert (everything.UiO, known.UiO) == (100, pytest.approx(200 / 3))
    assert "Left out" not in words(everything)
    assert "Left out (use_keys_na): 1 of 3 original records and 0 of 1 of release 1." in words(known)
    assert "1 of 3 original records and 2 of 2 of release 2." in words(known)


def test_the_largest_pair_is_told() -> None:
    """Of two pairs the one with more DiSCO records stands first: 12 of 12 with b, 6 of 7 with a."""
    original = pa.table({"k": ["a"] * 7 + ["b"] * 12, "t": ["x"] * 6 + ["y"] * 13})
    release = pa.table({"k": ["a", "b"], "t": ["x", "y"]})
    found = unveil.attribute(unveil.Pair(original, release), "k", target="t")
    (pairs,) = found.check_2way
    assert [(p["target_level"], p["key_level"], p["records"]) for p in pairs] == [("y", "b", 12), ("x", "a", 6)]
    assert [p["percent"] for p in pairs] == [100, pytest.approx(100 * 6 / 7)]
    assert "2 pairs of target and key level go together" in words(found)
    assert "first y with k b (12 of 12)" in words(found)


def test_several_targets_say_what_to_look_at() -> None:
    risks = unveil.attribute(unveil.Pair(COMMON, ONLY_A), "k", targets=["t", "u"])
    (line,) = [line for line in str(risks).splitlines() if line.startswith("t ")]
    # 60 of 80 in the release, disclosed, and right; in the original all 80 are disclosed.
    assert line.split()[1:3] == ["100.00", "75.00"]
    assert "1-way 2-way" in line
    (line,) = [line for line in str(risks).splitlines() if line.startswith("u ")]
    assert "way" not in line
    text = words(risks)
    assert "t: Check (" in text
    assert "u: Check (" not in text
    assert "mean of" not in text
    assert "spans those of the releases" not in text
    twice = words(unveil.attribute(unveil.Pair(COMMON, [ONLY_A, COMMON]), "k", targets=["t", "u"]))
    assert "mean of 2 releases" in twice
    assert "The interval in the table spans those of the releases." in twice


def test_targets_stand_by_falling_disclosure() -> None:
    risks = unveil.attribute(unveil.Pair(COMMON, ONLY_A), "k", targets=["u", "t"])
    lines = [line.split()[0] for line in str(risks).splitlines() if line[:2] in ("t ", "u ")]
    assert lines == ["t", "u"]


def test_where_telling_less_would_disclose_more() -> None:
    """With its most frequent value alone the release would disclose t of all four; u it discloses as it is."""
    original = pa.table({"k": ["a"] * 4, "t": ["x"] * 4, "u": ["v"] * 4})
    release = pa.table({"k": ["a"] * 3, "t": ["x", "x", "y"], "u": ["v"] * 3})
    pair = unveil.Pair(original, release)
    rising = "DiSCO would be higher if the release carried only its most frequent value"
    risks = unveil.attribute(pair, "k", targets=["t", "u"])
    assert [risk.mode_DiSCO for risk in risks] == [(100,), (100,)]
    assert [risk.DiSCO for risk in risks] == [0, 100]
    assert f"t: {rising}" in words(risks)
    assert "u: DiSCO" not in words(risks)
    assert "t, u" not in words(risks)
    assert rising in words(risks[0])
    assert rising not in words(risks[1])
    assert rising not in words(unveil.attribute(pair, "k", targets=["u"]))


def test_baselines_in_a_table() -> None:
    original = {"k": ["a", "a", "a", "b", "b", "c", "d"], "t": [1, 1, 2, 1, 1, 2, 3]}
    release = {"k": ["a", "a", "b", "c", "e"], "t": [1, 2, 1, 1, 3]}
    held_out = pa.table({"k": ["a", "b", "b", "c", "f"], "t": [2, 1, 2, 1, 9]})
    risk = unveil.attribute(unveil.Pair(pa.table(original), pa.table(release)), "k", target="t")
    alone, beside = risk.ladder(permutations=0, level=0.9), risk.ladder(permutations=0, holdout=held_out)
    # Two of seven disclosed, four of seven have the most frequent value, four of seven disclosed by the original.
    row = next(line.split() for line in str(alone).splitlines() if line.startswith("DiSCO "))
    assert (row[1], row[-8:]) == ("28.57", ["57.14", "-", "-", "-", "-", "57.14", "-", "-"])
    # With seven shuffles a p-value is a number of eighths, to three digits.
    row = next(line.split() for line in str(risk.ladder(permutations=7)).splitlines() if line.startswith("DiSCO "))
    assert row[8] in {f"{i / 8:.3f}" for i in range(1, 9)}
    # One release has no mean beside it, in the text as in the frame.
    assert "mean" not in pa.table(alone.to_frame("arrow"))["release"].to_pylist()
    assert len(pa.table(alone.to_frame("arrow"))) == 3
    assert "mean of the releases" not in str(alone)
    assert ("90 %" in str(alone), "95 %" in str(alone), "95 %" in str(beside)) == (True, False, True)
    assert "Held out: of 100 persons" not in words(alone)
    # Of the five held-out records the two of b and that of c are met; two have the level.
    assert "the release discloses 40.00 (DiSCO) and attributes 50.00 correctly (DCAPd)" in words(beside)
    assert "5 held-out records" in words(beside)
    assert "DiSCO.excess is not defined: no shuffles were asked for" in words(alone)
    assert "repU.margin is not defined" not in words(alone)
    assert "held_out is not defined" not in words(alone)


def test_structure_counts_in_words() -> None:
    """Original a, b, c; releases of a, x and of b: half of the first is novel, two of three are kept by both."""
    original = pa.table({"k": list("aabc")})
    one = unveil.structure(unveil.Pair(original, pa.table({"k": list("axx")})), "k")
    assert "3 combinations" in str(one).splitlines()[0]
    assert ["2", "1", "50.00", "33.33", "33.33"] in [line.split()[-5:] for line in str(one).splitlines()]
    assert "Of 100 key combinations in a release, 50.00 do not occur in the original." in words(one)
    assert "Records with them match nobody" in words(one)
    assert "in any of the" not in words(one)
    assert not any(line.startswith(("mean", "all as one")) for line in str(one).splitlines())
    two = unveil.structure(unveil.Pair(original, [pa.table({"k": list("axx")}), pa.table({"k": ["b"]})]), "k")
    rows = {line[:10].strip(): line.split() for line in str(two).splitlines()}
    assert rows["mean"][1:] == ["1.50", "0.50", "25.00", "33.33", "66.67"]
    assert rows["all as one"][3:] == ["3", "1", "33.33", "66.67", "50.00"]
    assert (
        "Of 100 that occur in any of the 2 releases, 33.33 do not (66.67 do); of 100 of the original, 66.67 occur in "
        "one of the releases."
    ) in words(two)
    kept = words(unveil.structure(unveil.Pair(original, pa.table({"k": ["a"]})), "k"))
    assert "match nobody" not in kept


def test_key_sets_in_words() -> None:
    """Age alone makes everybody unique and sex nobody: both figures fall most without age."""
    people = pa.table({"sex": list("ffmm"), "age": [1, 2, 3, 4], "ill": ["y", "n", "y", "n"]})
    found = unveil.key_sets(unveil.Pair(people, people.slice(0)), ["sex", "age"], target="ill")
    lines = [line.split() for line in str(found).splitlines()]
    # keys, sets, repU min and max, DiSCO min and max.
    assert ["1", "2", "0.00", "100.00", "0.00", "100.00"] in lines
    assert ["2", "1", "100.00", "100.00", "100.00", "100.00"] in lines
    assert ["all", "keys", "4", "100.00", "100.00"] in lines
    assert lines.index(["without", "age", "2", "0.00", "0.00"]) < lines.index(
        ["without", "sex", "4", "100.00", "100.00"]
    )
    text = words(found)
    assert "repU falls most without age. DiSCO falls most without age." in text
    # 2, 4 and 4 combinations go with 0, 100 and 100: on a line.
    assert "Correlation over the 3 sets with the number of combinations: repU 1.00, DiSCO 1.00." in text
    assert "; one release" in text
    assert "mean of 2 releases" in words(unveil.key_sets(unveil.Pair(people, [people, people]), ["sex", "age"]))
    same = unveil.key_sets(unveil.Pair(people, people.slice(0)), ["age"], target="ill")
    assert "falls most" not in words(same)
    twins = people.append_column("copy", people["age"])
    assert "falls most" not in words(unveil.key_sets(unveil.Pair(twins, twins.slice(0)), ["age", "copy"]))
