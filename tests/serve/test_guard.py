"""Who gets an answer, and what the browser may do with it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="the page needs Starlette")

PAGES = ["/", "/columns", "/question", "/run", "/state", "/report", "/save/report.html", "/script.js", "/style.css"]
FORMS = ["/files", "/demo", "/columns", "/question", "/uniques", "/stop", "/copies/original", "/copies/original/remove"]


@pytest.mark.parametrize("path", PAGES)
def test_nobody_reads_without_the_cookie(stranger: Any, path: str):
    answer = stranger.get(path)
    assert answer.status == 403
    assert "terminal" in answer.text


@pytest.mark.parametrize("path", FORMS)
def test_nobody_changes_anything_without_the_cookie(stranger: Any, path: str):
    assert stranger.post(path).status == 403


def test_the_address_lets_in_and_nothing_else_does(guard: Any, stranger: Any):
    for path in ("/?token=", "/?token=x", f"/?token={guard.token}x", f"/?token={guard.session}", "/?token=%ff%00ä"):
        assert stranger.get(path.encode().decode("latin-1")).status == 403
    assert stranger.get(f"/columns?token={guard.token}").status == 403
    assert stranger.ask("POST", f"/?token={guard.token}").status == 403
    answer = stranger.get(f"/?token={guard.token}")
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert guard.token not in cookie
    assert "Domain" not in cookie


def test_secrets_are_long_and_new_for_each_start(guard: Any):
    from unveil.serve.guard import Guard

    other = Guard(guard.app, guard.host)
    found = {guard.token, guard.session, other.token, other.session}
    assert len(found) == 4
    assert min(map(len, found)) >= 43
    assert guard.token not in repr(guard)
    assert guard.session not in repr(guard)


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1", "127.0.0.1:8766", "evil.example:8765", "", None])
def test_another_host_is_refused_also_with_the_cookie(browser: Any, host: str | None):
    """A name that somebody else lets point to this machine is not the address of this machine."""
    answer = browser.get("/", host=host)
    assert answer.status == 421
    assert browser.post("/demo", host=host).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9999"}, {"Origin": None},
        {"Origin": "https://127.0.0.1:8765"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
)  # fmt: skip
def test_forms_of_other_pages_are_refused(browser: Any, desk: Any, headers: dict[str, str | None]):
    said = {"Origin": "http://127.0.0.1:8765", "Sec_Fetch_Site": "same-origin"} | headers
    assert browser.ask("POST", "/demo", f"csrf={browser.secret}".encode(), **said).status == 403
    assert desk.pair is None


def test_pages_are_not_read_by_pages_of_others(browser: Any):
    assert browser.get("/state", Sec_Fetch_Site="cross-site").status == 403
    assert browser.get("/state", Sec_Fetch_Site="same-site").status == 403
    assert browser.get("/state", Origin="http://evil.example").status == 403
    assert browser.get("/state", Sec_Fetch_Site="same-origin").status == 200
    assert browser.get("/", Sec_Fetch_Site="none").status == 200


@pytest.mark.parametrize("path", FORMS)
def test_forms_need_the_secret_of_the_page(browser: Any, path: str):
    for wrong in ("", "x", browser.secret[:-1]):
        browser.secret, kept = wrong, browser.secret
        answer = browser.copy("original", "a.csv", b"x") if path == "/copies/original" else browser.post(path)
        browser.secret = kept
        assert answer.status == 400
        assert "load it again" in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_the_browser_is_told_what_a_page_may_do(browser: Any, path: str):
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_refusals_have_the_same_headers(stranger: Any):
    assert "default-src 'none'" in stranger.get("/").headers["content-security-policy"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(browser: Any, method: str):
    assert browser.ask(method, "/", Origin="http://127.0.0.1:8765").status in (403, 405)


def test_pages_need_nothing_from_elsewhere(browser: Any, survey: Any):
    browser.post("/files", {"original": survey / "original.csv", "synthetic": survey / "release.csv"})
    for path in ("/", "/columns", "/question", "/style.css", "/script.js"):
        text = browser.get(path).text
        assert "://" not in text.replace("http://127.0.0.1:8765", "")
        assert "style=" not in text
        assert "<script>" not in text
        assert " onclick" not in text
