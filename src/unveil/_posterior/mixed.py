"""Likelihood of a sequence some of whose variables are walked, and the others fitted to every world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import CandidateRecords
from unveil._posterior.likelihood import CartLikelihood, LikelihoodTerm, WorldLikelihood
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.refitted_variables import AS_IT_IS, OtherOriginal, RefittedVariables
from unveil.notes import Note, warn

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


MANY = 100_000
"""Worlds among which those that are alike are counted."""
TOLD_FROM = 120.0
"""Seconds that work may take untold."""


class MixedLikelihood(WorldLikelihood):
    """Likelihood of a sequence, variable by variable.

    Parameters
    ----------
    worlds
        The worlds.
    walked
        The trees that are walked; None if there are none.
    refitted
        The other variables.
    releases
        The releases that are pooled.
    """

    def __init__(
        self,
        worlds: PossibleValues | CandidateRecords,
        walked: CartLikelihood | None,
        refitted: RefittedVariables,
        releases: Sequence[int],
    ):
        self.worlds, self.walked, self.refitted, self.releases = worlds, walked, refitted, list(releases)

    def terms(self, members: Ints, start: int, stop: int, log_wrong: float = -np.inf) -> list[LikelihoodTerm]:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`.

        Trees come first, since a walk costs next to nothing: worlds that they rule out are not fitted.
        """
        shape = members.size, stop - start
        walked = self.walked.terms(members, start, stop) if self.walked else []
        ruled_out = sum((term.impossible for term in walked), start=np.zeros(shape, dtype=np.int64)) > 0
        names = self.refitted.names
        impossible, log = np.zeros((len(names), *shape), dtype=np.int64), np.full((len(names), *shape), np.nan)
        levels = self.worlds.levels_between(start, stop)
        for i, record in enumerate(members.tolist()):
            for w in np.flatnonzero(~ruled_out[i]).tolist():
                as_it_is = start + w == self.worlds.as_it_is
                row = {name: int(own[w]) for name, own in levels.items()}
                self._fit(AS_IT_IS if as_it_is else OtherOriginal(record, row), impossible[:, i, w], log[:, i, w])
        fitted = [LikelihoodTerm(*one) for one in zip(names, impossible, map(_without_gaps, log), strict=True)]
        return self._in_order_of_visit([*zip(self._variables(), walked, strict=True), *zip(names, fitted, strict=True)])

    def must_fill(self, members: Ints) -> Flags:
        """See :class:`unveil._posterior.likelihood.WorldLikelihood`; of a fit it is not known."""
        return self.walked.must_fill(members) if self.walked else np.zeros(members.size, dtype=np.bool_)

    def _fit(self, other: OtherOriginal, impossible: Ints, log: Floats) -> None:
        """Fit one variable after the other, until one rules the world out."""
        for i, name in enumerate(self.refitted.names):
            found = self.refitted.log(name, other)
            impossible[i], log[i] = found[0][self.releases].sum(), found[1][self.releases].sum()
            if impossible[i]:
                return

    def _variables(self) -> list[str]:
        """The variable of each walked part."""
        if self.walked is None:
            return []
        trees = [tree.definition.variable for tree in self.walked.trees]
        return [*trees, *(one.recoding.variable for one in self.walked.recoded)]

    def _in_order_of_visit(self, terms: Sequence[tuple[str, LikelihoodTerm]]) -> list[LikelihoodTerm]:
        place = {name: i for i, name in enumerate(self.refitted.sequence.variables)}
        return [term for _, term in sorted(terms, key=lambda pair: place[pair[0]])]


def _without_gaps(log: Floats) -> Floats:
    """Log-likelihoods with those that were not computed as large as any other of the record.

    Such worlds are ruled out by another part; this one shall neither speak for nor against them.
    """
    largest = np.fmax.reduce(log, axis=1, initial=-np.inf, keepdims=True)
    return np.where(np.isnan(log), np.where(np.isneginf(largest), 0.0, largest), log)


def tell_cost(refitted: RefittedVariables, members: Ints, worlds: PossibleValues | CandidateRecords) -> None:
    """Warn, before it begins, of work that takes long, as far as the first fit of each variable tells."""
    levels = worlds.levels_between(0, min(worlds.size, MANY))
    rounds = -(-worlds.size // MANY)
    fits = {name: refitted.most_fits(name, members, levels) * rounds for name in refitted.names}
    seconds = sum(refitted.seconds[name] * n for name, n in fits.items())
    if seconds > TOLD_FROM:
        text = "name records, candidates, a sample or a time_limit if that is too long"
        about = f"{seconds / 3600:.1f} hours" if seconds > 7200 else f"{seconds / 60:.0f} minutes"
        warn(Note(f"up to {sum(fits.values())} fits, {about} by the first of them: {text}", f"many fits: {text}"))
