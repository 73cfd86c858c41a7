"""What the intruder knows of a person, as features: key codes, and how models of each kind read them.

A gap of a categorical key is a level. A gap or a special code of a numeric key is not an amount: trees see it
apart from the amounts, linear models through an indicator, and the forest as a value beyond the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from unveil.columns.column import CodedColumn
from unveil.columns.combinations import fold
from unveil.trees import Column

Floats = NDArray[np.float64]


class _Labels(Sequence[str]):
    """Texts of a column's levels, made when they are asked for: of a million different numbers few ever are."""

    def __init__(self, column: CodedColumn):
        self._column = column

    def __len__(self) -> int:
        return self._column.n_levels

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> tuple[str, ...]: ...
    def __getitem__(self, code: int | slice) -> str | tuple[str, ...]:
        return self._column.labels[code] if isinstance(code, slice) else self._column.label(code)


@dataclass(frozen=True, eq=False)
class Key:
    """One key variable over the union of the levels of all files.

    Parameters
    ----------
    name
        The column's name.
    kind
        How models may use it.
    labels
        A text per level; the gap, if there is one, is the last.
    amounts : (n_levels,) float64
        The amount that each level is; NaN where it is none.
    place : (n_levels,) intp, optional
        Where a level stands when levels are listed; by default in the order of their codes.
    """

    name: str
    kind: Literal["numeric", "ordered", "categorical"]
    labels: Sequence[str]
    amounts: Floats
    place: NDArray[np.intp] | None = None

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.labels)

    @property
    def is_amount(self) -> NDArray[np.bool_]:
        """Per level, whether it is an amount."""
        return ~np.isnan(self.amounts)

    def codes_of_labels(self) -> dict[str, int]:
        """Codes of the levels that are not amounts by their labels, in the order in which they are listed."""
        return {self.labels[code]: code for code in self.listed(np.flatnonzero(~self.is_amount))}

    def listed(self, codes: NDArray[np.integer]) -> list[int]:
        """Codes in the order in which their levels are listed."""
        return [int(c) for c in (codes if self.place is None else codes[np.argsort(self.place[codes])])]

    def recoded(self, order: NDArray[np.intp]) -> Key:
        """The same variable with its levels in another order."""
        return Key(self.name, self.kind, tuple(self.labels[i] for i in order), self.amounts[order], order)


def key_of(column: CodedColumn) -> Key:
    """A coded column as a key."""
    if column.has_amounts:
        return Key(column.name, "numeric", _Labels(column), column.amounts)
    ordered = column.kind == "ordered" and not column.has_gap
    return Key(column.name, "ordered" if ordered else "categorical", column.labels, column.amounts)


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
        return np.lexsort((y, *self.codes[::-1]))

    def columns(self) -> list[Column]:
        """The keys for trees: numeric keys that are not always an amount are split in two."""
        result = []
        for key, codes in zip(self.keys, self.codes, strict=True):
            if key.kind != "numeric":
                result.append(Column(codes, key.kind, key.n_levels, name=key.name))
                continue
            present = key.is_amount
            values, position = np.unique(key.amounts[present], return_inverse=True)
            # records without an amount stand at the lowest value; the column that follows tells them apart
            table = np.zeros(key.n_levels, dtype=np.int32)
            table[present] = position.ravel()
            result.append(Column(table[codes], "numeric", values.size, values, key.name))
            if not present.all():
                part = np.zeros(key.n_levels, dtype=np.int32)
                part[~present] = np.arange(1, (~present).sum() + 1)
                result.append(
                    Column(part[codes], "categorical", int((~present).sum()) + 1, name=f"{key.name} (no amount)")
                )
        return result

    def values(self) -> Floats:
        """The keys as numbers (p, n): amounts, level codes, and infinity and above where there is no amount."""
        result = np.empty(self.codes.shape)
        for row, key, codes in zip(result, self.keys, self.codes, strict=True):
            row[:] = np.where(key.is_amount, key.amounts, np.inf)[codes] if key.kind == "numeric" else codes
        return result


@dataclass(frozen=True, eq=False)
class Design:
    """How keys become a matrix for linear models, settled on the training records.

    Categorical and ordered keys give an indicator for every level but the reference, numeric keys their amount
    (centred and scaled) and an indicator for each of their levels that is not an amount. A level that the training
    records lack is read as their average, not as the reference.

    Parameters
    ----------
    keys
        The key variables.
    tables
        Per key (n_levels, k): the columns of the matrix for each level.
    names
        Per column of the matrix the key and the level (None: the amount).
    """

    keys: tuple[Key, ...]
    tables: tuple[Floats, ...]
    names: tuple[tuple[str, str | None], ...]
    references: tuple[str | None, ...]

    @classmethod
    def of(cls, table: KeyTable, *, reference: Literal["first", "largest", "none"] = "first") -> Design:
        """Settle the design on training records.

        Parameters
        ----------
        table
            The training records.
        reference
            Which level has no indicator: the first that occurs, the one with most records, or none.
        """
        tables: list[Floats] = []
        names: list[tuple[str, str | None]] = []
        references: list[str | None] = []
        for key, codes in zip(table.keys, table.codes, strict=True):
            counts = np.bincount(codes, minlength=key.n_levels)
            amount = key.is_amount
            levels = np.flatnonzero((counts > 0) & ~amount)
            columns = []
            left_out: int | None = None
            if counts[amount].sum() > 0:
                weights, values = counts[amount], key.amounts[amount]
                centre = np.average(values, weights=weights)
                scale = np.sqrt(np.average((values - centre) ** 2, weights=weights)) or 1.0
                column = np.zeros(key.n_levels)
                column[amount] = (values - centre) / scale
                columns.append(column)
                names.append((key.name, None))
            elif levels.size and reference != "none":
                left_out = int(levels[0] if reference == "first" else levels[np.argmax(counts[levels])])
            for level in levels:
                if level == left_out:
                    continue
                column = np.zeros(key.n_levels)
                column[level] = 1.0
                column[(counts == 0) & ~amount] = counts[level] / max(len(table), 1)
                columns.append(column)
                names.append((key.name, key.labels[int(level)]))
            tables.append(np.column_stack(columns) if columns else np.zeros((key.n_levels, 0)))
            references.append(None if left_out is None else key.labels[left_out])
        return cls(table.keys, tuple(tables), tuple(names), tuple(references))

    def matrix(self, table: KeyTable, *, intercept: bool = False) -> Floats:
        """The records as a matrix (n, k), with a leading column of ones if asked for."""
        parts: list[Floats] = [np.ones((len(table), 1))] if intercept else []
        parts.extend(columns[codes] for columns, codes in zip(self.tables, table.codes, strict=True))
        return np.concatenate(parts, axis=1)


def stacked(keys: Sequence[Key], codes: Sequence[NDArray[np.int32]]) -> KeyTable:
    """A table from one array of codes per key."""
    return KeyTable(tuple(keys), np.stack([np.asarray(c, dtype=np.int32) for c in codes]))
