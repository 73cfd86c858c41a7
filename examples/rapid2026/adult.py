"""Threshold curves of Adult by class: ``python examples/rapid2026/adult.py adult.csv.gz [release.csv ...]``.

Without releases five are made by the CART synthesizer. Written beside this script: adult.md, and with matplotlib
adult.svg: the share of persons whose income is inferred, with 95 % bands over persons and the range over releases, for
all and by class.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

import unveil
from unveil.inference import rapid
from unveil.synthesis import CartSynthesizer

FOLDER = Path(__file__).parent
KEYS = ["age", "education", "marital.status", "occupation", "race", "sex"]
TAUS = tuple(np.round(np.arange(0, 0.951, 0.05), 2).tolist())


def releases_of(path: str) -> list[object]:
    import pyarrow as pa

    source = unveil.read(path)
    columns = pa.table({name: source.column(name) for name in (*KEYS, "income")})
    made: list[object] = CartSynthesizer().fit(columns).sample(m=5, seed=1)
    return made


def main(original: str, *paths: str) -> None:
    pair = unveil.Pair(original, list(paths) or releases_of(original))
    result = rapid(pair, KEYS, target="income", permutations=1, ceiling=False)
    curve = result.curve(TAUS, by_class=True)
    groups = list(dict.fromkeys(line.group for line in curve.lines))
    columns: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for group in groups:
        lines = [line for line in curve.lines if line.group == group]
        rates = np.array([line.rate for line in lines])
        # persons within a release (bootstrap) and releases: the ends of all bands
        columns[group] = (
            rates.mean(axis=0),
            np.min([v.low for v in lines], axis=0),
            np.max([v.high for v in lines], axis=0),
        )
    null = np.mean([line.null_mean for line in curve.lines if line.null_mean is not None], axis=0)
    header = ["tau", *(g or "all" for g in groups), "null (all)"]
    text = "| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n"
    for i, tau in enumerate(TAUS):
        cells = [f"{columns[g][0][i]:.3f} ({columns[g][1][i]:.3f} to {columns[g][2][i]:.3f})" for g in groups]
        text += f"| {tau:g} | " + " | ".join(cells) + f" | {null[i]:.3f} |\n"
    (FOLDER / "adult.md").write_text(
        f"# Adult, target income\n\n{pair.n_original} persons, {pair.n_releases} releases, keys {', '.join(KEYS)}; "
        "random forest. Mean over the releases, in brackets the outer ends of the 95 % bands of all releases. "
        f"A gap of income is a class of its own.\n\n{text}",
        encoding="utf-8",
    )
    print(result)
    if importlib.util.find_spec("matplotlib"):
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
        for group in groups:
            mean, low, high = columns[group]
            ax.fill_between(TAUS, low, high, alpha=0.2, linewidth=0)
            ax.plot(TAUS, mean, label=group or "all")
        ax.plot(TAUS, null, color="#999999", linestyle="--", label="null (all)")
        ax.set(xlabel="tau", ylabel="share of persons at risk", ylim=(0, 1))
        ax.legend(frameon=False)
        figure.savefig(FOLDER / "adult.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
