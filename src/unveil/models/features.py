"""What the intruder knows of a person, as features: key codes, and how models of each kind read them.

A gap of a categorical key is a level. A gap or a special code of a numeric key is not an amount: trees see it
apart from the amounts, linear models through an indicator, and the forest as a value beyond the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.combinations import fold
from unveil.models.design import Coded
from unveil.trees import Column

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Key:
    """One key variable, as models see it.

    Parameters
    ----------
    column
        The variable in all files.
    order : (n_levels,) intp, optional
        Per code the level of a column without amounts; by default the code itself.
    """

    column: CodedColumn
    order: NDArray[np.intp] | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return self.column.n_levels

    @property
    def kind(self) -> Literal["numeric", "ordered", "categorical"]:
        """How models may use it."""
        if self.column.has_amounts:
            return "numeric"
        return "ordered" if self.column.kind == "ordered" and not self.column.has_gap else "categorical"

    @cached_property
    def columns(self) -> tuple[tuple[Column, NDArray[np.int32] | None], ...]:
        """What trees see, without records, and the code that each level has there; None where it has its own."""
        none = np.zeros(0, dtype=np.int32)
        if self.kind != "numeric":
            return ((Column(none, self.kind, self.n_levels, name=self.name), None),)
        present = self.column.is_amount
        values, position = np.unique(self.column.amounts[present], return_inverse=True)
        # records without an amount stand at the lowest value; the column that follows tells them apart
        table = np.zeros(self.n_levels, dtype=np.int32)
        table[present] = position.ravel()
        amount = (Column(none, "numeric", values.size, values, self.name), table)
        if present.all():
            return (amount,)
        others = int((~present).sum())
        part = np.zeros(self.n_levels, dtype=np.int32)
        part[~present] = np.arange(1, others + 1)
        return amount, (Column(none, "categorical", others + 1, name=f"{self.name} (no amount)"), part)

    def label(self, code: int) -> str:
        """The text of one level."""
        return self.column.label(code if self.order is None else int(self.order[code]))

    def listed(self, codes: NDArray[np.integer]) -> list[int]:
        """Codes in the order in which their levels are listed."""
        ordered: list[int] = (codes if self.order is None else codes[np.argsort(self.order[codes])]).tolist()
        return ordered


@dataclass(frozen=True, eq=False)
class KeyTable:
    """The keys of some records.

    Parameters
    ----------
    keys
        The key variables.
    codes : (p, n) int32
        Code of every record in every key.
    """

    keys: tuple[Key, ...]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def take(self, records: NDArray[np.integer] | slice) -> KeyTable:
        """Some of the records."""
        return KeyTable(self.keys, np.ascontiguousarray(self.codes[:, records]))

    def joined(self, other: KeyTable) -> KeyTable:
        """These records and then those."""
        return KeyTable(self.keys, np.concatenate([self.codes, other.codes], axis=1))

    def with_key(self, key: int, codes: NDArray[np.integer]) -> KeyTable:
        """The same records with other codes in one key."""
        changed = self.codes.copy()
        changed[key] = codes
        return KeyTable(self.keys, changed)

    def distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One record of each combination of keys, and for every record the number of its combination."""
        _, folded = fold(self.codes, [key.n_levels for key in self.keys])
        _, first, position = np.unique(folded, return_index=True, return_inverse=True)
        return first, position.ravel()

    def ordering(self, y: NDArray[np.generic]) -> NDArray[np.intp]:
        """Records in ascending order of keys and target; it does not depend on the order in which they came."""
        # whole numbers of up to 16 bits are sorted by their digits, in a tenth of the time
        return np.lexsort([_narrow(values) for values in (y, *self.codes[::-1])])

    @property
    def coded(self) -> list[Coded]:
        """The keys for a design."""
        return [Coded(codes, key.column.amounts) for key, codes in zip(self.keys, self.codes, strict=True)]

    def columns(self) -> list[Column]:
        """The keys for trees: numeric keys that are not always an amount are split in two."""
        return [
            column.with_codes(codes if table is None else table[codes])
            for key, codes in zip(self.keys, self.codes, strict=True)
            for column, table in key.columns
        ]

    def values(self) -> Floats:
        """The keys as numbers (p, n): amounts, level codes, and infinity and above where there is no amount."""
        result = np.empty(self.codes.shape)
        for row, key, codes in zip(result, self.keys, self.codes, strict=True):
            amounts = np.where(key.column.is_amount, key.column.amounts, np.inf)
            row[:] = amounts[codes] if key.kind == "numeric" else codes
        return result


def _narrow(y: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same codes in as few bytes as they need; other numbers as they are."""
    whole = y.dtype.kind in "iu" and y.size > 0 and y.min() >= 0
    return y.astype(np.min_scalar_type(y.max())) if whole else y


def stacked(columns: Sequence[CodedColumn], codes: Sequence[NDArray[np.int32]]) -> KeyTable:
    """A table from one array of codes per column."""
    return KeyTable(tuple(map(Key, columns)), np.stack(codes))
