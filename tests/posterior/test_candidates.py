"""Candidates: what is believed of them beforehand, in whatever form, order and number they are given."""

from __future__ import annotations

import datetime
import decimal
import math
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unveil
from unveil._posterior import Prior, posterior
from unveil.errors import CallError, UnveilWarning
from unveil.synthesis import CartSynthesizer

COUNTS = {0: 27, 1: 14, -1: 14, -2: 3, 2: 2}
RELEASED = {0: 30, 1: 15, -1: 12, -2: 3}


def spread(counts):
    return pa.table({"v": [value for value, n in counts.items() for _ in range(n)]})


def asked(counts=COUNTS, released=RELEASED, value=-1, **options):
    """The posterior of the first record with a value; one column, drawn from all of its values."""
    table = spread(counts)
    record = table.column("v").to_pylist().index(value)
    pair = unveil.Pair(table, spread(released))
    options = {"records": [record], "check_settings": False, "structure": "exact"} | options
    risk = posterior(pair, CartSynthesizer(), target="v", **options)
    return risk, risk.distribution(record), risk.posteriors().prior[0]


def by_hand(counts, released, truth, prior):
    """``p(c | Z)`` with ``p(Z | c)`` the product of ``N'_v^S_v``, where the record counts for c."""
    others = {value: n - (value == truth) for value, n in counts.items()}
    mass = {}
    for c, share in prior.items():
        held = others | {c: others.get(c, 0) + 1}
        mass[c] = share * math.prod(held.get(v, 0) ** s for v, s in released.items())
    return {c: one / sum(mass.values()) for c, one in mass.items()}


def test_the_prior_is_that_of_all_values_restricted_to_the_candidates():
    """13 others have -1, and 2 have 2, of 5 values: (13 + 1/5) / (15 + 2/5) = 6/7."""
    _, found, prior = asked(candidates=[-1, 2], prior="marginal")
    assert prior == pytest.approx(6 / 7)
    odds = 6 * (14 / 13) ** 12
    assert found == pytest.approx({-1: odds / (1 + odds), 2: 1 / (1 + odds)})
    assert found[-1] == pytest.approx(0.936, abs=5e-4)


@pytest.mark.parametrize("candidates", [[-1, 2], [2, -1], [-2, 0, 1], [2], [5, 7, 2], [-9, -8, -1], [0, 9, -9, None]])
@pytest.mark.parametrize("value", [-1, 0, 2])
def test_marginal_by_hand(candidates, value):
    _, found, prior = asked(candidates=candidates, prior="marginal", value=value)
    values = list(dict.fromkeys([*candidates, value]))
    size = len({*COUNTS, *values})
    shares = {c: COUNTS.get(c, 0) - (c == value) + 1 / size for c in values}
    shares = {c: share / sum(shares.values()) for c, share in shares.items()}
    assert prior == pytest.approx(shares[value])
    assert found == pytest.approx(by_hand(COUNTS, RELEASED, value, shares), abs=1e-12)


def test_conditional_by_hand():
    """Too few records for a split: the share among the records of the four other folds, with 5 % of the marginal."""
    _, _, prior = asked(candidates=[-1, 2], prior="conditional")
    values = sorted(spread(COUNTS).column("v").to_pylist())
    # One column, nothing known: the records sorted by value are dealt to the folds in turn.
    fold = values.index(-1) % 5
    mates = [v for i, v in enumerate(values) if i % 5 != fold]
    share = {c: 0.95 * mates.count(c) / len(mates) + 0.05 * (COUNTS[c] - (c == -1) + 0.2) / 60 for c in (-1, 2)}
    assert prior == pytest.approx(share[-1] / sum(share.values()))


@pytest.mark.parametrize("prior", ["uniform", "marginal", "conditional"])
@pytest.mark.parametrize("structure", ["fixed", "exact"])
def test_restricting_is_conditioning(prior, structure):
    """The posterior over candidates is that over all values, given that it is one of them."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 6, 150)
    table = pa.table({"x": x, "v": x + rng.integers(-2, 3, 150), "w": rng.choice(["a", "b"], 150)})
    synthesizer = CartSynthesizer(minbucket=10).fit(table)
    pair = unveil.Pair(table, synthesizer.sample(seed=1))
    records, chosen = list(range(0, 150, 10)), [4, 0, 1]
    options = {"target": "v", "prior": prior, "records": records, "structure": structure}
    whole = posterior(pair, synthesizer, **options)
    some = posterior(pair, synthesizer, candidates=chosen, **options)
    truths = table.column("v").to_pylist()
    for record in records:
        full = whole.distribution(record)
        named = {*chosen, truths[record]}
        total = sum(full[c] for c in named)
        part = {value: share for value, share in some.distribution(record).items() if value in named}
        assert part == pytest.approx({c: full[c] / total for c in named}, abs=1e-12)
        assert all(share == 0 for value, share in some.distribution(record).items() if value not in named)


def test_values_come_in_the_order_of_the_candidates():
    risk, found, prior = asked(candidates=[2, -1, 2], prior=[0.9, 0.1])
    assert risk.values == [2, -1]
    assert prior == pytest.approx(0.1)
    assert found == pytest.approx(by_hand(COUNTS, RELEASED, -1, {2: 0.9, -1: 0.1}))
    risk, found, prior = asked(candidates=[2, 1], prior=Prior([0.2, 0.3, 0.5], given=[]))
    assert (risk.values, prior) == ([2, 1, -1], 0.5)
    assert found == pytest.approx(by_hand(COUNTS, RELEASED, -1, {2: 0.2, 1: 0.3, -1: 0.5}))


def test_priors_that_leave_nothing_are_refused():
    with pytest.raises(CallError, match=r"give 3 probabilities.*then the true values of records looked at"):
        asked(candidates=[2, 1], prior=[0.4, 0.6])
    # Of two records one has -1, which is out of the question for the other, as all but 0 and its truth are.
    records = [spread(COUNTS).column("v").to_pylist().index(value) for value in (-1, -2)]
    with pytest.raises(CallError, match="rules out every value that is in question for record"):
        asked(candidates=[0], prior=[0, 0, 1], records=records)
    with pytest.raises(CallError, match="prior probabilities must be numbers"):
        asked(candidates=[2, -1], prior=["much", "little"])


@pytest.mark.parametrize(
    "given",
    [
        [-1.0, 2.0], ["-1", "2"], np.array([-1, 2]), np.array([-1.0, 2.0]), pd.Series([-1, 2]), pa.array([-1, 2]),
        (-1, 2), {-1, 2}, iter([-1, 2]), [np.int8(-1), np.float32(2)], [decimal.Decimal(-1), 2], {"v": [-1, 2]},
    ],
)  # fmt: skip
def test_ways_to_write_them(given):
    _, found, prior = asked(candidates=given, prior="marginal")
    assert prior == pytest.approx(6 / 7)
    assert set(found) == {-1, 2}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "the list is empty"),
        ("12", "give a list of values"),
        (5, "give a list of values"),
        ([1.5], "do not fit its values"),
        (["old"], "do not fit its values"),
        ([object()], "do not fit its values"),
        ([[1, 2, 3]], "do not fit its values"),
        ([(0, 1), 2], "either values or intervals"),
        ([("a", "b")], "ends of intervals must be numbers"),
        ([(0, math.nan)], "is empty"),
        ({"v": []}, "the list is empty"),
        ({"u": [1]}, "not a target"),
    ],
)
def test_refused(given, message):
    with pytest.raises(CallError, match=message):
        asked(candidates=given)


def kinds():
    day = [datetime.date(2020, 1, 1 + i % 9) for i in range(60)]
    moment = [datetime.datetime(2020, 1, 1 + i % 9, 12) for i in range(60)]
    return {
        "day": (pa.array(day), [datetime.date(2020, 1, 3), "2020-01-05", np.datetime64("2020-01-30")]),
        "moment": (pa.array(moment), [datetime.datetime(2020, 1, 3, 12), pd.Timestamp("2020-01-05 12:00")]),
        "text": (pa.array(["a", "b", None] * 20), ["b", "zz", None, np.str_("a")]),
        "truth": (pa.array([True, False, None] * 20), [True, np.bool_(False), None]),
        "real": (pa.array([0.5, 1.5, 2.25] * 20), [0.5, 7, np.nan, None, pd.NA, "2.25"]),
        "code": (pa.array([1, 2, -8] * 20), [1, -8, -9, None]),
        "category": (pa.array(["lo", "mid", "hi"] * 20).dictionary_encode(), ["hi", "none"]),
    }


@pytest.mark.parametrize("kind", list(kinds()))
@pytest.mark.parametrize("prior", ["uniform", "marginal", "conditional"])
def test_kinds_of_values(kind, prior):
    values, candidates = kinds()[kind]
    table = pa.table({"v": values, "x": np.arange(60) % 4})
    options = {"special_codes": {"v": [-8, -9]}} if kind == "code" else {}
    synthesizer = CartSynthesizer(**options).fit(table)
    pair = unveil.Pair(table, synthesizer.sample(seed=1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "column 'v': of the special codes -8, -9 the files hold -8")
        risk = posterior(pair, synthesizer, target="v", candidates=candidates, prior=prior, records=[0, 1, 2])
    for record in range(3):
        found = risk.distribution(record)
        assert sum(found.values()) == pytest.approx(1)
        assert found[values[record].as_py()] > 0
    assert risk.posteriors().prior.min() > 0
    assert risk.n_values <= len(candidates) + 3


def test_a_gap_is_one_value_however_it_is_written():
    values, _ = kinds()["real"]
    table = pa.table({"v": values})
    pair = unveil.Pair(table, table.slice(5))
    ways = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan"), decimal.Decimal("nan")]
    risk = posterior(pair, CartSynthesizer(), target="v", candidates=[*ways, 0.5], records=[0], check_settings=False)
    assert risk.values == [None, 0.5]


def test_codes_and_labels():
    """Also a label whose code no record has; a label that two codes have is none to go by."""
    labels = {1: "single", 2: "married", 3: "widowed", 4: "divorced", 5: "other", 6: "other"}
    table = pa.table({"v": [1, 2, 3] * 20, "x": np.arange(60) % 4})
    synthesizer = CartSynthesizer(kinds={"v": "categorical"}).fit(table)
    schema = {"v": unveil.Variable("v", kind="categorical", labels=labels)}
    pair = unveil.Pair(table, synthesizer.sample(seed=1), schema=schema)
    options = {"target": "v", "records": [0], "check_settings": False}
    for given in (["married", "divorced", 1], [2, 4, "single"], ["2", "4", "1"]):
        assert posterior(pair, synthesizer, candidates=given, **options).values == [2, 4, 1]
    with pytest.raises(CallError, match="'other' is none of type int64"):
        posterior(pair, synthesizer, candidates=["other"], **options)


def test_a_constant_column_need_not_be_one_in_other_worlds():
    """Others are predicted by it then, and it is drawn from all its values: (59/60)^60."""
    rng = np.random.default_rng(0)
    table = pa.table({"v": ["same"] * 60, "w": rng.choice(["a", "b"], 60)})
    synthesizer = CartSynthesizer(minbucket=1, collapse=False, cp=0.0).fit(table)
    pair = unveil.Pair(table, synthesizer.sample(seed=1))
    risk = posterior(pair, synthesizer, target="v", candidates=["other", "same"], records=[0], structure="exact")
    kept, moved = synthesizer.log_prob(pair.releases[0]).variables["w"], None
    changed = pa.table({"v": ["other"] + ["same"] * 59, "w": table.column("w")})
    moved = CartSynthesizer(minbucket=1, collapse=False, cp=0.0).fit(changed).log_prob(pair.releases[0])
    assert moved.variables["v"] == pytest.approx(60 * math.log(59 / 60))
    ratio = math.exp(moved.total - kept)
    assert risk.distribution(0) == pytest.approx({"same": 1 / (1 + ratio), "other": ratio / (1 + ratio)})


# ------------------------------------------------------------------------------------------------------- intervals


def test_intervals_are_in_question_and_nothing_else():
    """Of five values -1 and -2 lie in one interval, 1 in the other; 0 and 2 are out of the question."""
    risk, found, prior = asked(candidates=[(-2, -1), (1, 1.5)])
    assert risk.values == ["-2 to -1", "1 to 1.5"]
    assert prior == pytest.approx(0.5)
    single = by_hand(COUNTS, RELEASED, -1, {-2: 0.25, -1: 0.25, 1: 0.5})
    assert found == pytest.approx({"-2 to -1": single[-2] + single[-1], "1 to 1.5": single[1]})
    outside, found, prior = asked(candidates=[(-2, -1), (1, 1.5)], value=2)
    assert outside.values == ["-2 to -1", "1 to 1.5", 2]
    assert prior == pytest.approx(1 / 3)


@pytest.mark.parametrize("prior", ["marginal", "conditional"])
def test_an_interval_has_the_sum_of_its_values(prior):
    _, single, _ = asked(candidates=[-2, -1, 1], prior=prior)
    _, found, _ = asked(candidates=[(1, 1.5), (-2, -1)], prior=prior)
    assert found == pytest.approx({"-2 to -1": single[-2] + single[-1], "1 to 1.5": single[1]}, abs=1e-12)


def test_intervals_of_large_numbers_are_told_apart():
    risk, found, _ = asked(
        {1000001: 20, 1000007: 40},
        {1000001: 30, 1000007: 30},
        1000001,
        candidates=[(1000000, 1000004), (1000005, 1000009)],
    )
    assert risk.values == ["1000000 to 1000004", "1000005 to 1000009"]
    assert sum(found.values()) == pytest.approx(1)


def test_special_codes_lie_in_no_interval():
    table = pa.table({"v": pa.array([1, 2, 3, -8, None] * 12)})
    synthesizer = CartSynthesizer(special_codes={"v": [-8]}).fit(table)
    pair = unveil.Pair(table, synthesizer.sample(seed=1))
    risk = posterior(pair, synthesizer, target="v", candidates=[(-10, 1), (2, 9)], records=[0, 3])
    assert risk.values == ["-10 to 1", "2 to 9", -8]


def test_an_empty_interval_is_said():
    with pytest.warns(UnveilWarning, match="no value of the files lies in the interval 5 to 6; it is left out"):
        risk, _, _ = asked(candidates=[(-2, 1), (5, 6)])
    assert any("5 to 6" in text for text in risk.to_dict()["warnings"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(candidates=[(-2, 1), (1.5, 6)])


def test_several_targets_in_any_order():
    rng = np.random.default_rng(1)
    table = pa.table({"a": rng.choice(["p", "q"], 40), "b": rng.integers(0, 4, 40)})
    synthesizer = CartSynthesizer(minbucket=3).fit(table)
    pair = unveil.Pair(table, synthesizer.sample(seed=1))
    options = {"candidates": {"b": [3, 1]}, "prior": "marginal", "records": [0, 1, 2, 3]}
    one = posterior(pair, synthesizer, target=["a", "b"], **options)
    other = posterior(pair, synthesizer, target=["b", "a"], **options)
    for record in range(4):
        turned = {(b, a): share for (a, b), share in one.distribution(record).items()}
        assert other.distribution(record) == pytest.approx(turned, abs=1e-12)
