"""What a share of donors from whole columns protects: ``python examples/intruders/mix.py sd2011_9.csv``.

Synthesizers of several settings are put on one map of risk and utility, each with five releases that the intruder has
together: mix.md, and with matplotlib mix.svg (the posterior against the distance of the worst pair of columns, with
intervals). Then it is counted how many persons an intruder is certain of, with one release and with five: certain.md.
``--only map`` or ``--only certain`` makes one of these.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import unveil
from unveil import CartSynthesizer
from unveil.assessment.risk_utility_map import RiskUtilityMap
from unveil.stats import wilson

FOLDER = Path(__file__).parent
KEYS = ["sex", "age", "region", "placesize"]
TARGETS = ["depress", "marital"]
SPECIAL = {"income": [-8]}
SETTINGS: dict[str, dict[str, Any]] = {
    "minbucket 5": {},
    "minbucket 20": {"minbucket": 20},
    "minbucket 50": {"minbucket": 50},
    "mix 0.01": {"mix": 0.01},
    "mix 0.05": {"mix": 0.05},
    "mix 0.2": {"mix": 0.2},
    "minbucket 20, mix 0.05": {"minbucket": 20, "mix": 0.05},
}
UTILITIES = ("worst pair TVD", "mean TVD", "pMSE")

Interval = tuple[float, float, float]


def measured(original: str, releases: int, budget: float, seed: int) -> RiskUtilityMap:
    return unveil.compare(
        original,
        {name: CartSynthesizer(**one, special_codes=SPECIAL) for name, one in SETTINGS.items()},
        KEYS, targets=TARGETS, m=releases, risk="posterior", utility="worst pair TVD",
        measures=["identity", "attribute", "posterior", "utility"], special_codes=SPECIAL, seed=seed, budget=budget,
        progress=lambda done, total, name: print(f"{done} of {total}: {name}", flush=True),
    )  # fmt: skip


def figure(content: Mapping[str, Any], measure: str, target: str, names: Sequence[str]) -> Interval:
    found = next(f for f in content["figures"] if f["measure"] == measure and f["target"] == target)
    value, low, high = (math.nan if found[name] is None else found[name] for name in names)
    return value, low, high


def rows_of(found: RiskUtilityMap) -> list[tuple[str, list[Interval]]]:
    """By setting: gain, share certain and DiSCO of each target, then utility."""
    rows = []
    for point in found.points:
        content = found.assessments[point.label].content
        figures = [
            figure(content, measure, target, names)
            for target in TARGETS
            for measure, names in (
                ("posterior", ("excess", "excess_low", "excess_high")),
                ("posterior certain", ("value", "low", "high")),
                ("DiSCO", ("value", "low", "high")),
            )
        ]
        rows.append((point.label, figures + [point.utilities[name] for name in UTILITIES]))
    return rows


def table(rows: Sequence[tuple[str, list[Interval]]]) -> str:
    names = [f"{what}, {target}" for target in TARGETS for what in ("gain", "certain", "DiSCO %")] + list(UTILITIES)
    lines = ["| setting | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for label, figures in rows:
        shown = [_shown(one, percent=name.startswith("DiSCO"), fine=name == "pMSE")
                 for name, one in zip(names, figures, strict=True)]  # fmt: skip
        lines.append(f"| {label} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def _shown(one: Interval, *, percent: bool, fine: bool) -> str:
    digits = 1 if percent else (5 if fine else 3)
    value, low, high = (f"{end:.{digits}f}" for end in one)
    return f"{value} ({low} to {high})"


def by_releases(original: str, releases: Sequence[int], persons: int, seed: int) -> str:
    """Gain and certainty of some persons, by setting and number of releases."""
    names = ["setting", "releases", "target", "gain", "certain", "certain by donor counts alone", "one value possible"]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    source = unveil.read(original)
    for name, one in SETTINGS.items():
        maker = CartSynthesizer(**one, special_codes=SPECIAL).fit(source)
        for m in releases:
            made = [maker.sample(seed=seed + copy) for copy in range(m)]
            pair = unveil.Pair(source, made, special_codes=SPECIAL)
            for target in TARGETS:
                risk = unveil.posterior(pair, maker, target=target, structure="both", sample=persons, seed=seed)
                found, held = (risk.posteriors(structure=one) for one in ("exact", "fixed"))
                shares = [found.posterior > 0.999999, held.posterior > 0.999999, found.possible_worlds == 1]
                text = " | ".join(_share(share.mean(), persons) for share in shares)
                print(name, m, target, flush=True)
                lines.append(f"| {name} | {m} | {target} | {found.normalised_gain.mean():.3f} | {text} |")
    return "\n".join(lines) + "\n"


def _share(share: float, persons: int) -> str:
    low, high = wilson(round(share * persons), persons)
    return f"{share:.3f} ({low:.3f} to {high:.3f})"


def drawn(found: RiskUtilityMap, path: Path) -> None:
    import matplotlib.pyplot as plt

    axes = found.plot()
    axes.figure.savefig(path, bbox_inches="tight")
    plt.close(axes.figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("original")
    options.add_argument("--releases", type=int, default=5)
    options.add_argument("--budget", type=float, default=1200.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=("map", "certain"))
    options.add_argument("--output", type=Path, default=FOLDER)
    chosen = options.parse_args()
    if chosen.only != "certain":
        found = measured(chosen.original, chosen.releases, chosen.budget, chosen.seed)
        written(table(rows_of(found)), chosen.output / "mix.md")
        if importlib.util.find_spec("matplotlib"):
            drawn(found, chosen.output / "mix.svg")
    if chosen.only != "map":
        written(by_releases(chosen.original, (1, chosen.releases), 400, chosen.seed), chosen.output / "certain.md")


def written(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
