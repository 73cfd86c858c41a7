"""What several verbs share: reading of files, parsing of names and values, writing of results."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from unveil.cli.groups import ASKED, COUNTING, FILES, OUTPUT, READING
from unveil.cli.screen import is_quiet, remark, say
from unveil.errors import CallError, FileError
from unveil.files.addresses import Address, numbered, path_or_address

WITH_WARNINGS = 3
"""Exit status of a measure that was taken, where --strict was asked for and warnings concern the result."""
POLICY_NOT_MET = 4
"""Exit status of an assessment whose policy is not met, where --policy-exit was asked for."""
PLOT_ENDINGS = (".png", ".svg", ".pdf")
WORKING_DOCUMENT = (
    "A working document, not for publication: its figures are exact, and it may name levels and count records that few "
    "persons have.",
    "Whoever has all records of the original but one can try out that one with any exact figure.",
    "For publication: unveil assess, whose documents pass a gate; for everybody its --public-summary.",
)
"""What the JSON of a single measure says of itself."""


def whole(_: type, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; Python's own conversion of a fraction would cut it."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def named_path(_: type, tokens: Sequence[Token]) -> Path:
    """A path that is not empty: an empty one would mean the folder that one is in."""
    if not tokens[0].value:
        raise ValueError("the output has no name")
    return Path(tokens[0].value)


def address(_: type, tokens: Sequence[Token]) -> Path:
    """A path, or an address such as hdfs://office/people."""
    return path_or_address(tokens[0].value)


Whole = Annotated[int, Parameter(converter=whole)]
Listed = Annotated[list[str] | None, Parameter(negative=())]

# What several verbs take, with the one text that all of them show.

Original = Annotated[
    Path,
    Parameter(
        help="The file of real records; or a folder of Parquet files, or a pattern of names in quotes.",
        group=FILES,
        converter=address,
    ),
]
Synthetic = Annotated[Path, Parameter(help="The release, or several.", group=FILES, converter=address)]
Keys = Annotated[list[str], Parameter(help="Key variables, separated by commas.", negative=(), group=ASKED)]
Target = Annotated[str | None, Parameter(help="One target variable.", group=ASKED)]
Targets = Annotated[
    list[str] | None,
    Parameter(
        help="Several target variables, separated by commas; default: every other column.", negative=(), group=ASKED
    ),
]
GroupsOfKeys = Annotated[
    list[str] | None, Parameter(help="Groups for numeric keys: a number for all, or age=10.", negative=(), group=ASKED)
]
GroupsOfTargets = Annotated[
    list[str] | None,
    Parameter(help="Groups for numeric targets: a number for all, or income=20.", negative=(), group=ASKED),
]
Breaks = Annotated[
    list[str] | None,
    Parameter(
        help="Where numeric keys and targets are cut into groups: age=18:30:65 (repeat, or separate by commas).",
        negative=(), group=ASKED,
    ),
]  # fmt: skip
Hierarchies = Annotated[
    Path | None,
    Parameter(
        help="Coarser levels and intervals (TOML): files are compared at the coarseness of the releases.", group=ASKED
    ),
]
Suppressed = Annotated[
    str | None,
    Parameter(
        help="The sign of suppressed values in the releases, such as '*': also show figures with it as a wildcard.",
        group=ASKED,
    ),
]
UseKeysNa = Annotated[bool, Parameter(help="Whether combinations with a missing key count.", group=ASKED)]
By = Annotated[str | None, Parameter(help="Also show the measures for each level of this column.", group=OUTPUT)]
Records = Annotated[
    Path | None,
    Parameter(
        help="Write the figures of every original record to this file. They are confidential.",
        group=OUTPUT,
        converter=address,
    ),
]  # fmt: skip
VisitOrder = Annotated[
    list[str] | None,
    Parameter(help="Order of synthesis, separated by commas; default: the file's.", negative=()),
]
Method = Annotated[str, Parameter(name=["--method", "--synthesizer"])]
Epsilon = Annotated[
    float | None,
    Parameter(
        help="Privacy loss of catall and dp_bayesnet, for which --schema declares levels and bounds that are known to "
        "everybody; inf: no noise and no claim. Default: inf, of dp_bayesnet 1."
    ),
]


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


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class Output:
    """Files that the results are written to.

    Parameters
    ----------
    json
        Write the result as JSON to this file, or to standard output with -.
    plot
        Write the plot to this file (png, svg, pdf).
    overwrite
        Replace these files if they exist; never an input.
    strict
        End with exit status 3 if warnings concern the result; it is written in full anyway.
    """

    json: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    plot: Path | None = None
    overwrite: bool = False
    strict: Annotated[bool, Parameter(negative=())] = False

    def check(self, inputs: tuple[Path, ...], *documents: Path, tables: Sequence[Path] = ()) -> None:
        """Raise an error, before anything is computed, if a file could not be written afterwards.

        Parameters
        ----------
        inputs
            Files that are read, or that hold what was done so far.
        documents, tables
            Files to be written besides; those of tables in the format that their ending says.
        """
        from unveil.files.folders import is_part_of, stands_for_several
        from unveil.files.path_checks import check_replaceable
        from unveil.show.plots.axes import pyplot

        if self.json == "":
            raise CallError("--json takes the name of a file, or - for standard output; it is empty")
        named = [Path(self.json)] if self.json not in (None, "-") else []
        written = [*named, *([self.plot] if self.plot else []), *documents, *tables]
        for position, path in enumerate(written):
            check_replaceable(path, str(path))
            if any(path.resolve() == other.resolve() for other in written[:position]):
                raise CallError(f"{path} would be written twice; name another file for one of them")
            for given in inputs:
                if is_part_of(path, given):
                    what = f"would be read with {given}" if stands_for_several(given) else "is an input"
                    raise CallError(f"{path} {what}; name another file to write to")
            if isinstance(path, Address):
                continue
            if path.exists() and not self.overwrite:
                raise FileError(f"{path} exists; name another file, or replace it with --overwrite")
            if not path.parent.is_dir():
                raise FileError(f"{path}: there is no folder {path.parent}")
        if tables:
            from unveil.files.write import check_ending

            for path in tables:
                check_ending(path)
        if self.plot is not None:
            if self.plot.suffix.lower() not in PLOT_ENDINGS:
                raise CallError(f"{self.plot}: plots are written as {', '.join(PLOT_ENDINGS)}")
            pyplot()

    def give(
        self, result: Any, extra: dict[str, Any] | None = None, view: dict[str, Any] | None = None,
        document: Callable[[], dict[str, Any]] | None = None,
    ) -> int:  # fmt: skip
        """Write the result as JSON and one view of it as a plot, if these are named; print it; return the status.

        Parameters
        ----------
        result
            What was measured.
        extra
            What the JSON holds besides.
        view
            Options of the plot.
        document
            Makes the JSON, where that is more than ``result.to_dict()``; called only if one is named.
        """
        from unveil.plain import without_nan
        from unveil.version import __version__

        if self.plot is not None:
            _save_plot(result, self.plot, self.overwrite, view or {})
        if self.json is not None:
            about = {"unveil": __version__, "measure": type(result).__name__}
            # An assessment says of itself whether it passed the gate; nothing else does pass it.
            stays = {"release_safe": False, "confidential": list(WORKING_DOCUMENT)}
            content = about | stays | (document or result.to_dict)() | (extra or {})
            text = json.dumps(without_nan(content), indent=2, ensure_ascii=self.json == "-", allow_nan=False)
            if self.json == "-":
                say(text.replace("\x7f", r"\u007f"))
                return self.status(result)
            write_text(Path(self.json), text + "\n", self.overwrite)
        say(result)
        return self.status(result)

    def status(self, result: Any) -> int:
        """Exit status: that of warnings if there are any and --strict is given."""
        return WITH_WARNINGS if self.strict and result.warnings else 0


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


def names_of(given: list[str], known: tuple[str, ...]) -> list[str]:
    """Names separated by commas; a column whose own name has a comma is taken as it stands."""
    return [name for part in given for name in ([part] if part in known else part.split(","))]


def assignments(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in (p for text in given or () for p in split_assignments(text)):
        name, sign, value = part.rpartition("=")
        if not sign:
            raise CallError(f"--{option.replace('_', '-')} takes column=value, not {part!r}")
        pairs.append((name, value))
    return pairs


def split_assignments(text: str) -> list[str]:
    """Assignments separated by commas; a comma inside a name separates nothing."""
    parts = text.split(",")
    return parts if all("=" in part for part in parts) else [text]


def plain_value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def setting_value(text: str) -> Any:
    """A setting as it is typed: a number, true, false, none, or a text."""
    return {"true": True, "false": False, "none": None}.get(text.lower(), plain_value(text))


def groups_of(given: list[str] | None, option: str) -> int | dict[str, int | None] | None:
    if given is None:
        return None
    try:
        if len(given) == 1 and "=" not in given[0]:
            return int(given[0])
        return {name: int(value) for name, value in assignments(given, option)}
    except ValueError:
        raise CallError(f"--{option.replace('_', '-')} takes a whole number, or column=number, not {given!r}") from None


def breaks_of(given: list[str] | None) -> dict[str, list[float]]:
    """Breaks by column."""
    found = {}
    for column, value in assignments(given, "breaks"):
        try:
            found[column] = [float(part) for part in value.split(":")]
        except ValueError:
            raise CallError(f"--breaks takes column=number:number, such as age=18:30:65, not {value!r}") from None
    return found


def as_lists(intervals: list[dict[str, tuple[float, float]]]) -> list[dict[str, list[float]]]:
    return [{name: list(ends) for name, ends in one.items()} for one in intervals]


def _save_plot(result: Any, path: Path, overwrite: bool, view: dict[str, Any]) -> None:
    import numpy as np

    from unveil.files.atomic import replacing

    # A grid of several axes is an array.
    axes = np.ravel(result.plot(**view))[0]
    with replacing(path, overwrite=overwrite) as temporary:
        axes.figure.savefig(temporary, format=path.suffix.lower().lstrip("."))


def write_text(path: Path, text: str, overwrite: bool = False) -> None:
    from unveil.files.atomic import replacing

    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


def record_files(records: Path | None, n_releases: int) -> list[Path]:
    """Files for the records of each release: numbered where there are several."""
    if records is None:
        return []
    return [records] if n_releases == 1 else [numbered(records, i + 1) for i in range(n_releases)]


def save_records(risk: Any, records: Path | None, overwrite: bool) -> None:
    """Write the figures of every original record, and say that they are confidential."""
    if records is None:
        return
    labels = risk.labels
    for i, (path, label) in enumerate(zip(record_files(records, len(labels)), labels, strict=True)):
        save_confidential(risk.records(i, flavour="arrow"), path, overwrite, f" ({label})")


def save_where_counted(risk: Any, records: Path | None, overwrite: bool) -> None:
    """Write the figures of every original record where they are counted, if a file is named."""
    if records is None:
        return
    for i, (path, label) in enumerate(zip(record_files(records, len(risk.labels)), risk.labels, strict=True)):
        risk.write_records(path, i, overwrite=overwrite)
        say_confidential(path, f" ({label})")


def save_confidential(table: Any, path: Path, overwrite: bool, of: str = "") -> None:
    """Write figures of single persons, and say that they are confidential."""
    from unveil.files.write import write_table

    write_table(table, str(path), overwrite=overwrite, confidential=True)
    say_confidential(path, of)


def say_confidential(path: Path, of: str = "") -> None:
    """Say that a file holds figures of single persons."""
    remark(f"notice: {path} holds figures of every single person{of}: keep it in the building")


def print_frame(title: str, table: Any) -> None:
    """Print an Arrow table below its title."""
    from unveil.result import text_table

    say(f"\n{title}\n")
    say(text_table(table.column_names, [list(row.values()) for row in table.to_pylist()], digits=3))


@contextmanager
def progress_bar(first: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show a progress bar on standard error if that is a terminal, and all is to be shown."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from unveil.printable import one_line

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, name: bar.update(
            task, completed=done, total=total, description=escape(one_line(name))
        )
