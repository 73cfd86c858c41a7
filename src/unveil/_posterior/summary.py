"""Figures in all and by group: means, shares, quantiles and histograms over records, and never a record's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.posterior_of_records import Posteriors
from unveil.columns import CodedColumn
from unveil.limits import exceeds, reaches
from unveil.plain import without_nan
from unveil.stats import Groups

CERTAIN = 1 - 1e-6
"""Posterior from which a value counts as certain."""
POSTERIOR_MEASURES = (
    "mean_posterior", "mean_prior", "share_above_half", "share_above_90", "share_certain", "expected_gain_bits",
    "mean_normalised_gain", "share_must_fill",
)  # fmt: skip
GROUP_MEASURES = ("mean_prior", "mean_posterior", "share_above_half", "share_certain", "expected_gain_bits")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
BINS = 20


def measures(weighed: Posteriors) -> dict[str, float]:
    """Figures in all: probabilities and shares from 0 to 1, gain in bits."""
    posterior = weighed.posterior
    return {
        "mean_posterior": exact_mean(posterior),
        "mean_prior": exact_mean(weighed.prior),
        "share_above_half": float(exceeds(posterior, 0.5).mean()),
        "share_above_90": float(exceeds(posterior, 0.9).mean()),
        "share_certain": float(reaches(posterior, CERTAIN).mean()),
        "expected_gain_bits": exact_mean(weighed.gain_bits),
        "mean_normalised_gain": exact_mean(weighed.normalised_gain),
        "share_must_fill": float(weighed.must_fill.mean()),
    }


def exact_mean(values: NDArray[np.float64]) -> float:
    """The mean, of which no digit depends on the order of the records."""
    return math.fsum(values.tolist()) / values.size


def gain_edges(gains: NDArray[np.float64], bins: int = BINS) -> NDArray[np.float64]:
    """Edges of a histogram of finite gains."""
    finite = gains[np.isfinite(gains)]
    return np.histogram_bin_edges(finite, bins=bins) if finite.size else np.array([0.0, 1.0])


def summary(weighed: Posteriors) -> dict[str, Any]:
    """Measures, quantiles and histograms as plain values; what is not finite is None.

    Parameters
    ----------
    weighed
        The records.

    Returns
    -------
    dict
        :data:`POSTERIOR_MEASURES`; ``n_records``; ``share_certain_wrong``: share of records with a certain value that
        is not the true one, 0 unless the prior or the intruder's records are wrong; ``n_truth_ruled_out``: records
        whose true value has no probability at all, after a prior or an intruder's records that are wrong, so that the
        mean gain in bits is not defined; ``normalised_gain_quantiles`` by level; ``gain_bits_histogram`` over the
        finite gains and ``normalised_gain_histogram``, each with ``edges`` and ``counts``.
    """
    bits, normalised = weighed.gain_bits, weighed.normalised_gain
    certain = reaches(weighed.likeliest_probability, CERTAIN)
    finite = bits[np.isfinite(bits)]
    edges = gain_edges(bits)
    low = min(0.0, math.floor(float(normalised.min()) * BINS) / BINS)
    steps = np.linspace(low, 1.0, round((1.0 - low) * BINS) + 1)
    return {
        **without_nan(measures(weighed)),
        "n_records": int(weighed.members.size),
        "share_certain_wrong": float((certain & (weighed.likeliest != weighed.truth)).mean()),
        "n_truth_ruled_out": int((weighed.posterior == 0).sum()),
        "normalised_gain_quantiles": {f"{q:g}": float(np.quantile(normalised, q)) for q in QUANTILES},
        "gain_bits_histogram": _histogram(finite, edges),
        "normalised_gain_histogram": _histogram(normalised, steps),
    }


def _histogram(values: NDArray[np.float64], edges: NDArray[np.float64]) -> dict[str, list[Any]]:
    return {"edges": np.round(edges, 9).tolist(), "counts": np.histogram(values, edges)[0].tolist()}


def group_table(weighed: Posteriors, groups: CodedColumn) -> dict[str, list[Any]]:
    """Number of records, and means over them, for each level of a column that a record looked at has."""
    by = Groups(groups.original[weighed.members], groups.n_levels)
    values = {
        "mean_prior": weighed.prior,
        "mean_posterior": weighed.posterior,
        "share_above_half": exceeds(weighed.posterior, 0.5),
        "share_certain": reaches(weighed.posterior, CERTAIN),
        "expected_gain_bits": weighed.gain_bits,
    }
    means = {name: by.means(each).tolist() for name, each in values.items()}
    return {groups.name: [groups.labels[i] for i in by.present], "n": by.n.tolist()} | means
