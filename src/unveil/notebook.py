"""Printed results as HTML for notebooks: the same tables and sentences, laid out by the browser.

The words of a result are put together in one place, for terminals and for notebooks. While :func:`as_html` asks for
them, tables and paragraphs are set aside as HTML and leave a mark in the text; the marks are replaced at the end, and
all other text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from secrets import token_hex

from unveil.printable import printable


@dataclass(frozen=True)
class _Aside:
    """Parts that are HTML already, and what marks their places: text from files cannot know it."""

    secret: str = field(default_factory=lambda: token_hex(16))
    parts: list[str] = field(default_factory=list)

    def mark(self, html: str) -> str:
        self.parts.append(html)
        return f"{self.secret}-{len(self.parts) - 1}-"

    def pieces(self, text: str) -> Iterator[tuple[str, str]]:
        """Plain text, and the part that follows it."""
        *before, last = re.split(f"{self.secret}-([0-9]+)-", text)
        for plain, number in zip(before[::2], before[1::2], strict=True):
            yield plain, self.parts[int(number)]
        yield last, ""


_aside: ContextVar[_Aside | None] = ContextVar("aside", default=None)
# The colours are those of the notebook, light or dark, mixed with what lies below.
_STYLE = """
<style>
.unveil-result { font: 14px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.unveil-result > p { margin: .5em 0; max-width: 60em; }
.unveil-result > p:first-child { font-weight: 600; }
.unveil-result > p.warning { border-left: 3px solid #c77700; padding-left: .7em; }
.unveil-result > .scroll { overflow-x: auto; margin: .7em 0; }
.unveil-result table { border-collapse: collapse; margin: 0; }
.unveil-result th, .unveil-result td { text-align: right; padding: .25em .8em; background: transparent;
  border: 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); white-space: nowrap; }
.unveil-result thead th { border-bottom: 2px solid color-mix(in srgb, currentColor 60%, transparent);
  vertical-align: bottom; }
.unveil-result th:first-child, .unveil-result td:first-child { text-align: left; padding-left: 0; }
.unveil-result tbody th { font-weight: 500; }
.unveil-result pre { margin: .5em 0; white-space: pre-wrap; background: transparent; }
</style>"""


def as_html(words: Callable[[], str]) -> str:
    """The text that a function puts together, as HTML.

    Parameters
    ----------
    words
        Function that returns the text, made of :func:`unveil.result.text_table`, :func:`unveil.result.paragraph` and
        plain lines.

    Examples
    --------
    >>> from unveil.result import paragraph
    >>> print(as_html(lambda: paragraph("Of 100 records", "a < b.")).partition("</style>")[2])
    <div class="unveil-result">
    <p>Of 100 records a &lt; b.</p>
    </div>
    """
    aside = _Aside()
    token = _aside.set(aside)
    try:
        text = words()
    finally:
        _aside.reset(token)
    blocks = []
    for plain, part in aside.pieces(text):
        blocks += [_plain(printable(plain).strip("\n"))] * bool(plain.strip())
        blocks += [part] * bool(part)
    return "\n".join([f'{_STYLE}<div class="unveil-result">', *blocks, "</div>"])


def _plain(text: str) -> str:
    """Text that is no paragraph: a heading, or lines whose breaks matter."""
    kind = "pre" if "\n" in text else "p"
    return f"<{kind}>{escape(text)}</{kind}>"


def paragraph_as_html(text: str) -> str | None:
    """A mark for a paragraph that is set aside; None where plain text is wanted."""
    aside, kind = _aside.get(), ' class="warning"' if text.startswith("Warning:") else ""
    return None if aside is None else aside.mark(f"<p{kind}>{escape(text)}</p>")


def table_as_html(cells: Sequence[Sequence[str]]) -> str | None:
    """A mark for a table that is set aside, its first row the header; None where plain text is wanted."""
    aside = _aside.get()
    if aside is None:
        return None
    header, *rows = cells
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return aside.mark(f'<div class="scroll">{table}</div>')
