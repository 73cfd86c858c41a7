"""What is missing (memory, room on the disk, time) is one line, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.errors import CallError, DataError, enough_memory

SLOWLY = """
import sys, time
import unveil
from unveil.engines import spill
original, release, folder = sys.argv[1:4]
pair = unveil.Pair(original, release, engine="files", temp_dir=folder)
pair.engine._most = 5
add = spill.Spill.add
def slowly(self, codes):
    add(self, codes)
    print("aside", flush=True)
    time.sleep(60)
if "slowly" in sys.argv:
    spill.Spill.add = slowly
if "full" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    print(unveil.attribute(pair, ["k", "l"], target="t").DiSCO)
except unveil.UnveilError as error:
    print(error)
"""


IN_PROC = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="for the list of a process's open files")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("files")
    for name in ("o", "r"):
        table = pa.table(
            {"k": rng.integers(0, 500, 2000), "l": rng.integers(0, 9, 2000), "t": rng.integers(0, 5, 2000)}
        )
        pq.write_table(table, folder / f"{name}.parquet")
    return [str(folder / "o.parquet"), str(folder / "r.parquet")]


@pytest.fixture
def slow(files: list[str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that counts, and has put counts aside."""
    call = [sys.executable, "-c", SLOWLY, *files, str(tmp_path), "slowly"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "aside\n"
        yield process
        process.kill()


@IN_PROC
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_process_that_ends_leaves_nothing(slow: subprocess.Popen[str], number: int, tmp_path: Path) -> None:
    assert os.listdir(tmp_path) == []
    opened = [os.readlink(one) for one in Path(f"/proc/{slow.pid}/fd").glob("*") if one.is_symlink()]
    held = [one for one in opened if one.startswith(str(tmp_path))]
    assert all(one.endswith("(deleted)") for one in held)
    assert len(held) == 2
    slow.send_signal(number)
    assert slow.wait(30) != 0
    assert os.listdir(tmp_path) == []


@IN_PROC
def test_only_the_owner_could_read_what_is_put_aside(slow: subprocess.Popen[str], tmp_path: Path) -> None:
    found = [
        one.stat().st_mode & 0o777 for one in Path(f"/proc/{slow.pid}/fd").glob("*") if "deleted" in os.readlink(one)
    ]
    assert found == [0o600, 0o600]


def test_a_full_disk_is_one_line(files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("resource")
    call = [sys.executable, "-c", SLOWLY, *files, str(tmp_path), "full"]
    said = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.startswith(f"counts could not be put aside in {tmp_path} (File too large); make room there, or name")
    assert said.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_the_folder_is_looked_at_before_anything_is_counted(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"temp_dir: there is no folder '.*missing'"):
        unveil.Pair(*files, engine="files", temp_dir=tmp_path / "missing")


@pytest.mark.parametrize(
    "error", [MemoryError(), pa.ArrowMemoryError("malloc of size 8 failed"), RuntimeError("can't start new thread")]
)
def test_a_lack_of_memory_is_one_line(error: Exception) -> None:
    with pytest.raises(DataError, match=r"^there is not enough memory to count the records"), enough_memory():
        raise error
    with pytest.raises(RuntimeError, match="another"), enough_memory():
        raise RuntimeError("another")


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_memory_that_lacks_while_records_are_counted(
    files: list[str], engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: Any) -> None:
        raise MemoryError

    pair = unveil.Pair(*files, engine=engine)
    monkeypatch.setattr("unveil.columns.coding.harmonise", lacking)
    for measure in (unveil.identity, unveil.structure):
        with pytest.raises(DataError, match=r"engine='files', with a memory_limit"):
            measure(pair, ["k", "l"])
