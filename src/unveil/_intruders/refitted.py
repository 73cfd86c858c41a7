"""The same ratios where nothing can be walked: the synthesizer is fitted to every other original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._intruders.whole_records import Levels, WholeRecords
from unveil._posterior.refit import as_figures, quietly
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
        self.log = self._log(np.arange(sequence.n), {})

    def replaced(self, members: Ints, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        found = [self._log(self._others(r), row_of(rows, i)) for i, r in enumerate(members.tolist())]
        return self.log - np.array(found)

    def removed(self, members: Ints) -> Floats:
        """See :class:`WholeRecords`."""
        return self.log - np.array([self._log(self._others(r), {}) for r in members.tolist()])

    def added(self, rows: Levels) -> Floats:
        """See :class:`WholeRecords`."""
        everybody = np.arange(self.sequence.n)
        size = next(iter(rows.values())).size
        return np.array([self._log(everybody, row_of(rows, i)) for i in range(size)]) - self.log

    def _others(self, record: int) -> Ints:
        return np.delete(np.arange(self.sequence.n), record)

    def _log(self, records: Ints, last: Mapping[str, int]) -> float:
        """Log-likelihood of a fit to some records, and one more with these levels at the end."""
        fitted = quietly(self.synthesizer, altered_source(self.pair.original, self.sequence, records, last))
        figures = [as_figures(fitted.log_prob(release)) for release in self.pair.releases]
        return -np.inf if any(impossible for impossible, _ in figures) else sum(log for _, log in figures)


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
