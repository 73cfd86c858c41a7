"""A folder of Parquet files, or a pattern of their names, in the place of one file."""

from __future__ import annotations

import datetime
import decimal
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import FileError
from unveil.files.digest import sha256, size_of
from unveil.files.opening import open_source

TABLE = pa.table({
    "name": ["a", "b", None, "é", "a", "c"],
    "n": pa.array([1, 2, 3, None, 5, 2**60]),
    "x": [0.5, -0.0, float("nan"), None, 0.1, 1e300],
    "day": pa.array([datetime.date(2020, 1, d) for d in range(1, 7)]),
    "group": pa.array(["lo", "hi", "lo", "hi", "lo", "hi"]).dictionary_encode(),
})  # fmt: skip


def write(folder: Path, files: dict[str, pa.Table]) -> Path:
    for name, table in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name)
    return folder


@pytest.fixture
def people(tmp_path: Path) -> Path:
    parts = {"b.parquet": TABLE.slice(2, 1), "a.parquet": TABLE.slice(0, 2), "c/d.parquet": TABLE.slice(3),
             "bb.parquet": TABLE.slice(0, 0)}  # fmt: skip
    folder = write(tmp_path / "people", parts)
    (folder / "_SUCCESS").touch()
    (folder / ".a.parquet.crc").touch()
    (folder / "readme.md").touch()
    write(folder, {"_temporary/0.parquet": TABLE, ".hidden.parquet": TABLE})
    return folder


@pytest.mark.parametrize("pattern", ["people", "people/", "people/**/*.parquet", "peo?le"])
def test_a_folder_is_its_files_one_after_the_other(people: Path, tmp_path: Path, pattern: str) -> None:
    pq.write_table(TABLE, tmp_path / "one.parquet")
    one, many = open_source(tmp_path / "one.parquet"), open_source(f"{tmp_path}/{pattern}")
    assert (many.names, many.num_rows) == (one.names, one.num_rows)
    for name in TABLE.column_names:
        assert repr(many.column(name).to_pylist()) == repr(one.column(name).to_pylist())
        assert many.column(name).type == one.column(name).type
    assert many.variables == one.variables
    batches = list(many.batches(["n", "name"]))
    assert [b["n"].to_pylist() for b in batches if len(b["n"])] == [[1, 2], [3], [None, 5, 2**60]]


def test_names_of_folders_are_columns(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", {
        "year=2019/region=a%2Fb/0.parquet": TABLE.slice(0, 2),
        "year=2020/region=%C3%A9/0.parquet": TABLE.slice(2, 1),
        "year=-3/region=__HIVE_DEFAULT_PARTITION__/0.parquet": TABLE.slice(3, 2),
        "year=__HIVE_DEFAULT_PARTITION__/region=07/0.parquet": TABLE.slice(5),
    })  # fmt: skip
    source = open_source(folder)
    assert source.names == (*TABLE.column_names, "year", "region")
    assert source.column("year").to_pylist() == [-3, -3, 2019, 2019, 2020, None]
    assert source.column("region").to_pylist() == [None, None, "a/b", "a/b", "é", "07"]
    assert [len(b["year"]) for b in source.batches(["year"])] == [2, 2, 1, 1]
    assert [b["region"].to_pylist() for b in source.batches(["n", "region"])][1] == ["a/b", "a/b"]
    pattern = open_source(f"{folder}/year=2*/*")
    assert pattern.label == "f/year=2*/*"
    assert pattern.column("year").to_pylist() == [2019, 2019, 2020]
    assert "year" not in open_source(folder / "year=2019")
    assert open_source(folder / "year=2019").names[-1] == "region"


def test_leading_zeros_of_folders_are_kept(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", {f"code={code}/0.parquet": TABLE for code in ("01", "2")})
    assert set(open_source(folder).column("code").to_pylist()) == {"01", "2"}


WIDER: list[tuple[pa.Array, pa.Array, Any]] = [
    (pa.array([1, 2], pa.int8()), pa.array([2**60]), [1, 2, 2**60]),
    (pa.array([1], pa.uint8()), pa.array([2**63], pa.uint64()), ["1", "9223372036854775808"]),
    (pa.array([1]), pa.array([0.1], pa.float32()), [1.0, 0.1]),
    (pa.array([0.1], pa.float32()), pa.array([0.1]), [0.1, 0.1]),
    (pa.array(["a"]), pa.array(["b"], pa.large_string()), ["a", "b"]),
    (pa.array(["a"]), pa.array(["b"]).dictionary_encode(), ["a", "b"]),
    (pa.array([None, None]), pa.array(["b"]), [None, None, "b"]),
    (pa.array([decimal.Decimal("1.25")], pa.decimal128(10, 2)),
     pa.array([decimal.Decimal("7.5")], pa.decimal128(38, 1)), [1.25, 7.5]),
    (pa.array([datetime.datetime(2020, 1, 1)], pa.timestamp("s")),
     pa.array([datetime.datetime(2020, 1, 1)], pa.timestamp("us")), [datetime.datetime(2020, 1, 1)] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "together"), WIDER)
@pytest.mark.parametrize("turned", [False, True])
def test_types_of_different_width(tmp_path: Path, one: pa.Array, other: pa.Array, together: Any, turned: bool) -> None:
    names = ["1", "0"] if turned else ["0", "1"]
    files = {f"{name}.parquet": pa.table({"k": array}) for name, array in zip(names, (one, other), strict=True)}
    source = open_source(write(tmp_path / "f", files))
    expected = together[len(one) :] + together[: len(one)] if turned else together
    assert source.column("k").to_pylist() == expected
    assert len({batch["k"].type for batch in source.batches(["k"])}) == 1


UNLIKE: list[tuple[pa.Array, pa.Array, str]] = [
    (pa.array(["a"]), pa.array([1]), r"f/1\.parquet: column 'k' is of type int64, in files before it of string"),
    (pa.array([1.5]), pa.array([2**53 + 1]), r"f/1\.parquet: column 'k' holds values that double, .* does not keep"),
    (pa.array([-1]), pa.array([2**63], pa.uint64()), r"f/1\.parquet: column 'k' holds values that int64"),
    (pa.array([True]), pa.array([1]), "column 'k' is of type int64, in files before it of bool"),
    (pa.array([decimal.Decimal("1.25")]), pa.array([1.25]), "column 'k' is of type double, .* of decimal128"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "message"), UNLIKE)
def test_types_that_differ(tmp_path: Path, one: pa.Array, other: pa.Array, message: str) -> None:
    folder = write(tmp_path / "f", {"0.parquet": pa.table({"k": one}), "1.parquet": pa.table({"k": other})})
    with pytest.raises(FileError, match=message):
        open_source(folder).column("k")


def test_columns_that_differ(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", {"0.parquet": TABLE, "1.parquet": TABLE.drop_columns(["x"])})
    with pytest.raises(FileError, match=r"f/1\.parquet has no column 'x', which f/0\.parquet has"):
        open_source(folder)
    folder = write(tmp_path / "g", {"0.parquet": TABLE.drop_columns(["x"]), "1.parquet": TABLE})
    with pytest.raises(FileError, match=r"g/0\.parquet has no column 'x', which g/1\.parquet has"):
        open_source(folder)
    reordered = write(tmp_path / "h", {"0.parquet": TABLE, "1.parquet": TABLE.select(TABLE.column_names[::-1])})
    assert open_source(reordered).column("name").to_pylist() == TABLE["name"].to_pylist() * 2


def test_folders_that_cannot_be_read(tmp_path: Path) -> None:
    def refused(path: str, message: str) -> None:
        with pytest.raises(FileError, match=message) as caught:
            open_source(f"{tmp_path}/{path}")
        assert "\n" not in str(caught.value)

    (tmp_path / "empty").mkdir()
    refused("empty", r"empty: a folder or pattern stands for Parquet files .* and it holds none")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.csv").write_text("a\n1\n")
    refused("texts", r"texts: .* it holds a\.csv; name files of other formats one by one")
    refused("texts/*.csv", r"texts/\*\.csv: .* it holds a\.csv")
    refused("texts/*.sav", r"texts/\*\.sav: no file has such a name in")
    write(tmp_path / "texts", {"b.parquet": TABLE})
    refused("texts", r"texts: beside Parquet files there is a\.csv; move it")
    assert open_source(f"{tmp_path}/texts/*.parquet").num_rows == 6
    write(tmp_path / "mixed", {"y=1/0.parquet": TABLE, "1.parquet": TABLE})
    refused("mixed", r"mixed/y=1/0\.parquet: its folders name 'y', those of mixed/1\.parquet no column")
    write(tmp_path / "delta", {"0.parquet": TABLE, "_delta_log/0.parquet": TABLE})
    refused("delta", "delta: a table of Delta Lake, whose folder also holds records that were changed or deleted")
    write(tmp_path / "damaged", {"0.parquet": TABLE})
    (tmp_path / "damaged" / "1.parquet").write_bytes(b"PAR1")
    refused("damaged", r"damaged/1\.parquet: not a complete Parquet file")
    write(tmp_path / "loop", {"0.parquet": TABLE})
    (tmp_path / "loop" / "back").symlink_to(tmp_path / "loop")
    refused("loop", "loop: a link leads back to the folder back")


def test_a_linked_folder_is_part_of_the_folder(people: Path, tmp_path: Path) -> None:
    write(tmp_path / "more", {"0.parquet": TABLE})
    (tmp_path / "more" / "linked").symlink_to(people)
    assert open_source(tmp_path / "more").num_rows == 12


@pytest.mark.parametrize("removed", [True, False])
def test_a_file_that_is_removed_or_changed_meanwhile(people: Path, removed: bool) -> None:
    source = open_source(people)
    if removed:
        (people / "b.parquet").unlink()
    else:
        pq.write_table(TABLE, people / "b.parquet")
    word = "removed" if removed else "changed"
    with pytest.raises(FileError, match=rf"people/b\.parquet: the file was {word} after it was opened; open it again"):
        source.column("n")


def test_many_files_are_not_all_open_at_once(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    folder = write(tmp_path / "f", {f"{i:03}.parquet": TABLE for i in range(80)})
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 30, before[1]))
    try:
        assert len(open_source(folder).column("n")) == 480
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_digest_and_size(people: Path, tmp_path: Path) -> None:
    before = sha256(people)
    assert before == sha256(f"{people}/**/*.parquet")
    assert size_of(people) == sum((people / n).stat().st_size for n in ("a.parquet", "b.parquet", "bb.parquet",
                                                                        "c/d.parquet"))  # fmt: skip
    people.rename(tmp_path / "renamed")
    assert sha256(tmp_path / "renamed") == before
    (tmp_path / "renamed" / "b.parquet").rename(tmp_path / "renamed" / "z.parquet")
    assert sha256(tmp_path / "renamed") != before


def test_a_folder_given_twice_is_the_original_itself(people: Path) -> None:
    with pytest.warns(unveil.UnveilWarning, match="is the original itself"):
        unveil.Pair(people, f"{people}/**/*.parquet")
    assert not open_source(people).is_file_of(open_source(people / "a.parquet"))


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_measures_of_a_folder_are_those_of_its_records(tmp_path: Path, engine: Any) -> None:
    original = unveil.simulate.demo_population(900, seed=1)
    release = unveil.simulate.demo_population(700, seed=2)
    for name, table in (("o", original), ("r", release)):
        parts = {}
        for sex in set(table["sex"].to_pylist()):
            chosen = table.filter(pa.compute.equal(table["sex"], sex)).drop_columns(["sex"])
            parts |= {f"sex={sex}/0.parquet": chosen.slice(0, 90), f"sex={sex}/1.parquet": chosen.slice(90)}
        write(tmp_path / name, parts)
    pairs = [unveil.Pair(tmp_path / "o", tmp_path / "r", engine=engine), unveil.Pair(original, release)]
    one, other = (unveil.attribute(pair, ["sex", "age", "region"], target="depress") for pair in pairs)
    assert np.array_equal([one.DiSCO, one.DCAPd], [other.DiSCO, other.DCAPd])
