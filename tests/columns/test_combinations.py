"""Key combinations are numbered alike however they are found: by counting all there could be, by sorting, in steps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.columns import combinations
from unveil.columns.column import CodedColumn
from unveil.columns.combinations import SharedCombinations, fold_keys
from unveil.files.counts import BLOCK, count_codes, held_codes


def columns(levels: list[int], sizes: list[int], seed: int) -> list[CodedColumn]:
    """Columns of two codes that are far apart, or of any, whose levels nobody asks for."""
    rng = np.random.default_rng(seed)
    found = []
    for n in levels:
        pool = rng.integers(0, n, 5).astype(np.int32)
        files = [pool[rng.integers(0, 5, size)] for size in sizes]
        found.append(CodedColumn("x", "numeric", pa.nulls(n), False, files[0], tuple(files[1:])))
    return found


@pytest.mark.parametrize("way", ["counted", "sorted", "stepwise"])
@pytest.mark.parametrize("sizes", [[40, 30], [40, 0], [1, 50, 7], [3]], ids=str)
@pytest.mark.parametrize("levels", [[6, 5], [300, 7, 2], [1, 1], [40, 9, 3]], ids=str)
def test_combinations_ascend_and_are_counted(
    way: str, sizes: list[int], levels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "counted":
        monkeypatch.setattr(combinations, "_ALWAYS_DENSE", 0)
        monkeypatch.setattr(combinations, "_BITS", 63 if way == "sorted" else 0)
    monkeypatch.setattr(combinations, "blocks_of", lambda n: _blocks_of(n, 16))
    keys = columns(levels, sizes, 3)
    found = fold_keys(keys)
    rows = [list(zip(*(one.tolist() for one in file), strict=True)) for file in zip(*_files(keys), strict=True)]
    codes = [found.original.tolist(), *(one.tolist() for one in found.releases)]
    number = {row: code for file, of in zip(rows, codes, strict=True) for row, code in zip(file, of, strict=True)}
    assert [[number[row] for row in file] for file in rows] == codes
    ordered = sorted(number)
    assert [number[row] for row in ordered] == sorted(set(number.values()))
    for file, tally in zip(rows, found.tallies, strict=True):
        assert len(tally) == found.size
        assert {row: tally[number[row]] for row in set(file)} == Counter(file)
        assert tally.sum() == len(file)
    if way != "stepwise":
        assert found.size == len(ordered)


def _blocks_of(n: int, block: int) -> list[slice]:
    return [slice(start, min(start + block, n)) for start in range(0, n, block)]


def _files(keys: list[CodedColumn]) -> list[list[np.ndarray]]:
    return [[key.original, *key.releases] for key in keys]


def test_records_alone_with_their_keys_are_told_from_the_others() -> None:
    original, release = [0, 1, 1, 2, 3, 5], [2, 4, 6, 6, 7, 8, 9]
    column = CodedColumn("x", "numeric", pa.nulls(10), False, np.array(original), (np.array(release),))
    every = fold_keys([column])
    shared = SharedCombinations.of(every, 0)
    assert shared is not None
    # 1 and 6 are twice in one file, 2 is once in each
    assert [original[i] for i in shared.records[0]] == [1, 1, 2]
    assert [release[i] for i in shared.records[1]] == [2, 6, 6]
    assert (shared.q[0].tolist(), shared.q[1].tolist()) == ([0, 0, 1], [1, 2, 2])
    assert every.original[[1, 3]].tolist() == shared.numbers[:2].tolist()
    assert shared.left_out == (3, 4)
    # with two more that are not alone, less than half are
    column = CodedColumn("x", "numeric", pa.nulls(10), False, np.array([*original, 1, 1]), (np.array(release),))
    assert SharedCombinations.of(fold_keys([column]), 0) is None


@pytest.mark.parametrize("size", [3, 300, BLOCK, BLOCK + 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_codes_are_counted_over_blocks(size: int, dtype: type[np.integer]) -> None:
    n = 5 * BLOCK + 7
    codes = np.random.default_rng(1).integers(0, min(size, 255), n).astype(dtype)
    expected = Counter(codes.tolist())
    assert count_codes(codes, size).tolist() == [expected[i] for i in range(size)]
    assert np.flatnonzero(held_codes(codes, size)).tolist() == sorted(expected)
    assert count_codes(codes[:0], size).tolist() == [0] * size


def test_combinations_of_the_same_columns_are_found_once() -> None:
    table = pa.table({"a": [1, 2, 2], "b": ["x", "y", "y"], "c": [1, 1, 2]})
    pair = unveil.Pair(table, table)
    one = unveil.identity(pair, ["a", "b"])
    two = unveil.attribute(pair, ["a", "b"], target="c")
    assert one._study.combinations is two._source.study.combinations
    other = unveil.identity(pair, ["b", "a"])
    assert other._study.combinations is not one._study.combinations
    assert other.repU == one.repU == pytest.approx(100 / 3)
    part = pair.part(np.array([0, 1]), [0])
    assert unveil.identity(part, ["a", "b"]).UiO == 100
