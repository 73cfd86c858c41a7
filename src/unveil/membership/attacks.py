"""The attacks: from records and a release to a score per record; a higher one says member.

Every score of a record is made without the record's own group being used for it: held-out records that serve as a
reference, or to train a classifier, are of other folds than those scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from unveil.membership.distance import UNIT, nearest
from unveil.membership.records import Codes, Records

__all__ = ["ATTACKS", "Attempt", "attack"]

Floats = NDArray[np.float64]

ATTACKS = ("dcr", "density", "classifier")
"""The attacks, from the plainest to the one that is trained."""
_PROBES = 500
_FEWEST = 10


@dataclass(frozen=True)
class Attempt:
    """Scores of one attack.

    Parameters
    ----------
    scores : (n,) float64 or None
        Of members, then of held-out records; None where the attack cannot be made.
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
    records: Records, release: Codes, names: tuple[str, ...], *, neighbours: int, seed: int, n_jobs: int | None
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
    enough = len(records.others) >= _FEWEST and len(records.members) >= _FEWEST
    around = _around(records, release, neighbours, n_jobs, reference=bool(trained) and enough)
    attempts = {}
    for name in names:
        if name == "dcr":
            attempts[name] = Attempt(-around.nearest[:, 0].astype(float))
        elif not enough:
            attempts[name] = Attempt(None, f"needs {_FEWEST} members and {_FEWEST} held-out records")
        elif name == "density":
            attempts[name] = Attempt(around.log_ratio)
        else:
            attempts[name] = Attempt(_classified(records, _features(around), seed))
    return attempts


def _around(records: Records, release: Codes, k: int, n_jobs: int | None, *, reference: bool) -> _Around:
    found = nearest(
        records.space, records.everyone, release, k=k, radius=_radius(records, release, n_jobs), n_jobs=n_jobs
    )
    return _Around(found.distances, found.within, _to_reference(records, n_jobs) if reference else None)


def _radius(records: Records, release: Codes, n_jobs: int | None) -> int:
    """Median distance from a record of the release to the nearest other one."""
    probes = release[np.unique(np.linspace(0, len(release) - 1, min(len(release), _PROBES)).astype(np.intp))]
    found = nearest(records.space, probes, release, k=2, n_jobs=n_jobs)
    return int(np.median(found.distances[:, 1]))


def _to_reference(records: Records, n_jobs: int | None) -> NDArray[np.int64]:
    """Distance of everyone to the nearest held-out record of another fold."""
    distances = np.zeros(len(records.everyone), dtype=np.int64)
    for fold in range(records.folds):
        here = records.fold == fold
        reference = records.others.codes[records.others.fold != fold]
        distances[here] = nearest(records.space, records.everyone[here], reference, n_jobs=n_jobs).distances[:, 0]
    return distances


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


def _classified(records: Records, features: Floats, seed: int) -> Floats:
    """Log odds of being a member, beyond the share of members, of models fitted to the other folds."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    threadpool_limits = import_module("threadpoolctl").threadpool_limits
    scores = np.empty(len(features))
    for fold in range(records.folds):
        here = records.fold == fold
        members = records.is_member[~here]
        model = HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=20, l2_regularization=1.0,
            early_stopping=False, random_state=seed,
        )  # fmt: skip
        # Threads that wait for each other after every small step cost more than they do.
        with threadpool_limits(limits=1, user_api="openmp"):
            model.fit(features[~here], members)
            # Folds differ a little in their share of members; a model that has learnt nothing else must say 0 in each.
            prior = np.log(members.mean() / (~members).mean())
            scores[here] = (model.decision_function(features[here]) - prior).round(9)
    return scores
