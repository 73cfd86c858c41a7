"""A second question about the same files starts from what the first has found out, and gets the same answer."""

from __future__ import annotations

import gc
import warnings
import weakref
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import posterior
from unveil.errors import DataError, UnveilWarning
from unveil.synthesis import CartSynthesizer


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 40, n)
    return pa.table(
        {"sex": np.array(["f", "m"])[rng.integers(0, 2, n)], "age": age, "score": (age // 7) + rng.integers(0, 4, n)}
    )


@pytest.fixture
def synthesizer():
    return CartSynthesizer(collapse=False).fit(people())


@pytest.fixture
def pair(synthesizer):
    return unveil.Pair(people(), synthesizer.sample(seed=3))


@pytest.fixture
def looked(monkeypatch):
    """Counts how often files are brought into codes."""
    plausible, seen = import_module("unveil._posterior.plausible"), []
    build = plausible.build_sequence

    def counted(*arguments):
        seen.append(arguments)
        return build(*arguments)

    monkeypatch.setattr(plausible, "build_sequence", counted)
    return seen


def probabilities(pair, synthesizer, target="score", **options):
    risk = posterior(pair, synthesizer, target=target, **options)
    return [risk.posteriors(0, name).probabilities.tolist() for name in risk.structures]


def test_second_question_has_the_answer_of_a_first(pair, synthesizer, looked):
    first = probabilities(pair, synthesizer)
    other = probabilities(pair, synthesizer, "sex", intruder_errors=3)
    again = probabilities(pair, synthesizer)
    assert len(looked) == 1
    assert again == first
    fresh = unveil.Pair(people(), synthesizer.sample(seed=3))
    assert probabilities(fresh, synthesizer, "sex", intruder_errors=3) == other
    assert probabilities(fresh, synthesizer) == first
    assert len(looked) == 2


def test_another_fit_or_option_is_looked_at_anew(pair, synthesizer, looked):
    probabilities(pair, synthesizer)
    assert posterior(pair, synthesizer, target="score", check_settings=False).settings_check is None
    assert posterior(pair, synthesizer, target="score").settings_check is not None
    probabilities(pair, synthesizer, withheld=["score"], target="sex")
    probabilities(pair, synthesizer, candidates=[50])
    probabilities(pair, synthesizer)
    assert len(looked) == 6
    synthesizer.fit(people(seed=1))
    with pytest.raises(DataError, match="did not make"):
        # Leaves of one record cannot produce what larger leaves did.
        posterior(pair, CartSynthesizer(minbucket=1, cp=0.0, collapse=False), target="score")
    assert probabilities(pair, synthesizer) == probabilities(pair, CartSynthesizer(collapse=False).fit(people()))


def test_warnings_are_given_each_time(pair):
    larger = CartSynthesizer(minbucket=40, collapse=False).fit(people())
    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnveilWarning)
            risk = posterior(pair, larger, target="score", structure="fixed", largest_impossible=1.0)
        told.append([str(one.message) for one in caught if issubclass(one.category, UnveilWarning)])
        assert list(risk.warnings) == told[-1]
    assert told[0] == told[1]
    assert told[0]


def test_nothing_is_kept_of_files_that_are_gone(synthesizer):
    pair = unveil.Pair(people(), synthesizer.sample(seed=3))
    posterior(pair, synthesizer, target="score", structure="fixed")
    gone = weakref.ref(pair)
    del pair
    gc.collect()
    assert gone() is None


def test_a_fit_is_compared_with_the_original_once(pair, synthesizer, monkeypatch):
    options, seen = import_module("unveil._posterior.checked_options"), []
    of_original = options.of_original
    monkeypatch.setattr(options, "of_original", lambda *given: seen.append(given) or of_original(*given))
    first = probabilities(pair, synthesizer)
    assert len(seen) == 3
    assert probabilities(pair, synthesizer) == first
    assert len(seen) == 3
    synthesizer.fit(people(seed=1))
    assert probabilities(pair, synthesizer) == first
    assert len(seen) > 3


def test_a_fit_to_numbers_is_one_to_the_same_numbers_as_text():
    """A fit to the text would take the numbers for categories, and the release was not drawn from it."""
    numbers = people()
    synthesizer = CartSynthesizer(collapse=False).fit(numbers)
    release = synthesizer.sample(seed=3)
    text = pa.table(
        {name: column.cast(pa.string()) for name, column in zip(numbers.column_names, numbers.columns, strict=True)}
    )
    expected = probabilities(unveil.Pair(numbers, release), synthesizer)
    with pytest.warns(UnveilWarning, match="the text was read as numbers"):
        assert probabilities(unveil.Pair(text, release), synthesizer) == expected
