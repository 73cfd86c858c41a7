"""Gradient boosting by rows that stand for records: what scikit-learn's histograms give record by record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import unveil
from unveil.models.boosting import Bins, fit_boosted
from unveil.models.features import KeyTable, stacked

SETTINGS: dict[str, Any] = {"max_depth": 3, "max_iter": 100, "learning_rate": 0.1, "early_stopping": False}


def drawn(n: int, rng: np.random.Generator, *, gaps: float, top: int) -> pa.Table:
    x = rng.integers(0, top, n).astype(float)
    return pa.table({
        "x": pa.array(x, mask=rng.random(n) < gaps), "u": np.round(rng.normal(size=n), 1),
        "k": rng.choice(list("abcdef"), n, p=rng.dirichlet(np.ones(6))),
    })  # fmt: skip


def tables(rng: np.random.Generator, *, gaps: tuple[float, float]) -> tuple[KeyTable, KeyTable]:
    """What is trained on and what is attacked; the second has values and gaps that the first may lack."""
    pair = unveil.Pair(drawn(500, rng, gaps=gaps[1], top=25), drawn(700, rng, gaps=gaps[0], top=20))
    columns = [pair.column(name) for name in ("x", "u", "k")]
    return stacked(columns, [c.releases[0] for c in columns]), stacked(columns, [c.original for c in columns])


def seen(table: KeyTable) -> np.ndarray:
    values = table.values().T
    return np.where(np.isfinite(values), values, np.nan)


def signal(table: KeyTable, rng: np.random.Generator) -> np.ndarray:
    x, u, k = np.nan_to_num(seen(table), nan=30).T
    return np.sin(x / 3) + u * (k > 2) + rng.normal(size=len(x))


@pytest.mark.parametrize("gaps", [(0.0, 0.0), (0.2, 0.2), (0.0, 0.3)])
@pytest.mark.parametrize("n_classes", [None, 2, 4])
def test_predictions_are_those_of_the_reference(n_classes: int | None, gaps: tuple[float, float]) -> None:
    rng = np.random.default_rng([n_classes or 0, int(10 * sum(gaps))])
    train, other = tables(rng, gaps=gaps)
    y = signal(train, rng)
    if n_classes is None:
        y = np.round(1000 + 50 * y, 1)
        reference: Any = HistGradientBoostingRegressor(**SETTINGS)
    else:
        y = np.digitize(y, [-0.5, 0.2, 1.0][: n_classes - 1])
        reference = HistGradientBoostingClassifier(**SETTINGS)
    with threadpool_limits(limits=1):
        reference.fit(seen(train), y)
        expected = reference.predict(seen(other)) if n_classes is None else reference.predict_proba(seen(other))
    found = fit_boosted(train, y, n_classes).predict(other)
    # the reference adds up slopes of 24 bits; of splits that divide the training records alike it takes another one
    differs = np.abs(found - expected) > (1e-6 if n_classes else 1e-3)
    assert differs.mean() < 0.01
    assert np.ptp(found) > 0.3


def test_rows_and_order_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    train, other = tables(rng, gaps=(0.1, 0.1))
    y, order = np.digitize(signal(train, rng), [0]), rng.permutation(len(train))
    assert (fit_boosted(train, y, 2).predict(other) == fit_boosted(train.take(order), y[order], 2).predict(other)).all()


def test_a_leaf_has_twenty_records() -> None:
    """Nineteen records with a mind of their own are not told apart; twenty are."""
    for n, apart in ((19, False), (20, True)):
        x = np.repeat([0, 1], [60, n])
        columns = [unveil.Pair(pa.table({"x": x}), pa.table({"x": x})).column("x")]
        table = stacked(columns, [columns[0].original])
        found = fit_boosted(table, x, 2).predict(table)[:, 1]
        assert (np.ptp(found) > 0.9) == apart


def test_numbers_of_any_size() -> None:
    rng = np.random.default_rng(9)
    train, other = tables(rng, gaps=(0.0, 0.0))
    y = signal(train, rng)
    plain = fit_boosted(train, y, None).predict(other)
    for unit in (1e-300, 1e300):
        assert fit_boosted(train, y * unit, None).predict(other) == pytest.approx(plain * unit, rel=1e-9)


def test_bins_of_many_values_hold_as_many_records() -> None:
    rng = np.random.default_rng(10)
    values, records = rng.lognormal(size=5000), rng.integers(1, 4, 5000).astype(float)
    values[:40] = np.inf
    bins = Bins.of(values[None], records)
    code = bins.codes(values[None])[:, 0]
    assert (code[:40] == -1).all()
    held = np.bincount(code[40:], weights=records[40:])
    assert len(held) == 255
    assert np.abs(held - records[40:].sum() / 255).max() <= 3
    # as many rows of one record each give the same bins
    once = Bins.of(np.repeat(values, records.astype(int))[None], np.ones(int(records.sum())))
    assert (once.bounds[0] == bins.bounds[0]).all()
    few = Bins.of(np.array([[3.0, 1.0, 2.0, 1.0]]), np.ones(4))
    assert few.bounds[0].tolist() == [1.5, 2.5]
