"""Synthesizers are told apart by all of their settings, in words that are the same in every process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.methods import METHODS
from unveil.synthesis.settings import identity_of, in_plain_words


class Own:
    def __init__(self, rate, table=None):
        self.rate, self.table = rate, table

    def fit(self, frame):
        return self


def words(synthesizer):
    return in_plain_words(identity_of(synthesizer))


PAIRS = [
    ({"minbucket": 5}, {"minbucket": 6}),
    ({}, {"mix": 0.1}),
    ({"methods": {"a": CartMethod(minbucket=5)}}, {"methods": {"a": CartMethod(minbucket=6)}}),
    ({"methods": {"a": METHODS["pmm"](n_donors=3)}}, {"methods": {"a": METHODS["pmm"](n_donors=4)}}),
    ({"methods": Own(1)}, {"methods": Own(2)}),
    ({"rules": {"a": [("b > 1", 0)]}}, {"rules": {"a": [("b > 2", 0)]}}),
    ({"rules": {"a": [(lambda x: x > 1, 0)]}}, {"rules": {"a": [(lambda x: x > 2, 0)]}}),
    ({"special_codes": {"a": [-8]}}, {"special_codes": {"a": ["-8"]}}),
    ({"proper": False}, {"proper": True}),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_setting_tells(one, other):
    assert words(CartSynthesizer(**one)) != words(CartSynthesizer(**other))
    assert words(CartSynthesizer(**one)) == words(CartSynthesizer(**one))
    assert words(CartSynthesizer(**one, n_jobs=1)) == words(CartSynthesizer(**one, n_jobs=2))


def test_objects_of_others():
    assert words(Own(1, np.arange(3))) == words(Own(1, np.arange(3)))
    assert words(Own(1, np.arange(3))) != words(Own(1, np.arange(4)))
    assert words(Own(1, np.array([1, "a"], dtype=object))) != words(Own(1, np.array([1, "b"], dtype=object)))
    limit = 3

    def capped(frame):
        return frame[:limit]

    def other(frame):
        return frame[: limit + 1]

    assert words(capped) != words(other)


def test_the_same_in_another_process():
    """No address in memory is among the words, not even of a function within a function."""
    code = (
        "from unveil.synthesis import CartSynthesizer as C\n"
        "from unveil.synthesis.settings import identity_of, in_plain_words\n"
        "rule = lambda x: (lambda y: y > 1)(x)\n"
        "print(in_plain_words(identity_of(C(rules={'a': [(rule, 0)]}, methods={'b': object()}))))"
    )
    first, second = (subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
                     for _ in range(2))  # fmt: skip
    assert first == second
    assert "0x" not in first
