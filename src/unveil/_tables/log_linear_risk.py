"""A log-linear model of the cells of a sample, chosen by what is wrong with the risk that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil._tables.cell_risks import alone, curvature_of_match, match, slope_of_match
from unveil.stats.log_linear import Floats, Margins, fitted_counts, forward, main_effects, projected, two_way

MOST_CELLS = 1 << 22
"""Cells of the largest table to which a model is fitted."""
MOST_SEARCHED = 1 << 20
"""Cells of the largest table for which interactions are searched."""
GOOD_FIT = 1.96
"""A model fits if the error of its risk is below this number of standard errors."""


@dataclass(frozen=True, eq=False)
class SampleTable:
    """A sample as a table of its keys.

    Parameters
    ----------
    codes : (p, n)
        The level of each key of each record.
    shape
        Number of levels of each key.
    weights : (n,) float64
        Number of persons that each record stands for.
    """

    codes: tuple[NDArray[np.integer], ...]
    shape: tuple[int, ...]
    weights: Floats

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.integer]], weights: Floats) -> SampleTable:
        """Number the levels that the sample has."""
        each = [np.unique(column, return_inverse=True) for column in columns]
        return cls(tuple(codes for _, codes in each), tuple(len(levels) for levels, _ in each), weights)

    @property
    def n_cells(self) -> int:
        """Number of cells, empty ones too."""
        return int(np.prod([float(n) for n in self.shape]))

    @cached_property
    def cell(self) -> NDArray[np.intp]:
        """(n,) the cell of each record."""
        cells: NDArray[np.intp] = np.ravel_multi_index(self.codes, self.shape)
        return cells

    @cached_property
    def counts(self) -> Floats:
        """Number of records by cell, in the shape of the table."""
        return self._sums(np.ones(len(self.weights)))

    @cached_property
    def population_counts(self) -> Floats:
        """Sum of weights by cell, in the shape of the table."""
        return self._sums(self.weights)

    def _sums(self, of_records: Floats) -> Floats:
        return np.bincount(self.cell, of_records, self.n_cells).astype(np.float64).reshape(self.shape)

    @property
    def fraction(self) -> float:
        """Sampled share of the population."""
        return len(self.weights) / float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A model with the expected counts of the sample, and how good it is for the risk.

    Parameters
    ----------
    margins
        The margins that it keeps.
    expected : (k_1, ..., k_p) float64
        Expected number of records by cell.
    error, deviation
        How far the expected number of population uniques is from what the sample supports, and the standard error of
        that.
    """

    margins: Margins
    expected: Floats
    error: float
    deviation: float

    @property
    def z(self) -> float:
        """The error in standard errors; positive where the risk is overestimated, as by a model that is too simple."""
        return self.error / self.deviation if self.deviation > 0 else 0.0


def error_of_risk(
    counts: Floats, expected: Floats, fraction: float, *, of_matches: bool = False
) -> tuple[float, float]:
    """By how much a model errs about the number of sample uniques that are unique in the population.

    Parameters
    ----------
    counts, expected : float64
        Sampled and expected records of all cells, empty ones too.
    fraction
        Sampled share of the population.
    of_matches
        Whether it is the error of tau_2, the number of correct matches.

    Returns
    -------
    B, deviation : float
        The estimated error, and its standard error under the model.

    Notes
    -----
    The population size of cell k is Poisson with mean ``l_k``, a share ``pi`` of it is sampled: ``f_k`` is Poisson with
    mean ``m_k = pi l_k``, and ``h(l) = exp(-(1-pi) l)`` the probability that a sample unique is unique in the
    population. The error of ``sum I(f_k = 1) h(l^_k)`` is ``sum m_k exp(-m_k) (h(l^_k) - h(l_k))``, to second order
    ``sum m_k exp(-m_k) (-h'(l_k) d_k + h''(l_k) d_k^2 / 2)`` with ``d_k = l_k - l^_k``. For ``pi d_k`` and
    ``pi^2 d_k^2`` stand their unbiased estimates ``e_k = f_k - m^_k`` and ``e_k^2 - f_k``; elsewhere the estimate
    ``l^_k`` stands for ``l_k``:

    ``B = sum a_k e_k + b_k (e_k^2 - f_k)``, ``a_k = -m_k exp(-m_k) h'(l^_k) / pi``,
    ``b_k = m_k exp(-m_k) h''(l^_k) / (2 pi^2)``; for tau_1 ``a_k = (1-pi) l^_k exp(-l^_k)`` and
    ``b_k = a_k (1-pi) / (2 pi)``. For tau_2 ``h`` is ``E(1/F_k)``.

    Under the model ``e_k`` and ``e_k^2 - f_k`` are uncorrelated and have the variances ``m_k`` and ``2 m_k^2``, so that
    B has the variance ``sum a_k^2 m^_k + 2 b_k^2 m^_k^2``.

    References
    ----------
    Skinner, C. & Shlomo, N. (2008). Assessing identification risk in survey microdata using log-linear models. Journal
    of the American Statistical Association 103, 989-1001. doi:10.1198/016214507000001328
    """
    unseen = (1 - fraction) / fraction
    more = unseen * expected
    slope, curvature = (slope_of_match(more), curvature_of_match(more)) if of_matches else (-alone(more), alone(more))
    unique = expected * np.exp(-expected)
    a, b = -unseen * unique * slope, unseen**2 * unique * curvature / 2
    rest = counts - expected
    error = (a * rest + b * (rest**2 - counts)).sum()
    variance = (a**2 * expected + 2 * b**2 * expected**2).sum()
    return float(error), float(np.sqrt(variance))


def models_tried(table: SampleTable, interactions: str) -> list[LogLinear]:
    """The models from main effects on, each with one interaction more; the last is the one to use.

    Parameters
    ----------
    table
        The sample.
    interactions
        "selected": the interaction that brings the error next to 0 is added until the model fits or none makes it
        better; "none"; "all": all of two keys.
    """
    n_keys = len(table.shape)
    if interactions == "all":
        return [_fitted(table, two_way(n_keys))]
    tried = [_fitted(table, main_effects(n_keys))]
    while interactions == "selected" and abs(tried[-1].z) > GOOD_FIT and table.n_cells <= MOST_SEARCHED:
        last = tried[-1]
        more = [_fitted(table, margins, last.expected) for margins in forward(last.margins, n_keys)]
        best = min(more, key=lambda model: abs(model.z), default=last)
        if abs(best.z) >= abs(last.z):
            break
        tried.append(best)
    return tried


def _fitted(table: SampleTable, margins: Margins, start: Floats | None = None) -> LogLinear:
    expected = fitted_counts(table.counts, margins, start)
    return LogLinear(margins, expected, *error_of_risk(table.counts, expected, table.fraction))


@dataclass(frozen=True, eq=False)
class UniquesRisk:
    """What a model says of records that are unique in the sample.

    Parameters
    ----------
    alone, match : (m,) float64
        Probability that each is unique in the population, and of a correct match.
    """

    alone: Floats
    match: Floats
    _cells: NDArray[np.intp]
    _slopes: tuple[Floats, Floats]
    _model: LogLinear
    _scale: float
    _errors: tuple[float, float]

    @classmethod
    def of(cls, table: SampleTable, model: LogLinear, records: NDArray[np.intp], *, equal: bool) -> UniquesRisk:
        """The risk of some sample uniques.

        Parameters
        ----------
        table, model
            The sample and its model.
        records : (m,)
            Positions of sample uniques.
        equal
            Whether all weights are; otherwise the model is fitted to the sums of the weights, and the sampled share of
            a cell is that of its record.
        """
        cells = table.cell[records]
        fitted = model.expected / table.fraction if equal else fitted_counts(table.population_counts, model.margins)
        more = (1 - np.minimum(1.0, 1 / table.weights[records])) * fitted.ravel()[cells]
        inflated = 1 + float(np.var(table.weights) / np.mean(table.weights) ** 2)
        slopes = (-alone(more) * more, slope_of_match(more) * more)
        of_matches, _ = error_of_risk(table.counts, model.expected, table.fraction, of_matches=True)
        return cls(alone(more), match(more), cells, slopes, model, inflated, (model.error, of_matches))

    def error(self, which: int, chosen: NDArray[np.bool_]) -> float:
        """The estimated error of the sum of :attr:`alone` (0) or :attr:`match` (1) over some of the records.

        That of all records is theirs by their share of the sum.
        """
        every = (self.alone, self.match)[which]
        total = float(every.sum())
        return self._errors[which] * float(every[chosen].sum()) / total if total > 0 else 0.0

    def variance(self, which: int, chosen: NDArray[np.bool_]) -> float:
        """Variance of the sum of :attr:`alone` (0) or :attr:`match` (1) over some of the records, for the fit.

        Notes
        -----
        To first order the sum changes by ``sum g_k d_k``, where ``g_k`` is its derivative in the logarithm of the
        expected count ``m_k`` of cell k and ``d`` the error of the fitted logarithms. With the projection P on the
        margins of the model, by least squares with the weights m, the variance is ``sum m_k (P g/m)_k (g/m)_k``. Where
        weights differ it is multiplied by ``1 + cv^2``, Kish's design effect.
        """
        m, cells = self._model.expected, self._cells[chosen]
        change = np.zeros(m.size)
        change[cells] = self._slopes[which][chosen] / m.ravel()[cells]
        in_shape: Floats = change.reshape(m.shape)
        return self._scale * float((m * in_shape * projected(in_shape, m, self._model.margins)).sum())
