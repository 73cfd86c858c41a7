"""What the compiled loops give, to the last bit: ``python tests/fingerprint.py 2`` prints a line for each kind of work.

Builds of the package are compared by it: the loops must give the same whichever compiler made them, and on any number
of processors, which the argument says.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Iterator

import numpy as np

import unveil

RECORDS = 1500


def digest(*parts: object) -> str:
    """One text for any results; of floats all bits count."""
    found = hashlib.sha256()
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return found.hexdigest()


def kinds_of_work() -> Iterator[tuple[str, str]]:
    """Every kind of loop, on a simulated survey."""
    original = unveil.simulate.demo_population(RECORDS, seed=5)
    for settings in ({"minbucket": 3}, {"minbucket": 20, "collapse": False}, {"surrogates": 2, "max_depth": 6}):
        release = unveil.CartSynthesizer(**settings).fit(original).sample(RECORDS, seed=8)
        yield f"CART {settings}", digest(release.to_pydict())
    synthesizer = unveil.CartSynthesizer(minbucket=5).fit(original)
    release = synthesizer.sample(RECORDS, seed=9)
    pair = unveil.Pair(original, release)
    for target in ("depress", "income"):
        risk = unveil.posterior(pair, synthesizer, target=target, records=range(60))
        yield f"posterior of {target}", digest(risk.records(flavour="arrow").to_pydict())
    for attacker in ("cart", "rf"):
        found = unveil.rapid(pair, ["sex", "age", "region"], target="depress", attacker=attacker, seed=2)
        yield f"RAPID {attacker}", digest(found.records(flavour="arrow").to_pydict(), found.to_dict())
    parts = unveil.Pair(original.slice(0, 700), release, original.slice(700))
    yield "membership", digest(unveil.membership(parts, holdout_unseen=True, seed=3).to_dict())


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
    warnings.simplefilter("ignore")
    for kind, bits in kinds_of_work():
        print(f"{bits}  {kind}")
