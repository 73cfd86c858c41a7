"""Values that the worlds are grouped into, and what is believed of them beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError
from unveil.limits import as_written
from unveil.posterior.chain import Chain
from unveil.posterior.priors import prior_table
from unveil.posterior.setting import Setting
from unveil.posterior.weigh import Question
from unveil.posterior.worlds import Worlds

__all__ = ["make_question"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def make_question(setting: Setting, chain: Chain, worlds: Worlds) -> tuple[Question, Callable[[int], object]]:
    """Values that the worlds are grouped into, and their prior."""
    sizes = {name: len(levels) for name, levels in zip(worlds.unknown, worlds.choices, strict=True)}
    choices = dict(zip(worlds.unknown, worlds.choices, strict=True))
    bins, bin_labels = _bins(setting, chain, choices)
    radix, n_values = {}, 1
    for name in reversed(setting.targets):
        radix[name] = n_values
        n_values *= int(bins[name].max()) + 1
    others = [name for name in worlds.unknown if name not in setting.targets]
    simple = worlds.unknown == setting.targets and not setting.intervals

    def digits(world: Ints) -> dict[str, Ints]:
        found = {}
        for name in reversed(worlds.unknown):
            world, found[name] = np.divmod(world, sizes[name])
        return found

    def value_of(world: Ints) -> Ints:
        if simple:
            return world
        found = digits(world)
        value: Ints = np.zeros_like(world)
        for name in setting.targets:
            value = value + bins[name][found[name]] * radix[name]
        return value

    def label_of(value: int) -> object:
        labels = []
        for name in setting.targets:
            place, value = divmod(value, radix[name])
            labels.append(bin_labels[name](place))
        return labels[0] if len(labels) == 1 else tuple(labels)

    truth = value_of(worlds.truth)
    known_columns = [chain.columns[p] for name in setting.known for p in chain.positions[name]]
    table = prior_table(setting.prior, truth, n_values, setting.known, known_columns)
    counts = {name: np.bincount(chain.original[name], minlength=chain.variables[name].n_levels) for name in others}
    allowed = _allowed(setting, chain, worlds, n_values)
    even = isinstance(setting.prior, str) and setting.prior == "uniform"
    uniform = even and not setting.intervals and allowed is None
    last: dict[str, Any] = {}

    def log_prior(members: Ints, start: int, stop: int) -> Floats:
        if uniform:
            return np.full((members.size, stop - start), -math.log(worlds.size))
        if last.get("members") is not members:
            shares = table(members)
            if allowed is not None:
                shares = np.where(allowed(members), shares, 0.0)
                shares = shares / shares.sum(axis=1)[:, None]
            with np.errstate(divide="ignore"):
                last["log"], last["members"] = np.log(shares), members
        world = np.arange(start, stop)
        found = digits(world)
        log: Floats = last["log"][:, value_of(world)].copy()
        for name in setting.targets:
            within = np.bincount(bins[name])
            log -= np.log(within[bins[name][found[name]]])[None, :]
        for name in others:
            log += _log_of_other(setting, chain, name, choices[name][found[name]], counts[name], members, sizes[name])
        return log

    n = chain.n
    wrong = -math.log(2.0 * n * max(n_values, 2)) if setting.intruder_errors else -math.inf
    return Question(worlds.size, n_values, value_of, worlds.truth, truth, log_prior, wrong), label_of


def _log_of_other(
    setting: Setting,
    chain: Chain,
    name: str,
    levels: NDArray[np.int32],
    counts: Ints,
    members: Ints,
    size: int,
) -> Floats:
    """Prior of an unknown variable that is not asked for."""
    if isinstance(setting.prior, str) and setting.prior == "uniform":
        return np.full((1, levels.size), -math.log(size))
    held = counts[levels][None, :] - (chain.original[name][members][:, None] == levels[None, :])
    log: Floats = np.log((held + 1.0 / size) / chain.n)
    return log


def _allowed(
    setting: Setting, chain: Chain, worlds: Worlds, n_values: int
) -> Callable[[Ints], NDArray[np.bool_]] | None:
    """Values in question by record, where the user named them: these and the truth."""
    if not setting.candidates:
        return None
    named = np.ones(1, dtype=np.bool_)
    for name in setting.targets:
        levels = dict(zip(worlds.unknown, worlds.choices, strict=True))[name]
        own = np.ones(levels.size, dtype=np.bool_)
        if name in setting.candidates:
            own = np.isin(levels, chain.further[name])
        named = (named[:, None] & own[None, :]).reshape(-1)
    if named.all():
        return None
    order = [worlds.unknown.index(name) for name in setting.targets]
    if order != sorted(order):
        raise CallError("candidates of several targets: name the targets in the order of synthesis")

    def allowed(members: Ints) -> NDArray[np.bool_]:
        result = np.tile(named, (members.size, 1))
        truth = np.zeros(members.size, dtype=np.int64)
        for name in setting.targets:
            levels = dict(zip(worlds.unknown, worlds.choices, strict=True))[name]
            truth = truth * levels.size + np.searchsorted(levels, chain.original[name][members])
        result[np.arange(members.size), truth] = True
        return result

    assert named.size == n_values
    return allowed


def _bins(
    setting: Setting, chain: Chain, choices: Mapping[str, NDArray[np.int32]]
) -> tuple[dict[str, Ints], dict[str, Callable[[int], object]]]:
    """By target, the value that each of its choices belongs to, and how values are called."""
    bins: dict[str, Ints] = {}
    labels: dict[str, Callable[[int], object]] = {}
    for name in setting.targets:
        known, levels = chain.level_labels(name), choices[name]
        if not setting.intervals:
            bins[name] = np.arange(levels.size)
            labels[name] = lambda place, known=known, levels=levels: known[levels[place]]  # type: ignore[misc]
            continue
        place = np.full(levels.size, -1, dtype=np.int64)
        called: list[object] = []
        for low, high in setting.intervals:
            inside = [i for i, level in enumerate(levels) if _within(known[level], low, high, name)]
            if inside:
                place[inside] = len(called)
                called.append(f"{low:g} to {high:g}")
        for i in np.flatnonzero(place < 0):
            place[i] = len(called)
            called.append(known[levels[i]])
        bins[name] = place
        labels[name] = called.__getitem__
    return bins, labels


def _within(value: object, low: float, high: float, name: str) -> bool:
    if value is None:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CallError(f"candidates: column {name!r} is not numeric; name values instead of intervals")
    return low <= as_written(value) <= high
