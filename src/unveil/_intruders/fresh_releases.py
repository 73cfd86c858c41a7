"""Fresh releases of a synthesizer that is fitted to an original, and how likely they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._posterior.refit import as_figures, quietly
from unveil._posterior.simulated import fit_is_random, fit_with
from unveil.files import Source
from unveil.files.distinct import distinct_of
from unveil.files.opening import open_source
from unveil.files.source import DerivedColumns
from unveil.synthesis.any_synthesizer import Foreign

Floats = NDArray[np.float64]

STACKED = 500_000
"""Records of releases that are drawn and looked at together."""
LARGEST_SEED = 1 << 31


class Releases(Protocol):
    """Fresh releases; each may consist of several files that are pooled."""

    def log(self, fitted: Any) -> Floats:
        """(b,) logarithm of the probability that a fit gives to each release."""
        ...


@dataclass(frozen=True, eq=False)
class Stacked(Releases):
    """Releases whose records are drawn independently of each other, one behind the other in few files.

    Parameters
    ----------
    files
        The files.
    size
        Number of records of a release.
    alike
        By file, the number of the distinct record that each record is, and the file of distinct records: where many
        fits are asked, each is asked about these. None where few are.
    """

    files: Sequence[Source]
    size: int
    alike: Sequence[tuple[NDArray[np.intp], Source]] | None = None

    def log(self, fitted: Any) -> Floats:
        """See :class:`Releases`."""
        if self.alike is None:
            by_file = [fitted.log_prob(file).records for file in self.files]
        else:
            by_file = [fitted.log_prob(distinct).records[which] for which, distinct in self.alike]
        return np.concatenate([records.reshape(-1, self.size).sum(axis=1) for records in by_file])


@dataclass(frozen=True, eq=False)
class Separate(Releases):
    """Releases of which nothing is known but what their synthesizer says of each file.

    Parameters
    ----------
    releases
        The files of each release.
    """

    releases: Sequence[Sequence[Source]]

    def log(self, fitted: Any) -> Floats:
        """See :class:`Releases`."""
        figures = [[as_figures(fitted.log_prob(file)) for file in files] for files in self.releases]
        return np.array(
            [-np.inf if any(bad for bad, _ in files) else sum(log for _, log in files) for files in figures]
        )


def is_random(synthesizer: Any) -> bool:
    """Whether two fits to the same records differ, so that a fit's likelihood is not that of the synthesizer."""
    return bool(getattr(synthesizer, "is_private", False)) or fit_is_random(synthesizer)


class Maker(Protocol):
    """A synthesizer with the original that it is fitted to, and one of its fits."""

    one_fit: Any

    def draw(self, n: int) -> Releases:
        """Return n fresh releases."""
        ...

    def log(self, releases: Releases) -> Floats:
        """(b,) logarithm of the probability of each release, or its estimate."""
        ...


class FixedMaker(Maker):
    """A synthesizer whose fit follows from the original: the likelihood of a release is exact.

    Parameters
    ----------
    synthesizer
        What is fitted.
    original
        Its records.
    sizes
        Records of each file of a release.
    seed
        Of the releases.
    """

    def __init__(self, synthesizer: Any, original: Source, sizes: Sequence[int], seed: np.random.SeedSequence):
        self.one_fit, self.sizes = quietly(synthesizer, original), tuple(sizes)
        self._seeds = _numbers(seed)

    def draw(self, n: int) -> Releases:
        """See :class:`Maker`."""
        if isinstance(self.one_fit, Foreign):
            return Separate([[_drawn(self.one_fit, k, self._seeds()) for k in self.sizes] for _ in range(n)])
        size = sum(self.sizes)
        together = max(STACKED // size, 1)
        counts = [min(together, n - done) for done in range(0, n, together)]
        return Stacked([_drawn(self.one_fit, size * count, self._seeds()) for count in counts], size)

    def log(self, releases: Releases) -> Floats:
        """See :class:`Maker`."""
        return releases.log(self.one_fit)


class RandomMaker(Maker):
    """A synthesizer whose fit is random: the likelihood is the mean over some fits, others made the releases.

    Parameters
    ----------
    synthesizer, original, sizes, seed
        See :class:`FixedMaker`.
    fits
        Number of fits that the mean is over.
    """

    def __init__(
        self, synthesizer: Any, original: Source, sizes: Sequence[int], seed: np.random.SeedSequence, fits: int
    ):
        self.synthesizer, self.original, self.sizes = synthesizer, original, tuple(sizes)
        self._seeds = _numbers(seed)
        self.fits = [self._fit() for _ in range(fits)]
        self.one_fit = self.fits[0]

    def draw(self, n: int) -> Releases:
        """See :class:`Maker`."""
        releases = []
        for _ in range(n):
            fitted = self._fit()
            releases.append([_drawn(fitted, k, self._seeds()) for k in self.sizes])
        if isinstance(fitted, Foreign):
            return Separate(releases)
        size = sum(self.sizes)
        together = max(STACKED // size, 1)
        parts = [releases[at : at + together] for at in range(0, n, together)]
        stacked = [_stacked([file for files in part for file in files]) for part in parts]
        return Stacked(stacked, size, [_distinct(file) for file in stacked])

    def log(self, releases: Releases) -> Floats:
        """See :class:`Maker`."""
        logs = np.array([releases.log(fitted) for fitted in self.fits])
        top = logs.max(axis=0)
        top[np.isneginf(top)] = 0.0
        with np.errstate(divide="ignore"):
            mean: Floats = top + np.log(np.exp(logs - top).mean(axis=0))
        return mean

    def _fit(self) -> Any:
        return fit_with(self.synthesizer, self.original, self._seeds())


def maker_of(
    synthesizer: Any, original: Source, sizes: Sequence[int], seed: np.random.SeedSequence, fits: int | None
) -> Maker:
    """Return a synthesizer with its original.

    Parameters
    ----------
    synthesizer, original, sizes, seed
        See :class:`FixedMaker`.
    fits
        Number of fits that the likelihood is the mean over; None where it is that of one fit.
    """
    if fits is None:
        return FixedMaker(synthesizer, original, sizes, seed)
    return RandomMaker(synthesizer, original, sizes, seed, fits)


def _drawn(fitted: Any, n: int, seed: int) -> Source:
    made = fitted.sample(n, seed=seed)
    return made if isinstance(made, Source) else open_source(made, label="a fresh release")


def _stacked(files: Sequence[Source]) -> Source:
    """Files of the same columns, one behind the other."""
    first = files[0]
    columns = {
        name: pa.chunked_array([chunk for file in files for chunk in file.column(name).chunks], first.column(name).type)
        for name in first.names
    }
    n = sum(file.num_rows for file in files)
    fetch = DerivedColumns(first, None, columns)
    return replace(first, fetch=fetch, num_rows=n, path=None, form=None, native=None, batches=None)


def _distinct(file: Source) -> tuple[NDArray[np.intp], Source]:
    """The number of the distinct record that each record is, and a file of one record of each kind."""
    which = np.zeros(file.num_rows, dtype=np.int64)
    for name in file.names:
        found = distinct_of(file, name)
        _, which = np.unique(which * (len(found.values) + 1) + found.codes, return_inverse=True)
    _, first = np.unique(which, return_index=True)
    return which, file.part(first)


class _numbers:
    """Seeds one after the other."""

    def __init__(self, seed: np.random.SeedSequence):
        self._rng = np.random.default_rng(seed)

    def __call__(self) -> int:
        return int(self._rng.integers(LARGEST_SEED))
