"""The verb `unveil synthesize`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.errors import CallError

__all__ = ["synthesize"]

Listed = Annotated[list[str] | None, Parameter(negative=())]


@Parameter(name="*")
@dataclass(frozen=True)
class OriginalReading:
    """How the original is read.

    Parameters
    ----------
    schema
        A schema file (TOML); `unveil schema FILE` writes a first one.
    missing
        A text that stands for a gap in delimited files (repeat); default: the empty field only.
    encoding
        Encoding of a delimited file, where it is not found out.
    delimiter
        Character between the fields, where it is not found out.
    decimal
        Decimal sign, where it is not found out.
    """

    schema: Path | None = None
    missing: Listed = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None

    def options(self) -> dict[str, Any]:
        """Options of `unveil.read`."""
        return asdict(self) | {"schema": None if self.schema is None else str(self.schema)}


def synthesize(
    original: Annotated[Path, Parameter(help="The file of real records.")], *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    method: str = "cart", m: Annotated[int, Parameter(name=["--m", "-m"])] = 5, k: int | None = None, seed: int = 1,
    minbucket: int | None = None, cp: float | None = None, collapse: bool | None = None,
    max_depth: int | None = None, visit_order: Listed = None,
    methods: Listed = None, predictors: Listed = None, special_codes: Listed = None, kinds: Listed = None,
    smoothing: Listed = None, proper: Annotated[bool | None, Parameter(negative=())] = None,
    epsilon: float | None = None, degree: int | None = None, format: str | None = None,
    overwrite: Annotated[bool, Parameter(negative=())] = False, reading: OriginalReading = OriginalReading(),
) -> None:  # fmt: skip
    """Make synthetic copies of a file, and say beside them how they were made.

    Parameters
    ----------
    original
        The file of real records. It is only read.
    output
        A folder, or with -m 1 the name of a file. Existing files are kept unless --overwrite is given.
    method
        How variables are modelled: cart, sample, ctree, norm, normrank, pmm, logreg, polyreg, rf; or the whole file:
        catall, dp_bayesnet.
    m
        Number of copies.
    k
        Number of records of each copy; default: as many as the original.
    seed
        The same seed gives the same files.
    minbucket
        Smallest number of real records in a leaf; default: 5.
    cp
        Splits that lower the risk by less than this share are removed; default: 1e-8.
    collapse
        Whether splits that do not change the majority are removed (default). Without, more dependence is kept.
    max_depth
        Largest depth of a tree; default: 30.
    visit_order
        Order of synthesis, separated by commas; default: the file's.
    methods
        Method of single variables: income=norm (repeat, or separate by commas).
    predictors
        Earlier variables that predict a variable: income=age,sex (repeat); default: all of them.
    special_codes
        Values that are not amounts, by column: income=-8 (repeat, or separate by commas).
    kinds
        What a column holds, by column: region=categorical.
    smoothing
        Draw numbers with noise: density for all, or income=density.
    proper
        Fit each copy to a bootstrap sample of the records.
    epsilon
        Privacy loss of catall and dp_bayesnet.
    degree
        Largest number of parents in dp_bayesnet.
    format
        csv, csv.gz, tsv, parquet, feather, arrow, sav, zsav, dta or xpt; default: that of the original.
    overwrite
        Replace existing files. The original is never replaced.
    """
    from unveil.synthesis.files import synthesize_files

    codes: dict[str, list[Any]] = {}
    for column, value in _by_column(special_codes, "special-codes"):
        codes.setdefault(column, []).append(_plain_value(value))
    settings = {
        "minbucket": minbucket, "cp": cp, "collapse": collapse, "max_depth": max_depth, "proper": proper,
        "epsilon": epsilon, "degree": degree,
        "visit_order": _split(visit_order), "methods": dict(_by_column(methods, "methods")) or None,
        "predictors": _predictors(predictors), "special_codes": codes or None,
        "kinds": dict(_by_column(kinds, "kinds")) or None, "smoothing": _smoothing(smoothing),
    }  # fmt: skip
    with _tidy_when_terminated(), _progress() as progress:
        files = synthesize_files(
            original, output, method=method, m=m, k=k, seed=seed, settings=settings, reading=reading.options(),
            format=format, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    print(files)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None] | None]:
    """A bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total, name: bar.update(task, completed=done, total=total, description=name)


@contextmanager
def _tidy_when_terminated() -> Iterator[None]:
    """Let a termination (as batch systems send) end the program through its clean-up, like an interruption."""

    def stop(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _split(given: list[str] | None) -> list[str] | None:
    return None if given is None else [name for text in given for name in text.split(",")]


def _by_column(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = []
    for part in _split(given) or []:
        name, sign, value = part.rpartition("=")
        if not sign:
            raise CallError(f"--{option} takes column=value, not {part!r}")
        pairs.append((name, value))
    return pairs


def _predictors(given: list[str] | None) -> dict[str, list[str]] | None:
    if given is None:
        return None
    chosen: dict[str, list[str]] = {}
    for text in given:
        name, sign, others = text.partition("=")
        if not sign:
            raise CallError(f"--predictors takes column=column,column, not {text!r}")
        chosen.setdefault(name, []).extend(other for other in others.split(",") if other)
    return chosen


def _smoothing(given: list[str] | None) -> str | dict[str, str] | None:
    if given is None or given == ["density"]:
        return None if given is None else "density"
    return dict(_by_column(given, "smoothing"))


def _plain_value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
