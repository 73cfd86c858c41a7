"""Strata that are synthesised one after the other, each as a file by itself; in Spark one in each task.

Neither the order of the records nor where they are changes a stratum: its records are put in the order of their values,
and its random numbers follow from the seed and from what makes it a stratum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.columns.stated_rules import stated_rules
from unveil.errors import CallError
from unveil.files.distinct import level_text
from unveil.files.folders import PARQUET
from unveil.files.opening import read
from unveil.files.source import Source
from unveil.files.spark_frames import asking_spark, by_position, is_spark_frame
from unveil.files.write import write_blocks
from unveil.plain import Plain
from unveil.result import Row, text_table
from unveil.synthesis.encoding import encode
from unveil.synthesis.record_order import value_order
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.strata import apportioned, columns_of_strata, records_by_stratum, too_small

_ORIGINAL = "the original"


@dataclass(frozen=True)
class StrataWritten(Plain):
    """Strata that were synthesised and written.

    Attributes
    ----------
    path
        The file, or in Spark the folder of files.
    strata
        Per stratum what it has in the columns that make it, its number of original records, and of synthetic ones.
    """

    path: str
    strata: tuple[tuple[dict[str, Any], int, int], ...]

    def __str__(self) -> str:
        rows: list[Row] = [
            [*("" if value is None else level_text(value) for value in values.values()), n, made]
            for values, n, made in self.strata
        ]
        names = list(self.strata[0][0])
        return f"Written to {self.path}\n\n" + text_table([*names, "original records", "synthetic records"], rows)

    __repr__ = __str__


@dataclass(frozen=True)
class OneStratum:
    """Synthesises the records of one stratum.

    Parameters
    ----------
    by
        The columns that make the strata.
    sizes
        Number of synthetic records by :func:`key_of` a stratum.
    seed
        Seed of all strata.
    options
        Of :class:`CartSynthesizer`.
    """

    by: tuple[str, ...]
    sizes: Mapping[str, int]
    seed: int
    options: Mapping[str, Any]

    def of(self, stratum: Source) -> tuple[CartSynthesizer, Iterator[pa.Table]]:
        """The fit to the records of a stratum, and synthetic records block by block."""
        key = key_of(_first(stratum, self.by).values())
        own = seed_of(self.seed, key)
        fitted = CartSynthesizer(**self.options).fit(stratum.part(value_order(stratum)), seed=own)
        return fitted, fitted.sample_blocks(self.sizes[key], seed=own)


def _first(source: Source, by: Sequence[str], record: int = 0) -> dict[str, object]:
    """What a record has in the columns that make the strata."""
    return {name: (source.native or source.column)(name)[record].as_py() for name in by}


def key_of(values: Any) -> str:
    """What tells a stratum from all others: its values as a text.

    Examples
    --------
    >>> key_of(["north", None, 1])
    '["north", null, "1"]'
    """
    return json.dumps([None if value is None else level_text(value) for value in values])


def seed_of(seed: int, key: str) -> int:
    """The seed of a stratum, from that of all and from its key: a hash, from which neither can be told.

    Examples
    --------
    >>> seed_of(1, '["north"]') != seed_of(1, '["south"]')
    True
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {key}".encode()).digest()[:16], "big")


def synthesize_strata(
    original: Any, path: str | Path, *, by: str | Sequence[str], k: int | None = None, seed: int | None = None,
    overwrite: bool = False, **options: Any,
) -> StrataWritten:  # fmt: skip
    """Synthesise every stratum of a table as a file by itself, and write the copy as Parquet.

    One stratum is fitted at a time, and drawn block by block. Of a Spark DataFrame every stratum is a task of its own:
    the workers fit, draw and write, and only the numbers of records come here.

    Parameters
    ----------
    original
        The records: a path, a data frame, a Spark DataFrame, or what :func:`unveil.read` gives.
    path
        The Parquet file, with a row group for each block of a stratum; in Spark a folder of files.
    by
        The columns that make the strata.
    k
        Number of records of the copy, divided among the strata in proportion to their sizes; by default each has as
        many as it has original records.
    seed
        The same seed gives the same records, whatever the order of the records is and wherever they are. By default a
        secret one, which is kept nowhere.
    overwrite
        Whether a file that exists may be replaced.
    **options
        Options of :class:`CartSynthesizer`, but for ``by`` and ``proper``.

    Returns
    -------
    StrataWritten
        The strata, and how many records each has.

    Raises
    ------
    CallError
        If a column is unknown, or an option is wrong.
    DataError
        If a stratum has fewer records than a tree can split; the error names it.
    FileError
        If the file exists and ``overwrite`` is not set, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> people = pa.table({"region": ["n"] * 30 + ["s"] * 20, "ill": ["yes", "no"] * 25})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(synthesize_strata(people, f"{folder}/copy.parquet", by="region", seed=1).strata)
    (({'region': 'n'}, 30, 30), ({'region': 's'}, 20, 20))
    """
    if not str(path).lower().endswith(PARQUET):
        raise CallError(f"{path}: strata are written as Parquet; name a file that ends in .parquet")
    seed = seed_or_secret(seed)
    if is_spark_frame(original):
        return _of_spark(original, str(path), by, k, seed, options, overwrite=overwrite)
    strata = StrataApart.of(replace(read(original), flavour="arrow"), by, k, seed, options)
    write_blocks(strata.blocks(), path, strata.source.variables, strata.source.form, overwrite=overwrite)
    return StrataWritten(str(path), strata.facts)


@dataclass(frozen=True, eq=False)
class StrataApart:
    """The strata of a file, each to be synthesised as a file by itself.

    Parameters
    ----------
    source
        The file.
    task
        What is done with the records of a stratum.
    records
        What makes each stratum, and its records.
    """

    source: Source
    task: OneStratum
    records: list[tuple[dict[str, object], NDArray[np.int64]]]

    @classmethod
    def of(
        cls, source: Source, by: str | Sequence[str], k: int | None, seed: int, options: Mapping[str, Any]
    ) -> StrataApart:
        """The strata by some columns; parameters as in :func:`synthesize_strata`."""
        columns, least = _checked(source.names, by, options)
        records = _records(source, columns, least)
        return cls(source, _task(columns, [(values, len(rows)) for values, rows in records], k, seed, options), records)

    @property
    def facts(self) -> tuple[tuple[dict[str, Any], int, int], ...]:
        """What makes each stratum, its number of original records, and of synthetic ones."""
        return tuple((values, len(rows), self.task.sizes[key_of(values.values())]) for values, rows in self.records)

    def blocks(self, fitted: Callable[[int, CartSynthesizer], None] | None = None) -> Iterator[pa.Table]:
        """Synthetic records block by block, in the types of the first block.

        Parameters
        ----------
        fitted
            Called with the number of each stratum and its fit, before its records are drawn.
        """
        kept: pa.Schema | None = None
        for number, (_, rows) in enumerate(self.records):
            fit, records = self.task.of(self.source.part(rows))
            if fitted:
                fitted(number, fit)
            for block in records:
                # a dictionary has one type, whatever values a stratum has
                kept = kept or block.schema
                yield block.cast(kept)


def _checked(names: Sequence[str], by: str | Sequence[str], options: Mapping[str, Any]) -> tuple[tuple[str, ...], int]:
    """The columns that make the strata, and the fewest records that a tree can split."""
    settings = CartSynthesizer(**options)
    columns = columns_of_strata(by, names, stated_rules(settings.rules).columns, proper=settings.proper)
    return columns, settings.cart.settings.smallest_split


def _task(
    by: tuple[str, ...], counted: Sequence[tuple[dict[str, object], int]], k: int | None, seed: int,
    options: Mapping[str, Any],
) -> OneStratum:  # fmt: skip
    sizes = [n for _, n in counted]
    made = apportioned(sizes, sum(sizes) if k is None else k)
    keys = [key_of(values.values()) for values, _ in counted]
    return OneStratum(by, dict(zip(keys, made, strict=True)), seed, options)


def _of_spark(
    frame: Any, path: str, by: str | Sequence[str], k: int | None, seed: int, options: Mapping[str, Any], *,
    overwrite: bool,
) -> StrataWritten:  # fmt: skip
    """Strata of a Spark DataFrame."""
    columns, least = _checked(tuple(frame.columns), by, options)
    counted = _counted_by_spark(frame, columns, least)
    # a worker of Spark has one thread for each of its tasks
    task = _task(columns, counted, k, seed, {"n_jobs": 1} | dict(options))
    _write_by_spark(frame, task, path, overwrite=overwrite)
    return StrataWritten(path, tuple((values, n, task.sizes[key_of(values.values())]) for values, n in counted))


def _records(source: Source, by: Sequence[str], least: int) -> list[tuple[dict[str, object], NDArray[np.int64]]]:
    """What makes each stratum, and its records."""
    variables = encode(replace(source, names=tuple(by)))
    found = records_by_stratum(by, variables, least, source.label)
    return [(_first(source, by, int(rows[0])), rows) for rows in found]


def _counted_by_spark(frame: Any, by: Sequence[str], least: int) -> list[tuple[dict[str, object], int]]:
    """What makes each stratum, and its number of records, in the order of the values."""
    places = [f"c{frame.columns.index(name)}" for name in by]
    with asking_spark(_ORIGINAL):
        table = by_position(frame).groupBy(*places).count().toArrow()
    counted = [
        (dict(zip(by, values, strict=True)), n)
        for *values, n in zip(*(table.column(i).to_pylist() for i in range(table.num_columns)), strict=True)
    ]
    # a gap comes last, as in a file
    counted.sort(key=lambda one: [(value is None, value) for value in one[0].values()])
    small = [values for values, n in counted if n < least]
    if small:
        raise too_small(by, [n for _, n in counted], small[0], least, _ORIGINAL)
    return counted


def _write_by_spark(frame: Any, task: OneStratum, path: str, *, overwrite: bool) -> None:
    """Have the workers synthesise and write, one stratum in each task."""
    positions = by_position(frame)
    places = [f"c{frame.columns.index(name)}" for name in task.by]
    with asking_spark(_ORIGINAL):
        made = positions.groupBy(*places).applyInArrow(_function(task, frame.columns), positions.schema)
        made.toDF(*frame.columns).write.mode("overwrite" if overwrite else "error").parquet(path)


def _function(task: OneStratum, names: Sequence[str]) -> Callable[[pa.Table], pa.Table]:
    """The task as the plain function that Spark wants, on columns named by their position."""

    def synthesised(table: pa.Table) -> pa.Table:
        _, made = task.of(read(table.rename_columns(list(names))))
        blocks = list(made)
        return pa.concat_tables(blocks).rename_columns(table.column_names).cast(table.schema)

    return synthesised
