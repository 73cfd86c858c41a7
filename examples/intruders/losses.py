"""Privacy loss of single persons, and audits of noise: ``python examples/intruders/losses.py FOLDER``.

The folder holds sd2011_9.csv. For five settings, realised losses of 300 persons and delta by epsilon of three of them
over 60 fresh releases in each direction (losses.csv, losses_curves.csv, losses.svg); then a histogram whose noise is
what its epsilon needs, and one with half of it (audit.csv, audit.svg). losses.md holds the tables.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pages import FOLDER, Row, markdown, read_csv, shown, survey, write_csv

import unveil
from unveil.synthesis.methods.catall import CatallSynthesizer

SETTINGS: dict[str, dict[str, Any]] = {
    "minbucket 5": {},
    "minbucket 50": {"minbucket": 50},
    "minbucket 500": {"minbucket": 500},
    "minbucket 5, mix 0.05": {"mix": 0.05},
    "no tree": {"methods": "sample"},
}
EPSILONS = np.concatenate([[0.0], np.geomspace(0.01, 2000.0, 60)])
PERSONS, CURVES, RELEASES = 300, 3, 60
STATED, AUDITED, RELEASED = 1.0, 500, 60


class HalfTheNoise(CatallSynthesizer):
    """A mechanism that is broken on purpose: it states an epsilon, and draws the noise of twice that epsilon."""

    def _noisy_shares(self, file: Any) -> Any:
        stated, self.epsilon = self.epsilon, 2 * self.epsilon
        shares = super()._noisy_shares(file)
        self.epsilon = stated
        return shares


NOISES = {"the noise of epsilon 1": CatallSynthesizer, "half of it": HalfTheNoise}


def lost(pair: unveil.Pair, maker: Any, setting: str, **options: Any) -> tuple[list[Row], list[Row]]:
    """Quantiles over persons, and the curve of the person in the middle and of the worst one."""
    found = unveil.privacy_loss(
        pair, maker, **{"persons": PERSONS, "curves": CURVES, "releases": RELEASES, "delta": 0.1} | options
    )
    spreads = [{"setting": setting, "share_ruled_out": found.share_ruled_out} | row
               for row in found.to_frame(flavour="arrow").to_pylist()]  # fmt: skip
    curves = found.curves(EPSILONS.tolist(), flavour="arrow").to_pylist()
    points = []
    for epsilon in EPSILONS.tolist():
        deltas = [row["delta"] for row in curves if row["epsilon"] == epsilon]
        points.append(
            {"setting": setting, "epsilon": epsilon, "median": float(np.median(deltas)), "worst": max(deltas)}
        )
    return spreads, points


def audits(releases: int = AUDITED) -> Iterator[Row]:
    """Delta of one record with the other level in its place: what noise has to hide most."""
    pair = unveil.Pair(pa.table({"x": ["a"]}), pa.table({"x": ["a", "b"] * (RELEASED // 2)}))
    for noise, kind in NOISES.items():
        maker = kind(prior=0, epsilon=STATED, schema={"x": {"levels": ["a", "b"]}})
        found = unveil.privacy_loss(pair, maker, candidates=pa.table({"x": ["b"]}), persons=[0], releases=releases)
        above = found.n_above_stated
        for row in found.curves(np.linspace(0, 3, 31).tolist(), flavour="arrow").to_pylist():
            yield {"noise": noise, "stated_epsilon": STATED, "n_above_stated": above} | {
                name: row[name] for name in ("epsilon", "delta", "low", "high")
            }


def page(spreads: Sequence[Row], audited: Sequence[Row]) -> str:
    """The tables."""
    lines = []
    for setting in SETTINGS:
        own = {row["figure"]: row for row in spreads if row["setting"] == setting}
        smallest = next(row for name, row in own.items() if name.startswith("smallest"))
        ruled_out = own["realised loss"]["share_ruled_out"]
        lines.append([
            setting, shown(100 * ruled_out, 1), _loss(own["realised loss"]["q50"]), shown(own["delta(1)"]["q50"]),
            shown(own["delta(1)"]["q100"]), shown(own["delta(infinity)"]["q50"]), _loss(smallest["q50"]),
            _loss(smallest["q100"]),
        ])  # fmt: skip
    header = ["setting", "% ruled out", "realised loss, median", "delta(1), median", "delta(1), worst",
              "delta(infinity), median", "smallest epsilon at .1, median", "worst"]  # fmt: skip
    text = "# Privacy loss of single persons\n\nWritten by `losses.py`.\n\n" + markdown(header, lines)
    lines = []
    for noise in NOISES:
        (at_stated,) = [row for row in audited if row["noise"] == noise and math.isclose(row["epsilon"], STATED)]
        ends = (at_stated["low"], at_stated["high"])
        lines.append([noise, f"{STATED:g}", shown(at_stated["delta"], ends=ends), f"{at_stated['n_above_stated']:.0f}"])
    header = ["noise", "stated epsilon", "delta at the stated epsilon", "persons who contradict it, of 1"]
    return text + "\n## Audit\n\n" + markdown(header, lines)


def _loss(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.3g}"


def drawn(points: Sequence[Row], audited: Sequence[Row], folder: Path) -> None:
    """A curve per setting, and a band per noise."""
    import matplotlib.pyplot as plt

    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000")
    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for setting, colour, width in zip(SETTINGS, colours, (5, 2, 2, 2, 2), strict=True):
        own = [row for row in points if row["setting"] == setting]
        axes.plot([row["epsilon"] for row in own], [row["median"] for row in own], color=colour, linewidth=width,
                  alpha=0.5 if width > 2 else 1, label=setting)  # fmt: skip
    axes.set_xscale("symlog", linthresh=0.01, linscale=0.3)
    axes.set_xticks([0, 0.01, 0.1, 1, 10, 100, 1000], ["0", "0.01", "0.1", "1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_xlabel("epsilon (log scale)")
    axes.set_ylabel("delta, lower bound: median of three persons")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(folder / "losses.svg", bbox_inches="tight")
    plt.close(figure)
    figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    for noise, colour in zip(NOISES, colours, strict=False):
        own = [row for row in audited if row["noise"] == noise]
        epsilons = [row["epsilon"] for row in own]
        axes.fill_between(epsilons, [row["low"] for row in own], [row["high"] for row in own], color=colour, alpha=0.2,
                          linewidth=0)  # fmt: skip
        axes.plot(epsilons, [row["delta"] for row in own], color=colour, label=noise)
    axes.axvline(STATED, color="#333333", linestyle=":", label="stated epsilon: delta may not be above 0 from here on")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("epsilon")
    axes.set_ylabel("delta, lower bound")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(folder / "audit.svg", bbox_inches="tight")
    plt.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--output", type=Path, default=FOLDER)
    chosen = options.parse_args()
    warnings.simplefilter("ignore", unveil.UnveilWarning)
    spreads, points = [], []
    for setting, settings in SETTINGS.items():
        one, curve = lost(*survey(chosen.folder, **settings), setting)
        spreads += one
        points += curve
        print(setting, flush=True)
    written = {"losses": spreads, "losses_curves": points, "audit": list(audits())}
    for name, rows in written.items():
        write_csv(rows, chosen.output / f"{name}.csv")
    spreads, points, audited = (read_csv(chosen.output / f"{name}.csv") for name in written)
    (chosen.output / "losses.md").write_text(page(spreads, audited), encoding="utf-8")
    if importlib.util.find_spec("matplotlib"):
        drawn(points, audited, chosen.output)


if __name__ == "__main__":
    main()
