"""The distribution of every variable in all files: bars by hand, against plain counts, and no rare level."""

from __future__ import annotations

import datetime
import math
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil._utility.compared import compared
from unveil._utility.distributions import MOST_BARS, OTHERS, distributions
from unveil.errors import CallError

pytestmark = pytest.mark.filterwarnings("ignore:column .x.. no value of the original occurs:unveil.UnveilWarning")


def of(original: list, *releases: list, least: int = 0, **options):
    files = [pa.table({"x": pa.array(values)}) for values in (original, *releases)]
    pair = unveil.Pair(files[0], files[1:], **options)
    (found,) = distributions(compared(pair, ["x"], 5), least)
    return {bar.level: (bar.records, bar.original, *bar.releases) for bar in found.bars}


def test_levels_by_hand():
    found = of(["a"] * 6 + ["b"] * 3 + [None], ["a"] * 2 + ["c"] * 2, ["b"] * 5)
    assert found == {
        "a": (6, 0.6, 0.5, 0.0), "b": (3, 0.3, 0.0, 1.0), "c": (0, 0.0, 0.5, 0.0), "Missing": (1, 0.1, 0.0, 0.0)
    }  # fmt: skip


def test_rare_levels_are_taken_together_and_are_no_fewer_than_the_least():
    # b and c together are 2 of the least 3: the smallest that is shown joins them.
    values = ["a"] * 9 + ["d"] * 4 + ["b", "c"]
    assert of(values, values, least=3) == {"a": (9, 0.6, 0.6), OTHERS: (6, 0.4, 0.4)}
    assert of(values, values, least=2) == {
        "a": (9, 0.6, 0.6), "d": (4, pytest.approx(4 / 15), pytest.approx(4 / 15)),
        OTHERS: (2, pytest.approx(2 / 15), pytest.approx(2 / 15)),
    }  # fmt: skip
    assert of(["a", "b"], ["a"], least=3) == {}


def test_of_many_levels_the_most_frequent_are_shown():
    values = [f"l{i:02}" for i in range(20) for _ in range(40 - i)]
    found = of(values, values)
    assert list(found) == [*(f"l{i:02}" for i in range(MOST_BARS - 1)), OTHERS]
    assert found[OTHERS][0] == sum(40 - i for i in range(MOST_BARS - 1, 20))


def test_amounts_are_cut_between_round_numbers():
    found = of([i / 10 for i in range(1000)], [50.0] * 4)
    assert list(found)[:2] == ["below 10", "10 to below 20"]
    assert list(found)[-1] == "90 or more"
    assert [one[0] for one in found.values()] == [100] * 10
    assert found["50 to below 60"][2] == 1


def test_a_value_on_an_edge_is_above_it():
    found = of([i / 10 for i in range(11)] * 10, [0.3])
    assert found["0.3 to below 0.4"][2] == 1


def test_the_largest_and_the_smallest_numbers_have_intervals():
    near = [i / 500 - 1 for i in range(1001)]
    assert list(of([1.7e308 * one for one in near], [0.0]))[:2] == ["below -1.5e+308", "-1.5e+308 to below -1e+308"]
    assert sum(one[0] for one in of([5e-324 * i for i in range(6)] * 9, [0.0]).values()) == 54


def test_edges_of_a_small_range_of_large_numbers_are_told_apart():
    found = of([20_000_000 + i for i in range(1000)], [20_000_150])
    assert len(found) == 10
    assert found["20000100 to below 20000200"] == (100, 0.1, 1.0)


def test_the_outermost_value_does_not_choose_the_intervals():
    near = [i / 10 for i in range(1000)]
    assert list(of([*near[:-1], 1e9], near)) == list(of(near, near))


def test_what_is_no_amount_has_a_bar_of_its_own():
    values = [*range(100), *[-8] * 20, *[None] * 10]
    found = of(values, values, special_codes={"x": [-8]})
    assert found["-8"] == (20, pytest.approx(20 / 130), pytest.approx(20 / 130))
    assert found["Missing"][0] == 10
    assert sum(one[0] for one in found.values()) == 130


def test_dates_are_cut_by_years():
    days = [datetime.date(1950, 7, 1) + datetime.timedelta(days=73 * i) for i in range(250)]
    found = of(days, days)
    assert "1970 to below 1975" in found
    assert found["1970 to below 1975"][0] == sum(1970 <= day.year < 1975 for day in days)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60),
    st.lists(st.sampled_from("abcdefghi"), min_size=1, max_size=30),
    st.integers(0, 8),
)
def test_shares_are_those_of_plain_counts(original, release, least):
    found = of(original, release, least=least)
    counts, drawn = Counter(original), Counter(release)
    for level, (records, share, released) in found.items():
        others = set(counts) | set(drawn)
        held = others - set(found) if level == OTHERS else {level}
        assert records == sum(counts[one] for one in held) >= least
        assert math.isclose(share, records / len(original))
        assert math.isclose(released, sum(drawn[one] for one in held) / len(release), abs_tol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=80),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.integers(0, 8),
)
def test_every_interval_has_enough_records(original, release, least):
    found = of([*original, 1.5], release, least=least)
    assert len(found) <= MOST_BARS + 4
    assert all(records >= least for records, *_ in found.values())
    if least <= 1:
        assert sum(records for records, *_ in found.values()) == len(original) + 1
    assert sum(one[2] for one in found.values()) <= 1 + 1e-9


def test_the_result_has_them_as_a_frame_and_as_small_multiples():
    plt = pytest.importorskip("matplotlib.pyplot")
    people = unveil.simulate.demo_population(200, seed=1).select(["sex", "age", "income", "edu"])
    pair = unveil.Pair(people, [people.slice(0, 100), people.slice(100)])
    found = unveil.utility(pair, measures="marginals")
    rows = found.to_frame("distributions", flavour="arrow").to_pylist()
    women = sum(value == "FEMALE" for value in people.column("sex").to_pylist()) / 200
    assert rows[0] == {"variable": "sex", "level": "FEMALE", "file": "original", "share": women}
    assert [row["file"] for row in rows[:3]] == ["original", "release 1", "release 2"]
    grid = found.plot("distributions")
    assert [ax.get_title() for ax in grid.flat] == ["sex", "age", "income", "edu", "", ""]
    first = grid[0, 0]
    assert sorted(bar.get_width() for bar in first.patches) == pytest.approx(sorted([100 * women, 100 - 100 * women]))
    grid[0, 0].figure.canvas.draw()
    assert found.plot("distributions", measure="age").get_xlabel() == "percent of records"
    with pytest.raises(CallError, match="axes have room for one variable"):
        found.plot("distributions", ax=plt.subplots()[1])
    with pytest.raises(CallError, match="did you mean 'income'"):
        found.plot("distributions", measure="incom")
    plt.close("all")
    assert unveil.utility(pair, measures="pairs").distributions == ()
