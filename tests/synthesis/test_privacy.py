"""Differential privacy: what has to be declared, that nothing else of the records is used, and that epsilon holds."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import unveil
from unveil.files.write import write_table
from unveil.synthesis.methods import bayes_network, catall
from unveil.synthesis.methods.laplace import Bits, _discrete_laplace, exponential_choice, noisy_counts
from unveil.synthesis.methods.whole_file import WHOLE_FILE, BayesNetworkSynthesizer, CatallSynthesizer
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import rebuilt
from unveil.synthesis.synthetic_files import synthesize_files

METHODS = sorted(WHOLE_FILE)
RICH = 987654.32
PUBLIC = {
    "sex": {"levels": ["f", "m", "other"]},
    "income": {"bounds": [0, 100000], "bins": 8},
    "day": {"bounds": ["2000-01-01", "2019-12-31"], "bins": 4},
    "ill": {"kind": "logical"},
}


def people(n: int = 500, *, rich: bool = True, seed: int = 1) -> pa.Table:
    """Amounts to the cent; with one person whom everybody would know again by the amount."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(9.5, 1, size=n), 2)
    income[0] = RICH if rich else income[0]
    return pa.table(
        {
            "sex": rng.choice(["f", "m"], n),
            "income": income,
            "day": pa.array(rng.integers(11000, 18000, n).astype(np.int32), pa.date32()),
            "ill": rng.random(n) < 0.2,
        }
    )


def values(release: Any, name: str) -> list[Any]:
    return unveil.read(release).column(name).to_pylist()


# ------------------------------------------------------------------------------------------------ what is refused
@pytest.mark.parametrize("method", METHODS)
def test_without_public_levels_and_bounds_there_is_no_epsilon(method: str) -> None:
    options = {} if method == "dp_bayesnet" else {"epsilon": 1}  # its default
    with pytest.raises(unveil.CallError, match=r"levels of 'sex', bounds of 'income', 'day' in a schema.*epsilon=None"):
        unveil.synthesize(people(), method=method, **options)
    partly = {name: PUBLIC[name] for name in ("sex", "day")}
    with pytest.raises(unveil.CallError, match="declare bounds of 'income' in a schema"):
        unveil.synthesize(people(), method=method, epsilon=1, schema=partly)
    assert unveil.synthesize(people(), method=method, epsilon=None, m=1).num_rows == 500


@pytest.mark.parametrize("flavour", ["pandas", "polars", "arrow"])
def test_levels_that_a_frame_lists_are_no_declaration(flavour: str) -> None:
    """Categories and dictionaries are made of the records as a rule."""
    frame: Any = pa.table({"sex": pa.array(["f", "m"] * 9).dictionary_encode()})
    if flavour == "pandas":
        frame = pytest.importorskip("pandas").DataFrame({"sex": ["f", "m"] * 9}, dtype="category")
    if flavour == "polars":
        frame = pytest.importorskip("polars").from_arrow(frame)
    with pytest.raises(unveil.CallError, match="declare levels of 'sex'"):
        CatallSynthesizer(epsilon=1).fit(frame)


def test_levels_that_a_schema_took_from_the_records_are_no_declaration(tmp_path: Path) -> None:
    from unveil.files.schema import schema_text

    table = people().select(["sex", "ill"])
    written = schema_text(unveil.read(table, label="people"))
    (tmp_path / "s.toml").write_text(written)
    with pytest.raises(unveil.CallError, match=r"s.toml: its levels were taken from the records.*set public = true"):
        CatallSynthesizer(epsilon=1, schema=tmp_path / "s.toml").fit(table)
    (tmp_path / "s.toml").write_text(written.replace("public = false", "public = true"))
    assert CatallSynthesizer(epsilon=1, schema=tmp_path / "s.toml").fit(table).sample(3).num_rows == 3


@pytest.mark.parametrize(
    ("column", "declared", "complaint"),
    [
        (["f", "x"], {"levels": ["f", "m"]}, "column 'x', record 2 has 'x', which the schema does not declare"),
        (["f", None], {"levels": ["f", "m"]}, "record 2 has no value, .*declare gaps = true"),
        ([1.0, None], {"bounds": [0, 9]}, "record 2 has no value"),
        ([1, 7], {"levels": [1, 2, 3]}, "record 2 has '7'"),
        (["1", "many"], {"bounds": [0, 9], "kind": "numeric"}, "record 2: 'many' is not a number"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_a_record_that_was_not_declared_is_refused(method: str, column: Any, declared: Any, complaint: str) -> None:
    with pytest.raises(unveil.DataError, match=complaint):
        WHOLE_FILE[method](epsilon=1, schema={"x": declared}).fit(pa.table({"x": column}))


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ({"bounds": [9, 0]}, "bounds must be the smallest and the largest"),
        ({"bounds": [0]}, "bounds must be"),
        ({"bounds": [0, float("inf")]}, "bounds must be"),
        ({"bounds": [True, 9]}, "bounds must be"),
        ({"bounds": [0, "2020-01-01"]}, "bounds must be"),
        ({"bins": 0}, "bins must be a whole number from 1"),
        ({"bins": [0, 5, 5]}, "bins must be"),
        ({"gaps": "yes"}, "gaps must be true or false"),
        ({"levels": [1], "bounds": [0, 9]}, "either levels, or bounds and bins"),
        ({"bounds": [0, 9], "bins": [0, 5]}, "bins must run from one of the bounds to the other"),
        ({"bounds": [0, 9], "kind": "categorical"}, "is categorical: bounds and bins are for"),
        ({"bounds": [0, 9], "kind": "date"}, "is date: bounds and bins are for dates"),
        ({"bounds": ["a", "b"], "kind": "date"}, "'a' is not a date"),
        ({"bounds": [0, 2**60]}, "beyond 2\\^53"),
        ({"bounds": [-1e308, 1e308]}, "must lie between -1e.150"),
        ({"bins": [-1.7e308, 0.0, 1.0]}, "must lie between -1e.150"),
        ({"bounds": [1.0, 1.0000000000000002]}, "each part has 1000 different amounts"),
        ({"bins": [0.0, 5e-324, 1.0]}, "each part has 1000 different amounts"),
        ({"levels": [1, 1.0]}, "two of the declared levels are one"),
        ({"levels": ["a"], "kind": "numeric"}, "not levels of a numeric column"),
        ({"levels": ["a"], "kind": "date"}, "not levels of a date column"),
        ({"bounds": [0, 9], "special_codes": ["-8"]}, "special codes of a numeric column are numbers"),
    ],
)
def test_contradictory_declarations_are_refused(declared: dict[str, Any], complaint: str) -> None:
    with pytest.raises(unveil.CallError, match=complaint):
        CatallSynthesizer(epsilon=1, schema={"x": declared}).fit(pa.table({"x": [1, 2]}))


def test_how_many_records_there_are_is_not_told_where_one_more_or_less_must_not_be() -> None:
    for method in METHODS:
        fitted = WHOLE_FILE[method](epsilon=1, neighbours="add_remove", schema=PUBLIC).fit(people(100))
        with pytest.raises(unveil.CallError, match="give the number of synthetic records"):
            fitted.sample()
        assert fitted.sample(70).num_rows == 70
        assert WHOLE_FILE[method](epsilon=1, schema=PUBLIC).fit(people(100)).sample().num_rows == 100
        with pytest.raises(unveil.CallError, match="neighbours must be"):
            WHOLE_FILE[method](neighbours="some", schema=PUBLIC).fit(people(9))


# --------------------------------------------------------------------------------------------- what a release holds
@pytest.mark.parametrize("method", METHODS)
def test_no_amount_of_a_person_is_seen(method: str) -> None:
    """Every amount is one of 1000 places in a part, which the bounds alone say; nobody's is repeated."""
    original = people()
    schema = PUBLIC | {"income": {"bounds": [0.0, 100000.0], "bins": 8}}
    synthesizer = WHOLE_FILE[method](epsilon=1, schema=schema)
    for _ in range(15):
        release = synthesizer.fit(original).sample()
        assert RICH not in values(release, "income")
        # The places are 12.5 apart, from 6.25 on, and rounded to whole numbers.
        assert {(value - 6.25 + 1) // 12.5 for value in values(release, "income")} <= set(range(8000))
        assert all(abs((value - 6.25) / 12.5 % 1 - 0.5) > 0.45 for value in values(release, "income"))
        assert release.schema.names == original.schema.names


@pytest.mark.parametrize("method", METHODS)
def test_levels_that_nobody_has_are_drawn(method: str) -> None:
    release = WHOLE_FILE[method](epsilon=0.05, schema=PUBLIC, noise_seed=2).fit(people(50)).sample(2000, seed=1)
    assert set(values(release, "sex")) == {"f", "m", "other"}
    parts = np.unique(np.array(values(release, "income")) // 12501)
    assert parts.tolist() == list(range(8))


@pytest.mark.parametrize("method", METHODS)
def test_nothing_but_the_codes_follows_from_the_records(method: str, make_frame: Any, flavour: str) -> None:
    """Files that differ in all that a record can change: order, decimals, extremes, levels, gaps, types."""
    schema = PUBLIC | {"income": {"bounds": [0, 100000], "bins": 8, "gaps": True}}
    one = make_frame(people(60))
    other = make_frame(
        pa.table(
            {
                "sex": ["other"] * 60,
                "income": pa.array([None, *range(59)], pa.int64()),
                "day": pa.array([datetime.date(1970, 1, 1)] * 60),
                "ill": [True] * 60,
            }
        )
    )
    made = [WHOLE_FILE[method](epsilon=1e-6, schema=schema, noise_seed=4).fit(frame) for frame in (one, other)]
    assert made[0].privacy() == made[1].privacy()
    releases = [fitted.sample(200, seed=1) for fitted in made]
    assert [list(getattr(release, "column_names", None) or release.columns) for release in releases] == [
        ["sex", "income", "day", "ill"]
    ] * 2
    if flavour == "pandas":
        assert releases[0].dtypes.equals(releases[1].dtypes)
    else:
        assert releases[0].schema == releases[1].schema


def test_amounts_are_counted_to_their_part_and_those_beyond_the_bounds_to_the_last() -> None:
    income = [-5.0, 0.0, 99.99, 100.0, 250.0, 399.0, 1e9, math.inf, -math.inf, None, -8.0]
    schema = {"x": {"bounds": [0, 399], "bins": 4, "gaps": True, "special_codes": [-8]}}
    fitted = CatallSynthesizer(prior=0, epsilon=1e6, schema=schema).fit(pa.table({"x": income}))
    shares = [
        float(np.exp(fitted.log_prob(pa.table({"x": pa.array([v])})).total)) for v in (7, 150, 200, 399, None, -8)
    ]
    # Four below 100, one each in the next two parts, three in the last, a gap and a special code, each of 11 records;
    # a value is one of the 100 of its part.
    assert shares == pytest.approx([0.04 / 11, 0.01 / 11, 0.01 / 11, 0.03 / 11, 1 / 11, 1 / 11], rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_the_probabilities_of_all_values_sum_to_one(method: str) -> None:
    schema = {
        "a": {"bounds": [0, 5], "bins": [0, 2, 5], "gaps": True, "special_codes": [-8]},
        "b": {"levels": ["x", "y", "z"], "kind": "ordered"},
        "c": {"bounds": ["2020-01-30", "2020-02-02"], "bins": 2},
    }
    original = pa.table(
        {"a": [0, 3, None, -8, 9], "b": ["x", "x", "y", "y", "y"], "c": [datetime.date(2020, 2, 1)] * 5}
    )
    fitted = WHOLE_FILE[method](epsilon=2, schema=schema, noise_seed=1).fit(original)
    days = [datetime.date(2020, 1, 30) + datetime.timedelta(i) for i in range(4)]
    rows = list(itertools.product([*range(6), -8, None], ["x", "y", "z"], days))
    cells = pa.table({name: [row[j] for row in rows] for j, name in enumerate("abc")})
    assert np.exp(fitted.log_prob(cells).records).sum() == pytest.approx(1)
    drawn = Counter(map(tuple, (row.values() for row in fitted.sample(20_000, seed=3).to_pylist())))
    expected = 20_000 * np.exp(fitted.log_prob(cells).records)
    observed = np.array([drawn[row] for row in rows])
    assert observed.sum() == 20_000
    assert (observed[expected == 0] == 0).all()
    large = expected > 5
    pooled = [np.append(one[large], one[~large].sum()) for one in (observed, expected)]
    known = pooled[1] > 0
    assert stats.chisquare(pooled[0][known], pooled[1][known]).pvalue > 0.001
    for impossible in ({"a": 6}, {"a": 2.5}, {"b": "w"}, {"c": datetime.date(2020, 2, 3)}):
        row = {"a": 1, "b": "x", "c": days[0]} | impossible
        assert fitted.log_prob(pa.table({name: [value] for name, value in row.items()})).n_impossible == 1


def test_amounts_are_even_within_their_part() -> None:
    schema = {"x": {"bounds": [10.0, 12.0], "bins": 1}}
    release = CatallSynthesizer(epsilon=1, schema=schema).fit(pa.table({"x": [11.1]})).sample(20_000, seed=1)
    found = np.array(values(release, "x"))
    assert stats.kstest(found, "uniform", args=(10, 2)).pvalue > 0.001
    assert len(set(found)) <= 1000
    assert (np.round(found, 4) == found).all()


def test_kinds_of_columns() -> None:
    moments = pa.array(["2020-01-01T05:00:00", "2020-06-01T07:00:00"]).cast(pa.timestamp("ns"))
    table = pa.table(
        {
            "count": [1.0, 2.0], "score": [0.25, 0.5], "code": ["01", "02"], "flag": [True, False], "moment": moments,
            "grade": ["b", "a"], "when": pa.array([1, 2], pa.date32()), "labelled": ["male", "female"],
        }
    )  # fmt: skip
    schema = {
        "count": {"levels": [1, 2, 3]},
        "score": {"levels": [0.25, 0.5]},
        "code": {"levels": ["01", "02"]},
        "flag": {"levels": [True, False]},
        "moment": {"bounds": ["2020-01-01T00:00:00", "2020-12-31T23:59:59"], "bins": 2},
        "grade": {"levels": ["a", "b", "c"], "kind": "ordered"},
        "when": {"levels": ["1970-01-02", "1970-01-03"], "kind": "date"},
        "labelled": {"levels": [1, 2], "labels": {1: "male", 2: "female"}},
    }
    fitted = CatallSynthesizer(epsilon=1, schema=schema).fit(table)
    release = fitted.sample(40)
    assert [str(kind) for kind in release.schema.types] == [
        "int64", "double", "string", "bool", "timestamp[s]",
        "dictionary<values=string, indices=int32, ordered=1>",
        "date32[day]", "int64",
    ]  # fmt: skip
    assert fitted.log_prob(release).n_impossible == 0


# --------------------------------------------------------------------------------------------------- epsilon holds
def test_noise_is_drawn_as_its_formula_says() -> None:
    """``P(x) = (1 - q) / (1 + q) q^|x|``, ``q = exp(-1 / steps)``: 100 000 draws, chi-square test."""
    for steps in (1, 3, 10):
        q = math.exp(-1 / steps)
        found = Counter(_discrete_laplace(steps, 100_000, Bits(steps)).tolist())
        inner = range(-4 * steps, 4 * steps + 1)
        expected = [100_000 * (1 - q) / (1 + q) * q ** abs(x) for x in inner]
        observed = [found[x] for x in inner]
        ends = (100_000 - sum(observed), 100_000 - sum(expected))
        assert stats.chisquare([*observed, ends[0]], [*expected, ends[1]]).pvalue > 0.001


def test_noisy_counts_are_multiples_of_one_power_of_two_whatever_the_count() -> None:
    for scale, fine in ((2.5, 30), (1e9, 10)):
        found = noisy_counts(np.full(1000, 10**6), scale, Bits(1)) * 2.0**fine
        found = found[found > 0]
        assert (found % 1 == 0).all()
        assert (found % 2 == 1).any()


def test_choices_are_drawn_as_the_exponential_mechanism_says() -> None:
    scores = [0, 40, 50, 41]
    found = Counter(exponential_choice(scores, Fraction(1, 4), 5, Bits(seed)) for seed in range(6000))
    weight = np.exp(0.25 * np.array(scores) / 10)
    assert stats.chisquare([found[i] for i in range(4)], 6000 * weight / weight.sum()).pvalue > 0.001


def files(cells: int, n: int) -> list[tuple[int, ...]]:
    """All files of n records in some cells, by their counts."""
    return [one for one in itertools.product(range(n + 1), repeat=cells) if sum(one) == n]


def information(counts: np.ndarray) -> float:
    share = counts / counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = share * np.log2(share / np.outer(share.sum(axis=1), share.sum(axis=0)))
    return float(np.nansum(terms))


@pytest.mark.parametrize(("shape", "largest"), [((2, 2), 9), ((2, 3), 6), ((3, 3), 4)])
def test_no_score_changes_by_more_than_its_sensitivity(shape: tuple[int, int], largest: int) -> None:
    """All files up to a size, and all that differ in one record: replaced, or added."""
    tables = {n: {one: information(np.array(one).reshape(shape)) for one in files(math.prod(shape), n)}
              for n in range(1, largest + 1)}  # fmt: skip
    scaled = {
        one: n * found / (math.log2(n + 1) + math.log2(math.e)) for n in tables for one, found in tables[n].items()
    }
    worst = 0.0
    for n in range(1, largest):
        own = math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1)) if n > 1 else 1.0
        if min(shape) > 2:
            own = 2 / n * math.log2((n + 1) / 2) + ((n - 1) / n * math.log2((n + 1) / (n - 1)) if n > 1 else 0)
        for one, found in tables[n].items():
            for cell in range(len(one)):
                added = tuple(count + (i == cell) for i, count in enumerate(one))
                worst = max(worst, abs(scaled[added] - scaled[one]))
                for other in range(len(one)):
                    moved = tuple(count - (i == other) for i, count in enumerate(added))
                    if min(moved) >= 0:
                        assert abs(tables[n][moved] - found) <= own + 1e-12
    assert 0.5 < worst < bayes_network.ADDED


def epsilon_seen(fit: Any, one: pa.Table, other: pa.Table, events: Any, draws: int) -> float:
    """Largest lower bound of ``log(P(event | one) / P(event | other))``, 1 error in 10^5 for all events together."""
    counts = [
        Counter(itertools.chain.from_iterable(events(fit(table)) for _ in range(draws))) for table in (one, other)
    ]
    level = 1e-5 / max(2 * len(set(counts[0]) | set(counts[1])), 1)
    bounds = []
    for event in set(counts[0]) | set(counts[1]):
        for a, b in (counts, counts[::-1]):
            low = stats.beta.ppf(level, a[event], draws - a[event] + 1) if a[event] else 0.0
            high = stats.beta.ppf(1 - level, b[event] + 1, draws - b[event]) if b[event] < draws else 1.0
            bounds.append(math.log(low / high) if low else -math.inf)
    return max(bounds)


ONE, OTHER = pa.table({"x": ["a", "a", "b"]}), pa.table({"x": ["a", "b", "b"]})
MORE = pa.table({"x": ["a", "a", "b", "b"]})
AB = {"x": {"levels": ["a", "b"]}}


def share_events(fitted: Any) -> list[tuple[str, int]]:
    """Events on what a release is drawn from: a share below and above some limits, and on release itself."""
    share = float(np.exp(fitted.log_prob(pa.table({"x": ["a"]})).total))
    limits = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    events = [("at most", i) for i, limit in enumerate(limits) if share <= limit]
    return events + [("at least", i) for i, limit in enumerate(limits) if share >= limit]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("neighbours", "pair"), [("replace", (ONE, OTHER)), ("add_remove", (ONE, MORE))])
def test_an_audit_finds_no_more_than_epsilon(method: str, neighbours: Any, pair: tuple[pa.Table, pa.Table]) -> None:
    synthesizer: Any = WHOLE_FILE[method](epsilon=1.5, neighbours=neighbours, schema=AB)
    assert epsilon_seen(synthesizer.fit, *pair, share_events, 800) <= 1.5


@pytest.mark.slow
@pytest.mark.parametrize("room", [catall, bayes_network])
def test_an_audit_finds_a_mechanism_with_a_quarter_of_the_noise(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_little(counts: Any, scale: float, bits: Bits, **options: Any) -> Any:
        return noisy_counts(counts, scale / 4, bits, **options)

    monkeypatch.setattr(room, "noisy_counts", too_little)
    method = "catall" if room is catall else "dp_bayesnet"
    synthesizer: Any = WHOLE_FILE[method](epsilon=1.5, schema=AB)
    assert epsilon_seen(synthesizer.fit, ONE, OTHER, share_events, 800) > 1.5


@pytest.mark.slow
def test_an_audit_of_the_network() -> None:
    """Which parents are chosen, and the tables: four records of three columns, one of them replaced."""
    one = pa.table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]})
    other = pa.table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [0, 1, 0, 1]})
    schema = {name: {"levels": [0, 1]} for name in "abc"}

    def events(fitted: Any) -> list[Any]:
        network = tuple((node.name, node.parents) for node in fitted.network)
        log = fitted.log_prob(pa.table({"a": [1], "b": [1], "c": [1]})).total
        return [network, ("impossible", log == -math.inf), ("small", log < -2.1)]

    synthesizer = BayesNetworkSynthesizer(epsilon=2, degree=1, structure_share=0.9, schema=schema)
    assert epsilon_seen(synthesizer.fit, one, other, events, 500) <= 2


def test_noise_comes_from_the_operating_system_whatever_the_seed() -> None:
    for method in METHODS:
        options = {"method": method, "epsilon": 1, "schema": PUBLIC, "m": 1, "seed": 3}
        assert not unveil.synthesize(people(), **options).equals(unveil.synthesize(people(), **options))
        said = WHOLE_FILE[method](epsilon=1, schema=PUBLIC).fit(people()).privacy()
        assert said is not None
        assert said["noise"] == "of the operating system"


def test_copies_of_one_fit_share_one_noise() -> None:
    """Released twice, the same noisy table: the second copy costs no further epsilon."""
    fitted = CatallSynthesizer(prior=0, epsilon=0.01, schema={"x": {"levels": list(range(50))}}).fit(
        pa.table({"x": list(range(50))})
    )
    first, second = (np.bincount(values(copy, "x"), minlength=50) for copy in fitted.sample(5000, m=2, seed=1))
    assert np.corrcoef(first, second)[0, 1] > 0.8


# -------------------------------------------------------------------------------------------- files and provenance
SCHEMA = """
[columns.sex]
levels = ["f", "m", "other"]

[columns.income]
bounds = [0, 100000]
bins = [0, 10000, 30000, 100000]
gaps = true

[columns.day]
bounds = [2000-01-01, 2019-12-31]

[columns.ill]
kind = "logical"
"""


@pytest.mark.parametrize("ending", ["toml", "json"])
@pytest.mark.parametrize("method", METHODS)
def test_files_say_what_holds(method: str, ending: str, tmp_path: Path) -> None:
    write_table(people(80), tmp_path / "people.csv")
    content = SCHEMA
    if ending == "json":
        columns = {name: dict(PUBLIC[name]) for name in PUBLIC}
        columns["income"] = {"bounds": [0, 100000], "bins": [0, 10000, 30000, 100000], "gaps": True}
        content = json.dumps({"columns": columns})
    (tmp_path / f"public.{ending}").write_text(content, encoding="utf-8")
    done = synthesize_files(
        tmp_path / "people.csv", tmp_path / "out", method=method, m=2, settings={"epsilon": 1.0},
        reading={"schema": str(tmp_path / f"public.{ending}")},
    )  # fmt: skip
    found = read_provenance(done.paths.provenance).privacy
    assert found is not None
    assert (found["epsilon"], found["neighbours"]) == (1.0, "replace")
    assert "known to everybody" in found["meaning"]
    assert found["domain"]["sex"] == {"kind": "categorical", "levels": ["f", "m", "other"], "gaps": False}
    assert found["domain"]["income"]["bins"] == [0, 10000, 30000, 100000]
    assert found["domain"]["day"]["bounds"] == ["2000-01-01", "2019-12-31"]
    assert "Differential privacy with epsilon 1" in str(done)
    for path in done.paths.releases:
        release = unveil.read(path, schema=str(tmp_path / f"public.{ending}"))
        assert release.num_rows == 80
        assert set(release.column("sex").to_pylist()) <= {"f", "m", "other"}


def test_text_is_written_as_the_program_writes_it_not_as_the_records_are(tmp_path: Path) -> None:
    """One record with other decimals, or a letter beyond ASCII, changes no byte of the form."""
    heads = []
    for name, sex, income in (("one", "f", "1.50"), ("other", "\xe9", "7.123456")):
        text = f"sex;income;ill\n{sex};{income};TRUE\nm;20.00;FALSE\n"
        (tmp_path / f"{name}.csv").write_bytes(text.replace(".", ",").encode("latin-1"))
        schema = {
            "sex": {"levels": ["f", "m", "\xe9"]},
            "income": {"bounds": [0.0, 100.0]},
            "ill": {"kind": "logical"},
        }
        (tmp_path / "s.json").write_text(json.dumps({"columns": schema}))
        done = synthesize_files(
            tmp_path / f"{name}.csv", tmp_path / name, method="catall", m=1,
            settings={"epsilon": 1e-6, "noise_seed": 3}, reading={"schema": str(tmp_path / "s.json")}, seed=1, k=200,
        )  # fmt: skip
        content = done.paths.releases[0].read_bytes().decode("utf-8").splitlines()
        heads.append((content[0], content[1].count(","), {line.split(",")[2] for line in content[1:]}))
    assert heads[0] == heads[1] == ('"sex","income","ill"', 2, {"true", "false"})


def test_the_posterior_with_the_provenance_file_knows_the_declared_cells(tmp_path: Path) -> None:
    original = people(40).select(["sex", "ill"])
    write_table(original, tmp_path / "people.csv")
    (tmp_path / "s.toml").write_text('columns = { sex = { levels = ["f", "m", "other"] }, ill = { kind = "logical" } }')
    done = synthesize_files(
        tmp_path / "people.csv", tmp_path / "out", method="catall", m=1, settings={"epsilon": 1.0},
        reading={"schema": str(tmp_path / "s.toml")},
    )  # fmt: skip
    pair = unveil.Pair(tmp_path / "people.csv", done.paths.releases[0], schema=str(tmp_path / "s.toml"))
    maker = rebuilt(done.paths.provenance, tmp_path / "people.csv", done.paths.releases)
    risk = unveil.posterior(pair, maker, target="ill", records=[3])
    assert risk.likelihood == "closed form of the noised histogram"
    # Replacing one record changes no probability by more than e: of two values none is above e / (1 + e).
    assert risk.mean_posterior <= math.e / (1 + math.e) + 1e-9


@pytest.mark.filterwarnings("ignore:column 'income'. no value of the original occurs")
def test_the_posterior_of_an_amount_is_that_of_its_part() -> None:
    """Counted by hand into the parts, with the parts as levels, the closed form says the same of each part."""
    rng = np.random.default_rng(5)
    sex, income = rng.choice(["f", "m"], 30), np.round(rng.uniform(0, 400, 30), 2)
    original = pa.table({"sex": sex, "income": income})
    schema = {"sex": {"levels": ["f", "m"]}, "income": {"bounds": [0, 399], "bins": 4}}
    fitted = CatallSynthesizer(epsilon=1, schema=schema, noise_seed=1).fit(original)
    release = fitted.sample(seed=2)
    risk = unveil.posterior(unveil.Pair(original, release), fitted, target="income", records=[4])
    by_part = Counter[int]()
    n_by_part = Counter[int]()
    for value, probability in risk.distribution(4).items():
        by_part[int(float(value) // 100)] += probability
        n_by_part[int(float(value) // 100)] += 1

    part = np.minimum(income // 100, 3).astype(int)
    cut = pa.table({"sex": sex, "income": part})
    cut_release = pa.table({"sex": release.column("sex"), "income": np.array(values(release, "income")) // 100})
    levels = {"sex": {"levels": ["f", "m"]}, "income": {"levels": [0, 1, 2, 3]}}
    prior = [n_by_part[i] / sum(n_by_part.values()) for i in range(4)]
    expected = unveil.posterior(
        unveil.Pair(cut, cut_release), CatallSynthesizer(epsilon=1, schema=levels), target="income", records=[4],
        prior=np.array(prior),
    ).distribution(4)  # fmt: skip
    assert dict(by_part) == pytest.approx({int(i): p for i, p in expected.items()}, rel=1e-9)


def test_the_posterior_counts_declared_levels_that_no_file_has() -> None:
    """More cells with even noise in them: the more levels are declared, the less is told."""
    original = pa.table({"x": ["a"] * 6 + ["b"] * 3})
    release = pa.table({"x": ["a"] * 5 + ["b"] * 4})
    found = [
        unveil.posterior(
            unveil.Pair(original, release),
            CatallSynthesizer(epsilon=1, schema={"x": {"levels": ["a", "b", *more]}}),
            target="x", records=[8],
        ).mean_posterior
        for more in ([], list("cdefghij"))
    ]  # fmt: skip
    assert found[0] != pytest.approx(found[1], rel=1e-3)
    assert all(one <= math.e / (1 + math.e) for one in found)


@pytest.mark.filterwarnings("ignore:column 'x'. no value of the original occurs")
def test_the_posterior_needs_the_declaration() -> None:
    with pytest.raises(unveil.CallError, match="declare levels of 'x'"):
        unveil.posterior(
            unveil.Pair(pa.table({"x": ["a", "b"]}), pa.table({"x": ["a"]})), CatallSynthesizer(epsilon=1), target="x"
        )
    with pytest.raises(unveil.DataError, match="holds values that are not declared"):
        unveil.posterior(
            unveil.Pair(pa.table({"x": ["a", "b"]}), pa.table({"x": ["z"]})), CatallSynthesizer(epsilon=1, schema=AB),
            target="x",
        )  # fmt: skip
