"""The result of record linkage: what it holds, and how it is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._membership.linked_records import LinkedRecords
from unveil.checks import check_whole_numbers
from unveil.files.source import Flavour
from unveil.limits import reaches
from unveil.result import Result, columns_of
from unveil.stats.excess import excess
from unveil.stats.moments import Moments
from unveil.stats.shares import score_interval


@dataclass(frozen=True, repr=False)
class Linkage(Result):
    """How many persons are found by the nearest record of a release that has one record of each.

    Attributes
    ----------
    keys
        The columns by which persons are looked for.
    linked_by
        Which record is whose: "rows", or the column that names the persons.
    distance
        "gower" or "rank".
    ceiling
        Percent of persons found in the original itself, where only who has the same keys ties.
    n_original, n_searched
        Number of records of each file, and how many persons were looked for.
    labels, label_original
        What the files are called.
    level, seed
        Coverage of the intervals, and where the draws come from.
    warnings
        What deserves a look in the files.
    """

    _words = "words.linkage.linked"
    _drawing = "plots.linkage.plot_linkage"

    keys: tuple[str, ...]
    linked_by: str
    distance: str
    ceiling: float
    n_original: int
    n_searched: int
    labels: tuple[str, ...]
    label_original: str
    level: float
    seed: int
    warnings: tuple[str, ...]
    flavour: Flavour
    _found: tuple[LinkedRecords, ...] = field(repr=False, compare=False)
    _persons: NDArray[np.intp] = field(repr=False, compare=False)
    _owns: tuple[NDArray[np.intp], ...] = field(repr=False, compare=False)

    @property
    def releases(self) -> tuple[Mapping[str, Any], ...]:
        """Per release: ``share``, percent of persons found, with ``low`` and ``high``; ``alone``, percent of persons
        whose own record is nearest and ties with no other; ``expected``, number of persons found among all;
        ``null_95`` and ``p_value`` of records that are dealt to persons at random; and ``excess``, the share of what
        chance leaves."""
        return tuple(self._figures(one) for one in self._found)

    @property
    def share(self) -> float:
        """Percent of persons found; mean over the releases."""
        return 100 * math.fsum(one.share for one in self._found) / len(self._found)

    @property
    def null_mean(self) -> float:
        """Percent of persons who are found by chance: one of all."""
        return 100 / self.n_original

    def _figures(self, one: LinkedRecords) -> dict[str, Any]:
        probability, n = one.probability, self.n_searched
        moments = Moments.of(probability, np.ones(n, dtype=np.int64))
        share = one.share
        low, high = score_interval(share, moments.variance(n) / n, n, self.level)
        null_95 = 100 * float(np.quantile(one.null, 0.95)) if len(one.null) else math.nan
        reached = int(np.count_nonzero(reaches(one.null, share)))
        return {
            "share": 100 * share,
            "low": 100 * low,
            "high": 100 * high,
            "alone": 100 * float(np.mean(probability == 1)),
            "expected": share * self.n_original,
            "null_mean": self.null_mean,
            "null_95": null_95,
            "p_value": (1 + reached) / (1 + len(one.null)) if len(one.null) else math.nan,
            "excess": excess(share, 1 / self.n_original),
        }

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return super().to_dict() | {
            "share": self.share,
            "null_mean": self.null_mean,
            "releases": [dict(r) for r in self.releases],
        }

    def _columns(self) -> dict[str, Any]:
        """A row per release."""
        rows = [{"release": label, **one} for label, one in zip(self.labels, self.releases, strict=True)]
        return columns_of([row | {"ceiling": self.ceiling} for row in rows])

    def records(self, release: int = 0, *, flavour: Flavour | None = None) -> Any:
        """Per person, how the own record of a release compares with the nearest. This is confidential.

        Columns are ``record`` and ``own_record``, the numbers of the person's records in the original and in the
        release from 0; ``own_distance`` and ``nearest_distance``; ``ties``, the number of records that are nearest; and
        ``found``, the probability that the person is found.

        Parameters
        ----------
        release
            Position of the release.
        flavour
            Kind of frame; by default that of the original.

        Raises
        ------
        CallError
            If there is no such release.
        """
        check_whole_numbers(0, len(self._found) - 1, release=release)
        one, order = self._found[release], np.argsort(self._persons)
        columns = {
            "record": self._persons,
            "own_record": self._owns[release],
            "own_distance": one.own,
            "nearest_distance": one.nearest,
            "ties": one.ties,
            "found": one.probability,
        }
        return self._frame({name: values[order] for name, values in columns.items()}, flavour)
