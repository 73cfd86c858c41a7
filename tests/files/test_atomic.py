"""Writing whole or not at all: what is never replaced, who can read it, what is left when the program is ended."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from packages import skip_where_it_cannot_be_written
from unveil.errors import FileError
from unveil.files.atomic import replacing, tidy_when_ended
from unveil.files.opening import open_source
from unveil.files.write import write_table

TABLE = pa.table({"name": ["ada", "bob"], "age": [36, 41]})


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def device(path: Path) -> None:
    """What /dev/null is, where it does no harm."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except (AttributeError, PermissionError, NotImplementedError):
        pytest.skip("only the system's administrator makes devices")


def listening(path: Path) -> None:
    # A socket's path may have 100 characters at most.
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def link_to(what: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        aim = path.with_name("aim")
        what(aim)
        path.symlink_to(aim)

    return make


IRREGULAR: dict[str, tuple[Callable[[Path], object], str]] = {
    "device": (device, "a device"),
    "pipe": (os.mkfifo, "a pipe"),
    "socket": (listening, "a socket"),
    "folder": (Path.mkdir, "a folder"),
    "link to a device": (link_to(device), "a link"),
    "link to a pipe": (link_to(os.mkfifo), "a link"),
    "link to a file": (link_to(Path.touch), "a link"),
    "link to a folder": (link_to(Path.mkdir), "a link"),
}
NOWHERE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link to nothing": (lambda path: path.symlink_to("nowhere"), "a link"),
    "link to itself": (lambda path: path.symlink_to(path.name), "a link"),
}


@pytest.mark.parametrize("what", IRREGULAR)
@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sav"])
def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path, what: str, overwrite: bool, ending: str):
    make, named = IRREGULAR[what]
    path = tmp_path / f"out{ending}"
    make(path)
    before, listing = os.lstat(path), sorted(os.listdir(tmp_path))
    with pytest.raises(FileError, match=rf"out{ending}: {named}, which is never replaced"):
        write_table(TABLE, path, overwrite=overwrite)
    after = os.lstat(path)
    assert (after.st_ino, after.st_mode, after.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    assert sorted(os.listdir(tmp_path)) == listing


@pytest.mark.parametrize("what", NOWHERE)
def test_a_link_that_leads_nowhere_stands_for_a_file(tmp_path: Path, what: str):
    path = tmp_path / "out.csv"
    NOWHERE[what][0](path)
    with pytest.raises(FileError, match="exists"):
        write_table(TABLE, path)
    assert path.is_symlink()
    write_table(TABLE, path, overwrite=True)
    assert not path.is_symlink()
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("what", [name for name in IRREGULAR | NOWHERE if name != "link to a file"])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, what: str):
    path = tmp_path / "in.csv"
    (IRREGULAR | NOWHERE)[what][0](path)
    with pytest.raises(FileError, match=r"^in\.csv: (a |no such file|cannot be read)") as caught:
        open_source(path)
    assert "\n" not in str(caught.value)


def test_a_link_to_a_file_is_read(tmp_path: Path):
    (tmp_path / "real.csv").write_text("a,b\n1,2\n")
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert open_source(tmp_path / "link.csv").num_rows == 1


def test_something_that_comes_to_be_there_meanwhile_is_kept(tmp_path: Path):
    path = tmp_path / "out.csv"

    def write(meanwhile: Callable[[], object], overwrite: bool) -> None:
        with replacing(path, overwrite=overwrite) as temporary:
            temporary.write_text("ours")
            meanwhile()

    with pytest.raises(FileError, match="a folder"):
        write(path.mkdir, overwrite=True)
    assert path.is_dir()
    path.rmdir()
    with pytest.raises(FileError, match="exists"):
        write(lambda: path.write_text("theirs"), overwrite=False)
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("x" * 300 + ".csv", "too long"), ("a\0b.csv", "null"), ("gone/out.csv", "cannot be written")],
)
def test_names_that_no_file_can_have(tmp_path: Path, name: str, reason: str):
    with pytest.raises(FileError, match=reason):
        write_table(TABLE, tmp_path / name)
    if "gone" not in name:
        with pytest.raises(FileError, match=reason):
            open_source(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_another_name_of_a_replaced_file_keeps_its_content(tmp_path: Path):
    (tmp_path / "one.csv").write_text("old")
    os.link(tmp_path / "one.csv", tmp_path / "two.csv")
    with replacing(tmp_path / "one.csv", overwrite=True) as temporary:
        temporary.write_text("new")
    assert [(tmp_path / name).read_text() for name in ("one.csv", "two.csv")] == ["new", "old"]


def test_where_standard_output_goes_nothing_else_is_written(tmp_path: Path):
    out = tmp_path / "out.csv"
    code = "import sys; from unveil.files.atomic import replacing\nwith replacing(sys.argv[1], overwrite=True): pass"
    with out.open("w") as stream:
        ended = subprocess.run(
            [sys.executable, "-c", code, str(out)], stdout=stream, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "standard output goes to this file" in ended.stderr


# ------------------------------------------------------------------------------------------------- who can read it
ENDINGS = [".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".arrow", ".sav", ".zsav", ".dta", ".xpt"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_only_the_owner_can_read_what_is_being_written(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch):
    skip_where_it_cannot_be_written(ending)
    seen = []
    replace = os.replace

    def look(source: Path, target: Path) -> None:
        seen.append((Path(source).parent, mode_of(Path(source))))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    write_table(TABLE, tmp_path / f"kept{ending}", confidential=True)
    write_table(TABLE, tmp_path / f"given{ending}")
    assert seen == [(tmp_path, 0o600)] * 2
    mask = os.umask(0o022)
    os.umask(mask)
    assert mode_of(tmp_path / f"kept{ending}") == 0o600
    assert mode_of(tmp_path / f"given{ending}") == 0o666 & ~mask


def test_a_replaced_file_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    write_table(TABLE, path, overwrite=True)
    assert mode_of(path) == 0o640
    path.chmod(0o644)
    write_table(TABLE, path, overwrite=True, confidential=True)
    assert mode_of(path) == 0o600


# -------------------------------------------------------------------------------------------------- being ended
WRITER = """
import sys, time
from unveil.files.atomic import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half of it")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -signal.SIGINT)],
)
def test_a_program_that_is_ended_leaves_nothing(tmp_path: Path, number: int, status: int):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "out.csv")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        (temporary,) = tmp_path.iterdir()
        assert mode_of(temporary) == 0o600
        writer.send_signal(number)
        writer.wait(timeout=30)
    assert writer.returncode == status
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_ended_twice_leaves_nothing_either(tmp_path: Path):
    def write() -> None:
        with replacing(tmp_path / "out.csv") as temporary:
            temporary.write_text("half of it")
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            finally:
                os.kill(os.getpid(), signal.SIGHUP)

    with pytest.raises(SystemExit) as ended:
        write()
    assert ended.value.code == 143
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_the_program_stays():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("mine"))
    try:
        with tidy_when_ended():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["mine"]


# ------------------------------------------------------------------------------------------------------ a full disk
def test_a_file_system_that_can_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Even what is not there cannot be removed from it; the file that was asked for is named all the same."""

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    complaint = r"^out\.json: cannot be written \(Read-only file system\); check the folder$"
    with pytest.raises(FileError, match=complaint), replacing(tmp_path / "out.json"):
        pass


FULL = """
import resource, sys
import pyarrow as pa
from unveil.errors import FileError
from unveil.files.write import write_table
table = pa.table({"name": [f"person {i}" for i in range(50_000)], "age": list(range(50_000))})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_table(table, sys.argv[1])
except FileError as error:
    print(error)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path, ending: str):
    skip_where_it_cannot_be_written(ending)
    assert resource.RLIMIT_FSIZE is not None
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / f"out{ending}")], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"out{ending}: cannot be written (")
    assert ended.stdout.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
