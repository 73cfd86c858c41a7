"""Make a synthetic file stratum by stratum from a file of real records, with its provenance: both or neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from unveil.checks import check_whole_numbers
from unveil.errors import CallError, DataError
from unveil.files import read
from unveil.files.folders import PARQUET
from unveil.files.write import write_blocks
from unveil.synthesis.output_paths import check_free, choose_paths, write_all
from unveil.synthesis.provenance import FileFacts, Provenance, write_provenance
from unveil.synthesis.seeds import seed_or_secret
from unveil.synthesis.sequence import CartSynthesizer
from unveil.synthesis.strata_apart import StrataApart
from unveil.synthesis.synthetic_files import SyntheticFiles, collected, reading_kept, settings_of
from unveil.synthesis.variable_facts import PartsOf, parts_of, together

SETTING = "strata_apart"
"""Tells in the provenance that every stratum was synthesised as a file by itself."""


def synthesize_strata_files(
    original: Path, output: Path, *, method: str = "cart", k: int | None = None, seed: int | None = None,
    settings: Mapping[str, Any] | None = None, reading: Mapping[str, Any] | None = None, overwrite: bool = False,
    n_jobs: int | None = None, progress: Callable[[int, int, str], None] | None = None,
) -> SyntheticFiles:  # fmt: skip
    """Synthesise each stratum of a file as a file by itself, into one Parquet file with its provenance.

    One stratum at a time is in memory; it is drawn and written block by block.

    Parameters
    ----------
    original
        Path of the file of real records; it is only read.
    output
        Name of the Parquet file.
    method
        A method for single variables.
    k
        Number of records; as many as the original by default.
    seed
        Seed of all strata. By default a secret one, which is stored only in the provenance file.
    settings
        Parameters of :class:`unveil.CartSynthesizer`; ``by`` names the columns that make the strata.
    reading
        Options of :func:`unveil.read`.
    overwrite
        Whether existing files may be replaced; the original never is.
    n_jobs
        Number of threads; all by default.
    progress
        Function of the number of strata done, their total, and which is next.

    Returns
    -------
    SyntheticFiles
        Paths and provenance of the files.

    Raises
    ------
    CallError
        If no column makes strata, the output is no Parquet file, or an option is wrong.
    FileError
        If the original cannot be read, or a file exists or cannot be written; then nothing is written.
    DataError
        If the original cannot be synthesised, or a stratum has too few records.
    """
    started = perf_counter()
    check_whole_numbers(1, k=1 if k is None else k)
    if not (settings or {}).get("by"):
        raise CallError("strata that are synthesised apart need columns that make them: by (--by region)")
    if not output.name.lower().endswith(PARQUET):
        raise CallError(f"{output.name}: strata are written as Parquet, one file; name a file that ends in .parquet")
    seed = seed_or_secret(seed)
    reading = {name: value for name, value in (reading or {}).items() if value is not None}
    fits: list[PartsOf] = []
    with collected() as caught:
        source = replace(read(original, **reading), flavour="arrow")
        if source.num_rows == 0:
            raise DataError(f"{source.label} has no records; there is nothing to synthesise")
        paths = choose_paths(original, output, 1)
        check_free(paths, [original, *([Path(reading["schema"])] if "schema" in reading else [])], overwrite)
        kept = settings_of(method, source.names, settings or {})
        options = {name: value for name, value in kept.items() if name != "by"}
        strata = StrataApart.of(source, kept["by"], k, seed, options | {"n_jobs": n_jobs})
    k = source.num_rows if k is None else k
    facts = FileFacts.of(original, source.num_rows)

    def fitted(number: int, fit: CartSynthesizer) -> None:
        fits.append(parts_of(fit.plans))
        if progress:
            progress(number, len(strata.records), f"stratum {number + 1} of {len(strata.records)}")

    def write(folder: Path) -> Provenance:
        (path,) = paths.releases
        with collected() as said:
            write_blocks(strata.blocks(fitted), folder / path.name, source.variables, source.form)
        written = Provenance(
            method, kept | {SETTING: True}, seed, 1, k, facts, (FileFacts.of(folder / path.name, k),),
            together(fits, source.names), round(perf_counter() - started, 3), reading_kept(reading),
            tuple(dict.fromkeys([*caught, *said])),
        )  # fmt: skip
        write_provenance(written, folder / paths.provenance.name)
        return written

    return SyntheticFiles(original, paths, write_all(paths, write, overwrite=overwrite))
