"""The verb `unveil size-sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import ASKED, OUTPUT
from unveil.cli.options import (
    Breaks,
    GroupsOfKeys,
    GroupsOfTargets,
    Keys,
    Listed,
    Method,
    Original,
    Targets,
    VisitOrder,
    Whole,
)
from unveil.cli.output import Output, progress_bar
from unveil.cli.parsing import breaks_of, groups_of, names_of
from unveil.cli.reading import Reading
from unveil.cli.trees import Trees
from unveil.errors import CallError


def size_sweep(
    original: Original, *, keys: Keys, targets: Targets = None,
    sizes: Annotated[Listed, Parameter(group=ASKED)] = None,
    m: Annotated[Whole, Parameter(name=["--m", "-m"])] = 5, permutations: Whole = 19,
    level: float = 0.95, seed: Whole | None = None, ngroups_keys: GroupsOfKeys = None,
    ngroups_target: GroupsOfTargets = None, breaks: Breaks = None, method: Method = "cart",
    visit_order: VisitOrder = None, trees: Trees = Trees(), others: ForeignSynthesizer = ForeignSynthesizer(),
    csv: Annotated[Path | None, Parameter(group=OUTPUT)] = None, reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Measure releases of several sizes: how disclosure changes with the number of records released.

    Parameters
    ----------
    sizes
        Numbers of records of the releases, separated by commas; default: 250,500,1000,2000,5000.
    m
        Number of releases of each size.
    permutations
        Number of shuffles of the target behind each null.
    level
        Coverage of the intervals.
    seed
        Of fit, draws and shuffles; default: one that nobody knows.
    method
        cart, catall, or another synthesizer by its name.
    csv
        Write a row per size, target and measure to this file.
    """
    from unveil.assessment.sweep import SIZES
    from unveil.assessment.sweep import size_sweep as measure
    from unveil.cli.posterior import synthesizer_of
    from unveil.files.write import write_table

    output.check((original, *reading.files), tables=() if csv is None else (csv,))
    numbers = SIZES if sizes is None else _numbers(sizes)
    source = reading.source(original)
    order = None if visit_order is None else names_of(visit_order, source.names)
    settings = {**trees.given(), "visit_order": order}
    synthesizer = synthesizer_of(None, original, (), reading, method, None, settings, others)
    with progress_bar("sizes") as progress:
        found = measure(
            source, synthesizer, names_of(keys, source.names),
            targets=None if targets is None else names_of(targets, source.names), sizes=numbers, m=m,
            permutations=permutations, level=level, seed=seed, progress=progress,
            ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"),
            ngroups_target=groups_of(ngroups_target, "ngroups_target"), breaks=breaks_of(breaks),
            kinds=reading.stated or None, special_codes=reading.codes or None,
        )  # fmt: skip
    if csv is not None:
        write_table(found.to_frame("arrow"), csv, overwrite=output.overwrite)
    return output.give(found)


def _numbers(given: list[str]) -> list[int]:
    try:
        return [int(part) for text in given for part in text.split(",")]
    except ValueError:
        raise CallError(f"--sizes takes whole numbers, such as 250,1000,5000, not {','.join(given)!r}") from None
