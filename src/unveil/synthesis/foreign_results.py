"""Results of synthesizers from outside this package: releases as tables, and figures of the likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.files.frames import is_frame
from unveil.files.made_frames import make_frame
from unveil.files.source import Source, Variable
from unveil.synthesis.arrow_values import declared, only_drawn


def as_table(made: Any, names: tuple[str, ...]) -> Any:
    """Return a result as a table that can be read; None if it is not a table."""
    if isinstance(made, list | tuple) and made and not isinstance(made[0], list | tuple | Mapping | str | int | float):
        # A list of one release; or records with something beside them, such as their component.
        made = made[0]
    if is_frame(made) or isinstance(made, Source):
        return made
    try:
        if isinstance(made, Mapping):
            return pa.table({str(name): _column(values) for name, values in made.items()})
        if isinstance(made, np.ndarray) and made.dtype.names:
            return pa.table({name: _column(made[name]) for name in made.dtype.names})
        if isinstance(made, np.ndarray) and made.ndim == 2 and made.shape[1] == len(names):
            return pa.table({name: _column(made[:, i]) for i, name in enumerate(names)})
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return None


def as_original(release: Source, original: Source) -> Any:
    """Return a release as a frame like the original's: of its flavour, in its types."""
    if original.frame_flavour == "arrow":
        return as_stored(release, original, original.like)
    return replace(release, like=original.like, flavour=original.flavour).to_frame(original.frame_flavour)


def as_stored(release: Source, original: Source, like: pa.Schema | None) -> pa.Table:
    """Return a release as a table in the types of a schema; of levels that nobody declared only those that it has."""
    table = make_frame({name: release.column(name) for name in original.names}, like, "arrow")
    return pa.table([_in_levels(table.column(name), original.variable(name)) for name in table.column_names],
                    names=table.column_names)  # fmt: skip


def _in_levels(column: pa.ChunkedArray, variable: Variable) -> pa.Array | pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.combine_chunks()
    found = declared(values, variable)
    return only_drawn(values) if found is None else found


def _column(values: Any) -> pa.Array:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)


def values_in_words(kind: pa.DataType) -> str:
    """Return the kind of values in plain words."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return "empty"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_boolean(kind):
        return "truth values"
    if pa.types.is_duration(kind):
        return "durations"
    if pa.types.is_time(kind):
        return "times of the day"
    return "dates" if pa.types.is_temporal(kind) else "text"


def figures_by_candidate(found: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return impossible values and log-likelihood of the others for each of ``n`` candidates.

    The number of impossible values may be given once for all candidates.
    """
    impossible, log = (np.array(one, dtype=np.float64) for one in found)
    impossible = np.full(n, impossible) if impossible.ndim == 0 else impossible
    are_counts = np.isfinite(impossible) & (impossible >= 0) & (impossible % 1 == 0)
    if impossible.shape != (n,) or log.shape != (n,) or not are_counts.all():
        raise ValueError("not one for every candidate")
    if np.isnan(log).any() or np.isposinf(log).any():
        raise ValueError("not a probability")
    ruled_out = np.isneginf(log)
    return impossible.astype(np.int64) + ruled_out, np.where(ruled_out, 0.0, log)


def figures(found: Any, n_records: int) -> tuple[int, float]:
    """Return the number of impossible values and the log-likelihood, from any form of result."""
    if hasattr(found, "n_impossible"):
        return int(found.n_impossible), float(found.finite)
    if isinstance(found, tuple) and len(found) == 2:
        return int(found[0]), float(found[1])
    if hasattr(found, "total"):
        found = found.total
    records = np.asarray(found, dtype=np.float64)
    if records.ndim and records.shape[0] != n_records:
        raise ValueError("not one number per record")
    if np.isnan(records).any() or np.isposinf(records).any():
        raise ValueError("not a probability")
    impossible = np.isneginf(records)
    return int(impossible.sum()), float(records[~impossible].sum())


def shown(made: Any) -> str:
    shape = f" of shape {made.shape}" if isinstance(made, np.ndarray) else ""
    return f"{type(made).__name__}{shape}"
