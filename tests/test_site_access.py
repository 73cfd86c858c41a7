"""Pages of the built site, checked for access: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import violations

pytestmark = [
    pytest.mark.browser,
    # The browser's driver closes its event loop when it is collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SITE = Path(__file__).parent.parent / "build" / "site"
PAGES = ["index.html", "assessment.html", "examples/raab2026/gallery.html", "reference/tables.html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_everybody(
    chromium: Any, axe_core: str | None, name: str, width: int, scheme: str
) -> None:
    if not SITE.is_dir():
        pytest.skip("the site is not built: .ci/site builds it")
    if axe_core is None:
        pytest.skip("axe-core cannot be fetched")
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((SITE / name).as_uri())
    # What the theme puts into blocks of code as it starts.
    page.locator(".md-code__nav, .md-typeset__scrollwrap").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, axe_core) == []
    page.close()
