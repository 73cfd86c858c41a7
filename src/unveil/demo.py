"""The demonstration: a simulated survey, three releases of it, what they give away, how to read that, and a report."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unveil._tables import attribute, identity
from unveil.columns import Pair
from unveil.errors import FileError, UnveilWarning
from unveil.files import Variable, read
from unveil.files.schema import write_schema
from unveil.files.write import write_table
from unveil.printable import one_line
from unveil.result import number, text_table
from unveil.simulate import DEMO_KEYS, DEMO_SPECIAL_CODES, demo_population
from unveil.simulate._draw import generator

TARGET = "marital"
"""What the intruder of the figures wants to know."""


def resampled(original: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A release that keeps each column's distribution and no relation between columns."""
    n = original.num_rows
    return pa.table(
        {name: original.column(name).take(pa.array(rng.integers(n, size=n))) for name in original.column_names}
    )


def bootstrapped(original: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A release of real records drawn with replacement: as useful as the original, and as dangerous."""
    return original.take(pa.array(rng.integers(original.num_rows, size=original.num_rows)))


BUDGET = 15.0
"""Seconds that the assessment of the demonstration should take."""
SHUFFLES = 9
"""Behind each null: enough to see where chance lies."""
REPORT = "report.html"
ORIGINAL, SCHEMA, CART, PROVENANCE = "original.csv", "schema.toml", "CART.csv", "CART.provenance.json"
"""Names of what is kept, beside the two releases that no synthesizer made."""
PERSONS = 200
"""Drawn at random for the intruder who has all records but one."""
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
        f"{', '.join(DEMO_KEYS)}\nof a person and wants to know {TARGET}. Three releases are tried.\n",
        flush=True,
    )
    synthesizer = _synthesizer(original)
    releases = {
        "independent columns": resampled(original, rng),
        "CART synthesis": synthesizer.sample(seed=seed),
        "real records drawn with replacement": bootstrapped(original, rng),
    }
    if folder is not None:
        written = keep(folder, original, releases, seed)
        print(*(one_line(f"{path}: {text}") for path, text in written.items()), "", sep="\n")
    pairs = {
        name: Pair(original, read(release, label=name), special_codes=DEMO_SPECIAL_CODES)
        for name, release in releases.items()
    }
    print(_figures(pairs, synthesizer))
    print(_READING)
    if report:
        _report(pairs["CART synthesis"], synthesizer, folder or Path(tempfile.mkdtemp(prefix="unveil-demo-")))


def _figures(pairs: Mapping[str, Pair], synthesizer: Any) -> str:
    """The five figures that matter: a row for each, a column for each release, chance in brackets."""
    columns = {name: _of_release(pair, synthesizer if name == "CART synthesis" else None)
               for name, pair in pairs.items()}  # fmt: skip
    rows = [[row, *(cells[row] for cells in columns.values())] for row in columns["CART synthesis"]]
    return text_table(["", *columns], rows)


def _of_release(pair: Pair, synthesizer: Any) -> dict[str, str]:
    """The figures of a release; the strongest intruder needs to know how it was made."""
    from unveil._rapid import rapid

    ladder = attribute(pair, DEMO_KEYS, target=TARGET).ladder().mean
    model = rapid(pair, DEMO_KEYS, target=TARGET, attacker="cart", permutations=SHUFFLES, ceiling=False)
    found = {
        "repU": number(identity(pair, DEMO_KEYS).repU, 1),
        f"DiSCO of {TARGET}": _beside(ladder["DiSCO"].value, ladder["DiSCO"].null_mean),
        f"DCAP of {TARGET}": _beside(ladder["DCAPd"].value, ladder["DCAPd"].null_mean),
        f"RAPID of {TARGET}": _beside(100 * model.rate, 100 * model.above_null().null_mean),
        f"posterior of {TARGET}": "-",
    }
    if synthesizer is not None:
        from unveil._posterior import posterior

        strong = posterior(pair, synthesizer, target=TARGET, structure="exact", sample=min(PERSONS, pair.n_original))
        seen = strong.posteriors()
        found[f"posterior of {TARGET}"] = _beside(100 * seen.posterior.mean(), 100 * seen.prior.mean())
    return found


def _beside(value: float, chance: float) -> str:
    return f"{number(value, 1)} ({number(chance, 1)})"


def _report(pair: Pair, synthesizer: Any, folder: Path) -> None:
    """Assess the synthetic release, write the report, and open it where somebody is looking."""
    from unveil.assessment import assess

    print("The whole assessment of the CART synthesis:", file=sys.stderr)
    found = assess(
        pair, DEMO_KEYS, targets=TARGET, synthesizer=synthesizer, budget=BUDGET, permutations=SHUFFLES,
        progress=lambda done, total, part: print(f"  {done}/{total} {part}", file=sys.stderr, flush=True),
    )  # fmt: skip
    path = folder / REPORT
    found.to_html(path)
    print(f"\nThe report: {one_line(str(path))}", file=sys.stderr)
    if sys.stdout.isatty():
        webbrowser.open(path.resolve().as_uri())


def _synthesizer(original: pa.Table) -> Any:
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


def keep(folder: Path, original: pa.Table, releases: Mapping[str, pa.Table], seed: int) -> dict[Path, str]:
    """Write the files, what text does not say of the columns, and how the synthetic one was made.

    Parameters
    ----------
    folder
        Where they are written; it is made.
    original
        The records of the original.
    releases
        By name, the releases that no synthesizer made, if they are wanted too.
    seed
        Seed of the synthesis.

    Returns
    -------
    dict
        What each file holds, by its path.
    """
    from unveil.synthesis.synthetic_files import synthesize_files

    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / ORIGINAL: f"original, {original.num_rows} records"}
    write_table(original, folder / ORIGINAL)
    declared = {name: Variable(name, special_codes=tuple(codes)) for name, codes in DEMO_SPECIAL_CODES.items()}
    write_schema(read(original, label=ORIGINAL, schema=declared), folder / SCHEMA)
    written[folder / SCHEMA] = "the order of levels and the codes among amounts, which a CSV file cannot hold"
    for name, file in OTHERS.items():
        if name in releases:
            write_table(releases[name], folder / file)
            written[folder / file] = f"{name}, {releases[name].num_rows} records"
    # From the file, as a reader would do it; the records are those of the release that is shown.
    synthesize_files(
        folder / ORIGINAL, folder / CART, m=1, seed=seed, reading={"schema": str(folder / SCHEMA)},
    )  # fmt: skip
    written[folder / CART] = f"CART synthesis, {original.num_rows} records"
    written[folder / PROVENANCE] = f"how {CART} was made"
    return written


_READING = """
Percent; in brackets what chance gives (of the posterior: what was known before the release was seen).
repU       unique in the keys, and met by exactly one synthetic record
DiSCO      the keys go with one value in the release, and it is the person's own
DCAP       right by guessing among the synthetic records with the same keys
RAPID      a model trained on the release (one tree) is sure of the true value
posterior  probability of the true value, for an intruder who has the synthesizer and all records but one; it is
           worked out where it is known how a release was made

Real records drawn with replacement are no protection. Independent columns tell what chance tells. Between them no
figure shows everything: an intruder who has all records but one can be nearly certain where DiSCO is low.

With files of your own: unveil assess ORIGINAL RELEASE --keys ... --targets ... --html report.html
"""
