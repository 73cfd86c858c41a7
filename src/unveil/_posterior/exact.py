"""What donor counts and the shape of the trees give away: every tree fitted anew for every record and world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._posterior.tree_sequence import SequenceTree, TreeSequence
from unveil._posterior.walk import Worlds, known_tree, walk_many
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
    """One tree, and what is released of it."""

    definition: SequenceTree
    known: Struct


def fit_exact(
    sequence: TreeSequence, definition: SequenceTree, releases: Sequence[int], possible: Sequence[Flags]
) -> ExactTree:
    """Fit one tree and keep what moving a record takes.

    Parameters
    ----------
    sequence
        Original and releases.
    definition
        Which tree.
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
    z_predictors = (
        np.stack([pooled(p) for p in definition.predictors])
        if definition.predictors
        else np.zeros((0, z_response.size), dtype=np.int32)
    )
    known = known_tree(
        sequence.columns[definition.position],
        [sequence.columns[p] for p in definition.predictors],
        np.flatnonzero(definition.fitted),
        definition.settings,
        z_response,
        z_predictors,
    )
    return ExactTree(definition, known)


def exact_likelihood(
    tree: ExactTree, members: Ints, codes: dict[int, Codes], included: Flags | None, wanted: Flags
) -> tuple[Ints, Floats]:
    """Impossible values and log-likelihood by record and world.

    Parameters
    ----------
    tree
        The tree.
    members : (r,) int64
        The records.
    codes : mapping of int to (c,) int32
        Code by world of the unknown variables' parts, by position.
    included : (c,) bool or None
        Whether a record is fitted by world, where the response is unknown.
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
    alike = _worlds_alike(definition, codes, included)
    if alike is not None:
        first, group = alike
        fewer = np.zeros((wanted.shape[0], first.size), dtype=np.bool_)
        np.logical_or.at(fewer.T, group, wanted.T)
        some = {p: c[first] for p, c in codes.items()}
        impossible, log = exact_likelihood(tree, members, some, None if included is None else included[first], fewer)
        return impossible[:, group], log[:, group]
    n_worlds = wanted.shape[1]
    features = np.array([f for f, p in enumerate(definition.predictors) if p in codes], dtype=np.int64)
    chosen = [codes[p] for p in definition.predictors if p in codes]
    feature_codes = np.stack(chosen) if chosen else np.zeros((0, n_worlds), dtype=np.int32)
    own = definition.position in codes
    response_codes = codes[definition.position] if own else np.zeros(n_worlds, dtype=np.int32)
    included = np.ones(n_worlds, dtype=np.bool_) if included is None else included
    first, group = _alike(known, definition, members)
    asked = np.zeros((first.size, n_worlds), dtype=np.bool_)
    np.logical_or.at(asked, group, wanted)
    impossible = np.zeros((first.size, n_worlds), dtype=np.int64)
    log = np.zeros((first.size, n_worlds))
    different = members[first]

    def work(rows: slice) -> None:
        part = Worlds(
            members=different[rows],
            fitted=definition.fitted,
            features=features,
            feature_codes=feature_codes,
            response_codes=response_codes,
            included=included,
            n_members=different[rows].size,
            n_features=features.size,
            n=n_worlds,
            own=own,
        )
        walk_many(known, part, asked[rows], impossible[rows], log[rows])

    in_threads(work, [slice(at, at + BLOCK) for at in range(0, different.size, BLOCK)], n_threads(None))
    return impossible[group], log[group]


def _worlds_alike(
    definition: SequenceTree, codes: dict[int, Codes], included: Flags | None
) -> tuple[Ints, Ints] | None:
    """First of each set of worlds that are the same to this tree, and the set of every world; None if all differ."""
    own = [c for p, c in codes.items() if p in definition.predictors or p == definition.position]
    table = np.stack([*own, *(() if included is None else (included.astype(np.int32),))])
    if table.shape[1] < 3:
        return None
    _, first, group = np.unique(table, axis=1, return_index=True, return_inverse=True)
    return None if first.size == table.shape[1] else (first.astype(np.int64), group.reshape(-1))


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
