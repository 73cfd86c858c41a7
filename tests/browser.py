"""What tests in a real browser share: Chromium as installed, and the rules of axe-core; a plugin of pytest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Chromium as installed on the machine."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("Playwright is not installed")
    if CHROMIUM is None:
        _absent("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def axe_core(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    """The rules of axe-core, where npm can fetch them; None elsewhere."""
    if shutil.which("npm") is None:
        return None
    folder = tmp_path_factory.mktemp("axe")
    fetched = subprocess.run(
        ["npm", "pack", "--silent", "axe-core@4"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    if fetched.returncode:
        return None
    shutil.unpack_archive(next(folder.glob("axe-core-*.tgz")), folder)
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Any, axe_core: str) -> list[tuple[str, list[str]]]:
    """Each rule of axe-core that a page breaks, and the elements that break it."""
    page.evaluate(axe_core)
    found = page.evaluate("axe.run(document, {iframes: false})")
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]


def _absent(reason: str) -> None:
    if os.environ.get("UNVEIL_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
