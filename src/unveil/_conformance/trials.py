"""The constructed worlds. How a world was built tells what the intruder learns in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil._conformance.simple_synthesizers import Blind, CellMixture, LevelCombinations, learnt
from unveil._conformance.world import Trial, World
from unveil.simulate import latner_population
from unveil.simulate.latner import VARIABLES
from unveil.synthesis import CartSynthesizer

Ints = NDArray[np.int64]
Rng = np.random.Generator

N = 64
KEYS, TARGET = ("place", "age"), "ill"
SPACE = LevelCombinations({
    "place": [f"place {i}" for i in range(8)],
    "age": [f"{5 * i} to {5 * i + 4}" for i in range(16)],
    "ill": ["no", "yes"],
})  # fmt: skip
"""256 cells: 128 combinations of keys, and a binary target."""
CROWDED = np.arange(8)
RARE = 16 + np.arange(64)
EMPTY = 127
"""Combinations of keys that many persons share, that few or none have, and one where nobody lives."""
BITS = LevelCombinations(dict.fromkeys(VARIABLES, ("0", "1")))
NOISE = (0.0, 0.3, 0.6, 1.0)
LENGTHS = {"a quarter of the records": 16, "as many records": 64, "4 times": 256, "16 times": 1024}


# ------------------------------------------------------------------------------------------- building blocks
def population(rng: Rng, crowded: float = 0.5, n: int = N, ill: float = 0.5) -> Ints:
    """Persons (n,) by cell: a share of them in eight crowded combinations, the others in 64; the target by coin."""
    keys = np.where(rng.random(n) < crowded, rng.choice(CROWDED, n), rng.choice(RARE, n))
    return 2 * keys + (rng.random(n) < ill)


def world(
    label: str, original: Ints, releases: Sequence[Ints], synthesizer: CellMixture | Blind, holdout: Ints,
    records: Sequence[int] | None = None, gain: float | None = None,
) -> World:  # fmt: skip
    """A world of the population; the gain by formula unless it is given."""
    chosen = tuple(range(original.size)) if records is None else tuple(records)
    if gain is None:
        blind = isinstance(synthesizer, Blind) or synthesizer.overwritten is not None
        noise = 1.0 if isinstance(synthesizer, Blind) else synthesizer.noise
        pooled = np.concatenate(list(releases))
        gain = 0.0 if blind else learnt(original, pooled, chosen, SPACE.size, noise)
    return World(label, SPACE.table(original), tuple(SPACE.table(one) for one in releases), synthesizer, KEYS, TARGET,
                 chosen, gain, SPACE.table(holdout))  # fmt: skip


# ------------------------------------------------------------------------------------------- D1, detection
def certain_in_a_crowd(rng: Rng) -> list[World]:
    """Latner's record 1111: the first three variables are everybody's, and 1111 can have come from nobody else."""
    return [_latner(rng, "1111 is released")]


def _latner(rng: Rng, label: str) -> World:
    original = latner_population(1000, rng)
    fitted = CartSynthesizer().fit(original)
    while True:
        release = fitted.sample(seed=int(rng.integers(2**31)))
        if all_ones(release).any():
            break
    return World(label, original, (release,), CartSynthesizer(), VARIABLES[:3], VARIABLES[3], (999,), 1.0,
                 latner_population(1001, rng).slice(0, 1000))  # fmt: skip


def all_ones(table: pa.Table) -> NDArray[np.bool_]:
    """(n,) whether a record is 1111."""
    ones: NDArray[np.bool_] = np.all([table.column(name).to_numpy() == 1 for name in VARIABLES], axis=0)
    return ones


def certain_alone(rng: Rng) -> list[World]:
    """A person with keys that nobody has, drawn at least once by a synthesizer that only ever repeats records."""
    original = np.append(population(rng, n=N - 1), 2 * EMPTY + rng.integers(2))
    while True:
        release = rng.choice(original, N)
        if (release == original[-1]).any():
            break
    return [world("the person is released", original, [release], CellMixture(SPACE), population(rng), [N - 1], 1.0)]


# ------------------------------------------------------------------------------------------- D2, uncertainty
def growing_noise(rng: Rng, times: int = 1, crowded: float = 0.5) -> list[World]:
    """The same draws in all worlds; more and more of them are replaced by random combinations."""
    original, holdout = population(rng, crowded), population(rng, crowded)
    draws, anything = rng.choice(original, times * N), rng.integers(SPACE.size, size=times * N)
    place = rng.random(times * N)
    return [
        world(f"noise {noise:g}", original, [np.where(place < noise, anything, draws)], CellMixture(SPACE, noise),
              holdout)
        for noise in NOISE
    ]  # fmt: skip


def constant_target(rng: Rng) -> list[World]:
    """Four even binary variables; in the second world the target of every released record is 0."""
    table = latner_population(200, rng)
    original = np.ravel_multi_index([table.column(name).to_numpy() for name in VARIABLES], BITS.shape)
    release = rng.choice(original, 200)
    holdout = rng.integers(15, size=200)
    records = tuple(sorted(rng.choice(200, N, replace=False).tolist()))

    def one(label: str, released: Ints, synthesizer: CellMixture, gain: float) -> World:
        return World(label, BITS.table(original), (BITS.table(released),), synthesizer, VARIABLES[:3], VARIABLES[3],
                     records, gain, BITS.table(holdout))  # fmt: skip

    gain = learnt(original, release, records, BITS.size, 0.0)
    return [
        one("as synthesized", release, CellMixture(BITS), gain),
        one("target overwritten", release & ~1, CellMixture(BITS, overwritten=(VARIABLES[3], "0")), 0.0),
    ]


def constant_skewed(rng: Rng) -> list[World]:
    """A level that four of five persons have; in the second world all released records have it."""
    original, holdout = population(rng, 1.0, ill=0.2), population(rng, 1.0, ill=0.2)
    release = rng.choice(original, N)
    return [
        world("as synthesized", original, [release], CellMixture(SPACE), holdout),
        world("target overwritten", original, [release & ~1], CellMixture(SPACE, overwritten=(TARGET, "no")), holdout),
    ]


# ------------------------------------------------------------------------------------------- D3, information gain
def growing_gain(rng: Rng, crowded: float = 1.0) -> list[World]:
    """Longer and longer releases; each is the beginning of the next."""
    original, holdout = population(rng, crowded), population(rng, crowded)
    draws = rng.choice(original, max(LENGTHS.values()))
    return [world(label, original, [draws[:length]], CellMixture(SPACE), holdout) for label, length in LENGTHS.items()]


# ------------------------------------------------------------------------------------------- D4, consistency
def same_pattern(rng: Rng) -> list[World]:
    """The same original and release in both worlds: made from the records, or without them."""
    original, holdout = population(rng), population(rng)
    release = rng.choice(original, 4 * N)
    return [
        world("drawn from the records", original, [release], CellMixture(SPACE), holdout),
        world("made without them", original, [release], CellMixture(SPACE, 1.0), holdout),
    ]


def independence(rng: Rng) -> list[World]:
    """Releases that do not depend on the original: a coin for the target of each record, or of each combination."""
    original, holdout = population(rng), population(rng)
    keys = population(rng, n=4 * N) // 2
    coins = rng.integers(2, size=4 * N)
    one_each = rng.integers(2, size=SPACE.size)[keys]
    return [
        world("a coin per record", original, [2 * keys + coins], Blind(), holdout),
        world("a coin per combination", original, [2 * keys + one_each], Blind(), holdout),
    ]


# ------------------------------------------------------------------------------------------- D5, no false reassurance
def crowd_reassured(rng: Rng) -> list[World]:
    """Latner's record 1111 once more, beside a release of the sixteen combinations at random."""
    certain = _latner(rng, "1111 is released")
    cells = np.unravel_index(rng.integers(16, size=1000), BITS.shape)
    release = pa.table(dict(zip(VARIABLES, cells, strict=True)))
    blind = World("nothing learnt", certain.original, (release,), Blind(), certain.keys, certain.target,
                  certain.records, 0.0, certain.holdout)  # fmt: skip
    return [blind, certain]


def reassured(rng: Rng, crowded: float, factor: int = 1, n_releases: int = 1) -> list[World]:
    """Releases from the population at large, then as many from the original, which almost tell every count."""
    n_released = factor * n_releases * N
    original, holdout = population(rng, crowded), population(rng, crowded)
    draws, unseen = rng.choice(original, n_released), population(rng, crowded, n_released)
    label = f"{factor} times as many records" if factor > 1 else f"{n_releases} releases"
    return [
        world("nothing learnt", original, np.split(unseen, n_releases), Blind(), holdout),
        world(label, original, np.split(draws, n_releases), CellMixture(SPACE), holdout),
    ]


TRIALS = (
    Trial("certain disclosure, in a crowd", "D1", "maximum", certain_in_a_crowd,
          "the record 1111 of Latner et al. is released; no other record can have brought it about"),
    Trial("certain disclosure, alone", "D1", "maximum", certain_alone,
          "a person with keys that nobody else has is released by a synthesizer that repeats records"),
    Trial("growing noise", "D2", "not rising", growing_noise,
          "more and more released records are replaced by any combination of values"),
    Trial("growing noise, long release", "D2", "not rising", partial(growing_noise, times=4, crowded=0.0),
          "the same with four released records per original one, and rare keys"),
    Trial("constant target", "D2", "not rising", constant_target,
          "the target of all released records is overwritten with one value, which half of the persons have"),
    Trial("constant target, skewed", "D2", "not rising", constant_skewed,
          "the same with a value that four of five persons have"),
    Trial("growing information gain, crowded keys", "D3", "not falling", growing_gain,
          "longer and longer releases, each the beginning of the next; eight persons per combination of keys"),
    Trial("growing information gain, rare keys", "D3", "not falling", partial(growing_gain, crowded=0.0),
          "the same with one person per combination of keys"),
    Trial("same pattern, different process", "D4", "first above second", same_pattern,
          "the same two files; the release was drawn from the records, or made without looking at them"),
    Trial("independence", "D4", "equal", independence,
          "two releases made without the original; in the second, each combination of keys has one target"),
    Trial("certain disclosure, against nothing", "D5", "not low", crowd_reassured,
          "the record 1111 again, beside a release of combinations at random"),
    Trial("long release, crowded keys", "D5", "not low", partial(reassured, crowded=1.0, factor=16),
          "sixteen released records per original one, beside as many from the population at large"),
    Trial("long release, rare keys", "D5", "not low", partial(reassured, crowded=0.0, factor=16),
          "the same with one person per combination of keys"),
    Trial("many releases, rare keys", "D5", "not low", partial(reassured, crowded=0.0, n_releases=5),
          "five releases of the original's length, beside as many from the population at large"),
)  # fmt: skip
"""All of them, in the order of the desiderata. Crowded keys: eight persons per combination on average; rare: one."""
