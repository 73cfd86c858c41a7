"""The studies under examples/intruders: small runs, and that pages hold what the rows say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import unveil

FOLDER = Path(__file__).parents[2] / "examples" / "intruders"

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")


@pytest.fixture(params=["known", "games", "losses"])
def study(request, load):
    return request.param, load(request.param)


@pytest.fixture
def load(monkeypatch):
    """Import a module of the folder as its command does."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("pages", "known", "games", "losses"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module


def test_rows_come_back_as_they_were_written(load, tmp_path):
    pages = load("pages")
    rows = [{"name": "a", "x": 0.25, "y": np.nan}, {"name": "b", "x": np.inf, "y": 3}]
    pages.write_csv(rows, tmp_path / "rows.csv")
    back = pages.read_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "name,x,y\na,0.25,\nb,inf,3\n"
    assert np.isnan(back[0]["y"])
    assert back[1] == rows[1]


def test_pages_hold_what_the_rows_say(study):
    name, module = study
    read = module.read_csv
    rows = {
        "known": lambda: (FOLDER,), "games": lambda: (read(FOLDER / "games.csv"),),
        "losses": lambda: (read(FOLDER / "losses.csv"), read(FOLDER / "audit.csv")),
    }[name]()  # fmt: skip
    assert (FOLDER / f"{name}.md").read_text(encoding="utf-8") == module.page(*rows)


def test_published_rows_meet_the_reference(load):
    known = load("known")
    rows = known.read_csv(FOLDER / "known_latner.csv")
    assert len(rows) == len(known.UNKNOWN) * len(known.REFERENCE)
    for row in rows:
        expected = known.REFERENCE[int(row["release"])][known.UNKNOWN.index(int(row["unknown"]))]
        assert row["method"] == ("posterior" if row["unknown"] == 1 else "enumeration")
        assert row["posterior"] == pytest.approx(row["by_plain_fits"], abs=2e-6)
        assert row["posterior"] == pytest.approx(expected, abs=0.0006)


def test_the_unique_record_is_computed_as_it_was(load, shared, monkeypatch):
    known = load("known")
    monkeypatch.setattr(known, "UNKNOWN", (1, 2))
    monkeypatch.setattr(known, "REFERENCE", {1: known.REFERENCE[1][:2]})
    assert [row["posterior"] for row in known.latner(shared / "data")] == pytest.approx([1, 0.643], abs=0.0006)


def test_sets_are_put_together(load):
    known = load("known")
    point = {"share_known": 0.9, "n_unknown": 2, "method": "chains", "mean_prior": 0.1, "share_not_mixed": 0.0,
             "share_above_90": 0.5, "sweeps": 4, "kept": 2}  # fmt: skip
    points = [
        type("Point", (), point | {"mean_posterior": mean, "monte_carlo_error": error})
        for mean, error in ((0.2, 0.03), (0.5, 0.08))
    ]
    row = known.together([(points[0], 2), (points[1], 1)], "depress")
    assert (row["persons"], row["sets"], row["sweeps"]) == (3, 2, 8)
    assert row["mean_posterior"] == pytest.approx(0.3)
    assert row["monte_carlo_error"] == pytest.approx(np.hypot(0.02, 0.08 / 3))


def test_games_of_one_draw(load):
    games = load("games")
    everybody = unveil.simulate.demo_population(300, seed=1).select(["sex", "age", "region", "depress"])
    rows = list(games.played(everybody, 0, size=150, games=10))
    assert {row["who"] for row in rows} == {"swap", "in_out", "dcr", "density", "classifier"}
    by_place = {(row["minbucket"], row["who"], row["figure"]): row["value"] for row in rows}
    assert by_place[5, "in_out", "auc"] > by_place[5, "dcr", "auc"]
    assert "| in/out: AUC |" in games.page(rows)


def test_losses_and_audits(load):
    losses = load("losses")
    people = unveil.simulate.demo_population(80, seed=1)
    maker = unveil.CartSynthesizer(minbucket=20, n_jobs=1).fit(people)
    pair = unveil.Pair(people, maker.sample(seed=1))
    spreads, points = losses.lost(pair, maker, "some", persons=5, curves=2, releases=5)
    assert {row["setting"] for row in (*spreads, *points)} == {"some"}
    assert all(0 <= row["median"] <= row["worst"] <= 1 for row in points)


def test_half_of_the_noise_is_caught_in_the_published_rows(load):
    losses = load("losses")
    above = {row["noise"]: row["n_above_stated"] for row in losses.read_csv(FOLDER / "audit.csv")}
    assert above == dict(zip(losses.NOISES, (0, 1), strict=True))
