"""A question about records: the worlds, their prior, and the likelihood that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.candidate_records import (
    CandidateRecords,
    RecordOutcomes,
    record_outcomes,
    record_worlds,
)
from unveil._posterior.checked_options import CheckedOptions
from unveil._posterior.closed_form import CatallLikelihood, HistogramLikelihood, Table
from unveil._posterior.fixed import FixedTree
from unveil._posterior.intruder_errors import with_errors
from unveil._posterior.likelihood import CartLikelihood, WorldLikelihood, fit_fixed_trees, trees_concerned
from unveil._posterior.mixed import MixedLikelihood
from unveil._posterior.outcomes import Outcomes, empty_intervals, levels_in_intervals, make_outcomes
from unveil._posterior.possible_values import PossibleValues, make_worlds
from unveil._posterior.recoded import Recoded, recodings_concerned
from unveil._posterior.refit import Altered, DeltaLikelihood, RefitLikelihood
from unveil._posterior.refitted_variables import RefittedVariables
from unveil._posterior.settings_check import SettingsCheck
from unveil._posterior.simulated import SimulatedLikelihood
from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError, DataError
from unveil.notes import Note
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods.coded_synthesizer import SENSITIVITY

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_EXACT = 200_000_000
MOST_FIXED = 20_000_000_000
"""Largest number of record-world pairs."""
MOST_VALUES = 50_000_000
"""Largest number of values whose posterior is held for one record."""


class PosteriorProblem:
    """Options of a call, the worlds, and the kind of their likelihood.

    Parameters
    ----------
    options
        Options of the call.
    sequence
        Codes of the files.
    kind
        "cart", "mixed", "catall", "histogram", "delta", "refit" or "simulated".
    left_out
        Impossible released values by variable.
    texts
        Warnings.
    trees
        The trees of a sequence, with all releases pooled.
    check
        Whether the counts of the releases fit the assumed settings; None if that was not checked.
    refitted
        Variables of a sequence that are fitted to every world.
    """

    def __init__(
        self,
        options: CheckedOptions,
        sequence: TreeSequence,
        kind: str,
        left_out: Mapping[str, int],
        texts: list[str],
        trees: Sequence[FixedTree] = (),
        check: SettingsCheck | None = None,
        refitted: RefittedVariables | None = None,
    ):
        self.options, self.sequence, self.kind = options, sequence, kind
        self.trees = {tree.definition.position: tree for tree in trees}
        self.left_out, self.warnings, self.check, self.refitted = left_out, texts, check, refitted
        intervals = options.targets if options.intervals else ()
        among = {name: _among(sequence, options, name) for name in (*options.candidates, *intervals)}
        self.worlds: PossibleValues | CandidateRecords = (
            make_worlds(sequence, options.unknown, among)
            if options.rows is None
            else record_worlds(sequence, options.unknown)
        )
        self.structures = (
            options.structures if kind == "cart" else (("simulated",) if kind == "simulated" else ("exact",))
        )
        self.outcomes: Outcomes | RecordOutcomes = (
            record_outcomes(sequence, self.worlds, options.prior, options.intruder_errors)
            if isinstance(self.worlds, CandidateRecords)
            else make_outcomes(options, sequence, self.worlds)
        )
        for interval in empty_intervals(options, sequence):
            text = f"no value of the files lies in the interval {interval}; it is left out"
            texts.append(Note(text, "an interval that was asked for holds no value of the files; it is left out"))
        self._simulated: dict[tuple[int, ...], SimulatedLikelihood] = {}
        self._check_size()

    @property
    def likelihood(self) -> str:
        """Kind of the likelihood in words."""
        told = ", given its bootstrap samples" if self.refitted is not None and self.refitted.told else ""
        return {
            "cart": "donor shares of sequential CART",
            "mixed": f"donor shares of sequential CART, other methods fitted to every world{told}",
            "catall": "closed form of the saturated multinomial",
            "histogram": "closed form of the noised histogram",
            "delta": "the synthesizer's own",
            "refit": f"the synthesizer fitted to every world{told}",
            "simulated": f"{self.options.replicates} simulated files per world",
        }[self.kind]

    def slow(self, structure: str) -> bool:
        """Whether every record takes long."""
        return self.kind != "cart" or structure == "exact"

    @property
    def fits_worlds(self) -> bool:
        """Whether something is fitted to every world."""
        return self.kind in ("mixed", "refit", "simulated")

    @property
    def fits_first(self) -> bool:
        """Whether the first record has to wait until trees are fitted."""
        return self.kind == "cart"

    def likelihoods(self, releases: Sequence[int], structure: str) -> list[tuple[WorldLikelihood, Ints]]:
        """Likelihoods, each with the records that it applies to."""
        s = self.options
        if self.kind == "cart":
            if s.intruder_errors:
                return [
                    (self._cart(sequence, releases, structure), own)
                    for sequence, own in with_errors(self.sequence, s.intruder_errors, s.members, s.seed)
                ]
            return [(self._cart(self.sequence, releases, structure), s.members)]
        if self.kind in ("catall", "histogram"):
            return [(self._table(releases), s.members)]
        if self.refitted is not None:
            walked = self._cart(self.sequence, releases, "exact")
            return [(MixedLikelihood(self.worlds, walked, self.refitted, releases), s.members)]
        altered = Altered(s.pair, self.sequence, self.worlds)
        if self.kind == "delta":
            labels = [self.worlds.label(w, self.sequence) for w in range(self.worlds.size)]
            return [(DeltaLikelihood(s.synthesizer, labels), s.members)]
        if self.kind == "refit":
            files = [s.pair.releases[r] for r in releases]
            return [(RefitLikelihood(altered, s.synthesizer, files), s.members)]
        names = [name for name in s.pair.original.names if name not in self.sequence.withheld]
        found = SimulatedLikelihood(altered, s.synthesizer, self.sequence, names, releases, s.replicates, s.seed)
        self._simulated[tuple(releases)] = found
        return [(found, s.members)]

    def largest_mean_gain(self, releases: Sequence[int]) -> float | None:
        """Upper bound of the mean normalised gain, where releases come from bootstrap samples of the original.

        A record is in none of the samples of m releases with a probability of ``q = (1 - 1/n)^(n m)``, whatever its
        values are. The posterior is a mixture over the samples, and equals the prior for those that the record is not
        in; averaged over releases, ``E[(posterior - prior) / (1 - prior)] <= 1 - q``.
        """
        if not is_proper(self.options.synthesizer):
            return None
        n = self.options.pair.n_original
        return 1 - (1 - 1 / n) ** (n * len(releases))

    def monte_carlo_error(self, members: Ints) -> Floats | None:
        """Standard error of the posterior of the truth by record, where it was simulated now; NaN elsewhere."""
        if self.kind != "simulated":
            return None
        errors = np.full(members.size, np.nan)
        simulated = self._simulated.get(self.options.groups[0])
        for i, record in enumerate(members):
            logs = simulated.errors.get(int(record)) if simulated else None
            if logs is None:
                continue
            one, n = members[i : i + 1], self.worlds.size
            logs = logs + self.outcomes.log_prior(one, self.outcomes.log_cells(one), 0, n)
            weight = np.exp(logs - logs.max(axis=1, keepdims=True))
            truth = self.outcomes.value_of(np.arange(n)) == self.outcomes.truth[record]
            errors[i] = float((weight[:, truth].sum(axis=1) / weight.sum(axis=1)).std())
        return errors

    def _cart(self, sequence: TreeSequence, releases: Sequence[int], structure: str) -> CartLikelihood:
        fitted_anew = self.refitted.names if self.refitted else ()
        concerned = [one for one in trees_concerned(sequence, self.worlds.unknown) if one.variable not in fitted_anew]
        if sequence is self.sequence and len(releases) == len(sequence.z):
            trees = [self.trees[definition.position] for definition in concerned]
        else:
            trees = fit_fixed_trees(sequence, concerned, releases)
        if self.options.intruder_errors:
            # An intruder with errors cannot tell which values to leave out.
            trees = [replace(tree, possible=tree.definition.released) for tree in trees]
        exact = structure == "exact"
        recoded = [
            Recoded(sequence, one, releases, exact=exact)
            for one in recodings_concerned(sequence, self.worlds.unknown)
            if one.variable not in fitted_anew
        ]
        return CartLikelihood(sequence, self.worlds, trees, releases, exact=exact, recoded=recoded)

    def _table(self, releases: Sequence[int]) -> WorldLikelihood:
        s, sequence = self.options, self.sequence
        assert isinstance(self.worlds, PossibleValues)
        names = [name for name in s.pair.original.names if name not in sequence.withheld]
        if len(names) < len(s.pair.original.names):
            raise DataError(f"a release lacks column {sequence.withheld[0]!r}; cells need all columns")
        released = [np.concatenate([sequence.released[name][r] for r in releases]) for name in names]
        original = [sequence.original[name] for name in names]
        if self.kind == "catall":
            n_levels = [sequence.variables[name].n_levels for name in names]
            return CatallLikelihood(Table(original, released, n_levels, names, self.worlds), s.synthesizer.prior)
        # The cells are those that were declared, with the levels that nobody has; amounts are told apart by part only.
        public = {column.name: column for column in s.synthesizer.public_columns(s.pair.original)}
        coarse = {name: public[name].table(sequence.variables[name].values) for name in names}
        asked = dict(zip(self.worlds.unknown, self.worlds.choices, strict=True))
        for name, own, seen in zip(names, original, released, strict=True):
            if any((coarse[name][codes] < 0).any() for codes in (own, seen, asked.get(name, own[:0]))):
                raise DataError(f"column {name!r} holds values that are not declared; the assumed synthesizer has none")
        table = Table(
            [coarse[name][own] for name, own in zip(names, original, strict=True)],
            [coarse[name][seen] for name, seen in zip(names, released, strict=True)],
            [public[name].n_levels for name in names], names, self.worlds, coarse,
        )  # fmt: skip
        if len(releases) > 1 and table.n_combinations < 2:
            raise DataError("there is only one cell; nothing is learnt from it")
        scale = SENSITIVITY[s.synthesizer.neighbours] / s.synthesizer.epsilon
        return HistogramLikelihood(table, s.synthesizer.prior, scale)

    def _check_size(self) -> None:
        pairs = self.worlds.size * self.options.members.size
        most = MOST_EXACT if "exact" in self.structures else MOST_FIXED
        if (pairs > most and self.options.time_limit is None) or self.outcomes.n_values > MOST_VALUES:
            raise CallError(
                f"{self.worlds.size} worlds for {self.options.members.size} records are too many for structure "
                f"{self.structures[-1]!r}; name candidates, fewer records, or more that the intruder knows"
            )


def _among(sequence: TreeSequence, options: CheckedOptions, name: str) -> NDArray[np.int32]:
    """Levels in question: the user's candidates in their order, then the truths of the records looked at."""
    named = levels_in_intervals(options, sequence, name) if options.intervals else sequence.further[name]
    given, first = np.unique(named, return_index=True)
    truths = np.setdiff1d(sequence.original[name][options.members], given)
    return np.concatenate([given[np.argsort(first)], truths]).astype(np.int32)


def is_proper(synthesizer: Any) -> bool:
    """Whether every release is drawn from a fit to a bootstrap sample."""
    return isinstance(synthesizer, CartSynthesizer) and synthesizer.proper
