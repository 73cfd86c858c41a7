"""All figures that follow from counts, to compare engines by."""

from __future__ import annotations

from typing import Any

import unveil


def rows(risk: Any, column: str) -> list[Any]:
    """What is said of each original record, and of the levels of a column."""
    return [table.to_pydict() for table in (risk.records(0, flavour="arrow"), risk.by(column, flavour="arrow"))]


def measured(pair: unveil.Pair, keys: list[str], targets: list[str]) -> list[Any]:
    """All that is measured from counts."""
    risks = unveil.attribute(pair, keys, targets=targets)
    identity = unveil.identity(pair, keys)
    found = [identity, *risks, unveil.structure(pair, keys), unveil.key_sets(pair, keys, target=targets[0], max_size=2)]
    said: list[Any] = [one.to_dict() for one in found]
    said += [identity.intervals(), identity.interval(), identity.interval("process")]
    said += rows(identity, targets[0])
    for risk in risks:
        said += [risk.intervals(seed=1), risk.interval(), risk.interval("process"), risk.cap_curve().to_dict()]
        said += [risk.ladder(permutations=3, seed=1).to_dict(), str(risk), *rows(risk, keys[1])]
    return [repr(one) for one in said]
