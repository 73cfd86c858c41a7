"""The drawings of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np

mpl.rcParams["svg.hashsalt"] = "latner2025"
# Okabe & Ito 2008: told apart by readers with any colour vision, and in grey.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"
UNIQUE = "1111"


def cells(names: Sequence[str], original: np.ndarray, releases: Sequence[np.ndarray], path: Path) -> None:
    """Records by cell: the original as bars, releases as dots."""
    figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
    colours = [ORANGE if name == UNIQUE else "#9CC5DE" for name in names]
    bars = ax.bar(names, original, color=colours, label="original")
    if not releases:
        ax.bar_label(bars, fontsize="small")
    for k, release in enumerate(releases):
        ax.scatter(np.arange(16) + (k - (len(releases) - 1) / 2) * 0.06, release, s=8, color="black", zorder=3,
                   label=None if k else f"{len(releases)} releases")  # fmt: skip
    ax.set_xlabel("var1 var2 var3 var4")
    ax.set_ylabel("records")
    if releases:
        ax.set_ylim(0, 1.18 * max(original.max(), *(release.max() for release in releases)))
        ax.legend(frameon=False, ncols=2, loc="upper left")
    _save(figure, path, [ax])


def posteriors(names: Sequence[str], probabilities: Sequence[np.ndarray], path: Path) -> None:
    """Posterior of the sixteen cells for each release."""
    figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
    image = ax.imshow(np.array(probabilities), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_yticks(range(len(probabilities)), [f"S{k + 1}" for k in range(len(probabilities))])
    ax.set_xlabel("cell of the last record")
    ax.set_ylabel("release")
    figure.colorbar(image, ax=ax, label="posterior")
    _save(figure, path, [])


def worlds(names: Sequence[str], drawn: Sequence[Sequence[int]], path: Path) -> None:
    """Number of records 1111 in the releases of every world."""
    most = max(max(number) for number in drawn)
    figure, axes = plt.subplots(4, 4, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
    for ax, name, number in zip(axes.flat, names, drawn, strict=True):
        ax.bar(range(most + 1), np.bincount(number, minlength=most + 1), color=ORANGE if name == UNIQUE else BLUE)
        ax.set_title(f"last record {name}", fontsize="small")
        ax.set_xticks(range(most + 1))
    figure.supxlabel("records 1111 in a release")
    figure.supylabel(f"releases of {len(drawn[0])}")
    _save(figure, path, axes.flat)


def settings(
    title: str,
    posterior: Mapping[str, Sequence[float]],
    drawn: Mapping[str, Sequence[int]],
    path: Path,
    bound: Sequence[float] = (),
) -> None:
    """Posterior of 1111 and the number of its records, by setting; one dot per release."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for ax, values in ((left, posterior), (right, drawn)):
        for x, found in enumerate(values.values()):
            ax.scatter(x + np.linspace(-0.25, 0.25, len(found)), found, s=10, color=BLUE, alpha=0.7)
            ax.plot([x - 0.3, x + 0.3], [np.mean(found)] * 2, color=ORANGE, label=None if x else "mean")
        ax.set_xticks(range(len(values)), list(values), rotation=30 if max(map(len, values)) > 8 else 0)
        ax.set_xlabel(title)
    left.axhline(1 / 16, color=GREY, linewidth=0.8, label="prior")
    if len(bound):
        left.plot(range(len(bound)), bound, color="black", marker="_", linestyle="none", markersize=22, label="bound")
    left.set_ylabel("posterior of 1111")
    left.set_ylim(-0.03, 1.05 if max(map(max, posterior.values())) > 0.5 or any(b > 0.5 for b in bound) else 0.5)
    right.set_ylabel("records 1111 in a release")
    right.set_ylim(bottom=-0.5)
    left.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    _save(figure, path, [left, right])


def _save(figure: plt.Figure, path: Path, axes: Sequence[plt.Axes]) -> None:
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
