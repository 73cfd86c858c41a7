"""Utility where an engine counts the records: tables of all of them, models of records that are drawn."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import unveil
from command_line import called
from unveil._utility.counted import MOST_COUNTED
from unveil._utility.sample import DRAWS
from unveil.columns.drawn import drawn_pair
from unveil.plain import without_nan

OPTIONS: dict[str, Any] = {"most_records": 40, "permutations": 3, "minbucket": 5, "folds": 2, "seed": 3}


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(2, size=n), rng.integers(16, 90, n)
    income = np.round(np.exp(rng.normal(7, 1, n)) * (1 + sex))
    income[rng.random(n) < 0.1] = -8
    day = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 40, n)]
    return pa.table({
        "sex": pa.array(np.array(["f", "m"])[sex].tolist()),
        "age": age,
        "income": pa.array(income, mask=rng.random(n) < 0.15),
        "day": pa.array(day, mask=rng.random(n) < 0.05),
        "place": pa.array([None if p == 7 else f"p{p}" for p in rng.integers(8, size=n)]),
    })  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("counted")
    paths = []
    for number, n in enumerate((700, 500, 300)):
        paths.append(str(folder / f"{number}.parquet"))
        pq.write_table(people(n, number), paths[-1], row_group_size=90)
    return paths


def pair_of(files: list[str], engine: Any = "files") -> unveil.Pair:
    return unveil.Pair(files[0], files[1:], special_codes={"income": -8}, engine=engine)


def same(one: Any, other: Any) -> None:
    assert len(one) == len(other)
    for ours, theirs in zip(one, other, strict=True):
        assert ours.subject == theirs.subject
        assert ours.undefined == theirs.undefined
        for figures, expected in zip((*ours.releases, ours.mean), (*theirs.releases, theirs.mean), strict=True):
            assert figures == pytest.approx(dict(expected), rel=1e-9, abs=1e-12, nan_ok=True)


def test_tables_are_those_of_all_records(files: list[str]) -> None:
    options: dict[str, Any] = {"measures": ["marginals", "pairs"], "bias_corrected": True}
    counted = unveil.utility(pair_of(files), **options, most_records=40)
    whole = unveil.utility(pair_of(files, "memory"), **options)
    same(counted.variables, whole.variables)
    same(counted.pairs, whole.pairs)
    assert counted.unmatched == whole.unmatched
    assert counted.samples == {}
    assert "variables and pairs are exact: their tables are counted over all records" in counted.notes
    # the two that both have amounts, and gaps and special codes of their own
    (both,) = [one for one in counted.pairs if set(one.subject.values()) == {"income", "day"}]
    assert not math.isnan(both.mean["spearman_original"])


def test_a_constant_amount_has_no_correlation(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = [{"a": rng.integers(5, size=300), "b": np.full(300, b)} for b in (3, 4)]
    for number, one in enumerate(columns):
        pq.write_table(pa.table(one), tmp_path / f"{number}.parquet")
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    results = [
        unveil.utility(unveil.Pair(*paths, engine=engine), measures="pairs", most_records=20)
        for engine in ("files", "memory")
    ]
    same(results[0].pairs, results[1].pairs)
    assert math.isnan(results[0].pairs[0].mean["pearson_original"])


def test_models_are_of_samples_and_it_is_said(files: list[str]) -> None:
    found = unveil.utility(pair_of(files), models="age ~ sex", **OPTIONS)
    samples = found.to_dict()["samples"]
    assert set(samples) == {"propensity", "models", "prediction"} == set(MOST_COUNTED)
    for part, told in samples.items():
        assert told == {"records": [40, 40, 40], "of": [700, 500, 300], "draws": DRAWS.get(part, 1)}
        assert any(note.startswith(f"{part} was computed on") for note in found.notes)
    assert all(not any(d.isdigit() for d in getattr(note, "public", note)) for note in found.notes)
    scores = [one for one in found.prediction if one.subject["score"] in ("MAE", "log_loss")]
    assert all(one.mean["se"] > 0 for one in scores if not one.undefined)
    assert found.mean["pMSE_logistic"] > 0


def test_nothing_depends_on_the_order_of_records_or_on_threads(files: list[str], tmp_path: Path) -> None:
    turned = []
    for number, path in enumerate(files):
        table = pq.read_table(path)
        order = np.random.default_rng(number).permutation(len(table))
        turned.append(str(tmp_path / Path(path).name))
        pq.write_table(table.take(order), turned[-1], row_group_size=33)
    first, again, other = (
        without_nan(unveil.utility(pair_of(paths), **OPTIONS | more).to_dict())
        for paths, more in ((files, {}), (turned, {"n_jobs": 1}), (files, {"seed": 4}))
    )
    assert again == first
    assert other["prediction"] != first["prediction"]
    assert other["variables"] == first["variables"]


@pytest.mark.parametrize("numbered", [True, False])
def test_every_record_is_drawn_equally_often(numbered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of several that are alike; by the numbers of cells, and by hashes where there are too many cells."""
    if not numbered:
        monkeypatch.setattr("unveil.engines.draw.MOST_NUMBERED", 1)
    letters = ["a"] * 9 + ["b"] * 5 + ["c", "d", "e"] * 2
    table = pa.table({"letter": letters, "number": [len(set(letters[: i + 1])) for i in range(len(letters))]})
    paths, most, draws = [str(tmp_path / f"{name}.parquet") for name in "os"], 6, 600
    for path in paths:
        pq.write_table(table, path)
    pair = unveil.Pair(*paths, engine="files")
    drawn: Counter[tuple[str, int]] = Counter()
    squares = 0
    for seed in range(draws):
        some = drawn_pair(pair, ["letter", "number"], most, seed)
        rows = list(zip(_texts(some, "letter"), _texts(some, "number"), strict=True))
        assert len(rows) == most
        drawn.update(rows)
        squares += rows.count(("a", "1")) ** 2
    held = Counter(zip(letters, map(str, table.column("number").to_pylist()), strict=True))
    assert set(drawn) <= set(held)
    expected = {row: draws * most * n / len(letters) for row, n in held.items()}
    for row, mean in expected.items():
        n = held[row]
        variance = most * n / len(letters) * (1 - n / len(letters)) * (len(letters) - most) / (len(letters) - 1)
        assert abs(drawn[row] - mean) < 4.5 * math.sqrt(draws * variance)
    # numbers of one kind vary as those drawn without replacement
    n = held["a", "1"]
    law = stats.hypergeom(len(letters), n, most)
    second = law.var() + law.mean() ** 2
    assert abs(squares / draws - second) < 4.5 * math.sqrt(law.expect(lambda k: (k**2 - second) ** 2) / draws)


def _texts(pair: unveil.Pair, name: str) -> list[str]:
    column = pair.column(name)
    return [column.labels[code] for code in column.original.tolist()]


def test_hashes_draw_whole_records_in_any_order(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unveil.engines.draw.MOST_NUMBERED", 1)
    names = ["sex", "age", "income", "day", "place"]
    pair = pair_of(files)
    some = drawn_pair(pair, names, 50, 1)
    rows = set(zip(*(_texts(pair_of(files, "memory"), name) for name in names), strict=True))
    drawn = list(zip(*(_texts(some, name) for name in names), strict=True))
    assert len(drawn) == 50
    assert set(drawn) <= rows
    # the first of the draw are a draw of fewer
    assert list(zip(*(_texts(drawn_pair(pair, names, 20, 1), n) for n in names), strict=True)) == drawn[:20]
    table = pq.read_table(files[0])
    turned = str(tmp_path / "turned.parquet")
    pq.write_table(table.take(np.random.default_rng(0).permutation(len(table))), turned, row_group_size=50)
    again = drawn_pair(pair_of([turned, *files[1:]]), names, 50, 1)
    assert list(zip(*(_texts(again, name) for name in names), strict=True)) == drawn


def test_weights_are_refused_in_one_line(files: list[str]) -> None:
    pair = unveil.Pair(files[0], files[1:], engine="files", weights="age")
    with pytest.raises(unveil.CallError, match=r"utility with design weights .* engine='memory'"):
        unveil.utility(pair, most_records=40)


def test_the_command_line_counts(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["utility", *files[:2], "--engine", "files", "--most-records", "40", "--permutations", "3"]
    status, said, error = called(words, monkeypatch, capsys)
    assert (status, error) == (0, "")
    assert "variables and pairs are exact" in " ".join(said.split())
