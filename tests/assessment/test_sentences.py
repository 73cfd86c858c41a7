"""Sentences are printed only where what was computed implies them: on tiny, wide and numeric files, and on copies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil._posterior.tree_methods import _matched
from unveil.assessment.advice_part import _helps

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")

KEYS = ["k1", "k2"]


def survey(n: int, seed: int, *, wide: int = 0, numeric: bool = False) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "k1": rng.integers(0, 12, n), "k2": rng.integers(0, 3, n),
        "t": rng.integers(0, 3, n), "u": rng.integers(0, 2, n),
    }  # fmt: skip
    if not numeric:
        columns = {name: np.array([f"{name}{v}" for v in values]) for name, values in columns.items()}
    return pa.table(columns | {f"x{i}": np.round(rng.normal(size=n), 1) for i in range(wide)})


def copied(table: pa.Table) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(0).permutation(table.num_rows)))


def half_copied(table: pa.Table) -> pa.Table:
    return table.slice(0, table.num_rows // 2)


def independent(table: pa.Table) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table({n: table[n].take(pa.array(rng.integers(table.num_rows, size=table.num_rows)))
                     for n in table.column_names})  # fmt: skip


FILES = {
    "six records": survey(6, 1), "sixty records": survey(60, 2), "wide": survey(40, 3, wide=30),
    "numeric": survey(80, 4, numeric=True),
}  # fmt: skip


def words(text: object) -> str:
    return " ".join(str(text).split())


@pytest.mark.parametrize("make", [copied, half_copied, independent], ids=lambda f: f.__name__)
@pytest.mark.parametrize("original", FILES.values(), ids=FILES.keys())
def test_tables_say_what_they_count(original: pa.Table, make: Callable[[pa.Table], pa.Table]):
    pair = unveil.Pair(original, make(original))
    structure = unveil.structure(pair, KEYS)
    assert ("Records with them match nobody" in words(structure)) == (structure.mean["percent_novel"] > 0)
    sets = unveil.key_sets(pair, KEYS, target="t")
    whole, *without = sets.leave_one_out
    for name in ("repU", "DiSCO"):
        falls = [one for one in without if one.measures[name] < whole.measures[name] - 1e-9]
        assert (f"{name} falls most without" in words(sets)) == bool(falls)
        for one in falls:
            if one.measures[name] < min(o.measures[name] for o in without if o is not one):
                (key,) = set(KEYS) - set(one.keys)
                assert f"{name} falls most without {key}." in words(sets)
    risk = unveil.attribute(pair, KEYS, target="t")
    assert "tells nothing about anybody" not in words(risk)
    assert "tells nothing" not in words(risk.ladder(permutations=9))
    for label, release, mode in zip(risk.labels, risk.releases, risk.mode_DiSCO, strict=True):
        assert (f"in {label}" in words(risk.rise or "")) == (mode > release["DiSCO"] + 1e-9)


def test_a_release_of_half_of_the_persons_is_not_called_harmless():
    """480 of 1000 real persons are released: DCAPd is below the guess, and 48 of 100 are disclosed all the same."""
    rng = np.random.default_rng(3)
    n = 1000
    people = pa.table({"person": [f"p{i:04d}" for i in range(n)], "t": rng.choice(["y", "n"], n)})
    risk = unveil.attribute(unveil.Pair(people, people.slice(0, 480)), "person", target="t")
    assert risk.DCAPd == risk.DiSCO == pytest.approx(48)
    assert risk.DCAPd < risk.baseCAPd
    ladder = risk.ladder(permutations=19)
    # shuffled, half of the 480 are guessed right: 24 of 100
    assert ladder.mean["DCAPd"].null_mean < 30
    assert ladder.mean["DCAPd"].excess > 20


@pytest.mark.parametrize("scoring", ["marginal", "conditional", "nce"])
@pytest.mark.parametrize("tau", [0, 0.3, 1])
def test_what_a_score_means_is_said_by_its_name(scoring: str, tau: float):
    pair = unveil.Pair(FILES["sixty records"], copied(FILES["sixty records"]))
    found = unveil.rapid(pair, KEYS, target="t", attacker="cart", scoring=scoring, tau=tau, permutations=2)
    said = {"marginal": "0: as likely as its share", "conditional": "over the mean of its class",
            "nce": "0: as likely as every other class"}  # fmt: skip
    assert f"scores the true 't' above {tau:g} (" in words(found)
    assert [name for name, text in said.items() if text in words(found)] == [scoring]
    assert "clearly better" not in words(found)


@pytest.mark.parametrize("make", [copied, half_copied, independent], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["sixty records", "numeric"])
def test_an_assessment_says_what_it_found(name: str, make: Callable[[pa.Table], pa.Table]):
    original = FILES[name]
    found = unveil.assess(
        unveil.Pair(original, make(original)), KEYS, targets=["t", "u"], attacker="cart", permutations=9, budget=600,
        measures=["identity", "attribute", "structure", "inference", "advice"], release_safe=False,
    ).content  # fmt: skip
    told = [one["text"] for one in found["warnings"]]
    for figure in found["figures"]:
        name_of = figure["measure"] + (f" of {figure['target']}" if figure["target"] else "")
        value, top = figure["value"], figure["null_95"]
        below = value is not None and top is not None and not np.isnan(top) and value <= top + 1e-9
        assert any(t.startswith(f"{name_of} is ") and "cannot be told from chance" in t for t in told) == below
    for text in (*told, *found["summary"]):
        assert "it is chance" not in text
        assert "no knowledge of people in general" not in text
    for row in found["advice"]:
        assert any(one["after"] < one["before"] for one in row["effects"]), row["action"]


# ------------------------------------------------------------------------------------------------ advice
def row(*pairs: tuple[float, float], unit: str = "percent") -> dict[str, Any]:
    return {"effects": [{"before": a, "after": b, "unit": unit} for a, b in pairs]}


def test_what_lowers_nothing_is_no_advice():
    assert _helps(row((10.0, 9.0)))
    assert _helps(row((10.0, 9.0), (5.0, 8.0)))
    assert not _helps(row((10.0, 11.0), (5.0, 8.0)))
    assert not _helps(row((10.0, 10.0), (0.0, 0.0)))
    assert not _helps(row((10.0, 9.95)))
    assert _helps(row((0.5, 0.4), unit="share"))
    assert not _helps(row((0.5, 0.4999), unit="share"))


def test_no_level_of_five_hundred_records_in_a_file_of_sixty():
    people = unveil.simulate.demo_population(60, seed=1)
    maker = unveil.CartSynthesizer(special_codes={"income": [-8]}).fit(people)
    pair = unveil.Pair(people, maker.sample(seed=2), special_codes={"income": [-8]})
    found = unveil.assess(
        pair, ["sex", "age"], targets=["marital"], synthesizer=maker, measures=["posterior", "advice"], budget=120
    ).content
    actions = " ".join(str(one["action"]) for one in found["advice"])
    sizes = [int(n) for n in re.findall(r"levels of (\d+) records", actions)]
    assert all(2 * n <= 60 for n in sizes), actions
    for one in found["advice"]:
        assert any(e["after"] < e["before"] for e in one["effects"])


# --------------------------------------------------------------------------------------------- recodings
def brute(one: list[int], other: list[int]) -> bool:
    """Whether values match one to one in all records, or in all but one of them."""

    def match(a: list[int], b: list[int]) -> bool:
        return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))

    if match(one, other):
        return True
    return any(match(one[:i] + one[i + 1 :], other[:i] + other[i + 1 :]) for i in range(len(one)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_but_for_one_record_is_meant_as_it_is_said(records: list[tuple[int, int]]):
    one, other = (list(values) for values in zip(*records, strict=True))
    found = _matched(np.array(one), np.array(other))
    assert (found is not None) == brute(one, other)


def test_hands_and_sexes_are_no_recodings():
    """Three of four pairs occur, one of them in seven records: not one record, but seven keep them from matching."""
    hand, sex = [0] * 40 + [0] * 7 + [1] * 33, [0] * 40 + [1] * 7 + [1] * 33
    assert _matched(np.array(hand), np.array(sex)) is None
    assert _matched(np.array([0] * 40 + [0] + [1] * 33), np.array([0] * 40 + [1] + [1] * 33)) == " but for one record"


def test_a_target_that_is_cut_is_guessed_by_group() -> None:
    """Nobody guesses an amount here: 20 groups of them are what the tables know."""
    rng = np.random.default_rng(3)

    def amounts() -> pa.Table:
        k = rng.integers(0, 5, 200)
        return pa.table({"k": k, "y": k + rng.normal(size=200)})

    pair = unveil.Pair(amounts(), amounts())
    found = unveil.assess(pair, keys=["k"], targets=["y"], measures=["identity", "attribute"])
    assert found.content["targets"][0]["grouped_into"] == 20
    for text in (words(found), words(found.to_markdown())):
        assert "go with one group of y (of 20) only" in text
        assert "guesses the group of y (of 20) in proportion" in text
        assert "one value of y" not in text


def test_a_target_of_special_codes_alone_is_cut_into_no_groups() -> None:
    codes = [-1 - i % 60 for i in range(240)]
    original = pa.table({"k": [i % 4 for i in range(240)], "y": pa.array(codes, pa.float64())})
    pair = unveil.Pair(original, original, special_codes={"y": sorted(set(codes))})
    found = unveil.assess(pair, keys=["k"], targets=["y"], measures=["identity", "attribute"], ngroups_target={"y": 5})
    assert found.content["targets"][0]["grouped_into"] is None
    assert "one value of y" in words(found)
