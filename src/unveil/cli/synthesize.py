"""The verb `unveil synthesize`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.options import Listed, Reading, Whole, announce_compiling, assignments, progress_bar
from unveil.errors import CallError

__all__ = ["synthesize"]


def synthesize(
    original: Annotated[Path, Parameter(help="The file of real records.")], *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    method: str = "cart", m: Annotated[Whole, Parameter(name=["--m", "-m"])] = 5, k: Whole | None = None,
    seed: Whole = 1,
    minbucket: Whole | None = None, cp: float | None = None, collapse: bool | None = None,
    max_depth: Whole | None = None, visit_order: Listed = None,
    methods: Listed = None, predictors: Listed = None, smoothing: Listed = None,
    proper: Annotated[bool | None, Parameter(negative=())] = None,
    epsilon: float | None = None, degree: Whole | None = None, format: str | None = None,
    overwrite: Annotated[bool, Parameter(negative=())] = False, reading: Reading = Reading(),
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
        The same seed gives the same files, except where noise for differential privacy is drawn.
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

    announce_compiling()
    settings = {
        "minbucket": minbucket, "cp": cp, "collapse": collapse, "max_depth": max_depth, "proper": proper,
        "epsilon": epsilon, "degree": degree,
        "visit_order": _split(visit_order), "methods": dict(assignments(methods, "methods")) or None,
        "predictors": _predictors(predictors), "special_codes": reading.codes or None,
        "kinds": reading.stated or None, "smoothing": _smoothing(smoothing),
    }  # fmt: skip
    with _tidy_when_terminated(), progress_bar("reading") as progress:
        files = synthesize_files(
            original, output, method=method, m=m, k=k, seed=seed, settings=settings, reading=reading.options,
            format=format, overwrite=overwrite, progress=progress,
        )  # fmt: skip
    print(files)


@contextmanager
def _tidy_when_terminated() -> Iterator[None]:
    """Let a termination (as batch systems send) end the program through its clean-up, like an interruption."""

    def stop(number: int, *_: object) -> None:
        sys.exit(128 + number)

    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(number, signal.signal(number, stop)) for number in signals]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _split(given: list[str] | None) -> list[str] | None:
    return None if given is None else [name for text in given for name in text.split(",")]


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
    return dict(assignments(given, "smoothing"))
