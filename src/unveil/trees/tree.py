"""A fitted tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil.core import STRUCTS, address_of, loop
from unveil.errors import CallError
from unveil.printable import commands_shown
from unveil.trees.collapse import complexities
from unveil.trees.column import Column
from unveil.trees.dependence import Dependence, mutual_information
from unveil.trees.settings import Settings
from unveil.trees.surrogates import Surrogates

BLOCK = 1 << 16
"""Number of records that go down the tree together, so that they stay in the processor's cache."""
_MOST_LABELS = 8

_arrange = loop("arrange", int, None, int, np.int64, np.int64, None, int, None)
_route = loop("route", STRUCTS["Splits"], int, np.int64, int, np.int32, result=bool)


class _Splits(NamedTuple):
    """The splits of a tree, followed by its surrogates (``Splits`` in ``core/layouts.h``); predictors that they use."""

    feature: NDArray[np.int32]
    side_start: NDArray[np.int64]
    sides: NDArray[np.uint8]
    flip: NDArray[np.bool_]
    first_surrogate: NDArray[np.int64]
    used: list[int]


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted tree: all nodes as they were grown, and where records stop after the collapse.

    Nodes are numbered in the order of visit; the left child of a node is the next one. ``t`` nodes, ``m``
    fitted records, ``l`` leaves. Gains and risks are in squared units of the response (numeric), or in
    records (``n`` times the Gini index, or misclassified records).

    Parameters
    ----------
    response : Column
        The response.
    predictors : tuple of Column
        The predictors, without their records.
    settings : Settings
        Settings of the fit.
    unit : float
        Numeric response: size of the steps of the fit (see :mod:`unveil.trees.response`).
    feature : (t,) int32
        Predictor that splits the node, -1 where growth ended.
    right : (t,) int32
        Right child, -1 where growth ended.
    cut : (t,) int32
        Ordered predictors: smaller codes go left.
    threshold : (t,) float64
        Ordered predictors: smaller values (codes, if ordinal) go left; nan otherwise.
    side_start : (t,) int64
        Unordered predictors: where the sides of the levels begin in ``sides``, -1 otherwise.
    sides : (b,) uint8
        0 left, 1 right; 2 (3): not in the node, goes with the majority to the left (right).
    depth : (t,) int32
        Depth of the node, 0 for the root.
    start, stop : (t,) int64
        The node's records are ``order[start:stop]``.
    end : (m,) unsigned
        Leaf before the collapse of each fitted record, in the order of the call, numbered from left to right. In the
        smallest type that holds it, because a sequence of trees stores it for every record.
    risk : (t,) float64
        Within sum of squares; misclassified records (``collapse=True``) or ``n`` times Gini
        (``collapse=False``).
    gain : (t,) float64
        Decrease of the sum of squares or of ``n`` times Gini by the node's split; 0 where growth ended.
    rival_gain : (t,) float64
        Largest gain of any other split of the node that was looked at, of any predictor; equal to ``gain`` in
        ties.
    decrease : (t,) float64
        Decrease of ``risk`` by the node's split.
    collapsed : (t,) bool
        Split nodes whose subtree lowers the risk too little for its number of splits.
    leaf : (t,) int32
        Leaf where records stop; -1 if they go on, or never come here.
    leaf_node : (l,) int32
        Node of each leaf, from left to right.
    leaf_start : (l + 1,) int64
        The donors of leaf ``i`` are ``donors[leaf_start[i]:leaf_start[i + 1]]``.
    rows : (m,) int32 or None
        Fitted records in the order of the call; None for all records in their order.
    surrogates : Surrogates
        Surrogate splits.
    surrogate_cut : (s,) int32
        As ``cut``, of the surrogates.
    surrogate_threshold : (s,) float64
        As ``threshold``, of the surrogates.
    """

    response: Column
    predictors: tuple[Column, ...]
    settings: Settings
    unit: float
    feature: NDArray[np.int32]
    right: NDArray[np.int32]
    cut: NDArray[np.int32]
    threshold: NDArray[np.float64]
    side_start: NDArray[np.int64]
    sides: NDArray[np.uint8]
    depth: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    end: NDArray[np.unsignedinteger]
    risk: NDArray[np.float64]
    gain: NDArray[np.float64]
    rival_gain: NDArray[np.float64]
    decrease: NDArray[np.float64]
    collapsed: NDArray[np.bool_]
    leaf: NDArray[np.int32]
    leaf_node: NDArray[np.int32]
    leaf_start: NDArray[np.int64]
    rows: NDArray[np.int32] | None
    surrogates: Surrogates
    surrogate_cut: NDArray[np.int32]
    surrogate_threshold: NDArray[np.float64]

    @property
    def n_leaves(self) -> int:
        """Number of leaves after the collapse."""
        return self.leaf_node.size

    @property
    def n_records(self) -> int:
        """Number of fitted records."""
        return self.end.size

    @property
    def order(self) -> NDArray[np.int32]:
        """(m,) fitted records by node, within a node in the order of the call; listed anew each time."""
        return self.by_node(np.arange(self.response.codes.size, dtype=np.int32))

    @property
    def donors(self) -> NDArray[np.int32]:
        """(m,) fitted records by leaf, within a leaf in the order of the call; listed anew each time."""
        return self.by_leaf(np.arange(self.response.codes.size, dtype=np.int32))

    def by_node(self, values: NDArray[Any]) -> NDArray[Any]:
        """``values[order]``, without a list of the records."""
        starts = self.start[self.right < 0]
        return self._arranged(values, np.arange(starts.size), starts)

    def by_leaf(self, values: NDArray[Any]) -> NDArray[Any]:
        """``values[donors]``, without a list of the records."""
        starts = self.start[self.right < 0]
        leaf_of_end = np.searchsorted(self.leaf_start, starts, side="right") - 1
        return self._arranged(values, leaf_of_end, self.leaf_start)

    def _arranged(self, values: NDArray[Any], stretch: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[Any]:
        """Values of the fitted records by stretch: (e,) stretches of the ends, and where each stretch starts."""
        own = np.ascontiguousarray(values if self.rows is None else values[self.rows])
        result = np.empty(self.end.size, dtype=own.dtype)
        m, size = self.end.size, self.end.itemsize
        _arrange(m, self.end, size, stretch, start.copy(), own, own.itemsize, result)
        return result

    @property
    def n_leaves_full(self) -> int:
        """Number of leaves before the collapse."""
        return int((self.right < 0).sum())

    def apply(self, columns: Sequence[ArrayLike | Column]) -> NDArray[np.int32]:
        """Leaf of every record.

        Parameters
        ----------
        columns : sequence of (n,) arrays
            One per predictor, in their order: integer codes as in the fit, or, for numeric predictors, values
            (floating-point), which need not have occurred in the fit.

        Returns
        -------
        (n,) int32
            Index of the leaf.

        Raises
        ------
        CallError
            If columns are missing, differ in length, or hold codes that the predictor does not have.

        Examples
        --------
        >>> from unveil.trees import Column, Settings, grow
        >>> x = Column.from_values([0.0, 1.0, 2.0, 3.0])
        >>> tree = grow(Column.from_values([5.0, 5.0, 9.0, 9.0]), [x], Settings(minbucket=1))
        >>> tree.apply([np.array([-7.0, 1.49, 1.5])]).tolist()
        [0, 0, 1]
        """
        given = self._given(columns)
        cut, known = self._scales(given)
        arrays = self._splits._asdict()
        used = arrays.pop("used")
        splits = STRUCTS["Splits"](cut=cut, right=self.right, leaf=self.leaf, **arrays)
        result = np.empty(given[0].size if given else 0, dtype=np.int32)
        places = np.zeros(len(given), dtype=np.int64)
        for start in range(0, result.size, BLOCK):
            part = result[start : start + BLOCK]
            codes = {f: _coded(given[f][start : start + BLOCK], known[f]) for f in used}
            for f, column in codes.items():
                places[f] = address_of(column, column.dtype)
            _route(splits, self.right.size, places, part.size, part)
        return result

    def complexity(self) -> NDArray[np.float64]:
        """Price per split, in units of ``risk``, at which each node becomes a leaf; 0 where growth ended.

        Returns
        -------
        (t,) float64
            A split node is a leaf for every ``cp * risk[0]`` at or above its complexity.
        """
        return complexities(self.right, self.decrease)

    def full_leaf(self) -> NDArray[np.int64]:
        """Leaf before the collapse of each record of ``order``.

        Returns
        -------
        (m,) int64
            Index of the leaf, from left to right.
        """
        ends = self.right < 0
        return np.repeat(np.arange(int(ends.sum())), (self.stop - self.start)[ends])

    def dependence(self) -> Dependence:
        """Return what the collapse removed: leaves, and mutual information between leaf and response.

        Returns
        -------
        Dependence
            Leaves and bits before and after.

        Examples
        --------
        >>> from unveil.trees import Column, Settings, grow
        >>> x = Column(np.repeat([0, 1], 10), "categorical", 2)
        >>> y = Column(np.array([1] * 4 + [0] * 16), "categorical", 2)
        >>> lost = grow(y, [x]).dependence()
        >>> lost.leaves_full, lost.leaves, round(lost.bits_lost, 3)
        (2, 1, 0.236)
        """
        y = self.by_node(self.response.codes)
        after = np.repeat(np.arange(self.n_leaves), np.diff(self.leaf_start))
        levels = self.response.n_levels
        bits = mutual_information(after, y, levels)
        full = mutual_information(self.full_leaf(), y, levels) if self.n_leaves < self.n_leaves_full else bits
        return Dependence(self.n_leaves_full, self.n_leaves, full, bits)

    def to_text(self, levels: Mapping[str, Sequence[object]] | None = None) -> str:
        """Return the tree after the collapse as text, one line per node.

        Parameters
        ----------
        levels : mapping of str to sequence, optional
            Labels of the levels by variable; codes where there is none.

        Returns
        -------
        str
            Text.
        """
        levels = levels or {}
        lines = [f"tree of {self.response.name or 'response'}: {self.n_leaves} leaves, {self.n_records} records"]
        codes = self.by_node(self.response.codes)
        waiting = [(0, "all")]
        while waiting:
            node, condition = waiting.pop()
            stops = self.leaf[node] >= 0
            leaf = f"  leaf {self.leaf[node]}" if stops else ""
            indent = "  " * int(self.depth[node])
            n = self.stop[node] - self.start[node]
            lines.append(
                f"{indent}{condition}  n={n}  {_content(self, codes[self.start[node] : self.stop[node]], levels)}{leaf}"
            )
            if not stops:
                to_left, to_right = _conditions(self, node, levels)
                waiting += [(int(self.right[node]), to_right), (node + 1, to_left)]
        return "\n".join(lines)

    @commands_shown
    def __str__(self) -> str:
        return self.to_text()

    @commands_shown
    def __repr__(self) -> str:
        name = self.response.name or "response"
        leaves = f"{self.n_leaves} leaves ({self.n_leaves_full} grown)"
        return f"<Tree of {name}: {leaves}, {self.n_records} records>"

    def _given(self, columns: Sequence[ArrayLike | Column]) -> list[NDArray[Any]]:
        """The arrays of the columns, checked."""
        if len(columns) != len(self.predictors):
            raise CallError(f"the tree has {len(self.predictors)} predictors, got {len(columns)} columns")
        given = [
            _codes_or_values(column, predictor) for column, predictor in zip(columns, self.predictors, strict=True)
        ]
        if any(array.ndim != 1 or array.dtype.kind not in "iuf" for array in given):
            raise CallError("columns must be one-dimensional arrays of integer codes or of numbers")
        if len({len(array) for array in given}) > 1:
            raise CallError("columns differ in length: " + ", ".join(str(len(array)) for array in given))
        for f, (column, array, predictor) in enumerate(zip(columns, given, self.predictors, strict=True)):
            name = predictor.name or f"predictor {f}"
            if array.dtype.kind == "f":
                if predictor.kind != "numeric":
                    raise CallError(f"{name}: codes of a {predictor.kind} predictor must be integers")
                continue
            # a Column has checked its codes already
            if isinstance(column, Column) and column.n_levels <= predictor.n_levels:
                continue
            if array.size and (array.min() < 0 or array.max() >= predictor.n_levels):
                raise CallError(f"{name}: codes must lie between 0 and {predictor.n_levels - 1}")
        return given

    @cached_property
    def _splits(self) -> _Splits:
        """The splits of the nodes, followed by the surrogates."""
        surrogates, nodes = self.surrogates, self.feature.size
        feature, side_start, sides = self.feature, self.side_start, self.sides
        flip = np.zeros(nodes, dtype=np.bool_)
        if surrogates.feature.size:
            feature = np.concatenate([feature, surrogates.feature.astype(np.int32)])
            beyond = np.where(surrogates.side_start < 0, -1, surrogates.side_start + sides.size)
            side_start = np.concatenate([side_start, beyond])
            sides, flip = np.concatenate([sides, surrogates.sides]), np.concatenate([flip, surrogates.flip])
        used = np.flatnonzero(np.bincount(feature[feature >= 0]))
        return _Splits(feature, side_start, sides, flip, surrogates.start + nodes, used.tolist())

    def _scales(self, given: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int32], list[NDArray[np.float64] | None]]:
        """Cuts of all splits; and by predictor the tree's thresholds, where values come in the place of codes.

        The code of a value is then the number of thresholds at or below it.
        """
        cut = np.concatenate([self.cut, self.surrogate_cut])
        known: list[NDArray[np.float64] | None] = [None] * len(given)
        for f, array in enumerate(given):
            if array.dtype.kind == "f":
                threshold = np.concatenate([self.threshold, self.surrogate_threshold])
                own = self._splits.feature == f
                thresholds = np.unique(threshold[own])
                cut[own] = np.searchsorted(thresholds, threshold[own]) + 1
                known[f] = thresholds
        return cut, known


def _coded(column: NDArray[Any], scale: NDArray[np.float64] | None) -> NDArray[np.int32]:
    """Codes of some records; of values, the number of thresholds at or below."""
    codes = column if scale is None else np.searchsorted(scale, column, side="right")
    return np.ascontiguousarray(codes, dtype=np.int32)


def _codes_or_values(column: ArrayLike | Column, predictor: Column) -> NDArray[Any]:
    """The codes of a column; its values where its codes stand for other values than those of the predictor."""
    if not isinstance(column, Column):
        return np.asarray(column)
    if column.values is None or predictor.values is None or column.values is predictor.values:
        return column.codes
    return column.codes if np.array_equal(column.values, predictor.values) else column.values[column.codes]


def _content(tree: Tree, codes: NDArray[np.int32], levels: Mapping[str, Sequence[object]]) -> str:
    """Mean, or most frequent class with its share, of the records of a node."""
    response = tree.response
    if codes.size == 0:
        return "empty"
    if response.values is not None:
        return f"mean {response.values[codes].mean():.6g}"
    counts = np.bincount(codes, minlength=response.n_levels)
    largest = int(counts.argmax())
    label = levels.get(response.name, range(response.n_levels))[largest]
    return f"{label} {counts[largest] / codes.size:.1%}"


def _conditions(tree: Tree, node: int, levels: Mapping[str, Sequence[object]]) -> tuple[str, str]:
    """Return the conditions of the left and of the right child."""
    f = int(tree.feature[node])
    predictor = tree.predictors[f]
    name = predictor.name or f"x{f}"
    labels = levels.get(predictor.name, range(predictor.n_levels))
    if predictor.kind == "numeric":
        return f"{name} < {tree.threshold[node]:.10g}", f"{name} >= {tree.threshold[node]:.10g}"
    if predictor.kind == "ordered":
        first = labels[int(tree.cut[node])]
        return f"{name} < {first}", f"{name} >= {first}"
    begin = tree.side_start[node]
    sides = tree.sides[begin : begin + predictor.n_levels]
    return tuple(f"{name} in {{{_few(np.flatnonzero(sides == side), labels)}}}" for side in (0, 1))  # type: ignore[return-value]


def _few(codes: np.ndarray, labels: Sequence[object]) -> str:
    """Return the first labels, and the number of others."""
    text = ", ".join(str(labels[int(code)]) for code in codes[:_MOST_LABELS])
    return text if codes.size <= _MOST_LABELS else f"{text} and {codes.size - _MOST_LABELS} more"
