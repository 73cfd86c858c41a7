"""Formulas and references in pages, drawn while the site is built, so that a reader needs no script and no network.

mkdocs calls :func:`on_page_content`. Formulas in TeX become MathML, which browsers draw themselves.
"""

from __future__ import annotations

import html
import re
from typing import Any

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):<code>~?")
MATH_ROLE = re.compile(r":math:<code>(.*?)</code>", re.S)


def on_page_content(content: str, **_: Any) -> str:
    """The page with formulas as MathML, and without the marks of Sphinx in docstrings."""
    content = FORMULA.sub(lambda found: drawn(found[2], block=found[1] == "div"), content)
    content = MATH_ROLE.sub(lambda found: drawn(found[1], block=False), content)
    return ROLE.sub("<code>", content)


def drawn(formula: str, *, block: bool) -> str:
    """A formula as MathML; a wide one scrolls in its own box."""
    from latex2mathml.converter import convert

    return convert(html.unescape(formula).strip(), display="block" if block else "inline")
