"""A survey of persons, drawn from formulas, for the demonstration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unveil.simulate._draw import (
    Codes,
    Flavour,
    Floats,
    Seed,
    as_flavour,
    checked_generator,
    draw_codes,
    draw_logit,
    labelled,
    logistic,
)

DEMO_KEYS = ("sex", "age", "region", "placesize")
DEMO_SPECIAL_CODES: dict[str, list[int]] = {"income": [-8]}

SEXES = ("MALE", "FEMALE")
AGES = np.arange(16, 98)
REGIONS = (
    "Aldermark", "Brenwick", "Caldervale", "Dunmoor", "Eastholm", "Farrowdale", "Greyford", "Highmere",
    "Inverlake", "Juniper Coast", "Kestrel Hills", "Lowfen", "Marlshire", "Northreach", "Oakhaven",
    "Pinebarrow",
)  # fmt: skip
PLACES = (
    "RURAL AREAS",
    "URBAN BELOW 20,000",
    "URBAN 20,000-100,000",
    "URBAN 100,000-200,000",
    "URBAN 200,000-500,000",
    "URBAN 500,000 AND OVER",
)
EDUCATIONS = ("PRIMARY", "VOCATIONAL", "SECONDARY", "HIGHER")
MARITAL = ("SINGLE", "MARRIED", "WIDOWED", "DIVORCED")
ANSWERS = ("YES", "NO")
NO_INCOME = -8
DEPRESSION_ITEMS_MAXIMUM = 21


def _place_weights() -> Floats:
    """Return weights (region, place size): only some regions have large cities, and these are less rural."""
    region = np.arange(len(REGIONS))
    weights = np.tile(np.array([0.48, 0.13, 0.16, 0.17, 0.13, 0.26]), (len(REGIONS), 1))
    weights[:, 0] -= 0.06 * np.cos(region)
    weights[:, 2] *= region % 2 == 1
    weights[:, 4] *= region % 2 == 0
    weights[:, 5] *= region % 3 == 0
    return weights


def _draw_age(rng: np.random.Generator, n: int) -> npt.NDArray[np.int64]:
    """Draw ages: flat up to the middle sixties with a rise in the fifties, then falling."""
    ages = AGES.astype(np.float64)
    weights = (1.0 + 0.4 * np.exp(-(((ages - 57.0) / 9.0) ** 2))) * logistic((71.0 - ages) / 6.0)
    return rng.choice(AGES, size=n, p=weights / weights.sum())


def _draw_education(rng: np.random.Generator, age: Floats, place: Codes) -> Codes:
    """Draw education: higher in towns and in later birth cohorts, and unfinished for the young."""
    latent = 0.5 - 0.018 * (age - 45.0) + 0.16 * place + rng.logistic(0.0, 0.55, len(age))
    reached = np.digitize(latent, [-0.3, 0.55, 1.45])
    possible = np.digitize(age, [18, 19, 23])
    codes: Codes = np.minimum(reached, possible).astype(np.int32)
    return codes


def _draw_marital(rng: np.random.Generator, age: Floats, female: Floats) -> Codes:
    """Draw marital status: below 18 all are single, and more women than men are widowed."""
    single = 6.6 - 0.2 * age - 0.5 * female + 0.0013 * np.clip(age - 35.0, 0.0, None) ** 2
    widowed = -8.6 + 0.095 * age + 1.6 * female
    divorced = -3.1 + 0.3 * female + 0.006 * age
    married = np.where(age < 18, -50.0, 0.0)
    return draw_logit(rng, [single, married, widowed, divorced + married])


def _draw_income(
    rng: np.random.Generator, age: Floats, female: Floats, education: Codes, place: Codes
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Draw monthly income, heaped on round amounts, and which answers are refused."""
    n = len(age)
    log_income = (
        7.0
        + 0.22 * (education - 1.5)
        - 0.28 * female
        + 0.03 * place
        - 0.0003 * (age - 48.0) ** 2
        + rng.normal(0.0, 0.5, n)
    )
    unit = np.array([50, 100, 500])[draw_codes(rng, np.tile([0.15, 0.6, 0.25], (n, 1)))]
    amount = np.maximum(np.rint(np.exp(log_income) / unit), 1).astype(np.int64) * unit
    without = rng.random(n) < logistic(6.8 - 0.34 * age) + 0.06 * female * (age < 60)
    refused = ~without & (rng.random(n) < logistic(-2.0 + 0.8 * (log_income - 7.0)))
    return np.where(without, NO_INCOME, amount), refused


def _draw_households(rng: np.random.Generator, home: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Draw households of persons with the same home: the order of persons, and the household of each in that order."""
    n = len(home)
    order = np.lexsort((rng.random(n), home))
    sizes = 1 + draw_codes(rng, np.tile([0.35, 0.33, 0.16, 0.12, 0.04], (n, 1)))
    begins = np.diff(home[order], prepend=-1) != 0
    ends = np.cumsum(sizes)
    begins[ends[ends < n]] = True
    return order, np.cumsum(begins)


def _weights(region: Codes, place: Codes) -> npt.NDArray[np.float64]:
    """How many persons a record stands for, by strata: the later regions are small."""
    found: npt.NDArray[np.float64] = 100.0 + 25.0 * (len(REGIONS) - region) + 60.0 * place
    return found


def demo_population(
    n: int = 5000, seed: Seed = 0, *, households: bool = False, weights: bool = False, flavour: Flavour = "arrow",
) -> Any:  # fmt: skip
    """Simulate a survey of persons, like a survey that is synthesised before its release.

    The records are drawn from formulas that imitate a household survey, without records of real persons. At the default
    size about half of the persons are unique in :data:`DEMO_KEYS`, as is usual in surveys of this size.

    Parameters
    ----------
    n
        Number of persons, at least 1.
    seed
        Whole number, or a numpy Generator, whose state changes.
    households
        Whether the persons live in households of up to five, each in one region and size of place.
    weights
        Whether the survey is a sample that says how many persons each of its records stands for.
    flavour
        Kind of frame: "arrow", "pandas" or "polars".

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        - with households first ``household``, its number, ``person``, the number within it, and ``household_size``;
        - ``sex``: MALE, FEMALE; ``age``: 16 to 97, whole years; ``region``: 16 invented regions;
        - ``placesize``: six sizes of place from rural to the largest cities, not all of them in every region;
        - ``edu``: PRIMARY < VOCATIONAL < SECONDARY < HIGHER; ``marital``: SINGLE, MARRIED, WIDOWED, DIVORCED;
        - ``income``: monthly amount, -8 for persons without income of their own (:data:`DEMO_SPECIAL_CODES`),
          with refused answers missing, more often where the amount is high;
        - ``depress``: score from 0 to 21 with a few gaps; it rises with age and falls with income;
        - ``workab``: intends to work abroad, YES or NO, with gaps; rare, and rarer with age;
        - with weights last ``weight``: from 125 to 800; small regions and rural areas are sampled more densely.

    Raises
    ------
    CallError
        If an argument is out of its range.
    MissingPackageError
        If the package of the flavour is not installed.

    Examples
    --------
    >>> from unveil.simulate import demo_population
    >>> table = demo_population(n=200, seed=1)
    >>> table.column_names
    ['sex', 'age', 'region', 'placesize', 'edu', 'marital', 'income', 'depress', 'workab']
    """
    rng = checked_generator(n, 1, seed, flavour)

    years = _draw_age(rng, n)
    age = years.astype(np.float64)
    sex = (rng.random(n) < 0.54 + 0.0025 * np.clip(age - 50.0, 0.0, None)).astype(np.int32)
    female = sex.astype(np.float64)
    region = draw_codes(rng, np.tile(np.geomspace(1.0, 0.3, len(REGIONS)), (n, 1)))
    place = draw_codes(rng, _place_weights()[region])
    education = _draw_education(rng, age, place)
    marital = _draw_marital(rng, age, female)
    income, refused = _draw_income(rng, age, female, education, place)
    poor = np.clip((1500.0 - income) / 1500.0, -2.0, 1.0) * (income != NO_INCOME)
    burden = -1.75 + 0.034 * (age - 48.0) + 0.2 * female + 0.3 * poor + rng.normal(0.0, 0.85, n)
    depression = rng.binomial(DEPRESSION_ITEMS_MAXIMUM, logistic(burden))
    stays = rng.random(n) >= logistic(-2.3 - 0.07 * (age - 25.0) - 0.3 * female)
    table = pa.table(
        {
            "sex": labelled(sex, SEXES),
            "age": years,
            "region": labelled(region, REGIONS),
            "placesize": labelled(place, PLACES, ordered=True),
            "edu": labelled(education, EDUCATIONS, ordered=True),
            "marital": labelled(marital, MARITAL),
            "income": pa.array(income, mask=refused),
            "depress": pa.array(depression, mask=rng.random(n) < logistic(-4.6 + 0.012 * age)),
            "workab": labelled(stays.astype(np.int32), ANSWERS, missing=rng.random(n) < 0.088),
        }
    )
    if weights:
        table = table.append_column("weight", pa.array(_weights(region, place)))
    if households:
        order, household = _draw_households(rng, region * len(PLACES) + place)
        first = np.searchsorted(household, household)
        own = {
            "household": pa.array(household),
            "person": pa.array(np.arange(1, n + 1) - first),
            "household_size": pa.array(np.bincount(household)[household]),
        }
        persons = table.take(pa.array(order))
        table = pa.table(own | dict(zip(persons.column_names, persons.columns, strict=True)))
    return as_flavour(table, flavour)
