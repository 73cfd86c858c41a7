"""Design weights: how many persons of the population each record of a sample stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.checks import check_positive
from unveil.columns.column import are_numbers
from unveil.errors import CallError, DataError
from unveil.files.arrays import quoted_list
from unveil.files.source import Source
from unveil.notes import Note

Floats = NDArray[np.float64]

_SLACK = 0.01
"""Share by which a sum of weights may differ from the population without a word: weights are written rounded."""


@dataclass(frozen=True, eq=False)
class Weights:
    """What each record of a sample stands for.

    Parameters
    ----------
    values : (n,) float64
        Number of persons of the population that each record stands for; their sum is the population.
    population
        Number of persons in the population.
    column
        The column of the original that holds them; None where they were given otherwise, or are all equal.
    notes
        What deserves a look in figures that rest on them.
    """

    values: Floats
    population: float
    column: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def fraction(self) -> float:
        """Sampled share of the population."""
        return len(self.values) / self.population

    @property
    def are_equal(self) -> bool:
        """Whether all records stand for equally many persons."""
        return bool(np.ptp(self.values) <= 1e-9 * self.values[0])

    def of_rows(self, rows: NDArray[np.intp], sizes: NDArray[np.intp]) -> Weights:
        """Those of the rows of units, each of which stands for as many as its unit.

        Parameters
        ----------
        rows
            The rows, unit by unit.
        sizes
            Number of rows of each unit.
        """
        values = np.empty(len(rows))
        values[rows] = np.repeat(self.values, sizes)
        return replace(self, values=values, population=float(values.sum()))

    def part(self, records: NDArray[np.intp]) -> Weights:
        """Those of some records, in the same population."""
        values = self.values[records]
        return replace(self, values=values * (self.population / values.sum()) if len(values) else values)


def weights_of(source: Source, weights: Any = None, population: float | None = None) -> Weights | None:
    """Check the design weights of a sample.

    Parameters
    ----------
    source
        The sample.
    weights
        The column that holds them, or one positive number per record. By default the column that a schema declares;
        without one all records stand for equally many persons.
    population
        Number of persons in the population; by default the sum of the weights. Weights with another sum are scaled.

    Returns
    -------
    Weights or None
        None where neither weights nor a population are given: then the file is its own population.

    Raises
    ------
    CallError
        If the column does not exist, the numbers are not one per record, or the population is smaller than the sample.
    DataError
        If a weight is missing, not a number, or not positive; the message names the record.
    """
    n = source.num_rows
    weights = _declared(source) if weights is None else weights
    if population is not None:
        check_positive(population=population)
        if population < n:
            raise CallError(
                f"population must be at least the number of records of {source.label}, which is {n}, "
                f"not {population:.10g}"
            )
    if weights is None:
        return None if population is None else Weights(np.full(n, population / n), float(population))
    column = weights if isinstance(weights, str) else None
    values = _positive(*(_listed(source, weights) if column is None else _read(source, column)))
    total = math.fsum(values)
    notes = []
    if population is None:
        if total < n * (1 - _SLACK):
            raise CallError(
                f"the weights of {source.label} add up to {total:.6g}, which is less than its {n} records: they do not "
                "count persons; state the size of the population (population)"
            )
        if total < n * (1 + _SLACK) and np.ptp(values) > 0:
            notes.append(_SCALED)
        population = max(total, float(n))
    elif abs(total - population) > _SLACK * population:
        text = f"the weights add up to {total:.6g} and were scaled to the population of {population:.10g}"
        notes.append(Note(text, "the weights were scaled to the population"))
    return Weights(values * (population / total), float(population), column, tuple(notes))


def population_of(sample: Source) -> float | None:
    """Number of persons that a sample stands for whose schema declares weights; a part of it stands for them too.

    Parameters
    ----------
    sample
        The whole sample.

    Returns
    -------
    float or None
        None where no weights are declared.
    """
    found = weights_of(sample)
    return None if found is None else found.population


def release_weights(release: Source, weights: Weights) -> Floats:
    """What each record of a release stands for: its column of the same name, or 1 where it has none.

    Raises
    ------
    DataError
        If a weight is missing, not a number, or not positive; the message names the record.
    """
    if weights.column is None or weights.column not in release:
        return np.ones(release.num_rows)
    return _positive(*_read(release, weights.column))


_SCALED = Note(
    "the weights add up to the number of records, as weights do that were scaled to the sample: the sample then counts "
    "as the whole population; state the size of the population (population)"
)


def _declared(source: Source) -> str | None:
    """The column that a schema declares to hold the weights."""
    names = [name for name in source.names if source.variable(name).weight]
    if len(names) > 1:
        raise CallError(f"the schema declares several columns of weights: {quoted_list(names)}; keep one of them")
    return names[0] if names else None


def _read(source: Source, name: str) -> tuple[Floats, str]:
    source.require(name)
    column = source.column(name)
    where = f"column {name!r} of {source.label}"
    if not are_numbers(column):
        raise DataError(f"{where} holds no numbers and cannot weight records; name the column of the design weights")
    if column.null_count:
        first = pc.index(column.is_null(), True).as_py() + 1
        raise DataError(f"{where}: record {first} has no weight; give every record a positive one")
    return column.cast("float64", safe=False).to_numpy(), where


def _listed(source: Source, weights: Any) -> tuple[Floats, str]:
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise CallError("weights are the name of a column, or one positive number per record of the original") from None
    if values.shape != (source.num_rows,):
        given = f"{values.size} numbers" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise CallError(
            f"weights must be one number for each of the {source.num_rows} records of {source.label}, not {given}"
        )
    return values, "weights"


def _positive(values: Floats, where: str) -> Floats:
    wrong = np.flatnonzero(~((values > 0) & (values < np.inf)))
    if len(wrong):
        first = wrong[0]
        what = "no weight" if np.isnan(values[first]) else f"the weight {values[first]:g}"
        raise DataError(f"{where}: record {first + 1} has {what}; give every record a positive one")
    return values
