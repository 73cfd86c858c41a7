"""Make synthetic files from a file of real records: all of them or none."""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any

from unveil.checks import check_whole_numbers
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.files import read
from unveil.files.form import ArrowForm, TextForm
from unveil.files.source import Source, Variable
from unveil.files.write import check_writable, write_blocks, write_table
from unveil.printable import commands_shown
from unveil.result import paragraph, text_table
from unveil.synthesis.any_synthesizer import releases_of
from unveil.synthesis.foreign_results import as_stored
from unveil.synthesis.memory import enough_memory
from unveil.synthesis.methods.coded_synthesizer import CodedSynthesizer
from unveil.synthesis.methods.whole_file import WHOLE_FILE
from unveil.synthesis.named import check_name
from unveil.synthesis.output_paths import OutputPaths, check_free, choose_paths, leftovers, write_all
from unveil.synthesis.provenance import FileFacts, Provenance, VariableFacts, write_provenance
from unveil.synthesis.sampling import BLOCK
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.variable_facts import variable_facts
from unveil.synthesis.whole_units import keeping_units
from unveil.synthesis.wide_units import UnitSynthesizer

RUNNING = ("n_jobs", "progress")
"""Parameters that do not change the result."""
_LOST = paragraph(
    "Bits lost: dependence on earlier variables, beyond chance and per record, that went with the removed leaves;",
    "collapse=False (--no-collapse) keeps it.",
)
_PARTIAL = paragraph(
    "Partially synthetic: what is kept is released as it is, and each record stands in the place of its original. How",
    "many persons are found again in the copies: unveil match-risk.",
)


@dataclass(frozen=True)
class SyntheticFiles:
    """Synthetic files that were written, and their provenance.

    Attributes
    ----------
    original
        Path of the file of real records.
    paths
        Paths of the synthetic files and of their provenance file.
    provenance
        Content of the provenance file.
    """

    original: Path
    paths: OutputPaths
    provenance: Provenance

    @commands_shown
    def __str__(self) -> str:
        facts = self.provenance
        copies = "1 copy" if facts.m == 1 else f"{facts.m} copies"
        shown, what = f"{shlex.quote(str(self.original))} {self.paths.pattern}", "records"
        if "unit" in facts.settings:
            unit, time = facts.settings["unit"], facts.settings["time"]
            named = ["--unit", unit if isinstance(unit, str) else ",".join(unit), *(["--time", time] if time else [])]
            shown, what = f"{shown} {shlex.join(named)}", "units"
        return "\n".join(
            [
                f"{copies} of {facts.k} {what}, from {facts.original.name} ({facts.original.records} records) "
                f"by {facts.method}, {facts.seconds:.1f} s",
                "",
                *_modelled(facts.variables),
                *([_LOST, ""] if any(v.leaves_removed for v in facts.variables) else []),
                *(f"warning: {text}" for text in facts.warnings),
                *([""] if facts.warnings else []),
                *([_promised(facts.privacy), ""] if facts.privacy else []),
                *([_PARTIAL, ""] if facts.settings.get("keep") or facts.settings.get("replace_rows") else []),
                f"Written to {self.paths.folder}:",
                *(f"  {path.name}" for path in self.paths.all),
                "",
                paragraph(
                    "Synthetic files are not safe by themselves: their values are those of real persons, and rare",
                    f"combinations can be repeated. {self.paths.provenance.name} describes the original and holds the",
                    "seed, with which somebody who has all records but one can find the last: keep it in the building.",
                    "Before a file is released, measure it with the keys that an intruder may know:",
                ),
                "",
                f"  unveil identity {shown} --keys ...",
                f"  unveil attribute {shown} --keys ... --targets ...",
            ]
        )

    __repr__ = __str__


def _modelled(variables: Sequence[VariableFacts]) -> list[str]:
    """How each variable was modelled, with the columns that say something; nothing if a program made all of them."""
    methods = {v.method for v in variables}
    columns: dict[str, list[Any]] = {
        "method": [v.method for v in variables],
        "leaves": [v.leaves for v in variables],
        "removed by collapse": [v.leaves_removed for v in variables],
        "bits lost": [v.bits_lost for v in variables],
    }
    told = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    if len(methods) == 1 and list(told) == ["method"]:
        return []
    rows = [list(row) for row in zip([v.name for v in variables], *told.values(), strict=True)]
    return [text_table(["variable", *told], rows, digits=3), ""]


def _promised(privacy: Mapping[str, Any]) -> str:
    return paragraph(
        f"Differential privacy with epsilon {privacy['epsilon']:g}, of all copies together, against",
        f"{privacy['meaning']}; given the levels and bounds of the schema, if they are known to everybody. It holds",
        "for the copies, not for the provenance file, nor for the fact that the synthesis was possible (a value that",
        "is not declared is an error). Every further synthesis adds its epsilon.",
    )


def synthesize_files(
    original: Path,
    output: Path,
    *,
    method: str = "cart",
    m: int = 5,
    k: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    format: str | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    synthesizer: Any = None,
    unit: str | Sequence[str] | None = None,
    time: str | None = None,
) -> SyntheticFiles:
    """Synthesise a file into files, and write their provenance beside them.

    Parameters
    ----------
    original
        Path of the file of real records; it is only read.
    output
        A folder for ``m`` files named after the original, or a single file if ``m`` is 1.
    method
        "cart", another method for every variable, or one for the whole file, as in :func:`unveil.synthesize`; with
        ``synthesizer``, what its files and their provenance call it.
    m, k
        Number of copies, and of records in each (as many as the original by default).
    seed
        Seed of fit and draws. By default a secret one, which is stored only in the provenance file.
    settings
        Parameters of the synthesizer.
    reading
        Options of :func:`unveil.read`.
    format
        Ending of the files in a folder; that of the original by default.
    overwrite
        Whether existing files may be replaced; the original never is.
    n_jobs
        Number of threads; all by default.
    progress
        Function of the number of tasks done, their total, and the name of the last task.
    synthesizer
        A synthesizer of others that makes the copies; ``settings`` are then what it was made with.
    unit, time
        As of :func:`unveil.synthesize`; ``k`` is the number of units.

    Returns
    -------
    SyntheticFiles
        Paths and provenance of the files.

    Raises
    ------
    CallError
        If an option is wrong, or a file to be written is the original itself.
    FileError
        If the original cannot be read, or a file exists or cannot be written; then nothing is written.
    DataError
        If the original cannot be synthesised.
    MissingPackageError
        If the format needs an optional package.
    """
    started = perf_counter()
    of_units = keeping_units(unit, time, method if synthesizer is None else None)
    check_whole_numbers(1, m=1 if m is None else m, k=1 if k is None else k)
    seed = seed_or_secret(seed)
    reading = {name: value for name, value in (reading or {}).items() if value is not None}
    with collected() as caught:
        source = read(original, **reading)
        if source.num_rows == 0:
            raise DataError(f"{source.label} has no records; there is nothing to synthesise")
        wanted, k = k, source.num_rows if k is None else k
        # the names of too many copies would need too much by themselves
        with enough_memory(min(k, BLOCK), m, len(source.names)):
            paths = choose_paths(original, output, m, format=format)
        # what is too large for memory is drawn while it is written
        is_own = synthesizer is None
        whole = of_units is not None or method in WHOLE_FILE
        in_blocks = is_own and not whole and k > BLOCK and paths.releases[0].suffix.lower() == ".parquet"
        if not in_blocks:
            with enough_memory(k, m, len(source.names)):
                pass
        inputs = [original, *([Path(reading["schema"])] if "schema" in reading else [])]
        check_free(paths, inputs, overwrite)
        check_writable(source, paths.releases[0])
        facts = FileFacts.of(original, source.num_rows)
        if is_own:
            settings = settings_of(method, source.names, settings or {})
            running: dict[str, Any] = {} if method in WHOLE_FILE else {"n_jobs": n_jobs, "progress": progress}
            maker: Any = of_units or WHOLE_FILE.get(method) or CartSynthesizer
            synthesizer = maker(**settings, **running).fit(source, seed=seed)
            sampled: Any = [] if in_blocks else synthesizer.sample(wanted, m=m, seed=seed)
            releases = [sampled] if m == 1 and not in_blocks else sampled
        else:
            like = source.form.schema if isinstance(source.form, ArrowForm) else None
            releases = [as_stored(one, source, like) for one in releases_of(synthesizer, source, m, k, seed)]
    privacy = synthesizer.privacy() if isinstance(synthesizer, CodedSynthesizer) else None
    variables, form = (source.variables, source.form) if privacy is None else _declared(source, reading)
    caught += leftovers(paths)
    sizes = [k] * m
    if isinstance(synthesizer, UnitSynthesizer):
        k, sizes = synthesizer.n_units if wanted is None else wanted, [read(one).num_rows for one in releases]
        settings = {**(settings or {}), "unit": unit if isinstance(unit, str) else [*(unit or ())], "time": time}
    modelled, kept = variable_facts(synthesizer, method, source.names), reading_kept(reading)
    provenance = Provenance(method, dict(settings or {}), seed, m, k, facts, (), modelled, 0.0, kept, (), privacy)

    def write(folder: Path) -> Provenance:
        with collected() as losses:
            for copy, path in enumerate(paths.releases):
                if isinstance(synthesizer, CartSynthesizer) and in_blocks:
                    blocks = synthesizer.sample_blocks(k, copy=copy, seed=seed)
                    write_blocks(blocks, folder / path.name, variables, form)
                else:
                    write_table(releases[copy], folder / path.name, variables, form)
        written = replace(
            provenance,
            releases=tuple(FileFacts.of(folder / path.name, n) for path, n in zip(paths.releases, sizes, strict=True)),
            seconds=round(perf_counter() - started, 3),
            warnings=tuple(dict.fromkeys([*caught, *losses])),
        )
        write_provenance(written, folder / paths.provenance.name)
        return written

    return SyntheticFiles(original, paths, write_all(paths, write, overwrite=overwrite))


def settings_of(method: str, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of the synthesizer by name, with defaults for those that were not given."""
    settings = {name: value for name, value in given.items() if value is not None}
    if method not in WHOLE_FILE and method != "cart":
        check_name(method, "method")
        settings["methods"] = dict.fromkeys(names, method) | dict(settings.get("methods", {}))
    known = {
        name: parameter.default
        for name, parameter in signature(WHOLE_FILE.get(method, CartSynthesizer)).parameters.items()
        if name not in RUNNING
    }
    for name in settings:
        if name not in known:
            raise CallError(f"method {method!r} has no option {name!r}; it has {', '.join(known)}")
    made = known | settings
    # On a command line there is no None.
    return made | {"epsilon": None} if made.get("epsilon") == math.inf else made


def _declared(source: Source, reading: Mapping[str, Any]) -> tuple[Mapping[str, Variable], TextForm]:
    """Return declarations and form of text that do not depend on the records.

    Declarations in the original's file are left out, because they may list levels that only one record has; delimiter,
    decimal sign and encoding are those of the user.
    """
    stated = {name: reading[name] for name in ("delimiter", "decimal", "encoding") if reading.get(name)}
    return dict(source.declared), TextForm(**stated)


def reading_kept(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of reading for the provenance; a schema file by its name and SHA-256."""
    kept = dict(reading)
    if "schema" in kept:
        facts = FileFacts.of(kept["schema"], 0)
        kept["schema"] = {"name": facts.name, "sha256": facts.sha256}
    return kept


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the texts of the warnings of this package in the block; other warnings are issued afterwards."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnveilWarning)
        yield texts
    for one in caught:
        if issubclass(one.category, UnveilWarning):
            texts.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
