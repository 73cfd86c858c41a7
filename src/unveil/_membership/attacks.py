"""The attacks: from records and a release to a score per record; a higher one says member.

Half of the held-out records stand for the population, and with half of the members they train the classifier; what has
been used so is not scored by it. Taking turns would not do: two held-out records that are each other's nearest share a
distance that no member shares, and models of different folds err together, so that intervals would be too short.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from unveil._membership.distance import UNIT, nearest
from unveil._membership.records import AttackedRecords, Codes

Floats = NDArray[np.float64]

ATTACKS = ("dcr", "density", "classifier")
"""The attacks, from the plainest to the one that is trained."""
_PROBES = 500
_FEWEST = 20


@dataclass(frozen=True)
class Attempt:
    """Scores of one attack.

    Parameters
    ----------
    scores : (n,) float64 or None
        Of members, then of held-out records, NaN for those not scored; None where the attack cannot be made.
    undefined
        Why it cannot.
    """

    scores: Floats | None
    undefined: str = ""


@dataclass(frozen=True)
class _Around:
    """What lies around everyone: the release's nearest records, and the nearest reference records."""

    nearest: NDArray[np.int64]
    within: NDArray[np.int64]
    reference: NDArray[np.int64] | None

    @property
    def log_ratio(self) -> Floats:
        assert self.reference is not None
        # One step of the distance keeps the ratio finite where a record is repeated.
        ratio: Floats = np.log((self.reference + 1) / (self.nearest[:, 0] + 1))
        return ratio


def attack(
    records: AttackedRecords, release: Codes, names: tuple[str, ...], *, neighbours: int, seed: int, n_jobs: int | None
) -> dict[str, Attempt]:
    """Make the attacks on one release, or on several put together.

    Parameters
    ----------
    records
        Whom to attack.
    release : (n_r, p) int32
        Codes of the release.
    names
        Which of :data:`ATTACKS`.
    neighbours
        Number of nearest records that the classifier sees.
    seed
        Seed of the classifier.
    n_jobs
        Number of threads; all by default.
    """
    if not len(release):
        return dict.fromkeys(names, Attempt(None, "the release has no records"))
    trained = set(names) & {"density", "classifier"}
    enough = min(len(records.members), len(records.others)) >= _FEWEST
    around = _around(records, release, neighbours, n_jobs, reference=bool(trained) and enough)
    attempts = {}
    for name in names:
        if name == "dcr":
            attempts[name] = Attempt(-around.nearest[:, 0].astype(float))
        elif not enough:
            attempts[name] = Attempt(None, f"needs {_FEWEST} members and {_FEWEST} held-out records")
        elif name == "density":
            attempts[name] = Attempt(np.where(records.in_reference, np.nan, around.log_ratio))
        else:
            attempts[name] = Attempt(_classified(records, _features(around), seed))
    return attempts


def _around(records: AttackedRecords, release: Codes, k: int, n_jobs: int | None, *, reference: bool) -> _Around:
    found = nearest(
        records.space, records.everyone, release, k=k, radius=_radius(records, release, n_jobs), n_jobs=n_jobs
    )
    if not reference:
        return _Around(found.distances, found.within, None)
    population = nearest(records.space, records.everyone, records.reference, k=2, n_jobs=n_jobs).distances
    # The nearest record of one that is itself in the reference is itself.
    return _Around(found.distances, found.within, np.where(records.in_reference, population[:, 1], population[:, 0]))


def _radius(records: AttackedRecords, release: Codes, n_jobs: int | None) -> int:
    """Median distance from a record of the release to the nearest other one."""
    probes = release[np.unique(np.linspace(0, len(release) - 1, min(len(release), _PROBES)).astype(np.intp))]
    found = nearest(records.space, probes, release, k=2, n_jobs=n_jobs)
    return int(np.median(found.distances[:, 1]))


def _features(around: _Around) -> Floats:
    """What the classifier sees of a record: (n, k + 5)."""
    assert around.reference is not None
    return np.column_stack(
        [
            around.nearest / UNIT,
            around.nearest.mean(axis=1) / UNIT,
            around.nearest[:, 0] == 0,
            np.log1p(around.within),
            around.reference / UNIT,
            around.log_ratio,
        ]
    ).astype(np.float64)


def _classified(records: AttackedRecords, features: Floats, seed: int) -> Floats:
    """Log odds of being a member, of a model fitted to the records set apart."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=20, l2_regularization=1.0,
        early_stopping=False, random_state=seed,
    )  # fmt: skip
    scores = np.full(len(features), np.nan)
    # Threads that wait for each other after every small step cost more than they do.
    with import_module("threadpoolctl").threadpool_limits(limits=1, user_api="openmp"):
        model.fit(features[records.apart], records.is_member[records.apart])
        scores[~records.apart] = model.decision_function(features[~records.apart])
    return scores
