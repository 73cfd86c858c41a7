"""One column by what a schema declares of it: its levels, the parts of its amounts, and whether there are gaps."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.files.arrays import buffer_view, quoted_list
from unveil.files.distinct import PER_SECOND, level_text, level_texts
from unveil.files.source import Kind, Scalar
from unveil.synthesis.methods.coded_file import Codes
from unveil.synthesis.methods.parts import Floats, Parts

A_DAY = 86_400
MIDNIGHT = " 00:00:00"


@dataclass(frozen=True, eq=False)
class PublicColumn:
    """One column by its declaration. Its codes are the parts of amounts, then the levels, then the gap.

    Parameters
    ----------
    name, kind
        Name and kind.
    levels
        Declared levels in their order, or special codes of a numeric column.
    parts
        Parts of the amounts; None for a column without amounts.
    gaps
        Whether a record may have no value.
    labels
        Label by code, so that files of labels and files of codes can be read.
    """

    name: str
    kind: Kind
    levels: tuple[Scalar, ...]
    parts: Parts | None
    gaps: bool
    labels: Mapping[Scalar, str]

    @property
    def n_parts(self) -> int:
        """Number of parts of amounts."""
        return 0 if self.parts is None else self.parts.n

    @property
    def n_levels(self) -> int:
        """Number of codes: parts, levels, and the gap."""
        return self.n_parts + len(self.levels) + self.gaps

    @cached_property
    def within(self) -> Floats:
        """(l,) logarithm of the probability of a value of a release, given its code."""
        sizes = [] if self.parts is None else self.parts.sizes.tolist()
        return -np.log(np.array([*sizes, *[1] * (self.n_levels - self.n_parts)], dtype=np.float64))

    @cached_property
    def _place(self) -> dict[str, int]:
        """Code by the text of a level and by its label."""
        found = {text_key(level): self.n_parts + i for i, level in enumerate(self.levels)}
        for code, label in self.labels.items():
            keys = text_key(code), text_key(label)
            for one, other in (keys, keys[::-1]):
                if one in found:
                    found.setdefault(other, found[one])
        return found

    def table(self, values: pa.Array, *, released: bool = False) -> NDArray[np.int32]:
        """Return the code (v + 1,) of each value, and last that of the gap; -1 for values that are not declared.

        Parameters
        ----------
        values
            Values without gaps, of any file.
        released
            Whether amounts must be possible values of a release; else every amount belongs to a part.
        """
        texts = [text_key(text) for text in level_texts(values)]
        if self.kind == "date":
            texts = [text.removesuffix(MIDNIGHT) for text in texts]
        codes = np.array([self._place.get(text, -1) for text in texts] + [-1], dtype=np.int32)
        if self.gaps:
            codes[-1] = self.n_levels - 1
        if self.parts is not None:
            amounts = _amounts(values, self.kind)
            rows = np.flatnonzero((codes[:-1] < 0) & ~np.isnan(amounts))
            part = self.parts.place(amounts[rows])
            codes[rows] = np.where(self.parts.step(amounts[rows], part) >= 0, part, -1) if released else part
        return codes

    def draw(self, codes: Codes, rng: np.random.Generator) -> pa.Array:
        """Return values of records: declared levels, and amounts drawn uniformly within their part."""
        is_gap = codes == self.n_levels - 1 if self.gaps else np.zeros(codes.size, dtype=np.bool_)
        levels = array_of_levels(self.levels, self.kind)
        if self.parts is None:
            indices = pa.array(np.where(is_gap, 0, codes), mask=is_gap)
            if self.kind == "ordered":
                return pa.DictionaryArray.from_arrays(indices, levels, ordered=True)
            return levels.take(indices)
        # Every record draws a number, so that no draw depends on other records.
        part = np.where(codes < self.n_parts, codes, 0)
        amounts = self.parts.values(part, (rng.random(codes.size) * self.parts.sizes[part]).astype(np.int64))
        own = np.append(np.array(self.levels, dtype=np.float64), 0.0)
        values = np.where(codes < self.n_parts, amounts, own[np.clip(codes - self.n_parts, 0, len(self.levels))])
        is_whole = self.parts.is_whole and not (own % 1).any()
        plain = pa.array(values.astype(np.int64) if is_whole else values, mask=is_gap)
        if self.kind == "date":
            return plain.cast(pa.int32()).cast(pa.date32())
        return plain.cast(pa.timestamp("s")) if self.kind == "datetime" else plain

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain values."""
        said: dict[str, Any] = {"kind": self.kind}
        if self.parts is None:
            said["levels"] = list(self.levels)
        else:
            ends = [_plain(end, self.kind) for end in self.parts.declared]
            said |= {"bounds": [ends[0], ends[-1]], "bins": ends, "special_codes": list(self.levels)}
        return said | {"gaps": self.gaps}


def _plain(end: float, kind: Kind) -> Scalar:
    """Return a bound as in a schema: a number, or the text of a date or time."""
    return end if kind == "numeric" else str(np.datetime64(int(end), "D" if kind == "date" else "s"))


def text_key(value: object) -> str:
    """Return the text by which values are compared."""
    return unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else level_text(value)


def array_of_levels(levels: Sequence[Scalar], kind: Kind, where: str = "levels") -> pa.Array:
    """Return declared levels in the type of a release.

    Raises
    ------
    CallError
        If a level is not of the kind.
    """
    try:
        if kind in ("date", "datetime"):
            return pa.array(list(map(str, levels)), pa.string()).cast(
                pa.date32() if kind == "date" else pa.timestamp("s")
            )
        if all(isinstance(level, bool) for level in levels):
            return pa.array(levels, pa.bool_())
        if all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels):
            return pa.array(levels, pa.int64() if all(isinstance(level, int) for level in levels) else pa.float64())
        if kind not in ("numeric", "logical"):
            return pa.array([level_text(level) for level in levels], pa.string())
    except (pa.ArrowInvalid, OverflowError):
        pass
    raise CallError(f"{where}: {quoted_list(levels)} are not levels of a {kind} column") from None


def _amounts(values: pa.Array, kind: Kind) -> Floats:
    """Return (v,) numbers, days or seconds; NaN for other values."""
    found = values.type
    if pa.types.is_timestamp(found):
        seconds = buffer_view(values.cast(pa.int64()), np.int64) // PER_SECOND[found.unit]
        return (seconds // A_DAY if kind == "date" else seconds).astype(np.float64)
    if pa.types.is_date(found):
        days = buffer_view(values.cast(pa.int32()), np.int32).astype(np.float64)
        return days * A_DAY if kind == "datetime" else days
    if pa.types.is_integer(found) or pa.types.is_floating(found):
        return np.array(buffer_view(values.cast(pa.float64(), safe=False), np.float64))
    return np.full(len(values), np.nan)
