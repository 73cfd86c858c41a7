"""The verb `unveil synthesize`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import OUTPUT
from unveil.cli.options import Epsilon, Listed, Method, Original, VisitOrder, Whole
from unveil.cli.output import progress_bar
from unveil.cli.parsing import assignments, named_path, rules_of
from unveil.cli.reading import Reading
from unveil.cli.screen import remark, say
from unveil.cli.trees import Trees
from unveil.errors import CallError

if TYPE_CHECKING:
    from unveil.synthesis.synthetic_files import SyntheticFiles

READ = ("special_codes", "kinds")
"""Settings of a synthesizer that say how files are read."""


@Parameter(name="*")
@dataclass(frozen=True)
class VariableModels:
    """How single variables are modelled, one after the other.

    Parameters
    ----------
    methods
        Method of single variables: income=norm (repeat, or separate by commas).
    predictors
        Earlier variables that predict a variable: income=age,sex (repeat); default: all of them.
    smoothing
        Draw numbers with noise: density for all, or income=density.
    bandwidth
        How the noise is scaled: sheather-jones (default) or silverman.
    rules
        What is true of every record (repeat): a value that follows from other variables, "marital=SINGLE if age < 16"
        or "net = gross - tax"; a condition that no record breaks, "not (sex == 'MALE' and pregnant == 'YES')".
        Conditions compare columns, values and sums by <, <=, ==, !=, in [..], is None, joined by and, or, not. A TOML
        file stands for the rules that it lists.
    by
        Columns that make strata, each with trees of its own (repeat, or separate by commas).
    keep
        Columns that are released as they are (repeat, or separate by commas): the copies are partially synthetic.
    replace_rows
        Replace only records of which a condition is true: "income > 100000"; release all others as they are.
    proper
        Fit each copy to a bootstrap sample of the records.
    """

    visit_order: VisitOrder = None
    methods: Listed = None
    predictors: Listed = None
    smoothing: Listed = None
    bandwidth: str | None = None
    rules: Listed = None
    by: Listed = None
    keep: Listed = None
    replace_rows: str | None = None
    proper: Annotated[bool | None, Parameter(negative=())] = None

    def settings(self) -> dict[str, Any]:
        """Parameters of :class:`unveil.CartSynthesizer`."""
        return {
            "visit_order": _split(self.visit_order), "methods": dict(assignments(self.methods, "methods")) or None,
            "predictors": _predictors(self.predictors), "smoothing": _smoothing(self.smoothing),
            "bandwidth": self.bandwidth, "rules": rules_of(self.rules) or None, "by": _split(self.by),
            "proper": self.proper, "keep": _split(self.keep), "replace_rows": self.replace_rows,
        }  # fmt: skip


@Parameter(name="*")
@dataclass(frozen=True)
class WholeFile:
    """Settings of the methods for the whole file.

    Parameters
    ----------
    prior
        Records that catall adds to every cell; default: 1.
    neighbours
        Which files the privacy loss compares: replace (default; the number of records is known to everybody), or
        add_remove (it is not: give -k).
    degree
        Largest number of parents in dp_bayesnet; default: 2.
    structure_share
        Share of dp_bayesnet's privacy loss that finding the parents takes; default: 0.3.
    """

    prior: float | None = None
    epsilon: Epsilon = None
    neighbours: str | None = None
    degree: Whole | None = None
    structure_share: float | None = None


def synthesize(
    original: Original, *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], converter=named_path, group=OUTPUT)],
    method: Method = "cart", m: Annotated[Whole, Parameter(name=["--m", "-m"])] = 5,
    k: Annotated[Whole | None, Parameter(name=["--k", "-k"])] = None, seed: Whole | None = None,
    trees: Trees = Trees(), model: VariableModels = VariableModels(), whole_file: WholeFile = WholeFile(),
    others: ForeignSynthesizer = ForeignSynthesizer(),
    strata_apart: Annotated[bool, Parameter(negative=())] = False,
    unit: Listed = None, time: str | None = None,
    format: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    overwrite: Annotated[bool, Parameter(negative=(), group=OUTPUT)] = False,
    n_jobs: Whole | None = None, reading: Reading = Reading(),
) -> None:  # fmt: skip
    """Make synthetic copies of a file, and say beside them how they were made.

    Parameters
    ----------
    output
        A folder, or with -m 1 the name of a file. Existing files are kept unless --overwrite is given.
    method
        How variables are modelled: cart, sample, ctree, norm, normrank, pmm, logreg, polyreg, rf; or the whole file:
        catall, dp_bayesnet; or another synthesizer by its name.
    m
        Number of copies.
    k
        Number of records of each copy; default: as many as the original.
    seed
        The same seed gives the same files, except where noise for differential privacy is drawn. It is confidential.
        Default: one that nobody can guess, kept in the provenance file alone.
    strata_apart
        Synthesise each of the strata of --by as a file by itself, one after the other, and write them block by block:
        for files that do not fit into memory. With -m 1, and a Parquet file as output.
    unit
        Keep units whole: of a panel the column that names the person of each row, with --time; of households
        household,person, the columns that name the household and number its persons. -k is then a number of units.
    time
        The column that holds the wave of each row, with --unit.
    format
        csv, csv.gz, tsv, parquet, feather, arrow, sav, zsav, dta or xpt; default: that of the original.
    overwrite
        Replace existing files. The original is never replaced.
    n_jobs
        Number of threads; default: all. The files do not depend on it.
    """
    from unveil.synthesis.named import is_of_others
    from unveil.synthesis.synthetic_files import synthesize_files

    settings = trees.given() | model.settings() | asdict(whole_file) | {
        "special_codes": reading.codes or None, "kinds": reading.stated or None,
    }  # fmt: skip
    if strata_apart:
        if m != 1:
            raise CallError(f"--strata-apart makes one copy, not {m}: say -m 1")
        if others != ForeignSynthesizer() or is_of_others(method) or unit is not None or format is not None:
            raise CallError(
                "--strata-apart is of unveil's own methods for single variables, and writes Parquet: leave out other "
                "synthesizers, --unit and --format"
            )
        from unveil.synthesis.strata_files import synthesize_strata_files

        with progress_bar("reading") as progress:
            files = synthesize_strata_files(
                original, output, method=method, k=k, seed=seed, settings=settings, reading=reading.options,
                overwrite=overwrite, n_jobs=n_jobs, progress=progress,
            )  # fmt: skip
        _told(files, seed)
        return
    maker = None
    if others != ForeignSynthesizer() or is_of_others(method):
        if stated := [name for name, value in settings.items() if value is not None and name not in READ]:
            raise CallError(f"--{stated[0].replace('_', '-')} is a setting of unveil's own methods; leave it out")
        maker, settings = others.made(None if method == "cart" else method), others.provenance
        method = "command" if others.synthesizer_command else method
    with progress_bar("reading") as progress:
        files = synthesize_files(
            original, output, method=method, m=m, k=k, seed=seed, settings=settings, reading=reading.options,
            format=format, overwrite=overwrite, n_jobs=n_jobs, progress=progress,
            synthesizer=maker, unit=_unit(unit), time=time,
        )  # fmt: skip
    _told(files, seed)


def _told(files: SyntheticFiles, seed: int | None) -> None:
    """Say what was written, and what a seed that was given gives away."""
    from unveil.result import paragraph
    from unveil.synthesis.seeds import CONFIDENTIAL

    say(files)
    if seed is not None:
        said = paragraph(f"{CONFIDENTIAL}; keep command lines and scripts that hold it in the building")
        for line in said.splitlines():
            remark(line)


def _unit(given: list[str] | None) -> str | list[str] | None:
    names = _split(given)
    return names[0] if names is not None and len(names) == 1 else names


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
