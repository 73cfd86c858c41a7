"""Suggestions for names that were probably mistyped."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["near_matches"]


def near_matches(name: str, known: Iterable[str]) -> str:
    """A phrase with the most similar known names, or nothing where none is similar.

    Examples
    --------
    >>> near_matches("regoin", ["region", "age"])
    "; did you mean 'region'?"
    >>> near_matches("x", ["region", "age"])
    ''
    """
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
