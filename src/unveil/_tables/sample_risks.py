"""The risks of the records of a sample in its population: by both models, in groups, and record by record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._tables.cell_risks import Expected, inverse_size
from unveil._tables.keyed_pair import KeyedPair
from unveil._tables.log_linear_risk import (
    MOST_CELLS,
    MOST_SEARCHED,
    LogLinear,
    SampleTable,
    UniquesRisk,
    models_tried,
)
from unveil.checks import check_whole_numbers
from unveil.columns.column import CodedColumn
from unveil.columns.units import jointly
from unveil.columns.weights import Weights
from unveil.files.arrays import from_numpy
from unveil.notes import Note

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

MODELS = ("log-linear", "weights")
SAMPLE = "sample"
"""What the row of all sample uniques is called."""


@dataclass(frozen=True, eq=False)
class SampleRisks:
    """The risks of the records of a sample.

    Parameters
    ----------
    study
        The keys of the files.
    weights
        What the records stand for.
    interactions
        Of the log-linear model.
    n_releases
        Number of releases; 0 where the original is measured alone.
    """

    study: KeyedPair
    weights: Weights
    interactions: str
    n_releases: int

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(n,) sampled records with the keys of each record."""
        q = self.study.combinations
        found: NDArray[np.int64] = q.tallies[0][q.original]
        return found

    @cached_property
    def population_counts(self) -> Floats:
        """(n,) sum of the weights of the records with the keys of each record."""
        q = self.study.combinations
        found: Floats = np.bincount(q.original, self.weights.values, q.size)[q.original]
        return found

    @cached_property
    def share(self) -> Floats:
        """(n,) sampled share of the cell of each record."""
        return np.minimum(1.0, self.counts / self.population_counts)

    @cached_property
    def unique(self) -> Flags:
        """(n,) which records are unique in the sample."""
        found: Flags = (self.counts == 1) & self.study.counted[self.study.combinations.original]
        return found

    @cached_property
    def table(self) -> SampleTable:
        """The sample as a table of its keys."""
        return SampleTable.of([column.original for column in self._seen], self.weights.values)

    @cached_property
    def _seen(self) -> Sequence[CodedColumn]:
        """The keys; those that differ within units stand together in one."""
        return jointly(self.study.columns)

    @cached_property
    def tried(self) -> list[LogLinear]:
        """The log-linear models; none where the table is too large."""
        return [] if self.undefined else models_tried(self.table, self.interactions)

    @cached_property
    def undefined(self) -> dict[str, str]:
        """Why there is no log-linear model."""
        cells = self.table.n_cells
        if cells <= MOST_CELLS:
            return {}
        reason = f"the keys have {cells} combinations, and at most {MOST_CELLS} can be fitted; cut numeric keys into "
        return {"log-linear": Note(reason + "groups (ngroups_keys), or name fewer keys", _TOO_LARGE)}

    @cached_property
    def of_uniques(self) -> UniquesRisk | None:
        """The log-linear risk of the sample uniques."""
        return self._of_model(self.tried[-1]) if self.tried else None

    def _of_model(self, model: LogLinear) -> UniquesRisk:
        return UniquesRisk.of(self.table, model, np.flatnonzero(self.unique), equal=self.weights.are_equal)

    def replicated(self, release: int) -> Flags:
        """(n,) which records are unique in the sample and in a release."""
        found: Flags = self.study.flags(release)["replicated_unique"][self.study.combinations.original]
        return found

    def probabilities(self, model: str) -> tuple[Floats, Floats]:
        """Of each sample unique the probability to be unique in the population, and of a correct match."""
        if model == "log-linear":
            assert self.of_uniques is not None
            return self.of_uniques.alone, self.of_uniques.match
        share = self.share[self.unique]
        return share, inverse_size(np.ones(len(share), np.int64), share)

    def figures(self, level: float) -> Iterator[dict[str, Any]]:
        """What is expected of the sample uniques, and of those that are unique in each release."""
        groups = [(SAMPLE, self.unique)]
        groups += [(self.study.pair.labels[r], self.replicated(r)) for r in range(self.n_releases)]
        for who, flags in groups:
            chosen = flags[self.unique]
            for model in MODELS:
                if model not in self.undefined:
                    yield {"who": who, "records": int(chosen.sum()), "model": model} | self._of(model, chosen, level)

    def _of(self, model: str, chosen: Flags, level: float) -> dict[str, float]:
        found: dict[str, float] = {}
        for which, (name, each) in enumerate(zip(_NUMBERS, self.probabilities(model), strict=True)):
            fitted = self.of_uniques if model == "log-linear" else None
            apart = fitted.variance(which, chosen) + fitted.error(which, chosen) ** 2 if fitted else 0.0
            one = Expected.of(each[chosen], apart, level=level)
            found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        return found

    def described(self) -> Iterator[dict[str, Any]]:
        """The log-linear models that were tried."""
        for model in self.tried:
            pairs = [[self._seen[axis].name for axis in axes] for axes in model.margins if len(axes) == 2]
            yield {
                "interactions": pairs,
                "error": model.error,
                "deviation": model.deviation,
                "z": model.z,
                "population_uniques": float(self._of_model(model).alone.sum()),
            }

    def notes(self) -> Iterator[Note]:
        """What deserves a look in the figures."""
        if self.interactions == "selected" and MOST_SEARCHED < self.table.n_cells <= MOST_CELLS:
            yield _NOT_SEARCHED
        below = int((self.weights.values < 1 - 1e-9).sum())
        if below:
            text = "weights below 1, which stand for less than one person, count as 1 in the cells of sample uniques"
            yield Note(f"{below} records have {text}", f"some records have {text}")

    def of_records(self, release: int) -> dict[str, pa.Array]:
        """The figures of each record."""
        found: dict[str, NDArray[Any]] = {
            "sample_count": self.counts,
            "population_count": self.population_counts,
            "unique": self.unique,
        }
        if self.n_releases:
            check_whole_numbers(0, self.n_releases - 1, release=release)
            found["replicated_unique"] = self.replicated(release)
        found["risk_weights"] = inverse_size(self.counts, self.share)
        columns = self.study.pair.record_names() | {name: from_numpy(values) for name, values in found.items()}
        if self.of_uniques is not None:
            for name, values in (("alone", self.of_uniques.alone), ("risk", self.of_uniques.match)):
                of_all = np.zeros(len(self.counts))
                of_all[self.unique] = values
                columns[f"{name}_log_linear"] = pa.array(of_all, mask=~self.unique)
        return columns

    def by_level(self, name: str, model: str) -> dict[str, Any]:
        """What is expected of the sample uniques with each level of a column."""
        column = self.study.pair.column(name)
        level, unique = column.original, column.original[self.unique]
        n = np.bincount(level, minlength=column.n_levels)
        held = np.flatnonzero(n)
        sums = zip(_NUMBERS, self.probabilities(model), strict=True)
        figures = {one: np.bincount(unique, each, column.n_levels)[held] for one, each in sums}
        title = name if name not in ("n", "sample_uniques", *_NUMBERS) else f"{name} (level)"
        return {
            title: [column.labels[code] for code in held],
            "n": n[held],
            "sample_uniques": np.bincount(unique, minlength=column.n_levels)[held],
            **figures,
        }


_NUMBERS = ("population_uniques", "correct_matches")
_TOO_LARGE = "the keys have too many combinations for a log-linear model"
_NOT_SEARCHED = Note(
    f"the keys have more than {MOST_SEARCHED} combinations: the log-linear model has main effects alone, and may say "
    "too much; cut numeric keys into groups (ngroups_keys) to have interactions selected"
)
