"""Latner, Neunhoeffer & Drechsler (2025): one record that nobody shares, and what replaces the attack by simulation.

Run ``python examples/latner2025/latner.py [FOLDER]``. The folder holds latner_original.csv, latner_syn01..10.csv, and
may hold sd2011_9.csv, sd2011_5_latner_1..5.csv and sd2011_5_latner_modified_1..5.csv. Without one the original is
simulated and the releases are drawn here. Writes latner.md and the figures beside this script.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import figures
import numpy as np
import pyarrow as pa
import pyarrow.csv

import unveil
from unveil._posterior import PosteriorRisk, posterior
from unveil.errors import UnveilWarning
from unveil.simulate import latner_population
from unveil.synthesis import CartSynthesizer
from unveil.synthesis.methods.catall import CatallSynthesizer

HERE = Path(__file__).parent
VARIABLES = ["var1", "var2", "var3", "var4"]
CELLS = [f"{cell:04b}" for cell in range(16)]
PER_WORLD = 100
PER_SETTING = 30
FACTORS = dict.fromkeys(VARIABLES, "categorical")
Maker = Callable[[int], object]


def cart(**settings: object) -> Maker:
    """A way to make the synthesizer of a release; trees have no seed."""
    return lambda seed: CartSynthesizer(**settings)


def noised(epsilon: float) -> Maker:
    """The histogram of all cells with Laplace noise, drawn anew for every release."""
    public = {name: {"levels": [0, 1]} for name in VARIABLES}
    return lambda seed: CatallSynthesizer(prior=0, epsilon=epsilon, schema=public, noise_seed=seed)


MINBUCKETS = {f"{k}": cart(minbucket=k) for k in (5, 10, 25, 50, 75, 100, 150, 250)}
CPS = {f"{cp:g}": cart(cp=cp) for cp in (1e-8, 1e-4, 1e-3, 0.01, 0.02, 0.05)}
METHODS = {
    "numbers": cart(),
    "factors": cart(kinds=FACTORS),
    "factors, no collapse": cart(kinds=FACTORS, collapse=False),
    "ctree": cart(methods="ctree"),
}
EPSILONS = {f"{epsilon:g}": noised(epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0)}


def counts(table: pa.Table) -> np.ndarray:
    """Records by cell."""
    cell = sum(table.column(name).to_numpy().astype(int) << (3 - i) for i, name in enumerate(VARIABLES))
    return np.bincount(cell, minlength=16)


def with_last(original: pa.Table, cell: int) -> pa.Table:
    """The original with its last record in another cell: one of the sixteen worlds."""
    bits = {name: (cell >> (3 - i)) & 1 for i, name in enumerate(VARIABLES)}
    return pa.table({name: [*original.column(name).to_pylist()[:-1], bits[name]] for name in VARIABLES})


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines)


def risk_of(original: pa.Table, release: pa.Table, synthesizer: object) -> PosteriorRisk:
    """Posterior of the last record's cell among sixteen."""
    pair = unveil.Pair(original, release)
    return posterior(pair, synthesizer, target=VARIABLES, records=[original.num_rows - 1])


def tables(original: pa.Table, releases: Sequence[pa.Table]) -> str:
    """Tables A.1 and A.2 with figures 1 and 2, and the posterior of each release."""
    by_set = [counts(original), *(counts(release) for release in releases)]
    figures.cells(CELLS, by_set[0], [], HERE / "figure1.svg")
    figures.cells(CELLS, by_set[0], by_set[1:], HERE / "figure2.svg")
    first = markdown(
        ["cell", "original", *(f"S{k + 1}" for k in range(len(releases)))],
        [[name, *(int(one[i]) for one in by_set)] for i, name in enumerate(CELLS)],
    )
    synthesizer = CartSynthesizer().fit(original)
    rows, found = [], []
    for k, release in enumerate(releases):
        pair = unveil.Pair(original, release)
        identity = unveil.identity(pair, VARIABLES[:3])
        attribute = unveil.attribute(pair, VARIABLES[:3], target="var4")
        found.append(risk_of(original, release, synthesizer))
        rows.append([f"S{k + 1}", f"{identity.repU:.2f}", f"{attribute.DiSCO:.2f}", int(counts(release)[15]),
                     f"{found[-1].mean_posterior:.4f}"])  # fmt: skip
    figures.posteriors(CELLS, [risk.posteriors().probabilities[0] for risk in found], HERE / "posterior.svg")
    mean = np.mean([[float(row[1]), float(row[2])] for row in rows], axis=0)
    rows.append(["mean", f"{mean[0]:.2f}", f"{mean[1]:.2f}", "", ""])
    second = markdown(["release", "repU", "DiSCO (var4)", "records 1111", "posterior of 1111"], rows)
    return (
        "## Figures 1 and 2, table A.1: records by cell\n\n![original](figure1.svg)\n\n![releases](figure2.svg)\n\n"
        f"{first}\n\n## Table A.2, with the exact posterior\n\n{second}\n\n![posterior](posterior.svg)\n"
    )


def histogram_of_worlds(original: pa.Table) -> str:
    """Figure 3: how often 1111 is released, in each of the sixteen worlds the last record may be in."""
    drawn = []
    for cell in range(16):
        synthesizer = CartSynthesizer().fit(with_last(original, cell))
        drawn.append([counts(release)[15] for release in synthesizer.sample(m=PER_WORLD, seed=1)])
    figures.worlds(CELLS, drawn, HERE / "figure3.svg")
    possible = [name for name, number in zip(CELLS, drawn, strict=True) if max(number)]
    shares = np.bincount(drawn[15])
    return (
        f"## Figure 3: sixteen worlds, {PER_WORLD} releases each\n\nWorlds that ever release 1111: "
        f"{', '.join(possible)}. In the true world:\n\n"
        f"{markdown(['records 1111', 'releases'], list(enumerate(shares.tolist())))}\n\n![worlds](figure3.svg)\n"
    )


def sweep(title: str, original: pa.Table, makers: dict[str, Maker], name: str, bound: Sequence[float] = ()) -> str:
    """Posterior and number of records 1111 under several settings, with a figure."""
    found: dict[str, list[float]] = {}
    held: dict[str, list[float]] = {}
    drawn: dict[str, list[int]] = {}
    for label, make in makers.items():
        found[label], held[label], drawn[label] = [], [], []
        for seed in range(PER_SETTING):
            synthesizer = make(seed).fit(original)
            release = synthesizer.sample(seed=seed)
            risk = risk_of(original, release, synthesizer)
            found[label].append(risk.mean_posterior)
            held[label].append(risk.releases[0].get("fixed", {}).get("mean_posterior", np.nan))
            drawn[label].append(int(counts(release)[15]))
    figures.settings(title, found, drawn, HERE / f"{name}.svg", bound)
    header = [title, "mean number of 1111", "mean posterior", "largest posterior", "mean posterior, donor counts alone"]
    rows = [[label, f"{np.mean(drawn[label]):.2f}", f"{np.mean(found[label]):.3f}", f"{np.max(found[label]):.3f}",
             "" if np.isnan(held[label]).any() else f"{np.mean(held[label]):.3f}"] for label in makers]  # fmt: skip
    if len(bound):
        header.append("bound")
        rows = [[*row, f"{value:.3f}"] for row, value in zip(rows, bound, strict=True)]
    return f"### {title}\n\n{markdown(header, rows)}\n\n![{title}]({name}.svg)\n"


def settings(original: pa.Table) -> str:
    """The slides' figures: leaves, cp, methods and differential privacy."""
    bound = [float(np.exp(float(e)) / (np.exp(float(e)) + 15)) for e in EPSILONS]
    return "\n".join(
        [
            f"## Settings, {PER_SETTING} releases each\n",
            "Where donor counts alone say little and the posterior is 1 all the same, the shape of the trees depends "
            "on the record: near the cp that removes a tree altogether, one world removes it and the others keep it.\n",
            sweep("minbucket", original, MINBUCKETS, "minbucket"),
            sweep("cp", original, CPS, "cp"),
            sweep("coding and method", original, METHODS, "methods"),
            sweep("histogram with Laplace noise, epsilon", original, EPSILONS, "noise", bound),
        ]
    )


def survey(folder: Path) -> str:
    """Table A.3: releases of Social Diagnosis 2011, as drawn and with one value for everybody."""
    keys = ["sex", "age", "region", "placesize"]
    whole = pyarrow.csv.read_csv(
        folder / "sd2011_9.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )
    original = whole.select([*keys, "depress"])
    synthesizer = CartSynthesizer().fit(original)
    rows = []
    for name, called in (("sd2011_5_latner", "as drawn"), ("sd2011_5_latner_modified", "depress 0 for all")):
        pair = unveil.Pair(original, [str(folder / f"{name}_{k}.csv") for k in range(1, 6)])
        identity, attribute = unveil.identity(pair, keys), unveil.attribute(pair, keys, target="depress")
        risk = posterior(pair, synthesizer, target="depress", structure="fixed", releases="each")
        rows.append([called, f"{identity.UiO:.2f}", f"{attribute.releases[0]['Dorig']:.2f}", f"{identity.repU:.2f}",
                     f"{attribute.DiSCO:.2f}", f"{risk.mean_posterior:.3f}"])  # fmt: skip
    header = ["five releases", "UiO", "Dorig", "repU", "DiSCO", "posterior (fixed)"]
    return (
        "## Table A.3: Social Diagnosis 2011, target depress\n\nA release in which depress is 0 for everybody says "
        "nothing about anybody: its DiSCO rises, its posterior falls to the prior, 1/23 = .043.\n\n"
        f"{markdown(header, rows)}\n"
    )


def main() -> None:
    """Write the study."""
    warnings.simplefilter("ignore", UnveilWarning)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder:
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
    if folder and (folder / "sd2011_9.csv").exists():
        parts.append(survey(folder))
    (HERE / "latner.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
