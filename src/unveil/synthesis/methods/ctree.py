"""Conditional inference trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unveil.checks import check_whole_numbers
from unveil.errors import CallError
from unveil.limits import falls_below
from unveil.synthesis.donors import Donors, require_records
from unveil.synthesis.methods.association import Coding, associate, coding
from unveil.synthesis.methods.two_sample import Division, divide
from unveil.trees import Column


@dataclass(frozen=True)
class Ctree:
    """Conditional inference tree: splits are made where a permutation test finds dependence.

    In every node each of the ``p`` predictors is tested against the response (see
    :func:`unveil.synthesis.methods.association.associate`). The predictor with the smallest p-value ``P`` is
    split if ``(1 - P)^p > mincriterion`` (one minus the Bonferroni-type adjusted p-value), at its best two-sample
    statistic; if none of its splits leaves ``minbucket`` records on both sides, the next predictor that meets the
    criterion is split. Synthetic values are drawn from the observed values (donors) in the leaf.

    Parameters
    ----------
    mincriterion : float
        Confidence that a split needs.
    minbucket : int
        Smallest number of records in a leaf.
    minsplit : int
        Smallest number of records of a node that is split.

    Raises
    ------
    CallError
        If a setting is out of range.

    References
    ----------
    Hothorn, T., Hornik, K. & Zeileis, A. (2006). Unbiased recursive partitioning: a conditional inference
    framework. Journal of Computational and Graphical Statistics 15, 651-674, section 3.
    doi:10.1198/106186006X133933

    Examples
    --------
    >>> import numpy as np
    >>> from unveil.synthesis.methods import Ctree
    >>> from unveil.trees import Column
    >>> age = Column.from_values(np.arange(40), name="age")
    >>> ill = Column((np.arange(40) >= 25).astype(np.int32), "categorical", 2, name="ill")
    >>> tree = Ctree().fit(ill, [age], np.random.default_rng(1))
    >>> tree.n_leaves, tree.apply([Column.from_values([0, 24.4, 24.6])]).tolist()
    (2, [0, 0, 1])
    """

    draws_in_fit: ClassVar[bool] = False

    mincriterion: float = 0.9
    minbucket: int = 5
    minsplit: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.mincriterion <= 1:
            raise CallError(f"mincriterion must lie between 0 and 1, not {self.mincriterion}")
        check_whole_numbers(1, minbucket=self.minbucket, minsplit=self.minsplit)

    def fit(self, response: Column, predictors: Sequence[Column], rng: np.random.Generator) -> FittedCtree:
        """Grow the tree; see :class:`unveil.synthesis.protocol.VariableMethod`.

        The tree is a pure function of the data: ``rng`` is not used.

        Raises
        ------
        DataError
            If there are no records, or a numeric variable holds infinite values.
        """
        require_records(response, (response.kind,), "ctree", "")
        coded = [coding(predictor) for predictor in predictors]
        target = coding(response)
        nodes: list[_Node] = []
        n_leaves = 0
        pool = np.zeros(response.codes.size, dtype=np.int64)
        waiting: list[tuple[NDArray[np.intp], int]] = [(np.arange(response.codes.size), -1)]
        while waiting:
            rows, parent = waiting.pop()
            if parent >= 0:
                nodes[parent].right = len(nodes)
            found = self._split(coded, target, rows)
            if found is None:
                pool[rows] = n_leaves
                nodes.append(_Node(leaf=n_leaves))
                n_leaves += 1
                continue
            feature, division = found
            node, goes_left = _node(feature, division, predictors[feature], rows)
            # the left child is the next node; the place of the right child is set when it is made
            waiting += [(rows[~goes_left], len(nodes)), (rows[goes_left], -1)]
            nodes.append(node)
        fitted = tuple(predictor.without_records() for predictor in predictors)
        return FittedCtree(fitted, tuple(nodes), Donors.gather(response, pool, n_leaves))

    def _split(
        self, predictors: Sequence[Coding], response: Coding, rows: NDArray[np.intp]
    ) -> tuple[int, Division] | None:
        """Return the predictor to split, and its division; None for a leaf."""
        if rows.size < max(self.minsplit, 2 * self.minbucket):
            return None
        log_p = np.array([associate(predictor, response, rows).log_p_value for predictor in predictors])
        with np.errstate(divide="ignore"):
            adjusted = -np.expm1(len(predictors) * np.log1p(-np.exp(log_p)))
        for feature in np.argsort(log_p, kind="stable"):
            if not falls_below(adjusted[feature], 1 - self.mincriterion, unit=0.0):
                break
            division = divide(predictors[feature], response, rows, self.minbucket)
            if division is not None:
                return int(feature), division
        return None


@dataclass
class _Node:
    """A node: a leaf, or a split whose left child is the next node.

    Records with values below the threshold, or whose level is marked, go left.
    """

    leaf: int = -1
    feature: int = -1
    threshold: float = 0.0
    left_levels: NDArray[np.bool_] | None = None
    right: int = -1


def _node(
    feature: int, division: Division, predictor: Column, rows: NDArray[np.intp]
) -> tuple[_Node, NDArray[np.bool_]]:
    """Return the node of a split, and which of its records go left."""
    codes = predictor.codes[rows]
    if division.left is None:
        goes_left = codes <= division.low
        return _Node(feature=feature, threshold=_threshold(division, predictor)), goes_left
    goes_left = division.left[codes]
    # levels that are not in the node go with the majority; one more entry for levels unknown to the fit
    left = np.append(division.left, False)
    absent = np.bincount(codes, minlength=left.size) == 0
    left[absent] = 2 * np.count_nonzero(goes_left) >= rows.size
    return _Node(feature=feature, left_levels=left), goes_left


def _threshold(division: Division, predictor: Column) -> float:
    """Return the middle between the values next to the cut."""
    if predictor.values is None:
        return (division.low + division.high) / 2
    below, above = float(predictor.values[division.low]), float(predictor.values[division.high])
    middle = 0.5 * below + 0.5 * above
    # there is no number between neighbouring floating-point numbers
    return middle if middle > below else above


@dataclass(frozen=True, eq=False)
class FittedCtree:
    """A fitted conditional inference tree."""

    predictors: tuple[Column, ...]
    nodes: tuple[_Node, ...]
    donors: Donors
    has_likelihood: bool = True

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.donors.start.size - 1

    def apply(self, predictors: Sequence[Column]) -> NDArray[np.int32]:
        """Return the leaf of every record.

        Parameters
        ----------
        predictors : sequence of Column
            Predictors as in the fit; numeric predictors may have new values, which are cut at the tree's thresholds.

        Returns
        -------
        (n,) int32
            Index of the leaf, from left to right.
        """
        leaf = np.empty(predictors[0].codes.size if predictors else 0, dtype=np.int32)
        waiting = [(0, np.arange(leaf.size))]
        while waiting:
            i, rows = waiting.pop()
            node = self.nodes[i]
            if node.leaf >= 0:
                leaf[rows] = node.leaf
                continue
            column = predictors[node.feature]
            codes = column.codes[rows]
            if node.left_levels is not None:
                goes_left = node.left_levels[np.minimum(codes, node.left_levels.size - 1)]
            else:
                goes_left = (codes if column.values is None else column.values[codes]) < node.threshold
            waiting += [(node.right, rows[~goes_left]), (i + 1, rows[goes_left])]
        return leaf

    def draw(self, predictors: Sequence[Column], rng: np.random.Generator) -> Column:
        """Draw values of donors in the leaf; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        return self.donors.draw(self.apply(predictors), rng)

    def log_prob(self, response: Column, predictors: Sequence[Column]) -> NDArray[np.float64]:
        """Return log shares of donors; see :class:`unveil.synthesis.protocol.FittedVariable`."""
        leaf = self.apply(predictors) if self.predictors else np.zeros(response.codes.size, dtype=np.int32)
        return self.donors.log_share(leaf, response)
