import math
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

from unveil.errors import CallError
from unveil.simulate import rapid_population

N = 200_000
NORMAL = NormalDist()
MALE = 1
LOW, HIGH = 0, 2
HEALTHY, DIABETIC, HYPERTENSIVE = 0, 1, 2


def simulated(kappa, n=N, seed=11):
    """Codes of the text columns, amounts of the others, and the standardised values of the equations."""
    table = rapid_population(n, kappa=kappa, seed=seed)
    codes = {name: table[name].chunk(0).indices.to_numpy() for name in LEVELS}
    amounts = {name: table[name].to_numpy() for name in table.column_names if name not in LEVELS}
    log_income = np.log(amounts["income"]) - 10
    health = amounts["health_score"] / 100
    return SimpleNamespace(
        **codes,
        **amounts,
        aged=standardised(amounts["age"]),
        log_income=log_income,
        earning=standardised(log_income),
        latent_health=np.log(health / (1 - health)),
    )


LEVELS = {
    "gender": ["female", "male"],
    "education": ["low", "medium", "high"],
    "disease_status": ["healthy", "diabetic", "hypertensive"],
}


def standardised(x):
    return (x - x.mean()) / x.std(ddof=1)


def assert_share(event, share):
    """The share of an event, within four standard errors."""
    assert abs(event.mean() - share) < 4 * math.sqrt(share * (1 - share) / len(event))


def assert_mean(values, mean):
    assert abs(values.mean() - mean) < 4 * values.std() / math.sqrt(len(values))


def assert_fits(event, chance, *regressors):
    """Score test: residuals of the stated chances are uncorrelated with 1 and with each regressor."""
    for x in (np.ones(len(event)), *regressors):
        error = math.sqrt((chance * (1 - chance) * x**2).sum())
        assert abs(((event - chance) * x).sum()) < 4 * error


def disease_chances(data, kappa):
    utilities = np.column_stack(
        [
            np.zeros(len(data.aged)),
            -1.5 + kappa * (0.8 * data.aged - 0.3 * data.earning - 0.2 * data.education),
            -1.3 + kappa * (1.0 * data.aged - 0.2 * data.earning - 0.1 * data.education),
        ]
    )
    weights = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def independent():
    return simulated(0)


@pytest.fixture(scope="module")
def moderate():
    return simulated(1)


@pytest.fixture(scope="module")
def noiseless():
    """All equations hold to about six digits: the noise has a weight of one in a million."""
    data = simulated(1e12)
    data.status = (data.log_income - 0.3 * data.aged - 0.25 * data.education) / 0.5
    return data


def test_columns_and_levels():
    table = rapid_population(20)
    assert table.column_names == ["gender", "age", "education", "income", "health_score", "disease_status"]
    assert {name: table[name].chunk(0).dictionary.to_pylist() for name in LEVELS} == LEVELS
    assert [table[name].type.ordered for name in LEVELS] == [False, True, False]


@pytest.mark.parametrize("kappa", [0, 1, 50])
def test_age_is_a_truncated_normal_whatever_kappa(kappa):
    age = simulated(kappa).age
    low, high = (18 - 45) / 12, (85 - 45) / 12
    mass = NORMAL.cdf(high) - NORMAL.cdf(low)
    mean = (NORMAL.pdf(low) - NORMAL.pdf(high)) / mass
    variance = 1 + (low * NORMAL.pdf(low) - high * NORMAL.pdf(high)) / mass - mean**2
    assert 18 <= age.min() < 18.03
    assert 84 < age.max() <= 85
    assert_mean(age, 45 + 12 * mean)
    assert abs(age.std() - 12 * math.sqrt(variance)) < 4 * 12 / math.sqrt(2 * N)


def test_margins_without_dependence(independent):
    assert_share(independent.education == LOW, NORMAL.cdf(-0.3))
    assert_share(independent.education == HIGH, 1 - NORMAL.cdf(0.7))
    assert_share(independent.gender == MALE, 0.5)
    total = 1 + math.exp(-1.5) + math.exp(-1.3)
    assert_share(independent.disease_status == DIABETIC, math.exp(-1.5) / total)
    assert_share(independent.disease_status == HYPERTENSIVE, math.exp(-1.3) / total)
    for latent in (independent.log_income, independent.latent_health):
        assert_mean(latent, 0)
        assert abs(latent.std() - 1) < 4 / math.sqrt(2 * N)


def test_kappa_zero_makes_all_variables_independent(independent):
    columns = [
        independent.gender == MALE,
        independent.aged,
        independent.education == HIGH,
        independent.log_income,
        independent.latent_health,
        independent.disease_status == DIABETIC,
    ]
    correlations = np.corrcoef(np.array(columns, float)) - np.eye(len(columns))
    assert np.abs(correlations).max() < 4.5 / math.sqrt(N)


def test_both_weights_are_the_root_of_one_half_at_kappa_one(moderate):
    """Variance of the latent education: (0.8² + 0.4² + 1)/2 = 0.9."""
    assert_share(moderate.education == LOW, NORMAL.cdf(-0.3 / math.sqrt(0.9)))
    assert_share(moderate.education == HIGH, 1 - NORMAL.cdf(0.7 / math.sqrt(0.9)))
    weight = math.sqrt(0.5)
    assert_mean(moderate.log_income - weight * 0.25 * moderate.education, 0)
    assert_mean((moderate.log_income - weight * 0.25 * moderate.education) * moderate.aged, weight * 0.3)
    rest = moderate.latent_health - weight * 0.2 * (moderate.education + moderate.earning)
    assert_mean(rest * moderate.aged, weight * -0.5)


def test_education_and_health_follow_their_equations_once_the_noise_is_gone(noiseless):
    assert_mean(noiseless.status, 0)
    assert abs(noiseless.status.std() - 1) < 4 / math.sqrt(2 * N)
    latent = 0.8 * noiseless.status - 0.4 * noiseless.aged
    assert (np.digitize(latent, [-0.3, 0.7]) == noiseless.education).mean() > 0.9999
    health = 0.6 * noiseless.status - 0.5 * noiseless.aged + 0.2 * noiseless.education + 0.2 * noiseless.earning
    np.testing.assert_allclose(noiseless.latent_health, health, atol=1e-4)


def test_gender_follows_its_logit(noiseless):
    logit = 0.3 * noiseless.status - 0.2 * noiseless.aged + 0.2 * noiseless.education
    chance = 1 / (1 + np.exp(-logit))
    assert_fits(noiseless.gender == MALE, chance, noiseless.status, noiseless.aged, noiseless.education)


@pytest.mark.parametrize("kappa", [0.5, 1, 5])
def test_disease_follows_its_multinomial_logit(kappa):
    data = simulated(kappa)
    chances = disease_chances(data, kappa)
    for code in (DIABETIC, HYPERTENSIVE):
        assert_fits(data.disease_status == code, chances[:, code], data.aged, data.earning, data.education)


def test_a_large_kappa_determines_the_disease(noiseless):
    assert (disease_chances(noiseless, 1e12).argmax(axis=1) == noiseless.disease_status).mean() > 0.9999


def test_dependence_grows_with_kappa():
    strengths = [
        np.corrcoef(data.disease_status == HEALTHY, data.age)[0, 1]
        for data in (simulated(kappa, n=5000) for kappa in (0, 0.5, 2, 20))
    ]
    assert np.all(np.diff(strengths) < -0.05)


@pytest.mark.parametrize("kappa", [-0.1, math.nan, math.inf, 1e13, "1", True, None])
def test_a_kappa_out_of_range_is_refused(kappa):
    with pytest.raises(CallError, match=r"kappa must be a number from 0 to 1e\+12, not"):
        rapid_population(kappa=kappa)


def test_fewer_than_two_persons_cannot_be_standardised():
    with pytest.raises(CallError, match="n must be a whole number from 2, not 1"):
        rapid_population(1)
