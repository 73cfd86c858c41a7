"""Surrogate splits: where a record goes whose level was not in the node when it was split.

A surrogate is a split of another variable that sends as many of the node's records as possible the same way as the
node's split, and more than if all went with the majority. Surrogates are tried by falling agreement; a surrogate is
skipped if its level was not in the node either. Without a usable surrogate the record goes with the majority (Breiman,
Friedman, Olshen & Stone 1984, section 5.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, Struct, loop

_find_surrogates = loop(
    "find_surrogates", STRUCTS["Records"], int, None, np.bool_, int, STRUCTS["Surrogates"], np.int64, result=int
)


class Surrogates(NamedTuple):
    """Surrogate splits by node.

    Parameters
    ----------
    start : (t + 1,) int64
        First surrogate of each node.
    feature, low, high : (s,) int64
        Variable; last code below and first code above the threshold (-1 for sets of levels).
    flip : (s,) bool
        Whether codes below the threshold go right.
    side_start : (s,) int64
        Where the levels' sides begin in ``sides``, -1 for thresholds.
    sides : (b,) uint8
        Sides of levels: 0 left, 1 right, 2 unseen.
    agreement : (s,) int64
        Records that are sent the same way.
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    flip: NDArray[np.bool_]
    side_start: NDArray[np.int64]
    sides: NDArray[np.uint8]
    agreement: NDArray[np.int64]


def no_surrogates(nodes: int) -> Surrogates:
    """Return an empty set of surrogates."""
    none = np.zeros(0, np.int64)
    return Surrogates(
        np.zeros(nodes + 1, np.int64),
        none,
        none,
        none,
        none.astype(np.bool_),
        none,
        none.astype(np.uint8),
        none,
    )


def find_surrogates(records: Struct, nodes: NDArray[Any], wanted: NDArray[np.bool_], most: int) -> Surrogates:
    """Find the surrogates of some nodes.

    Parameters
    ----------
    records
        A ``Records``; its ``rows`` are the records by node.
    nodes : (t,) NODE
        See :class:`unveil.trees.nodes.Grown`.
    wanted : (t,) bool
        Nodes that get surrogates.
    most : int
        Largest number of surrogates of a node.

    Returns
    -------
    Surrogates
        By falling agreement, equal ones by variable.
    """
    room = int(wanted.sum()) * min(most, records.predictors - 1)
    feature, low, high, side_start, agreement = np.full((5, room), -1, dtype=np.int64)
    sides = np.zeros(room * int(records.kept["n_levels"].max()), dtype=np.uint8)
    start, flip = np.zeros(nodes.size + 1, dtype=np.int64), np.zeros(room, dtype=np.bool_)
    found = Surrogates(start, feature, low, high, flip, side_start, sides, agreement)
    n_sides = np.zeros(1, dtype=np.int64)
    n = _find_surrogates(records, nodes.size, nodes, wanted, most, STRUCTS["Surrogates"](**found._asdict()), n_sides)
    if n < 0:
        raise MemoryError("not enough memory for surrogate splits")
    cut = {name: getattr(found, name)[:n] for name in found._fields if name not in ("start", "sides")}
    return found._replace(sides=found.sides[: n_sides[0]], **cut)
