"""The bootstrap of RAPID against the scores of resampled persons, computed from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil._rapid import Rapid, clopper_pearson, rapid, wilson
from unveil._rapid.resampling import Resampled
from unveil._rapid.scores import categorical_score, prediction_error
from unveil.stats import rate_interval

PLAIN: Mapping[str, Any] = {"permutations": 0, "ceiling": False, "attacker": "cart"}
KEYS = ["k", "x"]
GRIDS = {
    "marginal": (-0.2, 0.0, 0.1, 0.3, 0.6),
    "conditional": (0.5, 1.0, 1.5),
    "nce": (0.0, 0.3, 0.7),
    "relative": (0.1, 0.5),
    "symmetric": (0.1, 0.5),
    "absolute": (0.3, 1.0),
    "sd": (0.2, 0.5),
    "range": (0.05, 0.2),
}


def people(n: int, seed: int) -> pa.Table:
    """A class and an amount that go with the keys; one amount in twelve is missing."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 4, n)
    x = rng.integers(0, 10, n)
    t = (k + rng.integers(0, 2, n)) % 3
    y = np.round(5 + k + rng.normal(size=n), 1)
    return pa.table(
        {
            "k": np.array(list("pqrs"))[k],
            "x": x,
            "t": np.array(["low", "mid", "top"])[t],
            "y": pa.array(y, mask=rng.random(n) < 1 / 12),
        }
    )


def attacked(scoring: str, n: int = 90, releases: int = 1) -> Rapid:
    pair = unveil.Pair(people(n, 1), [people(n, 2 + r) for r in range(releases)])
    if scoring in ("marginal", "conditional", "nce"):
        found: Rapid = rapid(pair, KEYS, target="t", scoring=scoring, **PLAIN)
        return found
    other: Rapid = rapid(pair, KEYS, target="y", metric=scoring, epsilon=0.3, **PLAIN)
    return other


def persons_of(resampled: Resampled, weights: np.ndarray) -> np.ndarray:
    """One person of each kind, as often as the kind was drawn."""
    first = np.array([np.flatnonzero(resampled.kind == k)[0] for k in range(len(resampled.counts))])
    return np.repeat(first, weights)


def score_of(result: Rapid, run: Any, drawn: np.ndarray) -> np.ndarray:
    """The scores of some persons among themselves."""
    problem = result.runner.problem
    truth = problem.truth[drawn]
    if problem.classes is None:
        return prediction_error(truth, run.inferred.predicted[drawn], result.scoring)
    return categorical_score(run.inferred.probability[drawn], truth, len(problem.classes), result.scoring)


@pytest.mark.parametrize("scoring", GRIDS)
def test_every_resample_is_scored_anew(scoring: str) -> None:
    """Rates of all thresholds and classes are those of the persons drawn, with their own shares, means and spread."""
    result = attacked(scoring, releases=2)
    resampled = Resampled.of(result.runs, result.runner)
    at_risk, persons = resampled.rates(GRIDS[scoring], n=15, seed=3)
    weights = np.concatenate(list(resampled.draws(15, 3)))
    assert (weights.sum(axis=1) == result.n_counted).all()
    truth = result.runner.problem.truth
    changed = 0
    for i in range(15):
        drawn = persons_of(resampled, weights[i])
        for r, run in enumerate(result.runs):
            score = score_of(result, run, drawn)
            changed += not np.allclose(score, run.score[drawn])
            for t, edge in enumerate(result.runner.rule.edges(GRIDS[scoring])):
                flags = score > edge if result.runner.rule.above else score < edge
                assert at_risk[i, r, :, t].sum() == flags.sum()
                if result.kind == "categorical":
                    for c in range(3):
                        assert at_risk[i, r, c, t] == flags[truth[drawn] == c].sum()
                        assert persons[i, c] == (truth[drawn] == c).sum()
    # nce and errors relative to y depend on nobody else
    assert (changed > 0) == (scoring in ("marginal", "conditional", "sd", "range"))


@pytest.mark.parametrize("scoring", GRIDS)
def test_persons_as_they_are_have_the_rate_of_the_result(scoring: str) -> None:
    result = attacked(scoring)
    resampled = Resampled.of(result.runs, result.runner)
    edges = np.asarray(result.runner.rule.edges([result.threshold]))
    limits = resampled.limits(resampled.raw[:1], resampled.counts[None], edges)[0, resampled.classes, 0]
    flags = resampled.raw[0] > limits if result.runner.rule.above else resampled.raw[0] < limits
    assert (flags[resampled.kind] == result.runs[0].at_risk).all()


@pytest.mark.parametrize("scoring", GRIDS)
def test_the_margin_of_a_resample_is_its_own(scoring: str) -> None:
    result = attacked(scoring)
    resampled = Resampled.of(result.runs, result.runner)
    found = resampled.margins(n=15, seed=4)
    rule, problem = result.runner.rule, result.runner.problem
    for i, weights in enumerate(np.concatenate(list(resampled.draws(15, 4)))):
        truth = problem.truth[persons_of(resampled, weights)]
        if problem.classes is None:
            score = prediction_error(truth, np.full(len(truth), np.median(truth)), scoring)
        else:
            share = np.bincount(truth, minlength=3) / len(truth)
            score = categorical_score(share[truth], truth, 3, scoring)
        assert found[i] == pytest.approx(rule.at_risk(score).mean())


@pytest.mark.parametrize("scoring", ["marginal", "conditional", "sd"])
def test_groups_are_resampled_with_all_persons(scoring: str) -> None:
    """Persons of a group are scored among all persons drawn, and those of no group are drawn as well."""
    result = attacked(scoring, releases=2)
    resampled = Resampled.of(result.runs, result.runner)
    group = np.random.default_rng(1).integers(-1, 3, result.n_counted)
    hits, persons = resampled.groups(group, 3, n=10, seed=5)
    # the same draws: of kinds of persons within groups
    places = resampled.kind * 4 + np.where(group < 0, 3, group)
    found, first, counts = np.unique(places, return_index=True, return_counts=True)
    draws = np.random.default_rng(5).multinomial(result.n_counted, counts / result.n_counted, size=10)
    for i in range(10):
        drawn = np.repeat(first, draws[i])
        flags = np.mean([result.runner.rule.at_risk(score_of(result, run, drawn)) for run in result.runs], axis=0)
        for g in range(3):
            assert persons[i, g] == (group[drawn] == g).sum()
            assert hits[i, g] == pytest.approx(flags[group[drawn] == g].sum())
    assert len(found) >= 20


def test_blocks_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    result = attacked("marginal")
    whole = result.intervals(n=50, seed=2)
    monkeypatch.setattr("unveil.stats.bootstrap._NUMBERS", 1)
    assert result.intervals(n=50, seed=2) == whole


@pytest.mark.parametrize("scoring", GRIDS)
def test_no_interval_depends_on_the_order_of_records(scoring: str) -> None:
    result = attacked(scoring, releases=2)
    files = [people(90, seed) for seed in (1, 2, 3)]
    mixed = [table.take(np.random.default_rng(i).permutation(90)) for i, table in enumerate(files)]
    options = {"scoring": scoring} if result.kind == "categorical" else {"metric": scoring, "epsilon": 0.3}
    other = rapid(
        unveil.Pair(mixed[0], mixed[1:]), KEYS, target="t" if "scoring" in options else "y", **PLAIN, **options
    )
    assert other.intervals(n=60) == result.intervals(n=60)
    assert other.interval(n=60) == result.interval(n=60)
    assert other.interval("process", n=60) == result.interval("process", n=60)
    grid = GRIDS[scoring]
    for kind in ("release", "process"):
        curves = [one.curve(grid, n=60, kind=kind).to_dict() for one in (result, other)]
        assert curves[0] == curves[1]
    assert other.by("k", flavour="arrow").equals(result.by("k", flavour="arrow"))
    assert other.worst_subgroups(least=5, flavour="arrow").equals(result.worst_subgroups(least=5, flavour="arrow"))


# --------------------------------------------------------------------------------------------- intervals
def test_an_interval_is_wider_than_that_of_a_share_where_the_score_depends_on_the_others() -> None:
    """Of 13 A and 7 B per key level g is .65 or .35, b a half: at tau .3 the A of 'x' are at risk by a hair or not."""
    table = pa.table({"key": ["x"] * 20 + ["y"] * 20, "t": list("A" * 13 + "B" * 7 + "A" * 7 + "B" * 13)})
    result = rapid(unveil.Pair(table, table), "key", target="t", tau=0.28, **PLAIN)
    assert result.rate == 0.65
    ends = result.intervals()[0]
    assert ends["wilson"][0] < wilson(26, 40)[0]
    assert ends["clopper_pearson"][0] < clopper_pearson(26, 40)[0]
    # a little more of A than of B, and only the 13 B of 'y' are left
    assert ends["bootstrap"][0] < 0.4


def test_with_a_score_that_depends_on_nobody_else_it_is_that_of_a_share() -> None:
    result = attacked("nce", n=300)
    hits = result.attacks[0]["n_at_risk"]
    ends = result.intervals(n=4000)[0]
    assert ends["wilson"] == pytest.approx(wilson(hits, 300), abs=0.003)
    assert ends["clopper_pearson"] == pytest.approx(clopper_pearson(hits, 300), abs=0.003)
    assert ends["bootstrap"] == pytest.approx(wilson(hits, 300), abs=0.008)


def test_intervals_of_a_rate_by_hand() -> None:
    replicates = np.array([0.1, 0.3] * 50)
    # the variance 0.01 is that of 0.2 of 16 persons
    found = rate_interval(0.2, replicates, 100, 0.95)
    assert found["wilson"] == pytest.approx(wilson(3.2, 16))
    assert found["clopper_pearson"] == pytest.approx(clopper_pearson(3.2, 16))
    assert found["bootstrap"] == pytest.approx((min(0.1, wilson(3.2, 16)[0]), max(0.3, wilson(3.2, 16)[1])))
    # never as if there were more persons than there are
    assert rate_interval(0.2, np.full(9, 0.2), 100, 0.95)["wilson"] == pytest.approx(wilson(20, 100))
    # nobody at risk, but in one resample of ten a half
    low, high = rate_interval(0.0, np.array([0.0] * 90 + [0.5] * 10), 100, 0.95)["bootstrap"]
    assert (low, high) == (0.0, 0.5)
    assert rate_interval(1.0, np.array([1.0, np.nan]), 7, 0.95)["bootstrap"] == pytest.approx(clopper_pearson(7, 7))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("target", ["t", "y", "one"])
def test_few_persons(n: int, target: str) -> None:
    rng = np.random.default_rng(n)
    table = pa.table({"k": list("abcde")[:n], "t": list("xyxyx")[:n], "y": rng.normal(size=n), "one": ["same"] * n})
    others = pa.concat_tables([table] * 3)
    kind = "continuous" if target == "y" else None
    result = rapid(unveil.Pair(table, [others, others]), "k", target=target, kind=kind, **PLAIN)
    for found in (result.interval(), result.interval("process"), result.interval("process", n=2)):
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high - found.low > 0.3  # a few persons tell little
    for ends in result.intervals():
        assert all(0 <= low <= high <= 1 for name, (low, high) in ends.items() if name != "excess")
    curve = result.curve(kind="process")
    assert ((curve.lines[0].low <= curve.lines[0].rate) & (curve.lines[0].rate <= curve.lines[0].high)).all()


def test_one_release_has_no_process_interval_and_says_why() -> None:
    result = attacked("marginal")
    found = result.interval("process")
    assert np.isnan([found.low, found.high]).all()
    assert found.value == result.rate
    assert "one release" in (found.undefined or "")
    curve = result.curve(kind="process")
    assert curve.to_dict()["kind"] == "process"
    assert "one release" in curve.to_dict()["undefined"]
    assert np.isnan(curve.lines[0].low).all()
    with pytest.raises(unveil.CallError, match="kind must be 'release' or 'process'"):
        result.interval("both")  # type: ignore[arg-type]


def test_resampled_originals_are_attacked_once() -> None:
    """The interval and the band come from the same trained models; the band at the threshold is the interval."""
    table = people(120, 1)
    synthesizer = unveil.CartSynthesizer(n_jobs=1)
    pair = unveil.Pair(table, synthesizer.fit(table).sample(seed=1))
    again = unveil.synthesis.resamples(pair, synthesizer, repeats=4, seed=1)
    assert [part.n_original for part in again] == [120] * 4
    result = rapid(pair, KEYS, target="t", **PLAIN)
    found = result.interval("process", resamples=again)
    curve = result.curve([0.1, result.threshold], kind="process", resamples=again)
    assert (found.low, found.high) == (curve.lines[0].low[1], curve.lines[0].high[1])
    rates = [rapid(part, KEYS, target="t", seed=1 + i, **PLAIN).rate for i, part in enumerate(again)]
    assert found == unveil.stats.from_resamples(result.rate, np.array(rates), 120, 0.95)


def test_the_excess_of_the_mean_is_that_of_the_means() -> None:
    """Over several releases the b-th shuffle of the mean is the mean of the b-th shuffles, as for table measures."""
    pair = unveil.Pair(people(90, 1), [people(90, 2), people(90, 3)])
    result = rapid(pair, KEYS, target="t", permutations=19, ceiling=False, attacker="cart")
    rule = result.runner.rule
    each = [[null.scores.rates((rule.threshold,), rule)[0] for null in run.null] for run in result.runs]
    nulls = np.mean(each, axis=0)
    found = result.above_null()
    assert found.null_mean == pytest.approx(nulls.mean())
    assert found.p_value == (1 + (nulls >= result.rate - 1e-12).sum()) / 20
    assert found.excess == pytest.approx((result.rate - nulls.mean()) / (1 - nulls.mean()))
    assert found.interval[0] <= found.excess <= found.interval[1]
    none = rapid(pair, KEYS, target="t", **PLAIN).above_null()
    assert np.isnan([none.null_mean, none.p_value]).all()
    margin = result.attacks[0]["margin"]
    assert none.excess == pytest.approx((result.rate - margin) / (1 - margin))
    assert none.interval[0] < none.excess < none.interval[1]


# --------------------------------------------------------------------------------------------- the process
@pytest.mark.parametrize("scoring", ["marginal", "conditional", "nce", "sd"])
def test_models_move_as_they_differ_among_the_releases(scoring: str) -> None:
    """Every record's figure with what was drawn for it, scored among the records drawn."""
    result = attacked(scoring, releases=3)
    resampled = Resampled.of(result.runs, result.runner)
    grid = GRIDS[scoring]
    found = resampled.moved(grid, [[0, 1, 2]], n=8, seed=6)
    weights = np.concatenate(list(resampled.draws(8, 6)))
    noise = np.random.default_rng([6, 1]).normal(size=(8, 4, 3)) / np.sqrt(2)
    edges = np.asarray(result.runner.rule.edges(grid))
    for i in range(8):
        rates = []
        for j in range(3):
            raw = resampled.raw[j].copy()
            for other in range(3):
                # of the original, the same for all releases, and of the release
                z = noise[i, 0, other] + noise[i, 1 + j, other]
                raw += z * (resampled.raw[other] - resampled.raw.mean(axis=0))
            raw = np.clip(raw, 0, 1) if scoring in ("marginal", "conditional") else raw
            limits = resampled.limits(raw[None], weights[i][None], edges)[0, resampled.classes]
            flags = raw[:, None] > limits if result.runner.rule.above else raw[:, None] < limits
            rates.append(weights[i] @ flags / weights[i].sum())
        assert found[i] == pytest.approx(np.mean(rates, axis=0))


def test_models_that_agree_do_not_move() -> None:
    same = people(90, 2)
    result = rapid(unveil.Pair(people(90, 1), [same, same]), KEYS, target="t", **PLAIN)
    resampled = Resampled.of(result.runs, result.runner)
    kept = resampled.rates([0.1, 0.3], n=20, seed=1)[0].sum(axis=2).mean(axis=1) / 90
    assert resampled.moved([0.1, 0.3], [[0, 1]], n=20, seed=1) == pytest.approx(kept)


def test_where_the_test_does_not_reject_the_mean_of_the_null_is_in_the_interval() -> None:
    """Releases that have nothing to do with the keys: the mean of many like them is that of the shuffles."""
    shuffled = []
    for seed in (2, 3):
        table = people(400, seed)
        mixed = table["t"].take(pa.array(np.random.default_rng(seed).permutation(400)))
        shuffled.append(table.set_column(2, "t", mixed))
    result = rapid(
        unveil.Pair(people(400, 1), shuffled), KEYS, target="t", permutations=19, ceiling=False, attacker="cart"
    )
    found, null = result.interval("process"), result.above_null()
    assert null.interval[0] <= 0 <= null.interval[1]
    assert found.low <= null.null_mean <= found.high
    # and where there is no null it is not asked
    none = rapid(unveil.Pair(people(400, 1), shuffled), KEYS, target="t", **PLAIN).interval("process")
    assert found.low <= none.low <= none.high <= found.high
