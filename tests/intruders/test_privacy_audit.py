"""The privacy loss of methods that state an epsilon: never above it, and above it where the noise is too small."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import gammaln

import unveil
from unveil.synthesis.methods.bayes_network import BayesNetworkSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer

SCHEMA = {"x": {"levels": ["a", "b"]}}
ONE, RELEASED = pa.table({"x": ["a"]}), 60


class HalfTheNoise(CatallSynthesizer):
    """States an epsilon, and draws the noise of twice that epsilon."""

    def _noisy_shares(self, file):
        stated, self.epsilon = self.epsilon, 2 * self.epsilon
        shares = super()._noisy_shares(file)
        self.epsilon = stated
        return shares


def audited(kind=CatallSynthesizer, epsilon=1.0, releases=500, seed=0, **settings):
    """One record, and the other level in its place: what noise has to hide most."""
    maker = kind(prior=0, epsilon=epsilon, schema=SCHEMA, **settings)
    made = pa.table({"x": ["a", "b"] * (RELEASED // 2)})
    pair = unveil.Pair(ONE, made)
    return unveil.privacy_loss(
        pair, maker, candidates=pa.table({"x": ["b"]}), persons=[0], releases=releases, seed=seed
    )


def true_delta(epsilon, scale, points=1500):
    """Delta of the released count, by quadrature over both noises."""
    share = (np.arange(points) + 0.5) / points
    noise = np.where(share < 0.5, np.log(2 * share), -np.log(2 * (1 - share))) * scale
    k = np.arange(RELEASED + 1)
    binomial = gammaln(RELEASED + 1) - gammaln(k + 1) - gammaln(RELEASED - k + 1)
    chances = []
    for counts in ((1, 0), (0, 1)):
        h = [np.maximum(0, count + noise) for count in counts]
        total = h[0][:, None] + h[1][None, :]
        p = np.where(total > 0, h[0][:, None] / np.where(total > 0, total, 1), 0.5).ravel()
        edges = np.histogram(p, bins=np.linspace(0, 1, 2001))[0] / p.size
        middle = (np.arange(2000) + 0.5) / 2000
        inner = (p > 0) & (p < 1)
        weights = np.histogram(p[inner], bins=np.linspace(0, 1, 2001))[0] / p.size
        assert edges.sum() == pytest.approx(1)
        log = binomial[None, :] + np.outer(np.log(middle), k) + np.outer(np.log1p(-middle), RELEASED - k)
        chance = weights @ np.exp(log)
        chance[0] += (p == 0).mean()
        chance[-1] += (p == 1).mean()
        chances.append(chance)
    one, other = chances
    return np.maximum(one - np.exp(epsilon) * other, 0).sum()


class RandomisedResponse:
    """Each released answer is that of the one record with probability 1 - q, else the other answer."""

    def __init__(self, stated, q=0.2):
        self.stated, self.q = stated, q

    def fit(self, frame):
        (self.answer,) = frame.column("x").to_pylist()
        return self

    def sample(self, n, seed):
        other = "b" if self.answer == "a" else "a"
        kept = np.random.default_rng(seed).random(n) >= self.q
        return pa.table({"x": [self.answer if keep else other for keep in kept]})

    def log_prob(self, frame):
        kept = [value == self.answer for value in frame.column("x").to_pylist()]
        return float(np.log(np.where(kept, 1 - self.q, self.q)).sum())

    def privacy(self):
        return self.stated


# A release holds two answers, each of which loses log 4.
@pytest.mark.parametrize(("epsilon", "above"), [(np.log(16) + 1e-9, 0), (np.log(4), 1)])
def test_what_a_synthesizer_of_the_user_states_is_audited(epsilon, above):
    maker = RandomisedResponse({"epsilon": epsilon, "neighbours": "replace"})
    pair = unveil.Pair(ONE, pa.table({"x": ["a", "b"]}))
    found = unveil.privacy_loss(pair, maker, candidates=pa.table({"x": ["b"]}), persons=[0], releases=300, seed=1)
    assert (found.stated_epsilon, found.n_above_stated) == (pytest.approx(epsilon), above)


def test_a_statement_that_is_none_is_named():
    pair = unveil.Pair(ONE, pa.table({"x": ["a", "b"]}))
    for stated in (
        {"epsilon": 1},
        3,
        {"epsilon": "much", "neighbours": "replace"},
        {"epsilon": -1, "neighbours": "replace"},
    ):
        with pytest.raises(unveil.DataError, match="privacy returned"):
            unveil.privacy_loss(
                pair, RandomisedResponse(stated), candidates=pa.table({"x": ["b"]}), persons=[0], releases=5, seed=1
            )
    found = unveil.privacy_loss(
        pair, RandomisedResponse(None), candidates=pa.table({"x": ["b"]}), persons=[0], releases=5, seed=1
    )
    assert np.isnan(found.stated_epsilon)


@pytest.fixture(scope="module")
def honest():
    return audited()


def test_laplace_noise_keeps_its_word(honest):
    found = honest
    assert (found.exact, found.stated_epsilon, found.n_above_stated) == (False, 1.0, 0)
    assert "None of 1 persons contradicts that" in " ".join(str(found).split())
    assert "The fit is random" in str(found)


def test_estimates_are_below_the_true_curve_and_near_it(honest):
    for row in honest.curves([0.0, 0.3, 0.6]).to_pylist():
        true = true_delta(row["epsilon"], 2.0)
        assert row["low"] <= true
        assert row["delta"] == pytest.approx(true, abs=0.08)


def test_half_the_noise_is_caught():
    found = audited(HalfTheNoise)
    assert (found.stated_epsilon, found.n_above_stated) == (1.0, 1)
    assert "1 of 1 persons contradict it" in " ".join(str(found).split())
    assert found.records().to_pylist()[0]["epsilon_low"] > 0


def test_a_record_more_or_less_is_half_of_a_replacement():
    found = audited(neighbours="add_remove", epsilon=0.5)
    assert (found.stated_epsilon, found.n_above_stated) == (1.0, 0)


def test_the_same_seed_gives_the_same_figures():
    one, again, other = (audited(releases=60, seed=seed) for seed in (3, 3, 4))
    assert str(one) == str(again) != str(other)


def small_survey(rng):
    return pa.table({"x": rng.choice(["a", "b"], 6), "y": rng.choice(["c", "d"], 6)})


def test_the_network_keeps_its_word():
    original = small_survey(np.random.default_rng(1))
    schema = SCHEMA | {"y": {"levels": ["c", "d"]}}
    maker = BayesNetworkSynthesizer(epsilon=1.0, schema=schema, degree=1)
    found = unveil.privacy_loss(original, maker, persons=4, curves=4, releases=150, seed=1)
    assert (found.exact, found.stated_epsilon, found.n_above_stated) == (False, 1.0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_more_audits(epsilon):
    assert sum(audited(epsilon=epsilon, releases=800, seed=seed).n_above_stated for seed in range(2)) == 0
    caught = [audited(HalfTheNoise, epsilon=epsilon, releases=800, seed=seed).n_above_stated for seed in range(2)]
    assert sum(caught) == 2
