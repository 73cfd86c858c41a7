"""The function :func:`privacy_loss`: how much likelier a release is made with a person than with another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.fresh_releases import is_random
from unveil._intruders.likelihood_ratios import problem_of, ratios_by, told_to, without_rounding
from unveil._intruders.neighbours import drawn_neighbours, neighbours_of, unknown_levels
from unveil._intruders.persons import HALVES, Persons, persons_of
from unveil._intruders.privacy_result import PersonLosses, PrivacyLoss
from unveil._intruders.record_places import refuse_places
from unveil._intruders.simulated_losses import Simulation
from unveil._intruders.whole_records import taken
from unveil._posterior.call import shown_columns
from unveil._posterior.problem import PosteriorProblem
from unveil._posterior.refit import quietly
from unveil._posterior.tree_sequence import TreeSequence, sequence_without_trees
from unveil.checks import as_texts, check_shares, check_whole_numbers, is_number, is_whole_number
from unveil.columns import Pair
from unveil.columns.pair_first import refuse_units
from unveil.errors import CallError
from unveil.files import Source
from unveil.files.opening import open_source
from unveil.notes import Note, warn
from unveil.synthesis.any_synthesizer import as_synthesizer, named
from unveil.synthesis.synthpop import made_otherwise

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]

MOST_PERSONS = 1000
"""Persons that are looked at where it is not said how many."""
LARGEST_DELTA = 0.5
"""The default is no larger."""
RESOLUTION = 3.0
"""A delta below this number over the number of releases cannot be told from 0."""


def privacy_loss(
    files: Any, synthesizer: Any, *, persons: int | Sequence[int] | None = None, candidates: Any = None,
    curves: int = 20, releases: int = 100, delta: float | None = None, by: str | Sequence[str] = (),
    level: float = 0.95, seed: int = 0, progress: Progress | None = None,
) -> PrivacyLoss:  # fmt: skip
    """Measure how far a release tells apart the original and the original with one person replaced.

    For a person with record r and a neighbour r', ``L = log p(Z | D) - log p(Z | D with r' for r)`` is the privacy loss
    of a release Z. Over fresh releases, ``delta(epsilon) = E max(0, 1 - exp(epsilon - L))``, the larger one of releases
    made from D and of releases made from the neighbouring original. Every curve is a lower bound for the synthesizer:
    other neighbours, and other originals, may lose more.

    Parameters
    ----------
    files
        The original; or a pair of the original and its releases, whose loss is then reported too. Fresh releases have
        as many files and records as those of the pair.
    synthesizer
        What makes releases, with its settings: sequential CART, or an object with ``fit``, ``sample`` and ``log_prob``.
        Where the fit is random, as with noise for differential privacy, the likelihood is a mean over as many fits as
        there are releases, and chooses what is counted in further releases.
    persons
        How many persons are drawn at random, or the numbers of their records (from 0); default: all, at most 1000.
    candidates
        Persons who stand in their place, all columns of each: a frame, a file, or a list of mappings. By default they
        are drawn by trees of the original, every value given those before it.
    curves
        Of how many of these persons, drawn at random, fresh releases are made.
    releases
        Number of fresh releases of the original, and as many of every neighbouring original.
    delta
        The delta whose smallest epsilon is reported, from 0 to below 1; default: 5 by the number of releases, at most
        one half.
    by
        Columns whose values make groups of persons.
    level
        Coverage of the Monte-Carlo intervals.
    seed
        Where the draws come from.
    progress
        Called with the number of persons done, their total, and a name.

    Returns
    -------
    PrivacyLoss
        Realised losses, curves, and the smallest epsilon at delta, over persons and groups.

    Raises
    ------
    CallError
        If an option does not fit the data, the synthesizer has no likelihood, or it makes record i of a release of
        record i of the original.
    DataError
        If the synthesizer cannot have made the releases.

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K. & Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
    TCC 2006, 265-284.

    Balle, B. & Wang, Y.-X. (2018). Improving the Gaussian mechanism for differential privacy. ICML 2018, section 3.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(150, seed=1)
    >>> found = unveil.privacy_loss(people, unveil.CartSynthesizer(minbucket=5), persons=5, curves=5, releases=20)
    >>> found.n_curves, found.spreads[1].figure
    (5, 'delta(0.5)')
    """
    refuse_units(files, "privacy_loss")
    check_shares(level=level)
    check_whole_numbers(0, seed=seed, curves=curves)
    check_whole_numbers(1, releases=releases)
    delta = _checked_delta(delta, releases)
    random = np.random.SeedSequence([seed, 41])
    pair, released = _pair_of(files, synthesizer, seed)
    wanted = min(pair.n_original, MOST_PERSONS)
    people = _people(pair, synthesizer, candidates, wanted, seed)
    groups = as_texts("by", by)
    for name in groups:
        pair.original.require(name)
    rng = np.random.default_rng(random.spawn(1)[0])
    members = _members(persons, people, wanted, rng)
    maker = as_synthesizer(people.synthesizer)
    refuse_places(maker, people.pair, "the privacy loss")
    estimated = _is_estimated(quietly(maker, people.pair.original))
    problem = None if estimated else problem_of(people.pair, people.synthesizer, people.others, check_settings=released)
    sequence = _coded(people, maker) if problem is None else problem.sequence
    others, n_twins = neighbours_of(sequence.original, members, sequence.further, rng, people.others.label)
    realised = _realised(problem, people.pair, members, others, progress) if problem and released else None
    chosen = np.sort(rng.permutation(members.size)[:curves])
    simulation = Simulation(people, maker, sequence, members[chosen], others[chosen], estimated=estimated)
    losses, stated = simulation.run(releases, random, progress)
    told: list[str] = [
        *(made_otherwise(pair.releases, maker) if released else ()),
        *(problem.warnings if problem else ()),
        *(unknown_levels(sequence) if candidates is not None else ()),
        *(_on_resolution(delta, releases) if chosen.size and problem else ()),
    ]
    for text in told:
        warn(text)
    read = pair.notes(shown_columns(pair, ()), by_amount=True) if released else ()
    return PrivacyLoss(
        n_original=pair.n_original,
        n_persons=members.size,
        n_curves=chosen.size,
        n_releases=releases,
        sizes=tuple(pair.n_synthetic),
        n_twins=n_twins,
        neighbours="drawn" if candidates is None else "candidates",
        exact=not estimated,
        stated_epsilon=stated,
        delta=float(delta),
        by=groups,
        level=level,
        seed=seed,
        label_original=pair.original.label,
        warnings=tuple(dict.fromkeys([*read, *told])),
        flavour=pair.flavour,
        _persons=PersonLosses(
            people.numbers[members],
            people.other_numbers[others],
            realised,
            chosen,
            losses,
            {name: _values(sequence, name, members) for name in groups},
        ),
    )


def _checked_delta(delta: float | None, releases: int) -> float:
    """The delta that is asked for, or the default."""
    if delta is None:
        return min(5 / releases, LARGEST_DELTA)
    if not (is_number(delta) and 0 <= delta < 1):
        raise CallError(f"delta must be a probability from 0 to below 1, not {delta!r}")
    return delta


def _on_resolution(delta: float, releases: int) -> list[Note]:
    """What is said where releases are too few for a delta."""
    if delta >= min(RESOLUTION / releases, LARGEST_DELTA):
        return []
    return [Note(f"{releases} releases do not tell a delta of {delta:g} from 0; ask for more releases")]


def _people(pair: Pair, synthesizer: Any, candidates: Any, wanted: int, seed: int) -> Persons:
    """The files with the persons who stand in."""
    if isinstance(candidates, str) and candidates == HALVES:
        raise CallError("candidates: give persons who stand in the place of others; halves are for exact membership")
    given = drawn_neighbours(pair, wanted, seed) if candidates is None else candidates
    return persons_of(pair, synthesizer, given, seed)


def _realised(problem: PosteriorProblem, pair: Pair, members: Ints, others: Ints, progress: Progress | None) -> Floats:
    """(q,) losses on the releases at hand."""
    rows = taken(problem.sequence.further, others)
    told = told_to(progress, 0, members.size, "persons")
    return without_rounding(ratios_by(problem, pair, members.size).replaced(members, rows, told))


def _pair_of(files: Any, synthesizer: Any, seed: int) -> tuple[Pair, bool]:
    """The pair, and whether its releases are the user's; otherwise a fresh one stands for its like."""
    if isinstance(files, Pair):
        lacking = [name for name in files.original.names if any(name not in one for one in files.releases)]
        if lacking:
            raise CallError(
                f"a release has no column {lacking[0]!r}: the privacy loss is that of releases of all columns; leave "
                "it out of the original too"
            )
        return files, True
    original = files if isinstance(files, Source) else open_source(files, label="the original")
    fitted = quietly(as_synthesizer(synthesizer), original)
    if not callable(getattr(fitted, "sample", None)):
        raise CallError(f"the privacy loss takes a synthesizer with log_prob and sample; {named(fitted)} has no sample")
    kinds, special = (getattr(synthesizer, name, None) or None for name in ("kinds", "special_codes"))
    return Pair(original, fitted.sample(original.num_rows, seed=seed), kinds=kinds, special_codes=special), False


def _is_estimated(fitted: Any) -> bool:
    """Whether the likelihood is an estimate, as the fit is random."""
    if not is_random(fitted):
        return False
    if not callable(getattr(fitted, "log_prob", None)):
        raise CallError(
            f"the privacy loss takes a synthesizer with log_prob and sample; {named(fitted)} has no log_prob"
        )
    return True


def _members(persons: int | Sequence[int] | None, people: Persons, wanted: int, rng: np.random.Generator) -> Ints:
    """Positions of the persons among the sorted records."""
    if persons is not None and not is_whole_number(persons):
        return people.places_of(persons, "persons")
    count = wanted if persons is None else persons
    check_whole_numbers(1, persons=count)
    return np.sort(rng.permutation(people.numbers.size)[:count]).astype(np.int64)


def _coded(people: Persons, synthesizer: Any) -> TreeSequence:
    """Codes of the original and of the persons who stand in."""
    kinds, special = (dict(getattr(synthesizer, name, None) or {}) for name in ("kinds", "special_codes"))
    return sequence_without_trees(people.pair, people.pair.original.names, kinds, special, {}, (), people.others)


def _values(sequence: TreeSequence, name: str, members: Ints) -> list[object]:
    """Values of a column by person; None for a gap."""
    values = sequence.level_labels(name)
    return [values[code] if code < len(values) else None for code in sequence.original[name][members].tolist()]
