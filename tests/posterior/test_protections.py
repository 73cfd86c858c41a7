"""Merged levels, top coding and noise before synthesis: the posterior of the true value, against full refits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import posterior
from unveil._posterior.protections import merged, noised, posterior_of_truth, top_coded
from unveil._posterior.refit import as_figures, quietly
from unveil.errors import CallError
from unveil.synthesis import CartSynthesizer

RECORD = 7


@pytest.fixture(scope="module")
def original():
    rng = np.random.default_rng(2)
    n = 90
    x = rng.integers(0, 4, n)
    return pa.table(
        {
            "x": pa.array(x),
            "job": pa.array(rng.choice(["a", "b", "c", "d", "e"], n, p=[0.5, 0.3, 0.1, 0.06, 0.04])),
            "score": pa.array(np.where(rng.random(n) < 0.1, -9, x + rng.integers(0, 8, n)),
                              mask=rng.random(n) < 0.05),
        }
    )  # fmt: skip


def worlds(original, name, protection_of, synthesizer, release, values):
    """Likelihood of a release for every true value, by fits to the protected originals."""
    logs = []
    for value in values:
        column = original.column(name).to_pylist()
        column[RECORD] = value
        total = 0.0
        for protected, share in protection_of(column):
            table = original.set_column(original.column_names.index(name), name, pa.array(protected))
            impossible, log = as_figures(quietly(synthesizer, table).log_prob(release))
            total += share * np.exp(log) if impossible == 0 else 0.0
        logs.append(total)
    return np.array(logs) / np.sum(logs)


@pytest.mark.parametrize(
    ("name", "protect"),
    [("job", lambda c: merged(c, 12, ())), ("score", lambda c: merged(c, 20, [-9])),
     ("score", lambda c: top_coded(c, 0.2, [-9])), ("job", lambda c: noised(c, 0.3, seed=1))],
)  # fmt: skip
def test_posterior_equals_that_of_full_refits(original, name, protect):
    synthesizer = CartSynthesizer(minbucket=3, special_codes={"score": [-9]})
    column = unveil.Pair(original, original, special_codes={"score": [-9]}).column(name)
    protection = protect(column)
    assert protection.changes
    labels = [*column.levels.to_pylist(), None][: column.n_levels]
    source = protection.source(unveil.Pair(original, original), column)
    fitted = quietly(synthesizer, source)
    release = fitted.sample(12, seed=3)
    risk = posterior(unveil.Pair(source, release), fitted, target=name, records=[RECORD], structure="exact")
    held = source.column(name).to_pylist()

    def protection_of(column):
        if not protection.replaced:
            own = labels[protection.group[labels.index(column[RECORD])]]
            yield [*held[:RECORD], own, *held[RECORD + 1 :]], 1.0
            return
        for label in labels:
            share = protection.replaced / len(labels) + (1 - protection.replaced) * (label == column[RECORD])
            yield [*held[:RECORD], label, *held[RECORD + 1 :]], share

    wanted = worlds(original, name, protection_of, synthesizer, release, labels)
    levels = np.array([labels.index(value) for value in risk.values])
    probabilities = np.repeat(risk.posteriors().probabilities, len(labels), axis=0)
    truth = np.arange(len(labels))
    known = np.isin(protection.group[truth], levels)
    found = posterior_of_truth(protection, truth[known], levels, probabilities[known])
    assert found == pytest.approx(wanted[known], abs=1e-9)
    assert wanted[~known].sum() == pytest.approx(0, abs=1e-9)


def test_what_is_merged(original):
    pair = unveil.Pair(original, original, special_codes={"score": [-9]})
    job = pair.column("job")
    group = merged(job, 12, ()).group
    count = np.bincount(job.original, minlength=5)
    inside = np.bincount(group, weights=count, minlength=5)
    assert (inside[inside > 0] >= 12).all()
    assert (group[count >= 12] == np.flatnonzero(count >= 12)).sum() >= 2
    score = pair.column("score")
    labels = score.levels.to_pylist()
    group = merged(score, 20, [-9]).group
    count = np.bincount(score.original, minlength=score.n_levels)
    inside = np.bincount(group, weights=count, minlength=score.n_levels)
    alone = labels.index(-9)
    assert group[alone] == alone
    assert group[len(labels)] == len(labels)
    others = [i for i in range(len(labels)) if i != alone]
    assert (np.diff(group[others]) >= 0).all()
    assert all(inside[i] >= 20 for i in set(group[others].tolist()))
    top = top_coded(score, 0.2, [-9]).group
    highest = max(labels[i] for i in others)
    cut = labels[top[labels.index(highest)]]
    values = [v for v in original.column("score").to_pylist() if v not in (None, -9)]
    assert np.mean(np.array(values) >= cut) >= 0.2 > np.mean(np.array(values) > cut)


def test_noise_is_as_strong_as_it_says():
    n = 4000
    column = unveil.Pair(*[pa.table({"x": pa.array(["a", "b", "c", "d"] * (n // 4))})] * 2).column("x")
    changed = noised(column, 0.4, seed=1).levels != column.original
    assert changed.mean() == pytest.approx(0.4 * 3 / 4, abs=0.03)
    assert (noised(column, 0.4, seed=1).levels == noised(column, 0.4, seed=1).levels).all()


def test_advice_on_protections(original):
    synthesizer = CartSynthesizer(minbucket=2, special_codes={"score": [-9]})
    quietly(synthesizer, original)
    fitted = quietly(synthesizer, original)
    pair = unveil.Pair(original, fitted.sample(seed=1))
    risk = posterior(pair, fitted, target="score")
    advice = risk.advice(minbucket=[], cp=[], mix=[0.3], merge=[30], top=[0.1], noise=[0.5], most_records=20)
    rows = {row.setting: row for row in advice.rows}
    assert list(rows) == ["as released", "drawn anew", "mix", "merged levels", "top coding", "noise"]
    before = rows["as released"].mean_posterior["exact"]
    assert rows["merged levels"].mean_posterior["exact"] < before / 2
    assert rows["noise"].mean_posterior["exact"] <= 0.5 + 0.5 / risk.n_values
    assert rows["noise"].share_certain == 0
    assert rows["as released"].share_certain > rows["mix"].share_certain
    for row in advice.rows:
        assert row.mean_prior == pytest.approx(1 / risk.n_values)
    assert "noise 50 % replaced" in str(advice)
    with pytest.raises(CallError, match="between 0 and 1"):
        risk.advice(minbucket=[], cp=[], noise=[2])
    others = posterior(pair, fitted, target="score", prior="marginal").advice(minbucket=[], cp=[], most_records=5)
    assert [row.setting for row in others.rows] == ["as released", "drawn anew", "mix"]


def test_top_coding_of_a_share_of_the_records_counts_records():
    # a share of .07 of 100 records is the seven largest, though .07 * 100 is more than 7 in binary
    table = pa.table({"x": pa.array(range(100))})
    column = unveil.Pair(table, table).column("x")
    for n in (7, 14, 28, 29, 50, 55, 57):
        assert top_coded(column, n / 100, []).levels.max() == 100 - n
