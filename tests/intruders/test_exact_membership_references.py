"""Exact membership on Social Diagnosis 2011, beside the figures of a prototype."""

from __future__ import annotations

import numpy as np
import pyarrow.csv
import pytest

import unveil

NAMES = ["sex", "age", "region", "placesize", "marital", "ls"]
FIGURES = {5: ((1.0, 0.01), (1.0, 0.03)), 50: ((0.89, 0.06), (0.5, 0.2))}
"""By minbucket, shares right and certain, each with how far the mean may be away."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the collapse of trees:unveil.errors.UnveilWarning")
@pytest.mark.filterwarnings(r"ignore:\d+ of the candidates hold a value:unveil.errors.UnveilWarning")
@pytest.mark.parametrize("minbucket", FIGURES)
def test_social_diagnosis(shared, minbucket):
    """The prototype played 150 games: at 5 all were right and certain, at 50 about 89 and 50 in 100.

    It had one draw of persons and one release; at 50 these alone move the share certain by 19 in 100, and the share
    right by 6 (standard deviations). The means over sixteen draws are compared.
    """
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    table = pyarrow.csv.read_csv(shared / "data" / "sd2011_9.csv", convert_options=options)
    everybody = table.select(NAMES).drop_null()
    found = []
    for seed in range(16):
        order = np.random.default_rng(seed).permutation(everybody.num_rows)
        original, others = everybody.take(order[:1000]), everybody.take(order[1000:])
        synthesizer = unveil.CartSynthesizer(minbucket=minbucket).fit(original)
        pair = unveil.Pair(original, synthesizer.sample(seed=seed))
        found.append(unveil.exact_membership(pair, synthesizer, candidates=others, sample=150, seed=seed))
    right, certain = FIGURES[minbucket]
    assert np.mean([one.share_right for one in found]) == pytest.approx(right[0], abs=right[1])
    assert np.mean([one.share_certain for one in found]) == pytest.approx(certain[0], abs=certain[1])
