"""Units of several rows: their columns, and what is refused at the door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.columns.units import UnitColumn
from unveil.files.schema import write_schema

HOUSEHOLDS = {
    "household": [1, 1, 2, 2, 3, 4],
    "region": ["n", "n", "n", "n", "s", "s"],
    "sex": ["f", "m", "m", "f", "f", "m"],
    "age": [30, 40, 30, 40, 30, None],
}


def pair(original: dict[str, list[Any]], release: dict[str, list[Any]] | None = None, **options: Any) -> unveil.Pair:
    one = pa.table(original)
    return unveil.Pair(one, pa.table(original if release is None else release), **{"unit": "household"} | options)


def without(name: str) -> dict[str, list[Any]]:
    return {column: values for column, values in HOUSEHOLDS.items() if column != name}


def test_a_column_is_that_of_the_unit_where_it_is_the_same_in_all_its_rows() -> None:
    column = pair(HOUSEHOLDS).column("region")
    assert (column.labels, column.original.tolist()) == (("n", "s"), [0, 0, 1, 1])


def test_a_column_that_differs_within_units_has_the_multiset_of_the_rows() -> None:
    files = pair(HOUSEHOLDS)
    column = files.column("sex")
    assert [column.labels[code] for code in column.original] == ["f + m", "f + m", "f", "m"]
    assert [files.column("age").labels[code] for code in files.column("age").original] == [
        "30 + 40", "30 + 40", "30", "Missing"
    ]  # fmt: skip


def test_the_unit_and_the_time_are_no_columns() -> None:
    files = pair(HOUSEHOLDS | {"number": [1, 2, 1, 2, 1, 1]}, time="number")
    assert files.names == ("region", "sex", "age")
    with pytest.raises(unveil.CallError, match="'number' orders the rows of units, and is neither"):
        files.column("number")


def test_time_puts_the_rows_in_order() -> None:
    files = pair(HOUSEHOLDS | {"number": [2, 1, 2, 1, 1, 1]}, time="number")
    column = files.column("sex")
    assert [column.labels[code] for code in column.original] == ["m > f", "f > m", "f", "m"]


def test_units_need_not_be_called_alike_in_the_release() -> None:
    release = without("household") | {"household": ["b", "b", "x", "x", "a", "c"]}
    risk = unveil.identity(pair(HOUSEHOLDS, release), ["sex", "age"])
    assert (risk.UiO, risk.repU, risk.n_original) == (100, 100, 4)


def test_several_columns_name_a_unit_together() -> None:
    rows = {"household": [1, 1, 1, 2, 2], "person": [1, 1, 2, 1, 1], "job": ["a", "b", "a", "b", "a"]}
    files = unveil.Pair(pa.table(rows), pa.table(rows), unit=["household", "person"])
    column = files.column("job")
    assert [column.labels[code] for code in column.original] == ["a + b", "a", "a + b"]
    assert unveil.identity(files, ["job"]).UiO == pytest.approx(100 / 3)


def test_amounts_are_cut_into_groups_before_they_stand_together() -> None:
    files = pair(without("age") | {"age": [30, 40, 31, 39, 30, 31]})
    column = files.column("age", n_groups=(35,))
    assert [column.labels[code] for code in column.original] == [
        "below 35 + 35 or more", "below 35 + 35 or more", "below 35", "below 35"
    ]  # fmt: skip
    risk = unveil.identity(files, ["age"], ngroups_keys={"age": [35]})
    assert risk.UiO == 0


def test_a_release_may_have_units_that_the_original_cannot_have() -> None:
    release = HOUSEHOLDS | {"region": ["n", "s", "n", "n", "s", "s"]}
    with pytest.warns(unveil.UnveilWarning, match="differs within 1 of 4 units of the release: none of these can be"):
        column = pair(HOUSEHOLDS, release).column("region")
    assert [column.labels[code] for code in column.releases[0]] == ["several: n + s", "n", "s", "s"]
    assert [column.labels[code] for code in column.original] == ["n", "n", "s", "s"]


def test_what_a_unit_of_the_original_has_does_not_depend_on_the_release() -> None:
    """The number of rows stays no key where a release has units of several values."""
    rows = {"household": [1, 1, 2, 3], "region": ["n", "n", "n", "s"]}
    mixed = rows | {"region": ["n", "s", "n", "s"]}
    found = [unveil.identity(pair(rows), ["region"]).UiO]
    with pytest.warns(unveil.UnveilWarning):
        found.append(unveil.identity(pair(rows, mixed), ["region"]).UiO)
    assert found == pytest.approx([100 / 3] * 2)


def test_labels_that_hold_the_sign_between_rows_stay_apart() -> None:
    rows = {"household": [1, 1, 2, 2], "job": ["a + b", "c", "a", "b + c"]}
    column = pair(rows).column("job")
    assert len(set(column.labels)) == 2


def test_parts_of_a_pair_keep_whole_units() -> None:
    files = pair(HOUSEHOLDS, unit="household")
    some = files.part(np.array([2, 0, 0]), [0])
    column = some.column("sex")
    assert isinstance(column, UnitColumn)
    assert [column.labels[code] for code in column.original] == ["f", "f + m", "f + m"]
    whole, keys = files, ["sex", "age"]
    d = some.combinations([some.column(name) for name in keys]).original
    assert (d[1] == d[2], d[0] != d[1]) == (True, True)
    assert whole.combinations([whole.column(name) for name in keys]).size == 4


def test_held_out_units_are_made_like_the_others() -> None:
    rows = {"household": np.repeat(np.arange(40), 2).tolist(), "x": list(range(80))}
    others = {"household": np.repeat(np.arange(40), 2).tolist(), "x": list(range(100, 180))}
    files = unveil.Pair(pa.table(rows), pa.table(rows), pa.table(others), unit="household")
    assert files.held_out.n_synthetic == (40, 40)
    assert files.held_out_as_original().n_original == 40


@pytest.mark.parametrize(
    ("release", "options", "said"),
    [
        (without("household"), {}, "the release has no column 'household', which tells which of its rows are of one"),
        (HOUSEHOLDS | {"household": [1, 1, 2, None, 3, 4]}, {}, r"unit and has gaps \(their number: 1\), .*row 4"),
        (None, {"unit": "hausehold"}, "no column 'hausehold'.*household"),
        (None, {"time": "region"}, "rows 1 and 2 are of one unit .household. and have the same time .region."),
        (None, {"time": "age"}, r"'age' is the time and has gaps \(their number: 1\), such as in row 6"),
        (without("age"), {"time": "age"}, "the release has no column 'age'"),
        (None, {"unit": []}, "unit is the name of a column"),
        (None, {"unit": 3}, "unit is the name of a column"),
        (None, {"time": 3}, "time is the name of a column"),
        (None, {"unit": None, "time": "age"}, "name the unit too"),
        (None, {"unit": ["household", "household"]}, "'household' twice"),
        (None, {"engine": "files"}, "units are made in memory"),
        (None, {"unit": None, "schema": {"age": {"time": True}}}, "name the unit too"),
        (None, {"schema": {"age": {"time": True}, "sex": {"time": True}}}, "several columns of time"),
    ],
)
def test_what_is_refused(release: dict[str, list[Any]] | None, options: dict[str, Any], said: str) -> None:
    with pytest.raises(unveil.UnveilError, match=said) as error:
        pair(HOUSEHOLDS, release, **options)
    assert "\n" not in str(error.value)


def test_rows_that_are_all_units_of_their_own_are_told() -> None:
    rows = without("household") | {"household": list(range(6))}
    with pytest.warns(unveil.UnveilWarning, match="every row of the original is a unit of its own by household"):
        files = pair(rows)
    assert unveil.identity(files, ["sex", "age"]).warnings == (
        "every row of the original is a unit of its own by household",
    )


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
@pytest.mark.parametrize(
    "measure",
    [
        lambda files: unveil.posterior(files, unveil.CartSynthesizer(), target="region"),
        lambda files: unveil.membership(files, pa.table(HOUSEHOLDS), holdout_unseen=True),
        lambda files: unveil.exact_membership(files, unveil.CartSynthesizer()),
        lambda files: unveil.privacy_loss(files, unveil.CartSynthesizer()),
        lambda files: unveil.partial_knowledge(files, unveil.CartSynthesizer(), target="region"),
        lambda files: unveil.synthesis.halves(files, unveil.CartSynthesizer()),
        lambda files: unveil.synthesis.resamples(files, unveil.CartSynthesizer()),
        lambda files: unveil.sdc.drop_replicated_uniques(files, ["region"]),
    ],
)
def test_measures_of_rows_refuse_units(measure: Any) -> None:
    with pytest.raises(unveil.CallError, match=r"not defined for units of several rows .unit=household.: give files"):
        measure(pair(HOUSEHOLDS))


def test_utility_compares_rows_without_the_columns_that_name_units() -> None:
    rows = {"household": np.repeat(np.arange(30), 2).tolist(), "wave": [1, 2] * 30, "x": ["a", "b", "c"] * 20}
    files = unveil.Pair(pa.table(rows), pa.table(rows), unit="household", time="wave")
    found = unveil.utility(files, measures="marginals")
    assert (found.columns, found.n_original) == (("x",), 60)


def test_units_are_weighted_once() -> None:
    rows = HOUSEHOLDS | {"w": [2.0, 2.0, 3.0, 3.0, 4.0, 5.0]}
    files = pair(rows, without("w"), weights="w")
    assert files.weights is not None
    assert files.weights.values.tolist() == [2, 3, 4, 5]
    assert files.rows.weights is not None
    assert files.rows.weights.values.tolist() == [2, 2, 3, 3, 4, 5]
    with pytest.raises(unveil.UnveilError, match="'w'"):
        pair(rows | {"w": [2.0, 2.5, 3.0, 3.0, 4.0, 5.0]}, weights="w")


def test_a_schema_declares_units_and_their_order() -> None:
    rows = HOUSEHOLDS | {"number": [2, 1, 2, 1, 1, 1]}
    files = pair(rows, unit=None, schema={"household": {"unit": True}, "number": {"time": True}})
    assert (files.unit, files.time, files.n_original) == (("household",), "number", 4)
    column = files.column("sex")
    assert [column.labels[code] for code in column.original] == ["m > f", "f > m", "f", "m"]


def test_a_schema_is_written_with_the_units_that_it_declares(tmp_path: Path) -> None:
    source = unveil.read(pa.table(HOUSEHOLDS), schema={"household": {"unit": True}, "age": {"time": True}})
    path = tmp_path / "schema.toml"
    write_schema(source, path)
    again = unveil.read_schema(path)
    assert (again["household"].unit, again["age"].time, again["sex"].unit) == (True, True, False)
