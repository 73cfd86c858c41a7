"""The posterior in random worlds against brute force; and the likelihood itself against counts by hand."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import unveil
from posterior.brute_force import fitted, posterior_of
from posterior.random_worlds import random_world
from unveil._posterior import posterior
from unveil.errors import DataError, UnveilError, UnveilWarning
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods.whole_file import BayesNetworkSynthesizer

HOW = {
    "donor shares of sequential CART": "walked",
    "donor shares of sequential CART, other methods fitted to every world": "fitted",
    "the synthesizer fitted to every world": "fitted",
}


def asked(world, **options):
    pair = unveil.Pair(world.table, world.releases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return posterior(
            pair, CartSynthesizer(**world.settings), target=world.target, known=world.known,
            candidates=world.candidates, prior=world.prior, records=world.records, structure="exact", replicates=3,
            **options,
        )  # fmt: skip


def compared(seed):
    """How one world was answered, after a look at whether the answer is right."""
    world = random_world(seed)
    try:
        risk = asked(world)
    except UnveilError as error:
        return f"world {seed}: {error}"
    found = risk.posteriors()
    truths = world.table.column(world.target).to_pylist()
    if risk.settings_check is not None:
        assert risk.settings_check.verdict == "fits", seed
    how = HOW.get(risk.likelihood, "simulated")
    if how == "simulated":
        assert any("simulated" in text and "weak lower bound" in text for text in risk.warnings), seed
        assert np.isfinite(found.posterior).all(), seed
        return how
    for i, record in enumerate(world.records):
        prior, wanted = posterior_of(world, record)
        shares = risk.distribution(record)
        assert found.prior[i] == pytest.approx(prior[truths[record]], abs=1e-9), seed
        assert found.posterior[i] == pytest.approx(wanted[truths[record]], abs=1e-9), seed
        assert {value: shares.get(value, 0.0) for value in wanted} == pytest.approx(wanted, abs=1e-9), seed
        assert sum(shares.values()) == pytest.approx(1), seed
    return how


def counted(seeds):
    """Answers by how they were had; few are refused, and none because the release could not be the package's own."""
    answers = [compared(seed) for seed in seeds]
    told = Counter(answers)
    refused = [one for one in answers if one not in ("walked", "fitted", "simulated")]
    assert not [one for one in refused if "did not make" in one or "impossible" in one]
    assert len(refused) <= 0.03 * len(answers), refused
    assert told["walked"] >= 0.6 * len(answers), told
    assert told["walked"] + told["fitted"] >= 0.85 * len(answers), told
    return told


def test_random_worlds():
    assert counted(range(150))["fitted"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("begin", [150, 250, 350])
def test_more_random_worlds(begin):
    counted(range(begin, begin + 100))


# --------------------------------------------------------------- the likelihood itself, with nothing of the package's


def log_of_sample(original, release):
    """Every value is drawn from all of the original's."""
    log = 0.0
    for name in original.column_names:
        values = original.column(name).to_pylist()
        for value in release.column(name).to_pylist():
            count = values.count(value)
            log += math.log(count / len(values)) if count else -math.inf
    return log


def two_leaves(x, y, minbucket, collapse):
    """Donors of y by value of x where the tree splits on a variable of two values; of all where it does not.

    Gini falls by a split unless shares are equal; with the collapse it has to change the number of misclassified
    records, which are those not of the most frequent value.
    """
    sides = {value: [b for a, b in zip(x, y, strict=True) if a == value] for value in dict.fromkeys(x)}
    whole = {value: list(y) for value in sides}
    if len(sides) < 2 or len(y) < 3 * minbucket or min(map(len, sides.values())) < minbucket or len(set(y)) < 2:
        return whole

    def wrong(values):
        return len(values) - max(Counter(values).values())

    def gini(values):
        return len(values) - sum(count**2 for count in Counter(values).values()) / len(values)

    lost = wrong if collapse else gini
    falls = lost(y) - sum(map(lost, sides.values())) > 1e-8 * lost(y)
    return sides if falls else whole


def log_of_two(original, release, minbucket, collapse):
    """A file of two columns: the first is drawn from all values, the second from a leaf."""
    x, y = (original.column(name).to_pylist() for name in "xy")
    leaves = two_leaves(x, y, minbucket, collapse)
    log = 0.0
    for a, b in zip(*(release.column(name).to_pylist() for name in "xy"), strict=True):
        shares = x.count(a) / len(x), leaves[a].count(b) / len(leaves[a])
        log += sum(math.log(share) if share else -math.inf for share in shares)
    return log


@pytest.mark.parametrize("seed", range(30))
def test_probability_of_sampled_columns_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    original = pa.table(
        {
            "a": rng.choice(["p", "q", "r"], n),
            "t": pa.array(rng.integers(-2, 3, n), mask=rng.random(n) < 0.2),
            "u": pa.array(rng.choice(["x", "y"], n), mask=rng.random(n) < 0.2),
        }
    )
    fit = fitted({"methods": "sample", "predictors": {"t": [], "u": []}, "special_codes": {"t": [-2]}}, original)
    for draw in range(3):
        release = fit.sample(20, seed=draw)
        assert fit.log_prob(release).total == pytest.approx(log_of_sample(original, release), abs=1e-9)


@pytest.mark.parametrize(("minbucket", "collapse"), list(itertools.product([1, 2, 5], [True, False])))
def test_probability_under_a_tree_of_two_leaves_by_hand(minbucket, collapse):
    for seed in range(25):
        rng = np.random.default_rng([seed, minbucket])
        n = int(rng.integers(8, 60))
        x = rng.choice(["p", "q"], n, p=[0.4, 0.6])
        y = np.where(rng.random(n) < np.where(x == "p", 0.3, 0.6), "a", rng.choice(["b", "c"], n))
        original = pa.table({"x": x, "y": y})
        settings = {"minbucket": minbucket, "collapse": collapse}
        fit = fitted(settings, original)
        if fit.plans[1].lookup is not None:
            continue
        release = fit.sample(25, seed=seed)
        assert fit.log_prob(release).total == pytest.approx(log_of_two(original, release, minbucket, collapse))


@pytest.mark.parametrize(("minbucket", "collapse"), [(1, False), (3, True), (5, False)])
def test_posterior_under_a_tree_of_two_leaves_by_hand(minbucket, collapse):
    """All values of both columns, of every record, from the counts alone."""
    for seed in range(6):
        rng = np.random.default_rng([seed, minbucket, 7])
        n = int(rng.integers(20, 40))
        x = rng.choice(["p", "q"], n, p=[0.4, 0.6])
        y = np.where(rng.random(n) < np.where(x == "p", 0.3, 0.6), "a", rng.choice(["b", "c"], n))
        original = pa.table({"x": x, "y": y})
        settings = {"minbucket": minbucket, "collapse": collapse}
        release = fitted(settings, original).sample(seed=seed)
        pair = unveil.Pair(original, release)
        for target in "xy":
            risk = posterior(pair, CartSynthesizer(**settings), target=target, structure="exact")
            for record in range(0, n, 5):
                log = {}
                for value in sorted(set(original.column(target).to_pylist())):
                    world = original.to_pydict()
                    world[target][record] = value
                    log[value] = log_of_two(pa.table(world), release, minbucket, collapse)
                top = max(log.values())
                total = sum(math.exp(one - top) for one in log.values())
                wanted = {value: math.exp(one - top) / total for value, one in log.items()}
                assert risk.distribution(record) == pytest.approx(wanted, abs=1e-9)


# ------------------------------------------------------------------------------------ columns drawn from all values


def depending(seed=0, n=200):
    rng = np.random.default_rng(seed)
    a = rng.choice(["p", "q"], n)
    return pa.table({"a": a, "t": np.where(rng.random(n) < np.where(a == "p", 0.85, 0.15), "y", "n")})


def sampled_posterior(original, release, name, record):
    """Record i with value c: of n donors N'_c have it, and ``p(Z | c)`` is the product of ``(N'_v / n)^S_v``."""
    values, drawn = original.column(name).to_pylist(), Counter(release.column(name).to_pylist())
    others = Counter(values[:record] + values[record + 1 :])
    log = {
        c: sum(s * math.log(others[v] + (v == c)) if others[v] + (v == c) else -math.inf for v, s in drawn.items())
        for c in set(values)
    }
    top = max(log.values())
    total = sum(math.exp(one - top) for one in log.values())
    return {c: math.exp(one - top) / total for c, one in log.items()}


@pytest.mark.parametrize("options", [{"methods": {"t": "sample"}}, {"methods": "sample"}, {"predictors": {"t": []}}])
def test_a_sampled_target_tells_its_frequency_only(options):
    original = depending()
    synthesizer = CartSynthesizer(minbucket=20, **options).fit(original)
    pair = unveil.Pair(original, synthesizer.sample(seed=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        risk = posterior(pair, synthesizer, target="t", sample=40, seed=1)
    assert risk.walked
    assert risk.settings_check.verdict == "fits"
    assert 0.5 <= risk.mean_posterior < 0.51
    release = synthesizer.sample(seed=0)
    for structure in ("fixed", "exact"):
        for record in risk.posteriors().members.tolist():
            wanted = sampled_posterior(original, release, "t", record)
            assert risk.distribution(record, structure=structure) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seed", range(50))
def test_the_packages_own_release_is_possible(seed):
    """A tree of single records could not have drawn what was drawn from all of them."""
    rng = np.random.default_rng(seed)
    n = 60
    a = rng.integers(0, 5, n)
    t = np.round(a + rng.normal(size=n), 1)
    original = pa.table({"a": a, "t": pa.array(t, mask=rng.random(n) < 0.1), "b": rng.choice(["u", "v", "w"], n)})
    sampled = [{"t": "sample"}, {"b": "sample", "t": "sample"}, "sample"][seed % 3]
    synthesizer = CartSynthesizer(minbucket=1, cp=0.0, collapse=False, methods=sampled).fit(original)
    release = synthesizer.sample(seed=seed)
    risk = posterior(unveil.Pair(original, release), synthesizer, target="t", records=[0, 1, 2])
    assert risk.walked
    assert not risk.warnings
    assert not risk.left_out
    for record in range(3):
        assert risk.distribution(record)[original.column("t")[record].as_py()] > 0
        if seed % 3:  # nothing is predicted by the target
            wanted = sampled_posterior(original, release, "t", record)
            assert risk.distribution(record) == pytest.approx(wanted, abs=1e-9)


METHODS = ["sample", "ctree", "logreg", "polyreg", "pmm", "normrank", "norm", "rf"]


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_says_is_asked_of_it(method):
    """The exact posterior where it has probabilities, a simulated one that says so where it has none."""
    rng = np.random.default_rng(3)
    n = 80
    a, b = rng.choice(["p", "q"], n), rng.integers(0, 9, n)
    latent = b + 2 * (a == "p") + rng.normal(size=n)
    numeric = method in ("pmm", "normrank", "norm")
    y = np.round(latent) if numeric else np.where(latent > 5, "yes", "no")
    original = pa.table({"a": a, "b": b, "y": y, "c": rng.choice(["u", "v"], n)})
    settings = {"methods": {"y": method}, "predictors": {"c": ["a"]}}
    synthesizer = fitted(settings, original)
    pair = unveil.Pair(original, synthesizer.sample(seed=2))
    # What does not depend on the target, and what is not predicted by it, does not matter.
    apart = posterior(pair, synthesizer, target="c", records=[0, 1])
    assert apart.walked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        risk = posterior(pair, synthesizer, target="y", candidates=y[:3].tolist(), records=[0, 1], replicates=3)
    wanted = {"sample": "walked", "rf": "simulated"}.get(method, "fitted")
    assert HOW.get(risk.likelihood, "simulated") == wanted
    assert any(method in text.lower().replace("randomforest", "rf") for text in risk.warnings) == (wanted != "walked")


def test_somebodys_own_method_and_sequence_are_not_taken_for_those_of_the_package():
    class Blunt(type(CartSynthesizer().cart)):
        """Draws from all donors, whatever the predictors are."""

        def fit(self, response, predictors, rng):
            return super().fit(response, [], rng)

    original = depending(n=60)
    release = CartSynthesizer(methods={"t": Blunt()}).fit(original).sample(seed=1)
    pair = unveil.Pair(original, release)
    with pytest.warns(UnveilWarning, match="modelled by Blunt"):
        risk = posterior(pair, CartSynthesizer(methods={"t": Blunt()}), target="t", records=[0, 1])
    for record in (0, 1):
        assert risk.distribution(record) == pytest.approx(sampled_posterior(original, release, "t", record), abs=1e-9)

    class Own(CartSynthesizer):
        def sample(self, n=None, *, m=1, seed=1):
            return original

    with pytest.warns(UnveilWarning, match="simulated"):
        risk = posterior(unveil.Pair(original, release), Own(), target="t", records=[0], replicates=2)
    assert risk.structures == ("simulated",)


def test_a_withheld_column_without_probabilities_does_not_matter():
    """What is left is the file without that column, which predicts nothing."""
    rng = np.random.default_rng(5)
    n = 90
    a, b = rng.choice(["p", "q"], n), rng.integers(0, 5, n)
    table = pa.table(
        {"a": a, "b": b, "c": np.round(b + rng.normal(size=n), 1), "d": np.where(b + rng.normal(size=n) > 2, "y", "n")}
    )
    whole = {"methods": {"c": "rf"}, "predictors": {"d": ["a", "b"]}, "minbucket": 3}
    release = fitted(whole, table).sample(seed=1)
    names = ["a", "b", "d"]
    wanted = posterior(
        unveil.Pair(table.select(names), release.select(names)),
        CartSynthesizer(minbucket=3),
        target="b",
        records=[0, 1],
    )
    for given, options in ((release, {"withheld": ["c"]}), (release.select(names), {})):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            risk = posterior(unveil.Pair(table, given), CartSynthesizer(**whole), target="b", records=[0, 1], **options)
        assert risk.walked
        for record in (0, 1):
            assert risk.distribution(record) == pytest.approx(wanted.distribution(record), abs=1e-12)
    with pytest.warns(UnveilWarning, match=r"withheld=\['c'\] gives the exact posterior"):
        risk = posterior(
            unveil.Pair(table, release),
            CartSynthesizer(**whole),
            target="b",
            records=[0],
            candidates=[0, 1],
            replicates=2,
        )
    assert risk.structures == ("simulated",)
    used = {"methods": {"c": "logreg"}, "minbucket": 3}
    table = table.set_column(2, "c", pa.array(np.where(table.column("c").to_numpy() > 2, "u", "v")))
    with pytest.raises(DataError, match="no column 'c' by which 'd' was synthesised"):
        posterior(
            unveil.Pair(table, fitted(used, table).sample(seed=1)), CartSynthesizer(**used), target="b", withheld=["c"]
        )


def test_a_likelihood_that_holds_for_what_a_fit_drew_is_no_likelihood():
    original = depending(n=40)

    class Drawn:
        """Forgets records at random, as its ``log_prob`` knows and the intruder does not."""

        draws_in_fit = True
        seeds: ClassVar[list[int]] = []

        def fit(self, frame, seed):
            self.seeds.append(seed)
            self.inner = CartSynthesizer().fit(frame)
            return self

        def sample(self, n, seed):
            return self.inner.sample(n, seed=seed)

        def log_prob(self, release):
            raise AssertionError("asked for it")

    release = CartSynthesizer().fit(original).sample(seed=1)
    with pytest.warns(UnveilWarning, match="simulated"):
        posterior(unveil.Pair(original, release), Drawn(), target="t", records=[0], replicates=4)
    assert len(set(Drawn.seeds)) >= 8, "every file of each of two worlds has a fit of its own"
    network = BayesNetworkSynthesizer(epsilon=None, degree=1)
    drawn = network.fit(original).sample(seed=1)
    with pytest.warns(UnveilWarning, match="simulated"):
        again = [
            posterior(unveil.Pair(original, drawn), network, target="t", records=[0], replicates=4).mean_posterior
            for _ in range(2)
        ]
    assert again[0] == again[1]


def test_a_synthesizers_own_likelihood_is_that_of_all_columns():
    original = depending(n=40)

    class Own:
        def fit(self, frame):
            self.inner = CartSynthesizer().fit(frame)
            return self

        def log_prob(self, release):
            return self.inner.log_prob(release).total

    pair = unveil.Pair(original, CartSynthesizer().fit(original).sample(seed=1))
    with pytest.raises(DataError, match="likelihood is that of all columns"):
        posterior(pair, Own(), target="t", records=[0], withheld=["a"])
