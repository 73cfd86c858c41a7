"""Measures of units of several rows: against counts by hand, and indifferent to what must not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import unveil
from reference import assert_same, columns_of

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

Rows = dict[str, list[Any]]
KEYS = ["sex", "age"]


def persons(n: int = 200, seed: int = 1) -> Rows:
    found: Rows = unveil.simulate.demo_population(n, seed=seed).to_pydict()
    return found


def repeated(rows: Rows, times: int) -> pa.Table:
    """Each person with so many rows of the same content."""
    n = len(rows["sex"])
    return pa.table(
        {"person_id": [i for i in range(n) for _ in range(times)]}
        | {name: [value for value in values for _ in range(times)] for name, values in rows.items()}
    )


def test_identical_rows_of_a_person_change_nothing():
    """The case of 200 persons with four rows each, who are as unique as with one."""
    rows = persons()
    keys = ["age", "placesize"]
    q = list(zip(*(rows[key] for key in keys), strict=True))
    alone = 100 * sum(count == 1 for count in Counter(q).values()) / 200
    assert 0 < alone < 100
    for times in (1, 2, 4):
        files = unveil.Pair(repeated(rows, times), repeated(rows, times), unit="person_id")
        risk = unveil.identity(files, keys)
        assert (risk.n_original, risk.UiO, risk.repU) == (200, alone, alone)


def test_rows_without_a_unit_are_records():
    risk = unveil.identity(unveil.Pair(repeated(persons(), 4), repeated(persons(), 4)), ["age"])
    assert (risk.n_original, risk.repU, risk.unit) == (800, 0, ())


# ----------------------------------------------------------------------------------- against the oracle
@st.composite
def households(draw: st.DrawFn) -> Rows:
    """Rows of households in any order; what is theirs as a whole is the same in all rows."""
    n = draw(st.integers(1, 6))
    rows: Rows = {"household": [], "region": [], "sex": [], "age": [], "ill": []}
    for household in range(n):
        region = draw(st.sampled_from(["n", "s", None]))
        for _ in range(draw(st.integers(1, 3))):
            rows["household"].append(household)
            rows["region"].append(region)
            rows["sex"].append(draw(st.sampled_from(["f", "m"])))
            rows["age"].append(draw(st.sampled_from([30, 40, None])))
            rows["ill"].append(draw(st.sampled_from(["yes", "no"])))
    order = draw(st.permutations(range(len(rows["sex"]))))
    return {name: [values[i] for i in order] for name, values in rows.items()}


def as_arrow(rows: Rows) -> pa.Table:
    types = {"household": pa.int64(), "age": pa.int64(), "wave": pa.int64()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in rows.items()})


def constant(rows: Rows) -> list[str]:
    """The columns that have one value in all rows of each household."""
    names = ("region", "sex", "age", "ill")
    pairs = {name: set(zip(rows["household"], rows[name], strict=True)) for name in names}
    return [name for name in names if len(pairs[name]) == len(set(rows["household"]))]


def by_hand(rows: Rows, keys: Sequence[str], target: str, of_units: Sequence[str]) -> Mapping[str, list[Any]]:
    """A row per household: what is theirs as a whole, and the multisets of the other keys and targets of their rows."""
    units: dict[Any, list[int]] = {}
    for number, unit in enumerate(rows["household"]):
        units.setdefault(unit, []).append(number)
    inside = [key for key in keys if key not in of_units]

    def multiset(names: Sequence[str], numbers: list[int]) -> Any:
        return tuple(sorted((tuple(rows[name][i] for name in names) for i in numbers), key=repr))

    def whole(name: str, numbers: list[int]) -> Any:
        held = {rows[name][i] for i in numbers}
        return held.pop() if len(held) == 1 else multiset([name], numbers)

    return {
        "whole": [tuple(whole(key, one) for key in keys if key in of_units) for one in units.values()],
        "inside": [multiset(inside, one) if inside else () for one in units.values()],
        "target": [whole(target, one) if target in of_units else multiset([target], one) for one in units.values()],
    }


@given(households(), households(), st.sampled_from([["sex", "age"], ["region", "sex", "age"], ["age"], ["region"]]))
@settings(deadline=None, max_examples=60)
def test_all_measures_are_those_of_a_count_by_hand(original: Rows, release: Rows, keys: list[str]):
    files = unveil.Pair(as_arrow(original), as_arrow(release), unit="household")
    one, other = (by_hand(rows, keys, "ill", constant(original)) for rows in (original, release))
    names = ["whole", "inside"]
    told, found = oracle.identity(one, other, names), unveil.identity(files, keys).releases[0]
    assert_same({name: found[name] for name in oracle.IDENTITY}, {name: told[name] for name in oracle.IDENTITY})
    told = oracle.attribute(one, other, names, "target").measures
    found = unveil.attribute(files, keys, target="ill").releases[0]
    assert_same({name: found[name] for name in oracle.ATTRIBUTE}, {name: told[name] for name in oracle.ATTRIBUTE})
    structure = unveil.structure(files, keys).releases[0]
    q = [set(zip(rows["whole"], rows["inside"], strict=True)) for rows in (one, other)]
    assert structure["combinations_original"] == len(q[0])
    assert structure["combinations_novel"] == len(q[1] - q[0])


@given(households(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=25)
def test_neither_the_order_of_rows_nor_the_names_of_units_matter(rows: Rows, random: Any):
    order = list(range(len(rows["sex"])))
    random.shuffle(order)
    other = {name: [values[i] for i in order] for name, values in rows.items()}
    other["household"] = [100 - unit for unit in other["household"]]
    one, two = (
        unveil.Pair(as_arrow(original), as_arrow(release), unit="household")
        for original, release in ((rows, rows), (other, rows))
    )
    for measure in (
        lambda files: unveil.identity(files, KEYS),
        lambda files: unveil.attribute(files, KEYS, target="ill"),
        lambda files: unveil.key_sets(files, KEYS, target="region"),
    ):
        assert_same(measure(one).to_dict(), measure(two).to_dict())


@given(households(), st.data())
@settings(deadline=None, max_examples=25)
def test_a_record_split_into_rows_and_back_is_the_same_record(rows: Rows, data: st.DataObject):
    """Persons of one row each, and the same with any number of identical rows each."""
    n = len(rows["sex"])
    original = rows | {"household": list(range(n))}
    times = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    numbers = [i for i in range(n) for _ in range(times[i])]
    split = {name: [values[i] for i in numbers] for name, values in original.items()}
    plain = unveil.Pair(as_arrow(original), as_arrow(original))
    units = unveil.Pair(as_arrow(split), as_arrow(split), unit="household")
    keys = ["region", "sex", "age"]
    assert unveil.identity(units, keys).releases == unveil.identity(plain, keys).releases
    one, other = (unveil.attribute(files, keys, target="ill").releases for files in (units, plain))
    assert_same(one, other)


@given(households(), households())
@settings(deadline=None, max_examples=25)
def test_each_set_of_keys_is_measured_as_by_itself(original: Rows, release: Rows):
    files = unveil.Pair(as_arrow(original), as_arrow(release), unit="household")
    found = unveil.key_sets(files, ["region", "sex", "age"], target="ill")
    for one in (*found.sets, *found.leave_one_out):
        alone, risk = unveil.identity(files, one.keys), unveil.attribute(files, one.keys, target="ill")
        assert_same(
            [one.measures["repU"], one.measures["DiSCO"], one.measures["iS"]], [alone.repU, risk.DiSCO, risk.iS]
        )
        assert one.combinations == unveil.structure(files, one.keys).releases[0]["combinations_original"]


# ------------------------------------------------------------------------------------------------- time
WAVES: Rows = {
    "person": [1, 1, 2, 2, 3, 3],
    "wave": [1, 2, 2, 1, 1, 2],
    "sex": ["f", "f", "f", "f", "m", "m"],
    "job": ["miner", "nurse", "miner", "nurse", "nurse", "nurse"],
}


def test_with_time_the_order_of_rows_is_what_is_known():
    """Persons 1 and 2 have the same two jobs, in another order."""
    files = pa.table(WAVES)
    unordered = unveil.identity(unveil.Pair(files, files, unit="person"), ["sex", "job"])
    ordered = unveil.identity(unveil.Pair(files, files, unit="person", time="wave"), ["sex", "job"])
    assert (unordered.UiO, ordered.UiO) == (pytest.approx(100 / 3), 100)


def test_what_a_unit_has_as_a_target():
    """Person 1 and 2 have the same sex in all waves; of jobs the target is all that a person has."""
    files = pa.table(WAVES)
    pair = unveil.Pair(files, files, unit="person", time="wave")
    risks = unveil.attribute(pair, ["sex"])
    assert [risk.target for risk in risks] == ["job"]
    assert risks[0].Dorig == pytest.approx(100 / 3)
    assert unveil.attribute(pair, ["job"], target="sex").DiSCO == 100


def test_members_of_a_household_are_told_together():
    """Households with equal columns, of which one has a woman of 30 and a man of 40, and the other the reverse."""
    rows = pa.table({"household": [1, 1, 2, 2], "sex": ["f", "m", "m", "f"], "age": [30, 40, 30, 40]})
    risk = unveil.identity(unveil.Pair(rows, rows, unit="household"), ["sex", "age"])
    assert (risk.UiO, unveil.identity(unveil.Pair(rows, rows, unit="household"), "sex").UiO) == (100, 0)
    sets = unveil.key_sets(unveil.Pair(rows, rows, unit="household"), ["sex", "age"]).sets
    assert [one.measures["repU"] for one in sets] == [0, 0, 100]


# ------------------------------------------------------------------------------------- gaps, records, words
def test_units_with_a_missing_key_are_left_out_where_asked_for():
    rows = as_arrow({"household": [1, 1, 2, 3, 3], "sex": ["f", "m", "m", "f", "m"], "age": [30, None, 40, 50, 60]})
    risk = unveil.identity(unveil.Pair(rows, rows, unit="household"), KEYS, use_keys_na={"age": False})
    assert (risk.left_out, risk.repU) == (({"original": 1, "synthetic": 1},), pytest.approx(200 / 3))


def test_a_record_is_a_unit_by_its_name():
    rows = pa.table({"household": ["b", "b", "a"], "sex": ["f", "m", "m"]})
    risk = unveil.identity(unveil.Pair(rows, rows, unit="household"), "sex")
    assert columns_of(risk.records())["household"] == ["b", "a"]
    assert sum(columns_of(risk.records())["replicated_unique"]) == 2


def test_results_speak_of_units():
    rows = pa.table({"record_no": [1, 1, 2], "sex": ["f", "m", "m"], "age": [1, 2, 3]})
    pair = unveil.Pair(rows, rows, unit="record_no")
    risk = unveil.identity(pair, KEYS)
    assert str(risk).startswith("Identity disclosure: 2 original units (record_no), keys sex, age")
    for found in (risk, unveil.attribute(pair, ["sex"]), unveil.structure(pair, KEYS), unveil.key_sets(pair, KEYS)):
        assert "units (record_no)" in str(found)
        assert " record " not in str(found)
        assert "records" not in str(found)
        assert "2 original units" in found._repr_html_()
        assert found.to_dict().get("unit", found.to_dict().get("targets", [{}])[0].get("unit")) == ["record_no"]
    assert "unit" not in unveil.identity(unveil.Pair(rows, rows), KEYS).to_dict()


def test_a_column_that_repeats_is_not_warned_of_once_it_is_the_unit():
    rows = repeated(persons(100), 4)
    for options, n in (({}, 1), ({"unit": "person_id"}, 0)):
        risk = unveil.identity(unveil.Pair(rows, rows, **options), KEYS)
        assert len([text for text in risk.warnings if "(unit='person_id'; --unit)" in text]) == n


def test_intervals_with_several_releases_are_those_of_units():
    """Resamples are of units, as the figures are: those of persons with one row each."""
    one = persons(60)
    pairs = [
        unveil.Pair(repeated(one, times), [repeated(one, times), repeated(persons(60, 2), times)], unit="person_id")
        for times in (1, 3)
    ]
    keys = ["sex", "age"]
    assert unveil.identity(pairs[0], keys).intervals() == unveil.identity(pairs[1], keys).intervals()
    risks = [unveil.attribute(pair, keys, target="marital") for pair in pairs]
    assert risks[0].intervals(n=20) == risks[1].intervals(n=20)
    assert risks[0].interval("process") == risks[1].interval("process")
    one_row, more = (risk.ladder(permutations=5) for risk in risks)
    assert (one_row.mean, one_row.releases) == (more.mean, more.releases)
