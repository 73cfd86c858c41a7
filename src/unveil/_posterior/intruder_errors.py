"""An intruder some of whose other records are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import TreeSequence
from unveil.errors import CallError
from unveil.trees import Column

Ints = NDArray[np.int64]


def with_errors(sequence: TreeSequence, n_errors: int, members: Ints, seed: int) -> list[tuple[TreeSequence, Ints]]:
    """Return the original with the intruder's errors, and the records that it applies to.

    A wrong record takes each of its values from another record, drawn at random. The records looked at are right in the
    original that applies to them.

    Parameters
    ----------
    sequence
        Codes of the files.
    n_errors
        Number of wrong records.
    members : (r,) int64
        The records looked at.
    seed
        Seed of the choice.

    Returns
    -------
    list of (TreeSequence, (r,) int64)
        One original for all records, or a second one for the records that are wrong in the first.

    Raises
    ------
    CallError
        If there are too few records.
    """
    rng = np.random.default_rng([seed, 11])
    # What is drawn depends on values, not on the order in which the records came.
    order = rng.permutation(np.lexsort(list(sequence.original.values())))
    first = order[:n_errors]
    hit = np.intersect1d(members, first)
    files = [(_altered(sequence, first, rng), np.setdiff1d(members, first))]
    if hit.size:
        if 2 * n_errors > sequence.n:
            raise CallError(f"intruder_errors: at most {sequence.n // 2} of {sequence.n} records can be wrong")
        files.append((_altered(sequence, order[n_errors : 2 * n_errors], rng), hit))
    return files


def _altered(sequence: TreeSequence, wrong: Ints, rng: np.random.Generator) -> TreeSequence:
    ranked = np.lexsort(list(sequence.original.values()))
    original = {}
    columns = dict(sequence.columns)
    fitted = {}
    for name, codes in sequence.original.items():
        levels = codes.copy()
        levels[wrong] = codes[ranked[rng.integers(sequence.n, size=wrong.size)]]
        original[name] = levels
        for position, own in sequence.part_codes(name, levels).items():
            like = sequence.columns[position]
            columns[position] = Column(own, like.kind, like.n_levels, like.values, like.name)
            fitted[position] = sequence.observed(position, name, levels)
    trees = tuple(replace(definition, fitted=fitted[definition.position], grown=None) for definition in sequence.trees)
    return replace(sequence, trees=trees, columns=columns, original=original)
