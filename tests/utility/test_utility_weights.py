"""Utility of a sample: single variables with design weights, by hand and against records that are written out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.assessment.gate import UTILITY

pytestmark = pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")


def variables(pair: unveil.Pair) -> dict[str, dict[str, float]]:
    rows = unveil.utility(pair, measures="marginals").to_frame("variables", flavour="arrow").to_pylist()
    return {row["variable"]: row for row in rows}


def test_a_weighted_original_by_hand():
    original = pa.table({"sex": ["f", "m", "m"], "age": [20, 30, 40], "w": [6.0, 1.0, 3.0]})
    release = pa.table({"sex": ["f", "f", "m", "m"], "age": [20, 30, 30, 40]})
    pair = unveil.Pair(original, release, weights="w")
    found = variables(pair)
    # Of the population 6 of 10 are f, of the release 2 of 4; of the sample 1 of 3.
    assert found["sex"]["TVD_weighted"] == pytest.approx(0.1)
    assert found["sex"]["TVD"] == pytest.approx(1 / 6)
    mean = (6 * 20 + 30 + 3 * 40) / 10
    sd = np.sqrt((6 * 20**2 + 30**2 + 3 * 40**2) / 10 - mean**2)
    assert found["age"]["mean_difference_weighted"] == pytest.approx((30 - mean) / sd)
    result = unveil.utility(pair, measures="marginals")
    assert result.mean["TVD_weighted_max"] == max(row["TVD_weighted"] for row in found.values())
    assert "Weighted: the original counts by its design weights" in " ".join(str(result).split())


def test_whole_weights_are_records_written_out():
    rng = np.random.default_rng(1)
    people = unveil.simulate.demo_population(120, seed=1).select(["sex", "region", "depress"])
    weights = rng.integers(1, 6, 120)
    release = people.take(pa.array(rng.integers(0, 120, 80)))
    weighted = variables(unveil.Pair(people, release, weights=weights))
    written = variables(unveil.Pair(people.take(pa.array(np.repeat(np.arange(120), weights))), release))
    for name in ("sex", "region"):
        assert weighted[name]["TVD_weighted"] == pytest.approx(written[name]["TVD"])
    assert weighted["depress"]["mean_difference_weighted"] == pytest.approx(written["depress"]["mean_difference"])


def test_a_release_counts_by_its_own_weights():
    original = pa.table({"sex": ["f", "m"], "w": [3.0, 1.0]})
    release = pa.table({"sex": ["f", "m", "m"], "w": [6.0, 1.0, 1.0]})
    assert variables(unveil.Pair(original, release, weights="w"))["sex"]["TVD_weighted"] == pytest.approx(0)
    wrong = pa.table({"sex": ["f", "m", "m"], "w": [6.0, 0.0, 1.0]})
    with pytest.raises(unveil.DataError, match="column 'w' of the release: record 2 has the weight 0"):
        variables(unveil.Pair(original, wrong, weights="w"))


def test_without_weights_nothing_is_weighted():
    original = pa.table({"sex": ["f", "m"], "age": [1, 2]})
    found = unveil.utility(unveil.Pair(original, original.slice(0, 1)), measures="marginals")
    assert not any("weighted" in name for name in (*found.mean, *found.variables[0].mean, *found.variables[1].mean))


def test_weighted_figures_pass_the_gate():
    original = pa.table({"sex": ["f", "m", "m"], "age": [20, 30, 40], "w": [6.0, 1.0, 3.0]})
    pair = unveil.Pair(original, original.slice(0, 2), weights="w")
    found = unveil.utility(pair, measures="marginals")
    (of_variables,) = UTILITY.entries["variables"]
    weighted = {name for one in found.variables for name in one.mean if "weighted" in name}
    assert weighted == {"TVD_weighted", "mean_difference_weighted"}
    assert weighted <= set(of_variables.entries)
    assert {name for name in found.mean if "weighted" in name} <= set(UTILITY.entries["summary"].entries)
