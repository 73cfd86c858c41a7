"""Text as an exact number, and text without invisible differences."""

from __future__ import annotations

import math
import re
import unicodedata

_DIGITS_OF_A_DOUBLE = 15
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?", re.ASCII)


def plain_text(text: str) -> str:
    """Return the text without outer blanks, in the composed form of Unicode.

    Examples
    --------
    >>> plain_text(" cafe\\u0301") == "caf\\xe9"
    True
    """
    text = text.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def exact_number(text: object) -> int | float | None:
    """Return the number that a text writes; None if it writes none, or the number would lose digits.

    Examples
    --------
    >>> exact_number("12"), exact_number(" 1.50"), exact_number("01"), exact_number("1,5")
    (12, 1.5, None, None)
    """
    stripped = str(text).strip()
    if not _NUMBER.fullmatch(stripped):
        return None
    try:
        whole = int(stripped)
    except ValueError:
        return _real(stripped)
    return whole if -(2**63) <= whole < 2**63 else None


def _real(text: str) -> float | None:
    """Return the number, unless it has more digits than a double tells apart or is too large for a double."""
    number = float(text)
    digits = re.sub(r"[eE].*|[^0-9]", "", text).lstrip("0")
    return number if len(digits) <= _DIGITS_OF_A_DOUBLE and math.isfinite(number) else None
