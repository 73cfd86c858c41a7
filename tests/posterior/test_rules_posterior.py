"""The exact posterior where rules limit what is drawn, against a fit for every value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.errors import CallError
from unveil.synthesis import CartSynthesizer

N = 60


def people(seed: int) -> pa.Table:
    """Age, sex, pregnancy and twice the age."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["M", "F"], N)
    age = rng.integers(1, 4, N)
    pregnant = np.where(sex == "M", "no", rng.choice(["yes", "no"], N))
    return pa.table({"age": age, "sex": sex, "pregnant": pregnant, "twice": 2 * age})


@pytest.mark.parametrize("target", ["sex", "pregnant", "age"])
@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_the_posterior_is_that_of_a_fit_for_every_value(target: str, seed: int) -> None:
    table = people(seed)
    settings = {"minbucket": 3, "rules": ["not (sex == 'M' and pregnant == 'yes')", "twice = 2 * age"]}
    synthesizer = CartSynthesizer(**settings).fit(table)
    release = synthesizer.sample(seed=seed)
    known = [name for name in table.column_names if name != target]
    found = unveil.posterior(
        unveil.Pair(table, release), synthesizer, target=target, known=known, structure="exact", records=range(5)
    )
    truth = table[target].to_pylist()
    expected = []
    for record in range(5):
        likelihood = {}
        for value in sorted(set(truth)):
            world = table.set_column(
                table.column_names.index(target), target, pa.array([*truth[:record], value, *truth[record + 1 :]])
            )
            likelihood[value] = CartSynthesizer(**settings).fit(world).log_prob(release).total
        most = max(likelihood.values())
        weights = {value: np.exp(log - most) for value, log in likelihood.items()}
        expected.append(weights[truth[record]] / sum(weights.values()))
    assert 0 < min(expected) < 1
    assert found.to_frame()["mean_posterior"][0].as_py() == pytest.approx(np.mean(expected), rel=1e-9)


@pytest.mark.filterwarnings("ignore::unveil.UnveilWarning")
def test_a_rule_that_cannot_always_be_kept_is_refused_in_one_line() -> None:
    table = pa.table({"a": [1, 2, 1] * 20, "b": [1, 1, 2] * 20, "c": [1, 2, 2] * 20})
    synthesizer = CartSynthesizer(rules="a * b < 4 or c > 5").fit(table)
    with pytest.raises(CallError, match="some values of other columns leave no value of") as caught:
        unveil.posterior(
            unveil.Pair(table, synthesizer.sample(seed=1)), synthesizer, target="a", structure="exact", records=[0]
        )
    assert "\n" not in str(caught.value)
