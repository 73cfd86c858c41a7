"""Who may ask for a page, and what the browser may do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import compare_digest, token_urlsafe
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "sandbox allow-scripts; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
"""The report brings its own rules for style and script; here it loses the rights of these pages."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
ENTRANCE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>unveil</title>
<meta http-equiv="refresh" content="0; url=/"><link rel="icon" href="data:,"></head>
<body><p><a href="/">Go on</a></p></body></html>"""
"""A page of our own between the address and the first page: a browser sends the cookie only from here on."""
REFUSED = "Open the address that the terminal printed; it holds the key to these pages.\n"


@dataclass(frozen=True)
class Guard:
    """An application that answers only the browser which was opened with the secret address.

    Parameters
    ----------
    app
        The application behind it.
    host
        What the Host header must be: the address of this machine and the port.
    token
        The secret in the address.
    """

    app: Any
    host: str
    token: str = field(default_factory=token_urlsafe, repr=False)
    session: str = field(default_factory=token_urlsafe, repr=False)

    @property
    def address(self) -> str:
        """The address that lets a browser in."""
        return f"http://{self.host}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; cookies of one machine are not told apart by their ports."""
        return f"unveil-{self.host.rpartition(':')[2]}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                said = MutableHeaders(scope=message)
                for name, text in HEADERS.items():
                    said.setdefault(name, text)
            await send(message)

        await self._answer(Request(scope))(scope, receive, with_headers)

    def _answer(self, request: Request) -> Any:
        headers = request.headers
        if headers.getlist("host") != [self.host]:
            return PlainTextResponse(f"These pages are at http://{self.host} alone.\n", 421)
        if "token" in request.query_params:
            return self._entrance(request)
        if not _equal(request.cookies.get(self.cookie, ""), self.session):
            return PlainTextResponse(REFUSED, 403)
        if not self._is_own(request.method, headers):
            return PlainTextResponse("This was asked for by a page of somebody else.\n", 403)
        return self.app

    def _entrance(self, request: Request) -> Any:
        is_first = request.url.path == "/" and request.method == "GET"
        if not is_first or not _equal(request.query_params["token"], self.token):
            return PlainTextResponse(REFUSED, 403)
        answer = HTMLResponse(ENTRANCE)
        answer.set_cookie(self.cookie, self.session, path="/", httponly=True, samesite="strict")
        return answer

    def _is_own(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a page of ours asked: what changes something must say so, what only reads must not say otherwise."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if method in ("GET", "HEAD"):
            return site in (None, "none", "same-origin") and origin in (None, f"http://{self.host}")
        return site in (None, "same-origin") and origin == f"http://{self.host}"


def _equal(given: str, secret: str) -> bool:
    """Whether two texts are equal; the time that it takes tells nothing of the secret."""
    return compare_digest(given.encode(), secret.encode())
