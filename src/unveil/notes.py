"""A sentence beside a figure, and what may be published of it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from unveil.errors import UnveilWarning


class Note(str):
    """A warning or note in plain words that knows what a document for publication says instead.

    It is a text like any other: it can be printed, compared and written as JSON.

    Parameters
    ----------
    text
        The whole sentence; it may name levels and values of the files.
    public
        The same without levels, values and exact counts, which a document for publication holds in its place. The
        text itself where it names none.

    Examples
    --------
    >>> note = Note("column 'job': 'miner' and 'Miner' were kept apart", "column 'job': two spellings were kept apart")
    >>> print(note, "|", note.public, "|", Note("few records").public)
    column 'job': 'miner' and 'Miner' were kept apart | column 'job': two spellings were kept apart | few records
    """

    public: str

    def __new__(cls, text: str, public: str | None = None) -> Note:
        """Make the text; ``public`` is the text itself unless given."""
        note = super().__new__(cls, text)
        note.public = text if public is None else public
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.public


def warn(text: str, columns: Iterable[str] = ()) -> None:
    """Warn of something in the data; the warning shows the line outside of this package that led to it.

    Parameters
    ----------
    text
        What deserves a look; a :class:`Note` may be published.
    columns
        The columns concerned; none if it is the file as a whole, or the column that is being read.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "unveil":
        frame, level = frame.f_back, level + 1
    warnings.warn(UnveilWarning(text, columns), stacklevel=level)


@contextmanager
def overheard() -> Iterator[list[UnveilWarning]]:
    """Listen to the package's own warnings of a block; when it ends all go on their way.

    Yields
    ------
    list of UnveilWarning
        Filled when the block has ended.

    Examples
    --------
    >>> with warnings.catch_warnings(action="ignore"):
    ...     with overheard() as heard:
    ...         warnings.warn("few records", UnveilWarning)
    >>> [one.text for one in heard]
    ['few records']
    """
    heard: list[UnveilWarning] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnveilWarning)
            yield heard
    finally:
        heard.extend(one.message for one in caught if isinstance(one.message, UnveilWarning))
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
