"""The function :func:`exact_membership`: the strongest intruder who asks who was used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.likelihood_ratios import problem_of, ratios_by, told_to, without_rounding
from unveil._intruders.neighbours import alike, n_twins_of, unknown_levels
from unveil._intruders.persons import persons_of
from unveil._intruders.record_places import refuse_places
from unveil._intruders.result import ExactMembership, Game, Games
from unveil._intruders.whole_records import taken
from unveil._posterior.plausible import LARGEST_IMPOSSIBLE
from unveil.checks import check_choice, check_flags, check_shares, check_whole_numbers
from unveil.columns import Pair
from unveil.columns.pair_first import refuse_units
from unveil.notes import Note, warn
from unveil.stats import score_interval
from unveil.stats.roc import FPRS, RocFigures, auc_interval, delong, hits_at
from unveil.synthesis.any_synthesizer import as_synthesizer
from unveil.synthesis.synthpop import made_otherwise

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def exact_membership(
    pair: Pair, synthesizer: Any, *, candidates: Any = None, game: Game = "swap", records: Any = None,
    sample: int | None = None, withheld: Iterable[str] = (), largest_impossible: float = LARGEST_IMPOSSIBLE,
    check_settings: bool = True, level: float = 0.95, seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> ExactMembership:  # fmt: skip
    """Tell who was used, as well as anybody can who knows the synthesizer and all other records.

    The intruder compares the exact likelihoods of the releases under two originals that differ in one person. By the
    lemma of Neyman and Pearson no other attack of this intruder finds more members at the same share of false alarms.

    Parameters
    ----------
    pair
        The original and its releases; several releases are used together.
    synthesizer
        The synthesizer that made the releases, with its settings; as for :func:`unveil.posterior.posterior`. Trees are
        walked along the person's path; other variables of a sequence, and other synthesizers with ``log_prob``, are
        fitted again for every game.
    candidates
        Persons who were not used: a frame, a file, or a list of mappings; or "halves": the synthesizer is fitted to a
        random half of the original, and the other half was not used. By default the held-out records of the pair.
    game : {"swap", "in_out"}
        Which of two persons was used, one of the original and one who was not; or whether one person was used, the
        original being known but for that person.
    records
        Numbers of the original records (from 0) that the games are about; default: all.
    sample
        Number of persons that are drawn at random from these, and with "in_out" of others too; default: all.
    withheld
        Variables whose released values do not count.
    largest_impossible
        Largest share of released values that may be impossible under the synthesizer; they are left out.
    check_settings
        Whether to test, for sequential CART, if the assumed settings can have drawn the counts of the releases.
    level
        Coverage of the intervals.
    seed
        Where the draws of persons, pairs and halves come from.
    progress
        Called with the number of games done, their total, and a name.

    Returns
    -------
    ExactMembership
        Shares of games won and certain, area under the ROC curve, members found at few false alarms.

    Raises
    ------
    CallError
        If an option does not fit the data, there is nobody who was not used, or the synthesizer makes record i of a
        release of record i of the original.
    DataError
        If the synthesizer cannot have made the releases.

    References
    ----------
    Neyman & Pearson (1933), Philosophical Transactions of the Royal Society A 231, 289-337.

    Examples
    --------
    >>> import unveil
    >>> people, others = (unveil.simulate.demo_population(150, seed=seed) for seed in (1, 2))
    >>> synthesizer = unveil.CartSynthesizer(minbucket=5).fit(people)
    >>> pair = unveil.Pair(people, synthesizer.sample(seed=1))
    >>> found = unveil.exact_membership(pair, synthesizer, candidates=others, sample=20)
    >>> found.n_games, found.share_right > 0.9
    ((20, 0), True)
    """
    refuse_units(pair, "exact_membership")
    check_choice("game", game, ("swap", "in_out"))
    check_shares(level=level)
    check_flags(check_settings=check_settings)
    check_whole_numbers(0, seed=seed)
    check_whole_numbers(1, sample=1 if sample is None else sample)
    persons = persons_of(pair, synthesizer, candidates, seed)
    refuse_places(as_synthesizer(persons.synthesizer), persons.pair, "exact membership")
    problem = problem_of(
        persons.pair, persons.synthesizer, persons.others, withheld, largest_impossible, check_settings
    )
    rows = problem.sequence.further
    drawn = np.random.default_rng([seed, 31])
    asked = np.arange(persons.numbers.size) if records is None else persons.places_of(records, "records")
    members = asked[_drawn(drawn, asked.size, sample)]
    n_others, texts = persons.others.num_rows, list(problem.warnings)
    if persons.source == "candidates":
        texts += unknown_levels(problem.sequence)
    if game == "swap":
        others = _partners(drawn, n_others, members.size)
        if members.size > n_others:
            text = "who were not used are fewer than the members, and are set against several of them"
            texts.append(Note(f"the {n_others} persons {text}", f"persons {text}"))
    else:
        others = _drawn(drawn, n_others, sample)
    n_games = members.size + (others.size if game == "in_out" else 0)
    ratios = ratios_by(problem, persons.pair, n_games)
    if game == "swap":
        found = without_rounding(ratios.replaced(members, taken(rows, others), told_to(progress, 0, n_games)))
        games = Games(persons.numbers[members], persons.other_numbers[others], np.ones(n_games, dtype=np.bool_), found)
        against = -found
    else:
        found = without_rounding(ratios.removed(members, told_to(progress, 0, n_games)))
        against = without_rounding(ratios.added(taken(rows, others), told_to(progress, members.size, n_games)))
        numbers = np.concatenate([persons.numbers[members], persons.other_numbers[others]])
        games = Games(numbers, None, np.arange(n_games) < members.size, np.concatenate([found, against]))
    told = (*made_otherwise(pair.releases, problem.options.synthesizer), *texts)
    for text in told:
        warn(text)
    right, certain = games.right, games.certain.astype(np.float64)
    return ExactMembership(
        game=game,
        others=persons.source,
        n_original=persons.pair.n_original,
        n_others=n_others,
        n_games=(members.size, n_games - members.size),
        n_alike=int(alike(problem.sequence.original, members, rows, others).sum())
        if game == "swap"
        else n_twins_of(problem.sequence.original, taken(rows, others)),
        share_right=_share(games, right),
        share_right_interval=_interval(games, right, level),
        share_certain=_share(games, certain),
        share_certain_interval=_interval(games, certain, level),
        roc=_roc(found, against, paired=game == "swap", level=level, seed=seed),
        likelihood=problem.likelihood,
        left_out=problem.left_out,
        withheld=problem.sequence.withheld,
        labels=persons.pair.labels,
        label_original=persons.pair.original.label,
        label_others=persons.others.label,
        level=level,
        seed=seed,
        warnings=tuple(dict.fromkeys(told)),
        flavour=pair.flavour,
        _games=games,
    )


def _drawn(rng: np.random.Generator, n: int, sample: int | None) -> Ints:
    """Numbers of all records, or of some drawn at random."""
    chosen = rng.permutation(n)[: n if sample is None else sample]
    return np.sort(chosen).astype(np.int64)


def _partners(rng: np.random.Generator, n: int, wanted: int) -> Ints:
    """Numbers of the persons that members are set against; everyone is taken before anyone is taken again."""
    rounds = [rng.permutation(n) for _ in range(-(-wanted // n))]
    return np.concatenate(rounds)[:wanted].astype(np.int64)


def _groups(games: Games, values: Floats) -> list[Floats]:
    """Values of members, and of others where there are games about them."""
    return [group for group in (values[games.member], values[~games.member]) if group.size]


def _share(games: Games, values: Floats) -> float:
    """Mean over the games; persons who were used and who were not count alike as a group."""
    return float(np.mean([group.mean() for group in _groups(games, values)]))


def _interval(games: Games, values: Floats, level: float) -> tuple[float, float]:
    groups = _groups(games, values)
    variance = sum(float(group.var()) / group.size for group in groups) / len(groups) ** 2
    return score_interval(_share(games, values), variance, values.size, level)


def _roc(members: Floats, others: Floats, *, paired: bool, level: float, seed: int) -> RocFigures:
    """Figures of the log ratio as a score.

    A swap is one game, and its ratio is that of the member and, with the other sign, that of the other person: both
    terms of DeLong's variance are then the same, and not independent, so that their sum doubles.
    """
    n, m = members.size, others.size
    auc, variance = delong(members, others)
    counts = (max(n // 2, 1), max(m // 2, 1)) if paired else (n, m)
    hits = [hits_at(fpr, members, others, level=level, seed=np.random.SeedSequence([seed, 37])) for fpr in FPRS]
    return RocFigures(
        auc,
        auc_interval(auc, 2 * variance if paired else variance, *counts, level),
        tuple(value for value, _ in hits),
        tuple(ends for _, ends in hits),
        (n, m),
    )
