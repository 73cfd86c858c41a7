"""What an intruder knows before the release: which records, which values are in question, and how likely they are.

Nothing here comes from the unknown persons: values in question are those of the known records and of the releases, and
priors are those of the known records or of the user.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.persons import quiet_pair
from unveil._intruders.states import UnknownPersons
from unveil._posterior.candidate_records import are_records, candidate_records
from unveil._posterior.outcomes import Outcomes
from unveil._posterior.possible_values import PossibleValues
from unveil._posterior.priors import MOST_CLASSES, PRIOR_BUCKET, SHARE_OF_MARGINAL
from unveil._posterior.problem import PosteriorProblem
from unveil.columns import Pair
from unveil.errors import CallError, UnveilWarning
from unveil.trees import Column, Settings, grow

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LABEL = "the known records"
"""What messages call known records that have no name."""


def random_sets(
    persons: Ints, n: int, size: int, rng: np.random.Generator, *, drawn: bool = False
) -> Iterator[tuple[Ints, Ints]]:
    """Put each person into one random set of unknown persons.

    Parameters
    ----------
    persons : (p,) int64
        Persons who are asked about.
    n, size
        Numbers of records, and of the members of a set.
    rng
        Random numbers.
    drawn
        Whether the persons were themselves drawn at random from all records. Then they fill a set together, which
        takes fewer sets.

    Yields
    ------
    members, asked
        The members of a set, and those of them who are asked about and were in none before. For each of these the
        other members are a random sample of all other records.
    """
    order = rng.permutation(n)
    wanted = np.zeros(n, dtype=np.bool_)
    wanted[persons] = True
    if drawn:
        order = order[np.argsort(~wanted[order], kind="stable")]
    for start in range(0, n, size):
        own = order[start : start + size]
        asked = np.sort(own[wanted[own]])
        if asked.size:
            others = np.delete(order, np.s_[start : start + size])
            more = rng.permutation(others)[: size - own.size]
            yield np.sort(np.concatenate([own, more])), asked


def unknown_records(pair: Pair, given: Any, persons: Ints | None) -> Ints:
    """Records of the original that are not among the known ones.

    Parameters
    ----------
    pair
        The files.
    given
        The known records: a frame, a file, or a list of mappings.
    persons
        Records that are asked about; of equal records these are unknown rather than others.

    Raises
    ------
    CallError
        If there are no rows, a row is not a record of the original, or nobody who is asked about is unknown.
    """
    listed = isinstance(given, list | tuple)
    rows = candidate_records(given, pair, "records_known", LABEL) if listed else given
    file = pair.with_files([rows], LABEL).releases[-1]
    if not file.num_rows:
        raise CallError(f"records_known: there are no records in {file.label}; 0 is for an intruder who knows none")
    for name in pair.original.names:
        if name not in file:
            raise CallError(
                f"records_known: there is no column {name!r} in {file.label}: a known record is known in full"
            )
    both = quiet_pair(pair, pair.original, [file])
    with warnings.catch_warnings():
        # What no record has is an error here, and more than a warning.
        warnings.simplefilter("ignore", UnveilWarning)
        columns = [both.column(name) for name in pair.original.names]
    codes = [np.stack([column.original for column in columns]), np.stack([one.releases[0] for one in columns])]
    _, key = np.unique(np.concatenate(codes, axis=1), axis=1, return_inverse=True)
    own, known = key.reshape(-1)[: pair.n_original], key.reshape(-1)[pair.n_original :]
    left, unknown = np.bincount(known, minlength=key.max() + 1), np.ones(pair.n_original, dtype=np.bool_)
    first = np.ones(pair.n_original, dtype=np.int64)
    first[np.zeros(0, dtype=np.int64) if persons is None else persons] = 2
    for record in np.argsort(first, kind="stable"):
        if left[own[record]]:
            left[own[record]] -= 1
            unknown[record] = False
    for row in range(known.size):
        if left[known[row]]:
            raise CallError(
                f"records_known: row {row} of {file.label} is not a record of {pair.original.label}, or stands there "
                "more often than in it"
            )
    if persons is not None and not unknown[persons].all():
        record = int(persons[~unknown[persons]][0])
        raise CallError(f"records_known: record {record}, which is asked about, is among the known records")
    if not unknown.any():
        raise CallError("records_known: all records are known; nobody is left to ask about")
    return np.flatnonzero(unknown).astype(np.int64)


def is_frame_of_records(records_known: Any) -> bool:
    """Whether the known records are given themselves, and not as a share."""
    return are_records(records_known) or isinstance(records_known, str) or hasattr(records_known, "__fspath__")


def unknown_persons(problem: PosteriorProblem, members: Ints) -> UnknownPersons:
    """The unknown persons with their prior.

    Parameters
    ----------
    problem
        The question.
    members : (u,) int64
        The persons; all others are known.

    Raises
    ------
    CallError
        If the prior leaves a person no value, or needs known records and there are none.
    """
    sequence, worlds = problem.sequence, problem.worlds
    assert isinstance(worlds, PossibleValues)
    known = np.ones(sequence.n, dtype=np.bool_)
    known[members] = False
    log = np.where(_in_question(problem, known), _log_prior(problem, members, known), -np.inf)
    top = log.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise CallError("the prior rules out every value that the known records and the releases hold")
    log = log - top - np.log(np.exp(log - top).sum(axis=1, keepdims=True))
    names = [name for name in sequence.variables if name not in worlds.unknown]
    seen = [sequence.original[name][members] for name in names]
    _, prior = np.unique(log, axis=0, return_inverse=True)
    table = np.stack([prior.reshape(-1), *seen], axis=1)
    _, alike = np.unique(table, axis=0, return_inverse=True)
    return UnknownPersons(members, log, worlds.truth[members], alike.reshape(-1))


def _in_question(problem: PosteriorProblem, known: Flags) -> Flags:
    """(c,) worlds whose values a known record or a release holds."""
    assert isinstance(problem.worlds, PossibleValues)
    found = np.ones(problem.worlds.size, dtype=np.bool_)
    for name, levels in problem.worlds.levels().items():
        held = np.zeros(problem.sequence.variables[name].n_levels, dtype=np.bool_)
        for codes in (problem.sequence.original[name][known], *problem.sequence.released[name]):
            held[codes] = True
        if not held.any():
            raise CallError(
                f"no known record and no release holds a value of {name!r}: nobody knows what is in question"
            )
        found &= held[levels]
    return found


def _log_prior(problem: PosteriorProblem, members: Ints, known: Flags) -> Floats:
    """(u, c) logarithms of the prior up to a constant by person."""
    prior, outcomes, size = problem.options.prior, problem.outcomes, problem.worlds.size
    assert isinstance(outcomes, Outcomes)
    if isinstance(prior, str) and prior == "uniform":
        return np.zeros((members.size, size))
    if not isinstance(prior, str):
        cells = outcomes.log_cells(members)
        return np.asarray(outcomes.log_prior(members, cells, 0, size))
    if not known.any():
        raise CallError(f"prior {prior!r}: no record is known to take it from; use 'uniform', or give probabilities")
    cell = outcomes.cell_of(np.arange(size))
    truth = outcomes.truth_cell
    n_cells = int(max(cell.max(), truth.max())) + 1
    shares = _marginal(truth[known], n_cells, problem.options.targets, problem)[None, :]
    if prior == "conditional":
        shares = (1 - SHARE_OF_MARGINAL) * _conditional(problem, members, known, n_cells) + SHARE_OF_MARGINAL * shares
    with np.errstate(divide="ignore"):
        log: Floats = np.log(shares)[:, cell]
    assert isinstance(problem.worlds, PossibleValues)
    for name, levels in problem.worlds.levels().items():
        if name not in problem.options.targets:
            codes, n_levels = problem.sequence.original[name], problem.sequence.variables[name].n_levels
            log = log + np.log(_marginal(codes[known], n_levels, (name,), problem))[levels]
    return np.broadcast_to(log, (members.size, size))


def _marginal(codes: NDArray[Any], n: int, names: tuple[str, ...], problem: PosteriorProblem) -> Floats:
    """(n,) shares among the known records; what none of them has stays possible."""
    everything = math.prod(problem.sequence.variables[name].n_levels for name in names)
    counts = np.bincount(codes, minlength=n)
    return np.asarray((counts + 1.0 / everything) / (codes.size + 1))


def _conditional(problem: PosteriorProblem, members: Ints, known: Flags, n_cells: int) -> Floats:
    """(u, cells) shares in the leaf of a tree that is fitted to the known records."""
    sequence, outcomes = problem.sequence, problem.outcomes
    assert isinstance(outcomes, Outcomes)
    truth = outcomes.truth_cell
    columns = [sequence.columns[p] for name in problem.options.known for p in sequence.positions[name]]
    rows = np.flatnonzero(known)
    held = np.unique(truth[known])
    code = np.searchsorted(held, truth).clip(max=held.size - 1)
    response = (
        Column(code.astype(np.int32), "categorical", held.size)
        if held.size <= MOST_CLASSES
        else Column.from_values(code.astype(np.float64))
    )
    tree = grow(response, columns, Settings(minbucket=PRIOR_BUCKET, collapse=False), rows=rows)
    counts = np.zeros((tree.n_leaves, n_cells))
    np.add.at(counts, (np.repeat(np.arange(tree.n_leaves), np.diff(tree.leaf_start)), truth[tree.donors]), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    leaf = tree.apply([c.codes[members] for c in columns]) if columns else np.zeros(members.size, dtype=np.int32)
    return np.asarray(shares[leaf])
