"""Whether a synthesizer makes record i of a release of record i of the original.

Privacy loss and exact membership put the other person at the end of a sorted original. Where records of a release
follow those of the original by their place, the likelihood ratio would be that of the places too.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._intruders.persons import quiet_pair
from unveil._posterior.refit import quietly
from unveil.columns import Pair
from unveil.columns.column import are_numbers
from unveil.errors import CallError, UnveilWarning
from unveil.files.opening import open_source
from unveil.synthesis.any_synthesizer import Foreign

Codes = NDArray[np.int32]

FEWEST = 40
"""With fewer records nothing can be said."""
FARTHEST = 6.0
"""Standard deviations above what a random order gives."""
LEAST_SPREAD = 2.0
"""Of the number of equal values; where few can be equal, a single one is no sign."""


def refuse_places(synthesizer: Any, pair: Pair, measure: str) -> None:
    """Refuse a synthesizer of the user whose records follow those of the original by their place.

    The original is shuffled and one release is drawn, as many records as the original has. In every column, values at
    the same place are compared: equal ones are counted, and ranks of amounts correlated. Both have a known mean and
    variance where the order of the release is random.

    Parameters
    ----------
    synthesizer
        Result of :func:`unveil.synthesis.any_synthesizer.as_synthesizer`.
    pair
        The files.
    measure
        What it is refused for, for the message.

    Raises
    ------
    CallError
        If a column agrees by place far more than by chance.
    """
    n = pair.n_original
    if not isinstance(synthesizer, Foreign) or n < FEWEST:
        return
    shuffled = pair.original.part(np.random.default_rng(61).permutation(n))
    fitted = quietly(synthesizer, shuffled)
    if not callable(getattr(fitted, "sample", None)):
        return
    made = open_source(fitted.sample(n, seed=1), label="a fresh release")
    if made.num_rows != n:
        return
    both = quiet_pair(pair, shuffled, [made])
    for name in pair.original.names:
        with warnings.catch_warnings():
            # What is to be said of the user's files is said elsewhere.
            warnings.simplefilter("ignore", UnveilWarning)
            column = both.column(name)
        original, released = column.original, column.releases[0]
        found = equal_places(original, released, LEAST_SPREAD)
        if are_numbers(column.levels):
            found = max(found, ranks_in_place(original, released))
        if found > FARTHEST:
            raise CallError(
                f"synthesizer {synthesizer.name!r} makes each record of a release of the record at the same place of "
                f"the original (column {name!r}): {measure} takes synthesizers for which the order of the records does "
                "not count"
            )


def equal_places(original: Codes, released: Codes, least: float = 0.0) -> float:
    """Equal values at the same place, as standard deviations (at least ``least``) above the mean over random orders."""
    n, size = original.size, int(max(original.max(), released.max())) + 1
    a, b = (np.bincount(codes, minlength=size).astype(np.float64) for codes in (original, released))
    pairs = float(a @ b)
    variance = (pairs - float(a @ b**2 + b @ a**2) / n + (pairs / n) ** 2) / (n - 1)
    if variance <= 0:
        return 0.0
    return float(((original == released).sum() - pairs / n) / max(math.sqrt(variance), least))


def ranks_in_place(original: Codes, released: Codes) -> float:
    """Rank correlation of values at the same place, as standard deviations above that of a random order, which is 0."""
    centred = []
    for codes in (original, released):
        _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
        rank = (np.cumsum(counts) - (counts - 1) / 2)[which]
        centred.append(rank - rank.mean())
    spread = math.sqrt(float(centred[0] @ centred[0]) * float(centred[1] @ centred[1]))
    return 0.0 if not spread else float(centred[0] @ centred[1]) / spread * math.sqrt(original.size - 1)
