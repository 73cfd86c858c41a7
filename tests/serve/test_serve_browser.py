"""The whole way in a real browser, from the first click to the saved report; each screen is checked for access."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import violations

pytest.importorskip("uvicorn", reason="the page needs uvicorn")

pytestmark = [
    pytest.mark.browser,
    # The browser's driver closes its event loop when it is collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The program, as it is started."""
    command = [sys.executable, "-m", "unveil", "serve", "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("temporary"))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\S+", program.stdout.readline())
        assert found is not None
        yield found[0]
        program.terminate()


# Text against what is behind it, by the formula of WCAG 2, and what a control is called.
FAULTS = """() => {
  const faults = [];
  const controls = 'input:not([type=hidden]), select, textarea, button, a[href], progress';
  for (const one of document.querySelectorAll(controls)) {
    const named = one.labels && one.labels.length ? one.labels[0].textContent : one.textContent;
    if (!named.trim() && !one.getAttribute('aria-label')) faults.push(`no name: ${one.outerHTML.slice(0, 80)}`);
  }
  for (const role of ['header', 'nav', 'main', 'h1'])
    if (document.querySelectorAll(role).length !== 1) faults.push(`not one ${role}`);
  if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the screen');
  return faults;
}"""


def check(page: Any, axe_core: str | None) -> None:
    """Look at a screen wide and narrow, light and dark."""
    for width in (1200, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert page.evaluate(FAULTS) == [], (page.url, width, scheme)
            if axe_core is not None:
                assert violations(page, axe_core) == [], (page.url, width, scheme)


def test_from_the_first_click_to_the_saved_report(
    chromium: Any, address: str, axe_core: str | None, tmp_path: Path
) -> None:
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    seen: list[str] = []
    home = address.partition("?")[0]
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on(
        "console",
        lambda message: seen.append(f"{message.text} {message.location}") if "422" not in message.text else None,
    )
    page.on(
        "request", lambda request: seen.append(request.url) if not request.url.startswith((home, "data:")) else None
    )

    page.goto(address)
    page.wait_for_url(home)
    check(page, axe_core)
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("alert").wait_for()
    page.get_by_role("link", name="choose a release").click()
    assert page.evaluate("document.activeElement.id") == "synthetic"
    check(page, axe_core)

    page.get_by_role("button", name="Use the demonstration").click()
    page.wait_for_url("**/columns", timeout=60_000)
    check(page, axe_core)
    page.get_by_role("button", name="Go on to the question").click()
    page.wait_for_url("**/question")
    page.get_by_text("With these 4 keys").wait_for()
    before = page.locator("#uniques").inner_text()
    page.get_by_role("group", name="age").get_by_label("Cut into groups").fill("5")
    page.get_by_role("group", name="age").get_by_label("Cut into groups").press("Tab")
    page.wait_for_function("(text) => document.getElementById('uniques').textContent !== text", arg=before)
    check(page, axe_core)
    # What needs long is left out.
    page.get_by_label("posterior", exact=True).uncheck()
    page.get_by_label("advice", exact=True).uncheck()
    page.get_by_label("Seconds that it should take").fill("5")

    page.get_by_role("button", name="Start the assessment").click()
    page.wait_for_url("**/run")
    page.locator("#progress").wait_for()
    page.get_by_text("Finished after").wait_for(timeout=120_000)
    check(page, axe_core)
    report = page.frame_locator("#report")
    report.get_by_role("heading", name="The original and one release").wait_for()
    # The frame has no rights of these pages.
    frame = page.frame(url="**/report")
    assert frame.evaluate("window.origin") == "null"
    assert "--scenario scenario.toml" in page.locator("#command").inner_text()
    for name, start in (("report.html", "<!DOCTYPE html>"), ("assessment.json", "{"), ("scenario.toml", "original")):
        with page.expect_download() as coming:
            page.locator(f"a[href='/save/{name}']").click()
        assert coming.value.suggested_filename == name
        path = tmp_path / name
        coming.value.save_as(path)
        assert path.read_text(encoding="utf-8").startswith(start)
    found = json.loads((tmp_path / "assessment.json").read_text(encoding="utf-8"))
    assert found["release_safe"] is True
    assert found["scenario"]["ngroups_keys"] == {"age": 5}
    assert "posterior" not in found["scenario"]["measures"]
    assert seen == []
    context.close()


def test_picked_files_and_the_keyboard_alone(chromium: Any, address: str, survey: Path) -> None:
    context = chromium.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_url(address.partition("?")[0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    page.locator("#original").fill("")
    page.locator("#synthetic").fill("")
    for role, name in (("original", "original.csv"), ("synthetic", "release.csv")):
        page.locator(f"#{role}-pick").set_input_files(survey / name)
        page.get_by_text(f"Copied: {name}").wait_for()
    page.locator("#original").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/columns")
    page.locator("[id='kind.0']").focus()
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.textContent.trim()"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if "Go on to the question" in seen:
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/question")
    context.close()


def test_without_the_cookie_there_is_nothing(chromium: Any, address: str) -> None:
    page = chromium.new_page()
    answer = page.goto(address.partition("?")[0])
    assert answer.status == 403
    page.close()
