"""The same ratios where nothing can be walked: the synthesizer is fitted to every other original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._intruders.whole_records import Levels, Told, WholeRecords
from unveil._posterior.refit import as_figures, quietly
from unveil._posterior.refitted_variables import AS_IT_IS, OtherOriginal
from unveil._posterior.tree_sequence import TreeSequence
from unveil.columns import Pair
from unveil.files import Source
from unveil.files.source import DerivedColumns

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


class RefittedRecords(WholeRecords):
    """Ratios by plain fits.

    Parameters
    ----------
    pair
        The files.
    sequence
        Their codes.
    synthesizer
        What is fitted; it has ``log_prob``.
    """

    def __init__(self, pair: Pair, sequence: TreeSequence, synthesizer: Any):
        self.pair, self.sequence, self.synthesizer = pair, sequence, synthesizer
        self.log = self._log(AS_IT_IS)

    def replaced(self, members: Ints, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return self.log - self._logs(replaced_originals(members, rows), told)

    def removed(self, members: Ints, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return self.log - self._logs(removed_originals(members), told)

    def added(self, rows: Levels, told: Told) -> Floats:
        """See :class:`WholeRecords`."""
        return self._logs(added_originals(rows), told) - self.log

    def _logs(self, others: Sequence[OtherOriginal], told: Told) -> Floats:
        found = np.zeros(len(others))
        for i, other in enumerate(others):
            found[i] = self._log(other)
            told(i + 1)
        return found

    def _log(self, other: OtherOriginal) -> float:
        """Log-likelihood of a fit to another original."""
        records = np.arange(self.sequence.n)
        if other.record is not None:
            records = np.delete(records, other.record)
        fitted = quietly(self.synthesizer, altered_source(self.pair.original, self.sequence, records, other.row or {}))
        figures = [as_figures(fitted.log_prob(release)) for release in self.pair.releases]
        return -np.inf if any(impossible for impossible, _ in figures) else sum(log for _, log in figures)


def replaced_originals(members: Ints, rows: Levels) -> list[OtherOriginal]:
    """Each with one of the records replaced by its row."""
    return [OtherOriginal(r, row_of(rows, i)) for i, r in enumerate(members.tolist())]


def removed_originals(members: Ints) -> list[OtherOriginal]:
    """Each without one of the records."""
    return [OtherOriginal(r) for r in members.tolist()]


def added_originals(rows: Levels) -> list[OtherOriginal]:
    """Each with one more record."""
    return [OtherOriginal(None, row_of(rows, i)) for i in range(next(iter(rows.values())).size)]


def altered_source(original: Source, sequence: TreeSequence, records: Ints, last: Mapping[str, int]) -> Source:
    """Some records of an original, and one more with these levels at the end.

    Parameters
    ----------
    original
        The file.
    sequence
        Its codes.
    records : (k,) int64
        The records.
    last
        Level of the further record by column; none if it is empty.
    """
    columns = {}
    for name, codes in sequence.original.items():
        levels = np.append(codes[records], [last[name]] if last else []).astype(np.int64)
        values = sequence.variables[name].values
        columns[name] = pa.chunked_array([values.take(pa.array(levels, mask=levels == len(values)))])
    made = DerivedColumns(original, None, columns)
    size = records.size + bool(last)
    return replace(original, fetch=made, num_rows=size, path=None, form=None, native=None, batches=None)


def row_of(rows: Levels, at: int) -> dict[str, int]:
    """Levels of one of the rows by column."""
    return {name: int(levels[at]) for name, levels in rows.items()}
