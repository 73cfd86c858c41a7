"""The worlds are what they are said to be: checked by plain counting, record by record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unveil._conformance import REQUIREMENTS, TRIALS, Trial, World
from unveil._conformance.simple_synthesizers import Blind, CellMixture, LevelCombinations, learnt
from unveil._conformance.trials import BITS, SPACE, all_ones
from unveil.synthesis import CartSynthesizer

BY_NAME = {trial.name: trial for trial in TRIALS}
SEEDS = range(3)


def worlds_of(name: str, seed: int = 0) -> Sequence[World]:
    return BY_NAME[name].make(np.random.default_rng(seed))


def rows(table: pa.Table, names: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
    chosen = table if names is None else table.select(list(names))
    return list(zip(*(column.to_pylist() for column in chosen.columns), strict=True))


def plain_posterior(world: World, record: int) -> Fraction:
    """Of the true target among the two, by multiplying the probabilities of all released records, exactly."""
    synthesizer, people = world.synthesizer, rows(world.original)
    noise = Fraction(str(synthesizer.noise))
    released = [row for release in world.releases for row in rows(release)]
    values = sorted({row[-1] for row in people})
    truth = people[record][-1]
    likelihood = {}
    for value in values:
        counts = Counter([*people[:record], (*people[record][:-1], value), *people[record + 1 :]])
        product = Fraction(1)
        for row in released:
            product *= (1 - noise) * Fraction(counts[row], len(people)) + noise / synthesizer.space.size
        likelihood[value] = product
    return likelihood[truth] / sum(likelihood.values())


def test_every_trial_says_what_it_is() -> None:
    assert len({trial.name for trial in TRIALS}) == len(TRIALS)
    assert {trial.desideratum for trial in TRIALS} == {"D1", "D2", "D3", "D4", "D5"}
    assert {trial.requirement for trial in TRIALS} == set(REQUIREMENTS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_worlds_are_drawn_alike_from_one_seed_and_anew_from_another(trial: Trial) -> None:
    first, again, other = (trial.make(np.random.default_rng(seed)) for seed in (5, 5, 6))
    for one, two in zip(first, again, strict=True):
        assert one.original.equals(two.original)
        assert all(a.equals(b) for a, b in zip(one.releases, two.releases, strict=True))
        assert (one.label, one.gain, one.records) == (two.label, two.gain, two.records)
    assert not first[0].original.equals(other[0].original)
    for one in first:
        assert one.holdout.num_rows == one.original.num_rows
        assert one.holdout.column_names == one.original.column_names
        assert {*one.keys, one.target} == set(one.original.column_names)
        assert set(one.records) <= set(range(one.original.num_rows))
        assert len(set(one.records)) == len(one.records)


@pytest.mark.parametrize(
    "name",
    ["growing noise", "growing noise, long release", "growing information gain, crowded keys",
     "growing information gain, rare keys", "same pattern, different process", "many releases, rare keys"],
)  # fmt: skip
def test_gain_is_the_posterior_by_multiplication(name: str) -> None:
    for world in worlds_of(name, seed=2):
        if isinstance(world.synthesizer, Blind):
            assert world.gain == 0.0
            continue
        chosen = world.records if len(rows(world.releases[0])) <= 64 else world.records[:8]
        gains = [2 * plain_posterior(world, record) - 1 for record in chosen]
        if len(chosen) < len(world.records):
            found = [learnt(SPACE.cells(world.original), np.concatenate([SPACE.cells(z) for z in world.releases]), [r],
                            SPACE.size, world.synthesizer.noise) for r in chosen]  # fmt: skip
            assert found == pytest.approx([float(gain) for gain in gains], abs=1e-9)
        else:
            assert world.gain == pytest.approx(float(sum(gains) / len(gains)), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["certain disclosure, in a crowd", "certain disclosure, against nothing"])
def test_only_1111_can_have_given_1111(name: str, seed: int) -> None:
    world = worlds_of(name, seed)[-1]
    people, (record,) = rows(world.original), world.records
    assert people[record] == (1, 1, 1, 1)
    assert people.count((1, 1, 1, 1)) == 1
    assert all_ones(world.releases[0]).any()
    assert (1, 1, 1, 1) in rows(world.releases[0])
    possible = []
    for cell in range(16):
        row = tuple(int(bit) for bit in f"{cell:04b}")
        other = [*people[:record], row, *people[record + 1 :]]
        original = pa.table(dict(zip(world.original.column_names, zip(*other, strict=True), strict=True)))
        if CartSynthesizer().fit(original).log_prob(world.releases[0]).n_impossible == 0:
            possible.append(row)
    assert possible == [(1, 1, 1, 1)]
    # The keys alone single out nobody: eight combinations, all of them crowded.
    assert min(Counter(rows(world.original, world.keys)).values()) > 40
    assert (1, 1, 1, 1) not in rows(world.holdout)


@pytest.mark.parametrize("seed", range(20))
def test_a_person_alone_is_released_and_nobody_else_has_these_keys(seed: int) -> None:
    (world,) = worlds_of("certain disclosure, alone", seed)
    (record,) = world.records
    person = rows(world.original)[record]
    assert Counter(rows(world.original, world.keys))[person[:2]] == 1
    assert person in rows(world.releases[0])
    assert world.gain == 1.0
    assert plain_posterior(world, record) == 1
    assert set(rows(world.releases[0])) <= set(rows(world.original))


@pytest.mark.parametrize("name", ["growing noise", "growing noise, long release"])
def test_noise_replaces_more_and_more_of_the_same_records(name: str) -> None:
    worlds = worlds_of(name)
    first, last = rows(worlds[0].releases[0]), rows(worlds[-1].releases[0])
    assert [world.synthesizer.noise for world in worlds] == [0.0, 0.3, 0.6, 1.0]
    assert set(first) <= set(rows(worlds[0].original))
    replaced = [0]
    for before, after in pairwise(worlds):
        pairs = list(zip(rows(before.releases[0]), rows(after.releases[0]), first, last, strict=True))
        # A record is as drawn or replaced, and what is replaced stays so.
        assert all(new in (drawn, noise) for _, new, drawn, noise in pairs)
        assert all(new == noise for old, new, drawn, noise in pairs if old == noise != drawn)
        replaced.append(sum(new != drawn for _, new, drawn, _ in pairs))
        assert before.original is after.original or before.original.equals(after.original)
    assert replaced == sorted(replaced)
    for world, count in zip(worlds, replaced, strict=True):
        assert count / len(first) == pytest.approx(world.synthesizer.noise, abs=4 * 0.5 / math.sqrt(len(first)) + 0.02)


@pytest.mark.parametrize(("name", "value"), [("constant target", "0"), ("constant target, skewed", "no")])
def test_only_the_target_is_overwritten(name: str, value: str) -> None:
    before, after = worlds_of(name)
    assert rows(before.releases[0], before.keys) == rows(after.releases[0], after.keys)
    assert len(set(before.releases[0].column(before.target).to_pylist())) == 2
    assert set(after.releases[0].column(after.target).to_pylist()) == {value}
    assert after.gain == 0.0
    # Nothing is learnt: the release is as probable whatever the target was.
    record = after.records[0]
    logs = []
    for target in set(after.original.column(after.target).to_pylist()):
        column = after.original.column(after.target).to_pylist()
        column[record] = target
        changed = after.original.set_column(after.original.num_columns - 1, after.target, [column])
        logs.append(after.synthesizer.fit(changed).log_prob(after.releases[0]))
    assert len(logs) == 2
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)
    assert math.isfinite(logs[0])


@pytest.mark.parametrize("name", ["growing information gain, crowded keys", "growing information gain, rare keys"])
def test_each_release_begins_the_next(name: str) -> None:
    worlds = worlds_of(name)
    releases = [rows(world.releases[0]) for world in worlds]
    assert [len(release) for release in releases] == [16, 64, 256, 1024]
    for shorter, longer in pairwise(releases):
        assert longer[: len(shorter)] == shorter
    per_key = 64 / len(Counter(rows(worlds[0].original, worlds[0].keys)))
    assert per_key > 6 if "crowded" in name else per_key < 2


@pytest.mark.parametrize("name", [trial.name for trial in TRIALS if trial.requirement in ("not rising", "not falling")])
def test_what_is_learnt_goes_the_way_that_the_trial_says(name: str) -> None:
    gains = np.array([[world.gain for world in worlds_of(name, seed)] for seed in range(40)]).mean(axis=0)
    steps = np.diff(gains)
    assert (steps < 0).all() if BY_NAME[name].requirement == "not rising" else (steps > 0).all()
    assert max(gains) > 0.02


def test_one_pattern_and_two_processes() -> None:
    made, blind = worlds_of("same pattern, different process")
    assert made.original.equals(blind.original)
    assert made.releases[0].equals(blind.releases[0])
    assert made.gain > 0.5
    assert blind.gain == 0.0


def test_independence_has_a_pattern_and_no_information() -> None:
    loose, crisp = worlds_of("independence")
    assert rows(loose.releases[0], loose.keys) == rows(crisp.releases[0], crisp.keys)
    targets: dict[Any, set[str]] = {}
    for place, age, ill in rows(crisp.releases[0]):
        targets.setdefault((place, age), set()).add(ill)
    assert {len(values) for values in targets.values()} == {1}
    assert loose.gain == crisp.gain == 0.0
    record = 3
    column = crisp.original.column("ill").to_pylist()
    column[record] = "yes" if column[record] == "no" else "no"
    changed = crisp.original.set_column(2, "ill", [column])
    for world in (loose, crisp):
        assert world.synthesizer.fit(changed).log_prob(world.releases[0]) == world.synthesizer.fit(
            world.original
        ).log_prob(world.releases[0])


@pytest.mark.parametrize("name", [trial.name for trial in TRIALS if trial.requirement == "not low"])
def test_false_reassurance_is_tried_where_much_is_learnt(name: str) -> None:
    pairs = [worlds_of(name, seed) for seed in range(10)]
    assert all(nothing.gain == 0.0 for nothing, _ in pairs)
    assert np.mean([much.gain for _, much in pairs]) > 0.7
    for nothing, much in pairs:
        assert nothing.original.equals(much.original)
        assert [z.num_rows for z in nothing.releases] == [z.num_rows for z in much.releases]


# ------------------------------------------------------------------------------------------- processes
def test_cell_mixture_by_hand() -> None:
    space = LevelCombinations({"a": ["x", "y"], "b": ["0", "1"]})
    original = space.table(np.array([0, 0, 1, 3]))
    assert original.to_pylist()[2:] == [{"a": "x", "b": "1"}, {"a": "y", "b": "1"}]
    assert space.cells(original).tolist() == [0, 0, 1, 3]
    plain = CellMixture(space).fit(original)
    assert plain.share.tolist() == [0.5, 0.25, 0.0, 0.25]
    assert plain.log_prob(original) == pytest.approx(2 * math.log(0.5) + 2 * math.log(0.25))
    assert CellMixture(space).fit(original).log_prob(space.table(np.array([2]))) == -math.inf
    noised = CellMixture(space, 0.2).fit(original)
    assert noised.share.tolist() == pytest.approx([0.45, 0.25, 0.05, 0.25])
    hidden = CellMixture(space, 0.0, ("b", "1")).fit(original)
    assert hidden.share.tolist() == pytest.approx([0.0, 0.75, 0.0, 0.25])
    other = CellMixture(space, 0.0, ("a", "x")).fit(original)
    assert other.share.tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0])


def test_learnt_by_hand() -> None:
    # One person in cell 0, one in cell 1, both released once: had person 0 the other target, nobody could have
    # given cell 0.
    assert learnt(np.array([0, 1]), np.array([0, 1]), [0], 2, 0.0) == 1.0
    # Cells 0, 0, 1; released 0, 1: (2/3)(1/3) against (1/3)(2/3) for a person of cell 0: nothing is learnt.
    assert learnt(np.array([0, 0, 1]), np.array([0, 1]), [0], 2, 0.0) == pytest.approx(0.0)
    # Released 0 and 0: (2/3)^2 against (1/3)^2, posterior 4/5, gain 3/5.
    assert learnt(np.array([0, 0, 1]), np.array([0, 0]), [0], 2, 0.0) == pytest.approx(0.6)
    assert learnt(np.array([0, 0, 1]), np.array([0, 0]), [0], 2, 1.0) == 0.0


def test_a_space_counts_each_release_as_it_is() -> None:
    """Counts are kept by the object itself: another table of the same length is not taken for it."""
    space = LevelCombinations({"a": ["x", "y"]})
    tables = [space.table(np.full(3, code)) for code in (0, 1, 0)]
    for _ in range(2):
        assert [space.counts(table).tolist() for table in tables] == [[3, 0], [0, 3], [3, 0]]
    many = [space.table(np.array([i % 2])) for i in range(40)]
    assert [space.counts(table).tolist() for table in many] == [[1 - i % 2, i % 2] for i in range(40)]


def test_spaces_are_as_documented() -> None:
    assert (SPACE.size, BITS.size) == (256, 16)
