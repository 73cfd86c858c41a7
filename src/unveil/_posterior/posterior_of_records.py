"""From likelihood and prior to the posterior of every record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import RecordOutcomes
from unveil._posterior.likelihood import LikelihoodTerm, WorldLikelihood
from unveil._posterior.outcomes import Outcomes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CELLS = 1 << 20
"""Largest number of worlds of a record that are computed at once; of records with more, no part is told."""
BLOCK_CELLS = 1 << 17
"""Number of record-world pairs that are computed at a time otherwise: small blocks stay near the processor."""
FEW_RECORDS = 256
"""Number of records of a block if each takes long."""
FEW_FITS = 64
"""Number of record-world pairs of a block if something is fitted to each: progress is seen, and little is lost."""
MOST_PROBABILITIES = 5_000_000
"""Largest number of record-value pairs whose posterior is kept."""


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posterior and prior of records.

    Parameters
    ----------
    members : (r,) int64
        The records.
    truth : (r,) int64
        Their values.
    prior, posterior : (r,) float64
        Probability of the truth.
    likeliest : (r,) int64
        Most probable value.
    likeliest_probability : (r,) float64
        Its probability.
    possible_worlds : (r,) int64
        Number of worlds that can have produced the release.
    must_fill : (r,) bool
        Whether some released value can have come from the record alone.
    part : (r,) int64
        Number of the part of the synthesizer that raises the probability of the truth most; -1: none, or not known.
    parts
        Names of the parts.
    probabilities : (r, v) float64 or None
        Posterior of every value; None if there are too many.
    """

    members: Ints
    truth: Ints
    prior: Floats
    posterior: Floats
    likeliest: Ints
    likeliest_probability: Floats
    possible_worlds: Ints
    must_fill: Flags
    part: Ints
    parts: tuple[str, ...]
    probabilities: Floats | None

    @property
    def gain_bits(self) -> Floats:
        """``log2(posterior / prior)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log2(self.posterior / self.prior)

    @property
    def normalised_gain(self) -> Floats:
        """``(posterior - prior) / (1 - prior)``; 0 where the prior is certain."""
        certain = self.prior >= 1
        return np.where(certain, 0.0, (self.posterior - self.prior) / np.where(certain, 1.0, 1.0 - self.prior))

    @classmethod
    def joined(cls, blocks: Sequence[Posteriors]) -> Posteriors:
        """Several blocks of records as one."""

        def joined(name: str) -> Any:
            arrays = [getattr(block, name) for block in blocks]
            return None if any(array is None for array in arrays) else np.concatenate(arrays)

        return cls(parts=blocks[0].parts, **{name: joined(name) for name in _BY_RECORD})

    def taken(self, order: Ints) -> Posteriors:
        """Some of the records, in another order."""

        def taken(array: Any) -> Any:
            return None if array is None else array[order]

        return Posteriors(parts=self.parts, **{name: taken(getattr(self, name)) for name in _BY_RECORD})


_BY_RECORD = tuple(field.name for field in fields(Posteriors) if field.name != "parts")


def block_size(n_worlds: int, slow: bool, *, fits: bool = False) -> int:
    """Largest number of records that are computed together; few worlds if something is fitted to each."""
    size = max(1, (FEW_FITS if fits else BLOCK_CELLS) // max(n_worlds, 1))
    return min(size, FEW_RECORDS) if slow else size


def posteriors_of(
    likelihood: WorldLikelihood, outcomes: Outcomes | RecordOutcomes, members: Ints, *, keep: bool
) -> Posteriors:
    """Posterior of some records.

    ``p(world | release) = prior * exp(log-likelihood) / sum``, over worlds without impossible values.

    Parameters
    ----------
    likelihood
        The likelihood.
    outcomes
        Worlds, values and prior.
    members : (r,) int64
        The records.
    keep
        Whether the probabilities of all values are kept.

    Returns
    -------
    Posteriors
        Figures of the records.
    """
    r = members.size
    rows = np.arange(r)
    mass = np.zeros((r, outcomes.n_values))
    prior_mass = np.zeros((r, outcomes.n_values))
    top = np.full(r, -np.inf)
    possible = np.zeros(r, dtype=np.int64)
    log_cells, log_wrong, n_worlds = outcomes.log_cells(members), outcomes.log_wrong, outcomes.worlds.size
    width = max(1, (CELLS if r * n_worlds <= CELLS else BLOCK_CELLS) // r)
    part = np.full(r, -1, dtype=np.int64)
    parts: tuple[str, ...] = ()
    for start in range(0, n_worlds, width):
        stop = min(start + width, n_worlds)
        log_prior = outcomes.log_prior(members, log_cells, start, stop)
        terms = likelihood.terms(members, start, stop, log_wrong)
        parts = tuple(term.name for term in terms)
        impossible = sum((term.impossible for term in terms), start=np.zeros((r, stop - start), dtype=np.int64))
        log = log_prior + sum((term.log for term in terms), start=np.zeros((r, stop - start)))
        possible += ((impossible == 0) & ~np.isneginf(log_prior)).sum(axis=1)
        log = _penalised(log, impossible, log_wrong)
        if stop - start == n_worlds:
            part = _telling_part(terms, log_prior, outcomes.worlds.truth[members], log_wrong)
        value = outcomes.value_of(np.arange(start, stop))
        rise = np.maximum(top, log.max(axis=1))
        with np.errstate(invalid="ignore"):
            if (rise > top).any():
                mass *= np.where(np.isneginf(top), 0.0, np.exp(top - rise))[:, None]
            weight = np.where(np.isneginf(log), 0.0, np.exp(log - np.where(np.isneginf(rise), 0.0, rise)[:, None]))
        top = rise
        _add_by_value(mass, weight, value)
        _add_by_value(prior_mass, np.exp(log_prior), value)
    total = mass.sum(axis=1)
    # Nothing is learnt where no world is left; the caller has made sure that the truth is one.
    empty = total == 0
    mass[empty] = prior_mass[empty]
    mass /= mass.sum(axis=1)[:, None]
    prior_mass /= prior_mass.sum(axis=1)[:, None]
    truth = outcomes.truth[members]
    likeliest = mass.argmax(axis=1)
    return Posteriors(
        members,
        truth,
        prior_mass[rows, truth],
        mass[rows, truth],
        likeliest,
        mass[rows, likeliest],
        possible,
        likelihood.must_fill(members),
        part,
        parts,
        mass if keep else None,
    )


def _penalised(log: Floats, impossible: Ints, log_wrong: float) -> Floats:
    if np.isneginf(log_wrong):
        return np.where(impossible == 0, log, -np.inf)
    return log + impossible * log_wrong


def _add_by_value(mass: Floats, weight: Floats, value: Ints) -> None:
    """Add the weights of worlds to their values."""
    if mass.shape[1] == weight.shape[1] and (value == np.arange(value.size)).all():
        mass += weight
    elif value.size == 1 or (np.diff(value) == 1).all():
        mass[:, value[0] : value[0] + value.size] += weight
    else:
        for row in range(mass.shape[0]):
            mass[row] += np.bincount(value, weights=weight[row], minlength=mass.shape[1])


def _telling_part(terms: Sequence[LikelihoodTerm], log_prior: Floats, truth: Ints, log_wrong: float) -> Ints:
    """The part at which the probability of the truth rises most, parts taken one after the other."""
    r = log_prior.shape[0]
    rows = np.arange(r)
    best, part = np.full(r, 1e-9), np.full(r, -1, dtype=np.int64)
    log = log_prior.copy()
    before = _log_share(log, rows, truth)
    for i, term in enumerate(terms):
        log = _penalised(log + term.log, term.impossible, log_wrong)
        after = _log_share(log, rows, truth)
        with np.errstate(invalid="ignore"):
            rise = after - before
        rises = rise > best
        best[rises], part[rises] = rise[rises], i
        before = after
    return part


def _log_share(log: Floats, rows: Ints, truth: Ints) -> Floats:
    """Logarithm of the probability of the truth; minus infinity where it, or everything, is ruled out."""
    top = log.max(axis=1)
    top = np.where(np.isneginf(top), 0.0, top)
    own = log[rows, truth]
    share = np.full(own.size, -np.inf)
    left = ~np.isneginf(own)
    share[left] = own[left] - top[left] - np.log(np.exp(log[left] - top[left, None]).sum(axis=1))
    return share
