"""Latner, Neunhoeffer & Drechsler (2025): one record that nobody shares, and what replaces the attack by simulation.

Run ``python examples/latner2025/latner.py [FOLDER]``; the folder holds latner_original.csv and latner_syn01..10.csv.
Without one the original is simulated. Writes latner.md and the figures beside this script.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.csv

import unveil
from unveil.errors import UnveilWarning
from unveil.posterior import posterior
from unveil.simulate import latner_population
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "latner2025"
HERE = Path(__file__).parent
VARIABLES = ["var1", "var2", "var3", "var4"]
CELLS = [f"{cell:04b}" for cell in range(16)]
SEEDS = 100
SETTINGS: dict[str, Callable[[], CartSynthesizer]] = {
    "minbucket 5 (default)": CartSynthesizer,
    "minbucket 25": lambda: CartSynthesizer(minbucket=25),
    "minbucket 50": lambda: CartSynthesizer(minbucket=50),
    "minbucket 75": lambda: CartSynthesizer(minbucket=75),
    "cp 0.05": lambda: CartSynthesizer(cp=0.05),
    "as factors": lambda: CartSynthesizer(kinds=dict.fromkeys(VARIABLES, "categorical")),
    "as factors, no collapse": lambda: CartSynthesizer(kinds=dict.fromkeys(VARIABLES, "categorical"), collapse=False),
}


def counts(table: pa.Table) -> np.ndarray:
    """Records by cell."""
    cell = sum(table.column(name).to_numpy().astype(int) << (3 - i) for i, name in enumerate(VARIABLES))
    return np.bincount(cell, minlength=16)


def with_last(original: pa.Table, cell: int) -> pa.Table:
    """The original with its last record in another cell: one of the sixteen worlds."""
    bits = {name: (cell >> (3 - i)) & 1 for i, name in enumerate(VARIABLES)}
    columns = {name: [*original.column(name).to_pylist()[:-1], bits[name]] for name in VARIABLES}
    return pa.table(columns)


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines)


def risk_of(original: pa.Table, release: pa.Table, synthesizer: object) -> float:
    """Posterior of the last record's true cell among sixteen."""
    pair = unveil.Pair(original, release)
    return posterior(pair, synthesizer, target=VARIABLES, records=[original.num_rows - 1]).mean_posterior


def tables(original: pa.Table, releases: Sequence[pa.Table]) -> str:
    """Tables A.1 and A.2, and the posterior of each release."""
    by_set = [counts(original), *(counts(release) for release in releases)]
    first = markdown(
        ["cell", "original", *(f"S{k + 1}" for k in range(len(releases)))],
        [[name, *(int(one[i]) for one in by_set)] for i, name in enumerate(CELLS)],
    )
    synthesizer = CartSynthesizer().fit(original)
    rows = []
    for k, release in enumerate(releases):
        pair = unveil.Pair(original, release)
        identity = unveil.identity(pair, VARIABLES[:3])
        attribute = unveil.attribute(pair, VARIABLES[:3], target="var4")
        rows.append([f"S{k + 1}", f"{identity.repU:.2f}", f"{attribute.DiSCO:.2f}",
                     f"{risk_of(original, release, synthesizer):.4f}"])  # fmt: skip
    second = markdown(["release", "repU", "DiSCO (var4)", "posterior of 1111"], rows)
    return f"## Table A.1: records by cell\n\n{first}\n\n## Table A.2, with the exact posterior\n\n{second}\n"


def histogram_of_worlds(original: pa.Table) -> str:
    """How often 1111 is released, in each of the sixteen worlds the last record may be in."""
    shares = []
    for cell in range(16):
        synthesizer = CartSynthesizer().fit(with_last(original, cell))
        drawn = [counts(release)[15] for release in synthesizer.sample(m=SEEDS, seed=1)]
        shares.append(np.bincount(np.minimum(drawn, 4), minlength=5))
    figure, axes = plt.subplots(4, 4, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
    for ax, name, share in zip(axes.flat, CELLS, shares, strict=True):
        ax.bar(range(5), share, color="#D55E00" if name == "1111" else "#0072B2")
        ax.set_title(f"last record {name}", fontsize="small")
    figure.supxlabel("number of records 1111 in the release (4: four or more)")
    figure.supylabel(f"releases of {SEEDS}")
    figure.savefig(HERE / "worlds.svg", metadata={"Date": None})
    plt.close(figure)
    possible = [name for name, share in zip(CELLS, shares, strict=True) if share[1:].sum()]
    rows = [[n if n < 4 else "4 and more", int(shares[15][n])] for n in range(5)]
    return (
        f"## Sixteen worlds, {SEEDS} releases each\n\nWorlds that ever release 1111: {', '.join(possible)}. In the "
        f"true world:\n\n{markdown(['records 1111', 'releases'], rows)}\n\n![worlds](worlds.svg)\n"
    )


def settings(original: pa.Table) -> str:
    """Posterior under other settings, and the number of records 1111."""
    found: dict[str, list[float]] = {}
    drawn: dict[str, list[int]] = {}
    for name, make in SETTINGS.items():
        synthesizer = make().fit(original)
        releases = [synthesizer.sample(seed=seed) for seed in range(30)]
        found[name] = [risk_of(original, release, synthesizer) for release in releases]
        drawn[name] = [int(counts(release)[15]) for release in releases]
    for name, neighbours in (("DP histogram, epsilon 1", "replace"),):
        found[name], drawn[name] = [], []
        for seed in range(30):
            noised = CatallSynthesizer(prior=0, epsilon=1.0, neighbours=neighbours, noise_seed=seed).fit(original)
            release = noised.sample(seed=seed)
            found[name].append(risk_of(original, release, noised))
            drawn[name].append(int(counts(release)[15]))
    ctree = CartSynthesizer(methods="ctree").fit(original)
    drawn["ctree"] = [int(counts(ctree.sample(seed=seed))[15]) for seed in range(30)]
    rows = [
        [name, f"{np.mean(number):.2f}",
         *((f"{np.mean(found[name]):.3f}", f"{np.max(found[name]):.3f}") if name in found else ("", ""))]
        for name, number in drawn.items()
    ]  # fmt: skip
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for y, (name, values) in enumerate(found.items()):
        jitter = np.linspace(-0.25, 0.25, len(values))
        ax.scatter(values, y + jitter, s=10, color="#0072B2", alpha=0.7, label=name)
    ax.axvline(1 / 16, color="#999999", linewidth=0.8)
    ax.set_yticks(range(len(found)), list(found))
    ax.set_xlabel("posterior of 1111 (line: prior, 1/16)")
    figure.savefig(HERE / "settings.svg", metadata={"Date": None})
    plt.close(figure)
    table = markdown(["setting", "mean number of 1111", "mean posterior", "largest posterior"], rows)
    return f"## Settings, 30 releases each\n\n{table}\n\n![settings](settings.svg)\n"


def main() -> None:
    """Write the study."""
    warnings.simplefilter("ignore", UnveilWarning)
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        original = pyarrow.csv.read_csv(folder / "latner_original.csv")
        releases = [pyarrow.csv.read_csv(folder / f"latner_syn{k:02d}.csv") for k in range(1, 11)]
    else:
        original = latner_population(1000, seed=1)
        releases = CartSynthesizer().fit(original).sample(m=10, seed=1)
    parts = [
        "# Latner, Neunhoeffer & Drechsler (2025)\n",
        "Written by `latner.py`. Four binary variables, 1000 records; 1111 occurs once, in the last record. An "
        "intruder knows the other 999 and the synthesizer. DiSCO and replicated uniques do not see what the mere "
        "presence of 1111 in a release says; the posterior does, and takes milliseconds instead of sixteen times a "
        "hundred syntheses.\n",
        tables(original, releases),
        histogram_of_worlds(original),
        settings(original),
    ]
    (HERE / "latner.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
