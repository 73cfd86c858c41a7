"""Results as a notebook shows them."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa
import pytest

import unveil
from unveil.notebook import as_html
from unveil.result import paragraph, text_table

EVIL = "<script>alert(1)</script>"


class Read(HTMLParser):
    """Tags in their order, and the cells of all tables."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[str] = ["html"]
        self.cells: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.tags[-1] in ("td", "th"):
            self.cells[-1] += data
        self.text += data


@pytest.fixture(scope="module")
def pair():
    original = unveil.simulate.demo_population(300, seed=1)
    release = unveil.CartSynthesizer().fit(original).sample(seed=2)
    return unveil.Pair(original, release)


@pytest.mark.parametrize(
    "measure",
    [
        lambda pair: unveil.identity(pair, ["sex", "age"]),
        lambda pair: unveil.attribute(pair, ["sex", "age"], target="depress"),
        lambda pair: unveil.attribute(pair, ["sex", "age"], targets=["depress", "workab"]),
        lambda pair: unveil.attribute(pair, ["sex", "age"], target="depress").ladder(),
        lambda pair: unveil.structure(pair, ["sex", "age"]),
        lambda pair: unveil.utility(pair, ["sex", "age", "region"]),
    ],
)
def test_a_notebook_shows_what_is_printed(pair, measure):
    result = measure(pair)
    shown = Read(result._repr_html_().partition("</style>")[2])
    assert "table" in shown.tags
    # Only the spaces between cells and the ends of lines differ.
    assert "".join(shown.text.split()) == "".join(str(result).split())


def test_text_of_files_cannot_become_markup():
    original = pa.table({EVIL: ["a", "b", "c", "a"], "ill": ["no", EVIL, "no", "yes"]})
    pair = unveil.Pair(original, original)
    for one in (unveil.identity(pair, [EVIL]), unveil.attribute(pair, [EVIL], target="ill")):
        assert "script" not in Read(one._repr_html_()).tags
        assert EVIL not in one._repr_html_()


def test_a_mark_in_a_file_is_no_mark():
    html = as_html(
        lambda: "\n".join([paragraph("first"), text_table(["\x000\x00"], [["\x000\x00"]]), "plain \x007\x00"])
    )
    read = Read(html)
    assert [cell.strip() for cell in read.cells] == [r"\x000\x00", r"\x000\x00"]
    assert html.count("<p>first</p>") == 1
    assert r"<p>plain \x007\x00</p>" in html


def test_plain_text_is_as_before_once_html_was_asked_for():
    with pytest.raises(ZeroDivisionError):
        as_html(lambda: paragraph("lost") * (1 // 0))
    assert paragraph("a", "b") == "a b"
