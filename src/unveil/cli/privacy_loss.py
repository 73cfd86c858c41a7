"""The verb `unveil privacy-loss`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import FILES, OUTPUT
from unveil.cli.options import Epsilon, Hierarchies, Listed, Method, Original, Records, Synthetic, VisitOrder, Whole
from unveil.cli.output import Output, progress_bar, save_confidential
from unveil.cli.parsing import names_of
from unveil.cli.reading import Reading
from unveil.cli.trees import Trees
from unveil.errors import CallError


def privacy_loss(
    original: Original, *synthetic: Synthetic, candidates: Annotated[Path | None, Parameter(group=FILES)] = None,
    hierarchies: Hierarchies = None,
    provenance: Annotated[Path | None, Parameter(group=FILES)] = None, persons: Whole | None = None,
    curves: Whole = 20, releases: Whole = 100, delta: float | None = None, level: float = 0.95, seed: Whole = 0,
    method: Method = "cart", epsilon: Epsilon = None, visit_order: VisitOrder = None, trees: Trees = Trees(),
    others: ForeignSynthesizer = ForeignSynthesizer(), by: Annotated[Listed, Parameter(group=OUTPUT)] = None,
    records: Records = None, reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure how much likelier a release is made with a person than with another one in that place.

    Without a release nothing is said of one at hand: fresh releases show what the synthesizer gives away.

    Parameters
    ----------
    candidates
        A file of persons who stand in the place of others; default: persons drawn by trees of the original.
    provenance
        The provenance file that `unveil synthesize` wrote beside the release, in place of the settings below; it
        also says how files are read where no option does.
    persons
        Number of persons drawn at random; default: all, at most 1000.
    curves
        Of how many of them fresh releases are made.
    releases
        Number of fresh releases of the original, and as many of every original with another person.
    delta
        The delta whose smallest epsilon is given; default: 5 by the number of releases.
    level
        Coverage of the Monte-Carlo intervals.
    seed
        The same seed gives the same figures.
    method
        cart, catall, or another synthesizer by its name.
    by
        Columns that make groups of persons, separated by commas.
    """
    from unveil._intruders import privacy_loss as measure
    from unveil.cli.posterior import synthesizer_of
    from unveil.files import read

    given = (original, *synthetic, *reading.files, *(path for path in (candidates, provenance, hierarchies) if path))
    output.check(given, tables=[records] if records else [])
    if provenance is not None:
        from unveil.synthesis.rebuild import reading_of

        reading = reading.or_else(reading_of(provenance, reading.schema))
    if hierarchies is not None and not synthetic:
        raise CallError("--hierarchies needs a release: its coarseness is what the original is measured at")
    pair = reading.pair(original, synthetic, hierarchies=hierarchies) if synthetic else None
    files = pair or read(str(original), **reading.options)
    names = pair.original.names if pair else files.names
    settings = {**trees.given(), "visit_order": None if visit_order is None else names_of(visit_order, names)}
    synthesizer = synthesizer_of(provenance, original, synthetic, reading, method, epsilon, settings, others)
    with progress_bar("persons") as progress:
        found = measure(
            files, synthesizer, persons=persons, candidates=None if candidates is None else str(candidates),
            curves=curves, releases=releases, delta=delta, by=[] if by is None else names_of(by, names), level=level,
            seed=seed, progress=progress,
        )  # fmt: skip
    if records is not None:
        save_confidential(found.records(flavour="arrow"), records, output.overwrite)
    return output.give(found)
