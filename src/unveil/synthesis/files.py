"""From the file of real records to synthetic files on disk: all of them or none."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

from unveil.errors import CallError, DataError, FileError, UnveilWarning
from unveil.microdata import read
from unveil.microdata.arrays import quoted_list
from unveil.microdata.source import Source
from unveil.microdata.statistical import FORMATS, load_pyreadstat
from unveil.microdata.write import check_writable, write_table
from unveil.result import paragraph, text_table
from unveil.synthesis.cart import CartMethod, FittedCart
from unveil.synthesis.diagnostics import lost_bits
from unveil.synthesis.methods import METHODS
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.plan import Plan
from unveil.synthesis.provenance import FileFacts, Provenance, VariableFacts, write_provenance
from unveil.synthesis.sequence import CartSynthesizer

__all__ = ["SyntheticFiles", "Targets", "choose_targets", "synthesize_files"]

UNWRITABLE = (".xlsx", ".xls", ".ods", ".rds", ".rda", ".rdata", ".sas7bdat", ".por", ".json", ".zip", ".tar.gz")
"""Endings that mean a file, so that no folder of that name is made."""
WRITABLE = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow", ".sav", ".zsav", ".dta", ".xpt")
ZIPPED = (".csv", ".tsv", ".txt")
RUNNING = ("n_jobs", "progress")
"""Parameters that do not change the result."""
_LOST = paragraph(
    "Bits lost: dependence on earlier variables, beyond chance and per record, that went with the removed leaves;",
    "collapse=False (--no-collapse) keeps it.",
)


@dataclass(frozen=True)
class Targets:
    """The files that are to be written, all in one folder.

    Parameters
    ----------
    releases
        A file per copy.
    provenance
        The file that says where they come from.
    in_own_folder
        Whether a folder was named, which is made where there is none; else a single file was.
    """

    releases: tuple[Path, ...]
    provenance: Path
    in_own_folder: bool

    @property
    def folder(self) -> Path:
        """Where they are written."""
        return self.provenance.parent

    @property
    def pattern(self) -> str:
        """The releases as they are written on a command line."""
        if len(self.releases) == 1:
            return shlex.quote(str(self.releases[0]))
        stem, ending = _split(self.releases[0])
        return shlex.quote(str(self.folder / stem.removesuffix("1"))) + f"*{shlex.quote(ending)}"

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file."""
        return (*self.releases, self.provenance)


@dataclass(frozen=True)
class SyntheticFiles:
    """Synthetic files that were written, and how they came about.

    Attributes
    ----------
    original
        The file of real records.
    targets
        The files.
    provenance
        What is said of them in the file beside them.
    """

    original: Path
    targets: Targets
    provenance: Provenance

    def __str__(self) -> str:
        facts = self.provenance
        copies = "1 copy" if facts.m == 1 else f"{facts.m} copies"
        rows = [[v.name, v.method, v.leaves, v.leaves_removed, v.bits_lost] for v in facts.variables]
        shown = f"{shlex.quote(str(self.original))} {self.targets.pattern}"
        return "\n".join(
            [
                f"{copies} of {facts.k} records, from {facts.original.name} ({facts.original.records} records) "
                f"by {facts.method}, seed {facts.seed}, {facts.seconds:.1f} s",
                "",
                text_table(["variable", "method", "leaves", "removed by collapse", "bits lost"], rows, digits=3),
                "",
                *([_LOST, ""] if any(v.leaves_removed for v in facts.variables) else []),
                *(f"warning: {text}" for text in facts.warnings),
                *([""] if facts.warnings else []),
                f"Written to {self.targets.folder}:",
                *(f"  {path.name}" for path in self.targets.all),
                "",
                paragraph(
                    "Synthetic files are not safe by themselves: their values are those of real persons, and rare",
                    f"combinations can come back as they were. {self.targets.provenance.name} tells of the original:",
                    "keep it in the building. Before a file is handed out, measure it with the keys that an intruder",
                    "may know:",
                ),
                "",
                f"  unveil identity {shown} --keys ...",
                f"  unveil attribute {shown} --keys ... --targets ...",
            ]
        )

    __repr__ = __str__


def synthesize_files(
    original: Path,
    output: Path,
    *,
    method: str = "cart",
    m: int = 5,
    k: int | None = None,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    format: str | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> SyntheticFiles:
    """Synthesise a file into files, with their provenance beside them.

    Parameters
    ----------
    original
        The file of real records; it is only read.
    output
        A folder for ``m`` files called after the original, or the name of a single file where ``m`` is 1.
    method
        "cart", another method for every variable, or one for the whole file, as in :func:`unveil.synthesize`.
    m, k, seed
        Number of copies, of records in each (as many as the original by default), and the seed.
    settings
        The synthesizer's parameters.
    reading
        Options of :func:`unveil.read`.
    format
        Ending of the files in a folder; that of the original by default.
    overwrite
        Whether existing files may be replaced; the original never is.
    n_jobs
        Number of threads; all by default.
    progress
        Called with the number of tasks done, their total, and the name of the one just done.

    Returns
    -------
    SyntheticFiles
        What was written.

    Raises
    ------
    CallError
        If an option is wrong, or a file to be written is the original itself.
    FileError
        If the original cannot be read, or a file exists or cannot be written. Then nothing is written at all.
    DataError
        If the original cannot be synthesised.
    MissingPackageError
        If the format needs an optional package.
    """
    started = time.perf_counter()
    for name, value, least in (("m", m, 1), ("k", k, 1), ("seed", seed, 0)):
        if value is not None and value < least:
            raise CallError(f"{name} must be at least {least}, not {value}")
    reading = {name: value for name, value in (reading or {}).items() if value is not None}
    with _collected() as caught:
        source = read(original, **reading)
        if source.num_rows == 0:
            raise DataError(f"{source.label} has no records; there is nothing to synthesise")
        targets = choose_targets(original, output, m, format=format)
        inputs = [original, *([Path(reading["schema"])] if "schema" in reading else [])]
        _check_free(targets, inputs, overwrite)
        check_writable(source, targets.releases[0])
        facts = FileFacts.of(original, source.num_rows)
        settings = _settings(method, source.names, settings or {})
        synthesizer = _fitted(method, settings, source, seed, {"n_jobs": n_jobs, "progress": progress})
        k = facts.records if k is None else k
        sampled = synthesizer.sample(k, m=m, seed=seed)
    releases = sampled if m > 1 else [sampled]
    caught += _leftovers(targets)
    provenance = Provenance(
        method=method, settings=settings, seed=seed, m=m, k=k, original=facts, releases=(),
        variables=_variable_facts(synthesizer, method, source.names), seconds=0.0, reading=_named(reading),
    )  # fmt: skip

    def write(folder: Path) -> Provenance:
        with _collected() as losses:
            for path, release in zip(targets.releases, releases, strict=True):
                write_table(release, folder / path.name, source.variables, source.form)
        written = replace(
            provenance,
            releases=tuple(FileFacts.of(folder / path.name, k) for path in targets.releases),
            seconds=round(time.perf_counter() - started, 3),
            warnings=tuple(dict.fromkeys([*caught, *losses])),
        )
        write_provenance(written, folder / targets.provenance.name)
        return written

    return SyntheticFiles(original, targets, _write_all(targets, write, overwrite=overwrite))


def choose_targets(original: Path, output: Path, m: int, *, format: str | None = None) -> Targets:
    """Names of the files that are to be written.

    Parameters
    ----------
    original
        The file of real records.
    output
        A folder, or the name of a file where ``m`` is 1.
    m
        Number of copies.
    format
        Ending of the files in a folder; that of the original by default.

    Raises
    ------
    CallError
        If the format is unknown or cannot be written, or a single name is given for several copies.

    Examples
    --------
    >>> targets = choose_targets(Path("survey.sav"), Path("out"), 2, format="csv")
    >>> [path.name for path in targets.all]
    ['survey_syn1.csv', 'survey_syn2.csv', 'survey_syn.provenance.json']
    """
    stem, ending = _split(output)
    if ending in _endings() and not output.is_dir():
        if m > 1:
            raise CallError(f"{output.name} is one file and there are {m} copies: name a folder, or ask for m = 1")
        if format is not None and _ending(format) != ending:
            raise CallError(f"format {format!r} contradicts the name {output.name}; leave one of them out")
        return Targets((output,), output.with_name(f"{stem}.provenance.json"), False)
    if ending in UNWRITABLE and not output.is_dir():
        raise CallError(f"{output.name}: files like this cannot be written; choose from {', '.join(_endings())}")
    stem, own = _split(original)
    ending = own if format is None else _ending(format)
    if ending not in _endings():
        what = f"{original.name}: files like this cannot be written" if format is None else f"unknown format {format!r}"
        raise CallError(f"{what}; choose a format from {', '.join(e[1:] for e in _endings())}")
    names = [f"{stem}_syn{copy}{ending}" for copy in range(1, m + 1)]
    return Targets(tuple(output / name for name in names), output / f"{stem}_syn.provenance.json", True)


def _endings() -> tuple[str, ...]:
    return (*WRITABLE, *(f"{ending}.gz" for ending in ZIPPED))


def _ending(format: str) -> str:
    return f".{format.lower().lstrip('.')}"


def _split(path: Path) -> tuple[str, str]:
    """A file's name without its ending, and the ending in small letters (".csv.gz" is one)."""
    zipped = ".gz" if path.suffix.lower() == ".gz" else ""
    name = path.name[: len(path.name) - len(zipped)]
    suffix = Path(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower() + zipped


# Before


def _check_free(targets: Targets, inputs: Iterable[Path], overwrite: bool) -> None:
    """Refuse before the work what could not be written after it."""
    folder = targets.folder
    standing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not standing.is_dir():
        raise FileError(f"{standing} is a file, not a folder; name a folder, or a file with a known ending")
    if standing != folder and not targets.in_own_folder:
        raise FileError(f"{targets.releases[0].name}: there is no folder {folder}; make it first")
    if not os.access(standing, os.W_OK):
        raise FileError(f"{standing}: nothing can be written to this folder; name another")
    for target in targets.all:
        for path in inputs:
            if target.exists() and path.exists() and target.samefile(path):
                raise CallError(f"{target} is {path.name} itself, which is never overwritten; choose another name")
        if target.is_dir():
            raise FileError(f"{target} is a folder; choose another name")
        if os.path.lexists(target) and not overwrite:
            raise FileError(f"{target} exists; choose another name or overwrite it on purpose")
    if _split(targets.releases[0])[1] in FORMATS:
        load_pyreadstat(targets.releases[0].name)


def _settings(method: str, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of the synthesizer by name, those that are not given by their default."""
    settings = {name: value for name, value in given.items() if value is not None}
    if method not in WHOLE_FILE and method != "cart":
        if method not in METHODS:
            raise CallError(f"unknown method {method!r}; choose from cart, {', '.join((*METHODS, *WHOLE_FILE))}")
        settings["methods"] = dict.fromkeys(names, method) | dict(settings.get("methods", {}))
    known = {
        name: parameter.default
        for name, parameter in signature(WHOLE_FILE.get(method, CartSynthesizer)).parameters.items()
        if name not in RUNNING
    }
    for name in settings:
        if name not in known:
            raise CallError(f"method {method!r} has no option {name!r}; it has {', '.join(known)}")
    return known | settings


def _fitted(
    method: str,
    settings: Mapping[str, Any],
    source: Source,
    seed: int,
    running: Mapping[str, Any],
) -> Any:
    if method in WHOLE_FILE:
        return WHOLE_FILE[method](**settings).fit(source)
    return CartSynthesizer(**settings, **running).fit(source, seed=seed)


def _named(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Reading options as they are kept: a schema file by its name and content."""
    kept = dict(reading)
    if "schema" in kept:
        facts = FileFacts.of(kept["schema"], 0)
        kept["schema"] = {"name": facts.name, "sha256": facts.sha256}
    return kept


def _variable_facts(synthesizer: Any, method: str, names: Sequence[str]) -> tuple[VariableFacts, ...]:
    """Facts by part, in the order of the file."""
    if not isinstance(synthesizer, CartSynthesizer):
        return tuple(VariableFacts(name, method) for name in names)
    plans = sorted(synthesizer.plans, key=lambda plan: names.index(plan.variable.name))
    return tuple(facts for plan in plans for facts in _facts(plan))


def _facts(plan: Plan) -> Iterator[VariableFacts]:
    if plan.lookup is not None:
        source = plan.lookup.source
        yield VariableFacts(plan.variable.name, "constant" if source is None else f"recoded from {source}")
        return
    known: dict[Any, str] = {CartMethod: "cart"} | {kind: name for name, kind in METHODS.items()}
    for step in plan.steps:
        if step.method is None:
            yield VariableFacts(step.name, "rules")
            continue
        method = known.get(type(step.method), type(step.method).__name__)
        if isinstance(step.fitted, FittedCart):
            tree = step.fitted.tree
            removed = tree.n_leaves_full - tree.n_leaves
            yield VariableFacts(step.name, method, tree.n_leaves, removed, round(lost_bits(tree), 6))
        else:
            yield VariableFacts(step.name, method)


def _leftovers(targets: Targets) -> list[str]:
    """A warning of copies from an earlier run with more of them."""
    if not targets.in_own_folder or not targets.folder.is_dir():
        return []
    stem, ending = _split(targets.releases[0])
    pattern = re.compile(re.escape(stem[:-1]) + r"\d+" + re.escape(ending))
    now = {path.name for path in targets.releases}
    old = sorted(
        path.name for path in targets.folder.iterdir() if pattern.fullmatch(path.name) and path.name not in now
    )
    return (
        [f"{targets.folder} still holds {quoted_list(old)} of an earlier run; remove what is out of date"]
        if old
        else []
    )


@contextmanager
def _collected() -> Iterator[list[str]]:
    """The texts of the warnings that the block gives rise to; those of other packages go their way."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnveilWarning)
        yield texts
    for one in caught:
        if issubclass(one.category, UnveilWarning):
            texts.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


# Afterwards


def _write_all(targets: Targets, write: Callable[[Path], Provenance], *, overwrite: bool) -> Provenance:
    """Write into a folder beside, then move all files to their places; whatever happens, all or none are there."""
    folder = targets.folder
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unveil-", dir=folder) as name:
            made = write(Path(name))
            _move(targets, Path(name), overwrite)
            return made
    except BaseException as error:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise FileError(f"{folder}: cannot be written to ({error.strerror or error}); nothing was") from None
        raise


def _move(targets: Targets, staged: Path, overwrite: bool) -> None:
    replaced = staged / "replaced"
    replaced.mkdir()
    try:
        for target in targets.all:
            if os.path.lexists(target):
                if not overwrite:
                    raise FileError(f"{target} exists by now; nothing was written")
                os.rename(target, replaced / target.name)
            os.rename(staged / target.name, target)
    except BaseException:
        for target in targets.all:
            if not (staged / target.name).exists():
                target.unlink(missing_ok=True)
            if os.path.lexists(replaced / target.name):
                os.replace(replaced / target.name, target)
        raise
