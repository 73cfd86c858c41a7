"""Figure 2: predicted against true incomes, errors, and who is at risk; on a simulated survey.

The paper's survey (eusilc) is not distributed.
"""

from __future__ import annotations

from typing import Any

import unveil

KEYS = ["sex", "age", "region", "edu"]
EPSILON = 0.1
SPECIAL = {"income": [-8]}


def predictions(persons: int = 1000) -> list[dict[str, Any]]:
    """A row for each simulated person with an income: true and predicted income, relative error, at risk."""
    survey = unveil.simulate.demo_population(persons, seed=1)
    release = unveil.CartSynthesizer(special_codes=SPECIAL).fit(survey).sample(seed=1)
    pair = unveil.Pair(survey, release, special_codes=SPECIAL)
    found = unveil.rapid(pair, KEYS, target="income", epsilon=EPSILON, permutations=0, ceiling=False, seed=1)
    return [
        {"truth": one["truth"], "prediction": one["prediction"], "error": one["e"], "at_risk": int(one["at_risk"])}
        for one in found.records().to_pylist()
        if one["truth"] is not None
    ]
