"""The verb `unveil partial-knowledge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.cli.checkpoints import CheckpointFile, resumable
from unveil.cli.groups import ASKED, FILES
from unveil.cli.options import Hierarchies, Listed, Original, Records, Synthetic, VisitOrder, Whole
from unveil.cli.output import Output, progress_bar, save_confidential
from unveil.cli.parsing import names_of
from unveil.cli.reading import Reading
from unveil.cli.trees import Trees
from unveil.errors import CallError


def partial_knowledge(
    original: Original, *synthetic: Synthetic, target: Annotated[list[str], Parameter(negative=(), group=ASKED)],
    records_known: Listed = None, structure: str = "splits", known: Listed = None, prior: str = "uniform",
    withheld: Listed = None, rows: Listed = None, sample: Whole | None = None, sets: Whole = 2, sweeps: Whole = 200,
    most_sweeps: Whole = 3200, budget: float = 3600.0,
    hierarchies: Hierarchies = None, provenance: Annotated[Path | None, Parameter(group=FILES)] = None,
    trees: Trees = Trees(),
    visit_order: VisitOrder = None, seed: Whole = 0, checkpoint: CheckpointFile = None,
    records: Records = None, reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure what an intruder learns who knows only a part of the other records.

    Parameters
    ----------
    target
        Target variable, or several, separated by commas.
    records_known
        Shares of the other records that are known in full, from 0 to 1, separated by commas; or a file of the known
        records. Default: 1,0.99,0.95,0.9,0.5,0.
    structure
        splits (the intruder was told the splits of the trees; for any number of unknown persons; no calibrated
        posterior) or exact (the trees follow the unknown values; for tens of unknown persons).
    known
        What the intruder knows about the unknown persons, separated by commas; default: all other variables.
    prior
        uniform, marginal or conditional; of the known records.
    withheld
        Variables whose released values do not count.
    rows
        Record numbers from 0, separated by commas; 0:500 for a stretch. Default: all.
    sample
        Number of records drawn at random among them.
    sets
        Number of random sets of unknown persons that each person is put into.
    sweeps
        Sweeps of each of four chains.
    most_sweeps
        Sweeps are doubled up to this number until 99 percent of the persons have mixed.
    budget
        Seconds; what takes longer is refused.
    provenance
        The provenance file that `unveil synthesize` wrote beside the release, in place of the settings below; it
        also says how files are read where no option does.
    seed
        The same seed gives the same figures.
    """
    from unveil._intruders import partial_knowledge as measure
    from unveil._intruders.partial_knowledge import KNOWN_SHARES
    from unveil.cli.posterior import rows_of, synthesizer_of

    shares = KNOWN_SHARES if records_known is None else _shares(records_known)
    given = (original, *synthetic, *reading.files, *(path for path in (provenance, hierarchies) if path))
    inputs = (*given, *([Path(shares)] if isinstance(shares, str) else []), *([checkpoint] if checkpoint else []))
    output.check(inputs, tables=[records] if records else [])
    if provenance is not None:
        from unveil.synthesis.rebuild import reading_of

        reading = reading.or_else(reading_of(provenance, reading.schema))
    pair = reading.pair(original, synthetic, hierarchies=hierarchies)
    names = pair.original.names
    settings = {**trees.given(), "visit_order": None if visit_order is None else names_of(visit_order, names)}
    synthesizer = synthesizer_of(provenance, original, synthetic, reading, "cart", None, settings)
    with resumable(checkpoint), progress_bar("persons") as progress:
        found = measure(
            pair, synthesizer, target=names_of(target, names), records_known=shares,
            structure=structure, known="all" if known is None else names_of(known, names),  # type: ignore[arg-type]
            persons=rows_of(rows, pair.n_original), sample=sample, prior=prior,
            withheld=[] if withheld is None else names_of(withheld, names), sets=sets, sweeps=sweeps,
            most_sweeps=most_sweeps, budget=budget, seed=seed, progress=progress, checkpoint=checkpoint,
        )  # fmt: skip
    if records is not None:
        save_confidential(found.records(flavour="arrow"), records, output.overwrite)
    return output.give(found)


def _shares(given: list[str]) -> Any:
    """Shares as numbers, or the name of a file."""
    parts = [part for text in given for part in text.split(",")]
    try:
        return [float(part) for part in parts]
    except ValueError:
        if len(parts) == 1 and parts[0] and Path(parts[0]).exists():
            return parts[0]
        raise CallError(
            f"--records-known takes shares such as 1,0.9,0.5, or a file of the known records, not {','.join(parts)!r}"
        ) from None
