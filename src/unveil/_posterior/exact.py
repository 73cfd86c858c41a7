"""Likelihood of a tree that is fitted again for every record and world: donor counts and the shape of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.moved_record import MovedRecord
from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil._posterior.walk import known_tree, walk_many
from unveil.core import Struct
from unveil.threads import in_threads, n_threads

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

BLOCK = 32
"""Records that a thread takes at a time."""


@dataclass(frozen=True, eq=False)
class ExactTree:
    """One fitted tree and the released records that it has drawn."""

    definition: SequenceTree
    known: Struct

    @property
    def as_fitted(self) -> tuple[int, float]:
        """Impossible values and log-likelihood where no record is moved."""
        root = self.known.kept["known"][0]
        return int(root["below_impossible"]), float(root["below_log"])


def fit_exact(
    sequence: TreeSequence, definition: SequenceTree, releases: Sequence[int], possible: Sequence[Flags]
) -> ExactTree:
    """Fit one tree and keep what is needed to move a record.

    Parameters
    ----------
    sequence
        Original and releases.
    definition
        The tree to fit.
    releases
        The releases that are pooled.
    possible : sequence of (n_r,) bool
        Per release, the records that count.

    Returns
    -------
    ExactTree
        The tree.
    """
    rows = {r: np.flatnonzero(possible[r]) for r in releases}

    def pooled(position: int) -> Codes:
        return np.concatenate([sequence.z[r][position][own] for r, own in rows.items()]).astype(np.int32)

    z_response = pooled(definition.position)
    z_predictors = [pooled(p) for p in definition.predictors]
    known = known_tree(
        sequence.columns[definition.position],
        [sequence.columns[p] for p in definition.predictors],
        np.flatnonzero(definition.fitted),
        definition.settings,
        z_response,
        np.array(z_predictors, dtype=np.int32).reshape(len(z_predictors), z_response.size),
        definition.mix,
    )
    return ExactTree(definition, known)


def exact_likelihood(tree: ExactTree, members: Ints, moved: MovedRecord, wanted: Flags) -> tuple[Ints, Floats]:
    """Impossible values and log-likelihood by record and world.

    Parameters
    ----------
    tree
        The tree.
    members : (r,) int64
        The records.
    moved
        What the tree sees of a record by world.
    wanted : (r, c) bool
        What is to be computed; the rest is 0.

    Returns
    -------
    impossible : (r, c) int64
        Released values that cannot be produced.
    log : (r, c) float64
        Log-likelihood of the others.
    """
    definition, known = tree.definition, tree.known
    alike = _worlds_alike(moved)
    if alike is not None:
        first, group = alike
        fewer = np.zeros((wanted.shape[0], first.size), dtype=np.bool_)
        np.logical_or.at(fewer.T, group, wanted.T)
        impossible, log = exact_likelihood(tree, members, moved.taken(first), fewer)
        return impossible[:, group], log[:, group]
    first, group = _alike(known, definition, members)
    asked = np.zeros((first.size, moved.n_worlds), dtype=np.bool_)
    np.logical_or.at(asked, group, wanted)
    impossible = np.zeros((first.size, moved.n_worlds), dtype=np.int64)
    log = np.zeros((first.size, moved.n_worlds))
    different = members[first]

    def work(rows: slice) -> None:
        worlds = moved.of_records(different[rows], definition.fitted)
        walk_many(known, worlds, asked[rows], impossible[rows], log[rows])

    in_threads(work, [slice(at, at + BLOCK) for at in range(0, different.size, BLOCK)], n_threads(None))
    return impossible[group], log[group]


def _worlds_alike(moved: MovedRecord) -> tuple[Ints, Ints] | None:
    """First of each set of worlds that are the same to this tree, and the set of every world; None if all differ."""
    if moved.n_worlds < 3:
        return None
    table = np.vstack([moved.feature_codes, moved.response, moved.included])
    _, first, group = np.unique(table, axis=1, return_index=True, return_inverse=True)
    return None if first.size == moved.n_worlds else (first.astype(np.int64), group.reshape(-1))


def _alike(known: Struct, definition: SequenceTree, members: Ints) -> tuple[Ints, Ints]:
    """First of each set of records that are the same to this tree, and the set of every record."""
    table = np.empty((members.size, len(definition.predictors) + 2), dtype=np.int32)
    table[:, :-2] = known.kept["codes"][:, members].T
    table[:, -2] = known.kept["response"][members]
    table[:, -1] = definition.fitted[members]
    order = np.lexsort(table.T)
    sorted_table = table[order]
    new = np.append(True, (sorted_table[1:] != sorted_table[:-1]).any(axis=1))[: members.size]
    group = np.empty(members.size, dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    return order[new], group
