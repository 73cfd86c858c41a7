"""Files are freed as soon as nobody needs them: a study makes many pairs, and a circle would keep them all."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import unveil


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_pair_of_units_is_freed_with_its_last_name():
    rows = [
        table.append_column("person", [[i // 2 for i in range(60)]])
        for table in (unveil.simulate.demo_population(60, seed=seed) for seed in (1, 2))
    ]
    pair = unveil.Pair(*rows, unit="person")
    part = pair.part(np.arange(10), [0])
    for one in (pair, part):
        unveil.identity(one, ["sex", "workab"])
        assert one.roles.default_columns()
    freed = [weakref.ref(one) for one in (pair, part)]
    del pair, part, one
    assert [ref() for ref in freed] == [None] * 2


@pytest.mark.usefixtures("no_collector")
def test_a_pair_is_freed_with_its_last_name():
    people, released, unseen = (unveil.simulate.demo_population(60, seed=seed) for seed in (1, 2, 3))
    pair = unveil.Pair(people, released, holdout=unseen)
    part = pair.part(np.arange(30), [0])
    others = pair.held_out_as_original()
    for one in (pair, part, others):
        unveil.identity(one, ["sex", "age"])
        assert one.roles.default_columns()
    freed = [weakref.ref(one) for one in (pair, part, others)]
    del pair, part, others, one
    assert [ref() for ref in freed] == [None] * 3
