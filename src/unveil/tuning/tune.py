"""The most useful settings of a synthesizer for which a policy holds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unveil.assessment.figure import UTILITIES
from unveil.assessment.pareto import pareto
from unveil.assessment.policy import Policy, read_policy
from unveil.assessment.scenario import Options, Scenario
from unveil.checks import check_choice, check_positive, check_whole_numbers
from unveil.columns import Pair
from unveil.columns.checkpoint import Checkpoint, fingerprint
from unveil.errors import CallError, UnveilWarning
from unveil.files import read
from unveil.notes import Note
from unveil.stats import student_half
from unveil.synthesis.record_order import value_order
from unveil.synthesis.seeds import seed_or_secret
from unveil.tuning.measure import Measure, MeasuredSet, said_of
from unveil.tuning.result import InTheWay, Tried, Tuning
from unveil.tuning.rules import over_sets
from unveil.tuning.search import STAGES, Search, ranked, utility_of
from unveil.tuning.setting import Setting, checked_space, drawn_settings, n_possible
from unveil.version import __version__

Progress = Callable[[int, int, str], None]
_WITHOUT_SENSE = {
    "hierarchies": "the releases that are tried are as fine as the original; coarsen the original, and give that file",
    "suppressed": "the releases that are tried hold no suppressed values; leave it out",
} | dict.fromkeys(
    ("unit", "time"), "the synthesizers that are tried draw rows one by one; give a file with one row for each unit"
)  # fmt: skip
"""Options of other measures, and why they are none here."""
_CALLED = {"search": "search", "final": "finalists", "check": "fresh releases of the winner"}


def tune(
    original: Any, keys: str | Sequence[str], *, policy: str | Path | Policy,
    targets: str | Sequence[str] | None = None, utility: str = "mean TVD",
    grid: Mapping[str, Sequence[Any]] | None = None, tries: int = 40, budget: float = 900.0, seed: int | None = None,
    checkpoint: str | Path | None = None, progress: Progress | None = None,
    special_codes: Mapping[str, Any] | None = None, kinds: Mapping[str, Any] | None = None,
    breaks: Mapping[str, Sequence[float]] | None = None, weights: str | None = None, population: float | None = None,
    **options: Any,
) -> Tuning:  # fmt: skip
    """Find the most useful settings of a CART synthesizer for which every rule of a policy holds.

    Each setting makes a set of ``m`` releases, which is measured. The better third makes more sets. The finalists make
    further sets of seeds that were not used before, and these decide. The winner's figures come from yet other sets,
    which took no part in the choice. A rule holds for a setting if it holds in every set, with the unfavourable end of
    the interval.

    Parameters
    ----------
    original
        The file of real records: a frame or a path.
    keys
        What an intruder knows of a person.
    policy
        The limits: a TOML file, or what :func:`unveil.assessment.read_policy` gives.
    targets
        What an intruder wants to know; every other column without it.
    utility
        The distance from the original that is made small: mean TVD, worst pair TVD, S_pMSE, pMSE or SPECKS.
    grid
        Values to try by setting: ``minbucket``, ``cp``, ``collapse``, ``mix``, ``smoothing`` (see
        :class:`unveil.CartSynthesizer`), ``k`` (records of a release), ``m`` (number of releases), ``merge`` (levels of
        the targets that fewer records have are merged). Default: several of all but ``smoothing`` and ``k``.
    tries
        Most settings that are tried, drawn at random among all combinations.
    budget
        Seconds. What was begun is finished.
    seed
        Of settings and releases; by default a secret one. It is confidential where a release that was made with it is
        given away.
    checkpoint
        A folder that keeps what was measured, so that an interrupted search continues where it stopped, and one with
        other limits or more settings takes what is there; it needs a seed.
    progress
        Called with the number of sets that were measured, their likely total, and what is being done.
    special_codes, kinds, breaks, weights, population
        As of :class:`unveil.Pair`; weights are the name of a column.
    options
        Further options of :func:`unveil.assess`, such as ``precision`` (of mean posteriors), ``attacker`` or ``level``.

    Returns
    -------
    Tuning
        The winner, if there is one, and all that was tried.

    Raises
    ------
    CallError
        If an option or column is unknown or out of its range.
    FileError
        If the policy or the checkpoint cannot be read.

    References
    ----------
    Jamieson, K. & Talwalkar, A. (2016). Non-stochastic best arm identification and hyperparameter optimization.
    Proceedings of AISTATS, PMLR 51, 240-248.

    Examples
    --------
    >>> import unveil
    >>> from unveil.assessment import Policy, Threshold
    >>> people = unveil.simulate.demo_population(200, seed=1)
    >>> limits = Policy("at most", "", (Threshold("repU", 40.0),))
    >>> found = unveil.tune(people, ["sex", "region"], policy=limits, targets="depress", seed=1,
    ...                     grid={"minbucket": [5, 60], "m": [1]})
    >>> found.winner.holds, found.n_possible
    (True, 2)
    """
    check_choice("utility", utility, UTILITIES)
    check_whole_numbers(1, tries=tries)
    check_positive(budget=budget)
    if checkpoint is not None and seed is None:
        raise CallError("checkpoint: a search can only be continued with the same seed; give one, and keep it secret")
    space = checked_space(grid)
    rules = policy if isinstance(policy, Policy) else read_policy(policy)
    if not (weights is None or isinstance(weights, str)):
        raise CallError("weights: name the column that holds them")
    secret = seed_or_secret(seed)
    source = read(original)
    reading = {"special_codes": special_codes, "kinds": kinds, "breaks": breaks, "weights": weights,
               "population": population}  # fmt: skip
    asked, pair = _asked(source, keys, targets, options, reading)
    scenario = Scenario.of(pair, asked)
    rules.check(scenario.targets)
    settings = drawn_settings(space, tries, secret % 2**32)
    measure = Measure(pair, replace(asked, targets=scenario.targets), rules, utility, reading)
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(checkpoint, fingerprint(pair, __version__, asked, breaks, population, measure.asked, secret))
    draw = _Drawn(measure, settings, secret, kept, progress or (lambda *_: None), tuple(space))
    search = Search(len(settings), draw, budget).run()
    draw.progress(draw.done, draw.done, "done")
    return _result(search, draw, scenario, space, source.flavour)


def _asked(
    source: Any, keys: Any, targets: Any, options: Mapping[str, Any], reading: Mapping[str, Any]
) -> tuple[Options, Pair]:
    """The options, and the original in the order of its values beside itself."""
    for name in _WITHOUT_SENSE:
        if name in options:
            raise CallError(f"{name}: {_WITHOUT_SENSE[name]}")
    known = [field.name for field in fields(Options) if field.name not in ("keys", "targets", "measures", "budget")]
    for name in options:
        if name not in known:
            raise CallError(f"options: there is no {name!r}; choose from {', '.join(known)}")
    with warnings.catch_warnings():
        # That the original is no release is known here.
        warnings.simplefilter("ignore", UnveilWarning)
        ordered = source.part(value_order(source))
        pair = Pair(ordered, [ordered], **reading)
    return Options(keys, targets=targets, **options), pair


class _Drawn:
    """Draws sets of releases, or takes them from the checkpoint."""

    def __init__(
        self, measure: Measure, settings: Sequence[Setting], seed: int, kept: Checkpoint | None, progress: Progress,
        names: Sequence[str],
    ):  # fmt: skip
        self.measure, self.settings, self.seed, self.kept = measure, settings, seed, kept
        self.progress, self.names, self.done, self.releases = progress, names, 0, 0

    def __call__(self, number: int, stage: str, of_setting: int) -> MeasuredSet:
        setting = self.settings[number]
        words = setting.in_words(self.names)
        self.progress(self.done, max(self.done + 1, 2 * len(self.settings)), f"{_CALLED[stage]}: {words}")
        name = f"{setting!r} {stage} {of_setting}"
        found = None if self.kept is None else self.kept.load(name)
        if found is None:
            seeds = self._seeds(stage, of_setting, setting.m)
            found = {"name": name, **self.measure.figures_of(setting, seeds, whole=stage != "search")}
            if self.kept is not None:
                self.kept.store(found)
        self.done += 1
        self.releases += setting.m
        return self.measure.read(found)

    def _seeds(self, stage: str, of_setting: int, m: int) -> list[int]:
        """Seeds of releases: the same for all settings, so that these differ by what they are, and others by stage."""
        words = np.random.SeedSequence(self.seed, spawn_key=(STAGES.index(stage), of_setting)).generate_state(
            2 * m, np.uint64
        )
        return [int(high) << 64 | int(low) for high, low in words.reshape(m, 2)]


def _result(
    search: Search, draw: _Drawn, scenario: Scenario, space: Mapping[str, tuple[Any, ...]], flavour: Any
) -> Tuning:
    measure = draw.measure
    known: dict[int, list[Any]] = {n: search.known(n) for n in search.sets["search"]}
    best = pareto([(max(one.limit_used for one in sets), utility_of(sets)) for sets in known.values()])
    marked = dict(zip(known, best, strict=True))
    tried = {
        n: _tried(draw.settings[n], "final" if n in search.sets["final"] else "search", known[n], frontier=marked[n])
        for n in ranked(known)
    }
    winner = None
    if search.winner is not None:
        winner = _tried(draw.settings[search.winner], "check", search.sets["check"][search.winner])  # type: ignore[arg-type]
    reasons = tuple(dict.fromkeys(text for sets in known.values() for one in sets for text in one.reasons))
    return Tuning(
        keys=scenario.keys,
        targets=scenario.targets,
        utility=measure.utility,
        policy=measure.policy.label,
        policy_text=measure.policy.text,
        space=space,
        n_possible=n_possible(space),
        tried=tuple(tried.values()),
        winner=winner,
        not_confirmed=tuple(draw.settings[n] for n in search.not_confirmed),
        in_the_way=() if winner or search.interrupted else _in_the_way(list(tried.values())),
        n_sets=draw.done,
        n_releases=draw.releases,
        complete=not search.out_of_time and not search.interrupted,
        interrupted=search.interrupted,
        n_original=measure.pair.n_original,
        minimum_count=scenario.minimum_count,
        warnings=(
            *_unfinished(search, len(draw.settings)),
            *([said_of(reasons)] if reasons else []),
            *_notes(measure.pair, (*scenario.keys, *scenario.targets)),
        ),
        flavour=flavour,
        _shared=measure.of_synthesizer,
    )


def _tried(setting: Setting, stage: str, sets: Sequence[MeasuredSet], *, frontier: bool = False) -> Tried:
    utilities = np.array([one.utility for one in sets])
    mean = float(utilities.mean())
    half = student_half(utilities, 0.95) if utilities.size > 1 else math.nan
    rules = over_sets([one.rules for one in sets])
    used = max(one.limit_used for one in rules)
    return Tried(setting, stage, len(sets), rules, used, mean, mean - half, mean + half, frontier)


def _in_the_way(tried: Sequence[Tried]) -> tuple[InTheWay, ...]:
    """Rules that no setting meets; where each is met by some, those that the nearest setting misses."""
    if not tried:
        return ()
    places = range(len(tried[0].rules))
    nearest = {at: min(tried, key=lambda one: one.rules[at].limit_used) for at in places}
    missed = [at for at in places if nearest[at].rules[at].limit_used > 1]
    if not missed:
        closest = min(tried, key=lambda one: one.limit_used)
        nearest = dict.fromkeys(places, closest)
        missed = [at for at in places if closest.rules[at].limit_used > 1]
    return tuple(
        InTheWay(nearest[at].rules[at], nearest[at].setting, sum(one.rules[at].limit_used <= 1 for one in tried))
        for at in missed
    )


def _notes(pair: Pair, names: Sequence[str]) -> list[str]:
    """What deserves a look in the columns of the original: how they were read and coded."""
    coded = [note for name in names for note in pair.column(name).notes]
    return list(dict.fromkeys([*pair.original.remarks_on(names), *coded, *pair.roles.identifier_notes(names)]))


def _unfinished(search: Search, n: int) -> list[Note]:
    found = []
    if search.interrupted:
        found.append(Note("the search was interrupted; what had been measured is shown"))
    begun = len(search.sets["search"])
    if begun < n:
        found.append(Note(f"{begun} of {n} settings were tried, as the time had passed; a larger budget tries more"))
    elif search.out_of_time:
        found.append(Note("the time had passed before all sets of releases were drawn; a larger budget draws more"))
    return found
