"""A browser of a few lines: it asks the application header by header, and keeps its cookie."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.csv as csv
import pytest

from unveil.simulate import demo_population

HOST = "127.0.0.1:8765"
OWN = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Asker:
    """Asks an application without a network."""

    app: Any
    cookie: str = ""
    secret: str = ""
    host: str = HOST
    unforeseen: Exception | None = None

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> Answer:
        """Ask; a header that is None is left out."""
        said = {"host": self.host, "cookie": self.cookie} | {k.replace("_", "-").lower(): v for k, v in headers.items()}
        path, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(k.encode(), v.encode()) for k, v in said.items() if v is not None],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
        }  # fmt: skip
        parts = [{"type": "http.request", "body": body[i : i + 65536], "more_body": i + 65536 < len(body)}
                 for i in range(0, max(len(body), 1), 65536)]  # fmt: skip
        messages: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return parts.pop(0) if parts else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            messages.append(message)

        try:
            asyncio.run(self.app(scope, receive, send))
        except Exception as error:
            # The browser has its answer before the server hears of the error.
            if not messages:
                raise
            self.unforeseen = error
        start, *rest = messages
        found = {name.decode(): text.decode() for name, text in start["headers"]}
        return Answer(start["status"], found, b"".join(one["body"] for one in rest).decode())

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: Any = (), **headers: str | None) -> Answer:
        """Send a form as a page of the application does."""
        pairs = [*(fields.items() if isinstance(fields, Mapping) else fields), ("csrf", self.secret)]
        return self.ask("POST", path, urlencode(pairs).encode(), **{**OWN, **headers})

    def copy(self, role: str, name: str, body: bytes, **headers: str | None) -> Answer:
        """Send a file as the script does."""
        return self.ask("POST", f"/copies/{role}?name={name}", body, **{**OWN, "X-Csrf": self.secret, **headers})

    def enter(self, address: str) -> Answer:
        """Open the address that the program prints, and read the secret of the forms."""
        answer = self.get(address.removeprefix(f"http://{self.host}"))
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        found = re.search(r'name="csrf" content="([^"]+)"', self.get("/").text)
        assert found is not None
        self.secret = found[1]
        return answer


@pytest.fixture
def desk(tmp_path: Path) -> Any:
    pytest.importorskip("starlette", reason="the page needs Starlette")
    from unveil.serve.desk import Desk

    folder = tmp_path / "private"
    folder.mkdir()
    found = Desk(folder)
    yield found
    found.close()


@pytest.fixture
def guard(desk: Any) -> Any:
    from unveil.serve.guard import Guard
    from unveil.serve.pages import Pages

    return Guard(Pages(desk).app(), HOST)


@pytest.fixture
def browser(guard: Any) -> Asker:
    """A browser that opened the address."""
    asker = Asker(guard)
    asker.enter(guard.address)
    return asker


@pytest.fixture
def stranger(guard: Any) -> Asker:
    """A browser that did not."""
    return Asker(guard)


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an original and a release of 300 simulated persons each."""
    folder = tmp_path_factory.mktemp("survey")
    csv.write_csv(demo_population(300, seed=1), folder / "original.csv")
    csv.write_csv(demo_population(300, seed=2), folder / "release.csv")
    return folder
