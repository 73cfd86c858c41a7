"""Suggestions for names that were probably mistyped."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import islice

CUTOFF = 0.65
MOST_COMPARED = 2000
SHOWN = 3
LISTED = 6


def near_matches(name: str, known: Iterable[str]) -> str:
    """Return a phrase with the most similar known names; "" if none is similar.

    Names that differ only in letter case, blanks or Unicode form come first.

    Examples
    --------
    >>> near_matches("regoin", ["region", "age"])
    "; did you mean 'region'?"
    >>> near_matches("single", ["Missing", "SINGLE"])
    "; did you mean 'SINGLE'?"
    >>> near_matches("x", ["region", "age"])
    ''
    """
    listed = [one for one in known if one != name]
    wanted = folded(name)
    same = [one for one in listed if len(one) <= 2 * len(name) + 9 and folded(one) == wanted]
    if same:
        composed = unicodedata.normalize("NFC", name)
        looks_alike = [one for one in same if unicodedata.normalize("NFC", one) == composed]
        if looks_alike:
            return f"; it has {looks_alike[0]!r} in another Unicode form ({looks_alike[0]!a}, not {name!a})"
        return _phrase(same)
    import difflib

    by_folded: dict[str, str] = {}
    for one in islice(listed, MOST_COMPARED):
        by_folded.setdefault(folded(one), one)
    return _phrase([by_folded[one] for one in difflib.get_close_matches(wanted, by_folded, n=SHOWN, cutoff=CUTOFF)])


def near_or_all(name: str, known: Iterable[str], what: str) -> str:
    """The most similar known names as a phrase; where none is similar all of them, or the first.

    Examples
    --------
    >>> near_or_all("regoin", ["region", "age"], "the keys are")
    "; did you mean 'region'?"
    >>> near_or_all("x", ["region", "age"], "the keys are")
    "; the keys are 'region', 'age'"
    >>> near_or_all("x", map(str, range(20)), "its levels are")
    "; its levels are '0', '1', '2', '3', '4', '5', and 14 more"
    """
    names = list(known)
    found = near_matches(name, names)
    if found or not names:
        return found
    more = f", and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"; {what} {', '.join(map(repr, names[:LISTED]))}{more}"


def folded(name: str) -> str:
    """Return the name without letter case, accents and the signs between words."""
    parts = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c) and c not in " _-.\t\u00a0\u200b\ufeff")


def _phrase(names: list[str]) -> str:
    return f"; did you mean {' or '.join(repr(name) for name in names[:SHOWN])}?" if names else ""
