"""Samples of large files, on which attackers are trained, and what the draw of a sample adds to an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._rapid.attack import Attack
from unveil._rapid.threshold import RiskThreshold
from unveil.notes import Note
from unveil.plain import Plain
from unveil.stats import student_half

Floats = NDArray[np.float64]
MOST_RECORDS = 100_000
"""Records of a file that an attacker is trained on at most, unless another number is asked for."""


@dataclass(frozen=True)
class TrainingSample(Plain):
    """The records that attackers were trained on, where they are not all.

    Parameters
    ----------
    records
        Their number in each release.
    of
        How many records with a target the releases have.
    """

    records: tuple[int, ...]
    of: tuple[int, ...]

    @classmethod
    def of_releases(cls, sizes: Sequence[int], most: int) -> TrainingSample | None:
        """At most so many records of each release; None where that is all of them."""
        if max(sizes) <= most:
            return None
        return cls(tuple(min(n, most) for n in sizes), tuple(sizes))

    def note(self, seed: int) -> Note:
        """The sentence that says so."""
        shares = ", ".join(dict.fromkeys(f"{k} of {n}" for k, n in zip(self.records, self.of, strict=True)))
        return Note(
            f"attackers were trained on {shares} records of a release, drawn with seed {seed}, and applied to all "
            "original records; trained on all they may infer more or less",
            "attackers were trained on records of the release drawn at random, not on all",
        )


def sampling_half(runs: Sequence[Attack], thresholds: Sequence[float], rule: RiskThreshold, level: float) -> Floats:
    """Half the length (t,) of the interval of the rate, mean over some attacks, over the draws of their samples.

    Each attack is also trained on other samples of its release. The rates of all its samples are independent draws, so
    their standard deviation, times Student's quantile, is how far one may be from their expectation. It is 0 where all
    attackers were trained on whole releases.
    """
    sampled = [[one.rates(thresholds, rule) for one in run.samples] for run in runs if run.samples]
    if not sampled:
        return np.zeros(len(thresholds))
    means = np.sum(sampled, axis=0) / len(runs)
    return np.array([student_half(draws, level) for draws in means.T]) * math.sqrt(len(means))


def widened(rate: float, ends: tuple[float, float], half: float) -> tuple[float, float]:
    """The interval of a rate over persons, and over samples that are drawn independently of them.

    Examples
    --------
    >>> low, high = widened(0.5, (0.47, 0.54), 0.04)
    >>> round(low, 9), round(high, 3)
    (0.45, 0.557)
    """
    low, high = (math.hypot(rate - end, half) for end in ends)
    return max(rate - low, 0.0), min(rate + high, 1.0)
