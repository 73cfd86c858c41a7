import math
from statistics import NormalDist

import numpy as np
import pytest

from unveil.errors import CallError
from unveil.simulate import _draw


def test_truncated_normal_has_the_moments_of_the_truncated_distribution():
    low, high, n = -0.5, 1.0, 40_000
    draws = _draw.truncated_normal(np.random.default_rng(1), n, mean=0.0, sd=1.0, low=low, high=high)
    normal = NormalDist()
    mass = normal.cdf(high) - normal.cdf(low)
    mean = (normal.pdf(low) - normal.pdf(high)) / mass
    variance = 1 + (low * normal.pdf(low) - high * normal.pdf(high)) / mass - mean**2
    assert draws.shape == (n,)
    assert draws.min() >= low
    assert draws.max() <= high
    assert abs(draws.mean() - mean) < 4 * math.sqrt(variance / n)
    assert abs(draws.var() / variance - 1) < 4 * math.sqrt(2 / n)


def test_draw_codes_follows_the_weights_and_never_draws_a_weight_of_zero():
    weights = np.tile([1.0, 0.0, 3.0, 0.0], (20_000, 1))
    shares = np.bincount(_draw.draw_codes(np.random.default_rng(2), weights), minlength=4) / 20_000
    assert shares[1] == shares[3] == 0
    assert abs(shares[0] - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 20_000)


def test_draw_logit_survives_utilities_beyond_the_range_of_exp():
    codes = _draw.draw_logit(np.random.default_rng(3), [np.zeros(5), np.full(5, 1e6), np.full(5, -1e6)])
    assert codes.tolist() == [1] * 5


def test_logistic_has_its_known_values_and_limits():
    values = _draw.logistic(np.array([-1e4, -1.0, 0.0, math.log(3), 1e4]))
    np.testing.assert_allclose(values, [0.0, 1 / (1 + math.e), 0.5, 0.75, 1.0], atol=1e-15)


def test_standardised_has_mean_zero_and_sample_standard_deviation_one():
    z = _draw.standardised(np.array([1.0, 2.0, 6.0]))
    np.testing.assert_allclose(z, np.array([-2.0, -1.0, 3.0]) / math.sqrt(7))


def test_labelled_marks_gaps_and_order():
    column = _draw.labelled(np.array([1, 0, 1]), ("a", "b"), ordered=True, missing=np.array([False, False, True]))
    assert column.to_pylist() == ["b", "a", None]
    assert column.type.ordered


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(4)
    assert _draw.generator(rng) is rng


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(CallError, match="seed must be"):
        _draw.generator(seed)
