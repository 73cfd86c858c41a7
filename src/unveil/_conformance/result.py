"""The verdicts and their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unveil._conformance.desiderata import DESIDERATA, PUBLISHED
from unveil._conformance.measures import Measure
from unveil._conformance.world import Trial
from unveil.plain import without_nan
from unveil.result import Result, columns_of, drawer


@dataclass(frozen=True)
class Reading:
    """Readings of one measure in the worlds of one trial.

    Attributes
    ----------
    measure, trial, desideratum, requirement
        Names of the measure, the trial and the desideratum, and the requirement.
    verdict
        "pass", "fail", "undecided" (a difference within chance) or "not applicable".
    worlds
        Labels of the worlds.
    means, standard_errors
        Mean and standard error of the measure over the drawings, by world.
    gains
        What the intruder learns, by world: mean normalised gain.
    compared, figures
        The two worlds that decided, and their figures. A world that is compared with a number stands twice, and the
        second figure is that number.
    margin
        How much of a mean difference chance explains.
    """

    measure: str
    trial: str
    desideratum: str
    requirement: str
    verdict: str
    worlds: tuple[str, ...]
    means: tuple[float, ...]
    standard_errors: tuple[float, ...]
    gains: tuple[float, ...]
    compared: tuple[str, str]
    figures: tuple[float, float]
    margin: float

    def __str__(self) -> str:
        if self.verdict == "not applicable":
            return f"{self.trial}: not applicable"
        first, second = self.compared
        one, other = (f"{value:.3f}" for value in self.figures)
        if self.requirement == "maximum":
            return f"{self.trial}: {one} where {first}, maximum {other}"
        if self.requirement == "not low":
            return f"{self.trial}: {one} where {second}, at least {other} required (± {self.margin:.3f})"
        return f"{self.trial}: {one} at {first}, {other} at {second} (± {self.margin:.3f})"


@dataclass(frozen=True, repr=False)
class Conformance(Result):
    """Measures of disclosure risk against the desiderata D1 to D5.

    Attributes
    ----------
    measures
        The measures that were run.
    trials
        The trials that they ran through.
    evidence
        One entry per measure and trial.
    replicates, seed
        Number of drawings of every world, and their seed.
    warnings
        Always empty: the worlds were made for the trials.
    """

    _words = "words.conformance.conformance"
    _drawing = "plots.conformance.plot_trials"
    flavour = "arrow"

    measures: tuple[Measure, ...]
    trials: tuple[Trial, ...]
    evidence: tuple[Reading, ...]
    replicates: int
    seed: int
    warnings: tuple[str, ...] = ()

    def of(self, measure: str, desideratum: str) -> tuple[Reading, ...]:
        """The evidence for one cell of the table."""
        return tuple(e for e in self.evidence if (e.measure, e.desideratum) == (measure, desideratum))

    def breaking(self, measure: str, desideratum: str) -> tuple[Reading, ...]:
        """The evidence that a measure breaks a desideratum."""
        return tuple(e for e in self.of(measure, desideratum) if e.verdict == "fail")

    @cached_property
    def desiderata(self) -> tuple[str, ...]:
        """The desiderata that were tried."""
        return tuple(name for name in DESIDERATA if any(trial.desideratum == name for trial in self.trials))

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[str, str]]:
        """By measure and desideratum: failed if any trial failed, undecided if any is, else passed if any passed."""
        return {
            measure.name: {name: self._verdict(measure.name, name) for name in self.desiderata}
            for measure in self.measures
        }

    def _verdict(self, measure: str, desideratum: str) -> str:
        found = {e.verdict for e in self.of(measure, desideratum)}
        return next(v for v in ("fail", "undecided", "pass", "not applicable") if v in found)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values; NaN is None."""
        return {
            "measures": [{"name": m.name, "maximum": m.maximum, "about": m.about} for m in self.measures],
            "desiderata": {name: DESIDERATA[name] for name in self.desiderata},
            "trials": [
                {"name": t.name, "desideratum": t.desideratum, "requirement": t.requirement, "about": t.about}
                for t in self.trials
            ],
            "verdicts": {name: dict(row) for name, row in self.verdicts.items()},
            "published": {m.name: dict(PUBLISHED[m.name]) for m in self.measures if m.name in PUBLISHED},
            "evidence": [without_nan(vars(e)) for e in self.evidence],
            "replicates": self.replicates,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }

    def _columns(self) -> dict[str, Any]:
        """A row per measure, trial and world: the mean reading, its standard error, what is learnt, the verdict."""
        return columns_of(
            [
                {name: getattr(e, name) for name in ("measure", "desideratum", "trial", "requirement", "verdict")}
                | {"world": world, "mean": e.means[i], "standard_error": e.standard_errors[i], "gain": e.gains[i]}
                for e in self.evidence
                for i, world in enumerate(e.worlds)
            ]
        )

    def plot(self, trial: str | None = None, axes: Any = None) -> Any:
        """Draw what the measures read along the worlds: of one trial on one axes, or of all on a grid."""
        return drawer(self._drawing)(self, trial, axes)

    def cell(self, measure: str, desideratum: str) -> str:
        """A cell of the table: the verdict, and how many of how many trials failed."""
        verdict, found = self.verdicts[measure][desideratum], self.of(measure, desideratum)
        failed = sum(e.verdict == "fail" for e in found)
        return f"{verdict} {failed}/{len(found)}" if failed else verdict
