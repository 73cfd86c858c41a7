"""Fit a tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.errors import CallError, DataError
from unveil.trees.collapse import settle
from unveil.trees.column import Column, shared_block
from unveil.trees.impurity import GINI, MISCLASSIFIED, SQUARES
from unveil.trees.nodes import Grown, Limits, grow_nodes
from unveil.trees.records import Data, sort_by_code
from unveil.trees.response import Response, integer_target
from unveil.trees.route import fill_cuts
from unveil.trees.surrogates import Surrogates, find_surrogates, no_surrogates
from unveil.trees.tree import Settings, Tree

WIDE = 256
"""Numeric and ordered predictors with more levels are read in sorted order, others are counted by level."""


def grow(
    response: Column,
    predictors: Sequence[Column],
    *,
    rows: NDArray[np.integer] | None = None,
    minbucket: int = 5,
    minsplit: int | None = None,
    max_depth: int = 30,
    cp: float = 1e-8,
    collapse: bool = True,
    surrogates: int = 0,
) -> Tree:
    """Fit a classification or regression tree.

    The tree is a pure function of the set of records: it depends neither on their order nor on the number of
    threads. Ties between splits go to the first predictor, then to the first cut.

    Parameters
    ----------
    response : Column
        Numeric: least squares. Otherwise: Gini.
    predictors : sequence of Column
        Numeric and ordered: thresholds halfway between neighbours in the node. Categorical: sets of levels;
        the best of all sets for a numeric response, for two classes, and while ``2^(levels - 1) * classes <=
        10^6``, else the best cut along the first principal component of the levels' class shares.
    rows : (m,) int, optional
        Records that are fitted, also repeatedly; all by default.
    minbucket : int
        Smallest number of records in a leaf.
    minsplit : int, optional
        Smallest number of records of a node that is split; ``3 * minbucket`` by default.
    max_depth : int
        Largest depth of a leaf, the root having 0.
    cp : float
        Subtrees that lower the risk by ``cp`` times the root's risk or less per split are removed, and nodes
        with at most this risk are not split. The risk is the within sum of squares of a numeric response.
    collapse : bool
        The risk of a categorical response: the number of misclassified records (True, as usual: then a
        subtree that does not change the majority class is removed however small ``cp`` is), or Gini (False).
    surrogates : int
        Number of surrogate splits by which a record whose level was not in a node is sent on. With 0 it goes
        to the child with more records.

    Returns
    -------
    Tree
        The fitted tree.

    Raises
    ------
    CallError
        If a setting is out of range or columns differ in length.
    DataError
        If there are no records, or a numeric response is infinite.

    References
    ----------
    Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and regression trees.
    Reiter, J. P. (2005). Using CART to generate partially synthetic public use microdata. Journal of Official
    Statistics 21, 441-462.

    Examples
    --------
    >>> age = Column.from_values([20, 30, 40, 50, 60, 70], name="age")
    >>> income = Column.from_values([10, 11, 12, 30, 31, 32], name="income")
    >>> print(grow(income, [age], minbucket=3, minsplit=6))
    tree of income: 2 leaves, 6 records
    all  n=6  mean 21
      age < 45  n=3  mean 11  leaf 0
      age >= 45  n=3  mean 31  leaf 1
    """
    settings = Settings.of(minbucket, minsplit, max_depth, cp, collapse, surrogates)
    _check_lengths(response, predictors)
    fitted = None if rows is None else _rows(rows, response.codes.size)
    m = response.codes.size if fitted is None else fitted.size
    if m == 0:
        raise DataError(f"{response.name or 'response'}: no records to fit a tree to")
    target = integer_target(response, fitted)
    data = _data(predictors, target, fitted)
    risk = SQUARES if response.kind == "numeric" else (MISCLASSIFIED if collapse else GINI)
    grown = grow_nodes(data, Limits(minbucket, settings.minsplit, min(max_depth, m), float(cp), risk))
    return _tree(response, predictors, settings, target, fitted, grown, risk)


def _check_lengths(response: Column, predictors: Sequence[Column]) -> None:
    """Complain about columns of different length."""
    for f, predictor in enumerate(predictors):
        if predictor.codes.size != response.codes.size:
            name = predictor.name or f"predictor {f}"
            raise CallError(f"{name} has {predictor.codes.size} records, the response {response.codes.size}")


def _rows(rows: NDArray[np.integer], n: int) -> NDArray[np.int32]:
    """Records to fit, checked."""
    fitted = np.ascontiguousarray(rows, dtype=np.int32)
    if fitted.ndim != 1 or (fitted.size and (fitted.min() < 0 or fitted.max() >= n)):
        raise CallError(f"rows must be record numbers between 0 and {n - 1}")
    return fitted


def _data(predictors: Sequence[Column], target: Response, rows: NDArray[np.int32] | None) -> Data:
    """Arrange the records as the fit wants them; all of them where no ``rows`` are given."""
    m = target.y.size if rows is None else rows.size
    held = shared_block(predictors) if rows is None else None
    codes = np.empty((len(predictors), m), dtype=np.int32) if held is None else held
    wide = np.full(len(predictors), -1, dtype=np.int64)
    are_wide = [p.kind != "categorical" and p.n_levels > WIDE for p in predictors]
    ordered = np.empty((sum(are_wide), m), dtype=np.int32)
    for f, predictor in enumerate(predictors):
        if held is None:
            codes[f] = predictor.codes if rows is None else predictor.codes[rows]
        if are_wide[f]:
            wide[f] = sum(are_wide[:f])
            ordered[wide[f]] = sort_by_code(codes[f], predictor.n_levels)
    return Data(
        codes,
        np.array([predictor.n_levels for predictor in predictors], dtype=np.int64),
        np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_),
        wide,
        ordered,
        target.y if rows is None else target.y[rows],
        target.n_classes,
        target.span,
        np.arange(m, dtype=np.int32),
        np.zeros(0, dtype=np.int32) if rows is None else rows,
    )


def _tree(
    response: Column,
    predictors: Sequence[Column],
    settings: Settings,
    target: Response,
    rows: NDArray[np.int32] | None,
    grown: Grown,
    risk: int,
) -> Tree:
    """Collapse and number the leaves."""
    start, stop, depth, _, feature, low, high, side_start = (column.copy() for column in grown.places.T)
    figures = grown.figures
    settled = settle(grown.places, figures, grown.order, response.codes.size, settings.cp, risk == MISCLASSIFIED)
    end = settled.end if rows is None else settled.end[rows]
    decrease = settled.decrease
    if risk == SQUARES:
        # one factor at a time: a square of the unit may be out of range where the figures are 0
        with np.errstate(over="ignore"):
            figures = figures * target.unit * target.unit
        decrease = figures[:, 1].copy()
    cut, threshold = _cuts(predictors, feature, low, high)
    found = _surrogates(predictors, grown, settled.leaf, settings.surrogates)
    surrogate_cut, surrogate_threshold = cut[:0], threshold[:0]
    if found.feature.size:
        surrogate_cut, surrogate_threshold = _cuts(predictors, found.feature, found.low, found.high)
    return Tree(
        response=response,
        predictors=tuple(predictor.without_records() for predictor in predictors),
        settings=settings,
        unit=target.unit,
        feature=feature.astype(np.int32),
        right=settled.right,
        cut=cut,
        threshold=threshold,
        side_start=side_start,
        sides=grown.sides.copy(),
        depth=depth.astype(np.int32),
        start=start,
        stop=stop,
        end=end.astype(np.min_scalar_type(settled.right.size // 2)),
        risk=figures[:, 0].copy(),
        gain=figures[:, 1].copy(),
        rival_gain=figures[:, 2].copy(),
        decrease=decrease,
        collapsed=settled.collapsed,
        leaf=settled.leaf,
        leaf_node=settled.leaf_node,
        leaf_start=settled.leaf_start,
        rows=rows,
        surrogates=found,
        surrogate_cut=surrogate_cut,
        surrogate_threshold=surrogate_threshold,
    )


def _cuts(
    predictors: Sequence[Column],
    feature: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Cut and threshold halfway between the codes next to the cut; (-1, nan) for sets of levels."""
    cut = np.full(feature.size, -1, dtype=np.int32)
    threshold = np.full(feature.size, np.nan)
    scales = [np.arange(p.n_levels, dtype=np.float64) if p.values is None else p.values for p in predictors]
    first = np.zeros(len(scales) + 1, dtype=np.int64)
    np.cumsum([scale.size for scale in scales], out=first[1:])
    fill_cuts(feature, low, high, first, np.concatenate([*scales, np.zeros(0)]), cut, threshold)
    return cut, threshold


def _surrogates(predictors: Sequence[Column], grown: Grown, leaf: NDArray[np.int32], most: int) -> Surrogates:
    """Surrogates of the nodes that may meet a level they have not seen."""
    nodes = leaf.size
    if most == 0 or len(predictors) < 2:
        return no_surrogates(nodes)
    side_start = grown.places[:, 7]
    wanted = np.zeros(nodes, dtype=np.bool_)
    for node in np.flatnonzero(side_start >= 0):
        levels = predictors[grown.places[node, 4]].n_levels
        wanted[node] = (grown.sides[side_start[node] : side_start[node] + levels] >= 2).any()
    codes = np.stack([predictor.codes for predictor in predictors])
    n_levels = np.array([predictor.n_levels for predictor in predictors], dtype=np.int64)
    unordered = np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_)
    return find_surrogates(codes, n_levels, unordered, grown.order, grown.places, wanted, most)
