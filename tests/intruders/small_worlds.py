"""Small files, questions about them, and the posterior of their unknown values by plain enumeration."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa

import unveil
from unveil._intruders.knowledge import unknown_persons
from unveil._intruders.unknown_sets import Question
from unveil._posterior.checked_options import check_options
from unveil._posterior.choice import make_problem
from unveil.errors import UnveilWarning


def small_file(n, seed, levels=3):
    """Columns that depend on each other: a, b, the target y, and c, which is drawn last."""
    rng = np.random.default_rng([seed, 5])
    a = rng.integers(0, 3, n)
    y = (a + rng.integers(0, levels, n) * (rng.random(n) < 0.6)) % levels
    texts = {"a": a, "b": rng.integers(0, 2, n), "y": y, "c": (y + (rng.random(n) < 0.3)) % levels}
    return pa.table({name: [f"{name}{value}" for value in values] for name, values in texts.items()})


def asked(table, release, settings, target="y", structure="splits", **options):
    """A question, and the synthesizer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        synthesizer = unveil.CartSynthesizer(**settings).fit(table)
        pair = unveil.Pair(table, release)
        name = "fixed" if structure == "splits" else "exact"
        checked = check_options(pair, synthesizer, target=target, structure=name, **options)
        problem = make_problem(checked, 0.001, thorough=False)
    return Question(problem, structure, 200, 200, 0.01)


def worlds_of(question):
    """Levels of the unknown columns by world."""
    return [dict(zip(question.problem.worlds.unknown, levels, strict=True)) for levels in
            zip(*question.problem.worlds.levels().values(), strict=True)]  # fmt: skip


def log_of_counts(tree, sequence, codes):
    """Logarithm of the probability of what a tree with these splits draws, the records having some codes."""
    definition, log = tree.definition, 0.0
    predictors = [codes[p] for p in definition.predictors]
    leaf = tree.tree.apply(predictors) if predictors else np.zeros(sequence.n, np.int32)
    response = codes[definition.position]
    cells = Counter(zip(leaf.tolist(), response.tolist(), strict=True))
    leaves = Counter(leaf.tolist())
    for z in sequence.z:
        own = [z[p] for p in definition.predictors]
        size = z[definition.position].size
        drawn = tree.tree.apply(own) if own else np.zeros(size, np.int32)
        for at, value in zip(drawn.tolist(), z[definition.position].tolist(), strict=True):
            if not cells[at, value]:
                return -math.inf
            log += math.log(cells[at, value] / leaves[at])
    return log


def by_enumeration(question, members, log_of_state=None):
    """(u, c) posterior of the worlds of some unknown persons, from all states one after the other.

    Columns of the file have one part each. ``log_of_state`` takes the codes of all records by position.
    """
    sequence, worlds = question.problem.sequence, worlds_of(question)
    prior = unknown_persons(question.problem, members).log_prior
    if log_of_state is None:

        def log_of_state(codes):
            return sum(log_of_counts(tree, sequence, codes) for tree in question.trees)

    found, weights = [], []
    for state in product(range(len(worlds)), repeat=members.size):
        codes = {p: column.codes.copy() for p, column in sequence.columns.items()}
        for member, world in zip(members, state, strict=True):
            for name, level in worlds[world].items():
                codes[sequence.positions[name][0]][member] = level
        found.append(state)
        weights.append(log_of_state(codes) + sum(prior[i, w] for i, w in enumerate(state)))
    weight = np.exp(np.array(weights) - max(weights))
    weight /= weight.sum()
    states = np.array(found)
    return np.stack([[weight[states[:, i] == w].sum() for w in range(len(worlds))] for i in range(members.size)])
