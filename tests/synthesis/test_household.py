"""Synthesis of households: first the household, then its persons given those before; units stay whole."""

from __future__ import annotations

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
from unveil.simulate import demo_population
from unveil.synthesis import HouseholdSynthesizer
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import synthesizer_of

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")
UNIT = ["household", "person"]
RELATIONS = ("head", "spouse", "child", "child", "child")


def households(n: int = 200, seed: int = 1) -> pa.Table:
    """Households of up to five: a head, a spouse of about the same age, and children about 30 years younger.

    The age of the head depends on the region; rows are in no order.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 4, 5], n, p=[0.25, 0.35, 0.2, 0.15, 0.05])
    home = np.repeat(np.arange(n), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    region = rng.integers(0, 2, n)
    head = np.where(region == 1, rng.integers(25, 45, n), rng.integers(45, 80, n))[home]
    spouse = head + rng.integers(-3, 4, len(home))
    child = np.maximum(head - 30 + rng.integers(-3, 4, len(home)), 0)
    table = pa.table(
        {
            "region": np.array(["old", "young"])[region][home],
            "household": home + 700,
            "person": place + 1,
            "relation": np.array(RELATIONS)[place],
            "age": pa.array(np.choose(np.minimum(place, 2), [head, spouse, child]), pa.int16()),
        }
    )
    return table.take(rng.permutation(len(home)))


def by_household(table: pa.Table) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(row["household"], []).append(row)
    return {home: sorted(rows, key=lambda row: row["person"]) for home, rows in found.items()}


def ages(table: pa.Table, one: int, other: int) -> np.ndarray:
    """Ages of the persons in two places of the households that have both."""
    homes = [rows for rows in by_household(table).values() if len(rows) > max(one, other)]
    return np.array([[rows[one]["age"], rows[other]["age"]] for rows in homes], dtype=float).T


@pytest.fixture(scope="module")
def released() -> tuple[pa.Table, pa.Table]:
    original = households(1500)
    return original, unveil.synthesize(original, m=1, unit=UNIT, seed=5)


def test_two_hundred_households_stay_whole() -> None:
    original = households()
    release = unveil.synthesize(original, m=1, unit=UNIT, seed=1)
    assert release.schema == original.schema
    homes = by_household(release)
    assert list(homes) == list(range(1, 201))
    for rows in homes.values():
        assert [row["person"] for row in rows] == list(range(1, len(rows) + 1))
        assert [row["relation"] for row in rows] == list(RELATIONS[: len(rows)])
        assert len({row["region"] for row in rows}) == 1
        assert all(row["age"] is not None for row in rows)


def test_sizes_and_ages_are_distributed_as_in_the_original(released: tuple[pa.Table, pa.Table]) -> None:
    sizes = [np.bincount([len(rows) for rows in by_household(one).values()], minlength=6) / 1500 for one in released]
    # A share of 1500 households has a standard error of at most 1.3 percent, here twice.
    assert np.abs(sizes[0] - sizes[1]).max() < 4 * 0.018
    heads = [[rows[0]["age"] for rows in by_household(one).values() if rows[0]["region"] == "old"] for one in released]
    assert abs(np.mean(heads[0]) - np.mean(heads[1])) < 4 * np.std(heads[0]) * np.sqrt(2 / len(heads[0]))
    assert min(heads[1]) >= 45


@pytest.mark.parametrize("other", [1, 2])
def test_ages_within_households_go_together_as_in_the_original(released: tuple[pa.Table, pa.Table], other: int) -> None:
    """Spouses are of one age, and children 30 years younger; rows that are drawn one by one know neither."""
    original, release = released
    real, made = (np.corrcoef(ages(one, 0, other))[0, 1] for one in (original, release))
    assert real > 0.97
    assert made > 0.95
    differences = [np.diff(ages(one, 0, other), axis=0).ravel() for one in (original, release)]
    assert abs(differences[0].mean() - differences[1].mean()) < 0.5
    assert differences[1].std() < 2 * differences[0].std()
    rows = unveil.synthesize(original.drop_columns(UNIT), m=1, seed=5)
    apart = rows.append_column("household", original["household"]).append_column("person", original["person"])
    assert abs(np.corrcoef(ages(apart, 0, other))[0, 1]) < 0.3


def test_persons_that_are_numbered_through_the_file_are_so_in_a_copy() -> None:
    original = households()
    number = pa.array(np.arange(9000, 9000 + original.num_rows))
    original = original.set_column(2, "person", number)
    release = unveil.synthesize(original, m=1, unit=UNIT, seed=1)
    assert release["person"].to_pylist() == list(range(1, release.num_rows + 1))


def test_the_size_that_the_file_holds_is_the_size() -> None:
    original = demo_population(400, seed=1, households=True)
    release = unveil.synthesize(original, m=1, unit=UNIT, seed=1)
    for rows in by_household(release).values():
        assert {row["household_size"] for row in rows} == {len(rows)}
        assert len({(row["region"], row["placesize"]) for row in rows}) == 1


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3) | st.none()), min_size=1, max_size=3),
             min_size=2, max_size=12),
    st.integers(0, 3),
)  # fmt: skip
def test_every_household_is_made_of_rows_like_those_of_the_original(homes: list[list[Any]], seed: int) -> None:
    rows = [(home, person, home % 2, *row) for home, persons in enumerate(homes) for person, row in enumerate(persons)]
    names = ["household", "person", "region", "sex", "score"]
    kinds = [pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.int64()]
    original = pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in
                         enumerate(zip(names, kinds, strict=True))})  # fmt: skip
    release = unveil.synthesize(original, m=1, k=7, unit=UNIT, seed=seed)
    made = by_household(release)
    # A variable that is the same in each household is the household's own, and drawn once for it.
    own = [all(len({row[i] for row in persons}) == 1 for persons in homes) for i in range(2)]
    assert len(made) == 7
    assert {len(persons) for persons in made.values()} <= {len(persons) for persons in homes}
    for persons in made.values():
        assert len({row["region"] for row in persons}) == 1
        for place, row in enumerate(persons):
            for i, name in enumerate(("sex", "score")):
                if own[i]:
                    assert row[name] in [home[0][i] for home in homes]
                    assert row[name] == persons[0][name]
                else:
                    # A value is drawn among those of persons in the same place.
                    assert row[name] in [home[place][i] for home in homes if len(home) > place]
    again = unveil.synthesize(original, m=1, k=7, unit=UNIT, seed=seed)
    assert again.to_pydict() == release.to_pydict()


def test_settings_of_a_variable_hold_for_all_persons_and_columns_are_named() -> None:
    original = households(60)
    maker = HouseholdSynthesizer(UNIT, methods={"age": "sample"}).fit(original, seed=1)
    assert maker.n_units == 60
    assert maker.columns[:4] == ("region", "number of persons", "relation (place 1)", "age (place 1)")
    drawn = ages(maker.sample(400, seed=1), 0, 1)
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.25


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (households(20), {"unit": ["household"]}, "in households, by household and person"),
        (households(20), {"unit": ["household", "person", "age"]}, "in households, by household and person"),
        (households(20), {"unit": UNIT, "method": "catall"}, "units are kept whole by method 'cart'"),
        (households(20), {"unit": ["home", "person"]}, "no column 'home'"),
        (households(20), {"unit": ["household", "relation"]}, "of one household and have the same 'relation'"),
        (pa.table({"household": [1, 1, 2], "person": [1, None, 1], "x": [1, 2, 3]}), {"unit": UNIT}, "row 2 has no 'p"),
        (pa.table({"household": [1] * 21, "person": list(range(21))}), {"unit": UNIT}, "has 21 persons"),
    ],
)  # fmt: skip
def test_what_is_refused(table: pa.Table, options: dict[str, Any], said: str) -> None:
    with pytest.raises(unveil.UnveilError, match=said) as error:
        unveil.synthesize(table, m=1, **options)
    assert "\n" not in str(error.value)


def test_files_say_how_their_households_were_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    csv.write_csv(households(80), tmp_path / "homes.csv")
    monkeypatch.chdir(tmp_path)
    words = "synthesize homes.csv -o out -m 2 -k 30 --unit household,person --seed 1"
    status, out, err = called(words.split(), monkeypatch, capsys)
    assert status == 0, err
    assert "2 copies of 30 units" in " ".join(out.split())
    assert "--unit household,person --keys" in " ".join(out.split())
    (provenance,) = (tmp_path / "out").glob("*.provenance.json")
    facts = read_provenance(provenance)
    assert (facts.k, facts.settings["unit"], facts.settings["time"]) == (30, UNIT, None)
    assert "age (place 5)" in [one.name for one in facts.variables]
    for path, release in zip(sorted((tmp_path / "out").glob("*.csv")), facts.releases, strict=True):
        table = csv.read_csv(path)
        assert len(by_household(table)) == 30
        assert release.records == table.num_rows
    with pytest.raises(unveil.DataError, match="made of whole units"):
        synthesizer_of(facts)


def test_a_map_takes_synthesizers_and_settings_that_keep_households_whole() -> None:
    original = households(100)
    found = unveil.compare(
        original, {"homes": HouseholdSynthesizer(UNIT)}, ["region", "age"], targets="relation",
        grid={"minbucket": [20]}, m=1, unit=UNIT, measures=["identity", "attribute"], risk="repU", seed=1,
    )  # fmt: skip
    assert [point.label for point in found.points] == ["homes", "minbucket 20"]
    persons = unveil.identity(unveil.Pair(original, original, unit=UNIT), ["region", "age"])
    assert found.assessments["homes"].content["data"]["original"]["records"] == persons.n_original == original.num_rows
