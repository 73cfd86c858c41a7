"""Threshold curves of Adult by class: ``python examples/rapid2026/adult.py adult.csv.gz [release.csv ...]``.

Without releases five are made by the CART synthesizer. Written beside this script: adult.md, and with matplotlib
adult.svg: the share of persons whose income is inferred, with 95 % bands over persons and the range over releases, for
all and by class. A release is kept in the folder ``parts`` when done: a run that was interrupted goes on where it
stopped; ``--permutations`` says how often each release is shuffled for the null.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np

import unveil
from unveil._rapid import rapid
from unveil.synthesis import CartSynthesizer

FOLDER = Path(__file__).parent
KEYS = ["age", "education", "marital.status", "occupation", "race", "sex"]
TAUS = tuple(np.round(np.arange(0, 0.951, 0.05), 2).tolist())

Part = dict[str, Any]


def releases_of(path: str) -> list[Any]:
    import pyarrow as pa

    source = unveil.read(path)
    columns = pa.table({name: source.column(name) for name in (*KEYS, "income")})
    made: list[Any] = CartSynthesizer().fit(columns).sample(m=5, seed=1)
    return made


def attacked(original: str, release: Any, permutations: int, *, ceiling: bool) -> Part:
    """One release: the curves of all persons and of each class, the null, and the original by itself."""
    pair = unveil.Pair(original, release)
    result = rapid(pair, KEYS, target="income", permutations=permutations, ceiling=ceiling)
    print(result)
    part: Part = {"persons": pair.n_original, "curves": {}}
    for line in result.curve(TAUS, by_class=True).lines:
        part["curves"][line.group or "all"] = [line.rate.tolist(), line.low.tolist(), line.high.tolist()]
        if line.null_mean is not None:
            part["null"] = line.null_mean.tolist()
        if line.ceiling is not None:
            part["ceiling"] = line.ceiling.tolist()
    return part


def kept(path: Path, original: str, release: Any, permutations: int, *, ceiling: bool) -> Part:
    if not path.exists():
        found = attacked(original, release, permutations, ceiling=ceiling)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(found), encoding="utf-8")
        unfinished.replace(path)
    part: Part = json.loads(path.read_text(encoding="utf-8"))
    return part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("original")
    parser.add_argument("releases", nargs="*")
    parser.add_argument("--permutations", type=int, default=4)
    parser.add_argument("--parts", type=Path, default=FOLDER / "parts", help="folder of finished releases")
    given = parser.parse_args()
    given.parts.mkdir(parents=True, exist_ok=True)
    parts = [
        kept(given.parts / f"adult-{i}.json", given.original, release, given.permutations, ceiling=i == 1)
        for i, release in enumerate(given.releases or releases_of(given.original), start=1)
    ]
    groups = list(parts[0]["curves"])
    # persons within a release (bootstrap) and releases: the ends of all bands
    columns = {
        group: [
            function([part["curves"][group][i] for part in parts], axis=0)
            for i, function in enumerate((np.mean, np.min, np.max))
        ]
        for group in groups
    }
    null, ceiling = np.mean([part["null"] for part in parts], axis=0), np.array(parts[0]["ceiling"])
    header = ["tau", *groups, "null (all)", "ceiling (all)"]
    text = "| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n"
    for i, tau in enumerate(TAUS):
        cells = ["{:.3f} ({:.3f} to {:.3f})".format(*(end[i] for end in columns[group])) for group in groups]
        text += f"| {tau:g} | " + " | ".join(cells) + f" | {null[i]:.3f} | {ceiling[i]:.3f} |\n"
    (FOLDER / "adult.md").write_text(
        f"# Adult, target income\n\n{parts[0]['persons']} persons, {len(parts)} releases, keys {', '.join(KEYS)}; "
        "random forest. Mean over the releases, in brackets the outer ends of the 95 % bands of all releases. Null: "
        f"{given.permutations} shuffles of each release. Ceiling: trained on the original, every person predicted by a "
        f"forest grown without them. A gap of income is a class of its own.\n\n{text}",
        encoding="utf-8",
    )
    if importlib.util.find_spec("matplotlib"):
        draw(columns, null, ceiling)


def draw(columns: dict[str, list[np.ndarray]], null: np.ndarray, ceiling: np.ndarray) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for group, (mean, low, high) in columns.items():
        ax.fill_between(TAUS, low, high, alpha=0.2, linewidth=0)
        ax.plot(TAUS, mean, label=group)
    ax.plot(TAUS, null, color="#999999", linestyle="--", label="null (all)")
    ax.plot(TAUS, ceiling, color="black", linestyle=":", label="ceiling (all)")
    ax.set(xlabel="tau", ylabel="share of persons at risk", ylim=(0, 1))
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(FOLDER / "adult.svg")


if __name__ == "__main__":
    main()
