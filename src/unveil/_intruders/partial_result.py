"""The result of partial knowledge: the curve of risk against the share of other records that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.files.source import Flavour
from unveil.plain import Plain, without_nan
from unveil.result import Result, columns_of

Structure = Literal["splits", "exact"]
Method = Literal["posterior", "enumeration", "chains"]

FIGURES = ("mean_posterior", "monte_carlo_error", "spread", "share_above_90")
"""What is not given where chains have not mixed."""


@dataclass(frozen=True, eq=False)
class OfPersons:
    """Figures of the persons who are asked about, for one share of known records; confidential.

    Parameters
    ----------
    record : (p,) int64
        Numbers of their records in the original.
    prior, posterior : (p,) float64
        Probability of the truth, as the mean over the sets of unknown persons that each was put into.
    spread : (p,) float64
        Standard deviation of the posterior over these sets; NaN where there is one.
    mixed : (p,) bool
        Whether the chains of all these sets have mixed.
    """

    record: NDArray[np.int64]
    prior: NDArray[np.float64]
    posterior: NDArray[np.float64]
    spread: NDArray[np.float64]
    mixed: NDArray[np.bool_]

    def numbered(self, record_of: NDArray[np.int64]) -> OfPersons:
        """The same with other numbers of records, in their order."""
        record = record_of[self.record]
        at = np.argsort(record)
        return OfPersons(record[at], self.prior[at], self.posterior[at], self.spread[at], self.mixed[at])


@dataclass(frozen=True, eq=False)
class KnowledgePoint(Plain):
    """Risk at one share of known records.

    Attributes
    ----------
    share_known
        Share of the other records that the intruder knows in full.
    n_unknown
        Number of unknown persons, the person in question among them.
    n_sets
        Number of random sets of unknown persons that each person was put into.
    method
        "posterior": all others are known; "enumeration" of all states; or "chains".
    mean_prior
        Mean prior of the truth: what the intruder would believe without a release.
    mean_posterior
        Mean posterior of the truth; NaN where more than 1 percent of the persons have not mixed.
    monte_carlo_error
        Its standard error from the chains; 0 where nothing is drawn.
    spread
        Standard deviation of a person's posterior over the sets, as root mean square; NaN where there is one set.
    share_above_90
        Share of persons whose true value has a posterior above .9.
    share_not_mixed
        Share of persons whose chains have not mixed.
    sweeps, kept
        Sweeps of all chains of all sets, and states that were kept.
    effective
        Median of the effective draws of a person; NaN where nothing is drawn.
    """

    share_known: float
    n_unknown: int
    n_sets: int
    method: Method
    mean_prior: float
    mean_posterior: float
    monte_carlo_error: float
    spread: float
    share_above_90: float
    share_not_mixed: float
    sweeps: int
    kept: int
    effective: float

    @property
    def refused(self) -> bool:
        """Whether so many persons have not mixed that there is no figure."""
        return bool(np.isnan(self.mean_posterior))


@dataclass(frozen=True, repr=False)
class PartialKnowledge(Result):
    """Risk of an intruder who knows only a part of the other records.

    Attributes
    ----------
    target, known
        The targets, and the columns that the intruder knows of the unknown persons.
    structure
        "exact": the trees follow the unknown values. "splits": the intruder was told the splits of the trees, and this
        is not a calibrated posterior.
    points
        One per share of known records, the largest share first.
    n_original, n_persons, n_values
        Numbers of records, of persons asked about, and of values in question.
    prior
        Name of the prior.
    labels
        Names of the releases.
    left_out
        By variable, released values that no record of the original can have given, and that are left out.
    withheld
        Variables that the releases do not show.
    seed
        Where the draws come from.
    warnings
        Warnings.
    """

    _words = "words.intruders.partial_knowledge"
    _drawing = "plots.intruders.plot_partial_knowledge"

    target: tuple[str, ...]
    known: tuple[str, ...]
    structure: Structure
    points: tuple[KnowledgePoint, ...]
    n_original: int
    n_persons: int
    n_values: int
    prior: str
    labels: tuple[str, ...]
    left_out: Mapping[str, int]
    withheld: tuple[str, ...]
    seed: int
    warnings: tuple[str, ...]
    flavour: Flavour
    _persons: tuple[OfPersons, ...] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, without those of single persons; what is not defined is None."""
        found: dict[str, Any] = without_nan(super().to_dict())
        return found

    def _columns(self) -> dict[str, Any]:
        """A row per share of known records."""
        return columns_of([point.to_dict() for point in self.points])

    def records(self, *, flavour: Flavour | None = None) -> Any:
        """Per share of known records and person the prior and the posterior of the truth. Confidential.

        Columns: share_known, record (from 0), prior, posterior, spread (over the sets of unknown persons), mixed. Where
        the chains of a share have not mixed there is no posterior.

        Parameters
        ----------
        flavour
            Kind of frame; by default that of the original.
        """
        parts: dict[str, list[NDArray[Any]]] = {}
        for point, persons in zip(self.points, self._persons, strict=True):
            left = persons.mixed & (not point.refused)
            for name, values in {
                "share_known": np.full(left.size, point.share_known),
                "record": persons.record,
                "prior": persons.prior,
                "posterior": np.where(left, persons.posterior, np.nan),
                "spread": np.where(left, persons.spread, np.nan),
                "mixed": persons.mixed,
            }.items():
                parts.setdefault(name, []).append(values)
        return self._frame({name: np.concatenate(arrays) for name, arrays in parts.items()}, flavour)
