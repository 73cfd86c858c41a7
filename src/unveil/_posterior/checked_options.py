"""Options of the call, checked against the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from unveil._posterior.candidate_records import are_records, candidate_records
from unveil._posterior.candidates import candidates_by_name
from unveil._posterior.cross_table import flags_of
from unveil._posterior.refit import quietly
from unveil._posterior.tree_sequence import joint_column, of_original
from unveil.checks import as_texts, check_choice, check_whole_numbers
from unveil.columns import Pair
from unveil.errors import CallError, DataError
from unveil.files.nearest import near_matches
from unveil.files.source import Kind, Source
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.any_synthesizer import as_synthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer
from unveil.synthesis.record_order import value_order
from unveil.synthesis.strata import require_no_strata
from unveil.synthesis.variable import EncodedVariable

Ints = NDArray[np.int64]

_LAST_FIT: WeakKeyDictionary[Pair, tuple[Any, Mapping[str, Kind], tuple[str, ...]]] = WeakKeyDictionary()
"""Last fit to a pair's original, and the options under which its codes were compared; forgotten with the pair."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior probabilities given by the user, and what they are conditioned on.

    Parameters
    ----------
    probabilities : (v,) or (n, v) array_like
        By value of the target, in the order of ``PosteriorRisk.values``; one row for all or one per original record.
    given : sequence of str, optional
        The variables that they are conditioned on; None if that is not said.
    """

    probabilities: ArrayLike
    given: Sequence[str] | None = None


PriorChoice = Literal["uniform", "marginal", "conditional"] | Prior | ArrayLike


@dataclass(frozen=True, eq=False)
class CheckedOptions:
    """Options of the call, checked.

    Parameters
    ----------
    pair
        The files.
    synthesizer
        Fitted to the original.
    targets, known, unknown
        Targets; variables that the intruder knows; variables that are not known, targets included, in the order of
        visit.
    candidates
        Values in question by target, without intervals.
    rows
        Candidates that are records; None if there are none.
    intervals
        Intervals of the values of a single numeric target; empty if there are none.
    members
        The records.
    chosen
        How they were chosen, and by what.
    prior
        The prior.
    structures
        "fixed", "exact" or both.
    groups
        Releases that are pooled, by entry of the result.
    intruder_errors
        Number of the intruder's other records that are wrong.
    withheld
        Variables whose released values do not count.
    seed, replicates
        Seed of simulations, samples and the intruder's errors; number of simulated files per world.
    time_limit
        Seconds; None for no limit.
    """

    pair: Pair
    synthesizer: Any
    targets: tuple[str, ...]
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    candidates: Mapping[str, Sequence[Any]]
    rows: Source | None
    intervals: tuple[tuple[float, float], ...]
    members: Ints
    chosen: tuple[str, str]
    prior: PriorChoice
    structures: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    intruder_errors: int
    withheld: tuple[str, ...]
    seed: int
    replicates: int
    time_limit: float | None

    def in_random_order(self) -> Ints:
        """Positions of the records, in a random order that depends on their values and the seed alone."""
        return np.random.default_rng([self.seed, 17]).permutation(_by_value(self.members, self.pair))


def check_options(
    pair: Pair,
    synthesizer: Any,
    *,
    target: str | Sequence[str] | None = None,
    known: Literal["all"] | Sequence[str] = "all",
    candidates: Any = None,
    prior: PriorChoice = "uniform",
    structure: str = "both",
    records: Any = "all",
    sample: int | None = None,
    releases: str = "pooled",
    intruder_errors: int = 0,
    withheld: Iterable[str] = (),
    time_limit: float | None = None,
    seed: int = 0,
    replicates: int = 100,
) -> CheckedOptions:
    """Check the options of :func:`unveil.posterior.posterior`, and fit the synthesizer.

    Raises
    ------
    CallError
        If an option does not fit the data.
    """
    rows = candidate_records(candidates, pair) if are_records(candidates) else None
    if rows is not None:
        if target is not None or known != "all":
            raise CallError("candidates that are records say what is not known: leave target and known out")
        target, candidates = tuple(rows.names), None
    targets = _targets(pair, target)
    knows = _known(pair, known, targets)
    check_choice("structure", structure, ("fixed", "exact", "both"))
    check_choice("releases", releases, ("pooled", "each", "both"))
    check_whole_numbers(0, intruder_errors=intruder_errors, seed=seed)
    check_whole_numbers(1, sample=1 if sample is None else sample)
    check_whole_numbers(2, replicates=replicates)
    if intruder_errors >= pair.n_original:
        raise CallError(f"intruder_errors: the intruder knows only {pair.n_original - 1} other records")
    if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit > 0):
        raise CallError(f"time_limit must be a number of seconds above 0, not {time_limit!r}")
    members, chosen = _members(records, pair)
    if sample is not None and sample < members.size:
        members = np.sort(np.random.default_rng([seed, 13]).permutation(members[_by_value(members, pair)])[:sample])
        chosen = "sampled", f"{sample} at random, seed {seed}" + (f", of those {' '.join(chosen)}" if chosen[1] else "")
    by_name = candidates_by_name(candidates, targets)
    hidden = as_texts("withheld", withheld)
    _check_columns(pair, hidden, "withheld: there is")
    intervals = _intervals(by_name, targets)
    fitted = _fitted(synthesizer, pair, hidden)
    order = (
        [plan.variable.name for plan in fitted.plans] if isinstance(fitted, CartSynthesizer) else pair.original.names
    )
    return CheckedOptions(
        pair,
        fitted,
        targets,
        knows,
        tuple(name for name in order if name not in knows),
        {} if intervals else by_name,
        rows,
        intervals,
        members,
        chosen,
        prior,
        ("fixed", "exact") if structure == "both" else (structure,),
        pooled_groups(releases, pair.n_releases),
        intruder_errors,
        hidden,
        seed,
        replicates,
        time_limit,
    )


def _targets(pair: Pair, target: str | Sequence[str] | None) -> tuple[str, ...]:
    targets = as_texts("target", () if target is None else target)
    if not targets:
        raise CallError("no target given: name the variable that the intruder wants to know")
    _check_columns(pair, targets, f"{pair.original.label} has")
    if len(set(targets)) < len(targets):
        raise CallError("a target is named more than once")
    return targets


def _check_columns(pair: Pair, names: Iterable[str], what: str) -> None:
    for name in names:
        if name not in pair.original.names:
            raise CallError(f"{what} no column {name!r}{near_matches(str(name), pair.original.names)}")


def _known(pair: Pair, known: Literal["all"] | Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    names = pair.original.names
    if isinstance(known, str):
        if known != "all":
            raise CallError(f"known must be 'all' or a list of columns, not {known!r}")
        return tuple(name for name in names if name not in targets)
    known = as_texts("known", known)
    _check_columns(pair, known, f"known: {pair.original.label} has")
    for name in known:
        if name in targets:
            raise CallError(f"column {name!r} cannot be known and the target")
    return tuple(name for name in names if name in set(known))


def _by_value(members: Ints, pair: Pair) -> Ints:
    """Positions of the records in an order that does not depend on the file's, to draw from."""
    rank = np.empty(pair.n_original, dtype=np.int64)
    rank[value_order(pair.original)] = np.arange(pair.n_original)
    return np.argsort(rank[members])


def pooled_groups(releases: str, n: int) -> tuple[tuple[int, ...], ...]:
    """Releases that are pooled, by entry of the result."""
    pooled, each = tuple(range(n)), tuple((r,) for r in range(n))
    if releases == "both" and n > 1:
        return (pooled, *each)
    return each if releases == "each" else (pooled,)


def _intervals(candidates: Mapping[str, Sequence[Any]], targets: Sequence[str]) -> tuple[tuple[float, float], ...]:
    """Candidates that are intervals, in ascending order."""
    pairs = [isinstance(one, tuple | list) and len(one) == 2 for given in candidates.values() for one in given]
    if not any(pairs):
        return ()
    if len(targets) > 1:
        raise CallError("candidates can be intervals of a single numeric target only")
    given = next(iter(candidates.values()))
    if not all(pairs):
        raise CallError("candidates are either values or intervals (low, high), not both")
    try:
        found = sorted((float(low), float(high)) for low, high in given)
    except (TypeError, ValueError):
        raise CallError("candidates: the ends of intervals must be numbers") from None
    for low, high in found:
        if not low <= high:
            raise CallError(f"candidates: the interval ({low}, {high}) is empty")
    for one, other in pairwise(found):
        if other[0] <= one[1]:
            raise CallError(f"candidates: the intervals {one} and {other} overlap; both ends belong to an interval")
    return tuple(found)


def _members(records: Any, pair: Pair) -> tuple[Ints, tuple[str, str]]:
    """The records, and how they were chosen."""
    n = pair.n_original
    if isinstance(records, str):
        if records != "all":
            raise CallError(f"records must be 'all', record numbers, truth values or a result, not {records!r}")
        return np.arange(n, dtype=np.int64), ("all", "")
    chosen = "given", ""
    if hasattr(records, "records"):
        records, name = flags_of(records, range(pair.n_releases), n)
        chosen = "screened", name
    given = np.atleast_1d(np.asarray(records))
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise CallError(f"records: {given.size} truth values for {n} records")
        given = np.flatnonzero(given)
        chosen = chosen if chosen[1] else ("screened", "truth values")
    if given.size == 0:
        raise CallError("records: none is chosen")
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n:
        raise CallError(f"records must be record numbers from 0 to {n - 1}")
    given = given.astype(np.int64)
    if np.bincount(given).max() > 1:
        raise CallError("records: a record is named more than once")
    return given, chosen


def _fitted(synthesizer: Any, pair: Pair, withheld: Sequence[str]) -> Any:
    """The synthesizer, fitted to the pair's original."""
    if not callable(getattr(synthesizer, "fit", None)):
        raise CallError("synthesizer: give an object with fit(frame), such as CartSynthesizer()")
    synthesizer = as_synthesizer(synthesizer)
    if isinstance(synthesizer, CartSynthesizer):
        require_no_strata(synthesizer.by)
    if isinstance(synthesizer, CatallSynthesizer):
        # Noise that was drawn is not known to the intruder, and a fit would draw it again.
        return synthesizer
    if isinstance(synthesizer, CartSynthesizer) and _is_fitted_to(synthesizer, pair, withheld):
        return synthesizer
    if isinstance(synthesizer, CartSynthesizer) and synthesizer.tells_bootstrap:
        raise CallError(
            "bootstrap_known=True: the bootstrap samples are those of one fit; give the synthesizer as it was fitted "
            f"to {pair.original.label}, to all of its records and in their order"
        )
    return quietly(synthesizer, pair.original)


def _is_fitted_to(synthesizer: CartSynthesizer, pair: Pair, withheld: Sequence[str]) -> bool:
    """Whether a sequence was fitted to the records of the original."""
    try:
        plans = synthesizer.plans
    except CallError:
        return False
    kinds = dict(synthesizer.kinds or {})
    last = _LAST_FIT.get(pair)
    if last is None or last[0] is not plans or last[1:] != (kinds, tuple(withheld)):
        variables = [plan.variable for plan in plans]
        if {variable.name for variable in variables} != set(pair.original.names) or not all(
            _is_coded_as(variable, pair, kinds.get(variable.name), withheld) for variable in variables
        ):
            return False
        _LAST_FIT[pair] = plans, kinds, tuple(withheld)
    return True


def _is_coded_as(variable: EncodedVariable, pair: Pair, kind: Kind | None, withheld: Sequence[str]) -> bool:
    """Whether the original holds what a variable was fitted to."""
    name = variable.name
    if (kind or pair.original.variable(name).kind) not in (None, variable.kind):
        return False
    try:
        column = joint_column(pair, name, variable.kind, withheld=name in withheld or name not in pair.names)
        own = of_original(pair, column)
        values = own.values.cast(variable.values.type)
    except (DataError, pa.ArrowException):
        return False
    return values.equals(variable.values) and np.array_equal(own.codes, variable.codes)
