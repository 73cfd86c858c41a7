"""Values drawn from donors of leaves, mixed with donors of whole columns."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy.stats import chisquare

import unveil
from unveil import cli
from unveil.errors import CallError, UnveilWarning
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.cart import CartMethod
from unveil.synthesis.rebuild import rebuilt
from unveil.trees import Column

SEX = ["f"] * 30 + ["m"] * 30
WAGE = [None] * 3 + [-8] * 3 + [100, 200, 300] * 8 + [None] * 6 + [400, 500, 600] * 8
PEOPLE = pa.table({"sex": SEX, "wage": WAGE})
SETTINGS = {"minbucket": 5, "collapse": False, "special_codes": {"wage": [-8]}}


def fitted(table=PEOPLE, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return CartSynthesizer(**(SETTINGS if table is PEOPLE else {"n_jobs": 1}) | settings).fit(table)


def share_by_hand(sex, wage, mix):
    """Probability of a wage given the sex: first which special value it is, then the number; each part mixed."""

    def mixed(value, kind, wanted):
        """Share of a value among those of the same sex, and among all, of whom it is asked."""
        people = [(s, kind(w)) for s, w in zip(SEX, WAGE, strict=True) if wanted(w)]
        own = [v for s, v in people if s == sex]
        return (1 - mix) * own.count(value) / len(own) + mix * [v for _, v in people].count(value) / len(people)

    special = (None, -8)
    which = mixed(wage if wage in special else "number", lambda w: w if w in special else "number", lambda _: True)
    return which if wage in special else which * mixed(wage, lambda w: w, lambda w: w not in special)


@pytest.mark.parametrize("mix", [0.05, 0.5, 1.0])
def test_gaps_special_codes_and_numbers_are_mixed_each_by_itself(mix):
    fit = fitted(mix=mix)
    assert list(fit.leaves().values()) == [1, 2, 2]
    for sex in "fm":
        shares = {wage: share_by_hand(sex, wage, mix) for wage in set(WAGE)}
        assert sum(shares.values()) == pytest.approx(1)
        release = pa.table({"sex": [sex] * len(shares), "wage": list(shares)})
        found = fit.log_prob(release)
        assert np.exp(found.records) == pytest.approx([0.5 * share for share in shares.values()])
        assert found.n_impossible == 0


def test_draws_have_the_probabilities():
    mix, n = 0.3, 40_000
    release = fitted(mix=mix).sample(n, seed=11)
    seen = Counter(zip(*(release.column(name).to_pylist() for name in ("sex", "wage")), strict=True))
    expected = {(s, w): n * 0.5 * share_by_hand(s, w, mix) for s in "fm" for w in set(WAGE)}
    assert set(seen) == set(expected)
    assert chisquare([seen[cell] for cell in expected], list(expected.values())).pvalue > 0.001


def test_log_prob_counts_donors_one_by_one():
    original = unveil.simulate.latner_population(400, seed=1)
    release = fitted(original, mix=0.15).sample(seed=2)
    fit, mix = fitted(original, mix=0.15), 0.15
    values = {name: original.column(name).to_pylist() for name in original.column_names}
    drawn = {name: release.column(name).to_pylist() for name in original.column_names}
    tree, before = fit.trees()["var4"].tree, ["var1", "var2", "var3"]
    leaf = tree.apply([np.array(values[name], dtype=float) for name in before]).tolist()
    leaf_of_release = tree.apply([np.array(drawn[name], dtype=float) for name in before]).tolist()
    size, same, of_all = Counter(leaf), Counter(zip(leaf, values["var4"], strict=True)), Counter(values["var4"])
    shares = [
        (1 - mix) * same[at, value] / size[at] + mix * of_all[value] / 400
        for at, value in zip(leaf_of_release, drawn["var4"], strict=True)
    ]
    assert tree.n_leaves > 1
    assert fit.log_prob(release).variables["var4"] == pytest.approx(math.fsum(map(math.log, shares)), rel=1e-12)


def test_without_mixing_donors_are_drawn_as_ever():
    """One number from 0 to 1 per record says where in its leaf the donor is, and nothing else is drawn."""
    response, before = Column(np.array([0, 1, 2, 3], np.int32), "categorical", 4), Column.from_values([0, 0, 1, 1])
    fit = CartMethod(minbucket=2, minsplit=2, collapse=False).fit(response, [before], np.random.default_rng(0))
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    drawn = fit.draw([Column.from_values(np.arange(1000) % 2)], rng).codes
    share = same.random(1000)
    assert drawn.tolist() == (2 * (np.arange(1000) % 2) + (2 * share).astype(int)).tolist()
    assert rng.random() == same.random()
    assert fitted(mix=0).sample(500, seed=3) == fitted().sample(500, seed=3)


def test_mixed_throughout_gives_margins():
    fit = fitted(mix=1)
    n = Counter(WAGE)
    for sex in "fm":
        found = fit.log_prob(pa.table({"sex": [sex] * 3, "wage": pa.array([None, -8, 400])}))
        assert np.exp(found.records) == pytest.approx([0.5 * n[None] / 60, 0.5 * n[-8] / 60, 0.5 * n[400] / 60])


def test_recodings_are_drawn_like_other_variables():
    table = pa.table({"code": [1, 2] * 50, "name": ["one", "two"] * 50})
    carried = fitted(table).sample(2000, seed=1)
    assert len(set(zip(*(carried.column(c).to_pylist() for c in ("code", "name")), strict=True))) == 2
    mixed = fitted(table, mix=0.4).sample(20_000, seed=1)
    pairs = Counter(zip(*(mixed.column(c).to_pylist() for c in ("code", "name")), strict=True))
    assert chisquare([pairs[1, "one"], pairs[1, "two"], pairs[2, "one"], pairs[2, "two"]],
                     [8000, 2000, 2000, 8000]).pvalue > 0.001  # fmt: skip


def test_noise_is_added_to_the_donor_wherever_it_is_from():
    numbers = [float(v) for v in np.r_[np.linspace(0, 10, 200), np.linspace(90, 100, 200)]]
    table = pa.table({"group": ["a"] * 200 + ["b"] * 200, "number": numbers})
    options = {"smoothing": "density", "mix": 0.2}
    release = fitted(table, **options).sample(20_000, seed=1)
    drawn = np.array(release.column("number"))[np.array(release.column("group")) == "a"]
    assert np.mean(drawn > 50) == pytest.approx(0.1, abs=0.01)
    assert not set(drawn) <= set(numbers)
    with pytest.raises(CallError, match="smoothing gives no probabilities"):
        fitted(table, **options).log_prob(release)


@pytest.mark.parametrize("mix", [-0.1, 1.1, "much", None, float("nan")])
def test_a_mix_is_a_share(mix):
    with pytest.raises(CallError, match="mix must be a number from 0 to 1"):
        CartSynthesizer(mix=mix)


@pytest.mark.parametrize("methods", ["ctree", {"wage": "norm"}, {"wage": CartMethod(), "sex": "rf"}])
def test_methods_that_do_not_mix_are_refused(methods):
    with pytest.raises(CallError, match=r"mix: column '\w+' is modelled by '\w+', which does not mix"):
        fitted(mix=0.1, methods=methods)
    assert fitted(mix=0.1, methods={"wage": "sample"}).leaves()


def test_strata_mix_donors_of_the_stratum():
    table = pa.table({"part": ["u", "v"] * 60, "a": ["x", "x", "y", "y"] * 30, "b": [*"pqrspqrt"] * 15})
    release = fitted(table, by="part", mix=1.0, minsplit=5).sample(4000, seed=1)
    seen = set(zip(*(release.column(name).to_pylist() for name in ("part", "b")), strict=True))
    assert seen == {(p, b) for p, b in zip(*(table.column(n).to_pylist() for n in ("part", "b")), strict=True)}


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked")
def test_command_line_and_provenance(tmp_path, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["unveil", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as stop:
            return stop.code or 0
        return 0

    original, made, found = tmp_path / "o.csv", tmp_path / "r.csv", tmp_path / "p.json"
    pa.csv.write_csv(unveil.simulate.latner_population(200, seed=2), original)
    assert call("synthesize", original, "-o", made, "-m", 1, "--mix", 0.25, "--seed", 3) == 0
    provenance = next(tmp_path.glob("*.provenance.json"))
    assert json.loads(provenance.read_text())["settings"]["mix"] == 0.25
    again = rebuilt(provenance, original, [made])
    assert pa.csv.read_csv(made) == again.fit(original).sample(seed=3)
    answers = []
    for how in (["--mix", 0.25], ["--provenance", provenance]):
        assert call("posterior", original, made, "--target", "var4", "--json", found, "--overwrite", *how) == 0
        answers.append(json.loads(found.read_text()))
    assert answers[0] == answers[1]
    assert call("synthesize", original, "-o", tmp_path / "n.csv", "-m", 1, "--mix", 2) == 2
