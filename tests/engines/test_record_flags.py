"""What is said of single records, and by level, is the same where an engine counts, and no column is kept for it."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.cli import main
from unveil.errors import DataError, FileError

KEYS = ["code", "amount"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_keys_na": False, "use_target_na": False},
    {"ngroups_keys": {"amount": 3}, "ngroups_target": None},
    {"exclude_pairs": [("code", 3, "b")], "not_target_levels": ["a"]},
    {"denom_limit": 3, "exclude_over_denom_limit": True},
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """An original and two releases, in small row groups."""
    rng = np.random.default_rng(3)
    found = []
    for number, n in enumerate((240, 180, 90)):
        table = pa.table({
            "code": pa.array(rng.integers(0, 6, n), mask=rng.random(n) < 0.1),
            "amount": rng.integers(0, 40, n) / 4,
            "letter": pa.array(rng.choice(list("abc"), n), mask=rng.random(n) < 0.2),
            "place": rng.integers(0, 5, n) * 2**40,
        })  # fmt: skip
        found.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(table, found[-1], row_group_size=50)
    return found


def counted(files: list[str], most: int | None = None) -> unveil.Pair:
    """A pair whose records pass by; counts of more places than ``most`` are put aside."""
    pair = unveil.Pair(files[0], files[1:], engine="files")
    if most is not None:
        pair.engine._most = most  # type: ignore[union-attr]
    return pair


def risks(pair: unveil.Pair, **options: Any) -> list[Any]:
    own = {name: value for name, value in options.items() if name in ("use_keys_na", "ngroups_keys")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unveil.UnveilWarning)
        return [unveil.identity(pair, KEYS, **own), unveil.attribute(pair, KEYS, target="letter", **options)]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: next(iter(o), "all"))
@pytest.mark.parametrize("most", [None, 20], ids=["counted", "spilled, in many readings"])
def test_rows_are_those_of_columns_in_memory(
    options: dict[str, Any], most: int | None, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for module in ("files.columnar", "engines.record_rows"):
        monkeypatch.setattr(f"unveil.{module}.BATCH", 64)
    pair = counted(files, most)
    expected = risks(unveil.Pair(files[0], files[1:], engine="memory"), **options)
    for one, other in zip(expected, risks(pair, **options), strict=True):
        for release in range(2):
            rows = one.records(release, flavour="arrow")
            assert other.records(release, flavour="arrow").equals(rows)
            for column in ("place", "letter", "code", "amount"):
                assert other.by(column, release).equals(one.by(column, release)), column
            written = tmp_path / f"{type(other).__name__}{release}.parquet"
            other.write_records(written, release)
            assert pq.read_table(written).equals(rows)
    assert pair._columns == {}


def test_a_file_that_only_its_owner_reads(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    for pair in (counted(files), unveil.Pair(*files[:2])):
        risks(pair)[0].write_records(path, overwrite=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(FileError, match=r"rows\.parquet: the file exists"):
            risks(pair)[0].write_records(path)
    assert sorted(os.listdir(tmp_path)) == ["0.parquet", "1.parquet", "2.parquet", "rows.parquet"]


def test_an_ending_that_holds_no_parts(files: list[str], tmp_path: Path) -> None:
    risks(counted(files))[1].write_records(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text().startswith('"record","d_q","s_q","ps"')


def test_records_that_change_meanwhile(files: list[str], tmp_path: Path) -> None:
    """The file is written as a whole or not at all."""
    pair = counted(files)
    risk = risks(pair)[0]
    for file in pair.engine._files:  # type: ignore[union-attr]
        file.kept = []
    other = str(tmp_path / "other.parquet")
    table = pq.read_table(files[0])
    pq.write_table(table.set_column(0, "code", table.column("code").take(pa.array(np.arange(240)[::-1]))), other)
    pair.engine._files[0].source = unveil.files.opening.open_source(other)  # type: ignore[union-attr]
    with pytest.raises(DataError, match="the records are not those that were counted; leave the data alone"):
        risk.write_records(tmp_path / "rows.parquet")
    assert not (tmp_path / "rows.parquet").exists()


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens:UserWarning")
@pytest.mark.parametrize("verb", [["identity"], ["attribute", "--target", "letter"]], ids=lambda v: v[0])
def test_command_line(
    verb: list[str], files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    found = []
    for engine in ("memory", "files"):
        path = tmp_path / f"{engine}.parquet"
        words = [verb[0], *files[:2], "--keys", ",".join(KEYS), *verb[1:], "--engine", engine, "--by", "place"]
        monkeypatch.setattr("sys.argv", ["unveil", *words, "--records", str(path)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        said = capsys.readouterr()
        assert "holds figures of every single person" in said.err
        found.append((said.out, pq.read_table(path)))
    assert found[0][0] == found[1][0]
    assert found[0][1].equals(found[1][1])
