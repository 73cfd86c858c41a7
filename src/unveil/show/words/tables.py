"""Sentences that several results share: what was measured on what, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unveil.result import paragraph

__all__ = ["RISE", "grouping_in_words", "heading", "left_out_in_words"]

RISE = (
    "DiSCO would be higher if the release carried only its most frequent value, which tells less: a low DiSCO is no "
    "sign of protection here"
)
"""What a DiSCO that rises where the target tells less says."""
_LEVELS_SHOWN = 6


def heading(what: str, n_original: int, keys: Sequence[str], *more: str) -> str:
    """First line of a result: what is measured, on how many records, with which keys."""
    return paragraph(f"{what}: {n_original} original records, keys {', '.join(keys)}" + "".join(f"; {m}" for m in more))


def grouping_in_words(grouping: Mapping[str, Mapping[str, object]]) -> list[str]:
    """How numeric columns were cut, a paragraph per column."""
    lines = []
    for column, cut in grouping.items():
        levels = cut["levels"]
        assert isinstance(levels, list)
        more = len(levels) - _LEVELS_SHOWN
        shown = ", ".join(levels[:_LEVELS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        lines.append(paragraph(f"Measured with {column} in {len(levels)} groups: {shown}."))
    return lines


def left_out_in_words(
    left_out: Sequence[tuple[str, int, int]], n_original: int, n_synthetic: Sequence[int], rules: str
) -> list[str]:
    """How many records of each file do not count, a paragraph per release where there are any.

    Parameters
    ----------
    left_out
        Per release its name and the numbers of original and synthetic records that do not count.
    n_original, n_synthetic
        Number of records of the original and of each release.
    rules
        Options that leave them out.
    """
    return [
        paragraph(
            f"Left out ({rules}): {original} of {n_original} original records and {synthetic} of {n} of {label}. They"
            " stay in the denominators."
        )
        for (label, original, synthetic), n in zip(left_out, n_synthetic, strict=True)
        if original or synthetic
    ]
