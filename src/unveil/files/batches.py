"""The columns of a file batch by batch, in the types of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.files.arrays import buffer_view, from_numpy
from unveil.files.distinct import Distinct, distinct_of
from unveil.files.source import BATCH, Source


def batches_of(source: Source, names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
    """Some columns batch by batch; where the file cannot be read so, whole columns in parts, coded (:func:`decoded`).

    Parameters
    ----------
    source
        The file.
    names
        The columns.

    Yields
    ------
    dict
        By name the values of some records, in the type of the file or as codes.
    """
    if source.batches is not None:
        yield from source.batches(names)
        return
    coded = {name: _coded(source, name) for name in names}
    levels = {name: from_numpy(np.arange(len(level.codes))) for name, (_, level) in coded.items()}
    for start in range(0, source.num_rows, BATCH):
        yield {
            name: pa.DictionaryArray.from_arrays(from_numpy(codes[start : start + BATCH]), levels[name])
            for name, (codes, _) in coded.items()
        }


def decoded(source: Source, name: str, codes: pa.Array) -> Distinct:
    """The values that some codes of :func:`batches_of` stand for, as if each were a record."""
    _, levels = _coded(source, name)
    return levels.part(buffer_view(codes, np.int64).astype(np.intp))


def _coded(source: Source, name: str) -> tuple[NDArray[np.int32], Distinct]:
    """Codes (n,) of the records of a column, and what each code stands for, a gap included.

    Values of delimited text that are written in several ways (1 and 1.0) have a code for each.
    """
    found = distinct_of(source, name)
    if found.written is None:
        return found.codes, replace(found, codes=np.arange(len(found.values) + 1, dtype=np.int32))
    text = found.written()
    width = len(text.values) + 1
    both, codes = np.unique(found.codes.astype(np.int64) * width + text.codes, return_inverse=True)
    spelled = replace(text, codes=(both % width).astype(np.int32), of_records=False)
    levels = replace(found, codes=(both // width).astype(np.int32), written=lambda: spelled)
    return codes.astype(np.int32), levels
