"""The likelihood of any synthesizer by simulation: a weak lower bound of the risk.

For record i the count ``z_c`` of the combination that i would have in world c is taken as Poisson: with rate ``own_c``
in world c, and ``other_c`` in all other worlds. Both are means over synthetic files drawn from the synthesizer fitted
to each world; the second is pooled over the worlds. All that other combinations say is lost.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.likelihood import LikelihoodTerm, WorldLikelihood
from unveil._posterior.possible_values import PossibleValues, number_of, place_of_level
from unveil._posterior.refit import Altered, quietly
from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError
from unveil.files import read
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.any_synthesizer import fitted_anew

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RESAMPLES = 200
ALL = "all variables"


def fit_is_random(synthesizer: Any) -> bool:
    """Whether two fits to the same records can differ; a user's class says so by ``draws_in_fit``."""
    if isinstance(synthesizer, CartSynthesizer):
        methods = [step.method for plan in synthesizer.plans for step in plan.steps if step.method is not None]
        return any(getattr(method, "draws_in_fit", True) for method in methods)
    return bool(getattr(getattr(synthesizer, "inner", synthesizer), "draws_in_fit", False))


def fit_with(synthesizer: Any, source: Any, seed: int) -> Any:
    """A fit that depends on the seed, where there is a way to say so."""
    own = copy.copy(synthesizer)
    if hasattr(own, "noise_seed"):
        own.noise_seed = seed
    return fitted_anew(own, source, seed=seed)


class SimulatedLikelihood(WorldLikelihood):
    """Likelihood from simulated counts.

    Parameters
    ----------
    altered
        The worlds as files.
    synthesizer
        The synthesizer.
    sequence
        Codes of the files.
    names
        Released variables.
    releases : sequence of int
        The releases that are pooled.
    replicates
        Synthetic files per world.
    seed
        Seed of the draws.
    """

    def __init__(
        self,
        altered: Altered,
        synthesizer: Any,
        sequence: TreeSequence,
        names: Sequence[str],
        releases: Sequence[int],
        replicates: int,
        seed: int,
    ):
        self.altered, self.synthesizer, self.sequence, self.names = altered, synthesizer, sequence, list(names)
        self.releases, self.replicates, self.seed = list(releases), replicates, seed
        self.errors: dict[int, Floats] = {}
        self.n_worlds = altered.worlds.size
        self.size = altered.pair.n_synthetic[self.releases[0]]

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`."""
        if start != 0 or stop != self.n_worlds:
            raise CallError("there are too many worlds to simulate; name fewer candidates")
        log = np.zeros((members.size, self.n_worlds))
        for i, record in enumerate(members):
            # The same for all records, so that figures do not depend on their numbers.
            rng = np.random.default_rng([self.seed, 7])
            counts = self._simulate(int(record))
            seen = sum(self._counts(int(record), self._released(r)) for r in self.releases)
            assert isinstance(seen, np.ndarray)
            # As many files of the simulated size as there are released records.
            sizes = sum(self.altered.pair.n_synthetic[r] for r in self.releases) / max(self.size, 1)
            log[i] = _log_ratio(counts, seen, sizes)
            resampled = []
            for _ in range(RESAMPLES):
                chosen = rng.integers(self.replicates, size=(self.n_worlds, self.replicates))
                resampled.append(_log_ratio(np.take_along_axis(counts, chosen[:, :, None], axis=1), seen, sizes))
            self.errors[int(record)] = np.array(resampled)
        return [LikelihoodTerm(ALL, np.zeros(log.shape, dtype=np.int64), log)]

    def _simulate(self, record: int) -> Floats:
        """(w, r, w) counts of every world's combination, by world that the file is drawn from, and file."""
        counts = np.zeros((self.n_worlds, self.replicates, self.n_worlds))
        anew = fit_is_random(self.synthesizer)
        for world in range(self.n_worlds):
            source = self.altered.source(record, world)
            fitted = self.synthesizer if anew else quietly(self.synthesizer, source)
            for r in range(self.replicates):
                seed = self.seed + world * self.replicates + r
                if anew:
                    # What a fit draws is not known to the intruder: every file comes from another fit.
                    fitted = fit_with(self.synthesizer, source, seed)
                frame = fitted.sample(self.size, seed=seed)
                source = read(frame, label="a simulated file")
                levels = {}
                for name in self.names:
                    found, unknown = self.sequence.variables[name].read(source)
                    levels[name] = np.where(unknown, -1, found.codes)
                counts[world, r] = self._counts(record, levels)
        return counts

    def _released(self, release: int) -> dict[str, Any]:
        return {name: self.sequence.released[name][release] for name in self.names}

    def _counts(self, record: int, levels: dict[str, Any]) -> Floats:
        """(w,) records with the combination that the record has in each world."""
        worlds = self.altered.worlds
        assert isinstance(worlds, PossibleValues)
        same = np.ones(next(iter(levels.values())).size, dtype=np.bool_)
        for name in self.names:
            if name not in worlds.unknown:
                same &= levels[name] == self.sequence.original[name][record]
        places = []
        for name, choices in zip(worlds.unknown, worlds.choices, strict=True):
            codes = levels[name][same] if name in levels else np.full(int(same.sum()), choices[0])
            # A value that no file has is -1, and finds the last entry.
            places.append(np.append(place_of_level(choices, self.sequence.variables[name].n_levels), -1)[codes])
        world = number_of(places, worlds.sizes)
        return np.bincount(world[world >= 0], minlength=self.n_worlds).astype(np.float64)


def _log_ratio(counts: Floats, seen: Floats, n_releases: float) -> Floats:
    """Log-likelihood of each world up to a constant, from simulated and from released counts."""
    worlds, replicates, _ = counts.shape
    mean = counts.mean(axis=1)
    # Half a record in all replicates: the smallest rate that they can tell from none.
    own = np.maximum(np.diag(mean), 0.5 / replicates)
    other = (mean.sum(axis=0) - np.diag(mean)) / max(worlds - 1, 1)
    other = np.maximum(other, 0.5 / (replicates * max(worlds - 1, 1)))
    result: Floats = seen * np.log(own / other) - n_releases * (own - other)
    return result if worlds > 1 else np.zeros(1)
