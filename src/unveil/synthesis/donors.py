"""Observed values that synthetic records copy, and their look-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.trees import Column

SPARSE = 8
"""Keys per donor and record, beyond which a table of all keys would cost more than a search."""


@dataclass(frozen=True, eq=False)
class Donors:
    """The observed values of a variable, gathered in pools (leaves).

    Parameters
    ----------
    response : Column
        The variable, without its records.
    keys : (m,) int64
        ``pool * n_levels + code`` of every donor, ascending.
    start : (l + 1,) int64
        Donors of pool ``i`` are ``keys[start[i]:start[i + 1]]``.

    Examples
    --------
    >>> donors = Donors.gather(Column(np.array([0, 1, 1, 1]), "categorical", 2), np.array([0, 0, 1, 1]), 2)
    >>> np.exp(donors.log_share(np.array([0, 1]), Column(np.array([1, 1]), "categorical", 2))).tolist()
    [0.5, 1.0]
    """

    response: Column
    keys: NDArray[np.int64]
    start: NDArray[np.int64]

    @classmethod
    def gather(cls, response: Column, pool: NDArray[np.integer], n_pools: int) -> Donors:
        """Gather the records of a variable.

        Parameters
        ----------
        response : Column
            Values of the donors.
        pool : (m,) int
            Pool of every donor.
        n_pools : int
            Number of pools; none is empty.

        Returns
        -------
        Donors
            The pools.
        """
        keys = np.sort(pool.astype(np.int64) * max(response.n_levels, 1) + response.codes)
        start = np.append(0, np.cumsum(np.bincount(pool, minlength=n_pools)))
        return cls(response.without_records(), keys, start)

    @property
    def size(self) -> NDArray[np.int64]:
        """Number of donors by pool."""
        return np.diff(self.start)

    def draw_codes(self, pool: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int32]:
        """Return the code of a donor for every record, drawn uniformly from its pool, with replacement.

        Parameters
        ----------
        pool : (n,) int
            Pool of every record.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        (n,) int32
            Codes of the response.
        """
        first = self.start[pool]
        drawn = self.keys[first + rng.integers(self.start[pool + 1] - first)]
        codes: NDArray[np.int32] = (drawn - pool.astype(np.int64) * self.response.n_levels).astype(np.int32)
        return codes

    def draw(self, pool: NDArray[np.integer], rng: np.random.Generator) -> Column:
        """Return the result of :meth:`draw_codes` as a column."""
        return self.response.with_codes(self.draw_codes(pool, rng))

    def log_share(self, pool: NDArray[np.integer], response: Column) -> NDArray[np.float64]:
        """Return the logarithm of the share of the record's pool that has the record's value.

        Parameters
        ----------
        pool : (n,) int
            Pool of every record.
        response : Column
            Value of every record.

        Returns
        -------
        (n,) float64
            ``-inf`` where no donor has the value.
        """
        with np.errstate(divide="ignore"):
            logarithm: NDArray[np.float64] = np.log(self.count(pool, response)) - np.log(self.size[pool])
        return logarithm

    def share(self, pool: NDArray[np.integer], response: Column) -> NDArray[np.float64]:
        """Return the share of the record's pool that has the record's value; see :meth:`log_share`."""
        share: NDArray[np.float64] = self.count(pool, response) / self.size[pool]
        return share

    @cached_property
    def together(self) -> Donors:
        """All donors in one pool."""
        codes = np.sort(self.keys % max(self.response.n_levels, 1))
        return Donors(self.response, codes, np.array([0, codes.size]))

    def count(self, pool: NDArray[np.integer], response: Column) -> NDArray[np.int64]:
        """Return the number of donors in the record's pool that have the record's value."""
        codes = known_codes(self.response, response)
        key = pool.astype(np.int64) * self.response.n_levels + codes
        count = self._count_of(key)
        count[codes == self.response.n_levels] = 0
        return count

    def _count_of(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) number of donors of each key; of a code that the fit does not know, any number."""
        n_keys = (self.start.size - 1) * self.response.n_levels + 1
        if n_keys <= SPARSE * (self.keys.size + key.size):
            return np.bincount(self.keys, minlength=n_keys)[key]
        return np.searchsorted(self.keys, key, side="right") - np.searchsorted(self.keys, key, side="left")


def known_codes(fitted: Column, column: Column) -> NDArray[np.int32]:
    """Return the codes of a column's values in the levels of the fit.

    Parameters
    ----------
    fitted : Column
        The variable as it was fitted.
    column : Column
        The same variable; a numeric column may have other ``values``.

    Returns
    -------
    (n,) int32
        ``fitted.n_levels`` for values that the fit does not know.
    """
    if fitted.values is None or column.values is None or column.values is fitted.values:
        return np.minimum(column.codes, np.int32(fitted.n_levels))
    place = np.searchsorted(fitted.values, column.values)
    found = np.append(fitted.values, np.nan)[place] == column.values
    codes: NDArray[np.int32] = np.where(found, place, fitted.n_levels).astype(np.int32)[column.codes]
    return codes


def require_records(response: Column, kinds: Sequence[str], method: str, instead: str) -> None:
    """Check that a method can be used for a variable.

    Raises
    ------
    CallError
        If the method cannot model variables of this kind.
    DataError
        If there are no records.
    """
    name = response.name or "response"
    if response.kind not in kinds:
        raise CallError(f"{name}: {method} cannot model {response.kind} variables; use {instead}")
    if response.codes.size == 0:
        raise DataError(f"{name}: no records to fit {method} to")
