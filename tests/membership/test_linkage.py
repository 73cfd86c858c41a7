"""Record linkage against counts by hand and by brute force in exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from command_line import called
from unveil._membership.linked_records import searched_persons

LEVELS = ["a", "b", "c"]
Row = tuple[str | None, int | None, int]


def pair_of(original: list[Row], release: list[Row], **more: Any) -> unveil.Pair:
    def table(rows: list[Row]) -> pa.Table:
        group, age, income = zip(*rows, strict=True)
        return pa.table(
            {
                "group": pa.array(group, pa.string()),
                "age": pa.array(age, pa.int64()),
                "income": pa.array(income, pa.int64()),
            }
        )

    return unveil.Pair(table(original), table(release), kinds={"income": "numeric", "age": "numeric"}, **more)


def apart(one: int | None, other: int | None, span: Fraction) -> Fraction:
    if one is None or other is None or not span:
        return Fraction(one != other)
    return min(Fraction(abs(one - other)) / span, Fraction(1))


def span_of(values: list[int | None]) -> Fraction:
    known = [value for value in values if value is not None]
    return Fraction(max(known) - min(known)) if known else Fraction(0)


def gower(original: list[Row], release: list[Row]) -> list[list[Fraction]]:
    spans = [span_of([row[j] for row in original]) for j in (1, 2)]  # type: ignore[misc]
    return [
        [
            (i[0] != j[0]) + apart(i[1], j[1], spans[0]) + apart(i[2], j[2], spans[1])
            for j in release
        ]
        for i in original
    ]  # fmt: skip


def ranks(values: list[int | None]) -> list[Fraction | None]:
    known = [value for value in values if value is not None]
    last = max(len(known) - 1, 1)
    return [
        None
        if value is None
        else Fraction(sum(v < value for v in known) * 2 + sum(v == value for v in known) - 1, 2 * last)
        for value in values
    ]


def by_rank(original: list[Row], release: list[Row]) -> list[list[Fraction]]:
    columns = [(ranks([r[j] for r in original]), ranks([r[j] for r in release])) for j in (1, 2)]  # type: ignore[misc]

    def one(i: int, j: int, here: list[Any], there: list[Any]) -> Fraction:
        a, b = here[i], there[j]
        return Fraction((a is None) != (b is None)) if a is None or b is None else abs(a - b)

    return [
        [
            (original[i][0] != release[j][0]) + sum((one(i, j, *c) for c in columns), Fraction(0))
            for j in range(len(release))
        ]
        for i in range(len(original))
    ]  # fmt: skip


def found_in(distances: list[list[Fraction]], own: list[int]) -> list[Fraction]:
    found = []
    for i, row in enumerate(distances):
        ties = sum(value == min(row) for value in row)
        found.append(Fraction(row[own[i]] == min(row), ties))
    return found


def test_a_case_by_hand():
    # ages over a range of 30: 30 and 40 are nearest to their own records, 50 and 60 each to two alike
    original = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 50, 60]})
    release = pa.table({"sex": ["f", "f", "m", "m"], "age": [34, 38, 55, 55]})
    found = unveil.linkage(unveil.Pair(original, release), ["sex", "age"])
    (one,) = found.releases
    assert (found.share, one["alone"], one["expected"], found.null_mean, found.ceiling) == (75, 50, 3, 25, 100)
    assert one["excess"] == pytest.approx((0.75 - 0.25) / 0.75)
    told = found.records(flavour="arrow").to_pydict()
    assert told["ties"] == [1, 1, 2, 2]
    assert told["found"] == [1, 1, 0.5, 0.5]
    assert told["own_distance"] == pytest.approx([4 / 30, 2 / 30, 5 / 30, 5 / 30])


def test_who_is_moved_is_not_found():
    original = pa.table({"age": [30, 40, 50]})
    # a swap: the nearest record of the first is that of the second, and the other way round
    found = unveil.linkage(unveil.Pair(original, pa.table({"age": [40, 30, 50]}), kinds={"age": "numeric"}), "age")
    assert found.share == pytest.approx(100 / 3)
    assert found.records(flavour="arrow")["nearest_distance"].to_pylist() == [0, 0, 0]


def test_differences_that_are_equal_tie_whatever_they_are_divided_by():
    # 7 of a range of 59: as floating-point numbers the two differences are not equal
    original = pa.table({"age": [1, 24, 60]})
    release = pa.table({"age": [17, 31, 60]})
    found = unveil.linkage(unveil.Pair(original, release, kinds={"age": "numeric"}), "age")
    assert found.records(flavour="arrow")["ties"].to_pylist() == [1, 2, 1]


@pytest.mark.filterwarnings("error:overflow", "error:invalid value")
@pytest.mark.parametrize("factor", [1e308, 0.5e308, 1.0])
def test_differences_of_the_largest_numbers_are_differences(factor: float):
    # 0 to 1.7 and -1.7: a range of 3.4, which times 1e308 is no number
    original = pa.table({"x": [factor * value for value in (-1.7, 0.0, 0.85, 1.7)]})
    release = pa.table({"x": [factor * value for value in (-1.0, 0.1, 1.5, 1.6)]})
    found = unveil.linkage(unveil.Pair(original, release, kinds={"x": "numeric"}), "x")
    told = found.records(flavour="arrow").to_pydict()
    assert told["own_distance"] == pytest.approx([0.7 / 3.4, 0.1 / 3.4, 0.65 / 3.4, 0.1 / 3.4])
    assert told["nearest_distance"] == pytest.approx([0.7 / 3.4, 0.1 / 3.4, 0.65 / 3.4, 0.1 / 3.4])
    assert found.share == 100


def test_ranks_are_those_of_each_file():
    # amounts in another unit: by size the nearest is always the smallest, by rank everybody is found
    original = pa.table({"income": [100, 200, 300, 1000]})
    release = pa.table({"income": [1000, 2000, 3000, 10000]})
    pair = unveil.Pair(original, release, kinds={"income": "numeric"})
    assert unveil.linkage(pair, "income", distance="rank").share == 100
    assert unveil.linkage(pair, "income").share < 100


def test_ordered_levels_have_ranks():
    schema = {"edu": unveil.Variable("edu", kind="ordered", levels=("low", "middle", "high"))}
    original = pa.table({"edu": ["low", "middle", "high"]})
    release = pa.table({"edu": ["middle", "middle", "high"]})
    pair = unveil.Pair(original, release, schema=schema)
    # low: rank 0 of 2; released ranks 0.25, 0.25, 1; by levels low meets nobody and all three tie
    assert unveil.linkage(pair, "edu", distance="rank").records(flavour="arrow")["ties"].to_pylist() == [2, 2, 1]
    assert unveil.linkage(pair, "edu").records(flavour="arrow")["ties"].to_pylist() == [3, 2, 1]


rows = st.tuples(
    st.sampled_from([*LEVELS, None]), st.one_of(st.none(), st.integers(0, 12)), st.sampled_from([0, 1, 7, 300])
)


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=9))
def test_both_distances_are_those_of_brute_force(both: list[tuple[Row, Row]]):
    original, release = (list(one) for one in zip(*both, strict=True))
    pair = pair_of(original, release)
    own = list(range(len(both)))
    for distance, expected in (("gower", gower(original, release)), ("rank", by_rank(original, release))):
        found = unveil.linkage(pair, ["group", "age", "income"], distance=distance, permutations=0)  # type: ignore[arg-type]
        probability = found_in(expected, own)
        told = found.records(flavour="arrow").to_pydict()
        assert told["found"] == [pytest.approx(float(p)) for p in probability]
        assert told["nearest_distance"] == [pytest.approx(float(min(row))) for row in expected]
        assert found.share == pytest.approx(100 * float(sum(probability)) / len(own))


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=5))
def test_chance_finds_one_person_whatever_the_files(both: list[tuple[Row, Row]]):
    original, release = (list(one) for one in zip(*both, strict=True))
    distances = gower(original, release)
    shares = [sum(found_in(distances, list(own))) for own in itertools.permutations(range(len(both)))]
    assert sum(shares) / len(shares) == 1
    assert unveil.linkage(pair_of(original, release), "age").null_mean == pytest.approx(100 / len(both))


def test_the_shuffles_are_those_of_all_pairings():
    original: list[Row] = [("a", 1, 0), ("a", 3, 1), ("b", 3, 7), ("b", 9, 7), ("c", 5, 300)]
    release: list[Row] = [("a", 2, 0), ("b", 3, 1), ("b", 3, 7), ("b", 9, 7), ("a", 5, 300)]
    distances = gower(original, release)
    shares = [float(sum(found_in(distances, list(own)))) / 5 for own in itertools.permutations(range(5))]
    found = unveil.linkage(pair_of(original, release), ["group", "age", "income"], permutations=4000)
    (one,) = found._found
    assert one.null.mean() == pytest.approx(0.2, abs=0.01)
    assert one.null.std() == pytest.approx(np.std(shares), abs=0.01)
    assert found.releases[0]["p_value"] == pytest.approx(np.mean(np.array(shares) >= one.share - 1e-9), abs=0.02)


def test_the_ceiling_is_the_number_of_distinct_keys():
    data = unveil.simulate.demo_population(400, seed=2)
    keys = ["sex", "age", "region"]
    distinct = data.group_by(keys).aggregate([]).num_rows
    found = unveil.linkage(unveil.Pair(data, data.slice(0, 400)), keys)
    assert found.ceiling == pytest.approx(100 * distinct / 400)
    assert found.share == found.ceiling


def perturbed(n: int = 300) -> tuple[pa.Table, pa.Table]:
    """Persons with a number, and the same with other ages."""
    data = unveil.simulate.demo_population(n, seed=4).select(["sex", "age", "region", "income"])
    data = data.append_column("person", pa.array([f"p{i:05}" for i in range(n)]))
    moved = np.random.default_rng(1).integers(-3, 4, n) + data["age"].to_numpy()
    return data, data.set_column(1, "age", pa.array(moved))


def test_the_order_of_rows_changes_nothing_where_a_column_names_the_persons():
    data, release = perturbed()
    rng = np.random.default_rng(3)
    shuffled = [table.take(rng.permutation(300)) for table in (data, release)]
    keys = ["sex", "age", "region"]
    by_rows = unveil.linkage(unveil.Pair(data, release), keys, seed=5)
    by_name = unveil.linkage(unveil.Pair(*shuffled), keys, linked_by="person", seed=5)
    assert by_name.to_dict() | {"linked_by": "rows"} == by_rows.to_dict()
    assert by_rows.share > 10
    assert unveil.linkage(unveil.Pair(*shuffled), keys).share < 2
    told = by_name.records(flavour="arrow").to_pydict()
    names = [shuffled[0]["person"][i].as_py() for i in told["record"]]
    assert names == [shuffled[1]["person"][i].as_py() for i in told["own_record"]]


def test_persons_are_drawn_by_what_the_files_hold_of_them():
    data, release = perturbed()
    order = np.random.default_rng(3).permutation(300)
    pairs = [unveil.Pair(data, release), unveil.Pair(data.take(order), release.take(order))]
    one, two = (unveil.linkage(p, ["sex", "age"], most_records=50, permutations=20, seed=7) for p in pairs)
    assert one.n_searched == 50
    assert one.to_dict() == two.to_dict()
    assert "50 persons" in str(one)
    columns = [pairs[0].column("person")]
    assert sorted(searched_persons(columns, [np.arange(300)], 300, 0)) == list(range(300))


def test_the_interval_covers_the_share_of_all():
    data, release = perturbed(4000)
    whole = unveil.linkage(unveil.Pair(data, release), ["sex", "age", "region"], permutations=0).share
    covered = 0
    for seed in range(60):
        (one,) = unveil.linkage(unveil.Pair(data, release), ["sex", "age", "region"], permutations=0, most_records=300,
                                seed=seed).releases  # fmt: skip
        covered += one["low"] <= whole <= one["high"]
    assert covered >= 52


def test_by_default_all_columns_but_the_number_of_persons():
    data, release = perturbed()
    found = unveil.linkage(unveil.Pair(data, release), linked_by="person")
    assert found.keys == ("sex", "age", "region", "income")


def test_several_releases_have_a_row_each_and_a_mean():
    data, release = perturbed()
    found = unveil.linkage(unveil.Pair(data, [release, data]), ["sex", "age"])
    frame = found.to_frame("arrow").to_pydict()
    assert frame["release"] == ["release 1", "release 2"]
    assert frame["share"][1] == pytest.approx(found.ceiling)
    assert found.share == pytest.approx(sum(frame["share"]) / 2)
    assert "mean" in str(found)
    assert "<table" in found._repr_html_()
    assert len(found.plot().get_yticklabels()) == 2


@pytest.mark.parametrize(
    ("release", "options", "message"),
    [
        (lambda t: t.slice(1), {}, "the release has 299 records and the original 300"),
        (lambda t: t.drop_columns(["person"]), {"linked_by": "person"}, "no column 'person'"),
        (lambda t: t, {"linked_by": "persn"}, "no column 'persn'"),
        (lambda t: t, {"keys": "sex", "linked_by": "age"}, "rows .* and .* both have 'age'"),
        (lambda t: t, {"keys": ["person", "sex"], "linked_by": "person"}, "is no key"),
        (lambda t: t.set_column(4, "person", pa.array([f"q{i:05}" for i in range(300)])), {"linked_by": "person"},
         "the release: 'person' q00000 is nobody of the original"),
        (lambda t: t.set_column(4, "person", pa.array([None, *(f"p{i:05}" for i in range(1, 300))])),
         {"linked_by": "person"}, "the release: row 1 has no 'person'"),
        (lambda t: t, {"distance": "hamming"}, "distance"),
        (lambda t: t, {"permutations": -1}, "permutations"),
        (lambda t: t, {"most_records": 0}, "most_records"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:column 'person'")
def test_what_cannot_be_linked_is_refused_in_one_line(release: Any, options: dict[str, Any], message: str):
    data, moved = perturbed()
    pair = unveil.Pair(data, release(moved))
    with pytest.raises(unveil.UnveilError, match=message) as caught:
        unveil.linkage(pair, **({"keys": ["sex", "age"]} | options))
    assert "\n" not in str(caught.value)


def test_units_are_refused():
    data, release = perturbed()
    with pytest.raises(unveil.CallError, match="linkage is not defined for units"):
        unveil.linkage(unveil.Pair(data, release, unit="region"), ["sex", "age"])


def test_the_command_line_gives_the_figures_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    data, release = perturbed()
    csv.write_csv(data, "o.csv")
    csv.write_csv(release.take(np.arange(300)[::-1]), "s.csv")
    words = (
        "linkage o.csv s.csv --keys sex,age --linked-by person --distance rank --records r.csv --plot p.png --json -"
    )
    status, out, err = called(words.split(), monkeypatch, capsys)
    assert status == 0, err
    expected = unveil.linkage(unveil.Pair("o.csv", "s.csv"), ["sex", "age"], linked_by="person", distance="rank")
    assert f'"share": {expected.share}' in out
    assert csv.read_csv("r.csv").num_rows == 300
    status, _, err = called(
        ["linkage", "o.csv", "s.csv", "--keys", "sex", "--linked-by", "region"], monkeypatch, capsys
    )
    assert (status, err.count("\n")) == (1, 1)
