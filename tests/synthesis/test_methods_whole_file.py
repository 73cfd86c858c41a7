"""Saturated multinomial and Bayesian network: by hand, against the reference, and the noise that privacy asks for."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unveil.errors import CallError, DataError
from unveil.synthesis import Synthesizer
from unveil.synthesis.methods import bayes_network, catall
from unveil.synthesis.methods.laplace import Bits, noisy_counts
from unveil.synthesis.methods.whole_file import WHOLE_FILE, BayesNetworkSynthesizer, CatallSynthesizer

SMALL = pa.table({"sex": ["f", "f", "f", "m", "m", None], "ill": [0, 0, 1, 0, 0, 0]})
PUBLIC = {"sex": {"levels": ["f", "m"], "gaps": True}, "ill": {"levels": [0, 1]}}


def counts(release: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(column.to_pylist() for column in release.columns), strict=True))


def probabilities(fitted: Any, cells: pa.Table) -> np.ndarray:
    return np.exp(fitted.log_prob(cells).records)


def all_cells(levels: Mapping[str, list[object]]) -> pa.Table:
    rows = list(product(*levels.values()))
    return pa.table({name: [row[j] for row in rows] for j, name in enumerate(levels)})


SMALL_CELLS = all_cells({"sex": ["f", "m", None], "ill": [0, 1]})


@pytest.mark.parametrize("name", sorted(WHOLE_FILE))
def test_follows_the_protocol(name: str, make_frame: Callable[[Any], Any]) -> None:
    frame = make_frame(SMALL)
    synthesizer = WHOLE_FILE[name](noise_seed=1, schema=PUBLIC)
    with pytest.raises(CallError, match=r"call fit\(original\) first"):
        synthesizer.sample()
    assert isinstance(synthesizer, Synthesizer)
    fitted = synthesizer.fit(frame)
    assert fitted is synthesizer
    one = fitted.sample(seed=3)
    assert type(one) is type(frame)
    assert len(one) == 6
    assert list(getattr(one, "column_names", None) or one.columns) == ["sex", "ill"]
    copies = fitted.sample(4, m=3, seed=3)
    assert [len(copy) for copy in copies] == [4, 4, 4]
    again = fitted.sample(4, m=2, seed=3)
    assert all(str(a) == str(b) for a, b in zip(copies, again, strict=False))
    assert len(fitted.sample(0)) == 0
    for wrong in ({"n": -1}, {"m": 0}, {"seed": -1}, {"n": True}):
        with pytest.raises(CallError, match="whole number"):
            fitted.sample(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(WHOLE_FILE))
def test_types_come_back(name: str, make_frame: Callable[[Any], Any]) -> None:
    """Categories, dates and whole numbers with gaps are as they were."""
    frame = make_frame(
        {
            "region": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
            "day": pa.array([1, 2, None, 4], pa.date32()),
            "rooms": pa.array([1, 2, 3, 3], pa.int16()),
        }
    )
    release = WHOLE_FILE[name](epsilon=None).fit(frame).sample(20, seed=1)
    if isinstance(frame, pa.Table):
        assert release.schema == frame.schema
    else:
        assert list(release.dtypes) == list(frame.dtypes)


@pytest.mark.parametrize("name", sorted(WHOLE_FILE))
def test_wrong_calls(name: str) -> None:
    for epsilon in (0, -1.0, math.nan, "1", True):
        with pytest.raises(CallError, match="epsilon must be a number above 0"):
            WHOLE_FILE[name](epsilon=epsilon).fit(SMALL)
    with pytest.raises(DataError, match="no records"):
        WHOLE_FILE[name](epsilon=None).fit(SMALL.slice(0, 0))
    with pytest.raises(CallError, match="no column"):
        WHOLE_FILE[name](epsilon=None, kinds={"age": "numeric"}).fit(SMALL)
    with pytest.raises(DataError, match="no column 'ill'"):
        WHOLE_FILE[name](noise_seed=1, schema=PUBLIC).fit(SMALL).log_prob(SMALL.select(["sex"]))  # type: ignore[attr-defined]


# catall


def test_catall_without_prior_is_the_table() -> None:
    fitted = CatallSynthesizer(prior=0).fit(SMALL)
    assert fitted.n_cells == 6
    assert probabilities(fitted, SMALL_CELLS).tolist() == pytest.approx([2 / 6, 1 / 6, 2 / 6, 0, 1 / 6, 0])


def test_catall_prior_is_spread_evenly() -> None:
    fitted = CatallSynthesizer(prior=3).fit(SMALL)
    expected = (np.array([2, 1, 2, 0, 1, 0]) + 3 / 6) / 9
    np.testing.assert_allclose(probabilities(fitted, SMALL_CELLS), expected)
    drawn = counts(fitted.sample(30_000, seed=2))
    observed = [drawn[row] for row in zip(*(c.to_pylist() for c in SMALL_CELLS.columns), strict=True)]
    assert stats.chisquare(observed, 30_000 * expected).pvalue > 0.001


def test_catall_names_what_is_impossible() -> None:
    fitted = CatallSynthesizer(prior=0).fit(SMALL)
    found = fitted.log_prob(pa.table({"sex": ["f", "m", "x"], "ill": [0, 1, 0]}))
    assert found.total == -math.inf
    assert found.n_impossible == 2
    assert found.finite == pytest.approx(math.log(2 / 6))
    assert found.first_impossible is not None
    assert (found.first_impossible.record, found.first_impossible.value) == (1, ("m", 1))
    assert CatallSynthesizer(prior=1).fit(SMALL).log_prob(pa.table({"sex": ["x"], "ill": [0]})).total == -math.inf


def test_catall_of_tables_beyond_any_memory() -> None:
    """40 columns of 100 values: 10^80 cells; a record that was not observed has only its prior."""
    rng = np.random.default_rng(1)
    wide = pa.table({f"v{j}": rng.integers(100, size=500) for j in range(40)})
    fitted = CatallSynthesizer(prior=1).fit(wide)
    levels = math.prod(len(set(column.to_pylist())) for column in wide.columns)
    assert fitted.n_cells == levels
    log = fitted.log_prob(wide.slice(0, 1)).total
    assert log == pytest.approx(-math.log(501))
    mixed = pa.table({name: wide.column(name).slice(j, 1) for j, name in enumerate(wide.column_names)})
    assert fitted.log_prob(mixed).total == pytest.approx(-math.log(levels) - math.log(501))
    assert fitted.sample(10, seed=1).num_rows == 10
    public = {name: {"levels": list(range(100))} for name in wide.column_names}
    with pytest.raises(CallError, match=r"cross table of 40 columns has about 10\^80 cells"):
        CatallSynthesizer(epsilon=1, schema=public).fit(wide)


def test_catall_noise_needs_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catall, "MAX_CELLS", 5)
    with pytest.raises(CallError, match="2 columns has 6 cells and every one needs noise; at most 5"):
        CatallSynthesizer(epsilon=1, schema=PUBLIC).fit(SMALL)


def test_posterior_of_the_16_cells_is_the_closed_form(shared: Path) -> None:
    """Candidates for the last record under the saturated model without prior, for the original and ten releases."""
    with (shared / "golden" / "latner_bayes_posterior_saturated.csv").open() as file:
        rows = list(csv.DictReader(file))
    reference = np.array([[float(value) for key, value in row.items() if key != "combination"] for row in rows])
    original = pyarrow.csv.read_csv(shared / "data" / "latner_original.csv")
    releases = [original, *(pyarrow.csv.read_csv(shared / "data" / f"latner_syn{j:02d}.csv") for j in range(1, 11))]
    log = np.empty((16, 11))
    for i, row in enumerate(rows):
        columns = {name: np.array(original.column(name).to_pylist()) for name in original.column_names}
        for j, name in enumerate(original.column_names):
            columns[name][-1] = int(row["combination"][j])
        fitted = CatallSynthesizer(prior=0).fit(pa.table(columns))
        log[i] = [fitted.log_prob(release).total for release in releases]
    posterior = np.exp(log - log.max(axis=0))
    np.testing.assert_allclose(posterior / posterior.sum(axis=0), reference, atol=1e-10)


def test_laplace_noise_has_its_scale() -> None:
    """Mean absolute value and variance of 200 000 draws: errors 1/sqrt(n) and sqrt(5/n) of the scale."""
    noise = noisy_counts(np.full(200_000, 10_000), 2.5, Bits(1)) - 1e4
    assert np.abs(noise).mean() == pytest.approx(2.5, rel=4 / math.sqrt(200_000))
    assert noise.var() == pytest.approx(2 * 2.5**2, rel=4 * math.sqrt(5 / 200_000))
    assert (noisy_counts(np.zeros(1000, dtype=int), 1.0, Bits(1)) >= 0).all()
    np.testing.assert_array_equal(noisy_counts(np.array([1, 2]), 0, Bits(1)), [1, 2])


@pytest.mark.parametrize(("neighbours", "sensitivity"), [("add_remove", 1), ("replace", 2)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_catall_noise_is_sensitivity_by_epsilon(neighbours: Any, sensitivity: int, epsilon: float) -> None:
    """2000 cells of 100 records: the mean absolute error is the scale, with standard error scale / sqrt(2000)."""
    levels = np.repeat(np.arange(2000), 100)
    fitted = CatallSynthesizer(
        prior=0, epsilon=epsilon, neighbours=neighbours, noise_seed=1, schema={"x": {"levels": list(range(2000))}}
    ).fit(pa.table({"x": levels}))
    share = probabilities(fitted, pa.table({"x": np.arange(2000)}))
    assert share.sum() == pytest.approx(1)
    scale = sensitivity / epsilon
    assert np.abs(share * levels.size - 100).mean() == pytest.approx(scale, rel=4 / math.sqrt(2000))


def test_catall_noise_fades_with_epsilon() -> None:
    plain = probabilities(CatallSynthesizer(prior=1).fit(SMALL), SMALL_CELLS)
    np.testing.assert_allclose(
        probabilities(CatallSynthesizer(prior=1, epsilon=1e9, schema=PUBLIC).fit(SMALL), SMALL_CELLS), plain, atol=1e-6
    )
    exactly = CatallSynthesizer(prior=1, epsilon=math.inf).fit(SMALL)
    np.testing.assert_allclose(probabilities(exactly, SMALL_CELLS), plain)


def test_catall_noise_only_by_seed_if_asked() -> None:
    def shares(noise_seed: int | None) -> list[float]:
        return probabilities(
            CatallSynthesizer(epsilon=1, schema=PUBLIC, noise_seed=noise_seed).fit(SMALL), SMALL_CELLS
        ).tolist()

    assert shares(5) == shares(5)
    assert shares(None) != shares(None)


def test_catall_noisy_draws_follow_the_noisy_shares() -> None:
    fitted = CatallSynthesizer(epsilon=1, schema=PUBLIC, noise_seed=4).fit(SMALL)
    share = probabilities(fitted, SMALL_CELLS)
    drawn = counts(fitted.sample(30_000, seed=2))
    observed = np.array([drawn[row] for row in zip(*(c.to_pylist() for c in SMALL_CELLS.columns), strict=True)])
    assert (observed[share == 0] == 0).all()
    assert stats.chisquare(observed[share > 0], 30_000 * share[share > 0]).pvalue > 0.001


def test_noise_bounds_what_a_release_tells_of_the_16_cells(shared: Path) -> None:
    """Posterior of 1111 for an intruder who knows all other records, noise integrated out, 150 releases.

    With epsilon 1 for the replacement of one record the mean is .071 in the literature's example, and no posterior
    is above e / (e + 15) = .153. The standard error of the mean is about .002.
    """
    original = pyarrow.csv.read_csv(shared / "data" / "latner_original.csv")

    def table(frame: pa.Table) -> np.ndarray:
        bits = [np.asarray(frame.column(name)) for name in original.column_names]
        return np.bincount(bits[0] * 8 + bits[1] * 4 + bits[2] * 2 + bits[3], minlength=16)

    others = table(original) - np.eye(16, dtype=int)[15]
    noise = np.linspace(-40, 40, 4001)
    density = np.exp(-np.abs(noise) / 2) / 4

    def likelihood(synthetic: int, records: int) -> float:
        return float((density * stats.poisson.pmf(synthetic, np.maximum(records + noise, 0))).sum())

    posterior = []
    for seed in range(150):
        public = {name: {"levels": [0, 1]} for name in original.column_names}
        fitted = CatallSynthesizer(prior=0, epsilon=1, schema=public, noise_seed=seed).fit(original)
        synthetic = table(fitted.sample(seed=seed))
        ratio = [likelihood(s, n + 1) / likelihood(s, n) for s, n in zip(synthetic, others, strict=True)]
        posterior.append(ratio[15] / sum(ratio))
    assert np.mean(posterior) == pytest.approx(0.071, abs=0.006)
    assert max(posterior) < math.e / (math.e + 15)


def test_catall_wrong_settings() -> None:
    with pytest.raises(CallError, match="prior"):
        CatallSynthesizer(prior=-1).fit(SMALL)
    with pytest.raises(CallError, match="neighbours"):
        CatallSynthesizer(neighbours="all").fit(SMALL)  # type: ignore[arg-type]


# Bayesian network


def exclusive_or(n: int = 4000) -> pa.Table:
    rng = np.random.default_rng(3)
    a, b = rng.integers(2, size=n), rng.integers(2, size=n)
    return pa.table({"a": a, "b": b, "either": a ^ b, "noise": rng.integers(3, size=n)})


BITS = {"a": {"levels": [0, 1]}, "b": {"levels": [0, 1]}, "either": {"levels": [0, 1]}, "noise": {"levels": [0, 1, 2]}}


def test_network_finds_what_needs_two_parents() -> None:
    """None of the three depends on one other alone, each on the two others."""
    original = exclusive_or()
    fitted = BayesNetworkSynthesizer(epsilon=None, degree=2, noise_seed=1).fit(original)
    release = fitted.sample(5000, seed=1)
    a, b, either = (np.asarray(release.column(name)) for name in ("a", "b", "either"))
    np.testing.assert_array_equal(a ^ b, either)
    found = fitted.log_prob(pa.table({"a": [1, 1], "b": [1, 0], "either": [0, 0], "noise": [0, 0]}))
    assert np.isfinite(found.records[0])
    assert found.records[1] == -math.inf
    assert BayesNetworkSynthesizer(epsilon=None, degree=1).fit(original).log_prob(original).n_impossible == 0


def test_network_of_full_degree_is_the_table() -> None:
    for seed in range(4):
        fitted = BayesNetworkSynthesizer(epsilon=None, degree=9, noise_seed=seed).fit(SMALL)
        assert probabilities(fitted, SMALL_CELLS).tolist() == pytest.approx([2 / 6, 1 / 6, 2 / 6, 0, 1 / 6, 0])


def test_network_of_degree_0_is_independence() -> None:
    fitted = BayesNetworkSynthesizer(epsilon=math.inf, degree=0).fit(SMALL)
    expected = np.outer([3 / 6, 2 / 6, 1 / 6], [5 / 6, 1 / 6]).ravel()
    np.testing.assert_allclose(probabilities(fitted, SMALL_CELLS), expected)


@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_network_probabilities_sum_to_one_and_draws_follow_them(epsilon: float | None) -> None:
    original = exclusive_or(300)
    fitted = BayesNetworkSynthesizer(epsilon=epsilon, degree=2, noise_seed=2, schema=BITS).fit(original)
    cells = all_cells({"a": [0, 1], "b": [0, 1], "either": [0, 1], "noise": [0, 1, 2]})
    share = probabilities(fitted, cells)
    assert share.sum() == pytest.approx(1)
    drawn = counts(fitted.sample(40_000, seed=5))
    observed = np.array([drawn[row] for row in zip(*(c.to_pylist() for c in cells.columns), strict=True)])
    assert (observed[share == 0] == 0).all()
    assert stats.chisquare(observed[share > 0], 40_000 * share[share > 0]).pvalue > 0.001


def test_network_parents_come_first_and_are_few() -> None:
    rng = np.random.default_rng(1)
    original = pa.table({f"v{j}": rng.integers(3, size=200) for j in range(7)})
    for seed in range(5):
        public = {name: {"levels": [0, 1, 2]} for name in original.column_names}
        network = BayesNetworkSynthesizer(epsilon=1, degree=3, noise_seed=seed, schema=public).fit(original).network
        seen: set[str] = set()
        for node in network:
            assert len(node.parents) == min(3, len(seen))
            assert set(node.parents) <= seen
            seen.add(node.name)
        assert len(seen) == 7


def test_network_noise_fades_with_epsilon() -> None:
    original = exclusive_or()
    plain = BayesNetworkSynthesizer(epsilon=None, noise_seed=1).fit(original)
    private = BayesNetworkSynthesizer(epsilon=1e9, noise_seed=1, schema=BITS).fit(original)
    cells = all_cells({"a": [0, 1], "b": [0, 1], "either": [0, 1], "noise": [0, 1, 2]})
    np.testing.assert_allclose(probabilities(private, cells), probabilities(plain, cells), atol=0.02)
    little = BayesNetworkSynthesizer(epsilon=0.01, noise_seed=1, schema=BITS).fit(original)
    assert np.abs(probabilities(little, cells) - probabilities(plain, cells)).max() > 0.02


def test_network_table_noise_has_its_scale() -> None:
    """One column, all of epsilon for its table: scale 2 / epsilon, standard error scale / sqrt(2000)."""
    levels = np.repeat(np.arange(2000), 100)
    public = {"x": {"levels": list(range(2000))}}
    fitted = BayesNetworkSynthesizer(epsilon=0.8, noise_seed=1, schema=public).fit(pa.table({"x": levels}))
    share = probabilities(fitted, pa.table({"x": np.arange(2000)}))
    assert np.abs(share * levels.size - 100).mean() == pytest.approx(2.5, rel=4 / math.sqrt(2000))


def test_network_noise_of_several_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """d - degree tables share what the structure leaves; only independent ones need d."""
    scales: list[float] = []

    def record(table: np.ndarray, scale: float, bits: Bits) -> np.ndarray:
        scales.append(scale)
        return noisy_counts(table, scale, bits)

    monkeypatch.setattr(bayes_network, "noisy_counts", record)
    original = exclusive_or(100)
    for degree, expected in ((2, [2 / 0.7] * 2), (1, [3 / 0.7] * 3), (0, [4 / 1.0] * 4)):
        for neighbours, sensitivity in (("replace", 2), ("add_remove", 1)):
            scales.clear()
            BayesNetworkSynthesizer(
                epsilon=1, degree=degree, structure_share=0.3, neighbours=neighbours, schema=BITS,  # type: ignore[arg-type]
            ).fit(original)  # fmt: skip
            assert scales == pytest.approx([sensitivity * one for one in expected])


def test_network_structure_is_drawn_by_the_exponential_mechanism() -> None:
    """Three binary columns: which follows the first, 900 fits against exp(e I / (2 S)), chi-square test."""
    rng = np.random.default_rng(2)
    a = rng.integers(2, size=60)
    b = np.where(rng.random(60) < 0.85, a, 1 - a)
    c = rng.integers(2, size=60)
    original = pa.table({"a": a, "b": b, "c": c})
    epsilon, n = 12.0, 60

    def information(x: np.ndarray, y: np.ndarray) -> float:
        joint = np.histogram2d(x, y, bins=2)[0] / n
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = joint * np.log2(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))
        return float(np.nansum(terms))

    public = {name: {"levels": [0, 1]} for name in "abc"}
    sensitivity = math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    weight = np.exp(0.3 * epsilon / 2 / (2 * sensitivity) * np.array([information(a, b), information(a, c)]))
    first = [
        [
            node.name
            for node in BayesNetworkSynthesizer(epsilon=epsilon, degree=1, noise_seed=seed, schema=public)
            .fit(original)
            .network
        ]
        for seed in range(900)
    ]
    starts = Counter(order[0] for order in first)
    assert stats.chisquare([starts[name] for name in "abc"]).pvalue > 0.001
    second = [order[1] for order in first if order[0] == "a"]
    expected = weight / weight.sum()
    assert 0.6 < expected[0] < 0.99
    assert stats.binomtest(second.count("b"), len(second), expected[0]).pvalue > 0.001


def test_network_leaves_out_parents_with_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayes_network, "MAX_CELLS", 6)
    fitted = BayesNetworkSynthesizer(epsilon=1, degree=2, noise_seed=1, schema=BITS).fit(exclusive_or(100))
    sizes = {"a": 2, "b": 2, "either": 2, "noise": 3}
    assert all(math.prod(sizes[name] for name in (node.name, *node.parents)) <= 6 for node in fitted.network)
    assert fitted.sample(5, seed=1).num_rows == 5
    monkeypatch.setattr(bayes_network, "MAX_CELLS", 2)
    with pytest.raises(CallError, match="column 'noise' has 3 values"):
        BayesNetworkSynthesizer(schema=BITS).fit(exclusive_or(100))


def test_network_wrong_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CallError, match="degree"):
        BayesNetworkSynthesizer(degree=-1).fit(SMALL)
    with pytest.raises(CallError, match="structure_share"):
        BayesNetworkSynthesizer(structure_share=1).fit(SMALL)
    monkeypatch.setattr(bayes_network, "MAX_CANDIDATES", 11)
    with pytest.raises(CallError, match="12 candidates for parents"):
        BayesNetworkSynthesizer(degree=2, schema=BITS).fit(exclusive_or(20))


# both


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from(["catall", "dp_bayesnet"]),
    st.sampled_from([None, 0.1]),
)
def test_never_a_crash(seed: int, n: int, name: str, epsilon: float | None) -> None:
    """Gaps only, constants, every record its own value: what is drawn is possible."""
    rng = np.random.default_rng(seed)
    columns = {
        "gaps": pa.nulls(n),
        "constant": ["x"] * n,
        "own": rng.permutation(n),
        "number": pa.array(rng.choice([0.5, np.nan, np.inf], n), from_pandas=True),
        "text": pa.array(rng.choice(["", "a", "b"], n)),
    }
    names = rng.choice(sorted(columns), size=rng.integers(1, 6), replace=False)
    original = pa.table({str(column): columns[column] for column in names})
    public = {
        "gaps": {"levels": ["never"], "gaps": True},
        "constant": {"levels": ["x"]},
        "own": {"bounds": [0, 20], "bins": 3},
        "number": {"bounds": [0.0, 1.0], "bins": 2, "gaps": True},
        "text": {"levels": ["", "a", "b"]},
    }
    schema = {name: public[name] for name in original.column_names}
    fitted: Any = WHOLE_FILE[name](epsilon=epsilon, noise_seed=seed, schema=schema).fit(original)
    release = fitted.sample(9, seed=1)
    found = fitted.log_prob(release)
    assert found.n_impossible == 0
    assert found.total <= 1e-9
