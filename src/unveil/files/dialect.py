"""How a delimited text file is written: compression, encoding, delimiter, header."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from unveil.errors import CallError, DataError, FileError, is_of_memory
from unveil.files.arrays import check_names
from unveil.files.path_checks import no_memory, reason_of
from unveil.notes import Note, warn

SAMPLE_BYTES = 1 << 20
UNREADABLE = (OSError, EOFError, zlib.error, MemoryError)
"""Errors of the operating system and of the decompressor."""
SAMPLE_RECORDS = 4000
DELIMITERS = (",", ";", "\t", "|")
DELIMITER_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
GZIP = b"\x1f\x8b"
FOREIGN = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"FEA1": "a Feather file; name it .feather",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
    b"$FL2": "an SPSS file; name it .sav",
    b"$FL3": "a compressed SPSS file; name it .zsav",
    b"<stata_dta>": "a Stata file; name it .dta",
    b"HEADER RECORD*******LIB": "a SAS transport file; name it .xpt",
    b"RDX": "an R file; name it .rda",
    b"X\n\x00\x00": "an R file; name it .rds",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
    b"%PDF": "a PDF document; export the table as CSV",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
}
MARKUP = {
    "<!doctype": "a web page",
    "<html": "a web page",
    "<?xml": "an XML file",
    '{"': "a JSON file",
    "[{": "a JSON file",
}


@dataclass(frozen=True)
class Dialect:
    """How one file is written.

    Parameters
    ----------
    path, label
        The file, and its name in messages.
    encoding
        Python name of the character encoding.
    delimiter
        One character.
    names
        Column names, without the column of row names.
    row_names
        Whether a column of row names (written by R) comes first.
    sample
        The first records after the header.
    encoding_given
        Whether the user gave the encoding, so that no other is tried.
    missing
        Texts that stand for a gap where they are not quoted.
    """

    path: Path
    label: str
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    row_names: bool
    sample: tuple[tuple[str, ...], ...]
    encoding_given: bool
    missing: tuple[str, ...] = ("",)

    @property
    def width(self) -> int:
        """Number of fields of a record."""
        return len(self.names) + self.row_names


def open_bytes(path: Path) -> BinaryIO:
    """Open the bytes of a file; gzip is unpacked, whatever the ending is."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == GZIP
    if not is_compressed:
        return path.open("rb")
    import gzip

    return cast(BinaryIO, gzip.open(path, "rb"))


def has_mark(path: Path) -> bool:
    """Whether the file begins with the byte order mark of UTF-8."""
    with open_bytes(path) as file:
        return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def unreadable(label: str, error: BaseException) -> FileError:
    """Return the error for a failure of the operating system or the decompressor."""
    if is_of_memory(error):
        return no_memory(label)
    return FileError(f"{label}: cannot be read ({reason_of(error)}); check that the file is complete")


def find_dialect(path: Path, label: str, encoding: str | None, delimiter: str | None) -> Dialect:
    """Return how a file is written, by its first bytes.

    Raises
    ------
    CallError
        If the encoding is unknown or the delimiter is not one character.
    FileError
        If the file is empty or is not text.
    DataError
        If column names are repeated or blank.
    """
    try:
        with open_bytes(path) as file:
            head = file.read(SAMPLE_BYTES)
            whole = not file.read(1)
    except UNREADABLE as error:
        raise unreadable(label, error) from None
    _check_text(head, label, encoding)
    found, text = _decode(head, label, encoding, whole)
    _check_not_markup(text, label)
    if not text.strip("\ufeff \r\n"):
        raise FileError(f"{label}: the file is empty; it needs a first line with the column names")
    found_delimiter = _checked_delimiter(delimiter) or _find_delimiter(text, whole)
    records = _records(text, found_delimiter, whole, label)
    names, row_names = _header(records, label, found_delimiter)
    sample = tuple(tuple(record) for record in records[1:])
    return Dialect(path, label, found, found_delimiter, names, row_names, sample, encoding is not None)


def as_windows(form: Dialect) -> Dialect:
    """Return the dialect with the encoding of Windows, after a byte far down was not UTF-8."""
    _warn_windows(form.label)
    return replace(form, encoding="cp1252")


def _warn_windows(label: str) -> None:
    text = f"{label}: not UTF-8, read as Windows text (cp1252); give encoding= if accented letters look wrong"
    warn(Note(text))


def _check_text(head: bytes, label: str, encoding: str | None) -> None:
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise FileError(f"{label}: not a text file but {what}")
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in head and not marked and encoding is None:
        raise FileError(
            f"{label}: not a text file (it holds zero bytes); if it is UTF-16 text give encoding='utf-16-le'"
        )


def _check_not_markup(text: str, label: str) -> None:
    start = text.lstrip("\ufeff \r\n\t")[:20].lower()
    for mark, what in MARKUP.items():
        if start.startswith(mark):
            raise FileError(f"{label}: not a delimited text file but {what}; export the table as CSV")
    if re.match(r"sep=.[\r\n]", start):
        raise FileError(f"{label}: the first line is a hint for Excel ({start[:5]}); remove that line")


def _decode(head: bytes, label: str, encoding: str | None, whole: bool) -> tuple[str, str]:
    """Return the encoding and the text of the file's head (which may end inside a character)."""
    if encoding is not None:
        name = _known_encoding(encoding)
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
    else:
        name = "utf-8"
    try:
        return name, codecs.getincrementaldecoder(name)().decode(head, final=whole)
    except UnicodeDecodeError as error:
        if encoding is not None or name == "utf-16":
            line = 1 + error.object[: error.start].decode(name, "ignore").count("\n")
            raise undecodable(label, name, line) from None
    _warn_windows(label)
    return "cp1252", head.decode("cp1252", "replace")


def undecodable(label: str, encoding: str, line: int) -> FileError:
    """Return the error for bytes that are not text in the encoding."""
    return FileError(f"{label}: line {line} is not {encoding} text; give the file's encoding with encoding=")


def _known_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        b"a".decode(name)
    except UnicodeDecodeError:
        pass  # a letter has more bytes
    except (LookupError, ValueError):  # unknown, or not an encoding of text
        raise CallError(f"unknown encoding {encoding!r}; for instance 'utf-8', 'cp1252', 'latin-1', 'utf-16'") from None
    return "utf-8" if name == "utf-8-sig" else name


def _checked_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
        raise CallError(f"delimiter must be one character, such as ',' or ';' or a tab, not {delimiter!r}")
    return delimiter


def _records(text: str, delimiter: str, whole: bool, label: str, limit: int = SAMPLE_RECORDS) -> list[list[str]]:
    """Return the first records that are not blank, without a record that the sample cuts off."""
    records: list[list[str]] = []
    try:
        with _fields_of_any_length():
            for record in csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter):
                if record:
                    records.append(record)
                if len(records) > limit:
                    return records
    except csv.Error as error:
        raise FileError(f"{label}: not a delimited text file ({error}); a quote may never be closed") from None
    return records if whole or len(records) < 2 else records[:-1]


def _find_delimiter(text: str, whole: bool) -> str:
    """Return the delimiter with which most records have as many fields as the header; the first of equals."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        try:
            records = _records(text, delimiter, whole, "", limit=100)
        except FileError:
            continue
        width = len(records[0]) if records else 0
        if width < 2:
            continue
        widths = Counter(len(record) for record in records[1:])
        fitting = max(widths[width], widths[width + 1]) / max(len(records) - 1, 1) if widths else 1.0
        if (fitting, width) > best_score:
            best, best_score = delimiter, (fitting, width)
    return best


def _header(records: list[list[str]], label: str, delimiter: str) -> tuple[tuple[str, ...], bool]:
    """Return column names, and whether a column of row names comes first."""
    names = records[0]
    widths = {len(record) for record in records[1:]}
    shorter = widths == {len(names) + 1} and len(names) > 1
    unnamed = not names[0].strip() and len(names) > 1
    if shorter and all(record[-1] == "" for record in records[1:]):
        raise DataError(
            f"{label}: every line but the first ends with a {DELIMITER_NAMES.get(delimiter, 'delimiter')}; "
            "remove it, or name the column that it makes"
        )
    if shorter or unnamed:
        text = f"{label}: the first column has no name (row names, as R writes them) and is left out"
        warn(Note(text))
        names = names[1:] if unnamed else names
    if names[-1].strip() == "" and len(names) > 1:
        raise DataError(
            f"{label}: the last column has no name; give it one, or remove the "
            f"{DELIMITER_NAMES.get(delimiter, 'delimiter')} at the end of the first line"
        )
    return check_names(names, label), shorter or unnamed


def read_records(form: Dialect, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield records with the number of the line on which each begins; slow, for error messages only."""
    with (
        _fields_of_any_length(),
        open_bytes(form.path) as raw,
        io.TextIOWrapper(raw, form.encoding, "replace", newline="") as text,
    ):
        reader = csv.reader(text, delimiter=form.delimiter, strict=strict)
        line = 1
        try:
            for record in reader:
                yield line, record
                line = reader.line_num + 1
        except csv.Error:
            raise FileError(
                f"{form.label}: the quotes of the record on line {line} do not pair; close or double them"
            ) from None


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Lift the limit of Python's reader, which rejects fields of more than 128 KB."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def undecodable_line(form: Dialect) -> int:
    """Return the number of the first line that is not text in the file's encoding."""
    decoder = codecs.getincrementaldecoder(form.encoding)()
    line = 1
    with open_bytes(form.path) as file:
        try:
            while chunk := file.read(SAMPLE_BYTES):
                line += decoder.decode(chunk).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].decode(form.encoding, "ignore").count("\n")
    return line
