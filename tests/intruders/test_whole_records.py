"""Likelihood ratios of whole records against plain fits to the original with a record replaced, taken out or put in."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import unveil
from posterior.brute_force import log_likelihood, with_values
from posterior.random_worlds import mixed, random_world
from unveil._intruders.whole_records import WalkedRecords
from unveil._posterior.checked_options import check_options
from unveil._posterior.choice import make_problem
from unveil.errors import UnveilError, UnveilWarning
from unveil.synthesis import CartSynthesizer


def random_rows(rng, table, size=5):
    """Records of the table with some values of others."""
    n = table.num_rows
    mixed = rng.random((size, table.num_columns)) < 0.3
    places = np.where(mixed, rng.integers(n, size=mixed.shape), rng.integers(n, size=(size, 1)))
    return pa.table({name: table.column(name).take(places[:, i]) for i, name in enumerate(table.column_names)})


def without(table, record):
    return table.take(np.delete(np.arange(table.num_rows), record))


def problem_of(table, releases, settings, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        pair = unveil.Pair(table, releases)
        options = check_options(pair, CartSynthesizer(**settings), candidates=rows, structure="exact", records=[0])
        return pair, make_problem(options, 0.001, thorough=False)


def compared(seed, mix=0.0):
    """How one world was answered, after a look at whether the answer is right."""
    world, rng = random_world(seed), np.random.default_rng([seed, 7])
    if mix:
        world = mixed(world, mix, seed)
    table, settings, names = world.table, world.settings, world.table.column_names
    rows = random_rows(rng, table)
    try:
        _, problem = problem_of(table, world.releases, settings, rows)
    except UnveilError:
        return "refused"
    if problem.kind != "cart":
        return problem.kind
    walked = WalkedRecords(problem.sequence, list(problem.trees.values()))
    members = rng.integers(table.num_rows, size=rows.num_rows)
    levels, told = problem.sequence.further, list[int]()

    def log(changed):
        return log_likelihood(settings, changed, world.releases, names)

    true = log(table)
    replaced = [log(with_values(table, r, row)) for r, row in zip(members, rows.to_pylist(), strict=True)]
    assert walked.replaced(members, levels, told.append) == pytest.approx(true - np.array(replaced), abs=1e-9), seed
    removed = [log(without(table, r)) for r in members]
    assert walked.removed(members, told.append) == pytest.approx(true - np.array(removed), abs=1e-9), seed
    added = [log(pa.concat_tables([table, rows.slice(i, 1)])) for i in range(rows.num_rows)]
    assert walked.added(levels, told.append) == pytest.approx(np.array(added) - true, abs=1e-9), seed
    assert told == sorted(told[: len(told) // 3]) * 3, "in order, each time up to all games"
    assert told[-1] == rows.num_rows
    return "walked"


@pytest.mark.parametrize("mix", [0.1, 1.0])
def test_random_worlds_of_mixed_donors(mix):
    told = Counter(compared(seed, mix) for seed in range(2300, 2312))
    assert told["walked"] >= 8, told


def test_random_worlds():
    told = Counter(compared(seed) for seed in range(2000, 2025))
    assert told["walked"] >= 15, told


@pytest.mark.slow
@pytest.mark.parametrize("begin", [2025, 2125, 2225])
def test_more_random_worlds(begin):
    told = Counter(compared(seed) for seed in range(begin, begin + 100))
    assert told["walked"] >= 60, told
