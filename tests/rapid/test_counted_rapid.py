"""Persons who are scored where an engine counts them: the figures of memory, by sums alone."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil._rapid import rapid
from unveil._rapid.counted_result import CountedRapid
from unveil.core import STRUCTS
from unveil.models.boosting import fit_boosted
from unveil.models.forest import grow_forest

KEYS = ["x", "z"]


def people(n: int, rng: np.random.Generator) -> pa.Table:
    x, z = rng.integers(0, 12, n), rng.integers(0, 3, n)
    t = np.digitize(x / 4 - 1.5 + (z == 0) + rng.normal(size=n), [-0.4, 0.4])
    y = np.round(50 + x + 9.0 * t)
    gap = rng.random(n) < 0.05
    return pa.table({"x": pa.array(x, mask=rng.random(n) < 0.03), "z": z, "t": np.array(["low", "mid", "top"])[t],
                     "y": pa.array(y, mask=gap), "r": rng.choice(["north", "south"], n)})  # fmt: skip


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, rng = tmp_path_factory.mktemp("counted"), np.random.default_rng(1)
    for name, n in (("original", 1300), ("small", 900), ("large", 1500)):
        pq.write_table(people(n, rng), folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet") for name in ("original", "small", "large")]


def attacked(original: Any, release: Any, engine: str, **options: Any) -> Any:
    pair = unveil.Pair(original, release, engine=engine)
    chosen = {"target": "t", "attacker": "cart", "permutations": 2, "n_jobs": 1, "most_records": 100} | options
    return rapid(pair, KEYS, **chosen)


@pytest.mark.parametrize(
    "options",
    [
        {"attacker": ["cart", "logit", "gbm"]},
        {"attacker": "rf", "scoring": "nce"},
        {"target": "y", "attacker": ["cart", "lm"]},
        {"target": "y", "metric": "sd", "target_na": "median"},
        {"target": "y", "metric": "range", "target_na": 40.0},
        {"target": "y", "metric": "absolute", "epsilon": 4.0},
        {"target": "y", "kind": "categorical"},
    ],
)
def test_the_same_models_score_all_persons_alike(paths: list[str], options: dict[str, Any]) -> None:
    """The release is small enough to be drawn as a whole, so that its samples and models are those of memory."""
    memory = attacked(paths[0], paths[1], "memory", **options)
    counted = attacked(paths[0], paths[1], "files", **options)
    assert isinstance(counted, CountedRapid)
    assert counted.persons <= 1000
    assert (counted.n_original, counted.n_counted) == (1300, memory.n_counted)
    assert counted.n_synthetic == memory.n_synthetic
    assert counted.sample == memory.sample
    assert counted.baseline == pytest.approx(memory.baseline)
    of_drawn = {"null_mean", "null_95", "p_value", "ceiling", "excess", "suggested_threshold"}
    for one, other in zip(counted.attacks, memory.attacks, strict=True):
        assert (one["n_at_risk"], one["n"], one["rate"]) == (other["n_at_risk"], other["n"], other["rate"])
        for name in set(other) - of_drawn - {"attacker", "release"}:
            assert one[name] == pytest.approx(other[name], rel=1e-12), name
        assert one["excess"] == pytest.approx((one["rate"] - one["null_mean"]) / (1 - one["null_mean"]))
    assert counted.rate == pytest.approx(np.mean([one["rate"] for one in counted.attacks]))
    assert counted.each.keys() == memory.each.keys()
    assert counted.notes[: len(memory.notes)] == memory.notes


def test_rows_of_records(paths: list[str], tmp_path: Path) -> None:
    for target, names in (("t", ["g", "r"]), ("y", ["e"])):
        memory, counted = (attacked(*paths[:2], engine, target=target) for engine in ("memory", "files"))
        path = tmp_path / f"{target}.parquet"
        counted.write_records(path)
        memory.write_records(tmp_path / f"{target}_memory.parquet")
        found, expected = pq.read_table(path), pq.read_table(tmp_path / f"{target}_memory.parquet")
        assert found.column_names == ["record", *names, "at_risk"]
        assert found["record"].to_pylist() == list(range(1300))
        assert found["at_risk"].to_pylist() == expected["at_risk"].to_pylist()
        for name in names:
            one, other = (np.array(t[name].to_pylist(), float) for t in (found, expected))
            assert np.allclose(one, other, rtol=1e-12, equal_nan=True)
    with pytest.raises(unveil.CallError, match=r"\.parquet"):
        counted.write_records(tmp_path / "flags.csv")
    with pytest.raises(unveil.CallError, match="write_records"):
        counted.records()


def test_what_is_drawn_is_said(paths: list[str]) -> None:
    counted = attacked(paths[0], paths[2], "files")
    assert counted.sample.to_dict() == {"records": [100], "of": [1500]}
    assert counted.persons == 1000
    assert "100 of 1500 records of a release" in str(counted)
    assert "1000 of 1300 original records" in str(counted)
    assert "1300 of 1300 original records" in str(counted)
    assert len(counted.run().samples) == 5
    assert counted.to_dict()["attacks"][0]["n"] == 1300


def test_neither_order_nor_memory_matter(paths: list[str], tmp_path: Path) -> None:
    turned, rng = [], np.random.default_rng(3)
    for path in (paths[0], paths[2]):
        table = pq.read_table(path)
        turned.append(str(tmp_path / Path(path).name))
        pq.write_table(table.take(rng.permutation(table.num_rows)), turned[-1], row_group_size=77)
    first, second = attacked(paths[0], paths[2], "files"), attacked(*turned, "files")
    assert first.to_dict() == second.to_dict()
    assert attacked(paths[0], paths[2], "files", seed=1).rate != first.rate


def test_small_files_are_attacked_as_a_whole(paths: list[str]) -> None:
    whole = attacked(*paths[:2], "files", most_records=200)
    assert not isinstance(whole, CountedRapid)
    assert whole.to_dict() == attacked(*paths[:2], "memory", most_records=200).to_dict()
    assert not isinstance(attacked(*paths[:2], "auto"), CountedRapid)


def test_the_interval_is_of_all_persons_and_of_the_samples(paths: list[str]) -> None:
    counted = attacked(paths[0], paths[2], "files")
    rates = [one.rates((counted.threshold,), counted.runner.rule)[0] for one in counted.run().samples]
    half = 2.7764451 * np.std(rates, ddof=1) * np.sqrt(10 / 9)
    found = counted.intervals()[0]
    low, high = found["bootstrap"]
    assert counted.rate - low > half
    assert (counted.interval().low, counted.interval().high) == pytest.approx((low, high), abs=1e-12)
    assert found["wilson"][1] < high


def test_the_interval_over_persons_is_that_of_all(paths: list[str]) -> None:
    """Of 1000 drawn persons, for 1300: as long as that of 1300 in memory, where the release is used as a whole."""
    options: dict[str, Any] = {"target": "y", "attacker": "lm", "metric": "absolute", "epsilon": 4.0}
    memory, counted = (attacked(*paths[:2], engine, **options).intervals()[0] for engine in ("memory", "files"))
    for name in ("wilson", "clopper_pearson"):
        (low, high), (first, last) = counted[name], memory[name]
        assert (low, high) == pytest.approx((first, last), abs=0.004), name


def test_what_takes_all_persons_in_one_place_is_refused(paths: list[str]) -> None:
    for options, word in (({"scoring": "conditional"}, "conditional"), ({"side_information": paths[1]}, "side_info")):
        with pytest.raises(unveil.CallError, match=rf"{word}.*sample of the records to a Parquet file"):
            attacked(paths[0], paths[2], "files", **options)
    with pytest.raises(unveil.DataError, match=r"'r'.*Parquet"):
        attacked(paths[0], paths[2], "files").by("r")
    assert set(attacked(paths[0], paths[2], "files").by("z", flavour="arrow")["z"].to_pylist()) == {"0", "1", "2"}


def test_infinite_targets_are_refused(tmp_path: Path) -> None:
    n = 300
    table = pa.table({"x": np.arange(n) % 5, "z": np.arange(n) % 3, "y": np.append(np.arange(n - 1.0), np.inf)})
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.slice(0, n - 1), tmp_path / "b.parquet")
    with pytest.raises(unveil.DataError, match="infinite target"):
        attacked(str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "files", target="y", most_records=20)


def test_models_predict_alike_in_another_process(paths: list[str]) -> None:
    """What Spark sends to its workers: trees and training records, with the arrays behind the structs of the loops."""
    problem = attacked(paths[0], paths[1], "memory", permutations=0, ceiling=False).runner.problem
    table, y = problem.releases[0].table, problem.releases[0].target.y
    forest = grow_forest(table, y, 3, n_trees=20, seed=np.random.SeedSequence(1))
    boosted = fit_boosted(table, y, 3)
    for model in (forest, boosted):
        sent = pickle.loads(pickle.dumps(model))
        assert (sent.predict(problem.original.table) == model.predict(problem.original.table)).all()


def test_memory_of_the_loops_stays_in_its_process() -> None:
    leaves = STRUCTS["ForestLeaves"]()
    leaves.start = 4096
    with pytest.raises(TypeError, match="belongs to this process"):
        pickle.dumps(leaves)
    leaves.start = None


def coverage(runs: int, folder: Path) -> tuple[float, float]:
    """How often the interval, and that over persons alone, holds the mean rate over persons and samples."""
    rng = np.random.default_rng(3)
    population, release = people(20_000, rng), people(3000, rng)
    pq.write_table(release, folder / "release.parquet")
    once: dict[str, Any] = {"permutations": 0, "ceiling": False, "most_records": 60, "target": "y", "attacker": "lm",
                            "metric": "absolute", "epsilon": 4.0}  # fmt: skip
    truth = np.mean([attacked(population, release, "memory", **once, seed=s).rate for s in range(max(runs // 5, 15))])
    covered = []
    for seed in range(runs):
        pq.write_table(population.take(rng.integers(0, 20_000, 800)), folder / "persons.parquet")
        counted = attacked(
            str(folder / "persons.parquet"), str(folder / "release.parquet"), "files", **once, seed=100 + seed
        )  # fmt: skip
        assert isinstance(counted, CountedRapid)
        found = counted.intervals(n=60)[0]
        covered.append([found[name][0] <= truth <= found[name][1] for name in ("bootstrap", "wilson")])
    both, persons = np.mean(covered, axis=0)
    return float(both), float(persons)


def test_the_interval_covers(tmp_path: Path) -> None:
    assert coverage(12, tmp_path)[0] >= 10 / 12


@pytest.mark.slow
def test_the_interval_covers_often_enough(tmp_path: Path) -> None:
    """With samples as small as these, persons alone do not tell how far a rate is from its expectation."""
    both, persons = coverage(400, tmp_path)
    assert both >= 0.94
    assert persons < 0.8
