"""Files that cannot be read batch by batch pass through an engine as well, with the same results."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from counted_figures import measured
from unveil.errors import UnveilError
from unveil.files.source import Variable
from unveil.files.write import write_table

SPELLED = {
    "amounts": ("1", "1.0", "2.50", "2.5", "01", "-8", "+3"),
    "thousands": ("1.234,5", "3.007,83", "12.000,00", "7,1", "0,50"),
    "days": ("13.04.1942", "01.02.1960", "31.12.2001"),
    "iso": ("2020-01-01", "2020-02-29"),
    "truths": ("TRUE", "FALSE", "true"),
    "words": ("yes", "no", " yes", "YES", "1", "NA"),
    "few numbers": ("1", "2", "x"),
}


def text_files(seed: int, folder: Path) -> tuple[list[str], list[str]]:
    """Files of text, each column in a spelling that may differ between files, and one of them a Parquet file."""
    rng = np.random.default_rng(seed)
    names = ["k", "l", "t", "u"]
    spelled = [SPELLED[str(kind)] for kind in rng.choice(list(SPELLED), 4)]
    files = []
    for number, n in enumerate((60, 50, 30)):
        columns = {}
        for name, values in zip(names, spelled, strict=True):
            chosen = values if rng.random() < 0.8 else SPELLED[str(rng.choice(list(SPELLED)))]
            columns[name] = [str(v) for v in rng.choice([*chosen, ""], n)]
        if number == 2 and seed % 3 == 0:
            files.append(str(folder / "2.parquet"))
            pq.write_table(pa.table(columns), files[-1])
            continue
        files.append(str(folder / f"{number}.csv"))
        lines = [";".join(names), *(";".join(row) for row in zip(*columns.values(), strict=True))]
        Path(files[-1]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files, names


def same(files: list[Any], names: list[str], **options: Any) -> None:
    results = []
    for engine in ("memory", "files"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", unveil.UnveilWarning)
            try:
                pair = unveil.Pair(files[0], files[1:], engine=engine, **options)
                results.append(measured(pair, names[:2], names[2:]))
            except UnveilError as error:
                # Where only counts are known, no record is named.
                results.append([re.sub(r", record \d+", "", str(error))])
    assert results[0] == results[1]


@pytest.mark.parametrize("seed", range(40))
def test_files_of_text(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.files.batches.BATCH", 17)
    files, names = text_files(seed, tmp_path)
    same(files, names)


@pytest.mark.parametrize("ending", [".feather", ".sav", ".dta", ".xpt", ".parquet"])
def test_files_of_other_programs(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if ending in (".sav", ".dta", ".xpt"):
        pytest.importorskip("pyreadstat", reason="for files of SPSS, Stata and SAS")
        if not (find_spec("pandas") or find_spec("polars")):
            pytest.skip("writing files of SPSS, Stata and SAS needs pandas or polars")
    monkeypatch.setattr("unveil.files.batches.BATCH", 17)
    rng = np.random.default_rng(4)
    files = []
    labels = {"k": Variable("k", labels={1: "one", 2: "two", 3: "three"})}
    for number, n in enumerate((60, 50, 30)):
        table = pa.table({
            "k": pa.array(rng.integers(1, 4, n), mask=rng.random(n) < 0.1),
            "l": pa.array(rng.choice(["a", "b", "c"], n)),
            "t": pa.array(rng.integers(0, 5, n) / 2, mask=rng.random(n) < 0.1),
            "u": pa.array(rng.integers(18000, 18003, n).astype(np.int32)).cast(pa.date32()),
        })  # fmt: skip
        files.append(str(tmp_path / f"{number}{ending}"))
        # SAS keeps no labels.
        write_table(table, files[-1], {} if ending == ".xpt" else labels)
    same(files, ["k", "l", "t", "u"])
    same(files, ["k", "l", "t", "u"], kinds={"k": "numeric", "t": "categorical"})


def test_frames_beside_files(tmp_path: Path) -> None:
    people, release = (unveil.simulate.demo_population(300, seed=seed) for seed in (1, 2))
    pq.write_table(people, tmp_path / "people.parquet")
    same([tmp_path / "people.parquet", release], ["sex", "age", "region", "depress"])


def test_errors_name_no_record_that_is_none(tmp_path: Path) -> None:
    """With counts, the place of a value is not that of a record."""
    (tmp_path / "o.csv").write_text("k,t\n1,1\n2,1\n1,1\n3,x\n")
    (tmp_path / "r.csv").write_text("k,t\n1,1\n")
    pq.write_table(pa.table({"k": [1, 2, 1, 3], "t": ["true", "true", "true", "x"]}), tmp_path / "o.parquet")
    pair = unveil.Pair(tmp_path / "o.parquet", tmp_path / "r.csv", engine="files", kinds={"t": "logical"})
    with pytest.raises(unveil.UnveilError, match=r"o\.parquet: column 't': 'x' is neither true nor false"):
        unveil.attribute(pair, ["k"], target="t")
    pair = unveil.Pair(tmp_path / "o.parquet", tmp_path / "r.csv", engine="memory", kinds={"t": "logical"})
    with pytest.raises(unveil.UnveilError, match=r"o\.parquet: column 't', record 4: 'x' is neither true nor false"):
        unveil.attribute(pair, ["k"], target="t")
