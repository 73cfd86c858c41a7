"""A fitted tree with all that it takes to fit it again with one record moved; the loops are in ``core/walk.c``.

The likelihood of a release under a tree is a product of donor shares. Per node, grown or collapsed, the counts of
original and of released records by value of the response are kept. So a record can be moved along its path, and the
subtrees beside the path keep their figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.core import STRUCTS, Struct, loop
from unveil.trees.column import Column
from unveil.trees.grow import cuts, fitted_records, limits_of
from unveil.trees.nodes import NODE, Grown, grow_nodes
from unveil.trees.response import Response, integer_target
from unveil.trees.settings import Settings

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

KNOWN = np.dtype(STRUCTS["Known"])
"""What is known of a node besides its place; ``core/layouts.h`` says what its fields are."""
KnownTree = STRUCTS["KnownTree"]
Worlds = STRUCTS["Worlds"]
"""Records, and the worlds in which they have other values."""

MIXED_CHANGES, MIXED_SUMS = 4, 2
"""As in ``core/core.h``."""
_CELLS_PER_RECORD = 16
_LARGEST_STORE = 1 << 20
"""Most cells of counts by level that are kept."""

_mark_last = loop("mark_last", KnownTree, np.int32)
_count_kept = loop("count_kept", KnownTree)
_fill_known = loop("fill_known", KnownTree)
_fill_mixed = loop("fill_mixed", KnownTree)
_walk_many = loop("walk_many", KnownTree, Worlds, np.bool_, np.int64, np.float64, result=bool)


def known_tree(
    response: Column,
    predictors: Sequence[Column],
    rows: NDArray[np.integer],
    settings: Settings,
    z_response: Codes,
    z_predictors: Codes,
    mix: float = 0.0,
) -> Struct:
    """Fit a tree and keep what moving one record takes.

    Parameters
    ----------
    response, predictors
        All original records.
    rows : (m,) int
        Those that are fitted; may be none.
    settings : Settings
        As of :func:`unveil.trees.grow`; without surrogates.
    z_response : (z,) int32
        Codes of the release.
    z_predictors : (p, z) int32
        Codes of the release.
    mix : float
        Probability that a donor is one of all and not of the leaf.

    Returns
    -------
    KnownTree
        The tree.
    """
    fitted = np.ascontiguousarray(rows, dtype=np.int32)
    y_of, target = _integers_by_code(response, fitted)
    limits = limits_of(settings, response, response.codes.size)
    grown = _grown(response, predictors, fitted, limits)
    n, p, v, z, t = response.codes.size, len(predictors), max(response.n_levels, 1), z_response.size, grown.nodes.size
    n_levels = np.array([predictor.n_levels for predictor in predictors], dtype=np.int64)
    values = [np.zeros(0) if predictor.values is None else predictor.values for predictor in predictors]
    tree = KnownTree(
        codes=np.array([predictor.codes for predictor in predictors], dtype=np.int32).reshape(p, n),
        response=response.codes,
        z_codes=np.ascontiguousarray(z_predictors, dtype=np.int32).reshape(p, z),
        z_response=np.ascontiguousarray(z_response, dtype=np.int32),
        y_of=y_of,
        n_levels=n_levels,
        unordered=np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_),
        values=np.concatenate([*values, np.zeros(0)]),
        value_start=np.append(0, np.cumsum([value.size for value in values])).astype(np.int64),
        logs=np.append(0.0, np.log(np.arange(1, n + 2))),
        nodes=grown.nodes,
        known=np.zeros(t, dtype=KNOWN),
        sides=grown.sides,
        order=grown.order,
        donors=np.zeros((t, v), dtype=np.int32),
        released=np.zeros((t, v), dtype=np.int32),
        offset=np.append(0, np.cumsum(n_levels)).astype(np.int64),
        n=n,
        z=z,
        p=p,
        v=y_of.size,
        t=t,
        k=target.n_classes if target.n_classes > 2 else 1,
        classes=target.n_classes,
        span=target.span,
        limits=limits,
        mix=mix,
    )
    _place_release(tree)
    _keep_counts(tree)
    _fill_known(tree)
    if mix:
        _keep_mixed(tree)
    return tree


def _grown(response: Column, predictors: Sequence[Column], fitted: Codes, limits: Struct) -> Grown:
    """The nodes with their cuts; a single empty node where nothing is fitted."""
    if fitted.size == 0:
        root = np.zeros(1, dtype=NODE)
        for name in ("right", "feature", "low", "high", "sides"):
            root[name] = -1
        return Grown(root, np.zeros(0, dtype=np.uint8), fitted)
    target = integer_target(response, fitted)
    grown = grow_nodes(fitted_records(predictors, target, fitted), limits)
    split = (grown.nodes[name].copy() for name in ("feature", "low", "high"))
    grown.nodes["cut"] = cuts(predictors, *split)[0]
    return grown


def _integers_by_code(response: Column, fitted: Codes) -> tuple[Ints, Response]:
    """Response in integers by code, and the target of the fit."""
    everything = Column(
        np.arange(response.n_levels, dtype=np.int32), response.kind, response.n_levels, response.values, response.name
    )
    if response.values is not None:
        # One more record would change the grid only beyond a million of them.
        target = integer_target(everything, fitted)
        return target.y, target
    occurs = np.bincount(response.codes[fitted], minlength=response.n_levels) > 0
    recoded = np.where(occurs, np.cumsum(occurs) - 1, -1).astype(np.int64)
    return recoded, Response(recoded, int(occurs.sum()), 1, 1.0)


def _place_release(tree: Struct) -> None:
    """Order the released records by the node where they end, and note which are below each node."""
    end = np.empty(tree.z, dtype=np.int32)
    _mark_last(tree, end)
    order = np.argsort(end, kind="stable").astype(np.int32)
    tree.keep(z_order=order)
    known, last = tree.kept["known"], tree.kept["nodes"]["last"]
    known["z_start"] = np.searchsorted(end[order], np.arange(tree.t))
    known["z_stop"] = np.searchsorted(end[order], last, side="right")


def _keep_mixed(tree: Struct) -> None:
    """Keep by node and released value what one donor less or more changes."""
    node, code = np.nonzero(tree.kept["released"])
    start = np.searchsorted(node, np.arange(tree.t + 1)).astype(np.int64)
    tree.keep(mixed_start=start, mixed_code=code.astype(np.int32), mixed=np.zeros((code.size, MIXED_CHANGES)),
              mixed_sums=np.zeros((tree.t, MIXED_SUMS)))  # fmt: skip
    _fill_mixed(tree)


def _keep_counts(tree: Struct) -> None:
    """Count by level the nodes that are slow to count again."""
    nodes, known, cells = tree.kept["nodes"], tree.kept["known"], int(tree.kept["offset"][-1]) * tree.k
    size = nodes["stop"] - nodes["start"]
    wanted = size >= max(64, cells // _CELLS_PER_RECORD)
    most = _LARGEST_STORE // max(cells, 1)
    if wanted.sum() > most:
        wanted &= size >= (np.sort(size)[::-1][most - 1] + 1 if most else size.max() + 1)
    known["counted_as"] = np.where(wanted, np.cumsum(wanted) - 1, -1)
    kept, levels = int(wanted.sum()), int(tree.kept["offset"][-1])
    tree.keep(number=np.zeros((kept, levels), dtype=np.int64), cells=np.zeros((kept, levels, tree.k), dtype=np.int64))
    _count_kept(tree)


def walk_many(tree: Struct, worlds: Struct, wanted: Flags, impossible: Ints, log: Floats) -> None:
    """Fit the tree again for several records and worlds.

    Parameters
    ----------
    tree
        A ``KnownTree``.
    worlds
        A ``Worlds`` of r records and c worlds.
    wanted : (r, c) bool
        What is to be computed.
    impossible : (r, c) int64
        Receives the released values that cannot be produced.
    log : (r, c) float64
        Receives the log-likelihoods of the others.
    """
    _walk_many(tree, worlds, wanted, impossible, log)
