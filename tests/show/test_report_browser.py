"""The page in a real browser: keyboard, tabs, slider, printing, phone, dark mode, and no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import violations
from unveil.show.report import html, public_summary

pytestmark = [
    pytest.mark.browser,
    # The browser's driver closes its event loop when it is collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

# A4 less the margins of the style sheet, in pixels of 1/96 inch.
PAPER_WIDTH = 680
Assessment = dict[str, Any]


Open = Callable[..., Any]


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Open the report of an assessment; afterwards there were no errors, no complaints and no requests."""
    pages: list[Any] = []
    seen: list[str] = []

    def open_page(assessment: Assessment, width: int = 1280, draw: Any = html, **options: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(draw(assessment), encoding="utf-8")
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)
        page.on("console", lambda message: seen.append(message.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("request", lambda request: seen.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert seen == []


def test_one_panel_at_a_time_by_arrow_keys(show: Open, example: Assessment) -> None:
    page = show(example)
    tabs, panels = page.get_by_role("tab"), page.locator(".panel")
    assert tabs.count() == panels.count() == 3

    def chosen() -> tuple[int, int]:
        selected = [k for k in range(3) if tabs.nth(k).get_attribute("aria-selected") == "true"]
        visible = [k for k in range(3) if panels.nth(k).is_visible()]
        assert len(selected) == len(visible) == 1
        reachable = [k for k in range(3) if tabs.nth(k).get_attribute("tabindex") == "0"]
        assert reachable == selected
        return selected[0], visible[0]

    assert chosen() == (0, 0)
    tabs.nth(0).focus()
    for key, expected in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowRight", 0),
        ("ArrowLeft", 2),
        ("Home", 0),
        ("End", 2),
    ]:
        page.keyboard.press(key)
        assert chosen() == (expected, expected)
        assert page.evaluate("document.activeElement.id") == f"tab-{expected + 1}"
    tabs.nth(1).click()
    assert chosen() == (1, 1)
    assert panels.nth(1).get_attribute("role") == "tabpanel"
    assert panels.nth(1).get_attribute("aria-labelledby") == "tab-2"


def test_the_contents_lead_to_a_target_that_is_not_shown(show: Open, example: Assessment) -> None:
    page = show(example)
    page.locator(".contents a", has_text="income").click()
    assert page.locator(".panel").nth(1).is_visible()
    assert not page.locator(".panel").nth(0).is_visible()


def test_the_slider_shows_the_points_of_the_curve(show: Open, example: Assessment) -> None:
    page = show(example)
    page.locator("#open-all").click()
    points = example["targets"][0]["curve"]["points"]
    slider, output = page.get_by_role("slider", name="Threshold τ"), page.locator("output").first
    slider.focus()
    start = int(slider.input_value())
    assert points[start]["threshold"] == example["scenario"]["tau"]
    for key, step in [("ArrowRight", start + 1), ("ArrowLeft", start), ("Home", 0), ("End", len(points) - 1)]:
        page.keyboard.press(key)
        text = output.inner_text().replace("\u00a0", " ").split("\n")
        value = 100 * points[step]["rate"]
        shown = dict(zip(text[::2], text[1::2], strict=True))
        assert float(shown["τ"]) == points[step]["threshold"]
        assert float(shown["Rate"].removesuffix(" %")) == pytest.approx(value, abs=0.051)
        assert float(shown["Ceiling"].removesuffix(" %")) == pytest.approx(100 * points[step]["ceiling"], abs=0.051)
        spoken = slider.get_attribute("aria-valuetext").replace("\u00a0", " ")
        assert f"Rate {shown['Rate']}" in spoken
        assert f"Null {shown['Null']}" in spoken
        dot = page.locator(".chosen use").first
        assert float(dot.get_attribute("x").removesuffix("%")) == pytest.approx(100 * points[step]["threshold"])
        assert float(dot.get_attribute("y").removesuffix("%")) == pytest.approx(100 - value)


def test_the_mark_of_the_slider_lies_on_the_drawn_line(show: Open, example: Assessment) -> None:
    page = show(example)
    page.locator("#open-all").click()
    page.get_by_role("slider", name="Threshold τ").focus()
    page.keyboard.press("Home")
    # Both at one moment: the page may still be scrolling to the slider.
    along, up = page.evaluate("""() => {
      const path = document.querySelector('path.value-line');
      const start = path.getPointAtLength(0).matrixTransform(path.getScreenCTM());
      const dot = document.querySelector('.chosen use').getBoundingClientRect();
      return [dot.x + dot.width / 2 - start.x, dot.y + dot.height / 2 - start.y];
    }""")
    assert (along, up) == pytest.approx((0, 0), abs=1)


def test_everything_is_there_without_script(show: Open, example: Assessment) -> None:
    page = show(example, java_script_enabled=False)
    panels = page.locator(".panel")
    assert all(panels.nth(k).is_visible() for k in range(3))
    assert page.locator('[role="tablist"]').is_hidden()
    assert page.locator(".slider").first.is_hidden()
    page.locator("summary", has_text="How RAPID depends").first.click()
    assert page.locator("path.value-line").first.is_visible()
    page.locator("summary", has_text="The curve as a table").first.click()
    assert page.locator("table.points tbody tr").first.is_visible()


@pytest.mark.parametrize(("name", "targets"), [("example", 3), ("large", 40)])
def test_paper_has_all_panels_and_nothing_is_cut_off(
    show: Open, name: str, targets: int, request: pytest.FixtureRequest
) -> None:
    page = show(request.getfixturevalue(name), width=PAPER_WIDTH)
    page.locator("#open-all").click()
    sheets = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) > 5
    page.emulate_media(media="print")
    assert page.locator(".panel").count() == targets
    assert all(page.locator(".panel").nth(k).is_visible() for k in range(targets))
    assert page.locator('[role="tablist"]').is_hidden()
    assert page.locator("table.points tbody tr").last.is_visible()
    cut = """() => [...document.querySelectorAll('.scroll, .ladder, pre, figure')]
        .filter((box) => box.scrollWidth > box.clientWidth + 1)
        .map((box) => box.getAttribute('aria-label') || box.className)"""
    assert page.evaluate(cut) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER_WIDTH
    page.emulate_media(media="screen")
    assert not page.locator(".panel").nth(1).is_visible()


def test_paper_leaves_out_what_is_closed(show: Open, example: Assessment) -> None:
    """Two targets are at most eight sheets; who wants the details on paper opens them."""
    example["targets"] = example["targets"][:2]
    page = show(example)
    short, open_all = page.pdf(prefer_css_page_size=True), page.locator("#open-all")
    assert len(re.findall(rb"/Type\s*/Page\b", short)) <= 8
    page.emulate_media(media="print")
    assert not page.locator("article.figure").first.is_visible()
    assert page.locator("table.learns").is_visible()
    page.emulate_media(media="screen")
    open_all.click()
    page.emulate_media(media="print")
    assert page.locator("article.figure").first.is_visible()
    page.emulate_media(media="screen")
    open_all.click()
    assert page.locator("details[open]").count() == 0


def test_paper_is_white_in_dark_mode(show: Open, example: Assessment) -> None:
    page = show(example, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", ["example", "minimal", "large"])
def test_a_phone_needs_no_scrolling_to_the_side(show: Open, name: str, request: pytest.FixtureRequest) -> None:
    page = show(request.getfixturevalue(name), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = """() => [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1)
        .filter((box) => box.tabIndex !== 0 || !box.getAttribute('aria-label')).length"""
    assert page.evaluate(wide) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_for_publication_is_readable_on_a_phone_and_in_the_dark(
    show: Open, example: Assessment, scheme: str
) -> None:
    page = show(example, width=390, draw=public_summary, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every((b) => b.scrollWidth <= b.clientWidth + 1)")
    looked, poor = page.evaluate(CONTRAST)
    assert looked > 15
    assert poor == []


def test_a_phone_shows_every_column_of_the_tables(show: Open, example: Assessment) -> None:
    page = show(example, width=390)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tables = page.locator(".stacked:visible")
    assert tables.count() > 10
    assert (
        page.evaluate("""() => [...document.querySelectorAll('.scroll')]
        .filter((one) => one.querySelector('.stacked') && one.checkVisibility())
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)""")
        == []
    )
    # A cell says which column it is of, as the head of the table is not seen.
    assert (
        page.evaluate("""() => [...document.querySelectorAll('.stacked')].flatMap((table) => {
        const heads = [...table.querySelectorAll('thead th')].map((one) => one.textContent.trim());
        return [...table.querySelectorAll('tbody tr')].flatMap((row) => [...row.cells].map((cell, k) =>
            cell.matches('th, .strip-cell') || cell.dataset.label === heads[k] ? null : heads[k]).filter(Boolean));
    })""")
        == []
    )


def test_no_name_of_an_axis_is_cut_off_on_a_phone(show: Open, example: Assessment) -> None:
    example["map"]["utility"] = "1 - mean total variation distance of all pairs of variables"
    example["map"]["risk"] = "DiSCO, mean of 12 targets, percent of persons in the original"
    page = show(example, width=360)
    page.locator("#open-all").click()
    ends = page.evaluate("""() => [...document.querySelectorAll('.axis-title')].filter((e) => e.checkVisibility())
        .map((e) => e.getBoundingClientRect()).map((box) => [box.left, box.right])""")
    assert len(ends) >= 4
    assert all(left >= 0 and right <= 360 for left, right in ends)


def test_the_skip_link_is_first_and_works(show: Open, example: Assessment) -> None:
    page = show(example)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "summary"


# Contrast by the formula of WCAG 2, from the colours the browser computed, backgrounds laid over each other.
CONTRAST = """() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  const lay = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
  const light = () => {
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest('.away, .skip, script, title, desc')) continue;
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(e);
    lay('white');
    chain.forEach((e) => lay(getComputedStyle(e).backgroundColor));
    const behind = light();
    const style = getComputedStyle(element);
    lay(element.closest('svg') ? style.fill : style.color);
    const front = light();
    const ratio = (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05);
    looked += 1;
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [looked, poor];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["example", "minimal"])
def test_text_stands_out(show: Open, name: str, scheme: str, request: pytest.FixtureRequest) -> None:
    page = show(request.getfixturevalue(name), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate("document.querySelectorAll('.panel').forEach((one) => { one.hidden = false; })")
    looked, poor = page.evaluate(CONTRAST)
    assert looked > 200
    assert poor == []


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("draw", [html, public_summary])
def test_a_screen_reader_finds_its_way(
    show: Open, example: Assessment, axe_core: str | None, draw: Callable[..., str], scheme: str, width: int
) -> None:
    if axe_core is None:
        pytest.skip("axe-core cannot be fetched")
    page = show(example, width=width, draw=draw, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(page, axe_core) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out(show: Open, example: Assessment, scheme: str) -> None:
    page = show(example, color_scheme=scheme)
    ratios = page.evaluate("""() => {
      const style = getComputedStyle(document.documentElement);
      const part = (name) => style.getPropertyValue(name).trim().slice(1).match(/../g).map((h) => parseInt(h, 16) / 255)
        .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      const light = (name) => { const [r, g, b] = part(name); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const page = light('--page');
      return ['--value', '--null', '--ceiling', '--held', '--margin'].map((name) => {
        const l = light(name);
        return (Math.max(l, page) + 0.05) / (Math.min(l, page) + 0.05);
      });
    }""")
    # What carries meaning without being text needs 3 to 1.
    assert min(ratios) >= 3


def test_a_script_in_a_name_does_not_run(show: Open, example: Assessment) -> None:
    example["title"] = '</title><script>document.title = "broken"</script><img src=x onerror="document.title=1">'
    example["targets"][0]["target"] = example["title"]
    page = show(example)
    assert page.title() == "Disclosure risk: " + example["title"]
    assert page.locator("img").count() == 0
