"""One variable fitted to another original, against a fit of the whole synthesizer to a file of those records."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from posterior.brute_force import fitted
from posterior.random_worlds import FAR, column_of, method_for
from unveil._posterior import refitted_variables
from unveil._posterior.refitted_variables import OtherOriginal, RefittedVariables
from unveil._posterior.tree_sequence import build_sequence
from unveil.errors import DataError, UnveilWarning

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
        first = table.column("a")[0].as_py()
        options["rules"] = {"c": [({"a": first}, table.column("c")[0].as_py())]}
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
