"""Files of statistical packages that end the library which reads them, or that are cut off where it does not look."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unveil.errors import FileError
from unveil.files import reader_process as aside
from unveil.files.opening import open_source
from unveil.files.reader_process import BrokenReader, read_aside
from unveil.files.write import write_table

pyreadstat = pytest.importorskip("pyreadstat", reason="for files of statistical packages")
if not any(map(importlib.util.find_spec, ("pandas", "polars"))):
    pytest.skip("pyreadstat writes pandas or polars frames only", allow_module_level=True)

N = 60
PEOPLE = pa.table({"age": list(range(N)), "income": [i / 3 for i in range(N)], "town": [f"t{i}" for i in range(N)]})
ENDINGS = [".sav", ".zsav", ".dta", ".xpt"]


def written(folder: Path, ending: str, **options: Any) -> Path:
    path = folder / f"people{ending}"
    write_table(PEOPLE, path, **options)
    return path


def test_the_library_reads_in_a_process_of_its_own(tmp_path: Path):
    first = open_source(written(tmp_path, ".sav"))
    process = aside._CHILD.process
    assert process is not None
    assert process.pid != os.getpid()
    assert first.column("age").to_pylist() == list(range(N))
    open_source(written(tmp_path, ".dta"))
    assert aside._CHILD.process is process  # kept, as it takes a while to start


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_file_that_ends_the_library_costs_one_line(tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch):
    """The other process ends itself where it is asked for a function that is called so."""
    path = written(tmp_path, ".sav")
    child = tmp_path / "child.py"
    source = Path(aside.aside_child.__file__).read_text()
    child.write_text(source.replace("import pyreadstat\n", f"os.kill(os.getpid(), {int(number)})\n"))
    aside._CHILD.end()
    with monkeypatch.context() as patch:
        patch.setattr(aside.aside_child, "__file__", str(child))
        said = "not enough memory" if number == signal.SIGKILL else "ends the reading library"
        for _ in range(2):
            with pytest.raises(FileError, match=rf"people\.sav: .*{said}"):
                open_source(path)
    assert open_source(path).num_rows == N  # the next one reads again


def test_a_relative_path_is_that_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path, ".sav")
    (tmp_path / "inner").mkdir()
    written(tmp_path / "inner", ".sav")
    monkeypatch.chdir(tmp_path)
    assert open_source("people.sav").num_rows == N
    monkeypatch.chdir(tmp_path / "inner")
    Path("people.sav").rename("others.sav")
    assert open_source("others.sav").num_rows == N


def test_after_a_large_file_the_memory_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = written(tmp_path, ".sav")
    monkeypatch.setattr(aside, "LARGE", 100)
    assert open_source(path).num_rows == N
    assert aside._CHILD.process is None


def test_without_another_process_the_library_is_asked_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = written(tmp_path, ".sav")
    monkeypatch.setattr("sys.executable", "")
    data, meta = read_aside("read_sav", path, output_format="dict")
    assert list(data) == meta.column_names == ["age", "income", "town"]
    path.write_bytes(b"$FL2 and nothing else")
    with pytest.raises(BrokenReader):
        read_aside("read_sav", path, output_format="dict")


# ------------------------------------------------------------------------------------ numbers of records, and ends
def with_count(path: Path, at: Callable[[bytes], int], count: int) -> None:
    content = bytearray(path.read_bytes())
    start = at(bytes(content))
    assert content[start : start + 4] == N.to_bytes(4, "little")
    content[start : start + 4] = count.to_bytes(4, "little")
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("count", [10**5, 10**8, 10**9])
@pytest.mark.parametrize(
    ("ending", "at"), [(".sav", lambda _: 80), (".dta", lambda content: content.index(b"<N>") + 3)]
)
def test_a_number_of_records_that_the_file_is_too_short_for(
    tmp_path: Path, ending: str, at: Callable[[bytes], int], count: int
):
    path = written(tmp_path, ending)
    with_count(path, at, count)
    with pytest.raises(FileError, match=f"it says that it holds {count} records, which it is too short for"):
        open_source(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_cut_off_is_not_read_in_part(tmp_path: Path, ending: str):
    path = written(tmp_path, ending)
    content = path.read_bytes()
    step = max(1, len(content) // 60)
    for cut in (1, 2, 7, 8, 9, 79, 80, 81, *range(1, len(content) - 400, step)):
        path.write_bytes(content[:-cut])
        with pytest.raises(FileError) as caught:
            open_source(path)
        assert "\n" not in str(caught.value), cut


def test_a_transport_file_of_several_data_sets_is_not_taken_for_one(tmp_path: Path):
    path = written(tmp_path, ".xpt")
    content = path.read_bytes()
    path.write_bytes(content + content[240:])
    with pytest.raises(FileError, match=r"people\.xpt: .*it holds several data sets"):
        open_source(path)


def test_blanks_at_the_end_of_a_transport_file_are_no_part_of_a_record(tmp_path: Path):
    path = tmp_path / "people.xpt"
    frame = importlib.import_module("polars" if importlib.util.find_spec("polars") else "pandas").DataFrame
    for n in range(1, 12):
        pyreadstat.write_xport(frame({"a": [1.0] * n, "b": ["xy"] * n}), str(path), file_format_version=5)
        assert len(path.read_bytes()) % 80 == 0
        assert open_source(path).num_rows == n
