"""The verb `unveil posterior`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.cli.checkpoints import CheckpointFile, resumable
from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import ASKED, FILES, OUTPUT
from unveil.cli.options import Epsilon, Hierarchies, Listed, Method, Original, Records, Synthetic, VisitOrder, Whole
from unveil.cli.output import Output, print_frame, progress_bar, record_files, save_records
from unveil.cli.parsing import names_of, plain_value
from unveil.cli.reading import Reading
from unveil.cli.screen import say
from unveil.cli.trees import Trees
from unveil.errors import CallError


def posterior(
    original: Original, *synthetic: Synthetic,
    target: Annotated[Listed, Parameter(group=ASKED)] = None,
    known: Listed = None, candidates: Listed = None, prior: str = "uniform", structure: str = "both",
    releases: str = "pooled", intruder_errors: Whole = 0, withheld: Listed = None, rows: Listed = None,
    sample: Whole | None = None, time_limit: float | None = None,
    keys: Annotated[Listed, Parameter(group=ASKED)] = None,
    hierarchies: Hierarchies = None,
    provenance: Annotated[Path | None, Parameter(group=FILES)] = None, method: Method = "cart",
    others: ForeignSynthesizer = ForeignSynthesizer(), replicates: Whole = 100, trees: Trees = Trees(),
    visit_order: VisitOrder = None,
    epsilon: Epsilon = None, seed: Whole = 0, checkpoint: CheckpointFile = None,
    advice: Annotated[bool, Parameter(negative=())] = False,
    by: Annotated[str | None, Parameter(group=OUTPUT)] = None, records: Records = None,
    reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure what an intruder who knows all other records and the synthesizer learns about a record.

    Parameters
    ----------
    target
        Target variable, or several, separated by commas; left out where --candidates names a file.
    known
        What the intruder knows about the record, separated by commas; default: all other variables.
    candidates
        Candidates, separated by commas (Missing: the gap); intervals of a numeric target as 0:5. Default: all values.
        Or a file of whole records, or of some columns of them, that may stand in the place of each record.
    prior
        uniform, marginal or conditional.
    structure
        fixed (donor counts), exact (and the shape of the trees) or both.
    releases
        pooled, each by itself, or both.
    intruder_errors
        Number of the intruder's other records that are wrong.
    withheld
        Variables whose released values do not count.
    rows
        Record numbers from 0, separated by commas; 0:500 for a stretch. Default: all.
    sample
        Number of records drawn at random among them.
    time_limit
        Seconds after which no further record is begun; records are then taken in a random order.
    keys
        Key variables, separated by commas: sets the records at risk beside those that DiSCO flags with these keys.
    provenance
        The provenance file that `unveil synthesize` wrote beside the release, in place of the settings below; it
        also says how files are read where no option does.
    method
        cart, catall for the saturated multinomial, or another synthesizer by its name.
    replicates
        Number of files that are simulated for each value that a record may have had, where there is no likelihood.
    seed
        Seed of simulations, of samples, and of the intruder's errors.
    advice
        Also compute what other settings or fewer releases would do for the records at risk.
    by
        Also show the measures for each level of this column.
    """
    from unveil._posterior.call import posterior as compute
    from unveil._posterior.candidate_records import LABEL
    from unveil._posterior.checked_options import pooled_groups

    rows_file = _file_of_records(target, candidates)
    if rows_file is not None and (keys is not None or advice):
        raise CallError("--keys and --advice are for the values of a target, not for whole records as --candidates")
    beside = (provenance, rows_file, hierarchies)
    inputs = (original, *synthetic, *reading.files, *(path for path in beside if path))
    kept = () if checkpoint is None else (checkpoint,)
    tables = record_files(records, len(pooled_groups(releases, len(synthetic))))
    output.check((*inputs, *kept), tables=tables)
    if provenance is not None:
        from unveil.synthesis.rebuild import reading_of

        reading = reading.or_else(reading_of(provenance, reading.schema))
    pair = reading.pair(original, synthetic, hierarchies=hierarchies)
    order = None if visit_order is None else names_of(visit_order, pair.original.names)
    settings = {**trees.given(), "visit_order": order}
    synthesizer = synthesizer_of(provenance, original, synthetic, reading, method, epsilon, settings, others)
    in_question = _candidates(candidates) if rows_file is None else pair.with_files([rows_file], LABEL).releases[-1]
    with resumable(checkpoint), progress_bar("fitting") as progress:
        risk = compute(
            pair, synthesizer, target=None if target is None else names_of(target, pair.original.names),
            known="all" if known is None else names_of(known, pair.original.names),
            candidates=in_question,
            prior=prior, structure=structure, records=rows_of(rows, pair.n_original),  # type: ignore[arg-type]
            releases=releases, intruder_errors=intruder_errors,  # type: ignore[arg-type]
            withheld=[] if withheld is None else names_of(withheld, pair.original.names), seed=seed, progress=progress,
            checkpoint=checkpoint, sample=sample, time_limit=time_limit, replicates=replicates,
        )  # fmt: skip
    found = risk.advice() if advice else None
    flagged = None if keys is None else _disco(pair, names_of(keys, pair.original.names), risk)
    more: dict[str, Any] = {} if found is None else {"advice": found.to_dict()}
    if output.json is not None or by is not None:  # a column that is not there is an error before anything is shown
        more = risk.to_dict(by=[] if by is None else [by], beside=[] if flagged is None else [flagged]) | more
    output.give(risk, more)
    if output.json != "-":
        if flagged is not None:
            say(*(f"\n{risk.cross(flagged, release=r)}" for r in range(len(risk.labels))))
        if found is not None:
            say(f"\n{found}")
        if by is not None:
            for release, label in enumerate(risk.labels):
                print_frame(f"{label}, by {by}", risk.by(by, release, flavour="arrow"))
    save_records(risk, records, output.overwrite)
    return output.status(risk)


def _disco(pair: Any, keys: list[str], risk: Any) -> Any:
    from unveil._tables import attribute

    if len(risk.target) > 1:
        raise CallError("--keys sets a single target beside DiSCO; name one target")
    return attribute(pair, keys, target=risk.target[0])


def synthesizer_of(
    provenance: Path | None,
    original: Path,
    synthetic: Sequence[Path],
    reading: Reading,
    method: str,
    epsilon: float | None,
    settings: dict[str, Any],
    others: ForeignSynthesizer | None = None,
) -> Any:
    """The synthesizer with the settings that the release was made with."""
    from unveil.synthesis import CartSynthesizer
    from unveil.synthesis.methods.catall import CatallSynthesizer

    others = others or ForeignSynthesizer()
    stated = [name for name, value in settings.items() if value is not None]
    if provenance is not None:
        from unveil.synthesis.rebuild import rebuilt

        stated += ["method"] * (method != "cart") + ["epsilon"] * (epsilon is not None)
        stated += ["settings"] * (others != ForeignSynthesizer())
        if stated:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in stated)
            raise CallError(f"the provenance file says how the releases were made; leave out {options}")
        return rebuilt(provenance, original, synthetic)
    if method == "catall":
        return CatallSynthesizer(epsilon=epsilon, kinds=reading.stated or None)
    if method != "cart" or others != ForeignSynthesizer():
        if stated:
            raise CallError(f"only cart has trees; leave out --{stated[0].replace('_', '-')}")
        return others.made(None if method == "cart" else method)
    return CartSynthesizer(**settings, special_codes=reading.codes or None, kinds=reading.stated or None)


def _file_of_records(target: list[str] | None, candidates: list[str] | None) -> Path | None:
    """The file that candidates are in; None where they are values of a target.

    Raises
    ------
    CallError
        If neither a target nor a file is named, or both are.
    """
    one = Path(candidates[0]) if candidates is not None and len(candidates) == 1 else None
    if target is None:
        if one is None:
            raise CallError("name a target (--target), or a file of records that may stand in the place (--candidates)")
        return one
    if one is not None and one.is_file():
        raise CallError(f"--candidates: the records of {one} say what is not known; leave out --target")
    return None


def _candidates(given: list[str] | None) -> list[Any] | None:
    if given is None:
        return None
    values: list[Any] = []
    for part in (p for text in given for p in text.split(",")):
        low, colon, high = part.partition(":")
        ends = (plain_value(low), plain_value(high))
        interval = colon and not any(isinstance(end, str) for end in ends)
        # As it is written: 01 is another text than 1, and what is a number is told by the column.
        values.append(ends if interval else part)
    return values


def rows_of(given: list[str] | None, n: int) -> Any:
    """Record numbers as the option ``--rows`` has them."""
    if given is None:
        return "all"
    numbers: list[int] = []
    for part in (p for text in given for p in text.split(",")):
        first, colon, end = part.partition(":")
        try:
            numbers += range(int(first or 0), int(end or n)) if colon else [int(first)]
        except ValueError:
            raise CallError(f"--rows takes record numbers such as 3,17 or 0:500, not {part!r}") from None
    return numbers
