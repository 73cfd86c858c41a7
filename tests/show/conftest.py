"""An assessment with everything that can be in one, one with next to nothing, and one as large as they come."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unveil.assessment.gate import release_safe

HERE = Path(__file__).parent
Assessment = dict[str, Any]


@pytest.fixture
def example() -> Assessment:
    """Two releases and three targets: categorical, continuous, and one with gaps; names that try to break out."""
    found: Assessment = json.loads((HERE / "example.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def published(example: Assessment) -> Assessment:
    """What the gate lets out of the example."""
    return release_safe(example)


@pytest.fixture
def minimal() -> Assessment:
    """Identity measures of one release; all other parts skipped; not made for release."""
    found: Assessment = json.loads((HERE / "minimal.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def large(example: Assessment) -> Assessment:
    """A hundred variables, all their pairs, forty targets with long curves, many groups and sets of keys."""
    names = [f"variable number {k} of the questionnaire" for k in range(100)]
    example["utility"]["pairs"] = [
        {"first": a, "second": b, "tvd": 0.01 * (k % 9), "s_voas_williamson": 1 + 0.1 * (k % 7)}
        for k, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    example["utility"]["variables"] = [{"variable": name, "tvd": 0.01, "s_pmse": 1.2} for name in names]
    example["data"]["columns"] = [
        {"name": name, "kind": "categorical", "role": "other", "levels": 12, "gaps": 0.01} for name in names
    ]
    first, figures = example["targets"][0], [f for f in example["figures"] if f["target"] == "depress"]
    first["curve"]["points"] = [first["curve"]["points"][0] | {"threshold": k / 50} for k in range(51)]
    first["groups"] *= 40
    example["targets"] = [copy.deepcopy(first) | {"target": name} for name in names[:40]]
    example["figures"] = [f | {"target": name} for name in names[:40] for f in figures]
    example["keys"]["sets"] *= 30
    return example


@pytest.fixture
def changed(example: Assessment) -> Callable[[Callable[[Assessment], None]], Assessment]:
    """The example after a change."""

    def apply(change: Callable[[Assessment], None]) -> Assessment:
        change(example)
        return example

    return apply
