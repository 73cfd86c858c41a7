"""The program as it is started: where it listens, what it prints, and what it leaves behind."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("uvicorn", reason="the page needs uvicorn")

from unveil.errors import CallError, MissingPackageError
from unveil.serve.desk import Desk
from unveil.serve.server import _server, farewell, listening, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and modes of files")


class Started:
    """The program, in a temporary folder of its own."""

    def __init__(self, folder: Path, *words: str):
        command = [sys.executable, "-m", "unveil", "serve", "--no-browser", *words]
        environment = {**os.environ, "TMPDIR": str(folder)}
        self.folder = folder
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found is not None, line + self.process.communicate(timeout=20)[1]
        self.address, self.port = found[0], int(found[1])

    def end(self, number: int) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, complaints = self.process.communicate(timeout=20)
        return self.process.returncode, out, complaints


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    started: list[Started] = []

    def begin(*words: str) -> Started:
        started.append(Started(tmp_path, *words))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_the_program_ends_cleanly(start: Any, number: int, status: int):
    program = start()
    folders = list(program.folder.iterdir())
    assert [folder.name.startswith("unveil-serve-") for folder in folders] == [True]
    assert folders[0].stat().st_mode & 0o777 == 0o700
    with urllib.request.urlopen(program.address, timeout=10) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        assert answer.headers.get("Server") is None
    asked = urllib.request.Request(f"http://127.0.0.1:{program.port}/", headers={"Cookie": cookie})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        page = answer.read().decode()
        assert "Choose the files" in page
    secret = re.search(r'name="csrf" content="([^"]+)"', page)
    assert secret is not None
    own = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{program.port}", "X-Csrf": secret[1]}
    copy = urllib.request.Request(f"http://127.0.0.1:{program.port}/copies/original?name=a.csv", b"secret\n1\n", own)
    urllib.request.urlopen(copy, timeout=10).close()
    assert (folders[0] / "original" / "a.csv").exists()
    found, out, complaints = program.end(number)
    assert found == status
    assert "copies of files are removed" in out
    # Nothing was logged.
    assert complaints == ""
    assert list(program.folder.iterdir()) == []


@pytest.mark.slow
def test_it_listens_on_this_machine_alone(start: Any):
    program = start()
    others = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in [*others, "127.0.0.2"]:
        with pytest.raises(OSError, match=r".*"), socket.create_connection((address, program.port), timeout=2):
            pass
    asked = http.client.HTTPConnection("127.0.0.1", program.port, timeout=10)
    asked.request("GET", "/", headers={"Host": "unveil.example"})
    assert asked.getresponse().status == 421
    asked.close()


@pytest.mark.slow
def test_a_port_that_is_taken_is_said_in_one_line(start: Any):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        call = [sys.executable, "-m", "unveil", "serve", "--no-browser", "--port", str(port)]
        ended = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert re.fullmatch(rf"unveil: port {port} cannot be used \(.*\); name another with --port, or leave it out\n",
                        ended.stderr)  # fmt: skip


def test_there_is_no_option_for_another_host():
    call = [sys.executable, "-m", "unveil", "serve", "--help"]
    said = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "--port" in said
    assert "--host" not in said


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_has_a_range(port: int):
    with pytest.raises(CallError, match="port must be"), listening(port):
        pass


def test_the_folder_goes_also_by_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileExistsError), private_folder() as folder:
        folder.mkdir()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_application_is_not_logged(capfd: pytest.CaptureFixture[str]):
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("Anna, born 1971")

    with listening(0) as found:
        server = _server(fails)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [found]})
        thread.start()
        asked = http.client.HTTPConnection(*found.getsockname(), timeout=10)
        asked.request("GET", "/secret")
        assert asked.getresponse().status == 500
        asked.close()
        server.should_exit = True
        thread.join(10)
    assert not thread.is_alive()
    assert capfd.readouterr() == ("", "")


def test_without_its_packages_the_verb_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    from unveil.cli.serve import serve

    for name in [name for name in sys.modules if name.startswith("unveil.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.datastructures", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'unveil\[serve\]'"):
        serve()


def test_the_last_words_say_what_was_kept(tmp_path: Path):
    desk, ended = Desk(tmp_path), SimpleNamespace(documents={}, saved=set())
    assert farewell(desk).endswith("there was no report")
    desk.run = ended  # type: ignore[assignment]
    assert farewell(desk).endswith("there was no report")
    ended.documents = {"report.html": "..."}
    assert farewell(desk).endswith("the report was not saved and is gone")
    ended.saved = {"report.html", "assessment.json"}
    assert farewell(desk).endswith("kept, where the browser saved it: assessment.json, report.html")


def children_of(process: int) -> list[str]:
    """Numbers of the processes that a process has started, by any of its threads."""
    listed = list(Path(f"/proc/{process}/task").glob("*/children"))
    if not listed:
        pytest.skip("the system does not list processes so")
    return [number for path in listed for number in path.read_text().split()]


@pytest.mark.slow
def test_work_under_way_ends_with_the_program(start: Any, survey: Path):
    """No process is left, also where the assessment was at work."""
    program = start()
    with urllib.request.urlopen(program.address, timeout=10) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
    own = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{program.port}"}

    def ask(path: str, **fields: Any) -> str:
        body = urlencode(fields).encode() if fields else None
        request = urllib.request.Request(f"http://127.0.0.1:{program.port}{path}", body, own)
        with urllib.request.urlopen(request, timeout=30) as found:
            text: str = found.read().decode()
        return text

    secret = re.search(r'name="csrf" content="([^"]+)"', ask("/"))
    assert secret is not None
    ask("/files", csrf=secret[1], original=survey / "original.csv", synthetic=survey / "release.csv")
    ask("/question", **{
        "csrf": secret[1], "role.0": "key", "role.1": "key", "role.5": "target", "budget": "600",
        "permutations": "100000", "measures": "inference", "intruders": "release",
    })  # fmt: skip
    deadline = time.monotonic() + 30
    while not json.loads(ask("/state"))["total"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (child,) = children_of(program.process.pid)
    program.end(signal.SIGTERM)
    assert not Path(f"/proc/{child}").exists()
