"""Delta by epsilon, a curve per person. Each function returns the axes it drew on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unveil._intruders.privacy_result import PrivacyLoss
from unveil.errors import CallError
from unveil.show.plots.axes import BLUE, PALE, VERMILION, axes_for, finished

POINTS = 120
WIDEST = 50.0
"""Epsilon beyond which nothing is drawn: the factor has 21 digits."""


def plot_privacy_loss(found: PrivacyLoss, *, ax: Any = None) -> Any:
    """A pale curve per person, the person in the middle, and the worst one with its interval."""
    losses = found._persons.losses
    if not losses:
        raise CallError("no fresh releases were made, so there are no curves; ask for curves of some persons")
    ax = axes_for(ax)
    top = min(max(one.largest for one in losses) * 1.05, WIDEST) or 1.0
    if not math.isnan(found.stated_epsilon):
        top = max(top, 1.5 * found.stated_epsilon)
    epsilons = np.linspace(0.0, top, POINTS)
    curves = np.array([[one.delta(epsilon) for epsilon in epsilons] for one in losses])
    worst = int(curves.mean(axis=1).argmax())
    for curve in curves:
        ax.plot(epsilons, curve, color=PALE, linewidth=0.8, zorder=1)
    ends = np.array([losses[worst].delta_interval(epsilon, found.level) for epsilon in epsilons])
    ax.fill_between(epsilons, ends[:, 0], ends[:, 1], color=VERMILION, alpha=0.2, linewidth=0, zorder=2)
    ax.plot(epsilons, curves[worst], color=VERMILION, zorder=3, label=f"worst of {len(losses)} persons")
    ax.plot(epsilons, np.median(curves, axis=0), color=BLUE, zorder=3, label="median")
    if not math.isnan(found.stated_epsilon):
        ax.axvline(found.stated_epsilon, color="#333333", linestyle=":", label="epsilon that is guaranteed")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlim(0, top)
    return finished(
        ax, "epsilon", "delta, lower bound", f"Privacy loss: {found.n_releases} fresh releases in each direction",
        {"loc": "best"},
    )  # fmt: skip
