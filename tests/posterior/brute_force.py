"""The posterior by brute force: a fit by the public synthesizer for every value that a record may have."""

from __future__ import annotations

import datetime
import math
import warnings

import numpy as np
import pyarrow as pa

from unveil.errors import UnveilWarning
from unveil.synthesis import CartSynthesizer
from unveil.trees import Column, Settings, grow

DAY = datetime.date(2001, 1, 1)
RARELY = 0.15


def fitted(settings, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return CartSynthesizer(**settings).fit(table)


def with_values(table, record, values):
    """The table with some values of a record replaced."""
    for name, value in values.items():
        column = table.column(name).to_pylist()
        column[record] = value
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(column, table.column(name).type))
    return table


def log_likelihood(settings, table, releases, concerned):
    """Logarithm of the probability of what the releases say of some variables; minus infinity where it is impossible.

    Other variables are modelled in another way where theirs has no probabilities: that changes nothing for these.
    """
    settings = {name: value for name, value in settings.items() if name != "smoothing"}
    methods = settings.get("methods", {})
    if isinstance(methods, dict):
        others = {name: "sample" for name in methods if name not in concerned}
        settings["methods"] = methods | others
    fit = fitted(settings, table)
    return sum(fit.log_prob(release).variables[name] for release in releases for name in concerned)


def concerned_by(settings, names, unknown):
    """Variables that are unknown, or may be predicted by unknown ones, or ruled by them."""
    order = settings.get("visit_order", names)
    found = []
    for i, name in enumerate(order):
        predictors = settings.get("predictors", {}).get(name, order[:i])
        ruled = any(other in text for text, _ in settings.get("rules", {}).get(name, []) for other in unknown)
        if name in unknown or ruled or set(predictors) & set(unknown):
            found.append(name)
    return found


def levels_of(name, table, releases, candidates=()):
    """Distinct values of all files and candidates, ascending, a gap last."""
    values = {value for one in (table, *releases) for value in one.column(name).to_pylist()} | set(candidates)
    return sorted(values - {None}) + [None] * (None in values)


def parts_of(values, special):
    """A known variable as trees see it: one column, or which special value it has and the number."""
    kept = [value for value in values if value is not None and value not in special]
    if isinstance(values[0], str) or any(isinstance(value, str | bool) for value in kept) or not kept:
        levels = sorted({value for value in values if value is not None})
        codes = [levels.index(value) if value is not None else len(levels) for value in values]
        return [Column(np.array(codes, np.int32), "categorical", len(levels) + 1)]
    numbers = [(v - DAY).days if isinstance(v, datetime.date) else v for v in values]
    if len(kept) == len(values):
        return [Column.from_values(numbers)]
    others = sorted({v for v in values if v is not None and v in special}) + [None] * (None in values)
    which = [others.index(v) if v is None or v in special else len(others) for v in values]
    return [
        Column(np.array(which, np.int32), "categorical", len(others) + 1),
        Column.from_values([0.0 if w < len(others) else v for v, w in zip(numbers, which, strict=True)]),
    ]


def conditional_shares(target, known, special):
    """By record, share of every value among the records of four other folds that fall into the same leaf."""
    levels = sorted({v for v in target if v is not None}) + [None] * (None in target)
    truth = np.array([levels.index(value) for value in target])
    columns = [part for name, values in known.items() for part in parts_of(values, special.get(name, ()))]
    order = np.lexsort(np.stack([truth, *(column.codes for column in columns)]))
    fold = np.empty(truth.size, int)
    fold[order] = np.arange(truth.size) % 5
    shares = [{} for _ in target]
    few = len(levels) <= 50
    response = Column(truth.astype(np.int32), "categorical", len(levels)) if few else Column.from_values(truth)
    for out in range(5):
        inside = np.flatnonzero(fold != out)
        tree = grow(response, columns, Settings(minbucket=20, collapse=False), rows=inside)
        leaf = tree.apply([column.codes for column in columns]) if columns else np.zeros(truth.size, int)
        for record in np.flatnonzero(fold == out):
            mates = [truth[i] for i in inside if leaf[i] == leaf[record]]
            shares[record] = {level: mates.count(i) / len(mates) for i, level in enumerate(levels)}
    return shares


def prior_of(kind, values, world, record, name):
    """Prior of some values of one record, not yet normalised."""
    if kind == "uniform":
        return [1.0] * len(values)
    if isinstance(kind, list):
        return [kind[world.named.index(value)] for value in values]
    target = world.table.column(name).to_pylist()
    n, size = len(target), len(levels_of(name, world.table, world.releases, world.candidates or ()))
    others = target[:record] + target[record + 1 :]
    marginal = [(others.count(value) + 1 / size) / n for value in values]
    if kind == "marginal":
        return marginal
    known = {c: world.table.column(c).to_pylist() for c in world.table.column_names if c in world.known}
    share = conditional_shares(target, known, world.settings.get("special_codes", {}))[record]
    return [0.95 * share.get(value, 0.0) + 0.05 * m for value, m in zip(values, marginal, strict=True)]


def posterior_of(world, record):
    """Posterior by value of the target, the other unknown variables summed over with their marginal."""
    name = world.target
    truth = world.table.column(name)[record].as_py()
    values = list(dict.fromkeys(world.candidates or levels_of(name, world.table, world.releases)))
    values += [] if truth in values else [truth]
    prior = np.array(prior_of(world.prior, values, world, record, name))
    prior /= prior.sum()
    concerned = concerned_by(world.settings, world.table.column_names, [name, *world.hidden])
    log = []
    for value, share in zip(values, prior, strict=True):
        for rest, weight in combinations(world, record):
            changed = with_values(world.table, record, {name: value} | rest)
            one = log_likelihood(world.settings, changed, world.releases, concerned) if share > 0 else -math.inf
            log.append((value, one + math.log(share * weight) if share > 0 else -math.inf))
    top = max(one for _, one in log)
    mass = dict.fromkeys(values, 0.0)
    for value, one in log:
        mass[value] += math.exp(one - top)
    total = sum(mass.values())
    return dict(zip(values, prior, strict=True)), {value: m / total for value, m in mass.items()}


def combinations(world, record):
    """Values of the variables that are neither known nor asked for, with their prior."""
    found = [({}, 1.0)]
    for name in world.hidden:
        levels = levels_of(name, world.table, world.releases)
        column = world.table.column(name).to_pylist()
        others = column[:record] + column[record + 1 :]
        n, k = len(column), len(levels)
        weights = [1 / k if world.prior == "uniform" else (others.count(v) + 1 / k) / n for v in levels]
        found = [(rest | {name: v}, w * u) for rest, w in found for v, u in zip(levels, weights, strict=True)]
    return found
