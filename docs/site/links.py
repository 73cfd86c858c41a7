"""Links between pages, which lead to the files of the repository, lead to the pages of the site.

mkdocs calls :func:`on_page_markdown`. A link to a file that is no page (code, a test) becomes its text.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Turn the links of one page, and say that a session of Python is one."""
    here = page.file.src_uri

    def turned(link: re.Match[str]) -> str:
        picture, text, path, anchor = link.groups()
        there = site_path(here, path)
        if files.get_file_from_path(there) is None:
            return text if path.startswith("..") else link[0]
        return f"{picture}[{text}]({posixpath.relpath(there, posixpath.dirname(here) or '.')}{anchor or ''})"

    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", LINK.sub(turned, markdown), flags=re.M)


def site_path(page: str, link: str) -> str:
    """The path in the site of what a page links to by its path in the repository.

    Examples
    --------
    >>> site_path("reading.md", "measures.md")
    'measures.md'
    >>> site_path("examples/intruders/README.md", "../../docs/posterior.md")
    'posterior.md'
    >>> site_path("engines.md", "../examples/census/census.ipynb")
    'examples/census/census.ipynb'
    """
    stored = page if page.startswith("examples/") else f"docs/{page}"
    return posixpath.normpath(posixpath.join(posixpath.dirname(stored), link)).removeprefix("docs/")
