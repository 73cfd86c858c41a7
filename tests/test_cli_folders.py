"""Folders, patterns and engines on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import DataError
from unveil.synthesis.provenance import read_provenance


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = unveil.simulate.demo_population(400, seed=1)
    for year in (2019, 2020):
        (tmp_path / "people" / f"year={year}").mkdir(parents=True)
        pq.write_table(people.slice(200 * (year - 2019), 200), tmp_path / "people" / f"year={year}" / "0.parquet")
    pq.write_table(people.slice(0, 300), tmp_path / "release.parquet")
    return tmp_path


def run(folder: Path, call: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "unveil.cli", *call.split()]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=120)


def test_a_folder_and_a_pattern_with_every_engine(folder: Path) -> None:
    said = set()
    for engine in ("memory", "files --memory-limit 64MB --temp-dir ."):
        for original in ("people", "people/*/*.parquet"):
            for verb in ("identity --by region", "attribute --target depress", "structure", "keysets"):
                name, *more = verb.split()
                done = run(
                    folder, f"{name} {original} release.parquet --keys sex,age {' '.join(more)} --engine {engine}"
                )
                assert (done.returncode, done.stderr) == (0, "")
                said.add(done.stdout)
    assert len(said) == 4


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        ("--engine fast", 2, "engine must be"),
        ("--memory-limit much", 2, "memory_limit is a number of bytes, or a text such as '2GB', not 'much'"),
        ("--engine files --temp-dir nowhere", 2, "temp_dir: there is no folder 'nowhere'"),
        ("--json people/year=2019/0.parquet --overwrite", 2, "would be read with people; name another file"),
        ("--json people/new.json", 2, "would be read with people; name another file"),
    ],
)
def test_calls_that_are_refused(folder: Path, call: str, status: int, message: str) -> None:
    before = (folder / "people" / "year=2019" / "0.parquet").read_bytes()
    done = run(folder, f"identity people release.parquet --keys sex {call}")
    assert done.returncode == status
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert (folder / "people" / "year=2019" / "0.parquet").read_bytes() == before


def test_a_file_that_a_pattern_finds_is_not_replaced(folder: Path) -> None:
    done = run(folder, "identity people/*/0.parquet release.parquet --keys sex --json people/year=2019/0.parquet")
    assert "would be read with people/*/0.parquet" in done.stderr
    done = run(folder, "synthesize people -o people/made.parquet -m 1 --seed 1")
    assert done.returncode == 2
    assert "would be read with the files of people" in done.stderr


def test_a_release_that_is_made_of_a_folder_knows_it(folder: Path) -> None:
    done = run(folder, "synthesize people -o made.parquet -m 1 --seed 1")
    assert done.returncode == 0, done.stderr
    assert pq.read_table(folder / "made.parquet").column_names[-1] == "year"
    provenance = read_provenance(folder / "made.provenance.json")
    provenance.check_original(folder / "people")
    pq.write_table(pq.read_table(folder / "made.parquet"), folder / "people" / "year=2019" / "1.parquet")
    with pytest.raises(DataError, match="people is not the file that the release was made from"):
        provenance.check_original(folder / "people")
