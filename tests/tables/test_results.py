"""What a result object gives back: frames, plain values, text, intervals, records, subgroups, key sets."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import unveil
from reference import assert_same, columns_of
from unveil import result
from unveil._tables.intervals import replicated_interval
from unveil.errors import CallError, DataError, MissingPackageError
from unveil.show.words.tables import grouping_in_words
from unveil.stats import Moments, percent_interval, resampled_means

KEYS = ("sex", "age")
TYPES = {"sex": pa.string(), "age": pa.int64(), "job": pa.string(), "ill": pa.string()}


def made(n: int, seed: int) -> dict[str, list[Any]]:
    """A file in which keys repeat, some are missing, and the target depends on them."""
    draw = random.Random(seed)
    sex = [draw.choice(["f", "m", None]) for _ in range(n)]
    age = [draw.randrange(20, 80, 3) for _ in range(n)]
    job = [draw.choice("abc") for _ in range(n)]
    ill = [draw.choice(["yes", "no", None]) if a > 40 else "no" for a in age]
    return {"sex": sex, "age": age, "job": job, "ill": ill}


ORIGINAL, RELEASES = made(60, 1), (made(45, 2), made(12, 3), {name: [] for name in TYPES})


def table(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    return pa.table({name: pa.array(values, TYPES[name]) for name, values in columns.items()})


@pytest.fixture(scope="module")
def pair() -> unveil.Pair:
    """Three releases, the last without records."""
    return unveil.Pair(table(ORIGINAL), [table(r) for r in RELEASES])


@pytest.fixture(scope="module")
def alone() -> unveil.Pair:
    return unveil.Pair(table(ORIGINAL), table(RELEASES[0]))


def every(pair: unveil.Pair) -> dict[str, Any]:
    risk = unveil.attribute(pair, KEYS, target="ill")
    return {
        "identity": unveil.identity(pair, KEYS),
        "attribute": risk,
        "targets": unveil.attribute(pair, KEYS),
        "structure": unveil.structure(pair, KEYS),
        "key sets": unveil.key_sets(pair, KEYS, target="ill"),
        "curve": risk.cap_curve([0, 0.5, 1]),
    }


NAMES = ("identity", "attribute", "targets", "structure", "key sets", "curve")


def plain_types(value: Any) -> bool:
    """Only what JSON knows: no numpy number, no tuple."""
    if type(value) is dict:
        return all(type(key) is str and plain_types(v) for key, v in value.items())
    if type(value) is list:
        return all(map(plain_types, value))
    return type(value) in (str, int, float, bool, type(None))


# --------------------------------------------------------------------------------------------------- frames
def undefined(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """What is not a number comes back from pandas as a gap."""
    return {name: [math.nan if v is None else v for v in values] for name, values in columns.items()}


@pytest.mark.parametrize("name", NAMES)
def test_frames_come_in_the_flavour_of_the_original(make_frame, flavour: str, name: str):
    pair = unveil.Pair(make_frame(table(ORIGINAL)), [table(r) for r in RELEASES])
    found = every(pair)[name]
    home = type(make_frame(table(ORIGINAL)))
    assert isinstance(found.to_frame(), home)
    assert isinstance(found.to_frame("arrow"), pa.Table)
    assert_same(undefined(columns_of(found.to_frame())), columns_of(found.to_frame("arrow")), tolerance=0)
    if hasattr(found, "records"):
        assert isinstance(found.records(), home)
        assert isinstance(found.records(1, flavour="arrow"), pa.Table)
        assert isinstance(found.by("job"), home)
        assert isinstance(found.by("job", flavour="arrow"), pa.Table)


@pytest.mark.parametrize("flavour", ["pandas", "polars"])
def test_frames_of_another_flavour(alone: unveil.Pair, flavour: str):
    pytest.importorskip(flavour, reason="for its frames")
    for found in every(alone).values():
        assert type(found.to_frame(flavour)).__module__.startswith(flavour)


def test_frames_hold_a_row_per_release(pair: unveil.Pair):
    found = every(pair)
    labels = ["release 1", "release 2", "release 3"]
    for name in ("identity", "attribute", "structure"):
        rows = columns_of(found[name].to_frame())
        assert rows["release"] == labels
        for measure in found[name].releases[0]:
            assert_same(rows[measure], [r[measure] for r in found[name].releases])
    assert columns_of(found["identity"].to_frame())["n_synthetic"] == [45, 12, 0]
    rows = columns_of(found["targets"].to_frame())
    assert (rows["target"], rows["release"]) == (["job"] * 3 + ["ill"] * 3, labels * 2)
    assert_same(rows["DiSCO"], [r["DiSCO"] for risk in found["targets"] for r in risk.releases])
    rows = columns_of(found["curve"].to_frame())
    assert (rows["release"], rows["tau"]) == ([x for x in labels for _ in range(3)], [0, 0.5, 1] * 3)
    rows = columns_of(found["key sets"].to_frame())
    assert (rows["keys"], rows["size"]) == ([["sex"], ["age"], ["sex", "age"]], [1, 1, 2])


def test_unknown_and_missing_flavours(alone: unveil.Pair, monkeypatch: pytest.MonkeyPatch):
    found = unveil.identity(alone, KEYS)
    with pytest.raises(CallError, match="flavour must be 'pandas', 'polars' or 'arrow', not 'dask'"):
        found.to_frame("dask")
    monkeypatch.setattr(result.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="polars is not installed; ask for 'arrow'"):
        found.to_frame("polars")


# --------------------------------------------------------------------------------------------- plain values
@pytest.mark.parametrize("name", NAMES)
def test_plain_values_are_json(pair: unveil.Pair, alone: unveil.Pair, name: str):
    for files in (pair, alone):
        found = every(files)[name].to_dict()
        assert plain_types(found)
        assert_same(json.loads(json.dumps(found)), found, tolerance=0)


def test_plain_values_hold_what_the_result_holds(pair: unveil.Pair):
    found = every(pair)
    risk, plain = found["attribute"], found["attribute"].to_dict()
    assert (plain["keys"], plain["target"]) == (["sex", "age"], "ill")
    assert_same(plain["releases"], [dict(r) for r in risk.releases])
    assert set(plain) >= {
        *("keys", "target", "releases", "mean", "undefined", "n_original", "n_synthetic", "labels", "grouping"),
        *("identity_after_exclusions", "exclusions", "check_1way", "check_2way", "mode_DiSCO", "warnings"),
    }
    assert_same(found["targets"].to_dict()["targets"][1], plain)
    assert (plain["n_original"], plain["n_synthetic"], plain["labels"][0]) == (60, [45, 12, 0], "release 1")


def test_plain_values_are_copies(alone: unveil.Pair):
    found = unveil.attribute(alone, KEYS, target="ill")
    before = found.DiSCO
    plain = found.to_dict()
    plain["mean"]["DiSCO"] = plain["releases"][0]["DiSCO"] = -1
    assert found.DiSCO == found.releases[0]["DiSCO"] == before


def test_means_are_over_the_releases_in_which_a_measure_is_defined(pair: unveil.Pair):
    defined = [oracle.identity(ORIGINAL, r, KEYS)["UiS"] for r in RELEASES[:2]]
    found = unveil.identity(pair, KEYS)
    assert math.isnan(found.releases[2]["UiS"])
    assert found.UiS == pytest.approx(sum(defined) / 2)
    three = [oracle.identity(ORIGINAL, r, KEYS)["UiOiS"] for r in RELEASES]
    assert found.UiOiS == pytest.approx(sum(three) / 3)
    risk = unveil.attribute(pair, KEYS, target="ill")
    assert set(risk.undefined) >= {"Dsyn", "CAPs", "DCAPs", "TCAP"}
    assert all("release 3" in reason and "release 1" not in reason for reason in risk.undefined.values())
    assert risk.mean["TCAP"] == risk.TCAP
    with pytest.raises(AttributeError, match="'AttributeRisk' has no attribute 'disco'"):
        _ = risk.disco


def test_results_of_equal_files_are_equal():
    """They are compared by their figures, not by the files that they hold."""
    one, same, other = (every(unveil.Pair(table(ORIGINAL), table(RELEASES[i]))) for i in (0, 0, 1))
    for name in ("identity", "attribute", "structure", "curve"):
        assert one[name] == same[name]
        assert one[name] != other[name]


def test_several_targets_are_a_sequence(alone: unveil.Pair):
    risks = unveil.attribute(alone, "sex")
    assert len(risks) == 3
    assert [risk.target for risk in risks] == ["age", "job", "ill"]
    assert risks[-1].target == "ill"
    assert [risk.target for risk in risks[1:]] == ["job", "ill"]
    assert type(risks[1:]) is type(risks)
    assert "job" not in str(risks[::2])


# ----------------------------------------------------------------------------------------------------- text
@pytest.mark.parametrize("name", NAMES)
def test_text_is_short_and_is_the_representation(pair: unveil.Pair, name: str):
    found = every(pair)[name]
    text = str(found)
    assert text == repr(found)
    assert all(key in text for key in KEYS)
    assert not re.search(r"\bnan\b|np\.|None|\{|\}", text)
    assert max(len(line) for line in text.splitlines()) <= 120
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_text_holds_denominators_figures_and_intervals(pair: unveil.Pair):
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")
    for found, measures, interval in (
        (identity, ("UiO", "UiS", "UiOiS", "repU"), "repU"),
        (attribute, ("iS", "DiS", "DiSCO", "DiSDiO", "DCAPd", "TCAP"), "DiSCO"),
    ):
        lines = str(found).splitlines()
        assert "60 original records" in lines[0]
        for r, ends in enumerate(found.intervals()):
            (line,) = [x for x in lines if x.startswith(f"release {r + 1} ")]
            low, high = ends[interval]
            values = [result.number(found.releases[r][m]) for m in measures]
            assert line.split()[2:] == [str((45, 12, 0)[r]), *values, f"{low:.2f}", "to", f"{high:.2f}"]
        (line,) = [x for x in lines if x.startswith("mean ")]
        assert line.split()[1:] == [result.number(found.mean[m]) for m in measures]


def test_text_of_one_release_has_no_mean(alone: unveil.Pair):
    for name in ("identity", "attribute", "structure"):
        assert not any(line.startswith("mean") for line in str(every(alone)[name]).splitlines())


def test_text_names_what_is_not_defined_and_what_to_look_at():
    one = pa.table({"k": ["a", "b"], "t": ["x", "x"]})
    text = " ".join(str(unveil.attribute(unveil.Pair(one, one.slice(0, 0)), "k", target="t")).split())
    assert "TCAP is not defined: no original record's keys are disclosive in the release" in text
    assert "'t' has one value only in the original" in text
    id_like = pa.table({"k": ["a", "a"], "t": ["x", "y"]})
    text = " ".join(str(unveil.attribute(unveil.Pair(id_like, id_like), "k", target="t")).split())
    assert "'t' is different in every record" in text


def test_figures_in_text():
    assert [result.number(v) for v in (1.005, -0.0, 3, "x", None, math.nan)] == ["1.00", "-0.00", "3", "x", "-", "-"]
    assert result.number(2 / 3, digits=4) == "0.6667"
    assert result.text_table(["a", "b"], [["long", 1.0], ["x", None]]) == "a        b\nlong  1.00\nx        -"
    assert result.paragraph("one two", "three", width=8) == "one two\nthree"
    assert result.paragraph("one", "", "two") == "one two"


# ------------------------------------------------------------------------------------------------ intervals
def test_intervals_are_the_same_for_a_seed_and_only_what_is_drawn_is_other_for_another(pair: unveil.Pair):
    """TCAP is a ratio and is drawn; the other measures are means, of which the variance is known."""
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")
    for found in (identity, attribute):
        assert_same(found.intervals(seed=1), found.intervals(seed=1), tolerance=0)
        assert len(found.intervals()) == 3
    assert identity.intervals(seed=1) == identity.intervals(seed=2)
    one, two = attribute.intervals(seed=1)[0], attribute.intervals(seed=2)[0]
    assert [name for name in one if one[name] != two[name]] == ["TCAP"]


def test_intervals_cover_the_figure(pair: unveil.Pair):
    for found in (unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")):
        for figures, ends in zip(found.releases, found.intervals(), strict=True):
            for name, (low, high) in ends.items():
                if math.isnan(figures[name]):
                    assert math.isnan(low)
                    assert math.isnan(high)
                else:
                    assert 0 <= low <= figures[name] <= high <= 100, name


def test_intervals_do_not_depend_on_the_order_of_records(alone: unveil.Pair):
    order = random.Random(5).sample(range(60), 60)
    shuffled = {name: [values[i] for i in order] for name, values in ORIGINAL.items()}
    back = {name: values[::-1] for name, values in RELEASES[0].items()}
    other = unveil.Pair(table(shuffled), table(back))
    assert unveil.identity(other, KEYS).intervals() == unveil.identity(alone, KEYS).intervals()
    one, two = (unveil.attribute(p, KEYS, target="ill").intervals()[0] for p in (other, alone))
    assert one == two


def test_wider_coverage_gives_wider_intervals(alone: unveil.Pair):
    found = unveil.attribute(alone, KEYS, target="ill")
    (narrow,), (wide,) = found.intervals(level=0.5), found.intervals(level=0.99)
    for name in narrow:
        assert wide[name][0] <= narrow[name][0] <= narrow[name][1] <= wide[name][1]
    assert any(wide[name] != narrow[name] for name in narrow)


def test_width_of_an_interval_is_that_of_a_share():
    """DiSCO of n independent records is a share: its standard error is sqrt(p (1 - p) / n)."""
    n = 1000
    keys = ["a"] * 300 + ["b"] * 700
    original = pa.table({"k": keys, "t": ["x"] * n})
    release = pa.table({"k": ["a", "b", "b"], "t": ["x", "x", "y"]})
    ((low, high),) = [
        i["DiSCO"] for i in unveil.attribute(unveil.Pair(original, release), "k", target="t").intervals(n=4000)
    ]
    error = 100 * math.sqrt(0.3 * 0.7 / n)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert (low + high) / 2 == pytest.approx(30, abs=0.5 * error)


def test_intervals_where_all_records_are_alike():
    """Resampling shows one outcome only; the end is where five records alike have a probability of 2.5 %."""
    same = pa.table({"k": ["a"] * 5, "t": ["x"] * 5})
    pair = unveil.Pair(same, same)
    end = 0.025 ** (1 / 5)
    (found,) = unveil.identity(pair, "k").intervals()
    assert found["UiO"] == (0, pytest.approx(100 * (1 - end)))
    # the release has one combination, with which one of five persons can be alone, and none that is unique
    assert found["UiOiS"] == (0, pytest.approx(20 * 0.975))
    assert found["repU"] == (0, 0)
    (found,) = unveil.attribute(pair, "k", target="t").intervals()
    assert found["DiSCO"] == (pytest.approx(100 * end), 100)


@pytest.mark.parametrize(
    ("option", "match"),
    [({"n": 1}, "n must be a whole number from 2"), ({"level": 1}, "0 and 1"), ({"level": 0.0}, "0 and 1")],
)
def test_bad_options_of_intervals(alone: unveil.Pair, option: dict[str, Any], match: str):
    for found in (unveil.identity(alone, KEYS), unveil.attribute(alone, KEYS, target="ill")):
        with pytest.raises(CallError, match=match):
            found.intervals(**option)


def test_interval_ends_by_hand():
    """Replicates of 20 and 40 percent have the variance 0.01, that of 0.3 of 21 persons; what is not defined is out."""
    replicates = np.array([20.0, 40.0, math.nan, 40.0, 20.0])
    low, high = percent_interval(30.0, replicates, 0.95, 1000)
    z2, p, n = 1.959964**2, 0.3, 21
    half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
    ends = [100 * (p + z2 / (2 * n) + sign * half) / (1 + z2 / n) for sign in (-1, 1)]
    assert (low, high) == pytest.approx(ends, abs=1e-4)
    assert all(map(math.isnan, percent_interval(math.nan, np.array([math.nan]), 0.9, 1000)))


def test_replicated_uniques_are_a_number_of_the_releases_unique_combinations():
    """12 of 40 combinations that are unique in the release, of 200 persons: Wilson's interval of 12/40, times 1/5."""
    low, high = replicated_interval(Moments.of(np.ones(1), np.array([12])), 40, 200, level=0.95)
    assert (low, high) == pytest.approx([20 * end for end in unveil.inference.wilson(12, 40)])
    # without a unique combination in the release nobody could be a replicated unique
    assert replicated_interval(Moments(), 0, 200, level=0.95) == (0.0, 0.0)
    # all of them met: at most they can be fewer
    low, high = replicated_interval(Moments.of(np.ones(1), np.array([40])), 40, 200, level=0.95)
    assert (low, high) == pytest.approx((20 * 0.025 ** (1 / 40), 20))


def test_resampling_keeps_the_measures_of_a_record_together():
    """A record adds to both or to neither, so that the replicates are equal."""
    flags = np.array([1.0, 0.0, 0.0])
    draws = resampled_means({"a": flags, "b": flags, "c": 1 - flags}, np.array([2, 5, 3]), n=50, seed=0)
    assert draws["a"].tolist() == draws["b"].tolist()
    assert draws["a"] + draws["c"] == pytest.approx(np.full(50, 100.0))
    assert set(np.round(draws["a"] / 10, 9)) <= set(range(11))
    assert len(set(draws["a"])) > 1


# --------------------------------------------------------------------------------------- records and groups
def test_records_stand_in_the_order_of_the_original(pair: unveil.Pair):
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")
    for r, release in enumerate(RELEASES):
        expected = oracle.records(ORIGINAL, release, KEYS, "ill")
        found = columns_of(attribute.records(r))
        assert list(found) == ["record", *expected[0]]
        assert found["record"] == list(range(60))
        for name in expected[0]:
            assert_same(found[name], [e[name] for e in expected], name)
        found = columns_of(identity.records(r))
        assert list(found) == ["record", "d_q", "s_q", "unique", "unique_in_synthetic", "replicated_unique"]
        assert found["unique"] == [e["d_q"] == 1 for e in expected]
        assert found["unique_in_synthetic"] == [e["d_q"] == 1 and e["s_q"] > 0 for e in expected]
        assert found["replicated_unique"] == [e["replicated_unique"] for e in expected]


@pytest.mark.parametrize("column", ["job", "ill", "sex"])
def test_subgroups_are_the_measures_of_their_records(pair: unveil.Pair, column: str):
    """A group's figure is 100 times the mean flag of its records; groups may be keys or the target."""
    identity, attribute = unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")
    groups = ["Missing" if v is None else v for v in ORIGINAL[column]]
    for r, release in enumerate(RELEASES):
        expected = oracle.records(ORIGINAL, release, KEYS, "ill")

        def share(level: str, flag: Any, expected: Any = expected) -> float:
            members = [flag(e) for e, g in zip(expected, groups, strict=True) if g == level]
            return 100 * sum(members) / len(members)

        found = columns_of(attribute.by(column, r))
        levels = sorted(set(groups) - {"Missing"}) + ["Missing"] * ("Missing" in groups)
        assert found[column] == levels
        assert found["n"] == [groups.count(level) for level in levels]
        for name, flag in (("iS", "in_synthetic"), ("DiS", "disclosive"), ("DiSCO", "disco"), ("DCAPd", "ps")):
            assert found[name] == pytest.approx([share(level, lambda e, f=flag: e[f]) for level in levels])
        found = columns_of(identity.by(column, r))
        assert found["UiO"] == pytest.approx([share(level, lambda e: e["d_q"] == 1) for level in levels])
        assert found["repU"] == pytest.approx([share(level, lambda e: e["replicated_unique"]) for level in levels])


def test_subgroups_list_levels_of_the_original_only():
    pair = unveil.Pair(pa.table({"k": ["a"], "g": ["x"]}), pa.table({"k": ["a", "a"], "g": ["x", "y"]}))
    assert columns_of(unveil.identity(pair, "k").by("g"))["g"] == ["x"]


def test_subgroups_of_an_unknown_column(pair: unveil.Pair):
    for found in (unveil.identity(pair, KEYS), unveil.attribute(pair, KEYS, target="ill")):
        with pytest.raises(CallError, match="the original has no column 'jobb'; did you mean 'job'"):
            found.by("jobb")


def test_subgroups_by_a_column_that_a_release_lacks():
    pair = unveil.Pair(pa.table({"k": ["a"], "g": ["x"]}), pa.table({"k": ["a"]}))
    with pytest.raises(DataError, match="the release has no column 'g'"):
        unveil.identity(pair, "k").by("g")


@pytest.mark.parametrize("name", ["n", "UiO", "DiSCO"])
def test_subgroups_by_a_column_named_like_a_figure(name: str):
    files = pa.table({"k": ["a", "b"], name: ["x", "y"], "t": ["u", "v"]})
    pair = unveil.Pair(files, files)
    found = unveil.attribute(pair, "k", target="t") if name == "DiSCO" else unveil.identity(pair, "k")
    rows = columns_of(found.by(name))
    assert ["x", "y"] in rows.values()
    assert [1, 1] in rows.values()
    assert [100, 100] in rows.values()
    assert len(rows) == len(columns_of(found.by("k")))


@pytest.mark.parametrize("release", [1, -1])
def test_records_of_a_release_that_there_is_not(alone: unveil.Pair, release: int):
    for found in (unveil.identity(alone, KEYS), unveil.attribute(alone, KEYS, target="ill")):
        with pytest.raises(CallError, match="release"):
            found.records(release)
        with pytest.raises(CallError, match="release"):
            found.by("job", release)


@pytest.mark.parametrize("option", [{"n": 2.5}, {"seed": -1}, {"seed": "one"}], ids=str)
def test_other_bad_options_of_intervals(alone: unveil.Pair, option: dict[str, Any]):
    with pytest.raises(CallError):
        unveil.identity(alone, KEYS).intervals(**option)


def test_cap_curve_refuses_thresholds_that_are_no_shares(alone: unveil.Pair):
    risk = unveil.attribute(alone, KEYS, target="ill")
    for taus in ([-0.1], [1.1], [math.nan]):
        with pytest.raises(CallError, match="taus lie between 0 and 1"):
            risk.cap_curve(taus)
    for taus in ([], 0.5, ["0.5"], "all", [True], [None]):
        with pytest.raises(CallError, match="taus are a sequence of numbers"):
            risk.cap_curve(taus)  # type: ignore[arg-type]
    assert risk.cap_curve([1, 0, 0.5, 0.5]).taus == (0, 0.5, 1)
    assert risk.cap_curve().taus[:2] == (0, 0.05)


# ------------------------------------------------------------------------------------------------- key sets
SET_KEYS = ("sex", "age", "job")


def by_brute_force(keys: Sequence[str], releases: Sequence[Mapping[str, Sequence[Any]]] = RELEASES) -> dict[str, float]:
    each = [oracle.identity(ORIGINAL, r, keys) | oracle.attribute(ORIGINAL, r, keys, "ill").measures for r in releases]
    defined = {name: [one[name] for one in each if not math.isnan(one[name])] for name in each[0]}
    return {name: sum(values) / len(values) if values else math.nan for name, values in defined.items()}


def test_key_sets_are_counted_by_brute_force(pair: unveil.Pair):
    found = unveil.key_sets(pair, SET_KEYS, target="ill", max_size=2)
    assert [s.keys for s in found.sets] == oracle.key_subsets(SET_KEYS, 2)
    for one in found.sets:
        expected = by_brute_force(one.keys)
        assert list(one.measures) == ["UiO", "UiS", "UiOiS", "repU", "Dorig", "iS", "DiS", "DiSCO", "DCAPd", "TCAP"]
        assert_same(dict(one.measures), {name: expected[name] for name in one.measures})
        assert one.combinations == len(set(oracle.combined_keys(ORIGINAL, one.keys)))


def test_each_key_is_left_out_in_turn(pair: unveil.Pair):
    found = unveil.key_sets(pair, SET_KEYS, target="ill", max_size=1)
    assert [s.keys for s in found.leave_one_out] == [SET_KEYS, ("age", "job"), ("sex", "job"), ("sex", "age")]
    for one in found.leave_one_out:
        assert one.measures["DiSCO"] == pytest.approx(by_brute_force(one.keys)["DiSCO"])
    table_of_text = [line.split() for line in str(found).splitlines() if line.startswith(("all keys", "without"))]
    assert {line[1] for line in table_of_text} == {"keys", *SET_KEYS}
    lowest = min(found.leave_one_out[1:], key=lambda s: s.measures["DiSCO"])
    (left_out,) = set(SET_KEYS) - set(lowest.keys)
    assert table_of_text[1][:2] == ["without", left_out]


def test_smallest_and_largest_by_size(pair: unveil.Pair):
    found = unveil.key_sets(pair, SET_KEYS, target="ill")
    assert list(found.by_size) == [1, 2, 3]
    for size, ends in found.by_size.items():
        for name in ("repU", "DiSCO"):
            values = [by_brute_force(keys)[name] for keys in oracle.key_subsets(SET_KEYS, 3) if len(keys) == size]
            assert ends[name] == pytest.approx((min(values), max(values)))
    assert list(unveil.key_sets(pair, SET_KEYS, max_size=2).by_size) == [1, 2]
    assert list(unveil.key_sets(pair, SET_KEYS).by_size[1]) == ["repU"]


def test_correlation_with_the_number_of_combinations(pair: unveil.Pair):
    found = unveil.key_sets(pair, SET_KEYS, target="ill")
    subsets = oracle.key_subsets(SET_KEYS, 3)
    counts = [len(set(oracle.combined_keys(ORIGINAL, keys))) for keys in subsets]
    for name in ("repU", "DiSCO"):
        values = [by_brute_force(keys)[name] for keys in subsets]
        assert found.correlation[name] == pytest.approx(np.corrcoef(counts, values)[0, 1])


def test_correlation_of_what_does_not_vary_is_not_defined():
    files = pa.table({"a": ["x", "x"], "b": ["y", "y"]})
    found = unveil.key_sets(unveil.Pair(files, files), ["a", "b"])
    assert math.isnan(found.correlation["repU"])
    assert found.to_dict()["by_size"] == {"1": {"repU": [0, 0]}, "2": {"repU": [0, 0]}}


def test_correlation_that_is_not_defined_is_printed_as_a_dash():
    files = pa.table({"a": ["x", "x"], "b": ["y", "y"]})
    assert "nan" not in str(unveil.key_sets(unveil.Pair(files, files), ["a", "b"]))


def test_one_key_has_nothing_to_leave_out(alone: unveil.Pair):
    found = unveil.key_sets(alone, ["sex"], target="ill")
    assert [s.keys for s in found.leave_one_out] == [("sex",)]
    assert len(str(found).splitlines()) > 5


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "2"], ids=repr)
def test_bad_sizes_of_key_sets(alone: unveil.Pair, size: Any):
    with pytest.raises(CallError, match="max_size must be a whole number from 1"):
        unveil.key_sets(alone, KEYS, max_size=size)


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_key_sets_of_any_files(seed: int, n_original: int, n_synthetic: int):
    original, release = made(n_original, seed), made(n_synthetic, seed + 1)
    found = unveil.key_sets(unveil.Pair(table(original), table(release)), SET_KEYS, max_size=3)
    for one in found.sets:
        assert_same(dict(one.measures), oracle.identity(original, release, one.keys))
        # What only the release has is no combination of the original.
        assert one.combinations == len(set(oracle.combined_keys(original, one.keys)))


def test_key_sets_say_how_far_they_are():
    table = pa.table({"a": [1, 1, 2], "b": [1, 2, 2], "c": [3, 3, 3]})
    calls: list[tuple[int, int, str]] = []
    unveil.key_sets(unveil.Pair(table, table), ["a", "b", "c"], max_size=2, progress=lambda *said: calls.append(said))
    # 3 single keys, 3 pairs; all three, and all but each.
    assert [call[:2] for call in calls] == [(i, 10) for i in range(1, 11)]
    assert [call[2] for call in calls][3:7] == ["a, b", "a, c", "b, c", "a, b, c"]


def test_groups_that_are_not_named_are_counted():
    levels = [f"[{k},{k + 1})" for k in range(8)]
    (many,) = grouping_in_words({"age": {"levels": levels}})
    assert many.endswith("[5,6) and 2 more.")
    (few,) = grouping_in_words({"age": {"levels": levels[:6]}})
    assert few.endswith("[5,6).")


def test_a_number_of_groups_that_groups_nothing_says_so():
    """Amounts that are text are no numbers; nor is a key of words."""
    table = pa.table({"k": list("aabb"), "n": [1, 2, 3, 4], "x": ["1 EUR", "2 EUR", "3 EUR", "4 EUR"]})
    pair = unveil.Pair(table, table.slice(0))
    said = "ngroups_target: 'x' is categorical and was not grouped; if it holds amounts, state its kind"
    assert said in unveil.attribute(pair, ["k"], target="x", ngroups_target=10).warnings
    n, x = unveil.attribute(pair, ["k"], targets=["n", "x"], ngroups_target=3)
    assert (said in x.warnings, said in n.warnings) == (True, False)
    assert not [w for w in unveil.attribute(pair, ["k"], targets=["n", "x"], ngroups_target=4)[1].warnings if w == said]
    said = "ngroups_keys: 'k' is categorical and was not grouped; if it holds amounts, state its kind"
    assert said in unveil.identity(pair, ["k"], ngroups_keys=3).warnings
    assert said not in unveil.identity(pair, ["k", "n"], ngroups_keys=3).warnings
    assert said not in unveil.identity(pair, ["k"]).warnings
