"""A part of an assessment: what it is given, what it gives back, and how it is run without taking others down."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from unveil._tables import attribute, identity, population_risk
from unveil._tables.attribute_risk import AttributeRisk
from unveil._tables.identity import IdentityRisk
from unveil._tables.population import PopulationRisk
from unveil._tables.target_exclusions import TargetExclusions
from unveil.assessment.figure import Figure
from unveil.assessment.published_text import notes_in_units, with_public
from unveil.assessment.repetitions import Halves, Repetitions
from unveil.assessment.rounding import Rounding
from unveil.assessment.scenario import INTRUDERS, Scenario
from unveil.columns import Pair
from unveil.errors import DataError, UnveilError, UnveilWarning
from unveil.files.digest import sha256, size_of
from unveil.notes import Note, warn
from unveil.synthesis.memory import give_back

MOST_SECONDS = 300.0
"""Seconds that one target may take of what has no end of its own, however large the budget is."""


COUNT_ROWS = ("utility", "plausibility")
"""Measures that speak of rows where the others speak of units."""
ONLY_ROWS = Note(
    "not defined for units of several rows; for this measure give files with one row for each, and no unit"
)


class Skipped(Exception):
    """A part does not apply; the text says why, and is a :class:`unveil.notes.Note` where it may be published."""


class Clock:
    """The time that an assessment may take."""

    def __init__(self, budget: float):
        self.budget = budget
        self.parts_left = 1
        """Number of parts that share the time that is left, the present one among them."""
        self._end = time.monotonic() + budget

    @property
    def left(self) -> float:
        """Seconds left; never below 0."""
        return max(0.0, self._end - time.monotonic())

    @property
    def share(self) -> float:
        """Seconds of the present part, where all that are left have equal parts."""
        return self.left / self.parts_left


@dataclass(frozen=True)
class Context:
    """The pair, the scenario and the clock that every part works with.

    Parameters
    ----------
    pair
        The files.
    scenario
        What is asked.
    clock
        The time that is left.
    synthesizer
        What made the releases, if it is known.
    holdout_unseen
        Whether it was stated that the synthesizer never saw the held-out records of the pair.
    said
        What is said of columns that are no target although none were named.
    again
        Parts of the original with releases made from each, shared by all parts.
    drawn
        Random numbers by which figures of the public summary were rounded, the same on every page.
    """

    pair: Pair
    scenario: Scenario
    clock: Clock
    synthesizer: Any = None
    holdout_unseen: bool = False
    said: tuple[Note, ...] = ()
    again: Repetitions | None = None
    drawn: dict[tuple[str, str | None, str], float] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The files with their sizes and digests, which are worked out once for all pages."""
        files = self.pair.rows
        sources = [("original", files.original), *(("release", one) for one in files.releases)]
        if files.holdout is not None:
            sources.append(("holdout", files.holdout))
        return [
            {
                "role": role,
                "label": source.label,
                "records": source.num_rows,
                "bytes": None if source.path is None else size_of(source.path),
                "sha256": None if source.path is None else sha256(source.path),
            }
            for role, source in sources
        ]

    @property
    def rounding(self) -> Rounding:
        """How far figures of all persons are rounded for publication."""
        return self.rounding_of(self.pair.n_original)

    def rounding_of(self, persons: int) -> Rounding:
        """How far figures of some persons are rounded for publication."""
        return Rounding(persons, self.scenario.minimum_count)

    @cached_property
    def unseen(self) -> Pair | None:
        """All files with the held-out records beside them; None where there are none, or none that were held out."""
        if self.pair.holdout is None or not self.holdout_unseen:
            return None
        try:
            return self.pair.held_out
        except DataError as error:
            # They take none of the other figures with them.
            text = "figures for held-out records are left out"
            warn(Note(f"{text}: {error}", text))
            return None

    @property
    def halves(self) -> Halves | None:
        """Halves of the original with releases made from each, where the synthesizer is known and there is time."""
        return None if self.again is None else self.again.halves

    @property
    def not_again(self) -> Note | None:
        """Why there are none although the synthesizer is known; nothing where several releases serve as well."""
        return None if self.again is None else self.again.reason

    @cached_property
    def identity(self) -> IdentityRisk:
        """Identity measures, taken when a part first needs them."""
        scenario = self.scenario
        return identity(self.pair, scenario.keys, ngroups_keys=scenario.ngroups_keys, suppressed=scenario.suppressed)

    @cached_property
    def population(self) -> PopulationRisk | None:
        """The risk in the population; None where the original is not said to be a sample."""
        if self.pair.weights is None:
            return None
        return population_risk(self.pair, self.scenario.keys, ngroups_keys=self.scenario.ngroups_keys)

    @property
    def attribute(self) -> Mapping[str, AttributeRisk]:
        """Attribute measures by target, of those targets that can be measured; taken when a part first needs them."""
        return self._attributes[0]

    @property
    def unmeasured(self) -> Mapping[str, UnveilError]:
        """Why attribute measures cannot be taken, by target where this is so."""
        return self._attributes[1]

    @cached_property
    def _attributes(self) -> tuple[Mapping[str, AttributeRisk], Mapping[str, UnveilError]]:
        try:
            return self._measured(self.scenario.targets), {}
        except UnveilError:
            # Which target it is, is found by asking for one after the other; it takes none of the others with it.
            found: dict[str, AttributeRisk] = {}
            failed: dict[str, UnveilError] = {}
            for target in self.scenario.targets:
                try:
                    found |= self._measured([target])
                except UnveilError as error:
                    failed[target] = error
            return found, failed

    def _measured(self, targets: Sequence[str]) -> dict[str, AttributeRisk]:
        risks = attribute(
            self.pair,
            self.scenario.keys,
            targets=targets,
            ngroups_keys=self.scenario.ngroups_keys,
            ngroups_target=self.groups_of(targets),
            suppressed=self.scenario.suppressed,
            **self.exclusions_of(targets),
        )
        return {risk.target: risk for risk in risks}

    def exclusions_of(self, targets: Sequence[str], keys: Sequence[str] | None = None) -> dict[str, Any]:
        """What does not count for some targets, as options of :func:`unveil.attribute`; of some keys, or of all."""
        excluded = {name: self.excluded[name] for name in targets}
        pairs = {
            one.text: None
            for found in excluded.values() for one in found.pairs
            if keys is None or next(iter(one.levels)) in keys
        }  # fmt: skip
        levels = {name: [one.levels[name] for one in found.levels] for name, found in excluded.items() if found.levels}
        return {"exclude_pairs": list(pairs), "not_target_levels": levels}

    @cached_property
    def excluded(self) -> Mapping[str, TargetExclusions]:
        """What does not count, by target."""
        return self.scenario.excluded_from(self.pair, self.scenario.targets)

    @cached_property
    def attribute_of_all(self) -> Mapping[str, AttributeRisk]:
        """Attribute measures of all records, of targets of which some do not count."""
        targets = [name for name in self.attribute if self.excluded[name].records]
        if not targets:
            return {}
        risks = attribute(self.pair, self.scenario.keys, targets=targets, ngroups_keys=self.scenario.ngroups_keys,
                          ngroups_target=self.groups_of(targets))  # fmt: skip
        return {risk.target: risk for risk in risks}

    def groups_of(self, targets: Sequence[str]) -> dict[str, int] | None:
        """Into how many groups some targets are cut; None where they are taken as they are."""
        return {name: n for name, n in (self.scenario.ngroups_target or {}).items() if name in targets} or None


def need_strongest(context: Context) -> None:
    """Skip a part of the intruder who has the synthesizer and all records but one where there is none.

    Raises
    ------
    Skipped
        If the intruder is not part of the scenario, or the synthesizer is not known, or not for such an intruder.
    """
    if INTRUDERS[2] not in context.scenario.intruders:
        raise Skipped(Note("the intruder who has all records but one is not part of the scenario"))
    if context.synthesizer is None:
        raise Skipped(Note("the synthesizer and its settings were not given; name them, or the provenance file"))
    need_whole(context)


def need_whole(context: Context) -> None:
    """Skip a part that makes releases, or asks how likely they are, where every row of them is a person's.

    Raises
    ------
    Skipped
        If the synthesizer keeps columns or records of the original.
    """
    if getattr(context.synthesizer, "is_partial", False):
        raise Skipped(
            Note(
                "every row of a partially synthetic release is a person's, for which no posterior is computed; the "
                "match risk says who is found"
            )
        )


@dataclass(frozen=True)
class Section:
    """The figures and notes that a part adds to the assessment.

    Parameters
    ----------
    figures
        Figures of risk.
    targets
        By target, entries of its section.
    entries
        Entries of the assessment itself.
    warnings
        What deserves a look.
    partial
        Why the part is not whole, where it is not.

    Notes
    -----
    Sentences are :class:`unveil.notes.Note`: a text of another kind is left out of documents for publication.
    """

    figures: tuple[Figure, ...] = ()
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entries: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    partial: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The section as values; notes are still notes."""
        return {
            "figures": [figure.to_dict() for figure in self.figures],
            "targets": {name: dict(entries) for name, entries in self.targets.items()},
            "entries": dict(self.entries),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class AssessmentPart:
    """One part, by name.

    Parameters
    ----------
    name
        What it is called in the list of parts; with its target where it has one.
    measure
        The measure it belongs to.
    compute
        From the context to a section.
    first
        The same for the first page, which is there in seconds; None where the part is not on it.
    better
        What the section has that the one of the first page has not.
    needs_rows
        Whether it is not defined for units of several rows.
    """

    name: str
    measure: str
    compute: Callable[[Context], Section]
    first: Callable[[Context], Section] | None = None
    better: str = ""
    needs_rows: bool = False

    @property
    def is_whole_at_first(self) -> bool:
        """Whether the first page has all of the part."""
        return self.first is self.compute

    def waiting(self) -> dict[str, Any]:
        """The part before it is begun."""
        return self._outcome("waiting", Note("not begun yet"))

    def _outcome(
        self, status: str, reason: str | None, section: Mapping[str, Any] | None = None, seconds: float = 0.0
    ) -> dict[str, Any]:
        found: dict[str, Any] = with_public(
            {"name": self.name, "status": status, "seconds": seconds, "reason": reason, "section": section}
        )
        return found | {"measure": self.measure}


def run(part: AssessmentPart, context: Context, *, first: bool = False) -> dict[str, Any]:
    """Run one part: its section as plain values, and how it went.

    A part that fails is reported as failed; the others go on. Being interrupted is no failure.

    Parameters
    ----------
    part, context
        The part, and what it works with.
    first
        Whether only what the first page has of it is worked out.

    Returns
    -------
    dict
        ``name``, ``measure``, ``status``, ``seconds``, ``reason`` and ``section`` (None where there is none); beside
        every text what may be published of it, see :func:`unveil.assessment.published_text.with_public`.
    """
    compute = part.first if first and part.first else part.compute
    start = time.perf_counter()
    section: Section | None = None
    reason: str | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnveilWarning)
        try:
            if context.pair.unit and part.needs_rows:
                raise Skipped(ONLY_ROWS)
            section = compute(context)
            status, reason = ("partial", section.partial) if section.partial else ("done", None)
        except Skipped as skipped:
            status, reason = "skipped", skipped.args[0]
        except UnveilError as error:
            status, reason = "failed", error.args[0] if error.args else str(error)
        except Exception as error:
            status, reason = "failed", f"{type(error).__name__} in the program itself: {error or 'no message'}"
    # The next part has arrays of other sizes, for which the C library would not take what this one has freed.
    give_back()
    # The text as it was given: a note that is made a text by str() forgets what may be published of it.
    said = [w.message.args[0] for w in caught if isinstance(w.message, UnveilWarning)]
    content = None if section is None else section.to_dict()
    if content is not None and part.measure not in COUNT_ROWS:
        content |= notes_in_units(
            {name: content[name] for name in ("figures", "targets", "entries")}, context.pair.unit
        )
    if content is not None:
        content["warnings"] = list(dict.fromkeys([*content["warnings"], *said]))
    if first and status == "done" and not part.is_whole_at_first:
        status, reason = "partial", Note(f"first figures; to come: {part.better}")
    return part._outcome(status, reason, content, time.perf_counter() - start)
