"""One inference problem: the keys, the target, and who counts, as arrays for every file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil._tables.keyed_pair import as_names
from unveil.checks import check_choice, check_numbers
from unveil.columns.column import CodedColumn, numbers_of
from unveil.columns.level_order import canonical_orders
from unveil.columns.pair import Pair
from unveil.columns.units import UnitColumn, row_by_row
from unveil.errors import CallError, DataError
from unveil.models.features import Key, KeyTable
from unveil.models.learners import ForestPredictor, Predictor, TrainingTarget
from unveil.notes import Note
from unveil.printable import how_many

Floats = NDArray[np.float64]
TargetKind = Literal["categorical", "continuous"]
_CELLS_PER_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class AttackRecords:
    """Records that an attacker is trained on, or that are attacked."""

    table: KeyTable
    target: TrainingTarget

    def __len__(self) -> int:
        return len(self.table)

    def take(self, records: NDArray[Any]) -> AttackRecords:
        """Some of the records."""
        return AttackRecords(self.table.take(records), self.target.take(records))

    def joined(self, other: AttackRecords | None) -> AttackRecords:
        """These records and then those."""
        if other is None or not len(other):
            return self
        return AttackRecords(self.table.joined(other.table), self.target.joined(other.target))

    def ordering(self) -> NDArray[np.intp]:
        """Their order by keys and target; the order in which they came is not to matter."""
        return self.table.ordering(self.target.y)

    def ordered(self) -> AttackRecords:
        """The records in that order."""
        return self.take(self.ordering())


@dataclass(frozen=True, eq=False)
class Inferred:
    """What an attacker says of every person: a value, and for classes the probability of the true one."""

    predicted: NDArray[Any]
    probability: Floats | None


@dataclass(frozen=True, eq=False)
class Problem:
    """Keys and target of an original and its releases.

    Parameters
    ----------
    pair
        The files.
    keys, target
        Names of the columns.
    classes
        Labels of the classes of all files, or None where the target is continuous; in an order that does not depend on
        the labels, as are the levels of nominal keys.
    listed
        Codes of the classes in the order in which they are listed.
    counted : (k,) intp
        The original records that count: all, but for those without an amount where the target is continuous.
    original, releases, side
        What is known of each file; the side information is repeated by its weight.
    notes
        What the figures do not say by themselves.
    warnings
        What deserves a look in the files, and what makes the figures say nothing.
    unmatched
        By column, what share of the records of each file hold values that the other lacks.
    """

    pair: Pair
    keys: tuple[str, ...]
    target: str
    classes: tuple[str, ...] | None
    listed: tuple[int, ...]
    counted: NDArray[np.intp]
    original: AttackRecords
    releases: tuple[AttackRecords, ...]
    side: AttackRecords | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    unmatched: dict[str, dict[str, Any]]

    @property
    def kind(self) -> TargetKind:
        """Whether classes or numbers are inferred."""
        return "continuous" if self.classes is None else "categorical"

    @property
    def truth(self) -> NDArray[Any]:
        """The true values of the records that count."""
        return self.original.target.y

    @cached_property
    def _combinations(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self.original.table.distinct()

    def infer(self, predict: Predictor) -> Inferred:
        """Apply a trained attacker to the keys of all persons, one block of key combinations at a time."""
        first, position = self._combinations
        return infer(predict, self.original, first, position)

    def infer_by_first(self, predict: ForestPredictor, sizes: Sequence[int]) -> list[Inferred]:
        """The same with the first trees of a forest alone, per number of trees."""
        first, position = self._combinations
        return infer_each(lambda table: predict.by_first(table, sizes), len(sizes), self.original, first, position)


def infer(predict: Predictor, attacked: AttackRecords, first: NDArray[np.intp], position: NDArray[np.intp]) -> Inferred:
    """Apply a trained attacker to records; each combination of keys is predicted once.

    Parameters
    ----------
    predict
        The attacker.
    attacked
        The records.
    first, position
        One record of each combination, and the combination of every record.
    """
    return infer_each(lambda table: [predict(table)], 1, attacked, first, position)[0]


def infer_each(
    predict: Callable[[KeyTable], Sequence[Floats]], n_models: int, attacked: AttackRecords,
    first: NDArray[np.intp], position: NDArray[np.intp],
) -> list[Inferred]:  # fmt: skip
    """Apply models that predict together to records; see :func:`infer`."""
    truth, n_classes = attacked.target.y, attacked.target.n_classes
    if n_classes is None:
        predicted = predict(attacked.table.take(first))
        return [Inferred(np.asarray(one, dtype=np.float64)[position], None) for one in predicted]
    size = max(_CELLS_PER_BLOCK // n_classes, 1)
    by_combination = np.argsort(position, kind="stable")
    ends = np.searchsorted(position[by_combination], np.arange(0, len(first) + size, size))
    probability, best = np.empty((n_models, len(truth))), np.empty((n_models, len(truth)), dtype=np.int32)
    for block, start in enumerate(range(0, len(first), size)):
        records = by_combination[ends[block] : ends[block + 1]]
        for model, found in enumerate(predict(attacked.table.take(first[start : start + size]))):
            probability[model, records] = found[position[records] - start, truth[records]]
            best[model, records] = found.argmax(axis=1)[position[records] - start]
    # a mean of shares may exceed 1 by a rounding error
    return [Inferred(b, np.clip(p, 0, 1)) for b, p in zip(best, probability, strict=True)]


def pose(
    pair: Pair,
    keys: str | list[str] | tuple[str, ...],
    target: str,
    *,
    kind: TargetKind | None = None,
    target_na: Literal["exclude", "median"] | float = "exclude",
    side_information: Any = None,
    side_weight: float = 1.0,
) -> Problem:
    """Gather keys and target of all files; see :func:`unveil._rapid.rapid`.

    Raises
    ------
    CallError
        If a column is unknown, the target is a key, or an option does not suit the target.
    DataError
        If there is nothing to train on or nobody to attack, or a continuous target is infinite.
    """
    names = as_names(keys, "key")
    if target in names:
        raise CallError(f"{target!r} is a key and the target; what is known need not be inferred")
    check_choice("kind", kind, (None, "categorical", "continuous"))
    check_numbers(0, side_weight=side_weight)
    pair.require([*names, target])
    files = pair if side_information is None else pair.with_files([side_information], "the side information")
    columns = [files.column(name, by_amount=True) for name in names]
    column = files.column(target, by_amount=True)
    notes: list[str] = []
    if kind is None and has_several_amounts(column):
        raise CallError(
            f"{target!r} holds amounts that differ within units, and a model infers one of each: give the files a "
            "column with one, such as the last, or take all values of a unit as a class (kind='categorical')"
        )
    continuous = _continuous(column, kind, notes)
    sources = [files.original, *files.releases]
    seen = row_by_row(columns)
    mere_names = [
        not any(s.flavour != "pandas" and s.variable(name).levels for s in sources)
        for name, each in zip(names, seen, strict=True)
        for _ in each
    ]
    known = [one for each in seen for one in each]
    table_keys, tables, codes, classes = _recoded(known, mere_names, column, continuous)
    evidence, counted = [], np.arange(pair.n_original)
    values = _amounts(files, column) if continuous else None
    for i, (source, y) in enumerate(zip(sources, codes, strict=True)):
        table = KeyTable(table_keys, tables[i])
        if values is None:
            evidence.append(AttackRecords(table, TrainingTarget(y, column.n_levels)))
            continue
        numbers, records = _numbers(values[y], target_na)
        evidence.append(AttackRecords(table.take(records), TrainingTarget(numbers, None)))
        if i == 0:
            counted = records
        missing = int(column.counts[i][: len(values)][np.isnan(values)].sum())
        if len(records) < len(y):
            text = f"of {source.label} without an amount in {target!r}"
            said = f"{how_many(missing, 'record')} {text} {'is' if missing == 1 else 'are'} left out"
            notes.append(Note(said, f"records {text} are left out"))
    if not len(evidence[0]):
        raise DataError(f"{files.original.label}: column {target!r} has no amounts; there is nothing to infer")
    for source, one in zip(files.releases, evidence[1 : pair.n_releases + 1], strict=False):
        if not len(one):
            raise DataError(f"{source.label} has no records with {target!r}; an attacker has nothing to train on")
    side = None if side_information is None else _repeated(evidence.pop(), side_weight)
    if values is None:
        nothing = _nothing_learnt(column)
        notes += [*nothing, *_lost_classes(column)]
    elif len(np.unique(evidence[0].target.y)) == 1:
        nothing = [Note(f"{target!r} has one value only in the original: nothing can be learnt from it")]
        notes += nothing
    else:
        nothing = []
    return Problem(
        pair, names, target, tuple(column.labels[i] for i in classes) if values is None else None,
        tuple(np.argsort(classes).tolist()), counted, evidence[0], tuple(evidence[1:]), side, tuple(notes),
        (*files.notes([*columns, column], by_amount=True), *nothing),
        pair.unmatched([*columns, column]),
    )  # fmt: skip


def has_several_amounts(column: CodedColumn) -> bool:
    """Whether units have several amounts in a column."""
    return isinstance(column, UnitColumn) and column.of_rows.has_amounts


def _recoded(
    keys: list[CodedColumn], mere_names: list[bool], target: CodedColumn, continuous: bool
) -> tuple[tuple[Key, ...], list[NDArray[np.int32]], list[NDArray[np.int32]], NDArray[np.intp]]:
    """Keys, their codes per file (p, n), codes of the target per file, and the order of its classes.

    Classes, and levels of nominal keys, are put in an order that does not depend on how they are called. Levels that a
    schema or a statistical file declares stay in the order that it declares.
    """
    columns = [*keys, target]
    files = [np.stack([(c.original, *c.releases)[i] for c in columns]) for i in range(1 + len(target.releases))]
    found = [Key(column) for column in keys]
    nominal = [
        mere and not column.has_amounts and column.kind != "ordered"
        for column, mere in zip(keys, mere_names, strict=True)
    ]
    number = np.repeat(np.arange(len(files), dtype=np.int32), [f.shape[1] for f in files])
    orders = canonical_orders(
        np.concatenate([np.concatenate(files, axis=1), number[None]]),
        [*(c.n_levels for c in columns), len(files)],
        [*nominal, not continuous, False],
    )
    for row, order in enumerate(orders[:-1]):
        if order is None:
            continue
        new = np.argsort(order).astype(np.int32)
        for codes in files:
            codes[row] = new[codes[row]]
        if row < len(found):
            found[row] = Key(keys[row], order)
    classes = orders[len(keys)]
    listed = np.arange(target.n_levels) if classes is None else classes
    return tuple(found), [f[:-1] for f in files], [f[-1] for f in files], listed


def _continuous(column: CodedColumn, kind: TargetKind | None, notes: list[str]) -> bool:
    measured = column.kind in ("numeric", "date", "datetime")
    if kind == "continuous" and numbers_of(column.levels) is None:
        raise CallError(f"column {column.name!r} is {column.kind}; its values are no numbers to be inferred as such")
    if kind is not None:
        return kind == "continuous"
    if measured and len(column.levels) <= 2:
        if len(column.levels) == 2:
            text = "has two values and is taken as categorical; kind='continuous' takes it as a number"
            notes.append(Note(f"{column.name!r} {text}"))
        return False
    return measured


def _amounts(files: Pair, column: CodedColumn) -> Floats:
    for code in column.infinite:
        for source, codes in zip((files.original, *files.releases), (column.original, *column.releases), strict=True):
            rows = np.flatnonzero(codes == code)
            if len(rows):
                raise DataError(
                    f"{source.label}: column {column.name!r} is {column.label(code)} in row {rows[0] + 1}; an infinite "
                    "target cannot be inferred as a number: recode it, or use kind='categorical'"
                )
    return numbers_of_target(column)


def numbers_of_target(column: CodedColumn) -> Floats:
    """The number that each level of a continuous target is, the gap included: NaN where it is none."""
    # who says that the target is continuous says that its numbers are amounts
    return replace(column, kind="numeric").amounts


def _numbers(values: Floats, target_na: Literal["exclude", "median"] | float) -> tuple[Floats, NDArray[np.intp]]:
    """The numbers and which records have one; gaps are left out, or filled."""
    present = ~np.isnan(values)
    if isinstance(target_na, str):
        if target_na not in ("exclude", "median"):
            raise CallError(f"target_na is 'exclude', 'median' or a number, not {target_na!r}")
        if target_na == "exclude" or not present.any():
            records = np.flatnonzero(present)
            return values[records], records
        fill = float(np.median(values[present]))
    else:
        fill = float(target_na)
        if not np.isfinite(fill):
            raise CallError(f"target_na is 'exclude', 'median' or a number, not {target_na!r}")
    return np.where(present, values, fill), np.arange(len(values))


def _repeated(side: AttackRecords, weight: float) -> AttackRecords:
    """Each record as often as its weight; a fraction is spread evenly over the records."""
    n = len(side)
    times = np.diff(np.floor(np.arange(n + 1) * weight + 1e-9)).astype(np.intp)
    return side.take(np.repeat(np.arange(n), times))


def _nothing_learnt(column: CodedColumn) -> list[Note]:
    """Why no class of the target can be learnt, where that is so."""
    n_classes = len(np.unique(column.original))
    if n_classes == 1:
        return [Note(f"{column.name!r} has one class only in the original: nothing can be learnt (r = 0)")]
    if n_classes == len(column.original):
        text = f"{column.name!r} is different in every record, as an identifier is: its classes cannot be learnt"
        return [Note(text)]
    return []


def _lost_classes(column: CodedColumn) -> list[Note]:
    notes = []
    name = column.name
    found, *there = (counts > 0 for counts in column.counts)
    for release, held in enumerate(there, start=1):
        lost = np.flatnonzero(found & ~held)
        if len(lost) and found.sum() < len(column.original):
            which = "the release" if len(column.releases) == 1 else f"release {release}"
            # Neither names nor counts: a class that the release lacks is often that of a single person.
            rest = f"of {name!r}: who has them counts with probability 0"
            notes.append(Note(f"{which} lacks {len(lost)} class(es) {rest}", f"{which} lacks classes {rest}"))
    return notes
