"""A page of the site that would load anything from another host is an error.

mkdocs calls :func:`on_post_page`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

LOADED = re.compile(
    r"<(?:script|img|iframe|source|link|object|embed)\b[^>]*?\b(?:src|href|data)=[\"']?((?:https?:)?//[^\"' >]+)"
)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """The page as it is.

    Raises
    ------
    mkdocs.exceptions.PluginError
        If it loads from another host.
    """
    from mkdocs.exceptions import PluginError

    if found := LOADED.search(output):
        raise PluginError(f"{page.file.src_uri}: loads {found[1]}; the site loads nothing from other hosts")
    return output
