"""Options that say which files are read, how, and where their records are counted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from unveil.cli.groups import COUNTING, FILES, READING
from unveil.cli.options import Listed
from unveil.cli.output import Output
from unveil.cli.parsing import assignments, breaks_of, plain_value
from unveil.cli.screen import remark
from unveil.errors import CallError, FileError
from unveil.files.addresses import Address


@Parameter(name="*", group=COUNTING)
@dataclass(frozen=True)
class Counting:
    """Where records are counted.

    Parameters
    ----------
    engine
        memory: in columns that are read whole; files: batch by batch, in little memory; auto: batch by batch where all
        files can be read so and are large.
    memory_limit
        What counting batch by batch may take of memory: 2GB, 512MB.
    temp_dir
        Folder for counts that do not fit in memory, in a file without a name; default: that of the system.
    spark_master
        Count Parquet files, or tables by their names, in the workers of Spark: local[2], spark://HOST:7077, or
        sc://HOST for Spark Connect.
    """

    engine: str = "auto"
    memory_limit: str | None = None
    temp_dir: Path | None = None
    spark_master: str | None = None

    def check(self, paths: Sequence[Path]) -> None:
        """Check that files are where records are counted.

        Raises
        ------
        CallError
            If Spark alone could read or write one.
        """
        away = [path for path in paths if isinstance(path, Address)]
        if away and self.spark_master is None:
            raise CallError(
                f"{away[0]}: Spark alone reads and writes there; say where it runs with --spark-master, or copy the "
                "files to this machine"
            )

    def check_records(self, tables: Sequence[Path]) -> None:
        """Check where the figures of single records go: workers write them, each on its own machine.

        Raises
        ------
        CallError
            If a table at an address is not Parquet, or there is no Spark.
        """
        self.check(tables)
        for path in tables:
            if isinstance(path, Address) and path.suffix.lower() != ".parquet":
                raise CallError(f"{path}: Spark writes Parquet; name a folder that ends in .parquet")
            if self.spark_master and not self.spark_master.startswith("local") and not isinstance(path, Address):
                remark(
                    f"notice: {path} is a folder on each machine of Spark; unless they share it, each worker writes "
                    "its part to its own disk: name one that they share, such as hdfs://... or s3a://..."
                )

    @property
    def options(self) -> dict[str, Any]:
        """Options of :class:`unveil.Pair`."""
        return {"engine": self.engine, "memory_limit": self.memory_limit, "temp_dir": self.temp_dir}


@Parameter(name="*", group=FILES)
@dataclass(frozen=True)
class Units:
    """Where several rows are of one person or household.

    Parameters
    ----------
    unit
        Figures count units of several rows: the column that names a row's unit in every file, or several columns,
        the wider first (household,person).
    time
        The column by which the rows of a unit are in order; without it their order does not matter.
    """

    unit: Listed = None
    time: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of :class:`unveil.Pair`."""
        names = [name.strip() for part in self.unit or () for name in part.split(",")]
        return {"unit": names or None, "time": self.time}

    def or_else(self, given: dict[str, Any]) -> Units:
        """Options of the command line; where there are none, those that are taken out of a scenario file."""
        unit, time = given.pop("unit", None), given.pop("time", None)
        named = [unit] if isinstance(unit, str) else unit
        return Units(self.unit or named, time if self.time is None else self.time)


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Reading:
    """How the files are read.

    Parameters
    ----------
    special_codes
        Values that are not amounts, by column: income=-8 (repeat, or separate by commas).
    kinds
        What a column holds, by column: region=categorical.
    schema
        A schema file (TOML); `unveil schema FILE` writes a first one.
    missing
        A text that stands for a gap in delimited files, besides the empty field (repeat).
    encoding
        Encoding of delimited files; default: detected.
    delimiter
        Character between the fields; default: detected.
    decimal
        Decimal sign; default: detected.
    """

    special_codes: Listed = None
    kinds: Listed = None
    schema: Path | None = None
    missing: Listed = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The schema file, if one is given."""
        return () if self.schema is None else (self.schema,)

    @property
    def gaps(self) -> tuple[str, ...]:
        """All texts that stand for a gap."""
        return ("", *(self.missing or ()))

    @property
    def codes(self) -> dict[str, list[Any]]:
        """Special codes by column."""
        codes: dict[str, list[Any]] = {}
        for column, value in assignments(self.special_codes, "special_codes"):
            codes.setdefault(column, []).append(plain_value(value))
        return codes

    @property
    def stated(self) -> dict[str, Any]:
        """Kinds by column."""
        return dict(assignments(self.kinds, "kinds"))

    @property
    def options(self) -> dict[str, Any]:
        """Options of :func:`unveil.read`."""
        return {
            "schema": None if self.schema is None else str(self.schema),
            "missing": self.gaps,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "decimal": self.decimal,
        }

    def source(self, path: Path) -> Any:
        """Open one file by itself."""
        from unveil.files.opening import read

        return read(path, **self.options, kinds=self.stated or None, special_codes=self.codes or None)

    def or_else(self, given: Mapping[str, Any]) -> Reading:
        """Options of the command line, completed by those of a scenario or provenance file."""
        found = {name: given[name] for name in [f.name for f in fields(Reading)] if name in given}
        for name in ("special_codes", "kinds"):
            if name in found:
                found[name] = [
                    f"{column}={value}"
                    for column, values in found[name].items()
                    for value in (values if isinstance(values, list) else [values])
                ]
        if isinstance(found.get("missing"), str):
            found["missing"] = [found["missing"]]
        said = {f.name: getattr(self, f.name) for f in fields(Reading) if getattr(self, f.name) is not None}
        return Reading(**(found | said))

    def pair(
        self,
        original: Path,
        synthetic: tuple[Path, ...],
        holdout: Path | None = None,
        counting: Counting | None = None,
        breaks: Mapping[str, Sequence[float]] | None = None,
        sampling: Sampling | None = None,
        units: Units | None = None,
        hierarchies: Path | None = None,
    ) -> Any:
        """Open the files.

        Raises
        ------
        CallError
            If no release is named.
        """
        from glob import has_magic

        from unveil.columns.pair import Pair

        if not synthetic:
            raise CallError("no release given: name the original, then one or more synthetic files")
        counting = counting or Counting()
        counting.check((original, *synthetic))
        for path in synthetic if counting.spark_master is None else ():
            if not path.suffix and not os.path.exists(path) and not has_magic(str(path)):
                raise FileError(
                    f"{path}: no such file; if it is a column, write names separated by commas, without blanks"
                )
        files: list[Any] = [original, *synthetic]
        if counting.spark_master is not None:
            from unveil.files.spark_session import opened_by_spark

            files = list(opened_by_spark(files, counting.spark_master))
        options = self.options | counting.options | (sampling or Sampling()).options | (units or Units()).options
        return Pair(files[0], files[1:], holdout, special_codes=self.codes, kinds=self.stated, breaks=breaks,
                    hierarchies=hierarchies, **options)  # fmt: skip


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Sampling:
    """What population the original is a sample of.

    Parameters
    ----------
    weights
        The column of design weights: how many persons each original record stands for. It is no default target.
    population
        Number of persons in the population; default: the sum of the weights.
    """

    weights: str | None = None
    population: float | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of :class:`unveil.Pair`."""
        return {"weights": self.weights, "population": self.population}

    def or_else(self, given: dict[str, Any]) -> Sampling:
        """Options of the command line, completed by those of a scenario file."""
        return Sampling(*(given.get(name) if own is None else own for name, own in self.options.items()))


def checked_pair(
    original: Path, synthetic: tuple[Path, ...], reading: Reading, output: Output, *, tables: Sequence[Path] = (),
    counting: Counting | None = None, breaks: list[str] | None = None, sampling: Sampling | None = None,
    units: Units | None = None, hierarchies: Path | None = None,
) -> Any:  # fmt: skip
    """Open the files, after a check that all results can be written."""
    (counting or Counting()).check_records(tables)
    others = reading.files if hierarchies is None else (*reading.files, hierarchies)
    output.check((original, *synthetic, *others), tables=tables)
    return reading.pair(original, synthetic, counting=counting, breaks=breaks_of(breaks), sampling=sampling,
                        units=units, hierarchies=hierarchies)  # fmt: skip
