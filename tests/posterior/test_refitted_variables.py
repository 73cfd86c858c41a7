"""One variable fitted to another original, against a fit of the whole synthesizer to a file of those records."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from posterior.brute_force import fitted, with_values
from posterior.random_worlds import FAR, column_of, method_for
from unveil._posterior import mixed, refitted_variables
from unveil._posterior.refitted_variables import OtherOriginal, RefittedVariables
from unveil._posterior.tree_sequence import build_sequence
from unveil.errors import CallError, DataError, UnveilWarning
from unveil.synthesis.methods import RandomForest

KINDS = ["text", "truth", "number", "real"]


def random_file(rng):
    """A file, settings that mix methods, and releases."""
    n = int(rng.choice([25, 50, 90]))
    names, columns, kinds = list("abcd"), [], {}
    for name in names:
        kinds[name] = str(rng.choice(KINDS))
        columns.append(column_of(rng, kinds[name], n, columns))
    table = pa.table(dict(zip(names, columns, strict=True)))
    methods = {name: method_for(rng, kinds[name]) for name in names}
    methods = {name: "ctree" if method == "rf" else method for name, method in methods.items()}
    methods |= {name: str(rng.choice(["cart", "sample"])) for name in names if rng.random() < 0.3}
    options = {"minbucket": 3, "methods": methods}
    if rng.random() < 0.5:
        options["special_codes"] = {name: [-8] for name in names if kinds[name] == "number"}
    if rng.random() < 0.4:
        options["visit_order"] = [names[i] for i in rng.permutation(4)]
    if kinds["a"] in ("text", "truth") and "visit_order" not in options and rng.random() < 0.5:
        # The rarest value, so that enough records are left: a regression of two has ties that rounding decides.
        given = table.column("a").to_pylist()
        rare = min(given, key=lambda value: (given.count(value), str(value)))
        options["rules"] = {"c": [({"a": rare}, table.column("c")[0].as_py())]}
    made = fitted(options, table)
    releases = [made.sample(n // 2, seed=seed) for seed in range(int(rng.choice([1, 2])))]
    return table, options, made, releases, kinds


def other_file(table, one, row, order):
    """The file without a record, and with a row at its end; records in the order in which a variable is fitted."""
    rows = table.to_pylist()
    kept = [rows[i] for i in order if i != one.record]
    if one.row is not None:
        own = {} if one.record is None else rows[one.record]
        kept.append(own | {name: row[name] for name in one.row})
    return pa.table({name: pa.array([one[name] for one in kept], table.schema.field(name).type) for name in rows[0]})


def values_for(rng, table, releases, kind, name):
    pool = [v for one in (table, *releases) for v in one.column(name).to_pylist()]
    return pool[rng.integers(len(pool))] if rng.random() < 0.8 else FAR.get(kind, pool)[0]


def compared(seed):
    rng = np.random.default_rng(seed)
    table, options, made, releases, kinds = random_file(rng)
    names = table.column_names
    row = {name: values_for(rng, table, releases, kinds[name], name) for name in names}
    pair = unveil.Pair(table, releases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        sequence = build_sequence(pair, made, {name: [value] for name, value in row.items()}, [])
        refitted = RefittedVariables(sequence, made, [plan.variable.name for plan in made.plans])
    levels = {name: int(sequence.further[name][0]) for name in names}
    some = {name: levels[name] for name in names if rng.random() < 0.5}
    record = int(rng.integers(table.num_rows))
    replaced = OtherOriginal(record, levels), OtherOriginal(record, some)
    for one in (*replaced, OtherOriginal(record), OtherOriginal(None, levels)):
        for name in names:
            order = np.lexsort([sequence.original[other] for other in refitted.needed[name]])
            try:
                whole = fitted(options, other_file(table, one, row, order))
            except unveil.UnveilError as error:
                # A rule names a value that nobody has any more.
                with pytest.raises(type(error)):
                    refitted.log(name, one)
                continue
            wanted = sum(whole.log_prob(release).variables[name] for release in releases)
            impossible, log = refitted.log(name, one)
            assert (-np.inf if impossible.any() else log.sum()) == pytest.approx(wanted, rel=1e-12, abs=1e-12), (
                name,
                one,
            )
            assert refitted.n_impossible(name) == 0


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_one_variable_has_the_likelihood_of_a_fit_of_all(seed):
    compared(seed)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_many_files(seed):
    compared(seed)


def survey(n=80):
    rng = np.random.default_rng(5)
    sex, age = rng.choice(["f", "m"], n), rng.integers(20, 40, n)
    wage = np.round(age / 4 + 2 * (sex == "m") + rng.normal(size=n))
    job = np.where(wage + rng.normal(size=n) > 9, "a", "b")
    return pa.table({"sex": sex, "age": age, "wage": wage, "job": job, "ill": rng.choice(["no", "yes"], n)})


def asked(methods, **options):
    table = survey()
    made = fitted({"minbucket": 3, "methods": methods}, table)
    pair = unveil.Pair(table, [made.sample(seed=seed) for seed in (1, 2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return unveil.posterior(pair, made, structure="exact", **options)


@pytest.mark.parametrize("target", ["sex", "age", "job"])
def test_few_fits(monkeypatch, target):
    """One variable per fit; none for worlds that trees rule out, and one for all that are alike to the variable."""
    fits = []
    real = refitted_variables.fit_plan
    monkeypatch.setattr(
        refitted_variables, "fit_plan", lambda plan, *rest, **more: fits.append(plan) or real(plan, *rest, **more)
    )
    risk = asked({"wage": "norm"}, target=target)
    assert risk.likelihood == (
        "donor shares of sequential CART" if target == "job" else
        "donor shares of sequential CART, other methods fitted to every world"
    )  # fmt: skip
    assert {plan.variable.name for plan in fits} == (set() if target == "job" else {"wage"})
    table, worlds = survey(), risk.n_values
    left = len({tuple(row.values()) for row in table.select(["sex", "age", "wage"]).to_pylist()})
    assert len(fits) <= left * (worlds - 1) + 1
    if target == "age":
        assert len(fits) < 0.9 * left * (worlds - 1), "trees rule out some"
        assert (risk.posteriors().possible_worlds < worlds).any()


def test_each_release_and_all_together():
    both = asked({"wage": "ctree", "ill": "polyreg"}, target="sex", records=[0, 3, 9], releases="both")
    with np.errstate(divide="ignore"):
        log = sum(np.log(both.posteriors(r).probabilities) for r in (1, 2))
    product = np.exp(log - log.max(axis=1, keepdims=True))
    assert both.posteriors(0).probabilities == pytest.approx(product / product.sum(axis=1, keepdims=True), abs=1e-9)


def test_parts_are_told_in_the_order_of_visit():
    risk = asked({"wage": "norm"}, target="sex", records=[0, 3, 9])
    assert risk.posteriors().parts == ("sex", "age", "wage", "job", "ill")


def test_impossible_values_are_left_out_or_refused():
    table = survey()
    made = fitted({"minbucket": 3, "methods": {"wage": "pmm"}}, table)
    release = made.sample(seed=1)
    wage = release.column("wage").to_pylist()
    wage[4] = 99.0
    pair = unveil.Pair(table, release.set_column(2, "wage", pa.array(wage)))
    options = {"target": "sex", "records": [0], "structure": "fixed"}
    with pytest.raises(DataError, match="1 of 80 released values are impossible under it, most in column 'wage'"):
        unveil.posterior(pair, made, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risk = unveil.posterior(pair, made, largest_impossible=0.02, **options)
    assert any("1 of 80 released values are impossible" in text for text in risk.warnings)
    assert risk.left_out["wage"] == 1
    assert risk.structures == ("exact",)
    assert any("structure 'fixed' is for trees alone, and 'exact' is computed" in text for text in risk.warnings)


def test_long_work_is_told_before_it_begins(monkeypatch):
    """The number of fits is at most that of records and values that differ, whatever else they are."""
    table = survey()
    made = fitted({"minbucket": 3, "methods": {"wage": "norm"}}, table)
    pair = unveil.Pair(table, made.sample(seed=1))
    options = {"target": "sex", "records": [0, 1, 2, 3, 4, 5]}
    monkeypatch.setattr(mixed, "TOLD_FROM", 0.0)
    left = len({tuple(row.values()) for row in table.slice(0, 6).select(["sex", "age", "wage"]).to_pylist()})
    with pytest.warns(UnveilWarning) as told:
        risk = unveil.posterior(pair, made, **options)
    first, *rest = [str(one.message) for one in told]
    assert first.startswith(f"up to {2 * left} fits, 0 minutes by the first of them: name records, candidates")
    assert len(rest) == 1
    assert "fitted anew" in rest[0]
    assert risk.warnings == (rest[0],), "what depends on the machine is no result"
    with pytest.warns(UnveilWarning) as told:
        unveil.posterior(pair, made, time_limit=0.001, **options)
    assert len(told) == 1


def test_a_time_limit_ends_fits():
    table = survey()
    made = fitted({"minbucket": 3, "methods": {"wage": "ctree"}}, table)
    pair = unveil.Pair(table, made.sample(seed=1))
    with pytest.warns(UnveilWarning, match="fitted anew"):
        risk = unveil.posterior(pair, made, target="age", time_limit=0.05)
    assert 1 <= risk.posteriors().members.size < 80
    told = []
    with pytest.warns(UnveilWarning, match="fitted anew"):
        unveil.posterior(pair, made, target="sex", progress=lambda done, total, name: told.append((done, total)))
    assert told[-1] == (80, 80)
    assert told[0][0] <= 32, "soon, since every world takes a fit"


def forest(**options):
    return {"methods": {"wage": RandomForest(n_trees=4, bootstrap_known=True, **options), "job": "ctree"}}


@pytest.mark.parametrize("target", ["sex", "wage"])
@pytest.mark.parametrize("n_predictors", [None, 1])
def test_a_forest_given_its_bootstrap_samples(target, n_predictors):
    """Against fits with the same seed to files in the same order; another seed gives another posterior."""
    table = survey(50)
    settings = {"minbucket": 3} | forest(n_predictors=n_predictors)
    found = {}
    for seed in (3, 4):
        made = unveil.CartSynthesizer(**settings).fit(table, seed=seed)
        pair = unveil.Pair(table, made.sample(seed=1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnveilWarning)
            risk = unveil.posterior(pair, made, target=target, records=[1, 20])
        assert risk.likelihood.endswith("given its bootstrap samples")
        assert any("who is told the bootstrap samples" in text for text in risk.warnings)
        for record in (1, 20):
            log = {}
            for value in sorted(set(table.column(target).to_pylist())):
                changed = with_values(table, record, {target: value})
                fit = unveil.CartSynthesizer(**settings)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UnveilWarning)
                    log[value] = fit.fit(changed, seed=seed).log_prob(pair.releases[0]).total
            top = max(log.values())
            total = sum(np.exp(one - top) for one in log.values())
            wanted = {value: np.exp(one - top) / total for value, one in log.items()}
            shares = risk.distribution(record)
            assert {value: shares.get(value, 0.0) for value in wanted} == pytest.approx(wanted, abs=1e-9)
        found[seed] = risk.posteriors().probabilities
    assert not np.allclose(found[3], found[4])


def test_bootstrap_samples_are_those_of_one_fit_only():
    table = survey()
    made = unveil.CartSynthesizer(minbucket=3, **forest()).fit(table, seed=3)
    assert (made.told_seed, unveil.CartSynthesizer(methods="rf").fit(table, seed=3).told_seed) == (3, None)
    pair = unveil.Pair(table, made.sample(seed=1))
    for wrong in (
        unveil.CartSynthesizer(minbucket=3, **forest()),
        unveil.CartSynthesizer(minbucket=3, **forest()).fit(table.take(np.arange(80)[::-1]), seed=3),
    ):
        with pytest.raises(CallError, match="give the synthesizer as it was fitted to the original"):
            unveil.posterior(pair, wrong, target="sex", records=[0])
    unsaid = unveil.CartSynthesizer(minbucket=3, methods={"wage": RandomForest(n_trees=4)}).fit(table, seed=3)
    with pytest.warns(UnveilWarning, match="gives no probabilities: the posterior is simulated"):
        risk = unveil.posterior(pair, unsaid, target="sex", records=[0], replicates=2)
    assert risk.structures == ("simulated",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        refitted = RefittedVariables(build_sequence(pair, made, {}, []), made, ["wage"])
    with pytest.raises(CallError, match="one record more or less is not told"):
        refitted.log("wage", OtherOriginal(3))


def test_the_variable_without_probabilities_is_named():
    """Not the first that is no tree, which has probabilities."""
    table = survey()
    made = fitted({"minbucket": 3, "methods": {"wage": "norm", "job": "rf"}}, table)
    pair = unveil.Pair(table, made.sample(seed=1))
    with pytest.warns(UnveilWarning, match="column 'job' is modelled by RandomForest, which gives no probabilities"):
        unveil.posterior(pair, made, target="sex", records=[0], replicates=2)
