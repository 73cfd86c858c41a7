"""Texts in a column of numbers, which make text of the whole column."""

from __future__ import annotations

import re

import pyarrow as pa

from unveil.files.arrays import dictionary_levels

FEW_TEXTS = 3
NUMBERS_PER_TEXT = 10
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:[.,]\d+)*")
"""Without zeros in front: what has them is a code, and no amount."""


def texts_among_numbers(column: pa.ChunkedArray) -> tuple[str, ...]:
    """Return the texts of a column if they are few and all its other values are numbers: they may stand for gaps.

    Parameters
    ----------
    column
        A column as it was read.

    Returns
    -------
    tuple of str
        At most three texts, in order; none if the column holds no text, or too many.

    Examples
    --------
    >>> costs = pa.array(["k.A.", *(f"{euros},50" for euros in range(12))]).dictionary_encode()
    >>> texts_among_numbers(pa.chunked_array([costs]))
    ('k.A.',)
    """
    levels = dictionary_levels(column) if pa.types.is_dictionary(column.type) else []
    if not all(isinstance(level, str) for level in levels):
        return ()
    texts = sorted(level for level in levels if not _NUMBER.fullmatch(level))
    enough = len(levels) - len(texts) >= NUMBERS_PER_TEXT * len(texts)
    return tuple(texts) if enough and len(texts) <= FEW_TEXTS else ()
