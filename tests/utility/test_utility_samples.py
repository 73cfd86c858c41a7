"""Large files are sampled for models: how, and that it is said."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import stdtrit

import unveil
from reference import assert_same
from unveil._utility.compared import compared
from unveil._utility.draws import over_draws
from unveil._utility.measures import UtilityMeasures
from unveil._utility.sample import DRAWS, LEAST_TARGETS, MOST_RECORDS, MOST_TARGETS, sampled, sampled_targets
from unveil.errors import CallError
from unveil.plain import without_nan

OPTIONS: dict[str, Any] = {"measures": ["propensity", "marginals", "prediction"], "permutations": 3, "minbucket": 5}


def records(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=n)
    noise = rng.standard_normal(n)
    return pa.table(
        {"a": np.array(list("xyz"))[a].tolist(), "b": np.round(2 * a + noise, 1), "c": rng.integers(9, size=n)}
    )


ORIGINAL, RELEASE = records(400, 1), records(90, 2)


def found(original: pa.Table = ORIGINAL, release: pa.Table = RELEASE, **options: Any) -> unveil.Utility:
    return unveil.utility(unveil.Pair(original, release), **{**OPTIONS, **options})


def test_a_sample_is_told_where_it_is_used() -> None:
    result = found(most_records=100, seed=7)
    told = result.to_dict()["samples"]
    assert told == {part: {"records": [100, 90], "of": [400, 90], "draws": DRAWS[part]} for part in MOST_RECORDS}
    json.dumps(without_nan(told), allow_nan=False)
    for part in MOST_RECORDS:
        note = next(note for note in result.notes if note.startswith(part))
        assert "100 of 400 records of the original and 90 of 90 of the releases, drawn with seed 7" in note
        assert note in result.warnings
        assert note in " ".join(str(result).split())
        # a document for publication says that it is a sample, and neither counts nor the seed
        assert not any(digit.isdigit() for digit in note.public)  # type: ignore[attr-defined]


def test_small_files_are_used_whole() -> None:
    result = found()
    assert result.samples == {}
    assert not result.notes
    assert result.to_dict() == found(most_records=400).to_dict()


def test_tables_are_of_all_records() -> None:
    assert found(most_records=50).variables == found().variables


def test_a_sample_depends_on_the_seed_alone() -> None:
    first = found(most_records=60, seed=3)
    assert found(most_records=60, seed=3, n_jobs=1).to_dict() == first.to_dict()
    assert found(most_records=60, seed=4).prediction != first.prediction
    rng = np.random.default_rng(0)
    turned = [table.take(pa.array(rng.permutation(len(table)))) for table in (ORIGINAL, RELEASE)]
    assert_same(found(*turned, most_records=60, seed=3).to_dict(), first.to_dict(), tolerance=1e-7)


def test_every_record_is_drawn_equally_often() -> None:
    n, most, draws = 30, 12, 2000
    table = pa.table({"number": np.arange(n), "group": [i % 2 for i in range(n)]})
    pair = unveil.Pair(table, table.slice(0, 5))
    variables = compared(pair, pair.names, 5)
    drawn: Counter[int] = Counter()
    for seed in range(draws):
        (number, group), sample = sampled(variables, most, np.random.SeedSequence(seed))
        codes = number.column.original.tolist()
        assert len(set(codes)) == most
        # columns stay together, and so do levels and their cells
        assert [code % 2 for code in codes] == group.column.original.tolist()
        assert number.cells.original.tolist() == variables[0].cells.original[codes].tolist()
        assert len(number.column.releases[0]) == 5
        drawn.update(codes)
    error = math.sqrt(draws * (most / n) * (1 - most / n))
    assert max(abs(drawn[code] - draws * most / n) for code in range(n)) < 4.5 * error
    assert sample is not None
    assert (sample.records, sample.of) == ((most, 5), (n, 5))


def test_the_mean_of_several_samples_and_its_standard_error() -> None:
    """d = 1, 2, 3 with se = 0.3 in samples of a quarter: var(d) = 1, so se^2 = 1/3 + 0.09 / 4."""
    subject = {"target": "y", "kind": "continuous", "score": "MAE", "learner": "cart"}
    figures = [{"difference": d, "se": 0.3, "TRTR": 1.0, "TSTR": 1 + d} for d in (1.0, 2.0, 3.0)]
    scored = [[UtilityMeasures.of(subject, [one])] for one in figures]
    ((one,),) = [of_target.releases for of_target in over_draws(scored, 0.25)]
    assert one == pytest.approx({"difference": 2, "se": math.sqrt(1 / 3 + 0.0225), "TRTR": 1, "TSTR": 3})
    # a sample in which the target has a single value says nothing
    nothing = dict.fromkeys(figures[0], math.nan)
    without = [UtilityMeasures.of(subject, [nothing], undefined=dict.fromkeys(nothing, "a single value"))]
    assert over_draws([without, *scored], 0.25)[0].releases[0] == pytest.approx(one)
    assert over_draws([without, without], 0.25) == without
    (alone,) = over_draws([without, scored[0]], 0.25)
    assert math.isnan(alone.releases[0]["se"])
    assert alone.undefined == {"se": "a single sample has scores"}


COVERAGE_RUNS, NOMINAL = 400, 0.95


@pytest.mark.slow
def test_intervals_of_sampled_predictions_cover() -> None:
    """The original anew in each run, the release kept; Student's interval with the degrees of freedom of five samples.

    What is covered is the expectation of the difference at this size of a sample, which all runs together estimate.
    """
    release = records(4000, 1)
    found_in = [
        found(records(4000, 100 + run), release, measures="prediction", most_records=300, folds=2, seed=run)
        for run in range(COVERAGE_RUNS)
    ]
    quantile = float(stdtrit(DRAWS["prediction"] - 1, (1 + NOMINAL) / 2))
    for place, one in enumerate(found_in[0].prediction):
        if one.subject["score"] not in ("accuracy", "log_loss", "MAE"):
            continue
        figures = np.array([[r.prediction[place].mean[name] for name in ("difference", "se")] for r in found_in])
        difference, se = figures.T
        ratio = float(np.std(difference, ddof=1) / math.sqrt(np.mean(se**2)))
        covered = float(np.mean(np.abs(difference - difference.mean()) <= quantile * se))
        print(f"{one.subject['target']} {one.subject['score']}: covered {covered:.3f}, sd / se {ratio:.2f}")
        # four standard errors of a share in so many runs
        error = math.sqrt(NOMINAL * (1 - NOMINAL) / COVERAGE_RUNS)
        assert abs(covered - NOMINAL) < 4 * error
        assert 0.85 < ratio < 1.15


def test_more_columns_than_are_predicted_by_default() -> None:
    rng = np.random.default_rng(5)
    names = [f"v{i}" for i in range(MOST_TARGETS + 10)]
    original, release = (pa.table({name: rng.integers(3, size=60) for name in names}) for _ in range(2))
    options: dict[str, Any] = {"measures": "prediction", "folds": 2}
    result = found(original, release, **options)
    targets = list(dict.fromkeys(c.subject["target"] for c in result.prediction))
    assert len(targets) == MOST_TARGETS
    assert targets == sorted(targets, key=names.index)
    assert any(f"prediction is of {MOST_TARGETS} of the {len(names)} columns" in note for note in result.notes)
    other = found(original, release, seed=1, **options)
    assert {c.subject["target"] for c in other.prediction} != set(targets)
    wide = [f"v{i}" for i in range(400)]
    assert len(sampled_targets(wide, np.random.SeedSequence(0))) == 25
    assert len(sampled_targets(wide * 20, np.random.SeedSequence(0))) == LEAST_TARGETS
    every = found(original, release, targets=names, **options)
    assert {c.subject["target"] for c in every.prediction} == set(names)
    assert not every.notes


def test_progress_goes_up_in_steps_of_one_total() -> None:
    heard: list[tuple[int, int, str]] = []
    found(measures=["pairs", "propensity", "prediction"], progress=lambda *told: heard.append(told))
    done = [at for at, _, _ in heard]
    assert done[0] == 0
    assert done == sorted(done)
    assert {total for _, total, _ in heard} == {done[-1]}
    texts = [text for _, _, text in heard]
    assert {"propensity", "propensity, cart", "pairs, b", "prediction, a", "prediction, c"} <= set(texts)


def test_a_number_of_records_that_is_none() -> None:
    with pytest.raises(CallError, match="most_records must be a whole number from 1"):
        found(most_records=0)


def test_the_ratio_grows_with_the_records_and_the_error_does_not() -> None:
    """Amounts that are 0.3 standard deviations apart have a pMSE near ``c(1 - c) 0.09 / 4``; chance adds ``1 / 8N``."""
    rng = np.random.default_rng(5)
    original, release = (pa.table({"x": rng.normal(middle, 1, 16_000)}) for middle in (0.0, 0.3))
    ratios = []
    for most in (2000, 16_000):
        mean = found(original, release, measures=["propensity"], propensity=["logistic"], most_records=most).mean
        assert mean["pMSE_logistic"] == pytest.approx(0.25 * 0.25 * 0.3**2, rel=0.35)
        ratios.append(mean["S_pMSE_logistic"] - 1)
    assert ratios[1] == pytest.approx(8 * ratios[0], rel=0.35)
