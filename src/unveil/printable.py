"""Text that is shown to people: names and levels come from files, and may hold what commands a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")

_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
"""Control characters but for tab and line feed, marks that turn the direction of writing, and invisible ones."""
LONGEST = 2000


def printable(text: str) -> str:
    r"""The text with characters that command a terminal or hide from a reader by their numbers.

    Line feeds and tabs stay, as does what joins the letters of some scripts.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    r"""The text printable on one line, and cut where nobody would read on.

    Examples
    --------
    >>> print(one_line("a\nb\a"))
    a\nb\x07
    """
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return printable(cut).replace("\n", r"\n").replace("\t", r"\t")


def how_many(number: int, what: str) -> str:
    """A number and what it counts, in the singular for one; what is counted takes its s at its end.

    Examples
    --------
    >>> how_many(1, "released record"), how_many(0, "pair"), how_many(20, "file")
    ('1 released record', '0 pairs', '20 files')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def commands_shown(text: Callable[[T], str]) -> Callable[[T], str]:
    """The same ``__str__`` or ``__repr__``, printable: what it says of names and levels is what files say."""

    @wraps(text)
    def shown(self: T) -> str:
        return printable(text(self))

    return shown
