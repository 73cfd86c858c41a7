"""Models that were not fitted to the end are said to be so, and models of the wrong kind are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unveil
from unveil._rapid import rapid, rapid_synthesizer_cv
from unveil.errors import CallError
from unveil.models import learners, logit, multinomial
from unveil.models.logit import NotConverged, fit_logistic
from unveil.models.multinomial import maximum_likelihood, penalised

PLAIN = {"permutations": 0, "ceiling": False}


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    x, k = np.round(rng.normal(size=n), 2), rng.choice(list("abc"), n)
    t = np.digitize(x + (k == "a") + rng.normal(size=n), [-0.7, 0.7])
    y = np.round(x + rng.normal(size=n), 1)
    return pa.table({"x": x, "k": k, "t": np.array(["low", "middle", "high"])[t], "y": y})


PAIR = unveil.Pair(people(120, 1), people(120, 2))


# ------------------------------------------------------------------------------------------ convergence
def test_a_logit_that_is_ended_early_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(multinomial, "_MOST_COEFFICIENTS", 0)
    monkeypatch.setattr(multinomial, "_MOST", 2)
    found = rapid(PAIR, ["x", "k"], target="t", attacker=["logit", "cart"], permutations=3, folds=4)
    (text,) = found.warnings
    # one release, three shuffles of it, and four folds of the original
    assert text == (
        "logit did not converge in 8 of 8 models (not converged after 2 iterations): the figures are those of models "
        "that were not fitted to the end"
    )
    assert text in found.to_dict()["warnings"]
    assert text in " ".join(str(found).split())
    assert text in found.curve().warnings
    assert text in found.attribution().warnings


def test_a_logit_that_converges_says_nothing():
    for attacker in ("logit", "logit_l1"):
        assert rapid(PAIR, ["x", "k"], target="t", attacker=attacker, permutations=2).warnings == ()


def counted(y: Any) -> Any:
    return sparse.csr_matrix(np.eye(int(y.max()) + 1)[y])


@pytest.mark.parametrize("way", ["newton", "limited memory", "lasso"])
def test_every_fit_that_steps_knows_whether_it_arrived(way: str, monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(1)
    x, y = sparse.csr_matrix(np.column_stack([np.ones(200), rng.normal(size=(200, 4))])), rng.integers(0, 3, 200)
    if way == "limited memory":
        monkeypatch.setattr(multinomial, "_MOST_COEFFICIENTS", 0)

    def fit(most: int) -> Any:
        monkeypatch.setattr(multinomial, "_MOST", most)
        return penalised(x, counted(y), lasso=0.01, max_iter=most) if way == "lasso" else (
            maximum_likelihood(x, counted(y)))  # fmt: skip

    assert fit(500).converged
    assert (fit(1).converged, fit(1).steps) == (False, 1)


def test_two_classes_know_whether_they_arrived(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(200), rng.normal(size=(200, 4))])
    y = (x[:, 1] + rng.normal(size=200) > 0).astype(float)
    fit_logistic(sparse.csr_matrix(x), y)  # a warning would be an error here
    monkeypatch.setattr(logit, "_MOST", 1)
    with pytest.warns(NotConverged, match="not converged after 1 iterations"):
        fit_logistic(sparse.csr_matrix(x), y)


def test_newton_meets_the_limited_memory(monkeypatch: pytest.MonkeyPatch):
    """The same maximum by both ways, and shares of cells to the last digits by the first."""
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(300), rng.normal(size=(300, 3))])
    y = rng.integers(0, 4, 300)

    def fit() -> Any:
        return softmax(x @ maximum_likelihood(sparse.csr_matrix(x), counted(y)).coefficients, axis=1)

    exact = fit()
    monkeypatch.setattr(multinomial, "_MOST_COEFFICIENTS", 0)
    assert fit() == pytest.approx(exact, abs=1e-3)
    # the score equations: sums of probabilities are those of the classes
    assert x.T @ exact == pytest.approx(x.T @ np.eye(4)[y], abs=1e-4)
    monkeypatch.undo()
    cells, counts = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[13, 4, 3], [5, 8, 7]])
    found = maximum_likelihood(sparse.csr_matrix(cells), sparse.csr_matrix(counts.astype(float)))
    assert softmax(cells @ found.coefficients, axis=1) == pytest.approx(counts / 20, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_lasso_meets_the_conditions_of_a_minimum(n_classes: int):
    """Slopes of coefficients that are not 0 equal the penalty, others are within it; the constant has none."""
    rng = np.random.default_rng(n_classes)
    x, penalty = np.column_stack([np.ones(300), rng.normal(size=(300, 8))]), 0.02
    y = np.argmax(2 * x[:, 1 : n_classes + 1] + rng.gumbel(size=(300, n_classes)), axis=1)
    found = penalised(sparse.csr_matrix(x), counted(y), lasso=penalty)
    b = found.coefficients
    slope = x.T @ (softmax(x @ b, axis=1) - np.eye(n_classes)[y]) / 300
    assert found.converged
    assert np.abs(slope[0]).max() < 1e-5
    held = b[1:] != 0
    assert held.any()
    assert not held.all()
    assert (slope[1:] + penalty * np.sign(b[1:]))[held] == pytest.approx(0, abs=1e-5)
    assert np.abs(slope[1:, 2 - min(n_classes, 3) :]).max() < penalty + 1e-5


def test_the_stack_hears_its_members(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(learners, "penalised", partial(penalised, max_iter=1))
    found = rapid(PAIR, "k", target="t", attacker="stack", **PLAIN)
    assert [text.partition(" (")[0] for text in found.warnings] == ["stack did not converge in 1 of 1 models"]


@pytest.mark.parametrize("model", [LogisticRegression(max_iter=1), MLPClassifier(max_iter=2, random_state=0)])
def test_an_estimator_that_does_not_converge_is_heard(model: Any):
    found = rapid(PAIR, ["x", "k"], target="t", attacker=model, permutations=1, ceiling=False)
    (text,) = found.warnings
    assert text.startswith(f"{type(model).__name__} did not converge in 2 of 2 models (")
    assert "\n" not in text


class Noisy(LogisticRegression):
    """An estimator that says something else."""

    def fit(self, x: Any, y: Any) -> Any:
        import warnings

        warnings.warn("a word to the user", UserWarning, stacklevel=2)
        return super().fit(x, y)


def test_other_warnings_of_an_estimator_reach_the_user():
    with pytest.warns(UserWarning, match="a word to the user"):
        found = rapid(PAIR, ["x", "k"], target="t", attacker=Noisy(), **PLAIN)
    assert found.warnings == ()


def test_cross_validation_hears_too():
    cv = rapid_synthesizer_cv(
        people(90, 3), lambda frame: frame, ["x", "k"], target="t", folds=2, attacker=LogisticRegression(max_iter=1)
    )
    assert any(text.startswith("LogisticRegression did not converge") for text in cv.warnings)


def test_an_assessment_hears_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(multinomial, "_MOST_COEFFICIENTS", 0)
    monkeypatch.setattr(multinomial, "_MOST", 2)
    found = unveil.assess(PAIR, ["x", "k"], targets="t", measures="inference", attacker="logit", permutations=2)
    assert any("logit did not converge in 8 of 8 models" in one["text"] for one in found.content["warnings"])


# ------------------------------------------------------------------------------------------- wrong kinds
REGRESSORS = [
    LinearRegression(), RandomForestRegressor(5), DummyRegressor(), make_pipeline(StandardScaler(), LinearRegression()),
]  # fmt: skip


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_a_regressor_infers_no_classes(model: Any):
    with pytest.raises(CallError, match="is a regressor and the target is categorical: give a classifier"):
        rapid(PAIR, ["x", "k"], target="t", attacker=model, **PLAIN)
    with pytest.raises(CallError, match="is a regressor"):
        rapid(PAIR, ["x", "k"], target="t", attacker=["suite", model], **PLAIN)
    with pytest.raises(CallError, match="is a regressor"):
        rapid_synthesizer_cv(people(60, 3), unreachable, ["x", "k"], target="t", folds=2, attacker=model)
    assert 0 <= rapid(PAIR, ["x", "k"], target="y", attacker=model, **PLAIN).rate <= 1


def unreachable(frame: Any) -> Any:
    raise AssertionError("nothing is synthesized for an attacker that does not suit")


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()], ids=lambda m: type(m).__name__)
def test_a_classifier_infers_no_numbers(model: Any):
    with pytest.raises(CallError, match="is a classifier and the target is continuous: give a regressor"):
        rapid(PAIR, ["x", "k"], target="y", attacker=model, **PLAIN)
    assert 0 <= rapid(PAIR, ["x", "k"], target="t", attacker=model, **PLAIN).rate <= 1


def test_what_is_neither_is_refused():
    with pytest.raises(CallError, match="KMeans is a clusterer"):
        rapid(PAIR, ["x", "k"], target="t", attacker=KMeans(2), **PLAIN)


class Duck:
    """A regressor that does not say what it is."""

    def fit(self, x: Any, y: Any) -> Any:
        self.model = LinearRegression().fit(x, y)
        return self

    def predict(self, x: Any) -> Any:
        return self.model.predict(x)


def test_numbers_are_not_cut_to_classes():
    with pytest.raises(CallError, match="attacker Duck predicts what is none of the classes"):
        rapid(PAIR, ["x", "k"], target="t", attacker=Duck(), **PLAIN)
    assert 0 <= rapid(PAIR, ["x", "k"], target="y", attacker=Duck(), **PLAIN).rate <= 1


def test_the_command_line_refuses_a_model_of_the_wrong_kind(tmp_path: Path):
    for name, seed in (("o", 1), ("s", 2)):
        pyarrow.csv.write_csv(people(60, seed), tmp_path / f"{name}.csv")
    call = [sys.executable, "-m", "unveil.cli", "rapid", "o.csv", "s.csv", "--keys", "k", "--permutations", "0"]
    for target, attacker, said in (("t", "lm", "predicts numbers"), ("y", "logit", "predicts classes")):
        done = subprocess.run(
            [*call, "--target", target, "--attacker", attacker],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
    done = subprocess.run([*call, "--target", "t", "--attacker", "cart", "--json", "-"], cwd=tmp_path,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert json.loads(done.stdout)["warnings"] == []
