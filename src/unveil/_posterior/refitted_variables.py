"""Likelihood of single variables of a sequence that cannot be walked: each is fitted to another original, in which one
record is replaced, taken out or put in, and no other variable is.

A fit is that of the whole synthesizer to the other original: the same values are coded, the same plan is drawn, and of
the plan only the steps of one variable are fitted. It depends on the values that the record has in the variable, in its
predictors and in the variables of its rules. Originals that are alike in these share a fit.

Forests whose bootstrap samples are known are fitted with the seed of the fit: the same numbers of records are drawn.
Records keep their places then, and which of them differs matters.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError, UnveilWarning
from unveil.files.arrays import from_numpy
from unveil.files.distinct import Distinct
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.encoding import encoded
from unveil.synthesis.fitting import fit_plan
from unveil.synthesis.likelihood import log_by_variable
from unveil.synthesis.method_choice import choose_methods
from unveil.synthesis.plan import Plan
from unveil.synthesis.variable import EncodedVariable, Levels

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FIT = 1
"""Seed of fits none of which is random."""


@dataclass(frozen=True, eq=False)
class OtherOriginal:
    """The original with one record replaced, taken out or put in.

    Parameters
    ----------
    record
        The record that is not in it; None if all are.
    row : mapping of str to int
        Levels of the record that stands in its place, which has those of the other in variables that are not given; or
        of one that is added. None if there is no such record.
    """

    record: int | None = None
    row: Mapping[str, int] | None = None

    def codes(self, name: str, own: Codes) -> Codes:
        """Levels of its records in a variable; the same array as those of the original if nothing differs."""
        if self.row is None:
            return own if self.record is None else np.delete(own, self.record)
        if self.record is None:
            return np.append(own, np.int32(self.row[name]))
        if self.row.get(name, own[self.record]) == own[self.record]:
            return own
        changed = own.copy()
        changed[self.record] = self.row[name]
        return changed

    def in_order(self, order: Ints) -> Ints:
        """Its records in the given order of those of the original, the one that differs last."""
        others = order if self.record is None else order[order != self.record]
        if self.row is None:
            return others if self.record is None else others - (others > self.record)
        return np.append(others, order.size if self.record is None else self.record)

    def levels(self, names: Sequence[str], original: Mapping[str, Codes]) -> tuple[object, object]:
        """Levels of the record that is not in it, and of the one that is, in some variables."""
        own = None if self.record is None else tuple(int(original[name][self.record]) for name in names)
        if self.row is None:
            return own, None
        return own, tuple(int(self.row[n] if n in self.row else original[n][self.record]) for n in names)


AS_IT_IS = OtherOriginal()
"""The original."""


class RefittedVariables:
    """Log-likelihoods of the released values of some variables under fits to other originals.

    Parameters
    ----------
    sequence
        Codes of the files.
    synthesizer
        Fitted to the original.
    names
        The variables, in the order of visit; all have probabilities.
    """

    def __init__(self, sequence: TreeSequence, synthesizer: CartSynthesizer, names: Sequence[str]):
        self.sequence, self.synthesizer, self.names = sequence, synthesizer, tuple(names)
        plans = {plan.variable.name: plan for plan in synthesizer.plans}
        # Of what is withheld a variable may be predicted if it is constant; nothing depends on that.
        self.needed = {
            name: tuple(one for one in _needed(plans[name]) if one not in sequence.withheld) for name in names
        }
        self.seconds: dict[str, float] = {}
        """Time of the first fit by variable."""
        self._original = {name: self._coded(name, codes) for name, codes in sequence.original.items()}
        # Records that are alike are interchangeable in this order, so that no figure depends on that of the file.
        self._order = {
            name: np.lexsort([sequence.original[one] for one in needed]) for name, needed in self.needed.items()
        }
        self._last: tuple[OtherOriginal, tuple[Plan, ...], dict[str, _Coded]] | None = None
        methods, _ = choose_methods([*plans], synthesizer.cart, synthesizer.methods, synthesizer.smoothing)
        self.told = {name for name in names if getattr(methods[name], "bootstrap_known", False)}
        """Variables whose bootstrap samples are known."""
        self._seed = FIT if synthesizer.told_seed is None else synthesizer.told_seed
        self._possible: dict[str, list[Flags]] = {}
        self._found: dict[tuple[object, ...], tuple[Ints, Floats]] = {}
        for name in names:
            began = time.perf_counter()
            logs = self._logs(name, AS_IT_IS)
            self.seconds[name] = time.perf_counter() - began
            self._possible[name] = [~np.isneginf(log) for log in logs]

    def n_impossible(self, name: str) -> int:
        """Number of released values that the fit to the original cannot have drawn; they are left out."""
        return sum(int((~possible).sum()) for possible in self._possible[name])

    def n_released(self, name: str) -> int:
        """Number of released values of a variable."""
        return sum(possible.size for possible in self._possible[name])

    def log(self, name: str, other: OtherOriginal) -> tuple[Ints, Floats]:
        """Impossible values (m,) and log-likelihood (m,) of a variable by release, under a fit to another original.

        Raises
        ------
        CallError
            If bootstrap samples are known, and the other original has more or fewer records.
        """
        if name in self.told and (other.record is None) != (other.row is None):
            raise CallError(
                f"bootstrap_known=True: which records column {name!r} would have been fitted to with one record more "
                "or less is not told by the samples that were drawn; only a record replaced by another can be asked for"
            )
        own, new = other.levels(self.needed[name], self.sequence.original)
        key: tuple[object, ...] = (name, None, None) if own == new else (name, own, new)
        if name in self.told and own != new:
            key = (*key, other.record)
        if key not in self._found:
            logs = self._logs(name, AS_IT_IS if own == new else other)
            self._found[key] = _summed(logs, self._possible[name])
        return self._found[key]

    def most_fits(self, name: str, members: Ints, levels: Mapping[str, Codes]) -> int:
        """Largest number of fits of a variable to originals in each of which one of some records has other levels.

        Parameters
        ----------
        name
            The variable.
        members : (r,) int64
            The records.
        levels : mapping of str to (c,) int32
            The other levels by variable, those of a record together.
        """
        own = [self.sequence.original[one][members] for one in self.needed[name]]
        others = [levels[one] for one in self.needed[name] if one in levels]
        alike = members.size if name in self.told else np.unique(np.stack(own), axis=1).shape[1]
        return int(alike * np.unique(np.stack(others), axis=1).shape[1]) if others else 0

    def _logs(self, name: str, other: OtherOriginal) -> list[Floats]:
        """Per release, the logarithms (n_r,) of the probabilities of a variable's values."""
        plans, coded = self._planned(other)
        (plan,) = (plan for plan in plans if plan.variable.name == name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            records = None if name in self.told else other.in_order(self._order[name])
            fitted = fit_plan(plan, plans, self._seed, (0,), records=records)
        needed = self.needed[name]
        used = [fitted if one is plan else one for one in plans if one.variable.name in needed]
        found = []
        for r in range(len(self.sequence.z)):
            drawn = {one: coded[one].of(self.sequence.released[one][r]) for one in needed}
            found.append(log_by_variable(used, drawn, (name,), self.sequence.released[name][r].size)[name])
        return found

    def _planned(self, other: OtherOriginal) -> tuple[tuple[Plan, ...], dict[str, _Coded]]:
        """What would be fitted to another original; the last one is kept for the next variable."""
        if self._last is None or self._last[0] is not other:
            coded = {}
            for name, own in self.sequence.original.items():
                codes = other.codes(name, own)
                coded[name] = self._original[name] if codes is own else self._coded(name, codes)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnveilWarning)
                plans = self.synthesizer.planned([one.variable for one in coded.values()])
            self._last = other, plans, coded
        return self._last[1:]

    def _coded(self, name: str, codes: Codes) -> _Coded:
        """A column coded as if the file held nothing but records of these levels."""
        common = self.sequence.variables[name]
        held = np.bincount(codes, minlength=len(common.values) + 1) > 0
        place = np.where(held, np.cumsum(held) - 1, -1).astype(np.int32)
        values = common.values.take(from_numpy(np.flatnonzero(held[:-1])))
        special = (self.synthesizer.special_codes or {}).get(name)
        found = Distinct(common.label, name, "empty", values, place[codes])
        variable = encoded(found, common.kind, special, common.declared)
        return _Coded(variable, *variable.placed(place, common.values, np.arange(place.size, dtype=np.int32)))


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column of another original, and what each level of all files is to it.

    Parameters
    ----------
    variable
        The column.
    levels
        Its level by level of all files.
    unknown : (l,) bool
        Whether it cannot be drawn.
    """

    variable: EncodedVariable
    levels: Levels
    unknown: Flags

    def of(self, codes: Codes) -> tuple[Levels, Flags]:
        """Records given by their levels of all files."""
        new = None if self.levels.new is None else self.levels.new[codes]
        return Levels(self.levels.codes[codes], new), self.unknown[codes]


def _needed(plan: Plan) -> tuple[str, ...]:
    """A variable, and those on which its fit depends."""
    return tuple(dict.fromkeys((plan.variable.name, *plan.predictors, *plan.ruled_by)))


def _summed(logs: Sequence[Floats], possible: Sequence[Flags]) -> tuple[Ints, Floats]:
    """Per release, impossible values and log-likelihood of the others, among the values that count."""
    pairs = [(log[counts], np.isneginf(log[counts])) for log, counts in zip(logs, possible, strict=True)]
    return np.array([out.sum() for _, out in pairs]), np.array([log[~out].sum() for log, out in pairs])
