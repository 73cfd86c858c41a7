"""Copies of any size are drawn and written block by block."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import DataError, FileError
from unveil.files.write import write_blocks
from unveil.synthesis import sampling, sequence, synthetic_files
from unveil.synthesis.synthetic_files import synthesize_files

SIZE = 64


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sampling, sequence, synthetic_files):
        monkeypatch.setattr(module, "BLOCK", SIZE)


def people(n: int = 300) -> pa.Table:
    rng = np.random.default_rng(4)
    age = rng.integers(16, 90, n)
    income = np.where(rng.random(n) < 0.2, np.nan, np.round(age * 50.0 + rng.normal(size=n) * 300, 1))
    region = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 4, n), pa.int8()), ["n", "s", "e", "w"])
    return pa.table({"age": age, "income": pa.array(income, from_pandas=True), "region": region})


@pytest.mark.parametrize("options", [{}, {"smoothing": "density"}, {"proper": True}])
def test_blocks_are_the_copy(options: dict[str, Any]) -> None:
    fitted = unveil.CartSynthesizer(**options).fit(people(), seed=1)
    whole = fitted.sample(150, m=2, seed=3)
    for copy in (0, 1):
        blocks = list(fitted.sample_blocks(150, copy=copy, seed=3))
        assert [block.num_rows for block in blocks] == [64, 64, 22]
        found = pa.concat_tables([block.unify_dictionaries() for block in blocks]).to_pylist()
        assert found == whole[copy].to_pylist()
    # random numbers of its own for every block
    assert whole[0].slice(0, 64).to_pylist() != whole[0].slice(64, 64).to_pylist()
    assert whole[0].slice(0, 64).to_pylist() == fitted.sample(64, seed=3).to_pylist()
    assert fitted.sample(0, seed=1).num_rows == 0
    assert [block.num_rows for block in fitted.sample_blocks(0, seed=1)] == [0]


def test_a_large_copy_is_written_in_row_groups(tmp_path: Path) -> None:
    original = tmp_path / "people.parquet"
    pq.write_table(people(), original)
    made = synthesize_files(original, tmp_path / "made.parquet", m=1, k=150, seed=3)
    assert pq.ParquetFile(tmp_path / "made.parquet").num_row_groups == 3
    assert made.provenance.releases[0].records == 150
    fitted = unveil.CartSynthesizer().fit(original, seed=3)
    read = pq.read_table(tmp_path / "made.parquet")
    assert read.to_pylist() == fitted.sample(150, seed=3).to_pylist()
    # Older versions of Arrow read every dictionary with indices of 32 bits.
    plain = [[getattr(kind, "value_type", kind) for kind in table.schema.types] for table in (read, people())]
    assert plain[0] == plain[1]
    # text is written as a whole and holds the same records
    synthesize_files(original, tmp_path / "text.csv", m=1, k=150, seed=3)
    assert unveil.read(tmp_path / "text.csv").column("age").to_pylist() == read.column("age").to_pylist()
    several = synthesize_files(original, tmp_path / "two", m=2, k=150, seed=3)
    assert pq.read_table(several.paths.releases[0]).to_pylist() == read.to_pylist()
    assert pq.read_table(several.paths.releases[1]).to_pylist() == fitted.sample(150, m=2, seed=3)[1].to_pylist()


def test_an_error_between_blocks_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = tmp_path / "people.parquet"
    pq.write_table(people(), original)
    draw = sampling._drawn_block

    def failing(plans: Any, n: int, seed: int, key: Any, own: Any) -> Any:
        if len(key) > 2:
            raise DataError("the second block fails")
        return draw(plans, n, seed, key, own)

    monkeypatch.setattr(sampling, "_drawn_block", failing)
    with pytest.raises(DataError, match="second block"):
        synthesize_files(original, tmp_path / "made.parquet", m=1, k=150, seed=3)
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_a_file_that_exists_stays(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    path.write_bytes(b"old")
    with pytest.raises(FileError, match="exists"):
        write_blocks(iter([people()]), path)
    assert path.read_bytes() == b"old"
    write_blocks(iter([people(), people(10)]), path, overwrite=True)
    assert pq.read_table(path).num_rows == 310


def test_memory_is_asked_for_a_block_and_not_for_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unveil.synthesis import memory

    original = tmp_path / "people.parquet"
    pq.write_table(people(), original)
    monkeypatch.setattr(memory, "installed_memory", lambda: 3 * 4 * 100)
    synthesize_files(original, tmp_path / "made.parquet", m=1, k=150, seed=3)
    with pytest.raises(unveil.CallError, match="150 records of 3 variables are more than this machine has memory for"):
        synthesize_files(original, tmp_path / "made.csv", m=1, k=150, seed=3)


def test_wrong_numbers_are_refused_at_once() -> None:
    fitted = unveil.CartSynthesizer().fit(people())
    with pytest.raises(unveil.CallError, match="copy"):
        fitted.sample_blocks(10, copy=-1)
    with pytest.raises(unveil.CallError, match="nothing is fitted"):
        unveil.CartSynthesizer().sample_blocks(10)
