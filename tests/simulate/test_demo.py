from collections import Counter

import numpy as np
import pytest

import unveil
from unveil.simulate import DEMO_KEYS, DEMO_SPECIAL_CODES, demo_population


@pytest.fixture(scope="module")
def survey():
    return demo_population()


def column(table, name):
    return np.asarray(table[name].to_pylist(), dtype=object)


@pytest.mark.parametrize("seed", range(4))
def test_about_half_of_the_persons_are_unique_in_the_keys(seed):
    table = demo_population(seed=seed)
    counts = Counter(zip(*(table[key].to_pylist() for key in DEMO_KEYS), strict=True))
    uniques = sum(count == 1 for count in counts.values())
    assert 0.45 < uniques / table.num_rows < 0.50


def test_values_stay_in_their_ranges(survey):
    age = column(survey, "age").astype(int)
    assert age.min() >= 16
    assert age.max() <= 97
    assert len(set(survey["region"].to_pylist())) == 16
    assert len(set(survey["placesize"].to_pylist())) == 6
    scores = {score for score in survey["depress"].to_pylist() if score is not None}
    assert min(scores) == 0
    assert max(scores) <= 21
    assert set(survey["workab"].to_pylist()) == {"YES", "NO", None}


def test_income_is_a_positive_amount_the_special_code_or_a_gap(survey):
    (code,) = DEMO_SPECIAL_CODES["income"]
    income = column(survey, "income")
    amounts = [value for value in income if value is not None and value != code]
    assert min(amounts) > 0
    assert all(amount % 50 == 0 for amount in amounts)
    assert 0.08 < (income == code).mean() < 0.16
    assert 0.07 < np.mean([value is None for value in income]) < 0.14


def test_gaps_stand_only_in_three_columns(survey):
    gaps = {name for name in survey.column_names if survey[name].null_count}
    assert gaps == {"income", "depress", "workab"}
    assert 0.005 < survey["depress"].null_count / survey.num_rows < 0.03


def test_no_region_without_large_cities_has_persons_in_one(survey):
    regions = survey["region"].chunk(0).indices.to_numpy()
    places = survey["placesize"].chunk(0).indices.to_numpy()
    assert set(regions[places == 5]) == {0, 3, 6, 9, 12, 15}


def test_depression_rises_with_age_and_falls_with_income(survey):
    complete = [
        (age, income, score)
        for age, income, score in zip(*(survey[name].to_pylist() for name in ("age", "income", "depress")), strict=True)
        if income is not None and income > 0 and score is not None
    ]
    age, income, score = np.array(complete, float).T
    assert np.corrcoef(age, score)[0, 1] > 0.3
    middle = (age > 40) & (age < 60)
    assert np.corrcoef(income[middle], score[middle])[0, 1] < -0.1


def test_life_follows_its_order(survey):
    age = column(survey, "age").astype(int)
    marital, education = column(survey, "marital"), column(survey, "edu")
    assert set(marital[age < 18]) == {"SINGLE"}
    assert set(education[age < 18]) == {"PRIMARY"}
    assert "HIGHER" not in education[age < 23]
    assert age[marital == "WIDOWED"].mean() > age[marital == "MARRIED"].mean() + 10
    assert age[marital == "SINGLE"].mean() < age[marital == "MARRIED"].mean() - 15


def test_one_person_is_a_survey():
    assert demo_population(1).num_rows == 1


def test_households_are_of_one_region_and_of_the_size_that_they_say():
    table = demo_population(500, seed=1, households=True)
    rows = table.to_pylist()
    sizes = Counter(row["household"] for row in rows)
    assert len(rows) == 500
    assert all(row["household_size"] == sizes[row["household"]] for row in rows)
    assert 1 < max(sizes.values()) <= 5
    homes = {(row["household"], row["region"], row["placesize"]) for row in rows}
    assert len(homes) == len(sizes)


def test_persons_are_the_same_with_and_without_households():
    alone, together = (demo_population(200, seed=1, households=flag) for flag in (False, True))
    persons = [Counter(map(str, table.select(alone.column_names).to_pylist())) for table in (alone, together)]
    assert persons[0] == persons[1]


def test_persons_are_numbered_within_their_households():
    table = demo_population(500, seed=1, households=True)
    homes = {}
    for home, person in zip(table["household"].to_pylist(), table["person"].to_pylist(), strict=True):
        homes.setdefault(home, []).append(person)
    assert all(persons == list(range(1, len(persons) + 1)) for persons in homes.values())


def test_weights_are_those_of_strata_and_change_nothing_else():
    alone, weighted = (demo_population(500, seed=1, weights=flag) for flag in (False, True))
    assert weighted.drop_columns(["weight"]).equals(alone)
    strata = {}
    for region, place, weight in zip(
        *(weighted[c].to_pylist() for c in ("region", "placesize", "weight")), strict=True
    ):
        strata.setdefault((region, place), set()).add(weight)
        assert 125 <= weight <= 800
    assert all(len(weights) == 1 for weights in strata.values())
    together = demo_population(500, seed=1, households=True, weights=True)
    assert sorted(together["weight"].to_pylist()) == sorted(weighted["weight"].to_pylist())
    assert unveil.Pair(together, together, weights="weight", unit="household").weights.population > 500 * 100
