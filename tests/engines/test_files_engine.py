"""Counting batch by batch gives the integers that counting in memory gives."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from counted_figures import measured
from unveil.columns.counted import held_values
from unveil.engines.key_range import CodedValues, Layout
from unveil.engines.raw_values import RawValues
from unveil.engines.spill import Spill
from unveil.engines.streamed import Streamed
from unveil.errors import CallError, DataError
from unveil.files.opening import open_source

KINDS = (
    "whole",
    "wide",
    "real",
    "single",
    "text",
    "category",
    "flag",
    "day",
    "time",
    "decimal",
    "bytes",
    "number text",
)
KINDS_OF_ALL_ENGINES = tuple(kind for kind in KINDS if kind != "category")
"""Those of which DuckDB and Spark know all that Parquet files say: of a dictionary they know no order of levels."""


def column(kind: str, rng: np.random.Generator, n: int, gaps: float) -> pa.Array:
    """A column with gaps, special codes, odd types, Unicode, numbers as text, dates."""
    code = rng.integers(0, rng.integers(2, 9), n)
    day = datetime.date(2020, 2, 28)
    made: dict[str, Any] = {
        "whole": lambda: pa.array(np.where(code == 0, -8, code * 3)),
        "wide": lambda: pa.array(code * 2**45 - 7),
        "real": lambda: pa.array(np.choose(code % 4, [0.0, -0.0, np.nan, 0.1]) + code // 4),
        "single": lambda: pa.array((code / 10).astype(np.float32)),
        "text": lambda: pa.array([["a", "A", " a", "é", "e\u0301", "", "zażółć", "null", "-8"][c] for c in code]),
        "category": lambda: pa.array([["low", "mid", "high"][c % 3] for c in code]).dictionary_encode(),
        "flag": lambda: pa.array(code % 2 == 0),
        "day": lambda: pa.array([day + datetime.timedelta(int(c)) for c in code]),
        "time": lambda: pa.array([datetime.datetime(2020, 1, 1, int(c)) for c in code], pa.timestamp("ms")),
        "decimal": lambda: pa.array([decimal.Decimal(int(c)).scaleb(-2) for c in code], pa.decimal128(10, 2)),
        "bytes": lambda: pa.array([b"\x00\xff"[: c % 3] for c in code]),
        "number text": lambda: pa.array([["1", "1.0", "01", "2", "-8", "x", "", "1e3", "٣"][c] for c in code]),
    }
    values = made[kind]()
    mask = pa.array(rng.random(n) < gaps)
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(pa.compute.if_else(mask, None, values.indices), values.dictionary)
    return pa.compute.if_else(mask, pa.scalar(None, values.type), values)


def slow_from(first: int) -> list[Any]:
    """200 seeds; those from the first on are marked as slow."""
    return [seed if seed < first else pytest.param(seed, marks=pytest.mark.slow) for seed in range(200)]


def random_files(seed: int, folder: Path, of: Sequence[str] = KINDS) -> tuple[list[str], list[str]]:
    """An original and two releases as Parquet files, and the kinds of their columns."""
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(of, 4, replace=False)]
    files = []
    for number, n in enumerate((120, 90, 40)):
        table = pa.table({kind: column(kind, rng, n, rng.choice([0, 0.1])) for kind in kinds})
        files.append(str(folder / f"{number}.parquet"))
        pq.write_table(table, files[-1], row_group_size=int(rng.integers(5, 60)))
    return files, kinds


@pytest.mark.parametrize("seed", slow_from(30))
def test_batches_give_the_same_as_columns_in_memory(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr("unveil.files.columnar.BATCH", 37)
    files, kinds = random_files(seed, tmp_path)
    results = []
    for engine in ("memory", "files"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", unveil.UnveilWarning)
            try:
                pair = unveil.Pair(files[0], files[1:], engine=engine)
                results.append(measured(pair, kinds[:2], kinds[2:]))
            except DataError as error:
                results.append([str(error)])
    assert results[0] == results[1]


OPTIONS: list[dict[str, Any]] = [
    {"use_keys_na": False},
    {"use_target_na": False, "denom_limit": 3, "exclude_over_denom_limit": True},
    {"ngroups_keys": {"amount": 3}},
    {"exclude_pairs": [("code", 3, "b")], "not_target_levels": ["a"]},
    {"check_1way": (1, 10), "check_2way": (0, 10)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: next(iter(o)))
@pytest.mark.parametrize("places", ["tally", "counts", "sorted", "spill"])
def test_options_and_ways_of_counting(
    options: dict[str, Any], places: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However cells are counted, exclusions, groups and checks find the same."""
    rng = np.random.default_rng(3)
    files = []
    for number in range(3):
        n = 200
        table = pa.table({
            "code": pa.array(rng.integers(0, 6, n), mask=rng.random(n) < 0.1),
            "amount": rng.integers(0, 40, n) / 4,
            "letter": pa.array(rng.choice(list("abc"), n), mask=rng.random(n) < 0.2),
        })  # fmt: skip
        files.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(table, files[-1], row_group_size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unveil.UnveilWarning)
        memory = unveil.attribute(unveil.Pair(files[0], files[1:]), ["code", "amount"], targets=["letter"], **options)
        pair = unveil.Pair(files[0], files[1:], engine="files")
        engine = pair.engine
        assert isinstance(engine, Streamed)
        if places == "counts":
            for name in ("code", "amount", "letter"):
                for file in range(3):
                    engine.values_of(file, name)
        elif places != "tally":
            monkeypatch.setattr(engine, "_most", 5 if places == "spill" else 600)
        found = unveil.attribute(pair, ["code", "amount"], targets=["letter"], **options)
    assert repr(found[0].to_dict()) == repr(memory[0].to_dict())
    assert repr(found[0].intervals(seed=2)) == repr(memory[0].intervals(seed=2))


def test_ranges_are_whole_combinations() -> None:
    """Whatever is spilled comes back once, and no combination is in two ranges."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 5000, 20_000) ** 2 // 5000
    with Spill(width=6, ranges=16) as spill:
        for block in np.split(codes.copy(), 8):
            spill.add(block)
        parts = list(spill.by_range())
    assert len(parts) > 8
    together = np.concatenate([np.repeat(code, records) for code, records in parts])
    assert np.array_equal(together, np.sort(codes))
    seen = [set((code // 6).tolist()) for code, _ in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))


def test_raw_values_keep_what_the_file_holds() -> None:
    raw = RawValues(pa.float64())
    codes = raw.encode(pa.array([0.0, -0.0, None, 0.1, 0.0])).counts(len(raw))
    assert sorted(map(str, raw.values().to_pylist())) == ["-0.0", "0.0", "0.1"]
    assert codes[0] == 1
    assert codes.sum() == 5


def test_numbers_far_apart_are_hashed() -> None:
    """A table of places would not fit; codes given before stay."""
    raw = RawValues(pa.int64())
    first = raw.encode(pa.array([5, 7, None])).index.tolist()
    later = raw.encode(pa.array([2**62, 5, -(2**62), None, 7]))
    assert later.codes is not None
    places = later.codes[later.index].tolist()
    assert (places[1], places[3], places[4]) == (first[0], first[2], first[1])
    assert len(raw) == 5
    assert raw.values().to_pylist()[:2] == [5, 7]


def test_nothing_is_left_of_what_was_put_aside(tmp_path: Path) -> None:
    with Spill(width=1, folder=str(tmp_path)) as spill:
        spill.add(np.arange(1000))
        assert os.listdir(tmp_path) == []


def test_no_room_for_what_is_put_aside(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"counts could not be put aside in .*missing.*temp_dir"):
        Spill(width=1, folder=str(tmp_path / "missing"))


def test_too_many_combinations() -> None:
    wide = CodedValues("k", 2**21, (np.zeros(1, np.int64),) * 2)
    with pytest.raises(CallError, match="more than can be counted out of memory"):
        Layout.of([wide] * 3, [], 2)


def test_many_keys_are_folded_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where combinations cannot be numbered, the engine that nobody asked for steps back."""
    monkeypatch.setattr("unveil.engines.choice._MANY", 1)
    rng = np.random.default_rng(1)
    keys = [f"k{i}" for i in range(9)]
    files = []
    for number in range(2):
        files.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(pa.table({key: rng.integers(0, 150, 300) for key in [*keys, "t"]}), files[-1])
    found = [unveil.attribute(unveil.Pair(*files, engine=engine), keys, target="t") for engine in ("memory", "auto")]
    assert repr(found[0].to_dict()) == repr(found[1].to_dict())
    assert unveil.Pair(*files).engine is not None
    with pytest.raises(CallError, match="more than can be counted out of memory"):
        unveil.attribute(unveil.Pair(*files, engine="files"), keys, target="t")


def test_a_release_without_records(tmp_path: Path) -> None:
    table = pa.table({"k": ["a", "b", "b"], "t": [1, 2, 2]})
    pq.write_table(table, tmp_path / "original.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "release.parquet")
    found = []
    for engine in ("memory", "files"):
        pair = unveil.Pair(str(tmp_path / "original.parquet"), str(tmp_path / "release.parquet"), engine=engine)
        found.append(repr((unveil.identity(pair, "k").to_dict(), unveil.attribute(pair, "k", target="t").to_dict())))
    assert found[0] == found[1]


def test_files_that_cannot_be_read_in_batches(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,t\n1,2\n")
    frame = pa.table({"k": [1], "t": [2]})
    pair = unveil.Pair(str(tmp_path / "a.csv"), frame, engine="files")
    assert unveil.identity(pair, "k").repU == 100


def test_source_without_batches_passes_by_too() -> None:
    source = open_source(pa.table({"k": ["a", None, "a"]}))
    counted = Streamed([source]).values_of(0, "k")
    found, raw = held_values(counted, source, "k")
    assert dict(zip(found.codes.tolist(), counted.records[raw].tolist(), strict=True)) == {0: 2, 1: 1}
    assert found.values.to_pylist() == ["a"]


def test_files_are_read_once_for_targets_and_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted beside a target serves the keys alone, and batches that fit are kept."""
    monkeypatch.setattr("unveil.engines.streamed._FEWEST_PLACES", 0)
    table = pa.table({"k": ["a", "b", "b"] * 50, "u": np.arange(150) % 7, "t": np.arange(150) % 4})
    files = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for number, file in enumerate(files):
        pq.write_table(table.slice(number), file)
    pair = unveil.Pair(*files, engine="files")
    assert isinstance(pair.engine, Streamed)
    read: list[list[str]] = []
    for file in pair.engine._files:
        whole = file.source.batches
        assert whole is not None
        counted = lambda names, whole=whole: read.append(list(names)) or whole(names)  # noqa: E731
        file.source = dataclasses.replace(file.source, batches=counted)
    unveil.attribute(pair, ["k", "u"], target="t")
    found = unveil.identity(pair, ["k", "u"])
    assert read == [["k", "u", "t"]] * 2
    assert found.to_dict() == unveil.identity(unveil.Pair(*files, engine="memory"), ["k", "u"]).to_dict()
