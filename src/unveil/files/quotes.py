"""Delimited text on its way to the parser: unpacked, in UTF-8, and looked through for quotes that are out of place.

The parser takes whatever stands between two quotes for one field, line breaks included. A quote too many at the start
of a field would make it swallow the records up to the next quote without a word. By the letter of the format a quoted
field begins after a delimiter or line break and ends before one; where every quote obeys, a single one too many cannot
be there.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from unveil.errors import FileError
from unveil.files.dialect import Dialect

QUOTE, NEWLINE, RETURN = ord('"'), ord("\n"), ord("\r")
GROWTH = 3
"""Most bytes in UTF-8 for one byte of another encoding."""


class CheckedText(io.RawIOBase):
    """A file that the parser reads from.

    Parameters
    ----------
    raw
        The bytes, unpacked.
    encoding
        Of the bytes.
    delimiter
        Between fields.
    label
        The file's name in messages.

    Attributes
    ----------
    obeys
        Whether all quotes are where the letter of the format has them, as far as the file was read.
    lines
        Number of lines that were read, with those inside of quotes.
    """

    def __init__(self, raw: BinaryIO, encoding: str, delimiter: str, label: str) -> None:
        self._raw, self._label = raw, label
        is_utf8 = codecs.lookup(encoding).name in ("utf-8", "ascii")
        self._decoder = None if is_utf8 else codecs.getincrementaldecoder(encoding)()
        self._edges = np.zeros(256, dtype=np.bool_)
        # A quote may stand beside one: the two of them mean one.
        self._edges[[ord(delimiter), NEWLINE, RETURN, QUOTE]] = True
        # The last byte that was judged, and one more that waits for the byte behind it.
        self._kept = b""
        self._inside, self._ended = False, False
        self._breaks, self._last = 0, b"\n"
        self.obeys = True

    @property
    def lines(self) -> int:
        """Number of lines; the last one may have no end."""
        return self._breaks + (self._last not in (b"\n", b"\r"))

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end alone.

        Raises
        ------
        FileError
            If there is a zero byte.
        UnicodeDecodeError
            If the bytes are no text in the encoding.
        """
        while not self._ended:
            if self._decoder is None:
                text = self._raw.read(size)
                self._ended = not text
            else:
                chunk = self._raw.read(max(size // GROWTH, 1) if size > 0 else -1)
                self._ended = not chunk
                text = self._decoder.decode(chunk, final=self._ended).encode()
            self._look_through(text)
            if text:
                return text
        return b""

    def _look_through(self, text: bytes) -> None:
        if b"\0" in text:
            line = 1 + self._breaks + _breaks(text[: text.index(b"\0")])
            raise FileError(f"{self._label}: line {line} holds a zero byte, which is no text; correct it")
        self._breaks += _breaks(text) - (self._last == b"\r" and text.startswith(b"\n"))
        self._last = text[-1:] or self._last
        if not self.obeys:
            return
        if not self._kept:
            self._kept, text = b"\n", text.removeprefix(codecs.BOM_UTF8)
        together = self._kept + text + (b"\n" if self._ended else b"")
        self._kept = together[-2:]
        if self._inside or b'"' in together:
            self._follow(np.frombuffer(together, dtype=np.uint8))
        self.obeys &= not (self._ended and self._inside)

    def _follow(self, block: NDArray[np.uint8]) -> None:
        """Follow which bytes are inside of quotes; the first byte was judged before, the last will be later.

        A quote at an even place among all of them opens a field, or stands second in a pair that means one quote; one
        at an odd place closes a field, or stands first in such a pair.
        """
        at = 1 + np.flatnonzero(block[1:-1] == QUOTE)
        first = int(self._inside)
        opens, closes = at[first::2], at[1 - first :: 2]
        self.obeys = bool(self._edges[block[opens - 1]].all() and self._edges[block[closes + 1]].all())
        self._inside = bool((at.size + first) % 2)


def _breaks(text: bytes) -> int:
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*([eE][+-]?[0-9]+)?")
BREAK = re.compile(r"\r\n|\n|\r")


class RecordsInside:
    """Whether a record that goes over several lines may be several records between two quotes too many.

    Every line of it then looks like a record: as many fields, and numbers where the other records have numbers.

    Parameters
    ----------
    form
        How the file is written.

    Attributes
    ----------
    first
        The line on which the first such one begins; None where there is none.
    """

    def __init__(self, form: Dialect) -> None:
        self.first: int | None = None
        self._delimiter, self._width = form.delimiter, form.width
        fitting = [record for record in form.sample if len(record) == form.width and not _spans(record)]
        self._numeric = [
            place for place in range(form.width) if fitting and all(_is_number(record[place]) for record in fitting)
        ]

    def look(self, line: int, record: Sequence[str]) -> None:
        """Look at a record that begins on a line. With one column every line looks like one, and tells nothing."""
        if self.first is not None or self._width < 2 or not _spans(record):
            return
        lines: list[list[str]] = [[]]
        for field in record:
            first, *others = BREAK.split(field)
            lines[-1] += self._fields(first)
            lines += [self._fields(one) for one in others]
        if all(self._is_like(fields) for fields in lines):
            self.first = line

    def _fields(self, piece: str) -> list[str]:
        return next(csv.reader([piece], delimiter=self._delimiter), []) or [""]

    def _is_like(self, fields: Sequence[str]) -> bool:
        return len(fields) == self._width and all(_is_number(fields[place]) for place in self._numeric)


def _spans(record: Sequence[str]) -> bool:
    return any("\n" in field or "\r" in field for field in record)


def _is_number(field: str) -> bool:
    return field == "" or NUMBER.fullmatch(field) is not None
