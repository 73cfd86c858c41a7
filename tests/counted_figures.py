"""All figures that follow from counts, to compare engines by."""

from __future__ import annotations

from typing import Any

import unveil


def measured(pair: unveil.Pair, keys: list[str], targets: list[str]) -> list[Any]:
    """All that is measured from counts."""
    risks = unveil.attribute(pair, keys, targets=targets)
    identity = unveil.identity(pair, keys)
    found = [identity, *risks, unveil.structure(pair, keys), unveil.key_sets(pair, keys, target=targets[0], max_size=2)]
    said: list[Any] = [one.to_dict() for one in found]
    said += [identity.intervals(), identity.interval(), identity.interval("process")]
    for risk in risks:
        said += [risk.intervals(seed=1), risk.interval(), risk.interval("process"), risk.cap_curve().to_dict()]
        said += [risk.ladder(permutations=3, seed=1).to_dict(), str(risk), risk.records(), risk.by(keys[0])]
    return [repr(one) for one in said]
