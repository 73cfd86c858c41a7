"""Whole records as candidates against plain fits to the original with the record replaced."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import unveil
from posterior.brute_force import concerned_by, log_likelihood, with_values
from posterior.random_worlds import random_world
from unveil._posterior import posterior
from unveil.errors import CallError, UnveilError, UnveilWarning
from unveil.synthesis import CartSynthesizer


def random_rows(rng, table, columns):
    """Records of the table with some values of others, in some or all of its columns."""
    n = table.num_rows
    mixed = rng.random((6, len(columns))) < 0.4
    places = np.where(mixed, rng.integers(n, size=mixed.shape), rng.integers(n, size=(6, 1)))
    return pa.table({name: table.column(name).take(places[:, i]) for i, name in enumerate(columns)})


def asked(world, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        pair, maker = unveil.Pair(world.table, world.releases), CartSynthesizer(**world.settings)
        return posterior(pair, maker, candidates=rows, records=world.records, structure="exact")


def by_fits(world, record, rows):
    """Posterior of the record as it is, then of the distinct rows, each by a fit to the changed original."""
    names = rows.column_names
    concerned = concerned_by(world.settings, world.table.column_names, names)
    distinct = list(dict.fromkeys(zip(*(rows.column(name).to_pylist() for name in names), strict=True)))
    own = tuple(world.table.column(name)[record].as_py() for name in names)
    worlds = [own, *(row for row in distinct if row != own)]
    changed = [with_values(world.table, record, dict(zip(names, row, strict=True))) for row in worlds]
    log = np.array([log_likelihood(world.settings, one, world.releases, concerned) for one in changed])
    share = dict(zip(worlds, np.exp(log - log.max()) / np.exp(log - log.max()).sum(), strict=True))
    return [share[own], *(0.0 if row == own else share[row] for row in distinct)]


def compared(seed):
    """How one world was answered, after a look at whether the answer is right."""
    world, rng = random_world(seed), np.random.default_rng([seed, 5])
    names = world.table.column_names
    columns = names if rng.random() < 0.7 else names[: rng.integers(1, len(names) + 1)]
    rows = random_rows(rng, world.table, columns)
    try:
        risk = asked(world, rows)
    except UnveilError:
        return "refused"
    if not risk.walked:
        return "fitted"
    for record in world.records:
        shares = list(risk.distribution(record).values())
        assert shares == pytest.approx(by_fits(world, record, rows), abs=1e-9), (seed, record)
    return "walked"


def test_random_worlds():
    told = Counter(compared(seed) for seed in range(1000, 1025))
    assert told["walked"] >= 16, told


@pytest.mark.slow
def test_more_random_worlds():
    told = Counter(compared(seed) for seed in range(1025, 1285))
    assert told["walked"] >= 170, told


SEXES, AGES = ["f", "m", "m", "f", "m", "f"] * 10, [20, 30, 30, 40, 50, None] * 10


def small(minbucket=2):
    rng = np.random.default_rng(3)
    table = pa.table({"sex": SEXES, "age": AGES, "ill": rng.choice(["no", "yes"], 60)})
    synthesizer = CartSynthesizer(minbucket=minbucket).fit(table)
    return unveil.Pair(table, synthesizer.sample(seed=1)), synthesizer


def test_rows_can_be_written_in_several_ways():
    pair, synthesizer = small()
    rows = [{"age": 30, "sex": "f"}, {"age": None, "sex": "m"}]
    table = pa.table({"age": [30, None], "sex": ["f", "m"]})
    ways = [rows, table, unveil.read(table)]
    found = [posterior(pair, synthesizer, candidates=way, records=[3]) for way in ways]
    assert found[0].target == ("age", "sex")
    assert found[0].known == ("ill",)
    assert found[0].values == ["the record as it is", ("f", 30), ("m", None)]
    assert len({str(one) for one in found}) == 1


def test_the_record_itself_counts_once():
    pair, synthesizer = small()
    rows = [{"sex": "f", "age": 20}, {"sex": "m", "age": 20}]
    with pytest.warns(UnveilWarning, match="1 records are among the candidates themselves"):
        risk = posterior(pair, synthesizer, candidates=rows, records=[0, 1], structure="exact")
    assert risk.posteriors().prior.tolist() == pytest.approx([1 / 2, 1 / 3])
    assert risk.distribution(0)[("f", 20)] == 0


def test_weights_are_the_prior():
    pair, synthesizer = small(20)
    rows = [{"sex": "m", "age": 30}, {"sex": "m", "age": 40}]
    even = posterior(pair, synthesizer, candidates=rows, records=[0], structure="fixed").distribution(0)
    odd = posterior(pair, synthesizer, candidates=rows, records=[0], structure="fixed", prior=[1, 2, 0]).distribution(0)
    own, first, _ = even.values()
    assert own > 0 < first
    assert list(odd.values()) == pytest.approx([own / (own + 2 * first), 2 * first / (own + 2 * first), 0])


def test_a_value_that_no_file_has_is_told():
    pair, synthesizer = small()
    with pytest.warns(UnveilWarning, match="1 of the candidates hold a value of column 'age' that no file has"):
        risk = posterior(pair, synthesizer, candidates=[{"age": 99}, {"age": 20}], records=[1])
    assert risk.values == ["the record as it is", 99, 20]


@pytest.mark.parametrize(
    ("candidates", "options", "message"),
    [
        (pa.table({"sex": ["m"], "weight": [1]}), {}, "no column 'weight'"),
        (pa.table({"sex": pa.array([], pa.string())}), {}, "there are no records in the candidates"),
        ([{"sex": "m"}, {"sex": "f", "age": 3}], {}, "row 1 and row 0 do not both have column 'age'"),
        ([{"sex": "m"}], {"target": "sex"}, "leave target and known out"),
        ([{"sex": "m"}], {"prior": "marginal"}, "prior: with candidates that are records"),
        ([{"sex": "m"}], {"prior": [1, 2, 3]}, "2 numbers from 0"),
        (None, {}, "no target given"),
    ],
)
def test_bad_input_is_refused_in_one_line(candidates, options, message):
    pair, synthesizer = small()
    with pytest.raises(CallError, match=message) as refused:
        posterior(pair, synthesizer, candidates=candidates, **options)
    assert "\n" not in str(refused.value)


def test_advice_is_for_values():
    pair, synthesizer = small()
    risk = posterior(pair, synthesizer, candidates=[{"age": 30}], records=[0])
    with pytest.raises(CallError, match="advice is for the values of a target"):
        risk.advice()


@pytest.mark.parametrize(("errors", "error"), [(0, 1e-12), (3, 0.02)])
@pytest.mark.parametrize("structure", ["fixed", "exact"])
def test_rows_of_one_column_are_its_values(errors, error, structure):
    """Also with several releases; where the intruder errs, the price of an impossible value differs a little."""
    pair, synthesizer = small(5)
    pair = unveil.Pair(pair.original, [synthesizer.sample(seed=s) for s in (1, 2)])
    ages, truths = [20, 30, 40, 50, None], AGES[:12]
    options = {"records": range(12), "structure": structure, "intruder_errors": errors}
    by_value = posterior(pair, synthesizer, target="age", candidates=ages, **options)
    with pytest.warns(UnveilWarning, match="12 records are among"):
        by_row = posterior(pair, synthesizer, candidates=[{"age": age} for age in ages], **options)
    for record, truth in enumerate(truths):
        values, rows = by_value.distribution(record), by_row.distribution(record)
        values["the record as it is"] = values[truth]
        values[truth] = 0.0
        assert rows == pytest.approx(values, abs=error)


def test_a_synthesizer_that_is_fitted_anew():
    """Rules are not walked: the fits themselves are what is compared."""
    pair, _ = small()
    synthesizer = CartSynthesizer(rules={"ill": [("sex == 'x'", "no")]}).fit(pair.original)
    pair = unveil.Pair(pair.original, synthesizer.sample(seed=1))
    rows = [{"sex": "m", "age": 30, "ill": "no"}]
    with pytest.warns(UnveilWarning, match="fitted anew"):
        risk = posterior(pair, synthesizer, candidates=rows, records=[0])
    plain = posterior(pair, CartSynthesizer(), candidates=rows, records=[0], structure="exact")
    assert risk.distribution(0) == pytest.approx(plain.distribution(0), abs=1e-9)


@pytest.mark.parametrize(("candidates", "said"), [(["SINGEL", "MARRIED"], "SINGEL"), (["SINGLE", "never asked"], None)])
def test_a_candidate_that_is_perhaps_misspelt_is_named(candidates, said):
    people = unveil.simulate.demo_population(120, seed=1).select(["sex", "age", "marital"])
    synthesizer = unveil.CartSynthesizer().fit(people)
    pair = unveil.Pair(people, synthesizer.sample(seed=1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        risk = unveil.posterior(pair, synthesizer, target="marital", candidates=candidates, records=[0])
    texts = [str(one.message) for one in caught if "candidate" in str(one.message)]
    wanted = f"no file has the candidate '{said}' of column 'marital'; did you mean 'SINGLE'?"
    assert texts == ([] if said is None else [wanted])
    assert set(texts) <= {str(one) for one in risk.warnings}
