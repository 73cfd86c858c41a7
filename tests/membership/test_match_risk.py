"""Matches with partially synthetic files: by hand, by brute force, and by simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil._membership.partial_matches import matches
from unveil.errors import CallError, DataError


def by_definition(known: list[int], copies: list[list[int]]) -> dict[str, float]:
    """The measures, person by person, with fractions."""
    n, expected, true, unique, anybody = len(known), Fraction(0), 0, 0, 0
    for j, keys in enumerate(known):
        p = [Fraction(0)] * n
        for copy in copies:
            having = [k for k in range(n) if copy[k] == keys]
            for k in having:
                p[k] += Fraction(1, len(copies) * len(having))
        most = max(p)
        likeliest = [k for k in range(n) if p[k] == most] if most else []
        anybody += bool(likeliest)
        expected += Fraction(j in likeliest, max(len(likeliest), 1))
        unique += len(likeliest) == 1
        true += likeliest == [j]
    return {
        "expected": float(expected),
        "expected_by_chance": anybody / n,
        "true_rate": 100 * true / n,
        "true_rate_by_chance": 100 * unique / n**2,
        "false_rate": 100 * (unique - true) / unique if unique else math.nan,
        "unique": unique,
    }


def test_by_hand() -> None:
    # Persons A, A, B, C. Copy 1: A B B A; copy 2: A A B B.
    # A of the first: records 1 and 4 in copy 1, 1 and 2 in copy 2: p = 1/2, 1/4, 0, 1/4: record 1, their own.
    # A of the second: the same, record 1, which is not theirs.
    # B: records 2 and 3, then 3 and 4: p = 0, 1/4, 1/2, 1/4: record 3, their own.
    # C: nobody has it.
    original = pa.table({"key": ["A", "A", "B", "C"]})
    copies = [pa.table({"key": list(text)}) for text in ("ABBA", "AABB")]
    risk = unveil.match_risk(unveil.Pair(original, copies), "key")
    assert dict(risk.pooled) == pytest.approx(
        {"expected": 2, "expected_by_chance": 0.75, "true_rate": 50, "true_rate_by_chance": 100 * 3 / 16,
         "false_rate": 100 / 3, "unique": 3}
    )  # fmt: skip
    # One copy alone: 1/2 for each A who is among the two (the first alone), 1/2 for B.
    assert risk.releases[0]["expected"] == pytest.approx(1)
    assert risk.releases[0]["unique"] == 0
    assert math.isnan(risk.releases[0]["false_rate"])
    # In the original itself A and A tie: 1/2 + 1/2 + 1 + 1.
    assert risk.original["expected"] == pytest.approx(3)
    assert risk.original["true_rate"] == 50
    assert risk.records().to_pylist()[1] == {
        "record": 1, "ties": 1, "own_is_likeliest": False, "own_probability": 0.25, "matched_truly": False
    }  # fmt: skip
    assert "false rate" in str(risk)
    assert risk.to_frame().num_rows == 4


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=2, max_size=4)))  # fmt: skip
def test_it_is_the_definition(files: list[list[int]]) -> None:
    known, *copies = files
    found = matches(np.array(known), [np.array(copy) for copy in copies]).figures()
    assert found == pytest.approx(by_definition(known, copies), nan_ok=True)


def test_ties_of_sums_in_another_order_are_ties() -> None:
    # 1/2 + 1/3 + 1/6 of one record and 1/6 + 1/3 + 1/2 of another
    def copy(records: list[int]) -> np.ndarray:
        return np.array([0 if k in records else 1 for k in range(12)])

    copies = [copy([0, 2]), copy([0, 3, 4]), copy([0, 1, 5, 6, 7, 8]), copy([1, 9]), copy([1, 10, 11])]
    copies.append(copy([0, 1, 2, 3, 4, 5]))
    known = np.array([0] * 2 + [1] * 10)
    expected = by_definition(known.tolist(), [one.tolist() for one in copies])
    assert matches(known, copies).figures() == pytest.approx(expected)


def test_an_intruder_who_draws_among_the_likeliest_is_right_as_often() -> None:
    rng = np.random.default_rng(4)
    known = rng.integers(0, 30, 100)
    copies = [np.where(rng.random(100) < 0.5, known, rng.integers(0, 30, 100)) for _ in range(3)]
    found = matches(known, copies)
    right = np.zeros(200)
    for trial in range(200):
        score = np.zeros((100, 100))
        for copy in copies:
            same = copy[None, :] == known[:, None]
            score += same / np.maximum(same.sum(axis=1, keepdims=True), 1)
        guess = np.argmax(np.round(score, 9) + 1e-12 * rng.random(score.shape), axis=1)
        matched = (guess == np.arange(100)) & (score.max(axis=1) > 0)
        right[trial] = matched.sum()
    error = right.std() / math.sqrt(len(right))
    assert found.figures()["expected"] == pytest.approx(right.mean(), abs=5 * error)


def test_records_dealt_at_random_give_the_chance() -> None:
    rng = np.random.default_rng(5)
    known = rng.integers(0, 40, 120)
    copy = rng.permutation(known)
    figures = [matches(known, [rng.permutation(copy)]).figures() for _ in range(400)]
    chance = figures[0]
    for name in ("expected", "true_rate"):
        drawn = np.array([one[name] for one in figures])
        assert chance[f"{name}_by_chance"] == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 20)


def test_copies_that_change_nothing_give_the_original() -> None:
    original = pa.table({"a": [1, 1, 2, 3], "b": ["x", "y", "x", None]})
    risk = unveil.match_risk(unveil.Pair(original, [original, original]), ["a", "b"])
    assert dict(risk.pooled) == pytest.approx(dict(risk.original))
    assert (risk.true_rate, risk.false_rate) == (100, 0)


def test_persons_can_be_named_by_a_column() -> None:
    original = pa.table({"id": [1, 2, 3, 4], "a": [1, 1, 2, 3]})
    shuffled = original.take([3, 1, 0, 2])
    found = unveil.match_risk(unveil.Pair(original, shuffled), "a", linked_by="id")
    assert dict(found.pooled) == pytest.approx(dict(found.original))
    with pytest.raises(DataError, match="is nobody of"):
        unveil.match_risk(
            unveil.Pair(original, original.set_column(0, "id", pa.array([1, 2, 3, 9]))), "a", linked_by="id"
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: unveil.match_risk(unveil.Pair(o, o.slice(1)), "a"), "has 3 records and"),
        (lambda o: unveil.match_risk(unveil.Pair(o, o), "b"), "'b'"),
        (lambda o: unveil.match_risk(unveil.Pair(o, o), ["a", "a"]), "'a'"),
        (lambda o: unveil.match_risk(unveil.Pair(o, o), []), "key"),
    ],
)
def test_wrong_calls(call, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        call(pa.table({"a": [1, 1, 2, 3]}))
    assert "\n" not in str(caught.value)
