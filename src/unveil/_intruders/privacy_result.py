"""The result of the privacy loss: what it holds, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.loss_curves import Losses
from unveil.files.source import Flavour
from unveil.result import Result, columns_of
from unveil.stats import Ends

Floats = NDArray[np.float64]

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Epsilons of the table."""
QUANTILES = (0.5, 0.75, 0.9, 1.0)
"""Quantiles over persons; the last is the worst person."""
FEWEST = 3
"""Persons that a group has at least."""
WORST = 10
"""Groups that are named."""


@dataclass(frozen=True, eq=False)
class PersonLosses:
    """Losses of the single persons; confidential.

    Parameters
    ----------
    record : (p,) int64
        Number of the person's record in the original.
    other : (p,) int64
        Number of the person who stands in, among the candidates.
    realised : (p,) float64 or None
        Loss on the releases at hand.
    chosen : (c,) int64
        Which of the persons have curves.
    losses : (c,) of Losses
        Their losses over fresh releases.
    values
        By grouping column, the value of each person.
    """

    record: NDArray[np.int64]
    other: NDArray[np.int64]
    realised: Floats | None
    chosen: NDArray[np.int64]
    losses: Sequence[Losses]
    values: Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class Spread:
    """A figure over persons.

    Attributes
    ----------
    figure
        Its name.
    n
        Number of persons.
    quantiles
        Values at the shares of :data:`QUANTILES`; each is that of a person. Infinity where nothing finite is enough.
    interval
        Monte-Carlo interval of the largest; NaN where nothing was simulated.
    """

    figure: str
    n: int
    quantiles: tuple[float, ...]
    interval: Ends


@dataclass(frozen=True, repr=False)
class PrivacyLoss(Result):
    """How far releases tell apart an original and the original with one person replaced.

    All figures are about some persons, each with one neighbour, in one original: lower bounds for the epsilon of the
    synthesizer.

    Attributes
    ----------
    n_original
        Records of the original.
    n_persons, n_curves
        Persons with a realised loss, and persons of whom fresh releases were made.
    n_releases
        Fresh releases of each original.
    sizes
        Records of the files of one release.
    n_twins
        Persons who have the values of the candidate that was theirs; the next candidate stands in their place.
    neighbours
        Who stands in the place of a person: "drawn" (by trees of the original) or "candidates".
    exact
        Whether the likelihood is exact. Where it is not, as the fit is random, it chooses which releases are counted.
    stated_epsilon
        Epsilon that the synthesizer guarantees where one record is replaced; NaN if it guarantees none.
    delta
        The delta at which the smallest epsilon is given.
    by
        Columns that make groups.
    level, seed
        Coverage of the Monte-Carlo intervals, and where the draws come from.
    label_original
        What the original is called.
    warnings
        Warnings.
    """

    _words = "words.privacy_loss.privacy_loss"
    _drawing = "plots.privacy_loss.plot_privacy_loss"

    n_original: int
    n_persons: int
    n_curves: int
    n_releases: int
    sizes: tuple[int, ...]
    n_twins: int
    neighbours: str
    exact: bool
    stated_epsilon: float
    delta: float
    by: tuple[str, ...]
    level: float
    seed: int
    label_original: str
    warnings: tuple[str, ...]
    flavour: Flavour
    _persons: PersonLosses = field(repr=False, compare=False)

    @property
    def share_ruled_out(self) -> float:
        """Share of persons without whom the releases at hand are impossible; NaN if there are none at hand."""
        realised = self._persons.realised
        return float("nan") if realised is None else float(np.isposinf(realised).mean())

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """Figures over persons: realised loss, delta by epsilon, smallest epsilon at delta."""
        found = []
        if self._persons.realised is not None:
            found.append(_spread("realised loss", self._persons.realised, None))
        losses = self._persons.losses
        if not losses:
            return tuple(found)
        for epsilon in EPSILONS:
            deltas = np.array([one.delta(epsilon) for one in losses])
            worst = losses[int(deltas.argmax())]
            found.append(_spread(f"delta({epsilon:g})", deltas, worst.delta_interval(epsilon, self.level)))
        if self.exact:
            deltas = np.array([one.delta_infinity for one in losses])
            worst = losses[int(deltas.argmax())]
            found.append(_spread("delta(infinity)", deltas, worst.delta_interval(np.inf, self.level)))
        epsilons = np.array([one.epsilon(self.delta) for one in losses])
        worst = losses[int(epsilons.argmax())]
        ends = worst.epsilon_interval(self.delta, self.level)
        found.append(_spread(f"smallest epsilon at delta {self.delta:.3g}", epsilons, ends))
        return tuple(found)

    @property
    def n_above_stated(self) -> int:
        """Number of persons whose delta at the stated epsilon is above 0.

        The level is shared by all persons and both directions: where the guarantee holds, any person is counted with a
        probability of at most ``(1 - level) / 2``.
        """
        if np.isnan(self.stated_epsilon):
            return 0
        level = 1 - (1 - self.level) / (2 * max(self.n_curves, 1))
        return sum(one.delta_interval(self.stated_epsilon, level)[0] > 0 for one in self._persons.losses)

    @cached_property
    def worst_groups(self) -> tuple[dict[str, Any], ...]:
        """The ten groups with the largest losses: values, persons, and the losses of the person in the middle."""
        people = self._persons
        labels = list(zip(*people.values.values(), strict=True)) if people.values else []
        epsilons = dict(zip(people.chosen.tolist(), (one.epsilon(self.delta) for one in people.losses), strict=True))
        found = []
        for values in dict.fromkeys(labels):
            own = [i for i, one in enumerate(labels) if one == values]
            if len(own) < FEWEST:
                continue
            simulated = np.array([epsilons[i] for i in own if i in epsilons])
            row: dict[str, Any] = dict(zip(people.values, values, strict=True)) | {"n_persons": len(own)}
            if people.realised is not None:
                realised = people.realised[own]
                row |= {
                    "share_ruled_out": float(np.isposinf(realised).mean()),
                    "median_realised": _middle(realised),
                }
            row |= {"n_curves": simulated.size, "median_epsilon": _middle(simulated)}
            found.append(row)
        return tuple(sorted(found, key=_how_bad)[:WORST])

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, without those of single persons."""
        return super().to_dict() | {
            "share_ruled_out": self.share_ruled_out,
            "n_above_stated": self.n_above_stated,
            "figures": [
                {"figure": one.figure, "n_persons": one.n}
                | {f"q{100 * q:g}": value for q, value in zip(QUANTILES, one.quantiles, strict=True)}
                | {"worst_low": one.interval[0], "worst_high": one.interval[1]}
                for one in self.spreads
            ],
            "worst_groups": [dict(one) for one in self.worst_groups],
        }

    def _columns(self) -> dict[str, Any]:
        """A row per figure, with its quantiles over persons."""
        return columns_of(self.to_dict()["figures"])

    def curves(self, epsilons: Sequence[float] = EPSILONS, *, flavour: Flavour | None = None) -> Any:
        """Delta by person and epsilon, with its Monte-Carlo interval. Confidential.

        Columns: record (from 0), epsilon, delta, low, high.

        Parameters
        ----------
        epsilons
            The epsilons.
        flavour
            Kind of frame; by default that of the original.
        """
        people = self._persons
        rows = [
            {"record": int(people.record[i]), "epsilon": float(epsilon), "delta": one.delta(epsilon)}
            | dict(zip(("low", "high"), one.delta_interval(epsilon, self.level), strict=True))
            for i, one in zip(people.chosen, people.losses, strict=True)
            for epsilon in epsilons
        ]
        return self._frame(columns_of(rows), flavour)

    def records(self, *, flavour: Flavour | None = None) -> Any:
        """Per person the realised loss, and the figures of fresh releases where they were made. Confidential.

        Columns: record and neighbour (from 0), realised_loss, delta_infinity, epsilon, epsilon_low, epsilon_high; a gap
        where nothing was computed.

        Parameters
        ----------
        flavour
            Kind of frame; by default that of the original.
        """
        people = self._persons
        rows: list[dict[str, Any]] = [
            {"record": int(record), "neighbour": int(other), "realised_loss": None, "delta_infinity": None}
            | dict.fromkeys(("epsilon", "epsilon_low", "epsilon_high"))
            for record, other in zip(people.record, people.other, strict=True)
        ]
        if people.realised is not None:
            for row, loss in zip(rows, people.realised.tolist(), strict=True):
                row["realised_loss"] = loss
        for i, one in zip(people.chosen, people.losses, strict=True):
            low, high = one.epsilon_interval(self.delta, self.level)
            rows[i] |= {"epsilon": one.epsilon(self.delta), "epsilon_low": low, "epsilon_high": high}
            rows[i]["delta_infinity"] = one.delta_infinity if self.exact else None
        return self._frame(columns_of(rows), flavour)


def _spread(figure: str, values: Floats, interval: Ends | None) -> Spread:
    # Every quantile is the value of a person: a mean with an infinite value would be of nobody.
    quantiles = np.quantile(values, QUANTILES, method="inverted_cdf")
    return Spread(figure, values.size, tuple(quantiles.tolist()), interval or (float("nan"), float("nan")))


def _middle(values: Floats) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf")) if values.size else float("nan")


def _how_bad(row: Mapping[str, Any]) -> tuple[float, ...]:
    epsilon = row["median_epsilon"]
    last = np.inf if np.isnan(epsilon) else -epsilon
    if "share_ruled_out" not in row:
        return (last,)
    return -row["share_ruled_out"], -row["median_realised"], last
