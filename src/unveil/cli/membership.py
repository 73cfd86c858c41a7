"""The verb `unveil membership`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import FILES, OUTPUT
from unveil.cli.options import Hierarchies, Listed, Original, Synthetic, VisitOrder, Whole
from unveil.cli.output import Output, progress_bar, save_confidential
from unveil.cli.parsing import names_of
from unveil.cli.reading import Reading
from unveil.cli.screen import say
from unveil.cli.trees import Trees
from unveil.errors import CallError


@Parameter(name="*")
@dataclass(frozen=True)
class AttackOptions:
    """How members are told apart from other records.

    Parameters
    ----------
    columns
        Columns to compare, separated by commas; default: all that every file has.
    attacks
        dcr, density, classifier; several separated by commas; default: all.
    scale
        Divisor of differences of numbers: the original's range, or interquartile range (iqr).
    most_records
        Largest number of members, and of held-out records, that are attacked; default 20000, fewer where releases have
        more than a million records.
    level
        Coverage of the intervals.
    seed
        The same seed gives the same figures.
    n_jobs
        Number of threads; default: all.
    """

    columns: Listed = None
    attacks: Listed = None
    scale: Literal["range", "iqr"] = "range"
    most_records: Whole | None = None
    level: float = 0.95
    seed: Whole = 0
    n_jobs: Whole | None = None

    def options(self, known: tuple[str, ...]) -> dict[str, Any]:
        """Options of :func:`unveil.membership`."""
        chosen = {name: getattr(self, name) for name in ("scale", "most_records", "level", "seed", "n_jobs")}
        if self.columns is not None:
            chosen["columns"] = names_of(self.columns, known)
        if self.attacks is not None:
            chosen["attacks"] = names_of(self.attacks, ())
        return chosen


def membership(
    original: Original, *synthetic: Synthetic, holdout: Annotated[Path | None, Parameter(group=FILES)] = None,
    holdout_unseen: Annotated[bool, Parameter(negative=(), group=FILES)] = False, refit: str | None = None,
    repeats: Whole = 3, releases: Whole | None = None, exact: Literal["swap", "in_out"] | None = None,
    halves: Annotated[bool, Parameter(negative=())] = False, sample: Whole | None = None,
    provenance: Annotated[Path | None, Parameter(group=FILES)] = None, hierarchies: Hierarchies = None,
    visit_order: VisitOrder = None,
    trees: Trees = Trees(), others: ForeignSynthesizer = ForeignSynthesizer(),
    records: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    attack: AttackOptions = AttackOptions(), reading: Reading = Reading(), output: Output = Output(),
) -> int:  # fmt: skip
    """Measure whether the release gives away whose records it was made from.

    Give releases and --holdout, or --refit (or --synthesizer-command) and no release.

    Parameters
    ----------
    original
        The file of real records that the release was made from.
    holdout
        A file of real records that the synthesizer never saw.
    holdout_unseen
        State that the synthesizer never saw the holdout; without it nothing is measured.
    refit
        Fit this synthesizer to random halves of the original instead, and attack both halves: cart, catall, or another
        by its name.
    repeats
        Number of times the original is cut, with --refit; the settings of trees are those of --refit too.
    releases
        Number of releases that are made from each half and attacked together, with --refit: as many as you will give
        out; default: 1.
    exact
        The intruder who knows the synthesizer and all other records, and has to tell which of two persons was used
        (swap), or whether one was used (in_out). The settings are those that made the release. In place of the attacks,
        or beside them with --holdout-unseen.
    halves
        With --exact and without --holdout: fit the synthesizer to a random half of the original; the other half was not
        used.
    sample
        Number of persons drawn at random, with --exact; default: all.
    provenance
        The provenance file that `unveil synthesize` wrote beside the release, with --exact, in place of the
        settings; it also says how files are read where no option does.
    records
        Write the scores of every attacked record to this file. They are confidential.
    """
    inputs = (original, *synthetic, *reading.files, *(path for path in (holdout, provenance, hierarchies) if path))
    output.check(inputs, tables=[records] if records else [])
    refitted = refit is not None or others != ForeignSynthesizer()
    if releases is not None and not refitted:
        raise CallError("--releases goes with --refit; releases that were made are named after the original")
    if exact is not None:
        if (holdout is None) != halves or refitted:
            raise CallError(
                "--exact needs persons whom the synthesizer never used: --holdout FILE or --halves, and no --refit"
            )
        files = (original, synthetic, provenance)
        pair, synthesizer = _made(files, holdout, hierarchies, visit_order, trees, reading)
        beside = _attacked(pair, attack, holdout_unseen=holdout_unseen)
        found = _exact(pair, synthesizer, exact, sample, attack, halves=halves)
        if records is not None:
            save_confidential(found.records(flavour="arrow"), records, output.overwrite)
        return output.give(found) if beside is None else _both(beside, found, output)
    if halves or sample is not None or provenance is not None or visit_order is not None:
        raise CallError("--sample, --halves, --provenance and --visit-order go with --exact")
    if refitted:
        if hierarchies is not None:
            raise CallError(
                "--hierarchies is for releases that are given; those of --refit are as fine as the original"
            )
        if synthetic or holdout is not None or records is not None:
            raise CallError("--refit makes the releases and the held-out records itself: name the original alone")
        synthesizer = _named(refit, original, trees, others, attack, reading)
        copies = 1 if releases is None else releases
        return output.give(_refitted(original, synthesizer, repeats, copies, attack, reading))
    if holdout is None:
        raise CallError(
            "name real records that the synthesizer never saw (--holdout FILE --holdout-unseen), "
            "or have the synthesizer fitted with and without each record (--refit cart, with the original alone)"
        )
    from unveil._membership import membership as infer

    pair = reading.pair(original, synthetic, holdout, hierarchies=hierarchies)
    found = infer(pair, holdout_unseen=holdout_unseen, **attack.options(pair.names))
    if records is not None:
        save_confidential(found.records(flavour="arrow"), records, output.overwrite)
    return output.give(found)


def _made(
    files: tuple[Path, tuple[Path, ...], Path | None], holdout: Path | None, hierarchies: Path | None,
    visit_order: list[str] | None, trees: Trees, reading: Reading,
) -> tuple[Any, Any]:  # fmt: skip
    """The files, and the synthesizer that made the releases."""
    from unveil.cli.posterior import synthesizer_of

    original, synthetic, provenance = files
    if provenance is not None:
        from unveil.synthesis.rebuild import reading_of

        reading = reading.or_else(reading_of(provenance, reading.schema))
    pair = reading.pair(original, synthetic, holdout, hierarchies=hierarchies)
    order = None if visit_order is None else names_of(visit_order, pair.original.names)
    settings = {**trees.given(), "visit_order": order}
    return pair, synthesizer_of(provenance, original, synthetic, reading, "cart", None, settings)


def _attacked(pair: Any, attack: AttackOptions, *, holdout_unseen: bool) -> Any:
    """The attacks by distance where it is stated that the holdout was never seen; None where it is not."""
    if holdout_unseen:
        from unveil._membership import membership as infer

        return infer(pair, holdout_unseen=True, **attack.options(pair.names))
    if attack.columns is not None or attack.attacks is not None:
        raise CallError(
            "--columns and --attacks are for attacks by distance, which stand beside --exact with --holdout-unseen; "
            "--exact uses all columns"
        )
    return None


def _exact(
    pair: Any, synthesizer: Any, game: Literal["swap", "in_out"], sample: int | None, attack: AttackOptions, *,
    halves: bool,
) -> Any:  # fmt: skip
    from unveil._intruders import exact_membership

    with progress_bar("games") as progress:
        return exact_membership(
            pair, synthesizer, candidates="halves" if halves else None, game=game, sample=sample, level=attack.level,
            seed=attack.seed, progress=progress,
        )  # fmt: skip


def _both(attacks: Any, exact: Any, output: Output) -> int:
    """The attacks by distance, the exact figures, and what the contrast means."""
    from unveil._intruders.result import CONTRAST
    from unveil.result import paragraph

    printed = output.json != "-"
    if printed:
        say(attacks, "")
    output.give(exact, {"attacks": attacks.to_dict(), "contrast": CONTRAST})
    if printed:
        say("", paragraph(CONTRAST))
    return max(output.status(attacks), output.status(exact))


def _named(
    name: str | None, original: Path, trees: Trees, others: ForeignSynthesizer, attack: AttackOptions, reading: Reading
) -> Any:
    """The synthesizer that is fitted to halves."""
    from unveil.cli.posterior import synthesizer_of

    settings = trees.given() | ({"n_jobs": attack.n_jobs} if name == "cart" else {})
    return synthesizer_of(None, original, (), reading, name or "cart", None, settings, others)


def _refitted(
    original: Path, synthesizer: Any, repeats: int, releases: int, attack: AttackOptions, reading: Reading
) -> Any:
    from unveil._membership import membership_synthesizer
    from unveil.files import read

    source = read(str(original), **reading.options)
    with progress_bar("halves") as progress:
        return membership_synthesizer(
            source, synthesizer, repeats=repeats, releases=releases, kinds=reading.stated or None,
            special_codes=reading.codes or None, progress=progress, **attack.options(source.names),
        )  # fmt: skip
