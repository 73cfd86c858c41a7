"""Names that the pages of the theme lack for those who do not see them.

mkdocs calls :func:`on_post_page`. What the theme adds while a page is shown is completed by access.js.
"""

from __future__ import annotations

import re
from typing import Any

SEARCH = 'data-md-component="search" role="dialog"'
DIRECTION = re.compile(r'(\bclass="md-footer__link [^>]*?aria-label="\w+): ([^"]*)"')


def on_post_page(output: str, **_: Any) -> str:
    """The page with a name for the search; links to the next page are called by the words that are seen on them.

    Raises
    ------
    mkdocs.exceptions.PluginError
        If the theme no longer writes the search as it did.
    """
    from mkdocs.exceptions import PluginError

    if SEARCH not in output:
        raise PluginError(f"the theme writes no {SEARCH}: docs/site/access.py names the search there")
    return DIRECTION.sub(_as_seen, output.replace(SEARCH, f'{SEARCH} aria-label="Search"'))


def _as_seen(name: re.Match[str]) -> str:
    # The theme escapes a title that has been escaped.
    return f'{name[1]} {name[2].replace("&amp;amp;", "&amp;")}"'
