"""Delimited text as the parser reads it: unpacked, in UTF-8, with a check for misplaced quotes.

The parser takes everything between two quotes for one field, line breaks included. One quote too many at the start of a
field would make it swallow the records up to the next quote, without an error. In correct text a quoted field begins
after a delimiter or line break and ends before one; if this holds for every quote, a single one too many is impossible.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from unveil.core import loop
from unveil.errors import FileError
from unveil.files.dialect import Dialect

NEWLINE = ord("\n")
GROWTH = 3
"""Most bytes in UTF-8 for one byte of another encoding."""
_text_marks = loop("text_marks", int, np.uint8, np.int64)
_quotes_at_edges = loop("quotes_at_edges", int, np.uint8, int, np.uint8, result=int)


class CheckedText(io.RawIOBase):
    """A file that the parser reads from.

    Parameters
    ----------
    raw
        The bytes, unpacked.
    encoding
        Character encoding of the bytes.
    delimiter
        Character between fields.
    label
        The file's name in messages.

    Attributes
    ----------
    obeys
        Whether all quotes that were read are at the edge of a field, or doubled.
    in_records
        Number of bytes that were read after the first line; breaks between lines and quotes left out.
    lines
        Number of lines that were read, including those inside quotes.
    """

    def __init__(self, raw: BinaryIO, encoding: str, delimiter: str, label: str) -> None:
        self._raw, self._label = raw, label
        is_utf8 = codecs.lookup(encoding).name in ("utf-8", "ascii")
        self._decoder = None if is_utf8 else codecs.getincrementaldecoder(encoding)()
        self._delimiter = ord(delimiter)
        # Before the first byte a line ends.
        self._state, self._begun = np.array([False, False, NEWLINE], np.uint8), False
        self._ended = False
        self._breaks, self._last = 0, b"\n"
        self._marks, self._in_first_line = np.zeros(4, np.int64), True
        self.obeys = True
        self.in_records = 0

    @property
    def lines(self) -> int:
        """Number of lines; the last one may have no end."""
        return self._breaks + (self._last not in (b"\n", b"\r"))

    def readable(self) -> bool:
        """Return True; Arrow asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; empty only at the end.

        Raises
        ------
        FileError
            If there is a zero byte.
        UnicodeDecodeError
            If the bytes are not text in the encoding.
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
        block = np.frombuffer(text, np.uint8)
        _text_marks(len(text), block, self._marks)
        feeds, returns, zeros, quotes = self._marks.tolist()
        if zeros:
            line = 1 + self._breaks + _breaks(text[: text.index(b"\0")])
            raise FileError(f"{self._label}: line {line} holds a zero byte, which is not text; correct it")
        in_pairs = text.count(b"\r\n") if returns else 0
        self._breaks += feeds + returns - in_pairs - (self._last == b"\r" and text.startswith(b"\n"))
        self._last = text[-1:] or self._last
        self.in_records += len(text) - feeds - returns - quotes - self._of_first_line(text)
        if not self.obeys:
            return
        if not self._begun:
            self._begun = True
            block = block[len(codecs.BOM_UTF8) if text.startswith(codecs.BOM_UTF8) else 0 :]
        if quotes or self._state[:2].any():
            self.obeys = bool(_quotes_at_edges(len(block), block, self._delimiter, self._state))
        elif len(block):
            self._state[2] = block[-1]
        is_open = bool(self._state[0])
        self.obeys &= not (self._ended and is_open)

    def _of_first_line(self, text: bytes) -> int:
        """Number of bytes that belong to the first line, quotes left out."""
        if not self._in_first_line:
            return 0
        end = BREAK_OF_BYTES.search(text)
        self._in_first_line = end is None
        line = text if end is None else text[: end.start()]
        return len(line) - line.count(b'"')


def _breaks(text: bytes) -> int:
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


BREAK_OF_BYTES = re.compile(rb"[\r\n]")
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*([eE][+-]?[0-9]+)?")
BREAK = re.compile(r"\r\n|\n|\r")


class RecordsInside:
    """Detects records that misplaced quotes turned into one.

    Such a record goes over several lines, and each line looks like a record: it has as many fields, and numbers where
    the other records have numbers.

    Parameters
    ----------
    form
        How the file is written.

    Attributes
    ----------
    first
        Line on which the first such record begins; None if there is none.
    """

    def __init__(self, form: Dialect) -> None:
        self.first: int | None = None
        self._delimiter, self._width = form.delimiter, form.width
        fitting = [record for record in form.sample if len(record) == form.width and not _spans(record)]
        self._numeric = [
            place for place in range(form.width) if fitting and all(_is_number(record[place]) for record in fitting)
        ]

    def look(self, line: int, record: Sequence[str]) -> None:
        """Check a record that begins on a line; with one column every line looks like a record, so nothing is said."""
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
