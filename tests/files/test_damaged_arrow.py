"""Parquet and Arrow data that are not what they say: refused in one line, never used."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unveil.errors import DataError, FileError, UnveilWarning
from unveil.files import arrow_checks
from unveil.files.opening import open_source
from unveil.files.source import Variable
from unveil.files.write import write_table

N = 60
PEOPLE = pa.table({"sex": ["f", "m", None] * 20, "age": list(range(N)), "town": [f"town {i}" for i in range(N)]})


def buffers(kind: pa.DataType, n: int, *parts: bytes | None) -> pa.Array:
    return pa.Array.from_buffers(kind, n, [None if part is None else pa.py_buffer(part) for part in parts])


def offsets(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little", signed=True) for value in values)


def coded(index: int, kind: str = "int32") -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, index], kind), pa.array(["a", "b"]), safe=False)


def with_a_gap(at_gap: int, behind: int, gaps: int = 1) -> pa.Array:
    parts = [pa.py_buffer(b"\x05"), pa.py_buffer(offsets(0, at_gap, behind))]
    kind = pa.dictionary(pa.int32(), pa.string())
    return pa.DictionaryArray.from_buffers(kind, 3, parts, pa.array(["a", "b"]), null_count=gaps)


BAD: dict[str, Callable[[], pa.Array]] = {
    "an index beyond the dictionary": lambda: coded(2),
    "an index far beyond": lambda: coded(2**31 - 1),
    "an index below": lambda: coded(-1),
    "an index below in 64 bits": lambda: coded(-(2**62), "int64"),
    "an index beyond the dictionary behind a gap": lambda: with_a_gap(0, 2),
    "more gaps than there are": lambda: with_a_gap(0, 1, gaps=2),
    "bytes that are no text": lambda: buffers(pa.string(), 3, None, offsets(0, 1, 2, 3), b"a\xffb"),
    "half a character at the end": lambda: buffers(pa.string(), 2, None, offsets(0, 1, 2), "aé".encode()[:2]),
    "offsets that fall": lambda: buffers(pa.string(), 3, None, offsets(0, 2, 1, 3), b"abc"),
    "offsets far apart": lambda: buffers(pa.string(), 3, None, offsets(0, 1 << 30, 2, 3), b"abc"),
    "a dictionary that is no text": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0], "int32"), buffers(pa.string(), 2, None, offsets(0, 1, 2), b"\xff\xfe")
    ),
    "a time of 30 hours": lambda: buffers(pa.time32("s"), 3, None, offsets(1, 2, 30 * 3600)),
}


def as_file(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def as_stream(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("how", ["file", "stream", "frame"])
def test_what_is_not_what_it_says_is_refused(tmp_path: Path, what: str, how: str):
    array = BAD[what]()
    table = pa.table({"x": array, "y": pa.nulls(len(array), pa.int64())})
    path = tmp_path / "people.arrow"
    data: Any = path
    if how == "frame":
        data = table
    else:
        (as_file if how == "file" else as_stream)(table, path)
    with pytest.raises(DataError, match=r"people\.arrow|data: column 'x' is damaged") as caught:
        open_source(data).column("x")
    assert "\n" not in str(caught.value)
    assert open_source(data).column("y").null_count == len(array)


def test_the_index_of_a_gap_is_not_looked_at(tmp_path: Path):
    as_file(pa.table({"x": with_a_gap(99, 1)}), tmp_path / "people.arrow")
    assert open_source(tmp_path / "people.arrow").column("x").to_pylist() == ["a", None, "b"]


def test_a_dictionary_whose_order_is_declared_is_looked_at_before_its_levels_are_taken(tmp_path: Path):
    levels = buffers(pa.string(), 2, None, offsets(0, 1 << 30, 2), b"ab")
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), levels, ordered=True)
    as_file(pa.table({"x": array}), tmp_path / "people.arrow")
    with pytest.raises(DataError, match=r"people\.arrow"):
        open_source(tmp_path / "people.arrow")


# -------------------------------------------------------------------------------------------- counts of records
def batches(path: Path, n: int, new: Callable[..., Any] = pa.ipc.new_file) -> bytes:
    with pa.OSFile(str(path), "wb") as sink, new(sink, PEOPLE.schema) as writer:
        writer.write_table(PEOPLE.slice(0, 20 * n), max_chunksize=20)
    return path.read_bytes()


def test_records_that_the_end_of_an_arrow_file_does_not_count_are_missed(tmp_path: Path):
    path = tmp_path / "people.arrow"
    three, two = batches(path, 3), batches(path, 2)
    end = b"\xff\xff\xff\xff" + bytes(4)
    path.write_bytes(three[: three.rindex(end)] + two[two.rindex(end) :])
    assert pa.ipc.open_file(str(path)).read_all().num_rows == 40
    with pytest.raises(FileError, match=r"people\.arrow: holds more records than the end of the file says"):
        open_source(path)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_a_stream_that_is_cut_between_its_parts_is_warned_of(tmp_path: Path, n: int):
    path = tmp_path / "people.arrow"
    whole, part = batches(path, 3, pa.ipc.new_stream), batches(path, n, pa.ipc.new_stream)
    path.write_bytes(whole[: len(part) - 8])
    with pytest.warns(UnveilWarning, match=r"people\.arrow: has no mark at its end, so that records may be missing"):
        source = open_source(path)
    assert source.num_rows == 20 * n
    path.write_bytes(whole)
    assert open_source(path).num_rows == 60


def test_what_comes_after_the_end_of_a_stream_is_not_passed_over(tmp_path: Path):
    path = tmp_path / "people.arrow"
    whole = batches(path, 2, pa.ipc.new_stream)
    path.write_bytes(whole + whole)
    with pytest.raises(FileError, match=rf"people\.arrow: goes on for {len(whole)} bytes after the end"):
        open_source(path)
    path.write_bytes(whole + bytes(56))
    assert open_source(path).num_rows == 40


def test_a_parquet_file_that_contradicts_itself_about_its_records(tmp_path: Path):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    # Thrift writes the file's 60 records as a field of type 6 and the number 2 * 60; then it says 59.
    at = content.index(b"\x16\x78", footer)
    content[at + 1] = 0x76
    path.write_bytes(bytes(content))
    assert pq.ParquetFile(path).metadata.num_rows == 59
    with pytest.raises(FileError, match=r"people\.parquet: the end of the file contradicts itself"):
        open_source(path)


def test_more_records_than_the_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arrow_checks, "installed_memory", lambda: 1 << 30)
    n = 2**31 - 1
    path = tmp_path / "people.arrow"
    huge = pa.table({"x": buffers(pa.null(), n, None)})
    as_file(huge, path)
    with pytest.raises(FileError, match=f"says that it holds {n} records, which this machine has no memory for"):
        open_source(path)
    as_stream(huge, path)
    with pytest.raises(FileError, match="which this machine has no memory for"):
        open_source(path)


def test_a_page_of_a_file_that_this_package_wrote_is_known_by_its_checksum(tmp_path: Path):
    path = tmp_path / "people.parquet"
    rng = random.Random(1)
    incomes = [rng.random() for _ in range(N)]
    write_table(pa.table({"income": incomes}), path)
    content = bytearray(path.read_bytes())
    content[bytes(content).index(struct.pack("<d", incomes[5]))] ^= 1
    path.write_bytes(bytes(content))
    assert pq.read_table(path).num_rows == N
    with pytest.raises(FileError, match=r"people\.parquet: not a complete Parquet file \(.*[Cc]hecksum"):
        open_source(path).column("income")


# ------------------------------------------------------------------------------------------------------ metadata
@pytest.mark.parametrize(
    "stored",
    [
        b"", b"{", b"5", b"null", b"[]", b"\xff", b'{"columns": 5}', b'{"columns": [5]}', b'{"index_columns": {}}',
        b'{"columns": [{"name": ' + b"[" * 2000, b'{"a": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".arrow", ".parquet"])
def test_damaged_metadata_of_pandas(tmp_path: Path, stored: bytes, ending: str):
    path = tmp_path / f"people{ending}"
    table = PEOPLE.replace_schema_metadata({b"pandas": stored})
    pq.write_table(table, path) if ending == ".parquet" else as_file(table, path)
    with pytest.raises(FileError, match=rf"people\{ending}, metadata of pandas: ") as caught:
        open_source(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileError, match=r"data, metadata of pandas: "):
        open_source(table)


OWN = {"name": "age", "kind": "numeric", "levels": None, "special_codes": [99], "labels": [[99, "none"]]}


@pytest.mark.parametrize(
    "entries",
    [
        5, {}, [5], [[]], [{}], [OWN | {"name": 5}], [OWN | {"kind": "magic"}], [OWN | {"kind": []}],
        [OWN | {"levels": 5}], [OWN | {"levels": [[]]}], [OWN | {"special_codes": None}], [OWN | {"labels": [[1]]}],
        [OWN | {"labels": [[1, 2]]}], [OWN | {"labels": {"1": "x"}}], [OWN | {"labels": [[{}, "x"]]}],
        [OWN | {"labelled": 1}],
    ],
)  # fmt: skip
def test_damaged_declarations(tmp_path: Path, entries: Any):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE.replace_schema_metadata({b"unveil": json.dumps(entries).encode()}), path)
    with pytest.raises(FileError, match=r"people\.parquet, declarations: ") as caught:
        open_source(path)
    assert "\n" not in str(caught.value)


def test_sound_declarations_come_back(tmp_path: Path):
    path = tmp_path / "people.parquet"
    declared = Variable("age", kind="numeric", special_codes=(59,), labels={59: "no answer"})
    write_table(PEOPLE, path, {"age": declared})
    assert open_source(path).variable("age") == declared


# -------------------------------------------------------------------------------------------------------- memory
LIMITED = """
import resource, sys
import pyarrow, pyarrow.parquet, pyarrow.csv, pyarrow.compute
import unveil
from unveil.errors import UnveilError
from unveil.files import columnar, delimited
limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (int(sys.argv[2]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    source = unveil.read(sys.argv[1])
    for name in source.names:
        source.column(name)
except UnveilError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory in use is asked of Linux")
@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("megabytes", [60, 130])
def test_too_little_memory_is_called_that(tmp_path: Path, ending: str, megabytes: int):
    path = tmp_path / f"people{ending}"
    n = 3_000_000
    write_table(pa.table({"x": pa.array(range(n), pa.int64()), "y": pa.array(range(7, n + 7), pa.int64())}), path)
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(megabytes)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stderr == ""
    assert ended.stdout == "" or ended.stdout.startswith(f"{path.name}: there is not enough memory to read the file"), (
        ended
    )
