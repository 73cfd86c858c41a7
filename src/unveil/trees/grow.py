"""Fit a tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.core import Struct, loop
from unveil.errors import CallError, DataError
from unveil.trees.collapse import settle
from unveil.trees.column import Column, shared_block
from unveil.trees.nodes import GINI, MISCLASSIFIED, SQUARES, Grown, Limits, Records, grow_nodes
from unveil.trees.response import Response, integer_target
from unveil.trees.settings import Settings
from unveil.trees.surrogates import Surrogates, find_surrogates, no_surrogates
from unveil.trees.tree import Tree

WIDE = 256
"""Numeric and ordered predictors with more levels are read in sorted order, others are counted by level."""

_sort_by_code = loop("sort_by_code", int, np.int32, int, np.int64, np.int32)
_first_out_of_range = loop("first_out_of_range", int, int, np.int32, np.int64, result=int)
_fill_cuts = loop("fill_cuts", int, np.int64, np.int64, np.int64, np.int64, np.float64, np.int32, np.float64)


def grow(
    response: Column,
    predictors: Sequence[Column],
    settings: Settings = Settings(),
    *,
    rows: NDArray[np.integer] | None = None,
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
    settings : Settings
        How the tree is grown.
    rows : (m,) int, optional
        Records that are fitted, also repeatedly; all by default.

    Returns
    -------
    Tree
        The fitted tree.

    Raises
    ------
    CallError
        If columns differ in length or a row does not exist.
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
    >>> print(grow(income, [age], Settings(minbucket=3, minsplit=6)))
    tree of income: 2 leaves, 6 records
    all  n=6  mean 21
      age < 45  n=3  mean 11  leaf 0
      age >= 45  n=3  mean 31  leaf 1
    """
    _check_lengths(response, predictors)
    fitted = None if rows is None else _rows(rows, response.codes.size)
    m = response.codes.size if fitted is None else fitted.size
    if m == 0:
        raise DataError(f"{response.name or 'response'}: no records to fit a tree to")
    target = integer_target(response, fitted)
    limits = limits_of(settings, response, m)
    grown = grow_nodes(fitted_records(predictors, target, fitted), limits)
    return _tree(response, predictors, settings, target, fitted, grown, limits.risk)


def limits_of(settings: Settings, response: Column, m: int) -> Struct:
    """Settings as the loops take them, for a fit to ``m`` records."""
    return Limits(
        minbucket=settings.minbucket,
        minsplit=settings.smallest_split,
        max_depth=min(settings.max_depth, m // settings.minbucket),
        risk=SQUARES if response.kind == "numeric" else (MISCLASSIFIED if settings.collapse else GINI),
        cp=float(settings.cp),
    )


def _check_lengths(response: Column, predictors: Sequence[Column]) -> None:
    """Raise an error for columns of different length."""
    for f, predictor in enumerate(predictors):
        if predictor.codes.size != response.codes.size:
            name = predictor.name or f"predictor {f}"
            raise CallError(f"{name} has {predictor.codes.size} records, the response {response.codes.size}")


def _rows(rows: NDArray[np.integer], n: int) -> NDArray[np.int32]:
    """Records to fit, checked."""
    fitted = np.asarray(rows)
    if fitted.ndim != 1 or fitted.dtype.kind not in "iu" or (fitted.size and (fitted.min() < 0 or fitted.max() >= n)):
        raise CallError(f"rows must be record numbers between 0 and {n - 1}")
    return np.ascontiguousarray(fitted, dtype=np.int32)


def fitted_records(predictors: Sequence[Column], target: Response, rows: NDArray[np.int32] | None) -> Struct:
    """Arrange the records as the fit wants them (a ``Records``); all of them where no ``rows`` are given."""
    m = target.y.size if rows is None else rows.size
    block = shared_block(predictors) if rows is None else None
    codes = np.empty((len(predictors), m), dtype=np.int32) if block is None else block
    if block is None:
        for f, predictor in enumerate(predictors):
            codes[f] = predictor.codes if rows is None else predictor.codes[rows]
    n_levels = np.array([predictor.n_levels for predictor in predictors], dtype=np.int64)
    # Codes were checked when the column was made; the loops trust them, and the array may have been changed since.
    wrong = _first_out_of_range(len(predictors), m, codes, n_levels)
    if wrong >= 0:
        raise CallError(f"{predictors[wrong].name or f'predictor {wrong}'}: codes changed after the column was made")
    are_wide = [f for f, p in enumerate(predictors) if p.kind != "categorical" and p.n_levels > WIDE]
    wide, sorted_rows = np.full(len(predictors), -1, dtype=np.int64), np.empty((len(are_wide), m), dtype=np.int32)
    for place, f in enumerate(are_wide):
        wide[f] = place
        following = np.zeros(predictors[f].n_levels + 1, dtype=np.int64)
        _sort_by_code(m, codes[f], predictors[f].n_levels, following, sorted_rows[place])
    return Records(
        codes=codes,
        n_levels=n_levels,
        unordered=np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_),
        wide=wide,
        sorted_rows=sorted_rows,
        y=target.y if rows is None else target.y[rows],
        rows=np.arange(m, dtype=np.int32),
        origin=rows,
        columns=m,
        predictors=len(predictors),
        n_wide=len(sorted_rows),
        m=m,
        classes=target.n_classes,
        span=target.span,
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
    unit = target.unit if risk == SQUARES else 1.0
    settled = settle(grown.nodes, grown.order, response.codes.size, settings.cp, risk == MISCLASSIFIED, unit)
    if rows is not None:
        settled = settled._replace(end=settled.end[rows])
    cut, threshold = cuts(predictors, *(grown.nodes[name].copy() for name in ("feature", "low", "high")))
    found = _surrogates(predictors, grown, settled.leaf, settings.surrogates)
    surrogate_cut, surrogate_threshold = cut[:0], threshold[:0]
    if found.feature.size:
        surrogate_cut, surrogate_threshold = cuts(predictors, found.feature, found.low, found.high)
    return Tree(
        response=response,
        predictors=tuple(predictor.without_records() for predictor in predictors),
        settings=settings,
        unit=target.unit,
        cut=cut,
        threshold=threshold,
        sides=grown.sides,
        rows=rows,
        surrogates=found,
        surrogate_cut=surrogate_cut,
        surrogate_threshold=surrogate_threshold,
        **settled._asdict(),
    )


def cuts(
    predictors: Sequence[Column],
    feature: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Cut and threshold halfway between the codes next to the cut; (-1, nan) for sets of levels."""
    cut = np.full(feature.size, -1, dtype=np.int32)
    threshold = np.full(feature.size, np.nan)
    scales, first, size = [], [], 0
    for predictor in predictors:
        first.append(size)
        if predictor.kind != "categorical":
            values = predictor.values
            scales.append(np.arange(predictor.n_levels, dtype=np.float64) if values is None else values)
            size += predictor.n_levels
    values = np.concatenate(scales) if scales else np.zeros(0)
    _fill_cuts(feature.size, feature, low, high, np.array(first, dtype=np.int64), values, cut, threshold)
    return cut, threshold


def _surrogates(predictors: Sequence[Column], grown: Grown, leaf: NDArray[np.int32], most: int) -> Surrogates:
    """Return surrogates of the nodes that may receive a level they have not seen."""
    if most == 0 or len(predictors) < 2:
        return no_surrogates(leaf.size)
    wanted = np.zeros(leaf.size, dtype=np.bool_)
    for at in np.flatnonzero(grown.nodes["sides"] >= 0):
        node = grown.nodes[at]
        levels = predictors[node["feature"]].n_levels
        wanted[at] = (grown.sides[node["sides"] : node["sides"] + levels] >= 2).any()
    records = Records(
        codes=np.stack([predictor.codes for predictor in predictors]),
        n_levels=np.array([predictor.n_levels for predictor in predictors], dtype=np.int64),
        unordered=np.array([predictor.kind == "categorical" for predictor in predictors], dtype=np.bool_),
        rows=grown.order,
        columns=predictors[0].codes.size,
        predictors=len(predictors),
    )
    return find_surrogates(records, grown.nodes, wanted, most)
