"""The demonstration: a simulated survey, three releases of it, what they give away, how to read that, and a report."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unveil._tables import attribute, identity, structure
from unveil.columns import Pair
from unveil.errors import FileError, UnveilWarning
from unveil.files import Variable, read
from unveil.files.schema import write_schema
from unveil.files.write import write_table
from unveil.printable import one_line
from unveil.simulate import DEMO_KEYS, DEMO_SPECIAL_CODES, demo_population
from unveil.simulate._draw import generator

TARGETS = ("depress", "income", "marital", "workab")


def resampled(original: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A release that keeps each column's distribution and no relation between columns."""
    n = original.num_rows
    return pa.table(
        {name: original.column(name).take(pa.array(rng.integers(n, size=n))) for name in original.column_names}
    )


def bootstrapped(original: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A release of real records drawn with replacement: as useful as the original, and as dangerous."""
    return original.take(pa.array(rng.integers(original.num_rows, size=original.num_rows)))


BUDGET = 60.0
"""Seconds that the assessment of the demonstration should take."""
SHUFFLES = 9
"""Few, so that the demonstration can show forests, which learn more than single trees, in its time."""
REPORTED = ("depress", "workab")
"""Targets of the report."""
REPORT = "report.html"
ORIGINAL, SCHEMA, CART, PROVENANCE = "original.csv", "schema.toml", "CART.csv", "CART.provenance.json"
"""Names of what is kept, beside the two releases that no synthesizer made."""
OTHERS = {"independent columns": "independent.csv", "real records drawn with replacement": "real.csv"}


def show(n: int, seed: int, folder: Path | None = None, *, report: bool = True) -> None:
    """Make the files, measure them, explain what is seen, and write a report of the synthetic one.

    Parameters
    ----------
    n
        Number of simulated persons.
    seed
        Seed of the simulation and of the releases.
    folder
        Where to keep the files; without it only the report is kept, in a new temporary folder.
    report
        Whether the synthetic release is assessed as a whole, and the report opened.

    Raises
    ------
    FileError
        If a file exists already or cannot be written.
    """
    if folder is not None:
        _check_free(folder, report)
    rng = generator(seed)
    original = demo_population(n, rng)
    print(
        f"A simulated survey of {n} persons (seed {seed}; nobody is real). An intruder knows the keys "
        f"{', '.join(DEMO_KEYS)}\nof a person and wants the rest. Three releases are tried.\n"
    )
    synthesizer = _synthesizer(original)
    releases = {
        "independent columns": resampled(original, rng),
        "CART synthesis": synthesizer.sample(seed=seed),
        "real records drawn with replacement": bootstrapped(original, rng),
    }
    if folder is not None:
        _keep(folder, original, releases, seed)
    for name, release in releases.items():
        pair = Pair(original, read(release, label=name), special_codes=DEMO_SPECIAL_CODES)
        print(f"=== Release: {name}")
        print()
        print(identity(pair, DEMO_KEYS))
        print()
        print(attribute(pair, DEMO_KEYS, targets=TARGETS, ngroups_target={"income": 20}))
        print()
        print(structure(pair, DEMO_KEYS))
        print()
    print(_READING)
    if report:
        release = read(releases["CART synthesis"], label="CART synthesis")
        pair = Pair(original, release, special_codes=DEMO_SPECIAL_CODES)
        _report(pair, synthesizer, folder or Path(tempfile.mkdtemp(prefix="unveil-demo-")))


def _report(pair: Pair, synthesizer: Any, folder: Path) -> None:
    """Assess the synthetic release, write the report, and open it where somebody is looking."""
    from unveil.assessment import assess

    print(
        "The whole assessment of the CART synthesis, up to the intruder who has all records but one; a minute or two:",
        file=sys.stderr,
    )
    found = assess(
        pair, DEMO_KEYS, targets=REPORTED, synthesizer=synthesizer, budget=BUDGET, attacker="rf", permutations=SHUFFLES,
        progress=lambda done, total, part: print(f"  {done}/{total} {part}", file=sys.stderr, flush=True),
    )  # fmt: skip
    path = folder / REPORT
    found.to_html(path)
    print(f"\nThe report: {one_line(str(path))}", file=sys.stderr)
    if sys.stdout.isatty():
        webbrowser.open(path.resolve().as_uri())


def _synthesizer(original: pa.Table) -> Any:
    print("Synthesizing.", flush=True)
    # Here, because the synthesizer brings large libraries with it that measuring does without.
    from unveil.synthesis import CartSynthesizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return CartSynthesizer(special_codes=DEMO_SPECIAL_CODES).fit(original)


def _check_free(folder: Path, report: bool) -> None:
    """Refuse before the work what would take the place of another file."""
    names = [ORIGINAL, SCHEMA, CART, PROVENANCE, *OTHERS.values(), *([REPORT] if report else [])]
    for path in (folder / name for name in names):
        if os.path.lexists(path):
            raise FileError(f"{path} exists; choose another folder")


def _keep(folder: Path, original: pa.Table, releases: dict[str, pa.Table], seed: int) -> None:
    """Write the files, what text does not say of the columns, and how the synthetic one was made."""
    from unveil.synthesis.synthetic_files import synthesize_files

    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / ORIGINAL: f"original, {original.num_rows} records"}
    write_table(original, folder / ORIGINAL)
    declared = {name: Variable(name, special_codes=tuple(codes)) for name, codes in DEMO_SPECIAL_CODES.items()}
    write_schema(read(original, label=ORIGINAL, schema=declared), folder / SCHEMA)
    written[folder / SCHEMA] = "the order of levels and the codes among amounts, which a CSV file cannot hold"
    for name, file in OTHERS.items():
        write_table(releases[name], folder / file)
        written[folder / file] = f"{name}, {releases[name].num_rows} records"
    # From the file, as a reader would do it; the records are those of the release that is shown.
    synthesize_files(
        folder / ORIGINAL, folder / CART, m=1, seed=seed, reading={"schema": str(folder / SCHEMA)},
    )  # fmt: skip
    written[folder / CART] = f"CART synthesis, {original.num_rows} records"
    written[folder / PROVENANCE] = f"how {CART} was made"
    print(*(one_line(f"{path}: {text}") for path, text in written.items()), "", sep="\n")


_READING = """=== How to read this

1. The release of real records holds real persons, about two thirds of them: set its DiSCO against Dorig, what the
   original itself discloses. Nothing is protected there.
2. The release with independent columns does not say how keys and targets go together: who is matched, and rightly, is
   so by chance. What it has of DiSCO and DCAPd, chance has. For other releases risk.ladder() works out what chance
   gives, with the target shuffled: read a figure against that null. baseCAPd, guessing without any release, is no such
   line: whoever has keys that the release lacks counts as missed in DCAPd, so that DCAPd can stay below baseCAPd while
   many are disclosed.
3. DiSCO can rise when a target carries less information. Where that would happen a warning says so.
4. None of these figures proves safety: they concern an intruder who has keys and release, and looks for a match.

Next, with files of your own: unveil assess ORIGINAL RELEASE --keys ... --targets ... --html report.html
"""
