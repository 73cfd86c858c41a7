"""What pMSE is expected to be for a release of a correct synthesizer: one that knows the form of the original's
distribution, fits it to the original and draws from the fit.

With N records of which a share c is from the second file, ``pMSE N / (c (1 - c))`` is near the square of the
standardised difference of the files, whatever c. That of two independent files is as large as ``1/n1 + 1/n2``, that of
such a release and its original as ``1/n2``: the share ``1 - c`` of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil._utility.compared import Compared
from unveil._utility.stack import Stack, stack_of
from unveil.threads import in_threads

Scores = Callable[[Stack], NDArray[np.float64]]
Expected = tuple[float, float]
"""The expectation, and the standard deviation in units of it; NaN where it is not known."""


def formula(parameters: int, stack: Stack) -> Expected:
    """``(k - 1) c (1 - c)^2 / N`` and ``sqrt(2 / (k - 1))`` of a logistic model with k parameters.

    References
    ----------
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), General and specific utility measures for synthetic data, Journal of
    the Royal Statistical Society A 181, 663-688, section 3.
    """
    c, df = stack.share, parameters - 1
    return df * c * (1 - c) ** 2 / len(stack.second), math.sqrt(2 / df) if df else math.nan


def by_permutation(
    stacks: Sequence[Stack], scores_of: Scores, permutations: int, seed: np.random.SeedSequence, threads: int
) -> list[Expected]:
    """Shuffle the file that a record is from, and fit again; releases of equal size share their shuffles.

    Parameters
    ----------
    stacks
        The original on each release.
    scores_of
        From a stack to propensity scores.
    permutations
        Number of shuffles for each size.
    seed
        Seed of the shuffles.
    threads
        Number of threads.
    """
    sizes = [len(stack.second) for stack in stacks]
    shuffles = [place for place, n in enumerate(sizes) for _ in range(-(-permutations // sizes.count(n)))]

    def one(task: tuple[int, np.random.SeedSequence]) -> float:
        place, stream = task
        return _distance(stacks[place].shuffled(np.random.default_rng(stream)), scores_of)

    drawn = in_threads(one, list(zip(shuffles, seed.spawn(len(shuffles)), strict=True)), threads)
    return [
        # the expectation is itself a mean of draws: a ratio to it varies a little more than its numerator
        _expected(stack, own, 1 + 1 / len(own))
        for stack, own in zip(
            stacks,
            ([v for place, v in zip(shuffles, drawn, strict=True) if sizes[place] == n] for n in sizes),
            strict=True,
        )
    ]


def by_pairs(variables: Sequence[Compared], stacks: Sequence[tuple[int, Stack]], scores_of: Scores) -> list[Expected]:
    """Compare the releases with each other: two draws from the same fit.

    Two pairs that share a release are not independent: pMSE is near a square of differences, and the squares of two
    differences with one end in common have a correlation of 1/4. Over all pairs of m releases the sample variance is
    then on average ``m / (m + 1)`` of the variance, for which it is corrected.

    Parameters
    ----------
    variables
        The variables of all files.
    stacks
        Numbers of the releases, and the original on each.
    scores_of
        From a stack to propensity scores.
    """
    numbers = [release for release, _ in stacks]
    drawn = [_distance(stack_of(variables, a, b), scores_of) for i, a in enumerate(numbers) for b in numbers[i + 1 :]]
    m = len(numbers)
    return [_expected(stack, drawn, (m + 1) / m) for _, stack in stacks]


def _distance(stack: Stack, scores_of: Scores) -> float:
    c = stack.share
    return float(np.mean((scores_of(stack) - c) ** 2)) * len(stack.second) / (c * (1 - c))


def _expected(stack: Stack, drawn: Sequence[float], larger: float) -> Expected:
    """The expectation from draws, and the standard deviation from their variance, which is larger by a factor."""
    c, mean = stack.share, float(np.mean(drawn))
    sd = relative_sd(drawn, larger) if len(drawn) > 1 and mean > 0 else math.nan
    return (1 - c) * mean * c * (1 - c) / len(stack.second), sd


def relative_sd(drawn: Sequence[float], larger: float) -> float:
    """Standard deviation in units of the mean, without the bias that it has of few draws.

    Parameters
    ----------
    drawn
        Two draws or more.
    larger
        How many times the variance is as large as that of the draws on average.

    References
    ----------
    Holtzman (1950), The unbiased estimate of the population variance and standard deviation, American Journal of
    Psychology 63, 615-617: the root of a sample variance of n normal draws is on average
    ``sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2)`` of the standard deviation.

    Examples
    --------
    >>> round(relative_sd([0.9, 1.0, 1.1], 1), 3), round(relative_sd([0.9, 1.0, 1.1], 4 / 3), 3)
    (0.113, 0.13)
    """
    n = len(drawn)
    short = math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
    return float(np.std(drawn, ddof=1) * math.sqrt(larger) / short / np.mean(drawn))
