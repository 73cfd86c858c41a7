"""The function :func:`partial_knowledge`: an intruder who knows only a part of the other records."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.knowledge import is_frame_of_records, random_sets, unknown_records
from unveil._intruders.partial_checkpoint import PartialCheckpoint, SetFound
from unveil._intruders.partial_result import KnowledgePoint, OfPersons, PartialKnowledge, Structure
from unveil._intruders.persons import sorted_pair
from unveil._intruders.unknown_sets import Budget, Question
from unveil._posterior.call import shown_columns
from unveil._posterior.checked_options import PriorChoice, check_options
from unveil._posterior.choice import make_problem
from unveil._posterior.fingerprint import fingerprint
from unveil._posterior.plausible import LARGEST_IMPOSSIBLE
from unveil._posterior.priors import reordered
from unveil._posterior.problem import PosteriorProblem
from unveil._posterior.run import work_out
from unveil._posterior.summary import exact_mean
from unveil.checks import check_choice, check_flags, check_positive, check_whole_numbers, is_number
from unveil.columns import Pair
from unveil.columns.pair_first import refuse_units
from unveil.errors import CallError, UnveilWarning
from unveil.limits import exceeds
from unveil.notes import warn
from unveil.synthesis.synthpop import made_otherwise

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]
Drawn = tuple[Ints, Ints]
"""Members of a set of unknown persons, and those of them who are asked about."""

LARGEST_NOT_MIXED = 0.01
"""Largest share of persons that may not have mixed."""
KNOWN_SHARES = (1.0, 0.99, 0.95, 0.9, 0.5, 0.0)


def partial_knowledge(
    pair: Pair,
    synthesizer: Any,
    *,
    target: str | Sequence[str],
    records_known: Any = KNOWN_SHARES,
    structure: Structure = "splits",
    known: Literal["all"] | Sequence[str] = "all",
    persons: Any = "all",
    sample: int | None = None,
    prior: PriorChoice = "uniform",
    withheld: Iterable[str] = (),
    sets: int = 2,
    sweeps: int = 200,
    most_sweeps: int = 3200,
    budget: float = 3600.0,
    largest_impossible: float = LARGEST_IMPOSSIBLE,
    check_settings: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> PartialKnowledge:
    """Compute what an intruder learns about a person who knows only a part of the other records.

    Some records are known in full. Of all other persons, the person in question among them, the intruder knows the
    ``known`` columns, and has a prior for the others:

    ``p(values of all unknown persons | Z)`` is proportional to ``p(Z | D(values)) p(values)``.

    The posterior of one person is a margin of it. Where states are few they are enumerated; otherwise Markov chains
    draw them, and the posterior is the mean of the conditional probabilities.

    Parameters
    ----------
    pair
        The original and its releases; several releases are used together.
    synthesizer
        The sequential CART that made the releases, with its settings; as for :func:`unveil.posterior.posterior`.
    target
        The variable, or the variables, whose value the intruder wants to know.
    records_known
        Share of the other records that is known in full, from 0 to 1, or several shares. For each share, every person
        is put into random sets of unknown persons. Or the known records themselves: a frame, a file, or a list of
        mappings; all other records are then unknown.
    structure : {"splits", "exact"}
        "exact": the trees follow the unknown values; for tens of unknown persons, or few cells. "splits": the intruder
        was told the splits of all trees, as fitted to the true original, and donor counts follow the unknown values.
        This is not a calibrated posterior: the splits tell of the truth beyond the counts.
    known : "all" or sequence of str
        What the intruder knows about the unknown persons: all other variables, or some.
    persons : "all", indices, truth values or a result
        The records that are asked about; by default all that are unknown.
    sample
        Number of records that are drawn at random from these; default: all of them.
    prior : {"uniform", "marginal", "conditional"}, Prior or array
        As for :func:`unveil.posterior.posterior`, but taken from the known records alone. Values in question are those
        that known records or releases hold; another true value has probability 0.
    withheld
        Variables whose released values do not count.
    sets
        Number of random sets of unknown persons that each person is put into.
    sweeps, most_sweeps
        Sweeps of each of four chains. They are doubled up to the second number until 99 percent of the persons have
        mixed.
    budget
        Seconds. A call that will take longer is refused, and chains that have not mixed by then give no figure.
    largest_impossible
        Largest share of released values that may be impossible under the synthesizer; they are left out.
    check_settings
        Whether to test if the assumed settings can have drawn the counts of the releases.
    seed
        Where sets and draws come from.
    progress
        Called with the number of persons done, their total, and a name; also from other threads, one at a time.
    checkpoint
        File with finished sets, so that a run that was interrupted continues where it stopped. It is confidential, only
        its owner can read it, and it is removed when all is done.

    Returns
    -------
    PartialKnowledge
        Per share known the mean posterior of the truth, the share of persons above .9, and whether the chains have
        mixed. Where more than 1 percent of the persons have not mixed there is no figure.

    Raises
    ------
    CallError
        If an option does not fit the data, or the budget does not suffice.
    DataError
        If the synthesizer cannot have made the releases, or the checkpoint belongs to another run.
    FileError
        If the checkpoint is damaged, is another kind of file, or cannot be written.

    References
    ----------
    Reiter, Wang & Zhang (2014), Journal of Privacy and Confidentiality 6 (1), for the intruder who knows all others.
    Gelfand & Smith (1990), Journal of the American Statistical Association 85, 398-409, for means of conditional
    probabilities. Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16, 667-718, for R-hat.

    Examples
    --------
    >>> import unveil
    >>> people = unveil.simulate.demo_population(150, seed=1)
    >>> synthesizer = unveil.CartSynthesizer(minbucket=5).fit(people)
    >>> pair = unveil.Pair(people, synthesizer.sample(seed=1))
    >>> found = unveil.partial_knowledge(pair, synthesizer, target="depress", records_known=[1, 0.5])
    >>> [(point.share_known, point.n_unknown) for point in found.points]
    [(1.0, 1), (0.5, 75)]
    >>> found.points[0].mean_posterior > found.points[1].mean_posterior
    True
    """
    refuse_units(pair, "partial_knowledge")
    check_choice("structure", structure, ("splits", "exact"))
    check_flags(check_settings=check_settings)
    check_whole_numbers(0, seed=seed)
    check_whole_numbers(1, sets=sets)
    check_whole_numbers(40, sweeps=sweeps, most_sweeps=most_sweeps)
    check_positive(budget=budget)
    by_share = not is_frame_of_records(records_known)
    shares = _shares(records_known) if by_share else ()
    asks: dict[str, Any] = {
        "target": target, "known": known, "structure": {"splits": "fixed", "exact": "exact"}[structure],
        "withheld": withheld, "seed": seed,
    }  # fmt: skip
    everybody = isinstance(persons, str) and persons == "all"
    unknown = None
    if not by_share:
        given = None if everybody else check_options(pair, synthesizer, records=persons, **asks).members
        unknown = unknown_records(pair, records_known, given)
        persons = unknown if everybody else persons
    given_options = check_options(pair, synthesizer, records=persons, sample=sample, prior=prior, **asks)
    in_order, order = sorted_pair(pair)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    asked = np.sort(place[given_options.members])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        options = check_options(
            in_order, given_options.synthesizer, records=asked, prior=reordered(prior, order), **asks
        )
        problem = make_problem(options, largest_impossible, thorough=check_settings)
    question = Question(problem, structure, sweeps, most_sweeps, LARGEST_NOT_MIXED)
    told = (*made_otherwise(pair.releases, options.synthesizer), *problem.warnings)
    n = pair.n_original
    if unknown is None:
        sizes = [max(1, round((1 - share) * n)) for share in shares]
        at_random = everybody and sample is not None
        drawn = [_drawn_sets(asked, n, size, sets, seed, at_random=at_random) for size in sizes]
    else:
        sizes, shares = [unknown.size], (1 - unknown.size / n,)
        drawn = [[(np.sort(place[unknown]), asked)]]
    run = repr((fingerprint(options, problem.sequence), structure, sets, sweeps, most_sweeps, drawn))
    finished = PartialCheckpoint(checkpoint, run)
    total = sum(asked.size if size == 1 else _work(own) for size, own in zip(sizes, drawn, strict=True))
    work = Budget(budget, total, sum(max(len(own), 1) for own in drawn), progress)
    points, of_persons = [], []
    try:
        for share, size, own in zip(shares, sizes, drawn, strict=True):
            work.name = f"{100 * share:.4g} % known"
            if size == 1:
                found = [_all_known(problem, asked)]
                work.finish(asked.size)
            else:
                found = _of_sets(question, own, size, seed, work, finished)
            point, persons_found = _summed_up(found, own if size > 1 else [(asked, asked)], share, size, asked)
            points.append(point)
            of_persons.append(persons_found.numbered(order.astype(np.int64)))
    finally:
        finished.write()
    finished.remove()
    told = (*told, *_refused(points))
    for text in told:
        warn(text)
    columns = shown_columns(pair, problem.sequence.withheld)
    return PartialKnowledge(
        target=options.targets,
        known=options.known,
        structure=structure,
        points=tuple(points),
        n_original=n,
        n_persons=asked.size,
        n_values=problem.outcomes.n_values,
        prior=prior if isinstance(prior, str) else "given",
        labels=pair.labels,
        left_out=problem.left_out,
        withheld=problem.sequence.withheld,
        seed=seed,
        warnings=tuple(dict.fromkeys([*pair.notes(columns, by_amount=True), *told])),
        flavour=pair.flavour,
        _persons=tuple(of_persons),
    )


def _shares(given: Any) -> tuple[float, ...]:
    """Shares of known records, the largest first."""
    several = tuple(np.atleast_1d(given).tolist()) if isinstance(given, np.ndarray) else given
    several = tuple(several) if isinstance(several, list | tuple) else (several,)
    for share in several:
        if not is_number(share) or not 0 <= share <= 1:
            raise CallError(f"records_known must be shares from 0 to 1, or the known records, not {share!r}")
    if not several:
        raise CallError("records_known: no share is given")
    return tuple(sorted({float(share) for share in several}, reverse=True))


def _drawn_sets(asked: Ints, n: int, size: int, sets: int, seed: int, *, at_random: bool) -> list[Drawn]:
    """Sets of unknown persons, who may be drawn at random; where all records are unknown there is one set."""
    if size == 1:
        return []
    found: list[Drawn] = []
    for number in range(sets if size < n else 1):
        found += random_sets(asked, n, size, np.random.default_rng([seed, 43, size, number]), drawn=at_random)
    return found


def _work(sets: Sequence[Drawn]) -> int:
    return sum(members.size for members, _ in sets)


def _all_known(problem: PosteriorProblem, asked: Ints) -> SetFound:
    """The posterior of the intruder who knows all other records."""
    structure = problem.structures[0]
    found = work_out(problem, problem.options.groups, ("",))[0][structure].taken(np.arange(asked.size))
    nothing = [math.nan] * asked.size
    return SetFound(found.prior.tolist(), found.posterior.tolist(), [True] * asked.size, nothing, 0.0, 0.0, 0, 0)


def _of_sets(
    question: Question, sets: Sequence[Drawn], size: int, seed: int, work: Budget, finished: PartialCheckpoint
) -> list[SetFound]:
    """What is found for each set; taken from the checkpoint where an earlier run has done it."""
    found = []
    for number, (members, asked) in enumerate(sets):
        key = f"{size}/{number}"
        one = finished.found.get(key)
        if one is None:
            one = question.answer(members, asked, np.random.SeedSequence([seed, 47, size, number]), work)
            finished.store(key, one)
            work.finish(members.size)
        else:
            work.finish(members.size, skipped=True)
        found.append(one)
    return found


def _summed_up(
    found: Sequence[SetFound], sets: Sequence[Drawn], share: float, size: int, asked: Ints
) -> tuple[KnowledgePoint, OfPersons]:
    """Figures over all persons, and of each of them."""
    values: dict[int, list[tuple[float, ...]]] = {}
    for one, (_, own) in zip(found, sets, strict=True):
        for person, *of_person in zip(own.tolist(), one.prior, one.posterior, one.mixed, strict=True):
            values.setdefault(person, []).append(tuple(of_person))
    table = np.array([values[person] for person in asked.tolist()], dtype=np.float64)
    prior, posterior, mixed = (table[:, :, i] for i in range(3))
    n_sets = posterior.shape[1]
    spread = posterior.std(axis=1, ddof=1) if n_sets > 1 else np.full(asked.size, np.nan)
    persons = OfPersons(asked, prior.mean(axis=1), posterior.mean(axis=1), spread, mixed.min(axis=1) > 0)
    weights = np.array([members.size for members, _ in sets], dtype=np.float64)
    everybody = float(np.average([one.not_mixed for one in found], weights=weights))
    not_mixed = max(everybody, float(1 - persons.mixed.mean()))
    refused = exceeds(not_mixed, LARGEST_NOT_MIXED, unit=0.0)
    part = np.array([own.size for _, own in sets]) / (n_sets * asked.size)
    error = math.sqrt(math.fsum((np.array([one.error for one in found]) * part) ** 2))
    effective = np.array([value for one in found for value in one.effective])
    drawn = any(one.sweeps for one in found)
    point = KnowledgePoint(
        share_known=share,
        n_unknown=size,
        n_sets=n_sets,
        method="posterior" if size == 1 else "chains" if drawn else "enumeration",
        mean_prior=exact_mean(persons.prior),
        mean_posterior=math.nan if refused else exact_mean(persons.posterior),
        monte_carlo_error=math.nan if refused else error,
        spread=math.nan if refused else float(np.sqrt(np.mean(spread**2))),
        share_above_90=math.nan if refused else float(exceeds(persons.posterior, 0.9).mean()),
        share_not_mixed=not_mixed,
        sweeps=sum(one.sweeps for one in found),
        kept=sum(one.kept for one in found),
        effective=float(np.nanmedian(effective)) if np.isfinite(effective).any() else math.nan,
    )
    return point, persons


def _refused(points: Sequence[KnowledgePoint]) -> list[str]:
    """What is said of shares without a figure."""
    texts = []
    for point in points:
        known = f"{100 * point.share_known:.4g} % known"
        if point.refused and point.sweeps:
            texts.append(
                f"{known}: {100 * point.share_not_mixed:.1f} % of the persons have not mixed after {point.sweeps} "
                "sweeps of all chains and sets, and there is no figure; allow more sweeps (most_sweeps, budget), or "
                "ask for another share"
            )
        elif point.refused:
            texts.append(f"{known}: nothing that this prior allows can have given the release, and there is no figure")
    return texts
