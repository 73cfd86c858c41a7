"""How likelihood ratios of many persons are had: by walks through trees, or by a fit per person."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.mixed import MixedRecords
from unveil._intruders.refitted import RefittedRecords
from unveil._intruders.whole_records import Told, WalkedRecords, WholeRecords
from unveil._posterior.checked_options import check_options
from unveil._posterior.choice import make_problem
from unveil._posterior.plausible import LARGEST_IMPOSSIBLE
from unveil._posterior.problem import PosteriorProblem
from unveil.columns import Pair
from unveil.errors import CallError, UnveilWarning
from unveil.files import Source

Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]

MOST_FITS = 5000
"""Most fits where the synthesizer has to be fitted for every person."""
ROUNDING = 1e-9
"""Log ratios this near to 0 are 0: sums were taken in another order."""


def problem_of(
    pair: Pair, synthesizer: Any, others: Source, withheld: Iterable[str] = (),
    largest_impossible: float = LARGEST_IMPOSSIBLE, check_settings: bool = False,
) -> PosteriorProblem:  # fmt: skip
    """Bring an original, its releases, other persons and a synthesizer together.

    Parameters
    ----------
    pair, others
        The files, sorted.
    synthesizer
        What made the releases.
    withheld, largest_impossible, check_settings
        See :func:`unveil.exact_membership`.

    Raises
    ------
    CallError
        If the synthesizer has no likelihood for whole records.
    DataError
        If it cannot have made the releases.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        options = check_options(
            pair, synthesizer, candidates=others, structure="exact", records=[0], withheld=withheld
        )  # fmt: skip
        return make_problem(options, largest_impossible, thorough=check_settings)


def ratios_by(problem: PosteriorProblem, pair: Pair, n_games: int) -> WholeRecords:
    """How likelihood ratios are had: by walks, or by fits where their number is bearable.

    Raises
    ------
    CallError
        If there are too many fits.
    """
    trees = list(problem.trees.values())
    if problem.kind == "cart":
        return WalkedRecords(problem.sequence, trees)
    if n_games >= MOST_FITS:
        raise CallError(
            f"the synthesizer is fitted anew for every game, and {n_games} games are too many; ask for a sample of "
            f"fewer than {MOST_FITS // 2}"
        )
    if problem.refitted is not None:
        return MixedRecords(problem.sequence, trees, problem.refitted)
    return RefittedRecords(pair, problem.sequence, problem.options.synthesizer)


def told_to(progress: Progress | None, done: int, total: int, name: str = "games") -> Told:
    """What tells of games done, after those that were done before."""
    return lambda more: progress(done + more, total, name) if progress is not None else None


def without_rounding(ratios: Floats) -> Floats:
    """The same log ratios, those that are 0 but for rounding as 0."""
    return np.where(np.abs(ratios) < ROUNDING, 0.0, ratios)
