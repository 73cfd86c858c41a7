"""Whole records as candidates: rows that may stand in the place of one record, in all their columns at once.

World 0 is the record as it is; every other world is one of the rows. A row of some columns leaves the values of the
others to the record: the intruder knows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import TreeSequence
from unveil.columns import Pair
from unveil.errors import CallError
from unveil.files import Source
from unveil.files.frames import is_frame
from unveil.files.nearest import near_matches
from unveil.files.opening import open_source
from unveil.notes import Note

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

AS_IT_IS = "the record as it is"
"""Name of world 0."""
LABEL = "the candidates"


def are_records(candidates: Any) -> bool:
    """Whether candidates are records: a frame, an opened file, or a list of mappings from columns to values."""
    if isinstance(candidates, Source) or (is_frame(candidates) and hasattr(candidates, "columns")):
        return True
    return isinstance(candidates, list | tuple) and bool(candidates) and all(isinstance(c, Mapping) for c in candidates)


def candidate_records(candidates: Any, pair: Pair, option: str = "candidates", label: str = LABEL) -> Source:
    """Return candidates that are records as a file.

    Parameters
    ----------
    candidates
        A frame, an opened file, or a list of mappings.
    pair
        The files.
    option, label
        How messages call the option, and the records where they have no name.

    Raises
    ------
    CallError
        If there are none, rows of a list have different columns, or a column is not in the original.
    """
    if isinstance(candidates, list | tuple):
        names = list(candidates[0])
        for number, row in enumerate(candidates):
            if set(row) != set(names):
                wrong = sorted(set(names) ^ set(row), key=str)[0]
                raise CallError(f"{option}: row {number} and row 0 do not both have column {wrong!r}")
        try:
            candidates = pa.table({name: [row[name] for row in candidates] for name in names})
        except pa.ArrowException as error:
            raise CallError(f"{option}: the values of a column are not of one kind ({error})") from None
    source = candidates if isinstance(candidates, Source) else open_source(candidates, label=label)
    if not source.num_rows:
        raise CallError(f"there are no records in {source.label}")
    for name in source.names:
        if name not in pair.original.names:
            near = near_matches(name, pair.original.names)
            raise CallError(f"{option}: {pair.original.label} has no column {name!r}; leave it out{near}")
    return source


@dataclass(frozen=True, eq=False)
class CandidateRecords:
    """The worlds of a record in whose place rows may stand.

    Parameters
    ----------
    unknown
        The columns of the rows, in the order of visit.
    rows : mapping of str to (k,) int32
        Levels of the distinct rows by column.
    truth : (n,) int64
        World of each original record: 0.
    same : (n,) int64
        World of the row that equals a record in all columns of the rows; -1: none.
    """

    unknown: tuple[str, ...]
    rows: Mapping[str, Codes]
    truth: Ints
    same: Ints

    as_it_is = 0
    """The world in which a record keeps its values."""

    @property
    def size(self) -> int:
        """Number of worlds."""
        return 1 + next(iter(self.rows.values())).size

    def levels(self) -> dict[str, Codes]:
        """Levels by world of each column; those of world 0 stand for nothing."""
        return self.levels_between(0, self.size)

    def levels_between(self, start: int, stop: int, first: int | None = None) -> dict[str, Codes]:
        """The same for worlds ``start`` to ``stop``, and for the first columns only."""
        worlds = np.maximum(np.arange(start, stop) - 1, 0)
        return {name: self.rows[name][worlds] for name in self.unknown[:first]}

    def n_endings(self, last: int) -> int:
        """Number of successive worlds with the same levels of the columns up to one: rows are in no such order."""
        return 1

    def label(self, world: int, sequence: TreeSequence) -> object:
        """Values of a row; a name for world 0."""
        if world == self.as_it_is:
            return AS_IT_IS
        values = tuple(sequence.level_labels(name)[self.rows[name][world - 1]] for name in self.unknown)
        return values[0] if len(values) == 1 else values


def record_worlds(sequence: TreeSequence, unknown: Sequence[str]) -> CandidateRecords:
    """The distinct candidate rows of a sequence as worlds."""
    table = np.stack([sequence.further[name] for name in unknown])
    _, first = np.unique(table, axis=1, return_index=True)
    table = table[:, np.sort(first)]
    known = {tuple(row): world for world, row in enumerate(table.T.tolist(), start=1)}
    originals = zip(*(sequence.original[name].tolist() for name in unknown), strict=True)
    same = np.array([known.get(row, -1) for row in originals], dtype=np.int64)
    return CandidateRecords(
        tuple(unknown), dict(zip(unknown, table, strict=True)), np.zeros(sequence.n, dtype=np.int64), same
    )


@dataclass(frozen=True, eq=False)
class RecordOutcomes:
    """Prior of the worlds, each of which is a value of its own; see :class:`unveil._posterior.outcomes.Outcomes`.

    A row that equals the record is no world beside the record as it is. All others have the same prior, or weights that
    the user gives, first that of the record as it is.
    """

    sequence: TreeSequence
    worlds: CandidateRecords
    weights: Floats
    log_wrong: float

    @property
    def n_values(self) -> int:
        """Number of values."""
        return self.worlds.size

    @property
    def truth(self) -> Ints:
        """(n,) value of every original record."""
        return self.worlds.truth

    def value_of(self, world: Ints) -> Ints:
        """Value of every world."""
        return world

    def label_of(self, value: int) -> object:
        """Name of a value."""
        return self.worlds.label(value, self.sequence)

    def log_cells(self, members: Ints) -> Floats:
        """(r, worlds) logarithms of the prior of some records."""
        share = np.tile(self.weights, (members.size, 1))
        same = self.worlds.same[members]
        share[np.flatnonzero(same > 0), same[same > 0]] = 0.0
        total = share.sum(axis=1, keepdims=True)
        if not (total > 0).all():
            record = int(members[np.flatnonzero(total[:, 0] <= 0)[0]])
            raise CallError(f"the prior rules out every candidate of record {record}")
        with np.errstate(divide="ignore"):
            log: Floats = np.log(share / total)
        return log

    def log_prior(self, members: Ints, cells: Floats | None, start: int, stop: int) -> Floats:
        """(r, stop - start) logarithms of the prior of some worlds."""
        return (self.log_cells(members) if cells is None else cells)[:, start:stop]


def perhaps_misspelt(sequence: TreeSequence, names: Iterable[str]) -> list[str]:
    """What is to be said of candidates of some targets that no file has, but one much like them."""
    texts: list[str] = []
    for name in names:
        if sequence.variables[name].kind in ("numeric", "date", "datetime"):
            continue
        labels = [str(label) for label in sequence.level_labels(name)]
        held = np.unique(np.concatenate([sequence.original[name], *sequence.released[name]]))
        for level in np.setdiff1d(sequence.further[name], held).tolist():
            like = near_matches(labels[level], [labels[one] for one in held.tolist()])
            if like:
                text = f"no file has the candidate {labels[level]!r} of column {name!r}{like}"
                texts.append(Note(text, f"a candidate of column {name!r} is in no file"))
    return texts


def remarks_on_values(sequence: TreeSequence, rows: Mapping[str, Codes]) -> list[str]:
    """What is to be said of candidates with values that no file has."""
    texts: list[str] = []
    for name, levels in rows.items():
        held = np.zeros(sequence.variables[name].n_levels, dtype=np.bool_)
        for codes in (sequence.original[name], *sequence.released[name]):
            held[codes] = True
        new = int((~held[levels]).sum())
        if new:
            text = f"of the candidates hold a value of column {name!r} that no file has"
            texts.append(Note(f"{new} {text}", f"some {text}"))
    return texts


def remarks_on(sequence: TreeSequence, worlds: CandidateRecords, members: Ints) -> list[str]:
    """What is to be said of the candidates: values that no file has, and rows that are the record's own."""
    texts = remarks_on_values(sequence, worlds.rows)
    own = int((worlds.same[members] >= 0).sum())
    if own:
        text = "records are among the candidates themselves: such a row counts once, as the record as it is"
        texts.append(Note(f"{own} {text}", f"some {text}"))
    return texts


def record_outcomes(
    sequence: TreeSequence, worlds: CandidateRecords, prior: Any, intruder_errors: int
) -> RecordOutcomes:
    """Give the worlds a prior.

    Raises
    ------
    CallError
        If the prior is neither uniform nor one weight per world.
    """
    if isinstance(prior, str) and prior == "uniform":
        weights = np.ones(worlds.size)
    else:
        weights = np.zeros(0) if isinstance(prior, str) or hasattr(prior, "given") else np.asarray(prior, dtype=float)
        if weights.shape != (worlds.size,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise CallError(
                "prior: with candidates that are records it is 'uniform', or "
                f"{worlds.size} numbers from 0: the first for the record as it is, then one per distinct candidate"
            )
    log_wrong = -math.log(2.0 * sequence.n * worlds.size) if intruder_errors else -math.inf
    return RecordOutcomes(sequence, worlds, weights, log_wrong)
